"""Where the leaves of a tree are, shapes of trees as text, and classes of one's own as trees."""

from __future__ import annotations

import dataclasses
import importlib
import json
from collections import OrderedDict, defaultdict
from collections.abc import Callable
from typing import Any, NamedTuple

from ._pytree import KEYED, LEAF, TreeSpec, _children, register_pytree_node, tree_structure, tree_unflatten

__all__ = [
    "GetAttrKey", "MappingKey", "SequenceKey", "key_get", "keystr", "register_constant", "register_dataclass",
    "tree_flatten_with_path", "tree_leaves_with_path", "tree_map_with_path", "treespec_dumps", "treespec_loads",
    "treespec_pprint",
]  # fmt: skip


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
