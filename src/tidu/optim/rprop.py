"""Rprop. Source: torch.optim.Rprop."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core.tensor import Tensor, tensor_of
from ._arrays import Array, ArrayOptimizer, number
from .optimizer import ParamsT

__all__ = ["Rprop"]


class Rprop(ArrayOptimizer):
    """Each element steps by a size of its own against the sign of its gradient: the size grows while the sign stays,
    shrinks when it changes. Source: torch.optim.Rprop.

    Args:
        etas: by how much sizes shrink and grow.
        step_sizes: the least and the largest size.
        maximize: go up; foreach, capturable accepted.
        differentiable: record the step.
    """

    scratch = 2

    def __init__(
        self, params: ParamsT, lr: Any = 1e-2, etas: tuple[float, float] = (0.5, 1.2),
        step_sizes: tuple[float, float] = (1e-6, 50), *, capturable: bool = False, foreach: bool | None = None,
        maximize: bool = False, differentiable: bool = False,
    ) -> None:  # fmt: skip
        if isinstance(lr, Tensor) and lr.numel() != 1:  # type: ignore[attr-defined]
            raise ValueError("Tensor lr must be 1-element")
        if not lr >= 0.0:
            raise ValueError(f"Invalid learning rate: {lr}")
        if not 0.0 < etas[0] < 1.0 < etas[1]:
            raise ValueError(f"Invalid eta values: {etas[0]}, {etas[1]}")
        super().__init__(
            params,
            {
                "lr": lr, "etas": etas, "step_sizes": step_sizes, "foreach": foreach, "maximize": maximize,
                "differentiable": differentiable, "capturable": capturable,
            },
        )  # fmt: skip

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        for group in self.param_groups:
            for name in ("maximize", "differentiable", "capturable"):
                group.setdefault(name, False)
            group.setdefault("foreach", None)

    def names(self, group: dict[str, Any]) -> tuple[str, ...]:
        return "prev", "step_size"

    def begin(self, group: dict[str, Any], p: Any, entry: dict[str, Any]) -> None:
        super().begin(group, p, entry)
        lr = number(group["lr"])
        a = p._a
        entry["step_size"] = tensor_of(np.full_like(a, complex(lr, lr) if a.dtype.kind == "c" else lr))

    def advance(self, group: dict[str, Any], fresh: bool, values: Any) -> tuple[Any, Any]:
        return (values[0] + 1,), (*group["etas"], *group["step_sizes"], group["maximize"])

    def kernel(self, numbers: Any, scratch: Sequence[Array], p: Array, g: Array, *states: Array) -> None:
        less, more, least, most, maximize = numbers
        before, size = states
        x, spare = scratch
        np.multiply(g, -1.0 if maximize else 1.0, spare)
        np.multiply(spare, before, x)
        turned = x < 0
        np.copyto(x, np.where(x > 0, more, np.where(turned, less, 1.0)))
        np.multiply(size, x, size)
        np.clip(size, least, most, size)
        np.copyto(spare, 0, where=turned)
        np.copyto(before, spare)
        np.sign(spare, x)
        np.multiply(x, size, x)
        np.subtract(p, x, p)

    def recorded(self, group: dict[str, Any], p: Any, g: Any, entry: dict[str, Any]) -> None:
        entry["step"] += 1
        g = -g if group["maximize"] else g
        (less, more), (least, most) = group["etas"], group["step_sizes"]
        before, size = entry["prev"], entry["step_size"]
        product = g * before.clone()
        factor = product.detach().new_ones(product.shape)
        factor = factor.masked_fill(product > 0, more).masked_fill(product < 0, less)
        size.mul_(factor).clamp_(least, most)
        g = g.masked_fill(product < 0, 0)
        p.addcmul_(g.sign(), size.clone(), value=-1)
        before.copy_(g)
