"""torch.nn: modules, and what they are made of."""

from __future__ import annotations

from collections.abc import Callable as _Callable
from importlib import import_module as _import_module
from typing import Any as _Any

from ..autograd import grad as _grad
from ..core.modes import enable_grad as _enable_grad
from ..core.tensor import Tensor as _Tensor
from ..naming import sourced_all as _sourced_all
from ..naming import submodule as _submodule
from . import functional, init, modules
from .modules import *  # noqa: F403
from .modules.loss import legacy_get_string as _legacy_get_string
from .parameter import Buffer, Parameter, UninitializedBuffer, UninitializedParameter

_LATER = ("attention", "parallel", "utils")


def __getattr__(name: str) -> _Any:
    if name in _LATER:
        return _import_module("." + name, __name__)
    if name == "DataParallel":
        from .parallel import DataParallel

        return DataParallel
    from ..core.errors import missing_name

    raise missing_name(__name__, name)


def factory_kwargs(kwargs: _Any) -> dict[str, _Any]:
    """Of keyword arguments, those that say where and how to make a tensor; TypeError for what is none of these."""
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


def _gradient(
    conv: _Callable[..., _Any], input: _Any, weight: _Any, wanted: _Any, grad_output: _Tensor, how: _Any
) -> _Any:
    with _enable_grad():
        out = conv(input, weight, None, *how)
        return _grad(out, wanted, grad_output)[0]


def _input(name: str) -> _Any:
    def gradient(
        input_size: _Any, weight: _Any, grad_output: _Any, stride: _Any = 1, padding: _Any = 0, dilation: _Any = 1,
        groups: int = 1,
    ) -> _Any:  # fmt: skip
        x = grad_output.new_zeros(input_size).requires_grad_()
        return _gradient(
            getattr(functional, name), x, weight.detach(), x, grad_output, (stride, padding, dilation, groups)
        )

    gradient.__name__ = gradient.__qualname__ = f"{name}_input"
    gradient.__doc__ = f"The gradient of {name} with respect to an input of this size. Source: torch.nn.grad."
    return gradient


def _weight(name: str) -> _Any:
    def gradient(
        input: _Any, weight_size: _Any, grad_output: _Any, stride: _Any = 1, padding: _Any = 0, dilation: _Any = 1,
        groups: int = 1,
    ) -> _Any:  # fmt: skip
        w = grad_output.new_zeros(weight_size).requires_grad_()
        return _gradient(
            getattr(functional, name), input.detach(), w, w, grad_output, (stride, padding, dilation, groups)
        )

    gradient.__name__ = gradient.__qualname__ = f"{name}_weight"
    gradient.__doc__ = f"The gradient of {name} with respect to a weight of this size. Source: torch.nn.grad."
    return gradient


_submodule(
    globals(),
    "grad",
    **{f"conv{n}d_input": _input(f"conv{n}d") for n in (1, 2, 3)},
    **{f"conv{n}d_weight": _weight(f"conv{n}d") for n in (1, 2, 3)},
)
__all__ = [
    *modules.__all__, "Buffer", "Parameter", "UninitializedBuffer", "UninitializedParameter", "factory_kwargs",
    "functional", "init", "modules",
]  # fmt: skip

_sourced_all(globals())
for _part in modules.Module.__bases__:
    _sourced_all(vars(_part), "nn.Module")

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
