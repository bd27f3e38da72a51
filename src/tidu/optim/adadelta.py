"""Adadelta. Source: torch.optim.Adadelta."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core.tensor import Tensor
from ._arrays import Array, ArrayOptimizer, decay_squares, gradient, number, recorded_gradient
from .optimizer import ParamsT

__all__ = ["Adadelta"]


class Adadelta(ArrayOptimizer):
    """p -= lr d, with d = g sqrt(u + eps) / sqrt(v + eps), v and u running means of g^2 and d^2. Source:
    torch.optim.Adadelta.

    Args:
        rho: how slowly the means forget.
        eps, weight_decay, maximize: as for `Adam`; foreach, capturable accepted.
        differentiable: record the step.
    """

    scratch = 3

    def __init__(
        self, params: ParamsT, lr: Any = 1.0, rho: float = 0.9, eps: float = 1e-6, weight_decay: float = 0,
        foreach: bool | None = None, *, capturable: bool = False, maximize: bool = False,
        differentiable: bool = False,
    ) -> None:  # fmt: skip
        if isinstance(lr, Tensor) and lr.numel() != 1:  # type: ignore[attr-defined]
            raise ValueError("Tensor lr must be 1-element")
        if not lr >= 0.0:
            raise ValueError(f"Invalid learning rate: {lr}")
        if not 0.0 <= rho <= 1.0:
            raise ValueError(f"Invalid rho value: {rho}")
        if not eps >= 0.0:
            raise ValueError(f"Invalid epsilon value: {eps}")
        if not weight_decay >= 0.0:
            raise ValueError(f"Invalid weight_decay value: {weight_decay}")
        super().__init__(
            params,
            {
                "lr": lr, "rho": rho, "eps": eps, "weight_decay": weight_decay, "maximize": maximize,
                "capturable": capturable, "foreach": foreach, "differentiable": differentiable,
            },
        )  # fmt: skip

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        for group in self.param_groups:
            for name in ("maximize", "differentiable", "capturable"):
                group.setdefault(name, False)
            group.setdefault("foreach", None)

    def names(self, group: dict[str, Any]) -> tuple[str, ...]:
        return "square_avg", "acc_delta"

    def advance(self, group: dict[str, Any], fresh: bool, values: Any) -> tuple[Any, Any]:
        numbers = (
            number(group["lr"]), group["rho"], group["eps"], number(group["weight_decay"]), group["maximize"],
        )  # fmt: skip
        return (values[0] + 1,), numbers

    def kernel(self, numbers: Any, scratch: Sequence[Array], p: Array, g: Array, *states: Array) -> None:
        lr, rho, eps, decay, maximize = numbers
        v, u = states
        x, y, spare = scratch
        g = gradient(p, g, spare, maximize, decay)
        decay_squares(v, g, rho, x)
        np.add(v, eps, x)
        np.sqrt(x, x)
        np.add(u, eps, y)
        np.sqrt(y, y)
        np.divide(y, x, y)
        np.multiply(y, g, y)
        decay_squares(u, y, rho, x)
        np.multiply(y, lr, y)
        np.subtract(p, y, p)

    def recorded(self, group: dict[str, Any], p: Any, g: Any, entry: dict[str, Any]) -> None:
        entry["step"] += 1
        g = recorded_gradient(p, g, group)
        rho, eps = group["rho"], group["eps"]
        v, u = entry["square_avg"], entry["acc_delta"]
        v.mul_(rho).addcmul_(g, g, value=1 - rho)
        delta = (u + eps).sqrt() / (v + eps).sqrt() * g
        u.mul_(rho).addcmul_(delta, delta, value=1 - rho)
        p.sub_(delta * group["lr"])
