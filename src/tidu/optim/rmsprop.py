"""RMSprop. Source: torch.optim.RMSprop."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core.tensor import Tensor
from ._arrays import Array, ArrayOptimizer, decay_squares, gradient, lerp, number, recorded_gradient
from .optimizer import ParamsT

__all__ = ["RMSprop"]


class RMSprop(ArrayOptimizer):
    """p -= lr g / (sqrt(v) + eps), with v a running mean of g^2. Source: torch.optim.RMSprop.

    Args:
        alpha: how slowly v forgets.
        momentum: step by b = momentum b + g / (sqrt(v) + eps) instead.
        centered: subtract the square of a running mean of g from v.
        eps, weight_decay, maximize: as for `Adam`; capturable, foreach accepted.
        differentiable: record the step.
    """

    scratch = 2

    def __init__(
        self, params: ParamsT, lr: Any = 1e-2, alpha: float = 0.99, eps: float = 1e-8, weight_decay: float = 0,
        momentum: float = 0, centered: bool = False, capturable: bool = False, foreach: bool | None = None,
        maximize: bool = False, differentiable: bool = False,
    ) -> None:  # fmt: skip
        if isinstance(lr, Tensor) and lr.numel() != 1:  # type: ignore[attr-defined]
            raise ValueError("Tensor lr must be 1-element")
        if not lr >= 0.0:
            raise ValueError(f"Invalid learning rate: {lr}")
        if not eps >= 0.0:
            raise ValueError(f"Invalid epsilon value: {eps}")
        for name, value in (("momentum", momentum), ("weight_decay", weight_decay), ("alpha", alpha)):
            if not value >= 0.0:
                raise ValueError(f"Invalid {name} value: {value}")
        super().__init__(
            params,
            {
                "lr": lr, "momentum": momentum, "alpha": alpha, "eps": eps, "centered": centered,
                "weight_decay": weight_decay, "capturable": capturable, "foreach": foreach, "maximize": maximize,
                "differentiable": differentiable,
            },
        )  # fmt: skip

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        for group in self.param_groups:
            for name in ("centered", "maximize", "differentiable", "capturable"):
                group.setdefault(name, False)
            group.setdefault("momentum", 0)
            group.setdefault("foreach", None)

    def names(self, group: dict[str, Any]) -> tuple[str, ...]:
        names = ["square_avg"]
        if group["momentum"] > 0:
            names.append("momentum_buffer")
        if group["centered"]:
            names.append("grad_avg")
        return tuple(names)

    def advance(self, group: dict[str, Any], fresh: bool, values: Any) -> tuple[Any, Any]:
        numbers = (
            number(group["lr"]), group["alpha"], group["eps"], number(group["weight_decay"]), group["momentum"],
            group["centered"], group["maximize"],
        )  # fmt: skip
        return (values[0] + 1,), numbers

    def kernel(self, numbers: Any, scratch: Sequence[Array], p: Array, g: Array, *states: Array) -> None:
        lr, alpha, eps, decay, momentum, centered, maximize = numbers
        v, mean = states[0], states[-1]
        x, spare = scratch
        g = gradient(p, g, spare, maximize, decay)
        decay_squares(v, g, alpha, x)
        if centered:
            lerp(mean, g, 1 - alpha, x)
            np.multiply(mean, mean, x)
            np.subtract(v, x, x)
            np.sqrt(x, x)
        else:
            np.sqrt(v, x)
        np.add(x, eps, x)
        if momentum > 0:
            b = states[1]
            np.divide(g, x, x)
            np.multiply(b, momentum, b)
            np.add(b, x, b)
            np.multiply(b, lr, x)
            np.subtract(p, x, p)
        else:
            np.multiply(g, -lr, spare)
            np.divide(spare, x, x)
            np.add(p, x, p)

    def recorded(self, group: dict[str, Any], p: Any, g: Any, entry: dict[str, Any]) -> None:
        entry["step"] += 1
        g = recorded_gradient(p, g, group)
        alpha, v = group["alpha"], entry["square_avg"]
        v.mul_(alpha).addcmul_(g, g, value=1 - alpha)
        if group["centered"]:
            mean = entry["grad_avg"]
            mean.lerp_(g, 1 - alpha)
            root = (v - mean * mean).sqrt() + group["eps"]
        else:
            root = v.sqrt() + group["eps"]
        if group["momentum"] > 0:
            b = entry["momentum_buffer"]
            b.mul_(group["momentum"]).addcdiv_(g, root)
            p.sub_(b * group["lr"])
        else:
            p.sub_(g / root * group["lr"])
