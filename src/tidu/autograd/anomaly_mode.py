"""Anomaly mode: the first NaN raises where it is made, and the forward call is named; and other help in looking for
errors.
Source: torch.autograd.anomaly_mode."""

from __future__ import annotations

import warnings
from typing import Any

from ..core.careful import WATCH, forget_writes
from ..core.modes import _Mode, in_all_threads, state
from ..core.subclass import watch_all

__all__ = [
    "detect_anomaly", "is_anomaly_check_nan_enabled", "is_anomaly_enabled", "masked_zeros", "set_anomaly_enabled",
    "set_debug", "set_detect_anomaly",
]  # fmt: skip


def is_anomaly_enabled() -> bool:
    """Whether anomaly mode is on. Source: torch.is_anomaly_enabled."""
    return state.anomaly


def is_anomaly_check_nan_enabled() -> bool:
    """Whether anomaly mode looks for NaN. Source: torch.is_anomaly_check_nan_enabled."""
    return state.check_nan


def set_anomaly_enabled(mode: bool, check_nan: bool = True, *, check_inf: bool = False, forward: bool = False) -> None:
    """Turn anomaly mode on or off in all threads, see `detect_anomaly`."""
    for position, (name, given) in enumerate((("enabled", mode), ("check_nan", check_nan)), 1):
        if given.__class__ is not bool:
            raise TypeError(
                f"set_anomaly_enabled(): argument '{name}' (position {position}) must be bool, not {type(given).__name__}"
            )
    if state.check_forward is not (mode and forward):
        watch_all(WATCH, mode and forward)
    in_all_threads(anomaly=mode, check_nan=check_nan, check_inf=mode and check_inf, check_forward=mode and forward)


def _settings() -> tuple[bool, bool, bool, bool]:
    return state.anomaly, state.check_nan, state.check_inf, state.check_forward


def _restore(settings: tuple[bool, bool, bool, bool]) -> None:
    mode, nan, inf, forward = settings
    set_anomaly_enabled(mode, nan, check_inf=inf, forward=forward)


class set_detect_anomaly:
    """Turn anomaly mode on or off, at once; as a context manager, put it back on leaving. Source:
    torch.autograd.set_detect_anomaly."""

    def __init__(self, mode: bool, check_nan: bool = True, *, check_inf: bool = False, forward: bool = False) -> None:
        self.prev = _settings()
        set_anomaly_enabled(mode, check_nan, check_inf=check_inf, forward=forward)

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exc: Any) -> None:
        _restore(self.prev)


class detect_anomaly:
    """Within it backward raises where a NaN is made, and the warning before it shows the forward call.

    Args:
        check_nan: whether to look for NaN, or to show forward calls of errors only.
        check_inf: look for infinities too. Not in PyTorch.
        forward: look at the results of ops as they are made, recorded or not, in place, of custom Functions, and at
            tangents, not only at gradients: the first that is not finite, of inputs that were, raises. Not in PyTorch.

    The error has a note: how many values, the first one's index, and what the op was given.

    Raises:
        RuntimeError: the first value that is not finite.

    Source: torch.autograd.detect_anomaly.

    >>> import warnings; warnings.simplefilter("ignore")
    >>> import tidu as torch
    >>> x = torch.tensor([1., 0.], requires_grad=True)
    >>> with torch.autograd.detect_anomaly(check_inf=True, forward=True):
    ...     try:
    ...         x.log()
    ...     except RuntimeError as error:
    ...         print(error)
    Function 'LogBackward0' made infinite values in its 0th result.
    """

    def __init__(self, check_nan: bool = True, *, check_inf: bool = False, forward: bool = False) -> None:
        self.check_nan, self.check_inf, self.forward = check_nan, check_inf, forward
        warnings.warn(
            "Anomaly Detection has been enabled. This mode will increase the runtime and should only be enabled for "
            "debugging.",
            UserWarning,
            stacklevel=2,
        )

    def __enter__(self) -> None:
        self.prev = _settings()
        set_anomaly_enabled(True, self.check_nan, check_inf=self.check_inf, forward=self.forward)

    def __exit__(self, *exc: Any) -> None:
        _restore(self.prev)


class masked_zeros(_Mode):
    """Within it backward takes the product of zero and infinity for zero.

    The gradient of the branch that `where` did not take, and that of a norm at 0, are NaN otherwise: an exactly zero
    cotangent meets an infinite derivative, or an infinite cotangent a zero one. For elementwise ops. Not in PyTorch.

    >>> import tidu as torch
    >>> x = torch.tensor([0., 4.], requires_grad=True)
    >>> with torch.autograd.masked_zeros():
    ...     torch.where(x > 0, x.sqrt(), 0.).sum().backward()
    >>> x.grad
    tensor([0.0000, 0.2500])
    """

    def __enter__(self) -> None:
        self._was, state.masked = state.masked, True
        state.refresh()

    def __exit__(self, *exc: Any) -> None:
        state.masked = self._was
        state.refresh()


def set_debug(mode: bool = True) -> None:
    """Note the lines of recorded ops and of writes in this thread, so that the error about a value that was modified in
    place names both: the op that kept it, and the writes since. Slow; not in PyTorch.

    >>> import tidu as torch
    >>> torch.autograd.set_debug(True)
    >>> torch.autograd.set_debug(False)
    """
    state.debug = mode
    if not mode:
        forget_writes()
    state.refresh()
