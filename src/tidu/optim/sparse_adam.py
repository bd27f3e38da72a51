"""SparseAdam, on dense gradients. Source: torch.optim.SparseAdam."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core.tensor import Tensor
from ._arrays import Array, ArrayOptimizer, number
from .adam import check_adam
from .optimizer import ParamsT

__all__ = ["SparseAdam"]


class SparseAdam(ArrayOptimizer):
    """Adam that touches only elements with a gradient: with dense gradients, those that are not zero. Source:
    torch.optim.SparseAdam."""

    scratch = 2

    def __init__(
        self, params: ParamsT, lr: Any = 1e-3, betas: tuple[float, float] = (0.9, 0.999), eps: float = 1e-8,
        maximize: bool = False,
    ) -> None:  # fmt: skip
        if isinstance(lr, Tensor) and lr.numel() != 1:  # type: ignore[attr-defined]
            raise ValueError("Tensor lr must be 1-element")
        if not lr > 0.0:
            raise ValueError(f"Invalid learning rate: {lr}")
        if not eps > 0.0:
            raise ValueError(f"Invalid epsilon value: {eps}")
        check_adam(lr, betas, eps, 0)
        super().__init__(params, {"lr": lr, "betas": betas, "eps": eps, "maximize": maximize})
        places = [
            [i, k]
            for i, group in enumerate(self.param_groups)
            for k, p in enumerate(group["params"])
            if p.dtype.is_complex
        ]
        if places:
            raise ValueError(
                f"Complex params at indices {places}: SparseAdam does not support complex parameters"
            )

    def names(self, group: dict[str, Any]) -> tuple[str, ...]:
        return "exp_avg", "exp_avg_sq"

    def advance(self, group: dict[str, Any], fresh: bool, values: Any) -> tuple[Any, Any]:
        step = values[0] + 1
        beta1, beta2 = group["betas"]
        size = number(group["lr"]) * (1 - beta2**step) ** 0.5 / (1 - beta1**step)
        return (step,), (beta1, beta2, group["eps"], size, group["maximize"])

    def kernel(self, numbers: Any, scratch: Sequence[Array], p: Array, g: Array, *states: Array) -> None:
        beta1, beta2, eps, size, maximize = numbers
        m, v = states
        there = g != 0
        part = -g[there] if maximize else g[there]
        m[there] += (1 - beta1) * (part - m[there])
        v[there] += (1 - beta2) * (part * part - v[there])
        p[there] -= size * m[there] / (np.sqrt(v[there]) + eps)
