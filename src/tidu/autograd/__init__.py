"""torch.autograd: backward, grad, and what surrounds them."""

from __future__ import annotations

from typing import Any

from ..core.forward import TRANSFORMS as _TRANSFORMS
from ..core.modes import enable_grad, inference_mode, no_grad, set_grad_enabled, set_multithreading_enabled
from ..core.subclass import FACES as _FACES
from ..core.tensor import Tensor as _Tensor
from .anomaly_mode import detect_anomaly, masked_zeros, set_debug, set_detect_anomaly
from .backward import backward, grad, tensor_backward
from .function import Function
from .variable import Variable

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


def __getattr__(name: str) -> Any:
    lazy = {
        "anomaly_mode": "", "forward_ad": "", "functional": "", "gradcheck": "gradcheck", "gradgradcheck": "gradcheck",
        "graph": "", "profiler": "", "variable": "", "grad_mode": "", "NestedIOFunction": "function",
        "enforce_grad_layout_policy": "grad_mode", "_force_original_view_tracking": "grad_mode",
        "_unsafe_preserve_version_counter": "grad_mode",
    }  # fmt: skip
    if name in lazy:
        from importlib import import_module

        module = import_module("." + (lazy[name] or name), __name__)
        value = getattr(module, name) if lazy[name] else module
        globals()[name] = value
        return value
    from ..missing import missing_name

    raise missing_name(__name__, name)
