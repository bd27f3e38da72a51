"""torch.autograd: backward, grad, and what surrounds them."""

from __future__ import annotations

import types
import warnings
from typing import Any

import numpy as np

from .. import dtypes
from ..core.engine import queue_callback
from ..core.levels import TRANSFORMS as _TRANSFORMS
from ..core.modes import enable_grad, inference_mode, no_grad, set_grad_enabled, set_multithreading_enabled, state
from ..core.subclass import FACES as _FACES
from ..core.tensor import Tensor as _Tensor
from ..core.tensor import tensor_of, type_name
from ..naming import submodule
from .backward import backward, grad, tensor_backward


class _VariableMeta(type):
    def __instancecheck__(cls, x: Any) -> bool:
        return isinstance(x, _Tensor)


class Variable(metaclass=_VariableMeta):
    """`Variable(data, requires_grad)` is a tensor over the memory of `data`, a leaf. Source: torch.autograd.Variable.

    **Raises** TypeError where `data` is no tensor.

    >>> import tidu as torch
    >>> torch.autograd.Variable(torch.ones(2), requires_grad=True)
    tensor([1., 1.], requires_grad=True)
    """

    _execution_engine = types.SimpleNamespace(queue_callback=queue_callback)

    def __new__(cls, data: Any = None, requires_grad: bool | None = False, volatile: bool | None = None) -> Any:
        if data is None:
            data = tensor_of(np.empty(0, np.float32))
        if not isinstance(data, _Tensor):
            raise TypeError(f"Variable data has to be a tensor, but got {type_name(data)}")
        if volatile:
            warnings.warn(
                "volatile was removed and now has no effect. Use `with torch.no_grad():` instead.",
                UserWarning,
                stacklevel=2,
            )
        if requires_grad.__class__ is not bool and requires_grad is not None:
            raise TypeError(f"'{type(requires_grad).__name__}' object cannot be interpreted as an integer")
        if requires_grad and data.dtype.category < dtypes.FLOATING:
            raise RuntimeError("Only Tensors of floating point and complex dtype can require gradients")
        made = data.detach()
        made.requires_grad = bool(requires_grad)
        return made


class _force_original_view_tracking(set_multithreading_enabled):
    """Does nothing: views are tracked in one way. Source: torch.autograd._force_original_view_tracking."""


class _unsafe_preserve_version_counter:
    """Within it writes to some tensors do not count. Source: torch.autograd._unsafe_preserve_version_counter."""

    def __init__(self, tensors: Any) -> None:
        self.cells = [t._v for t in (tensors if isinstance(tensors, tuple) else (tensors,))]
        self.prev = [v[0] for v in self.cells]

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exc: Any) -> None:
        for cell, version in zip(self.cells, self.prev, strict=True):
            cell[0] = version


class enforce_grad_layout_policy:
    """Whether a first gradient must lie in memory as its leaf does, or may be taken as it comes; at once, and as a
    context manager put back on leaving. Source: torch.autograd.enforce_grad_layout_policy."""

    def __init__(self, enable: bool = True) -> None:
        self.prev = state.grad_layout
        state.grad_layout = enable

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exc: Any) -> None:
        state.grad_layout = self.prev


_Tensor.backward = tensor_backward  # type: ignore[attr-defined]
tensor_backward.__name__, tensor_backward.__qualname__ = "backward", "Tensor.backward"


def _watch() -> None:
    """Begin to watch public functions: what that takes is imported when it is first wanted."""
    from .. import faces

    _FACES.start, _FACES.stop, _FACES.between = faces.start, faces.stop, faces.between
    faces.start()


def _vjp(*args: Any) -> Any:
    from ..func.transforms import vjp

    return vjp(*args)


_FACES.start = _watch
_TRANSFORMS.vjp = _vjp

submodule(globals(), "variable", "Variable")
submodule(
    globals(), "grad_mode",
    "enable_grad enforce_grad_layout_policy inference_mode no_grad set_grad_enabled set_multithreading_enabled "
    "_force_original_view_tracking _unsafe_preserve_version_counter",
)  # fmt: skip
__all__ = [
    "Function",
    "detect_anomaly",
    "masked_zeros",
    "set_debug",
    "set_detect_anomaly",
    "Variable",
    "backward",
    "enable_grad",
    "grad",
    "inference_mode",
    "no_grad",
    "set_grad_enabled",
    "set_multithreading_enabled",
]


_LATER = {
    **dict.fromkeys("anomaly_mode forward_ad function functional graph profiler".split(), ""),
    **dict.fromkeys("detect_anomaly masked_zeros set_debug set_detect_anomaly".split(), "anomaly_mode"),
    **dict.fromkeys("Function NestedIOFunction".split(), "function"),
    **dict.fromkeys("gradcheck gradgradcheck".split(), "gradcheck"),
}


def __dir__() -> list[str]:
    return sorted({*globals(), *_LATER})


def __getattr__(name: str) -> Any:
    if name in _LATER:
        from importlib import import_module

        module = import_module("." + (_LATER[name] or name), __name__)
        value = getattr(module, name) if _LATER[name] else module
        globals()[name] = value
        return value
    from ..core.errors import missing_name

    raise missing_name(__name__, name)
