"""Trees of tuples, lists and dicts, with anything as leaves. Source: torch.utils._pytree."""

from __future__ import annotations

from collections import OrderedDict, defaultdict, deque, namedtuple  # noqa: F401
from collections.abc import Callable, Iterable
from typing import Any

__all__ = [
    "PyTree", "TreeSpec", "register_pytree_node", "tree_all", "tree_any", "tree_flatten", "tree_leaves", "tree_map",
    "tree_map_only", "tree_structure", "tree_unflatten",
]  # fmt: skip

PyTree = Any
Flatten = Callable[[Any], tuple[list[Any], Any]]
Unflatten = Callable[[Iterable[Any], Any], Any]

SUPPORTED_NODES: dict[type, tuple[Flatten, Unflatten]] = {}


def register_pytree_node(cls: type, flatten_fn: Flatten, unflatten_fn: Unflatten, **_: Any) -> None:
    """Teach the trees a container class."""
    SUPPORTED_NODES[cls] = (flatten_fn, unflatten_fn)


register_pytree_node(tuple, lambda t: (list(t), None), lambda vs, _: tuple(vs))
register_pytree_node(list, lambda t: (list(t), None), lambda vs, _: list(vs))
register_pytree_node(dict, lambda d: (list(d.values()), list(d)), lambda vs, keys: dict(zip(keys, vs, strict=True)))
register_pytree_node(
    OrderedDict, lambda d: (list(d.values()), list(d)), lambda vs, keys: OrderedDict(zip(keys, vs, strict=True))
)
register_pytree_node(
    defaultdict,
    lambda d: (list(d.values()), (d.default_factory, list(d))),
    lambda vs, c: defaultdict(c[0], zip(c[1], vs, strict=True)),
)
register_pytree_node(deque, lambda d: (list(d), d.maxlen), lambda vs, maxlen: deque(vs, maxlen=maxlen))


def _is_namedtuple(x: Any) -> bool:
    return isinstance(x, tuple) and hasattr(x, "_fields")


def _named(x: Any) -> Any:
    """The class of a tuple with names: a namedtuple, or an op's result."""
    return type(x) if isinstance(x, tuple) and type(x) is not tuple and (hasattr(x, "_fields") or hasattr(x, "fields")) else None  # noqa: E501


class TreeSpec:
    """The shape of a tree: what its containers are, without the leaves."""

    __slots__ = ("children", "context", "num_leaves", "type")

    def __init__(self, type: Any, context: Any, children: list[TreeSpec]) -> None:
        self.type, self.context, self.children = type, context, children
        self.num_leaves = 1 if type is None else sum(c.num_leaves for c in children)

    def is_leaf(self) -> bool:
        return self.type is None

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, TreeSpec)
            and self.type is other.type
            and self.context == other.context
            and self.children == other.children
        )

    def __hash__(self) -> int:
        return hash((self.type, self.num_leaves))

    def __repr__(self) -> str:
        if self.type is None:
            return "*"
        inner = ",\n".join(repr(c) for c in self.children).replace("\n", "\n  ")
        return f"TreeSpec({self.type.__name__}, {self.context}, [{inner}])"


LEAF = TreeSpec(None, None, [])


def _children(x: Any) -> tuple[Any, list[Any], Any] | None:
    cls = _named(x)
    if cls is not None:
        return cls, list(x), None
    handler = SUPPORTED_NODES.get(type(x))
    if handler is None:
        return None
    children, context = handler[0](x)
    return type(x), list(children), context


def tree_flatten(tree: Any, is_leaf: Callable[[Any], bool] | None = None) -> tuple[list[Any], TreeSpec]:
    """The leaves of a tree, and its shape.

    >>> leaves, spec = tree_flatten({"a": [1, 2], "b": 3})
    >>> leaves, tree_unflatten([10, 20, 30], spec)
    ([1, 2, 3], {'a': [10, 20], 'b': 30})
    """
    leaves: list[Any] = []

    def walk(x: Any) -> TreeSpec:
        got = None if is_leaf is not None and is_leaf(x) else _children(x)
        if got is None:
            leaves.append(x)
            return LEAF
        kind, children, context = got
        return TreeSpec(kind, context, [walk(c) for c in children])

    return leaves, walk(tree)


def tree_unflatten(leaves: Iterable[Any], treespec: TreeSpec) -> Any:
    """A tree of this shape with these leaves."""
    items = list(leaves)
    if len(items) != treespec.num_leaves:
        raise ValueError(
            f"tree_unflatten(leaves, treespec): `leaves` has length {len(items)} but the spec refers to a pytree that holds "
            f"{treespec.num_leaves} items ({treespec})."
        )
    it = iter(items)

    def build(spec: TreeSpec) -> Any:
        if spec.type is None:
            return next(it)
        children = [build(c) for c in spec.children]
        if issubclass(spec.type, tuple) and spec.type is not tuple:
            return spec.type(*children)
        return SUPPORTED_NODES[spec.type][1](children, spec.context)

    return build(treespec)


def tree_leaves(tree: Any, is_leaf: Callable[[Any], bool] | None = None) -> list[Any]:
    """The leaves of a tree."""
    return tree_flatten(tree, is_leaf)[0]


def tree_structure(tree: Any, is_leaf: Callable[[Any], bool] | None = None) -> TreeSpec:
    """The shape of a tree."""
    return tree_flatten(tree, is_leaf)[1]


def tree_map(fn: Callable[..., Any], tree: Any, *rests: Any, is_leaf: Callable[[Any], bool] | None = None) -> Any:
    """The tree with `fn` applied to its leaves (and those of trees of the same shape)."""
    leaves, spec = tree_flatten(tree, is_leaf)
    others = [tree_leaves(r, is_leaf) for r in rests]
    return tree_unflatten([fn(*xs) for xs in zip(leaves, *others, strict=True)], spec)


def tree_map_(fn: Callable[..., Any], tree: Any, *rests: Any) -> Any:
    """`tree_map` for its effect: returns the tree."""
    tree_map(fn, tree, *rests)
    return tree


def tree_map_only(kind: Any, fn: Callable[[Any], Any], tree: Any, is_leaf: Callable[[Any], bool] | None = None) -> Any:
    """The tree with `fn` applied to the leaves of a type."""
    return tree_map(lambda x: fn(x) if isinstance(x, kind) else x, tree, is_leaf=is_leaf)


def tree_all(pred: Callable[[Any], bool], tree: Any) -> bool:
    return all(pred(x) for x in tree_leaves(tree))


def tree_any(pred: Callable[[Any], bool], tree: Any) -> bool:
    return any(pred(x) for x in tree_leaves(tree))


def broadcast_to_and_flatten(tree: Any, treespec: TreeSpec) -> list[Any] | None:
    """The leaves of a tree that may end early: one leaf there serves a whole branch of `treespec`. None if they do not
    fit."""

    def walk(x: Any, spec: TreeSpec) -> list[Any] | None:
        got = _children(x)
        if spec.type is None:
            return [x] if got is None else None
        if got is None:
            return [x] * spec.num_leaves
        kind, children, context = got
        if kind is not spec.type or context != spec.context or len(children) != len(spec.children):
            return None
        out: list[Any] = []
        for c, s in zip(children, spec.children, strict=True):
            part = walk(c, s)
            if part is None:
                return None
            out += part
        return out

    return walk(tree, treespec)


_broadcast_to_and_flatten = broadcast_to_and_flatten
