"""Muon. Source: torch.optim.Muon."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..core.tensor import Tensor
from ._arrays import _zeros_like, number
from .optimizer import Optimizer, ParamsT, sparse_ones

__all__ = ["Muon"]


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
    """Momentum whose matrices are made orthogonal: for the weights of hidden layers. Source: torch.optim.Muon.

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
        if isinstance(lr, Tensor) and lr.numel() != 1:
            raise ValueError("Tensor lr must be 1-element")
        for ok, text in (
            (0.0 <= lr, f"Learning rate should be >= 0 but is: {lr}"),
            (momentum >= 0.0, f"momentum should be >= 0 but is: {momentum}"),
            (weight_decay >= 0.0, f"weight decay should be >= 0 but is: {weight_decay}"),
            (
                adjust_lr_fn in (None, "original", "match_rms_adamw"),
                f"Adjust learning rate function {adjust_lr_fn} is not supported",
            ),
        ):
            if not ok:
                raise ValueError(text)
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
        """Update the parameters by their gradients. Source: torch.optim.Muon.step."""
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


Muon.__module__ = __package__  # as it is known in files
