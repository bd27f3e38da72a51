"""Stochastic gradient descent. Source: torch.optim.SGD."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core.tensor import Tensor
from ._arrays import PLAIN, SMALL, Array, ArrayOptimizer, _zeros_like, check_fused, gradient, number, recorded_gradient
from .optimizer import ParamsT

__all__ = ["SGD"]


class SGD(ArrayOptimizer):
    """p -= lr g, with momentum p -= lr b, where b = momentum b + (1 - dampening) g.

    Args:
        params: the parameters, or groups of them.
        lr: the step size.
        momentum, dampening: see above; the first b is g.
        weight_decay: adds weight_decay p to g.
        nesterov: step by g + momentum b.
        maximize: go up.
        foreach, fused: accepted.
        differentiable: record the step.

    Source: torch.optim.SGD.

    >>> import tidu as torch
    >>> p = torch.nn.Parameter(torch.tensor([1.0]))
    >>> opt = torch.optim.SGD([p], lr=0.1)
    >>> (p * 3).sum().backward()
    >>> opt.step()
    >>> p.data
    tensor([0.7000])
    """

    scalars = ()
    scratch = 2
    older = {"nesterov": False, "maximize": False, "foreach": None, "differentiable": False, "fused": False}
    bank_from = 1 << 30  # so few operations that moving parameters together would cost more

    def __init__(
        self, params: ParamsT, lr: Any = 1e-3, momentum: float = 0, dampening: float = 0, weight_decay: Any = 0,
        nesterov: bool = False, *, maximize: bool = False, foreach: bool | None = None, differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:  # fmt: skip
        if isinstance(lr, Tensor) and lr.numel() != 1:
            raise ValueError("Tensor lr must be 1-element")
        if lr < 0.0:
            raise ValueError(f"Invalid learning rate: {lr}")
        if momentum < 0.0:
            raise ValueError(f"Invalid momentum value: {momentum}")
        if weight_decay < 0.0:
            raise ValueError(f"Invalid weight_decay value: {weight_decay}")
        defaults = {
            "lr": lr, "momentum": momentum, "dampening": dampening, "weight_decay": weight_decay,
            "nesterov": nesterov, "maximize": maximize, "foreach": foreach, "differentiable": differentiable,
            "fused": fused,
        }  # fmt: skip
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError("Nesterov momentum requires a momentum and zero dampening")
        super().__init__(params, defaults)
        check_fused(fused, foreach, differentiable)

    def names(self, group: dict[str, Any]) -> tuple[str, ...]:
        return ("momentum_buffer",) if group["momentum"] != 0 else ()

    def fresh(self, group: dict[str, Any], entry: dict[str, Any]) -> bool:
        return group["momentum"] != 0 and entry.get("momentum_buffer") is None

    def begin(self, group: dict[str, Any], p: Any, entry: dict[str, Any]) -> None:
        if group["momentum"] != 0 and not group["differentiable"]:
            entry["momentum_buffer"] = _zeros_like(p)

    def _step_arrays(self, group: dict[str, Any]) -> None:
        momentum = group["momentum"]
        if group["weight_decay"] != 0 or group["nesterov"] or group["dampening"] != 0:
            super()._step_arrays(group)
            return
        # The common case, without detours.
        lr, table, done = number(group["lr"]), self.state, {}  # type: ignore[var-annotated]
        sign = np.subtract if momentum or not group["maximize"] else np.add
        for p in group["params"]:
            grad = p._grad
            if grad is None:
                continue
            a, g = p._a, grad._a
            entry = table[p] if momentum else None
            b = None if entry is None else entry.get("momentum_buffer")
            if (momentum and (b is None or group["maximize"])) or a.size > SMALL or a.dtype not in PLAIN:
                fresh = b is None
                if fresh and momentum:
                    self.begin(group, p, entry)  # type: ignore[arg-type]
                self._one(group, p, g, entry, fresh, done)
                continue
            if b is not None:
                b = b._a
                np.multiply(b, momentum, b)
                np.add(b, g, b)
                g = b
            sign(a, np.multiply(g, lr), a)
            p._v[0] += 1

    def advance(self, group: dict[str, Any], fresh: bool, values: Any) -> tuple[Any, Any]:
        numbers = (
            number(group["lr"]), group["momentum"], group["dampening"], number(group["weight_decay"]),
            group["nesterov"], group["maximize"], fresh,
        )  # fmt: skip
        return (), numbers

    def kernel(self, numbers: Any, scratch: Sequence[Array], p: Array, g: Array, *states: Array) -> None:
        lr, momentum, dampening, decay, nesterov, maximize, fresh = numbers
        step, spare = scratch
        if decay != 0 or maximize:
            g = gradient(p, g, spare, maximize, decay)
        if momentum != 0:
            (b,) = states
            if fresh:
                np.copyto(b, g)
            else:
                np.multiply(b, momentum, b)
                np.add(b, g if dampening == 0 else np.multiply(g, 1 - dampening, step), b)
            if nesterov:
                np.multiply(b, momentum, step)
                g = np.add(g, step, step)
            else:
                g = b
        np.multiply(g, lr, step)
        np.subtract(p, step, p)

    def recorded(self, group: dict[str, Any], p: Any, g: Any, entry: dict[str, Any]) -> None:
        g = recorded_gradient(p, g, group)
        momentum = group["momentum"]
        if momentum != 0:
            b = entry.get("momentum_buffer")
            if b is None:
                b = entry["momentum_buffer"] = g.detach().clone()
            else:
                b.mul_(momentum).add_(g, alpha=1 - group["dampening"])
            g = g.add(b, alpha=momentum) if group["nesterov"] else b
        lr = group["lr"]
        if isinstance(lr, Tensor):
            p.addcmul_(g, lr, value=-1)
        else:
            p.add_(g, alpha=-lr)

    def sparse(self, group: dict[str, Any], p: Any, g: Any, entry: dict[str, Any]) -> None:
        self.recorded(group, p, g, entry)
