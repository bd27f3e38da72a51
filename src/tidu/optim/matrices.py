"""Optimisers that treat parameters as matrices: Adafactor and Muon. Source: torch.optim."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..core.tensor import Tensor, tensor_of
from ..dtypes import finfo
from ._arrays import _step_dtype, _zeros_like, number
from .optimizer import Optimizer, ParamsT, sparse_ones

__all__ = ["Adafactor", "Muon"]


def _require(lr: Any, *conditions: tuple[bool, str]) -> None:
    """Raise ValueError for a learning rate out of range, or with the text of the first condition that does not hold."""
    if isinstance(lr, Tensor) and lr.numel() != 1:
        raise ValueError("Tensor lr must be 1-element")
    for ok, text in ((0.0 <= lr, f"Learning rate should be >= 0 but is: {lr}"), *conditions):
        if not ok:
            raise ValueError(text)


class Adafactor(Optimizer):
    """Adam whose mean squares are kept as row and column means.

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
        _require(
            lr,
            (beta2_decay <= 0.0, f"beta2_decay should be <= 0 but is: {beta2_decay}"),
            (eps[0] is None or eps[0] >= 0.0, f"epsilon1 should be >= 0 but is: {eps[0]}"),
            (eps[1] >= 0.0, f"epsilon2 should be >= 0 but is: {eps[1]}"),
            (d >= 1.0, f"Clipping threshold d should be >= 1 but is: {d}"),
            (weight_decay >= 0.0, f"weight_decay should be >= 0 but is: {weight_decay}"),
        )
        super().__init__(
            params,
            {
                "lr": lr, "beta2_decay": beta2_decay, "eps": eps, "d": d, "weight_decay": weight_decay,
                "foreach": foreach, "maximize": maximize,
            },
        )  # fmt: skip

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Update the parameters by their gradients."""
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


def _orthogonalised(g: Any, coefficients: Any, steps: int, eps: float) -> Any:
    """Nearly the orthogonal factor of a matrix, by Newton-Schulz iteration with values rounded to bfloat16."""
    from ml_dtypes import bfloat16

    if steps >= 100:
        raise ValueError("Number of steps must be less than 100 for computational efficiency")
    if len(coefficients) != 3:
        raise ValueError("Coefficients must be a tuple of exactly 3 values")

    def rounded(x: Any) -> Any:
        return x.astype(bfloat16).astype(np.float32)

    a, b, c = coefficients
    tall = g.shape[0] > g.shape[1]
    x = rounded(g.T if tall else g)
    x = rounded(x / max(rounded(np.sqrt((x * x).sum())), eps))
    for _ in range(steps):
        gram = rounded(x @ x.T)
        x = rounded(a * x + rounded(b * gram + c * (gram @ gram)) @ x)
    return x.T if tall else x


class Muon(Optimizer):
    """Momentum whose matrices are made orthogonal: for the weights of hidden layers.

    Args:
        lr, weight_decay, momentum, nesterov: as for `SGD`, the decay apart from the gradient.
        ns_coefficients, eps, ns_steps: of the iteration that makes orthogonal.
        adjust_lr_fn: "original" or "match_rms_adamw": how the step size depends on a matrix's shape.
    """

    def __init__(
        self, params: ParamsT, lr: float = 1e-3, weight_decay: float = 0.1, momentum: float = 0.95,
        nesterov: bool = True, ns_coefficients: tuple[float, float, float] = (3.4445, -4.775, 2.0315),
        eps: float = 1e-7, ns_steps: int = 5, adjust_lr_fn: str | None = None,
    ) -> None:  # fmt: skip
        _require(
            lr,
            (momentum >= 0.0, f"momentum should be >= 0 but is: {momentum}"),
            (weight_decay >= 0.0, f"weight decay should be >= 0 but is: {weight_decay}"),
            (
                adjust_lr_fn in (None, "original", "match_rms_adamw"),
                f"Adjust learning rate function {adjust_lr_fn} is not supported",
            ),
        )
        super().__init__(
            params,
            {
                "lr": lr, "weight_decay": weight_decay, "momentum": momentum, "nesterov": nesterov,
                "ns_coefficients": ns_coefficients, "eps": eps, "ns_steps": ns_steps, "adjust_lr_fn": adjust_lr_fn,
            },
        )  # fmt: skip
        for group in self.param_groups:
            for p in group["params"]:
                if p.ndim != 2:
                    raise ValueError(
                        f"Muon only supports 2D parameters whereas we found a parameter with size: {p.size()}"
                    )

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Update the parameters by their gradients."""
        loss = self._loss_of(closure)
        for group in self.param_groups:
            lr, momentum = number(group["lr"]), group["momentum"]
            if sparse_ones(group["params"]):
                raise RuntimeError("Muon does not support sparse gradients")
            for p in group["params"]:
                if p._grad is None:
                    continue
                if p.dtype.is_complex:
                    raise RuntimeError("Muon does not support complex parameters")
                entry, g, a = self.state[p], p._grad._a, p._a
                if "momentum_buffer" not in entry:
                    entry["momentum_buffer"] = _zeros_like(p)
                buffer = entry["momentum_buffer"]._a
                buffer += (1 - momentum) * (g - buffer)
                update = g + momentum * (buffer - g) if group["nesterov"] else buffer
                update = _orthogonalised(update, group["ns_coefficients"], group["ns_steps"], group["eps"])
                rows, cols = a.shape
                if group["adjust_lr_fn"] == "match_rms_adamw":
                    ratio = 0.2 * math.sqrt(max(rows, cols))
                else:
                    ratio = math.sqrt(max(1, rows / cols))
                a *= 1 - lr * group["weight_decay"]
                a -= (lr * ratio) * update
                p._v[0] += 1
        return loss


for _class in (Adafactor, Muon):
    _class.__module__ = __package__  # as they are known in files
