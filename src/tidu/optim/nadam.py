"""NAdam. Source: torch.optim.NAdam."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core.tensor import Tensor, tensor_of
from ._arrays import (
    Array,
    ArrayOptimizer,
    _step_dtype,
    decay_squares,
    gradient,
    lerp,
    number,
    recorded_gradient,
)
from .adam import check_adam, set_adam_defaults
from .optimizer import ParamsT

__all__ = ["NAdam"]


class NAdam(ArrayOptimizer):
    """Adam with Nesterov momentum. Source: torch.optim.NAdam.

    Args: those of `Adam`, and
        momentum_decay: how fast beta1 grows to its full value.
    """

    scalars = ("step", "mu_product")
    scratch = 3

    def __init__(
        self, params: ParamsT, lr: Any = 2e-3, betas: Any = (0.9, 0.999), eps: float = 1e-8, weight_decay: float = 0,
        momentum_decay: float = 4e-3, decoupled_weight_decay: bool = False, *, foreach: bool | None = None,
        maximize: bool = False, capturable: bool = False, differentiable: bool = False,
    ) -> None:  # fmt: skip
        if isinstance(lr, Tensor) and lr.numel() != 1:  # type: ignore[attr-defined]
            raise ValueError("Tensor lr must be 1-element")
        check_adam(lr, betas, eps, weight_decay)
        if not momentum_decay >= 0.0:
            raise ValueError(f"Invalid momentum_decay value: {momentum_decay}")
        super().__init__(
            params,
            {
                "lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay, "momentum_decay": momentum_decay,
                "decoupled_weight_decay": decoupled_weight_decay, "maximize": maximize, "foreach": foreach,
                "capturable": capturable, "differentiable": differentiable,
            },
        )  # fmt: skip

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        set_adam_defaults(self)

    def names(self, group: dict[str, Any]) -> tuple[str, ...]:
        return "exp_avg", "exp_avg_sq"

    def begin(self, group: dict[str, Any], p: Any, entry: dict[str, Any]) -> None:
        super().begin(group, p, entry)
        entry["mu_product"] = tensor_of(np.ones((), _step_dtype()))

    def _mus(self, group: dict[str, Any], step: Any) -> tuple[Any, Any]:
        beta1, decay = group["betas"][0], group["momentum_decay"]
        return (
            beta1 * (1.0 - 0.5 * (0.96 ** (step * decay))),
            beta1 * (1.0 - 0.5 * (0.96 ** ((step + 1) * decay))),
        )

    def advance(self, group: dict[str, Any], fresh: bool, values: Any) -> tuple[Any, Any]:
        step = values[0] + 1
        mu, mu_next = self._mus(group, step)
        product = float(_step_dtype()(values[1] * mu))
        lr, decay, shrink = number(group["lr"]), number(group["weight_decay"]), 1.0
        if group["decoupled_weight_decay"]:
            shrink, decay = 1 - lr * decay, 0.0
        beta1, beta2 = group["betas"]
        by_g = -lr * (1.0 - mu) / (1.0 - product)
        by_m = -lr * mu_next / (1.0 - product * mu_next)
        return (step, product), (
            beta1, beta2, group["eps"], shrink, decay, 1 - beta2**step, by_g, by_m, group["maximize"],
        )  # fmt: skip

    def kernel(self, numbers: Any, scratch: Sequence[Array], p: Array, g: Array, *states: Array) -> None:
        beta1, beta2, eps, shrink, decay, correction, by_g, by_m, maximize = numbers
        m, v = states
        x, y, spare = scratch
        if shrink != 1:
            np.multiply(p, shrink, p)
        g = gradient(p, g, spare, maximize, decay)
        lerp(m, g, 1 - beta1, x)
        decay_squares(v, g, beta2, x)
        np.divide(v, correction, x)
        np.sqrt(x, x)
        np.add(x, eps, x)
        for a, factor in ((g, by_g), (m, by_m)):
            np.multiply(a, factor, y)
            np.divide(y, x, y)
            np.add(p, y, p)

    def recorded(self, group: dict[str, Any], p: Any, g: Any, entry: dict[str, Any]) -> None:
        step = entry["step"]
        step += 1
        t = step.item()
        lr, (beta1, beta2) = group["lr"], group["betas"]
        if group["decoupled_weight_decay"]:
            p.mul_(1 - lr * group["weight_decay"])
            g = -g if group["maximize"] else g
        else:
            g = recorded_gradient(p, g, group)
        mu, mu_next = self._mus(group, t)
        entry["mu_product"] *= mu
        product = entry["mu_product"].clone()
        m, v = entry["exp_avg"], entry["exp_avg_sq"]
        m.lerp_(g, 1 - beta1)
        v.mul_(beta2).addcmul_(g, g, value=1 - beta2)
        denominator = v.div(1 - beta2**t).sqrt() + group["eps"]
        p.addcdiv_(g * (-lr * (1.0 - mu) / (1.0 - product)), denominator)
        p.addcdiv_(m * (-lr * mu_next / (1.0 - product * mu_next)), denominator)
