"""The few names of PyTorch's compiled core that Python programs use."""

from __future__ import annotations

from importlib import import_module as _import_module
from typing import Any as _Any

from ..core.modes import is_grad_enabled as _is_grad_enabled
from ..core.modes import set_record as _set_grad_enabled
from ..core.subclass import DisableTorchFunctionSubclass, _disabled_torch_function_impl
from ..core.tensor import Tensor as TensorBase
from ..naming import submodule as _submodule
from ..ops._linalg import LinAlgError as _LinAlgError
from ..ops._sampler import Generator
from ..overrides import DisableTorchFunction

_TensorBase = TensorBase

__all__ = [
    "DisableTorchFunction", "DisableTorchFunctionSubclass", "Generator", "TensorBase", "_LinAlgError", "_TensorBase",
    "_disabled_torch_function_impl", "_get_tracing_state", "_is_grad_enabled", "_log_api_usage_once",
    "_set_grad_enabled",
]  # fmt: skip


def _get_tracing_state() -> None:
    """None: no program is being traced."""


def _log_api_usage_once(event: str) -> None:
    """PyTorch counts who uses what; nobody does here."""


class _Functions(type):
    def __getattr__(cls, name: str) -> _Any:
        return getattr(_import_module(__name__.rpartition(".")[0]), name)


class _VariableFunctionsClass(metaclass=_Functions):
    """What PyTorch's files call the place of `torch.tanh` and the like."""


_VariableFunctions = _VariableFunctionsClass


def _family(name: str, home: str, prefix: str) -> None:
    """torch._C._linalg and the like: a namespace's functions by the names of PyTorch's compiled core."""

    def __getattr__(name: str) -> _Any:
        return getattr(_import_module(home, "tidu"), name.removeprefix(prefix))

    _submodule(globals(), name, __getattr__=__getattr__)


_family("_fft", ".fft", "fft_")
_family("_linalg", ".linalg", "linalg_")
_family("_nn", ".nn.functional", "")
_family("_special", ".special", "special_")


def __getattr__(name: str) -> _Any:
    from ..core.errors import missing_name

    raise missing_name(__name__, name)
