"""Scaling of losses, so that narrow gradients do not vanish. Source: torch.amp.GradScaler."""

from __future__ import annotations

import warnings
from collections import defaultdict
from collections.abc import Iterable
from enum import Enum
from typing import Any

import numpy as np

from .. import dtypes
from ..core.tensor import Tensor, raw, tensor_of

__all__ = ["GradScaler", "OptState"]


class OptState(Enum):
    """How far an optimiser has come in this iteration."""

    READY = 0
    UNSCALED = 1
    STEPPED = 2


def _fresh() -> dict[str, Any]:
    return {"stage": OptState.READY, "found_inf_per_device": {}}


class GradScaler:
    """Multiplies losses by a scale, divides gradients by it, and leaves out steps with infinite gradients.

    Args:
        device: "cpu"; "cuda" is disabled, with a warning.
        init_scale: the first scale.
        growth_factor, growth_interval: the scale grows by it after so many steps without infinities.
        backoff_factor: the scale shrinks by it after a step with one.
        enabled: False to do nothing.

    Source: torch.amp.GradScaler.
    """

    def __init__(
        self, device: str = "cuda", init_scale: float = 2.0**16, growth_factor: float = 2.0,
        backoff_factor: float = 0.5, growth_interval: int = 2000, enabled: bool = True,
    ) -> None:  # fmt: skip
        self._device, self._enabled = device, enabled
        if device == "cuda" and enabled:
            warnings.warn("torch.cuda.amp.GradScaler is enabled, but CUDA is not available.  Disabling.", stacklevel=2)
            self._enabled = False
        if self._enabled:
            if growth_factor <= 1.0:
                raise AssertionError("The growth factor must be > 1.0.")
            if backoff_factor >= 1.0:
                raise AssertionError("The backoff factor must be < 1.0.")
        self._init_scale, self._scale = init_scale, None
        self._growth_factor, self._backoff_factor = growth_factor, backoff_factor
        self._growth_interval = growth_interval
        self._init_growth_tracker = self._growth_tracker = 0
        self._per_optimizer_states: Any = defaultdict(_fresh)

    _scale: Tensor | None

    def _check(self, name: str) -> Tensor:
        if self._scale is None:
            raise AssertionError(
                f"Attempted {name} but _scale is None.  This may indicate your script did not use scaler.scale(loss or "
                "outputs) earlier in the iteration."
            )
        return self._scale

    def scale(self, outputs: Any) -> Any:
        """A loss, or several, times the scale. Source: torch.amp.GradScaler.scale."""
        if not self._enabled:
            return outputs
        if self._scale is None:
            self._scale = tensor_of(np.asarray(self._init_scale, np.float32))
            self._growth_tracker = self._init_growth_tracker

        def scaled(x: Any) -> Any:
            if isinstance(x, Tensor):
                return x * self._scale
            if isinstance(x, Iterable):
                made = map(scaled, x)
                return type(x)(made) if isinstance(x, (list, tuple)) else made
            raise ValueError("outputs must be a Tensor or an iterable of Tensors")

        return scaled(outputs)

    def unscale_(self, optimizer: Any) -> None:
        """Divide an optimiser's gradients by the scale, in place. Source: torch.amp.GradScaler.unscale_."""
        if not self._enabled:
            return
        scale = self._check("unscale_")
        entry = self._per_optimizer_states[id(optimizer)]
        if entry["stage"] is OptState.UNSCALED:
            raise RuntimeError("unscale_() has already been called on this optimizer since the last update().")
        if entry["stage"] is OptState.STEPPED:
            raise RuntimeError("unscale_() is being called after step().")
        inverse = np.float32(1 / float(raw(scale)))
        found = False
        for group in optimizer.param_groups:
            for p in group["params"]:
                g = p._grad
                if g is None:
                    continue
                if g.dtype is dtypes.float16:
                    raise ValueError("Attempting to unscale FP16 gradients.")
                a = raw(g)
                found = found or not np.isfinite(a).all()
                a *= a.dtype.type(inverse)
                g._v[0] += 1
        entry["found_inf_per_device"] = {"cpu": tensor_of(np.asarray(float(found), np.float32))}
        entry["stage"] = OptState.UNSCALED

    def step(self, optimizer: Any, *args: Any, **kwargs: Any) -> Any:
        """Let an optimiser step, unless a gradient is infinite. Source: torch.amp.GradScaler.step."""
        if not self._enabled:
            return optimizer.step(*args, **kwargs)
        if "closure" in kwargs:
            raise RuntimeError("Closure use is not currently supported if GradScaler is enabled.")
        self._check("step")
        entry = self._per_optimizer_states[id(optimizer)]
        if entry["stage"] is OptState.STEPPED:
            raise RuntimeError("step() has already been called since the last update().")
        if entry["stage"] is OptState.READY:
            self.unscale_(optimizer)
        out = None
        if not any(v.item() for v in entry["found_inf_per_device"].values()):
            out = optimizer.step(*args, **kwargs)
        entry["stage"] = OptState.STEPPED
        return out

    def update(self, new_scale: Any = None) -> None:
        """Let the scale grow or shrink, or set it. Source: torch.amp.GradScaler.update."""
        if not self._enabled:
            return
        scale = raw(self._check("update"))
        if new_scale is not None:
            scale[...] = float(new_scale)
        else:
            found = [v for s in self._per_optimizer_states.values() for v in s["found_inf_per_device"].values()]
            if not found:
                raise AssertionError("No inf checks were recorded prior to update.")
            if any(v.item() for v in found):
                scale *= np.float32(self._backoff_factor)
                self._growth_tracker = 0
            else:
                self._growth_tracker += 1
                if self._growth_tracker == self._growth_interval:
                    grown = scale * np.float32(self._growth_factor)
                    if np.isfinite(grown):
                        scale[...] = grown
                    self._growth_tracker = 0
        self._per_optimizer_states = defaultdict(_fresh)

    def get_scale(self) -> float:
        """The scale. Source: torch.amp.GradScaler.get_scale."""
        if not self._enabled:
            return 1.0
        return self._init_scale if self._scale is None else float(raw(self._scale))

    def get_growth_factor(self) -> float:
        return self._growth_factor

    def set_growth_factor(self, new_factor: float) -> None:
        self._growth_factor = new_factor

    def get_backoff_factor(self) -> float:
        return self._backoff_factor

    def set_backoff_factor(self, new_factor: float) -> None:
        self._backoff_factor = new_factor

    def get_growth_interval(self) -> int:
        return self._growth_interval

    def set_growth_interval(self, new_interval: int) -> None:
        self._growth_interval = new_interval

    def _get_growth_tracker(self) -> int:
        return self._growth_tracker if self._enabled else 0

    def is_enabled(self) -> bool:
        """Whether it does anything. Source: torch.amp.GradScaler.is_enabled."""
        return self._enabled

    def state_dict(self) -> dict[str, Any]:
        """Its state. Source: torch.amp.GradScaler.state_dict."""
        if not self._enabled:
            return {}
        return {
            "scale": self.get_scale(), "growth_factor": self._growth_factor, "backoff_factor": self._backoff_factor,
            "growth_interval": self._growth_interval, "_growth_tracker": self._growth_tracker,
        }  # fmt: skip

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over what `state_dict` gave. Source: torch.amp.GradScaler.load_state_dict."""
        if not self._enabled:
            return
        if not state_dict:
            raise RuntimeError(
                "The source state dict is empty, possibly because it was saved from a disabled instance of GradScaler."
            )
        self._init_scale = state_dict["scale"]
        if self._scale is not None:
            raw(self._scale)[...] = state_dict["scale"]
        self._growth_factor, self._backoff_factor = state_dict["growth_factor"], state_dict["backoff_factor"]
        self._growth_interval = state_dict["growth_interval"]
        self._init_growth_tracker = self._growth_tracker = state_dict["_growth_tracker"]
