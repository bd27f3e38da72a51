"""Adagrad. Source: torch.optim.Adagrad."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core.tensor import Tensor, tensor_of
from ._arrays import Array, ArrayOptimizer, gradient, number, recorded_gradient
from .optimizer import ParamsT
from .sgd import check_fused

__all__ = ["Adagrad"]


class Adagrad(ArrayOptimizer):
    """p -= lr g / (sqrt(s) + eps), with s the sum of g^2 so far. Source: torch.optim.Adagrad.

    Args:
        lr_decay: step n has size lr / (1 + (n - 1) lr_decay).
        initial_accumulator_value: where s starts.
        eps, weight_decay, maximize: as for `Adam`; foreach, fused accepted.
        differentiable: record the step.
    """

    scratch = 2

    def __init__(
        self, params: ParamsT, lr: Any = 1e-2, lr_decay: float = 0, weight_decay: float = 0,
        initial_accumulator_value: float = 0, eps: float = 1e-10, foreach: bool | None = None, *,
        maximize: bool = False, differentiable: bool = False, fused: bool | None = None,
    ) -> None:  # fmt: skip
        if isinstance(lr, Tensor) and lr.numel() != 1:  # type: ignore[attr-defined]
            raise ValueError("Tensor lr must be 1-element")
        if not lr >= 0.0:
            raise ValueError(f"Invalid learning rate: {lr}")
        for name, value in (
            ("lr_decay", lr_decay), ("weight_decay", weight_decay),
            ("initial_accumulator_value", initial_accumulator_value),
        ):  # fmt: skip
            if not value >= 0.0:
                raise ValueError(f"Invalid {name} value: {value}")
        if not eps >= 0.0:
            raise ValueError(f"Invalid epsilon value: {eps}")
        super().__init__(
            params,
            {
                "lr": lr, "lr_decay": lr_decay, "eps": eps, "weight_decay": weight_decay,
                "initial_accumulator_value": initial_accumulator_value, "foreach": foreach, "maximize": maximize,
                "differentiable": differentiable, "fused": fused,
            },
        )  # fmt: skip
        check_fused(fused, foreach, differentiable)
        for group in self.param_groups:
            for p in group["params"]:
                self.begin(group, p, self.state[p])

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        for group in self.param_groups:
            for name, value in (
                ("foreach", None),
                ("maximize", False),
                ("differentiable", False),
                ("fused", None),
            ):
                group.setdefault(name, value)

    def share_memory(self) -> None:
        """Move the state to shared memory. Source: torch.optim.Adagrad.share_memory."""
        for group in self.param_groups:
            for p in group["params"]:
                self.state[p]["sum"].share_memory_()

    def names(self, group: dict[str, Any]) -> tuple[str, ...]:
        return ("sum",)

    def begin(self, group: dict[str, Any], p: Any, entry: dict[str, Any]) -> None:
        super().begin(group, p, entry)
        start = self.defaults["initial_accumulator_value"]
        a = p._a
        entry["sum"] = tensor_of(np.full_like(a, complex(start, start) if a.dtype.kind == "c" else start))

    def advance(self, group: dict[str, Any], fresh: bool, values: Any) -> tuple[Any, Any]:
        step = values[0] + 1
        size = number(group["lr"]) / (1 + (step - 1) * group["lr_decay"])
        return (step,), (size, group["eps"], number(group["weight_decay"]), group["maximize"])

    def kernel(self, numbers: Any, scratch: Sequence[Array], p: Array, g: Array, *states: Array) -> None:
        size, eps, decay, maximize = numbers
        (total,) = states
        x, spare = scratch
        g = gradient(p, g, spare, maximize, decay)
        np.multiply(g, g, x)
        np.add(total, x, total)
        np.sqrt(total, x)
        np.add(x, eps, x)
        np.multiply(g, -size, spare)
        np.divide(spare, x, x)
        np.add(p, x, p)

    def recorded(self, group: dict[str, Any], p: Any, g: Any, entry: dict[str, Any]) -> None:
        entry["step"] += 1
        size = group["lr"] / (1 + (entry["step"].item() - 1) * group["lr_decay"])
        g = recorded_gradient(p, g, group)
        total = entry["sum"]
        total.addcmul_(g, g, value=1)
        p.sub_(g / (total.sqrt() + group["eps"]) * size)
