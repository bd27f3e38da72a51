"""SparseAdam, for sparse gradients. Source: torch.optim.SparseAdam."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..core.modes import no_grad
from ..core.tensor import Tensor, tensor_of
from ..layouts import strided
from ._arrays import number
from .adam import check_adam
from .optimizer import Optimizer, ParamsT

__all__ = ["SparseAdam"]


class SparseAdam(Optimizer):
    """Adam on the rows that a sparse gradient has; the moments of the others stay as they are. Source:
    torch.optim.SparseAdam."""

    def __init__(
        self, params: ParamsT, lr: Any = 1e-3, betas: tuple[float, float] = (0.9, 0.999), eps: float = 1e-8,
        maximize: bool = False,
    ) -> None:  # fmt: skip
        if isinstance(lr, Tensor) and lr.numel() != 1:
            raise ValueError("Tensor lr must be 1-element")
        if not 0.0 < lr:
            raise ValueError(f"Invalid learning rate: {lr}")
        if not 0.0 < eps:
            raise ValueError(f"Invalid epsilon value: {eps}")
        check_adam(lr, betas, eps, 0)
        super().__init__(params, {"lr": lr, "betas": betas, "eps": eps, "maximize": maximize})
        sparse, imaginary = [], []
        for i, group in enumerate(self.param_groups):
            for k, p in enumerate(group["params"]):
                if p.layout is not strided:
                    sparse.append([i, k])
                if p.dtype.is_complex:
                    imaginary.append([i, k])
        if sparse:
            raise ValueError(f"Sparse params at indices {sparse}: SparseAdam requires dense parameter tensors")
        if imaginary:
            raise ValueError(f"Complex params at indices {imaginary}: SparseAdam does not support complex parameters")

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Update the parameters by their gradients. Source: torch.optim.SparseAdam.step."""
        loss = self._loss_of(closure)
        with no_grad():
            for group in self.param_groups:
                given = [p for p in group["params"] if p._grad is not None]
                if any(p._grad.layout is strided for p in given):
                    raise RuntimeError("SparseAdam does not support dense gradients, please consider Adam instead")
                for p in given:
                    self._update(group, p, self.state[p])
        return loss

    def _update(self, group: dict[str, Any], p: Any, entry: dict[str, Any]) -> None:
        if not entry:
            entry["step"] = 0
            for name in ("exp_avg", "exp_avg_sq"):
                entry[name] = tensor_of(np.zeros_like(p._a))
        entry["step"] += 1
        step, (beta1, beta2) = entry["step"], group["betas"]
        c = (-p._grad if group["maximize"] else p._grad).coalesce()
        rows, g = tuple(c._indices()._a), c._values()._a
        m, v = entry["exp_avg"], entry["exp_avg_sq"]
        first = (g - m._a[rows]) * g.dtype.type(1 - beta1)
        second = (g * g - v._a[rows]) * g.dtype.type(1 - beta2)
        was = m._a[rows], v._a[rows]
        m._a[rows] += first
        v._a[rows] += second
        size = number(group["lr"]) * (1 - beta2**step) ** 0.5 / (1 - beta1**step)
        root = np.sqrt(second + was[1]) + g.dtype.type(group["eps"])
        p._a[rows] += (first + was[0]) / root * g.dtype.type(-size)
        for x in (m, v, p):
            x._v[0] += 1
