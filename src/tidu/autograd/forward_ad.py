"""Forward mode: dual numbers whose tangents travel with the computation. Source: torch.autograd.forward_ad.

>>> import tidu as torch
>>> import tidu.autograd.forward_ad as fwAD
>>> x = torch.tensor([1., 2.])
>>> with fwAD.dual_level():
...     y = fwAD.make_dual(x, torch.ones(2)) ** 2
...     fwAD.unpack_dual(y).tangent
tensor([2., 4.])
"""

from __future__ import annotations

import threading
from typing import Any, NamedTuple

from ..core import forward, levels
from ..core.forward import Dual
from ..core.modes import state
from ..core.tensor import Tensor, type_name

__all__ = ["UnpackedDualTensor", "dual_level", "enter_dual_level", "exit_dual_level", "make_dual", "unpack_dual"]


class _State(threading.local):
    level: int | None = None
    enabled = True


_state = _State()


class UnpackedDualTensor(NamedTuple):
    """The primal and the tangent of a dual tensor; the tangent is None where there is none."""

    primal: Any
    tangent: Any


def enter_dual_level() -> int:
    """Begin a level of forward mode; one at a time. Source: torch.autograd.forward_ad.enter_dual_level."""
    if _state.level is not None:
        raise RuntimeError("Nested forward mode AD is not supported at the moment")
    _state.level = levels.enter_by_hand()
    return 0


def exit_dual_level(*, level: int | None = None) -> None:
    """End the level; its duals lose their tangents. Source: torch.autograd.forward_ad.exit_dual_level."""
    if _state.level is None:
        raise RuntimeError("Dual level must be a positive number.")
    if level not in (None, 0):
        raise RuntimeError(
            "Trying to exit a forward AD level that was not the last one that was created. This is not supported."
        )
    levels.leave(_state.level)
    _state.level = None


class dual_level:
    """The context in which duals live. Source: torch.autograd.forward_ad.dual_level."""

    def __enter__(self) -> int:
        return enter_dual_level()

    def __exit__(self, *exc: Any) -> None:
        exit_dual_level()


def make_dual(tensor: Any, tangent: Any, *, level: int | None = None) -> Any:
    """A tensor with a tangent of the same shape; the primal's memory is shared. Source:
    torch.autograd.forward_ad.make_dual."""
    if level not in (None, 0):
        raise RuntimeError("Invalid level given to _make_dual")
    if _state.level is None:
        raise RuntimeError(
            "Trying to create a dual Tensor for forward AD but no level exists, make sure to enter_dual_level() first."
        )
    if not (tensor.is_floating_point() or tensor.is_complex()):
        raise ValueError(f"Expected primal to be floating point or complex, but got: {tensor.dtype}")
    if not (tangent.is_floating_point() or tangent.is_complex()):
        raise ValueError(f"Expected tangent to be floating point or complex, but got: {tangent.dtype}")
    if isinstance(tensor, Dual) and tensor.level == _state.level:
        raise RuntimeError(
            "Making a dual Tensor based on a Tensor that already has a forward gradient at the same level 0 is not "
            "supported."
        )
    if isinstance(tangent, Dual) and tangent.level == _state.level:
        raise RuntimeError(
            "Setting a forward grad that itself has a forward gradient at the same level0 is not supported."
        )
    forward.check_sizes(tensor, tangent)
    if not _state.enabled:
        return tensor.view_as(tensor)
    return forward.make_dual(tensor.view_as(tensor), tangent, _state.level)


def unpack_dual(tensor: Any, *, level: int | None = None) -> UnpackedDualTensor:
    """The primal and the tangent, sharing memory with the dual. Source: torch.autograd.forward_ad.unpack_dual."""
    if _state.level is None:
        return UnpackedDualTensor(tensor, None)
    if not isinstance(tensor, Tensor):
        raise TypeError(f"_unpack_dual(): argument 'dual' (position 1) must be Tensor, not {type_name(tensor)}")
    if not _state.enabled and isinstance(tensor, Dual) and tensor.level == _state.level:
        return UnpackedDualTensor(tensor.primal, None)
    if isinstance(tensor, Dual) and tensor.level == _state.level:
        return UnpackedDualTensor(tensor.primal, tensor.tangent)
    return UnpackedDualTensor(tensor, None)


class _set_fwd_grad_enabled:
    """Forward mode on or off. Source: torch.autograd.forward_ad._set_fwd_grad_enabled."""

    def __init__(self, mode: bool) -> None:
        self.prev = _state.enabled
        self._set(mode)

    def _set(self, mode: bool) -> None:
        _state.enabled = mode
        state.forward_off = None if mode else _state.level

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exc: Any) -> None:
        self._set(self.prev)
