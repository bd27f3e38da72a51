"""Adamax. Source: torch.optim.Adamax."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core.tensor import Tensor
from ._arrays import Array, ArrayOptimizer, gradient, lerp, number, recorded_gradient
from .adam import check_adam, set_adam_defaults
from .optimizer import ParamsT

__all__ = ["Adamax"]


class Adamax(ArrayOptimizer):
    """Adam with the largest gradient (which decays by beta2) in place of the root of the mean square. Source:
    torch.optim.Adamax.

    Args: those of `Adam`.
    """

    scratch = 2

    def __init__(
        self, params: ParamsT, lr: Any = 2e-3, betas: Any = (0.9, 0.999), eps: float = 1e-8, weight_decay: float = 0,
        foreach: bool | None = None, *, maximize: bool = False, differentiable: bool = False,
        capturable: bool = False,
    ) -> None:  # fmt: skip
        if isinstance(lr, Tensor) and lr.numel() != 1:  # type: ignore[attr-defined]
            raise ValueError("Tensor lr must be 1-element")
        check_adam(lr, betas, eps, weight_decay)
        super().__init__(
            params,
            {
                "lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay, "foreach": foreach,
                "maximize": maximize, "differentiable": differentiable, "capturable": capturable,
            },
        )  # fmt: skip

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        set_adam_defaults(self)
        for group in self.param_groups:
            group.pop("decoupled_weight_decay", None)

    def names(self, group: dict[str, Any]) -> tuple[str, ...]:
        return "exp_avg", "exp_inf"

    def advance(self, group: dict[str, Any], fresh: bool, values: Any) -> tuple[Any, Any]:
        step = values[0] + 1
        beta1, beta2 = group["betas"]
        size = number(group["lr"]) / (1 - beta1**step)
        return (step,), (beta1, beta2, group["eps"], number(group["weight_decay"]), size, group["maximize"])

    def kernel(self, numbers: Any, scratch: Sequence[Array], p: Array, g: Array, *states: Array) -> None:
        beta1, beta2, eps, decay, size, maximize = numbers
        m, most = states
        x, spare = scratch
        g = gradient(p, g, spare, maximize, decay)
        lerp(m, g, 1 - beta1, x)
        np.abs(g, x)
        np.add(x, eps, x)
        np.multiply(most, beta2, most)
        np.maximum(most, x, out=most)
        np.multiply(m, -size, x)
        np.divide(x, most, x)
        np.add(p, x, p)

    def recorded(self, group: dict[str, Any], p: Any, g: Any, entry: dict[str, Any]) -> None:
        entry["step"] += 1
        t = entry["step"].item()
        beta1, beta2 = group["betas"]
        g = recorded_gradient(p, g, group)
        m, most = entry["exp_avg"], entry["exp_inf"]
        m.lerp_(g, 1 - beta1)
        most.copy_((most * beta2).maximum(g.abs() + group["eps"]))
        p.sub_(m / most * (group["lr"] / (1 - beta1**t)))
