"""torch.nn: modules, and what they are made of."""

from __future__ import annotations

from importlib import import_module as _import_module
from typing import Any as _Any

from ..naming import submodule as _submodule
from . import functional, init, modules
from .modules import *  # noqa: F403
from .modules.loss import legacy_get_string as _legacy_get_string
from .parameter import Buffer, Parameter, UninitializedBuffer, UninitializedParameter

_LATER = ("attention", "grad", "parallel", "utils")


def __getattr__(name: str) -> _Any:
    if name in _LATER:
        return _import_module("." + name, __name__)
    if name == "DataParallel":
        from .parallel import DataParallel

        return DataParallel
    from ..missing import missing_name

    raise missing_name(__name__, name)


def factory_kwargs(kwargs: _Any) -> dict[str, _Any]:
    """Of keyword arguments, those that say where and how to make a tensor; TypeError for what is none of these.

    Source: torch.nn.factory_kwargs.
    """
    if kwargs is None:
        return {}
    simple = {"device", "dtype", "memory_format"}
    expected = simple | {"factory_kwargs"}
    if not kwargs.keys() <= expected:
        raise TypeError(f"unexpected kwargs {kwargs.keys() - expected}")
    got = dict(kwargs.get("factory_kwargs", {}))
    for k in simple:
        if k in kwargs:
            if k in got:
                raise TypeError(f"{k} specified twice, in **kwargs and in factory_kwargs")
            got[k] = kwargs[k]
    return got


__all__ = [
    *modules.__all__, "Buffer", "Parameter", "UninitializedBuffer", "UninitializedParameter", "factory_kwargs",
    "functional", "init", "modules",
]  # fmt: skip

_submodule(globals(), "_reduction", legacy_get_string=_legacy_get_string)
_size, _several = int | tuple[int, ...], _Any | tuple[_Any, ...]
_submodule(
    globals(),
    "common_types",
    **{f"_scalar_or_tuple_{n}_t": _several for n in ("any", 1, 2, 3, 4, 5, 6)},
    **{f"_size_{n}_t": _size for n in ("any", 1, 2, 3, 4, 5, 6)},
    **{f"_size_{n}_opt_t": int | tuple[int | None, ...] for n in ("any", 2, 3)},
    **{f"_ratio_{n}_t": float | tuple[float, ...] for n in ("any", 2, 3)},
    _tensor_list_t=_several,
    _maybe_indices_t=_several,
)
