"""Adafactor. Source: torch.optim.Adafactor."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..core.tensor import Tensor, tensor_of
from ..dtypes import finfo
from ._arrays import _step_dtype, _zeros_like, number
from .optimizer import Optimizer, ParamsT, sparse_ones

__all__ = ["Adafactor"]


class Adafactor(Optimizer):
    """Adam whose mean squares are kept as row and column means. Source: torch.optim.Adafactor.

    Args:
        lr: the largest relative step.
        beta2_decay: mean squares forget at rate step^beta2_decay.
        eps: the least mean square (None: the dtype's), and the least scale of a parameter.
        d: the largest root mean square of an update.
        weight_decay: shrinks p by lr weight_decay.
        foreach: accepted.
        maximize: go up.
    """

    def __init__(
        self, params: ParamsT, lr: Any = 1e-2, beta2_decay: float = -0.8, eps: Any = (None, 1e-3), d: float = 1.0,
        weight_decay: float = 0.0, *, foreach: bool | None = None, maximize: bool = False,
    ) -> None:  # fmt: skip
        if isinstance(lr, Tensor) and lr.numel() != 1:
            raise ValueError("Tensor lr must be 1-element")
        for ok, text in (
            (0.0 <= lr, f"Learning rate should be >= 0 but is: {lr}"),
            (beta2_decay <= 0.0, f"beta2_decay should be <= 0 but is: {beta2_decay}"),
            (eps[0] is None or eps[0] >= 0.0, f"epsilon1 should be >= 0 but is: {eps[0]}"),
            (eps[1] >= 0.0, f"epsilon2 should be >= 0 but is: {eps[1]}"),
            (d >= 1.0, f"Clipping threshold d should be >= 1 but is: {d}"),
            (weight_decay >= 0.0, f"weight_decay should be >= 0 but is: {weight_decay}"),
        ):
            if not ok:
                raise ValueError(text)
        super().__init__(
            params,
            {
                "lr": lr, "beta2_decay": beta2_decay, "eps": eps, "d": d, "weight_decay": weight_decay,
                "foreach": foreach, "maximize": maximize,
            },
        )  # fmt: skip

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Update the parameters by their gradients. Source: torch.optim.Adafactor.step."""
        loss = self._loss_of(closure)
        for group in self.param_groups:
            if sparse_ones(group["params"]):
                raise RuntimeError("Adafactor does not support sparse gradients")
            for p in group["params"]:
                if p._grad is not None:
                    self._update(group, p)
        return loss

    def _begin(self, p: Any, g: Any, entry: dict[str, Any]) -> None:
        if p.dtype.is_complex:
            raise RuntimeError("Adafactor does not support complex parameters")
        entry["step"] = tensor_of(np.zeros((), _step_dtype()))
        if g.ndim > 1:
            entry["row_var"] = tensor_of(np.zeros((*g.shape[:-1], 1), g.dtype))
            entry["col_var"] = tensor_of(np.zeros((*g.shape[:-2], 1, g.shape[-1]), g.dtype))
        else:
            entry["variance"] = _zeros_like(p)

    def _update(self, group: dict[str, Any], p: Any) -> None:
        entry, a, g = self.state[p], p._a, p._grad._a
        if not entry:
            self._begin(p, g, entry)
        g = -g if group["maximize"] else g
        eps1, eps2 = group["eps"]
        if eps1 is None:
            eps1 = finfo(p.dtype).eps
        entry["step"]._a += 1
        step, lr = float(entry["step"]._a), number(group["lr"])
        weight = step ** group["beta2_decay"]
        alpha = max(eps2, _norm(a) / a.size**0.5) * min(lr, 1 / step**0.5)
        if group["weight_decay"] != 0:
            a *= 1 - lr * group["weight_decay"]
        if g.ndim > 1:
            squares = g * g
            row, col = entry["row_var"]._a, entry["col_var"]._a
            row += weight * (squares.mean(-1, keepdims=True) - row)
            col += weight * (squares.mean(-2, keepdims=True) - col)
            v = (row @ col) / np.maximum(row.mean(-2, keepdims=True), eps1)
        else:
            v = entry["variance"]._a
            v += weight * (g * g - v)
        update = g / np.sqrt(np.maximum(v, eps1 * eps1))
        a -= (alpha / max(1.0, _norm(update) / (update.size**0.5 * group["d"]))) * update
        p._v[0] += 1


def _norm(a: Any) -> float:
    return float(np.sqrt(np.sum(a * a)))


Adafactor.__module__ = __package__  # as it is known in files
