"""torch.utils: what belongs nowhere else."""

from __future__ import annotations

from typing import Any as _Any

_MODULES = frozenset(
    "_foreach_utils _pytree benchmark checkpoint data deterministic dlpack hooks model_zoo tensorboard".split()
)


def __getattr__(name: str) -> _Any:
    if name in _MODULES:
        from importlib import import_module

        try:
            return import_module("." + name, __name__)
        except ModuleNotFoundError as error:
            if error.name is None or not error.name.startswith(__name__):
                raise
    from ..missing import missing_name

    raise missing_name(__name__, name)


def swap_tensors(t1: _Any, t2: _Any) -> None:
    """Let two tensors change places: each becomes what the other was, to all who hold it.

    Source: torch.utils.swap_tensors.

    Raises:
        RuntimeError: somebody has a weak reference to one of them.
    """
    import weakref

    from ..core.tensor import Tensor

    for name, t in (("t1", t1), ("t2", t2)):
        if weakref.getweakrefs(t):
            raise RuntimeError(f"Cannot swap {name} because it has weakref associated with it")

    cls1, cls2 = type(t1), type(t2)
    t1.__class__, t2.__class__ = cls2, cls1
    names = [name for name in Tensor.__slots__ if name not in ("__dict__", "__weakref__")]
    slots = [Tensor.__dict__[name] for name in names]
    for slot in slots:
        a, b = slot.__get__(t1), slot.__get__(t2)
        slot.__set__(t1, b)
        slot.__set__(t2, a)
    t1.__dict__, t2.__dict__ = t2.__dict__, t1.__dict__


def set_module(obj: _Any, mod: str) -> None:
    """Say which module an object is shown as part of. Source: torch.utils.set_module."""
    if not isinstance(mod, str):
        raise TypeError("The mod argument should be a string")
    obj.__module__ = mod


__all__ = ["set_module", "swap_tensors"]
