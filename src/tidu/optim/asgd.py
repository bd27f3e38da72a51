"""Averaged stochastic gradient descent. Source: torch.optim.ASGD."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core.tensor import Tensor, tensor_of
from ._arrays import Array, ArrayOptimizer, _step_dtype, gradient, number, recorded_gradient
from .optimizer import ParamsT

__all__ = ["ASGD"]


class ASGD(ArrayOptimizer):
    """Gradient descent, which also keeps the mean of the parameters from step t0 on, in `state[p]["ax"]`. Source:
    torch.optim.ASGD.

    Args:
        lambd: how much each step shrinks p, by lambd eta.
        alpha: the power by which eta = lr / (1 + lambd lr n)^alpha falls.
        t0: from which step on to average.
        weight_decay, maximize: as for `Adam`; foreach, capturable accepted.
        differentiable: record the step.
    """

    scalars = ("step", "eta", "mu")
    scratch = 2

    def __init__(
        self, params: ParamsT, lr: Any = 1e-2, lambd: float = 1e-4, alpha: float = 0.75, t0: float = 1e6,
        weight_decay: float = 0, foreach: bool | None = None, maximize: bool = False, differentiable: bool = False,
        capturable: bool = False,
    ) -> None:  # fmt: skip
        if isinstance(lr, Tensor) and lr.numel() != 1:  # type: ignore[attr-defined]
            raise ValueError("Tensor lr must be 1-element")
        if not lr >= 0.0:
            raise ValueError(f"Invalid learning rate: {lr}")
        if not weight_decay >= 0.0:
            raise ValueError(f"Invalid weight_decay value: {weight_decay}")
        super().__init__(
            params,
            {
                "lr": lr, "lambd": lambd, "alpha": alpha, "t0": t0, "weight_decay": weight_decay, "foreach": foreach,
                "maximize": maximize, "differentiable": differentiable, "capturable": capturable,
            },
        )  # fmt: skip

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        for group in self.param_groups:
            for name in ("maximize", "differentiable", "capturable"):
                group.setdefault(name, False)
            group.setdefault("foreach", None)

    def names(self, group: dict[str, Any]) -> tuple[str, ...]:
        return ("ax",)

    def begin(self, group: dict[str, Any], p: Any, entry: dict[str, Any]) -> None:
        super().begin(group, p, entry)
        d = _step_dtype()
        entry["eta"] = tensor_of(np.asarray(number(group["lr"]), d))
        entry["mu"] = tensor_of(np.ones((), d))
        entry["ax"] = entry.pop("ax")

    @staticmethod
    def _next(group: dict[str, Any], step: float) -> tuple[float, float]:
        lr = number(group["lr"])
        return lr / ((1 + group["lambd"] * lr * step) ** group["alpha"]), 1 / max(1, step - group["t0"])

    def advance(self, group: dict[str, Any], fresh: bool, values: Any) -> tuple[Any, Any]:
        step, eta, mu = values
        step += 1
        numbers = (1 - group["lambd"] * eta, eta, mu, number(group["weight_decay"]), group["maximize"])
        return (step, *self._next(group, step)), numbers

    def kernel(self, numbers: Any, scratch: Sequence[Array], p: Array, g: Array, *states: Array) -> None:
        shrink, eta, mu, decay, maximize = numbers
        (mean,) = states
        x, spare = scratch
        g = gradient(p, g, spare, maximize, decay)
        np.multiply(p, shrink, p)
        np.multiply(g, eta, x)
        np.subtract(p, x, p)
        if mu == 1:
            np.copyto(mean, p)
        else:
            np.subtract(p, mean, x)
            np.multiply(x, mu, x)
            np.add(mean, x, mean)

    def recorded(self, group: dict[str, Any], p: Any, g: Any, entry: dict[str, Any]) -> None:
        entry["step"] += 1
        g = recorded_gradient(p, g, group)
        eta, mu, mean = entry["eta"].item(), entry["mu"].item(), entry["ax"]
        p.mul_(1 - group["lambd"] * eta)
        p.add_(g, alpha=-eta)
        if mu == 1:
            mean.copy_(p)
        else:
            mean.add_((p - mean) * mu)
        eta, mu = self._next(group, entry["step"].item())
        entry["eta"].fill_(eta)
        entry["mu"].fill_(mu)
