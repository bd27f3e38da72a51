"""Trees of tuples, lists and dicts, with anything as leaves. Source: torch.utils._pytree."""

from __future__ import annotations

import dataclasses
import importlib
import json
from collections import OrderedDict, defaultdict, deque, namedtuple  # noqa: F401
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from ..shapes import Size

__all__ = [
    "GetAttrKey", "LeafSpec", "MappingKey", "PyTree", "PyTreeSpec", "SequenceKey", "TreeSpec", "key_get", "keystr",
    "register_constant", "register_dataclass", "register_pytree_node", "tree_all", "tree_all_only", "tree_any",
    "tree_any_only", "tree_flatten", "tree_flatten_with_path", "tree_is_leaf", "tree_iter", "tree_leaves",
    "tree_leaves_with_path", "tree_map", "tree_map_", "tree_map_only", "tree_map_only_", "tree_map_with_path",
    "tree_structure", "tree_unflatten", "treespec_dumps", "treespec_loads", "treespec_pprint",
]  # fmt: skip


__all__ += (  # what is imported when first asked for
    "GetAttrKey MappingKey SequenceKey key_get keystr register_constant register_dataclass tree_flatten_with_path "
    "tree_leaves_with_path tree_map_with_path treespec_dumps treespec_loads treespec_pprint".split()
)

PyTree = Any
Flatten = Callable[[Any], tuple[list[Any], Any]]
Unflatten = Callable[[Iterable[Any], Any], Any]

SUPPORTED_NODES: dict[type, tuple[Flatten, Unflatten]] = {}


KEYED: dict[type, Callable[[Any], tuple[list[Any], Any]]] = {}  # how a class gives its children with their keys


def register_pytree_node(
    cls: type, flatten_fn: Flatten, unflatten_fn: Unflatten, *, flatten_with_keys_fn: Any = None, **_: Any
) -> None:
    """Teach the trees a container class.

    **Raises** ValueError where it is known already.
    """
    if cls in SUPPORTED_NODES:
        raise ValueError(f"{cls!r} is already registered as pytree node.")
    SUPPORTED_NODES[cls] = (flatten_fn, unflatten_fn)
    if flatten_with_keys_fn is not None:
        KEYED[cls] = flatten_with_keys_fn


register_pytree_node(tuple, lambda t: (list(t), None), lambda vs, _: tuple(vs))
register_pytree_node(list, lambda t: (list(t), None), lambda vs, _: list(vs))
register_pytree_node(dict, lambda d: (list(d.values()), list(d)), lambda vs, keys: dict(zip(keys, vs, strict=True)))
register_pytree_node(
    OrderedDict, lambda d: (list(d.values()), list(d)), lambda vs, keys: OrderedDict(zip(keys, vs, strict=True))
)
register_pytree_node(
    defaultdict,
    lambda d: (list(d.values()), [d.default_factory, list(d)]),
    lambda vs, c: defaultdict(c[0], zip(c[1], vs, strict=True)),
)
register_pytree_node(deque, lambda d: (list(d), d.maxlen), lambda vs, maxlen: deque(vs, maxlen=maxlen))


def _is_namedtuple(x: Any) -> bool:
    return isinstance(x, tuple) and hasattr(x, "_fields")


def _named(x: Any) -> Any:
    """The class of a tuple with names: a namedtuple, or an op's result."""
    return (
        type(x)
        if isinstance(x, tuple) and type(x) is not tuple and (hasattr(x, "_fields") or hasattr(x, "fields"))
        else None
    )  # noqa: E501


class TreeSpec:
    """The shape of a tree: what its containers are, without the leaves."""

    __slots__ = ("children_specs", "context", "num_leaves", "type")

    def __init__(self, type: Any, context: Any, children_specs: list[TreeSpec]) -> None:
        self.type, self.context, self.children_specs = type, context, children_specs
        self.num_leaves = 1 if type is None else sum([c.num_leaves for c in children_specs])

    def is_leaf(self) -> bool:
        return self.type is None

    @property
    def num_children(self) -> int:
        return len(self.children_specs)

    @property
    def num_nodes(self) -> int:
        return 1 + sum(c.num_nodes for c in self.children_specs)

    def children(self) -> list[TreeSpec]:
        return list(self.children_specs)

    def child(self, index: int) -> TreeSpec:
        return self.children_specs[index]

    def unflatten(self, leaves: Iterable[Any]) -> Any:
        """A tree of this shape with these leaves."""
        return tree_unflatten(leaves, self)

    def flatten_up_to(self, tree: Any) -> list[Any]:
        """The parts of a tree that stand where this one has its leaves.

        **Raises** ValueError where the tree is of another shape above them.
        """
        found: list[Any] = []
        _up_to(self, tree, found)
        return found

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, TreeSpec)
            and self.type is other.type
            and self.context == other.context
            and self.children_specs == other.children_specs
        )

    def __hash__(self) -> int:
        return hash((self.type, self.num_leaves))

    def __repr__(self) -> str:
        if self.type is None:
            return "*"
        inner = ",\n".join(repr(c) for c in self.children_specs).replace("\n", "\n  ")
        named = issubclass(self.type, tuple) and hasattr(self.type, "_fields")
        kind, context = ("namedtuple", self.type) if named else (self.type.__name__, self.context)
        return f"TreeSpec({kind}, {context}, [{inner}])"


PyTreeSpec = TreeSpec
LEAF = TreeSpec(None, None, [])
_DICTS = (dict, OrderedDict, defaultdict)


def LeafSpec() -> TreeSpec:
    """The shape of a tree that is a leaf."""
    return LEAF


def _up_to(spec: TreeSpec, tree: Any, found: list[Any]) -> None:
    if spec.type is None:
        found.append(tree)
        return
    got = _children(tree)
    if got is None or (got[0] is not spec.type and not (got[0] in _DICTS and spec.type in _DICTS)):
        raise ValueError(f"Node type mismatch; expected {spec.type!r}, but got {type(tree)!r}.")
    _, children, context = got
    if spec.type in _DICTS:  # by key, in whatever order
        keys = spec.context[1] if spec.type is defaultdict else spec.context
        if set(keys) != set(tree):
            missing, extra = set(keys) - set(tree), set(tree) - set(keys)
            text = (f" missing key(s): {missing};" if missing else "") + (f" extra key(s): {extra};" if extra else "")
            raise ValueError(f"Node keys mismatch;{text.rstrip(';')}.")
        children = [tree[k] for k in keys]
    elif len(children) != len(spec.children_specs):
        raise ValueError(f"Node arity mismatch; expected {len(spec.children_specs)}, but got {len(children)}.")
    elif context != spec.context and spec.type is not deque:
        raise ValueError(f"Node context mismatch for custom node type {spec.type!r}.")
    for s, c in zip(spec.children_specs, children, strict=True):
        _up_to(s, c, found)


def _children(x: Any) -> tuple[Any, list[Any], Any] | None:
    kind = type(x)
    if kind is tuple or kind is Size:
        return tuple, list(x), None
    cls = _named(x) if isinstance(x, tuple) else None
    if cls is not None:
        return cls, list(x), None
    handler = SUPPORTED_NODES.get(kind)
    if handler is None:
        return None
    children, context = handler[0](x)
    return kind, list(children), context


def tree_flatten(tree: Any, is_leaf: Callable[[Any], bool] | None = None) -> tuple[list[Any], TreeSpec]:
    """The leaves of a tree, and its shape.

    >>> leaves, spec = tree_flatten({"a": [1, 2], "b": 3})
    >>> leaves, tree_unflatten([10, 20, 30], spec)
    ([1, 2, 3], {'a': [10, 20], 'b': 30})
    """
    leaves: list[Any] = []
    return leaves, _walk(tree, leaves, is_leaf)


def _walk(x: Any, leaves: list[Any], is_leaf: Any) -> TreeSpec:  # no closure: one that calls itself is a cycle
    got = None
    if not (is_leaf is not None and is_leaf(x)) and (type(x) in SUPPORTED_NODES or isinstance(x, tuple)):
        got = _children(x)
    if got is None:
        leaves.append(x)
        return LEAF
    kind, children, context = got
    specs = []
    for c in children:
        if is_leaf is None and type(c) not in SUPPORTED_NODES and not isinstance(c, tuple):  # most are leaves
            leaves.append(c)
            specs.append(LEAF)
        else:
            specs.append(_walk(c, leaves, is_leaf))
    return TreeSpec(kind, context, specs)


def tree_unflatten(leaves: Iterable[Any], treespec: TreeSpec) -> Any:
    """A tree of this shape with these leaves."""
    if not isinstance(treespec, TreeSpec):
        raise TypeError(f"Expected `treespec` to be an instance of PyTreeSpec but got item of type {type(treespec)}.")
    items = list(leaves)
    if len(items) != treespec.num_leaves:
        raise ValueError(
            f"treespec.unflatten(leaves): `leaves` has length {len(items)} but the spec refers to a pytree that holds "
            f"{treespec.num_leaves} items ({treespec})."
        )
    return _build(treespec, iter(items))


def _build(spec: TreeSpec, it: Iterator[Any]) -> Any:
    if spec.type is None:
        return next(it)
    children = [next(it) if c.type is None else _build(c, it) for c in spec.children_specs]
    if issubclass(spec.type, tuple) and spec.type is not tuple:
        return spec.type(*children)
    return SUPPORTED_NODES[spec.type][1](children, spec.context)


def tree_leaves(tree: Any, is_leaf: Callable[[Any], bool] | None = None) -> list[Any]:
    """The leaves of a tree."""
    return tree_flatten(tree, is_leaf)[0]


def tree_structure(tree: Any, is_leaf: Callable[[Any], bool] | None = None) -> TreeSpec:
    """The shape of a tree."""
    return tree_flatten(tree, is_leaf)[1]


def tree_map(fn: Callable[..., Any], tree: Any, *rests: Any, is_leaf: Callable[[Any], bool] | None = None) -> Any:
    """The tree with `fn` applied to its leaves (and those of trees of the same shape)."""
    leaves, spec = tree_flatten(tree, is_leaf)
    others = [spec.flatten_up_to(r) for r in rests]
    return tree_unflatten([fn(*xs) for xs in zip(leaves, *others, strict=True)], spec)


def tree_map_(fn: Callable[..., Any], tree: Any, *rests: Any) -> Any:
    """`tree_map` for its effect: returns the tree."""
    tree_map(fn, tree, *rests)
    return tree


def tree_map_only(kind: Any, fn: Callable[[Any], Any], tree: Any, is_leaf: Callable[[Any], bool] | None = None) -> Any:
    """The tree with `fn` applied to the leaves of a type."""
    return tree_map(lambda x: fn(x) if isinstance(x, kind) else x, tree, is_leaf=is_leaf)


def tree_map_only_(kind: Any, fn: Callable[[Any], Any], tree: Any, is_leaf: Any = None) -> Any:
    """`tree_map_only` for its effect: returns the tree."""
    tree_map_only(kind, fn, tree, is_leaf)
    return tree


def tree_iter(tree: Any, is_leaf: Callable[[Any], bool] | None = None) -> Iterator[Any]:
    """The leaves, one after the other."""
    yield from tree_leaves(tree, is_leaf)


def tree_is_leaf(tree: Any, is_leaf: Callable[[Any], bool] | None = None) -> bool:
    """Whether a tree is a leaf."""
    return (is_leaf is not None and is_leaf(tree)) or _children(tree) is None


def tree_all(pred: Callable[[Any], bool], tree: Any, is_leaf: Any = None) -> bool:
    """Whether something holds for every leaf."""
    return all(pred(x) for x in tree_leaves(tree, is_leaf))


def tree_any(pred: Callable[[Any], bool], tree: Any, is_leaf: Any = None) -> bool:
    """Whether something holds for some leaf."""
    return any(pred(x) for x in tree_leaves(tree, is_leaf))


def tree_all_only(kind: Any, pred: Callable[[Any], bool], tree: Any, is_leaf: Any = None) -> bool:
    """Whether something holds for every leaf of a type."""
    return all(pred(x) for x in tree_leaves(tree, is_leaf) if isinstance(x, kind))


def tree_any_only(kind: Any, pred: Callable[[Any], bool], tree: Any, is_leaf: Any = None) -> bool:
    """Whether something holds for some leaf of a type."""
    return any(pred(x) for x in tree_leaves(tree, is_leaf) if isinstance(x, kind))


def broadcast_to_and_flatten(tree: Any, treespec: TreeSpec) -> list[Any] | None:
    """The leaves of a tree that may end early: one leaf there serves a whole branch of `treespec`. None if they do not
    fit."""
    got = _children(tree)
    if treespec.type is None:
        return [tree] if got is None else None
    if got is None:
        return [tree] * treespec.num_leaves
    kind, children, context = got
    specs = treespec.children_specs
    if kind is not treespec.type or context != treespec.context or len(children) != len(specs):
        return None
    parts = [broadcast_to_and_flatten(c, s) for c, s in zip(children, specs, strict=True)]
    return None if None in parts else [x for part in parts for x in part]  # type: ignore[union-attr]


_broadcast_to_and_flatten = broadcast_to_and_flatten


class SequenceKey(NamedTuple):
    """A place in a list or tuple."""

    idx: int

    def __str__(self) -> str:
        return f"[{self.idx!r}]"

    def get(self, parent: Any) -> Any:
        return parent[self.idx]


class MappingKey(NamedTuple):
    """A place in a dict."""

    key: Any

    def __str__(self) -> str:
        return f"[{self.key!r}]"

    def get(self, parent: Any) -> Any:
        return parent[self.key]


class GetAttrKey(NamedTuple):
    """An attribute."""

    name: str

    def __str__(self) -> str:
        return f".{self.name}"

    def get(self, parent: Any) -> Any:
        return getattr(parent, self.name)


def keystr(path: tuple[Any, ...]) -> str:
    """A path as one would write it."""
    return "".join(str(k) for k in path)


def key_get(tree: Any, path: tuple[Any, ...]) -> Any:
    """What stands at a path."""
    for k in path:
        tree = k.get(tree)
    return tree


def tree_leaves_with_path(tree: Any, is_leaf: Callable[[Any], bool] | None = None) -> list[tuple[Any, Any]]:
    """The leaves, each after its path."""
    found: list[tuple[Any, Any]] = []

    def walk(x: Any, path: tuple[Any, ...]) -> None:
        got = None if is_leaf is not None and is_leaf(x) else _children(x)
        if got is None:
            found.append((path, x))
            return
        for key, child in _keyed(x, *got):
            walk(child, (*path, key))

    walk(tree, ())
    return found


def _keyed(x: Any, kind: Any, children: list[Any], context: Any) -> list[tuple[Any, Any]]:
    if kind in KEYED:
        return list(KEYED[kind](x)[0])
    if kind in (dict, OrderedDict, defaultdict):
        keys: list[Any] = [MappingKey(k) for k in x]
    elif hasattr(kind, "_fields"):
        keys = [GetAttrKey(n) for n in kind._fields]
    elif kind in (list, tuple) or issubclass(kind, tuple) or hasattr(kind, "maxlen"):
        keys = [SequenceKey(i) for i in range(len(children))]
    else:
        raise ValueError(f"Did not find a flatten_with_keys_fn for type: {kind}. Please pass a flatten_with_keys_fn "
                         "argument to register_pytree_node.")  # fmt: skip
    return list(zip(keys, children, strict=True))


def tree_flatten_with_path(
    tree: Any, is_leaf: Callable[[Any], bool] | None = None
) -> tuple[list[tuple[Any, Any]], TreeSpec]:
    """The leaves, each after its path, and the tree's shape."""
    return tree_leaves_with_path(tree, is_leaf), tree_structure(tree, is_leaf)


def tree_map_with_path(
    func: Callable[..., Any], tree: Any, *rests: Any, is_leaf: Callable[[Any], bool] | None = None
) -> Any:
    """The tree with `func(path, leaf)` for its leaves."""
    leaves, spec = tree_flatten_with_path(tree, is_leaf)
    others = [spec.flatten_up_to(r) for r in rests]
    return tree_unflatten([func(*leaf, *xs) for leaf, *xs in zip(leaves, *others, strict=True)], spec)


# ------------------------------------------------------------------ shapes as text


def treespec_pprint(treespec: TreeSpec) -> str:
    """The shape, with a star for each leaf."""

    class Star:
        def __repr__(self) -> str:
            return "*"

    return repr(tree_unflatten([Star() for _ in range(treespec.num_leaves)], treespec))


def treespec_dumps(treespec: TreeSpec, protocol: int | None = None) -> str:
    """The shape as JSON."""

    def plain(spec: TreeSpec) -> dict[str, Any]:
        kind = None if spec.type is None else f"{spec.type.__module__}.{spec.type.__qualname__}"
        return {
            "type": kind,
            "context": None if kind is None else json.dumps(spec.context),
            "children_spec": [plain(c) for c in spec.children_specs],
        }  # fmt: skip

    return json.dumps([1, plain(treespec)])


def treespec_loads(serialized: str) -> TreeSpec:
    """The shape that JSON tells of."""

    def build(d: dict[str, Any]) -> TreeSpec:
        if d["type"] is None:
            return LEAF
        module, _, name = d["type"].rpartition(".")
        return TreeSpec(
            getattr(importlib.import_module(module), name),
            json.loads(d["context"]),
            [build(c) for c in d["children_spec"]],
        )

    return build(json.loads(serialized)[1])


# ------------------------------------------------------------------ classes as trees


def register_dataclass(
    cls: type, *, field_names: list[str] | None = None, drop_field_names: list[str] | None = None, **_: Any
) -> None:
    """Teach the trees a dataclass: its fields are the children."""
    names = field_names or [
        f.name for f in dataclasses.fields(cls) if f.init and f.name not in (drop_field_names or ())
    ]

    def flatten(x: Any) -> tuple[list[Any], Any]:
        given = [n for n in names if getattr(x, n) is not None]
        return [getattr(x, n) for n in given], [given, [n for n in names if n not in given]]

    def keyed(x: Any) -> tuple[list[Any], Any]:
        children, context = flatten(x)
        return list(zip([GetAttrKey(n) for n in context[0]], children, strict=True)), context

    def unflatten(children: Any, context: Any) -> Any:
        return cls(**dict(zip(context[0], children, strict=True)), **dict.fromkeys(context[1]))

    register_pytree_node(cls, flatten, unflatten, flatten_with_keys_fn=keyed)


def register_constant(cls: type) -> None:
    """Teach the trees a class whose instances are part of the shape.

    **Raises** TypeError where instances cannot be compared or hashed.
    """
    if cls.__eq__ is object.__eq__:
        raise TypeError("register_constant(cls) expects `cls` to have a non-default `__eq__` implementation.")
    if cls.__hash__ is None:
        raise TypeError("register_constant(cls) expects `cls` to have a non-default `__hash__` implementation.")
    register_pytree_node(cls, lambda x: ([], x), lambda _, x: x, flatten_with_keys_fn=lambda x: ([], x))
