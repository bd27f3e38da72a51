"""RAdam. Source: torch.optim.RAdam."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core.tensor import Tensor
from ._arrays import Array, ArrayOptimizer, decay_squares, gradient, lerp, number, recorded_gradient
from .adam import check_adam, set_adam_defaults
from .optimizer import ParamsT

__all__ = ["RAdam"]


class RAdam(ArrayOptimizer):
    """Adam that goes by the mean gradient alone until its second moment can be trusted. Source: torch.optim.RAdam.

    Args: those of `Adam`.
    """

    scratch = 3

    def __init__(
        self, params: ParamsT, lr: Any = 1e-3, betas: Any = (0.9, 0.999), eps: float = 1e-8, weight_decay: float = 0,
        decoupled_weight_decay: bool = False, *, foreach: bool | None = None, maximize: bool = False,
        capturable: bool = False, differentiable: bool = False,
    ) -> None:  # fmt: skip
        if isinstance(lr, Tensor) and lr.numel() != 1:  # type: ignore[attr-defined]
            raise ValueError("Tensor lr must be 1-element")
        check_adam(lr, betas, eps, weight_decay)
        super().__init__(
            params,
            {
                "lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay, "maximize": maximize,
                "foreach": foreach, "capturable": capturable, "decoupled_weight_decay": decoupled_weight_decay,
                "differentiable": differentiable,
            },
        )  # fmt: skip

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        set_adam_defaults(self)

    def names(self, group: dict[str, Any]) -> tuple[str, ...]:
        return "exp_avg", "exp_avg_sq"

    @staticmethod
    def _rectified(beta2: float, step: float) -> float | None:
        """The factor of the adaptive step, None while there is none."""
        most = 2 / (1 - beta2) - 1
        rho = most - 2 * step * beta2**step / (1 - beta2**step)
        if not rho > 5.0:
            return None
        return float(((rho - 4) * (rho - 2) * most / ((most - 4) * (most - 2) * rho)) ** 0.5)

    def advance(self, group: dict[str, Any], fresh: bool, values: Any) -> tuple[Any, Any]:
        step = values[0] + 1
        beta1, beta2 = group["betas"]
        lr, decay, shrink = number(group["lr"]), number(group["weight_decay"]), 1.0
        if group["decoupled_weight_decay"]:
            shrink, decay = 1 - lr * decay, 0.0
        rect = self._rectified(beta2, step)
        return (step,), (
            beta1, beta2, group["eps"], shrink, decay, lr, 1 - beta1**step, (1 - beta2**step) ** 0.5, rect,
            group["maximize"],
        )  # fmt: skip

    def kernel(self, numbers: Any, scratch: Sequence[Array], p: Array, g: Array, *states: Array) -> None:
        beta1, beta2, eps, shrink, decay, lr, correction, root, rect, maximize = numbers
        m, v = states
        x, y, spare = scratch
        if shrink != 1:
            np.multiply(p, shrink, p)
        g = gradient(p, g, spare, maximize, decay)
        lerp(m, g, 1 - beta1, x)
        decay_squares(v, g, beta2, x)
        np.divide(m, correction, y)
        np.multiply(y, lr, y)
        if rect is not None:
            np.sqrt(v, x)
            np.add(x, eps, x)
            np.divide(root, x, x)
            np.multiply(y, x, y)
            np.multiply(y, rect, y)
        np.subtract(p, y, p)

    def recorded(self, group: dict[str, Any], p: Any, g: Any, entry: dict[str, Any]) -> None:
        entry["step"] += 1
        t = entry["step"].item()
        lr, (beta1, beta2) = group["lr"], group["betas"]
        if group["decoupled_weight_decay"]:
            p.mul_(1 - lr * group["weight_decay"])
            g = -g if group["maximize"] else g
        else:
            g = recorded_gradient(p, g, group)
        m, v = entry["exp_avg"], entry["exp_avg_sq"]
        m.lerp_(g, 1 - beta1)
        v.mul_(beta2).addcmul_(g, g, value=1 - beta2)
        update = m / (1 - beta1**t) * lr
        rect = self._rectified(beta2, t)
        if rect is not None:
            update = update * ((1 - beta2**t) ** 0.5 / (v.sqrt() + group["eps"])) * rect
        p.add_(update, alpha=-1.0)
