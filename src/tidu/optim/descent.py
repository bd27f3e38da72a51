"""Gradient descent: SGD; with a rate for every element, Adadelta, Adagrad, RMSprop and Rprop; averaged, ASGD."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core.tensor import Tensor, tensor_of
from ._arrays import (
    OLDER,
    PLAIN,
    SMALL,
    Array,
    ArrayOptimizer,
    _step_dtype,
    _zeros_like,
    check_fused,
    check_rate,
    decay_squares,
    gradient,
    lerp,
    not_negative,
    number,
    recorded_gradient,
)
from .optimizer import ParamsT

__all__ = ["ASGD", "Adadelta", "Adagrad", "RMSprop", "Rprop", "SGD"]


class Adadelta(ArrayOptimizer):
    """p -= lr d, with d = g sqrt(u + eps) / sqrt(v + eps), v and u running means of g^2 and d^2.

    Args:
        rho: how slowly the means forget.
        eps, weight_decay, maximize: as for `Adam`; foreach, capturable accepted.
        differentiable: record the step.
    """

    scratch = 3
    states = ("square_avg", "acc_delta")

    def __init__(
        self, params: ParamsT, lr: Any = 1.0, rho: float = 0.9, eps: float = 1e-6, weight_decay: float = 0,
        foreach: bool | None = None, *, capturable: bool = False, maximize: bool = False,
        differentiable: bool = False,
    ) -> None:  # fmt: skip
        check_rate(lr)
        if not 0.0 <= rho <= 1.0:
            raise ValueError(f"Invalid rho value: {rho}")
        not_negative(epsilon=eps, weight_decay=weight_decay)
        super().__init__(
            params,
            {
                "lr": lr, "rho": rho, "eps": eps, "weight_decay": weight_decay, "maximize": maximize,
                "capturable": capturable, "foreach": foreach, "differentiable": differentiable,
            },
        )  # fmt: skip

    def advance(self, group: dict[str, Any], fresh: bool, values: Any) -> tuple[Any, Any]:
        numbers = (
            number(group["lr"]), group["rho"], group["eps"], number(group["weight_decay"]), group["maximize"],
        )  # fmt: skip
        return (values[0] + 1,), numbers

    def kernel(self, numbers: Any, scratch: Sequence[Array], p: Array, g: Array, *states: Array) -> None:
        lr, rho, eps, decay, maximize = numbers
        v, u = states
        x, y, spare = scratch
        g = gradient(p, g, spare, maximize, decay)
        decay_squares(v, g, rho, x)
        np.add(v, eps, x)
        np.sqrt(x, x)
        np.add(u, eps, y)
        np.sqrt(y, y)
        np.divide(y, x, y)
        np.multiply(y, g, y)
        decay_squares(u, y, rho, x)
        np.multiply(y, lr, y)
        np.subtract(p, y, p)

    def recorded(self, group: dict[str, Any], p: Any, g: Any, entry: dict[str, Any]) -> None:
        entry["step"] += 1
        g = recorded_gradient(p, g, group)
        rho, eps = group["rho"], group["eps"]
        v, u = entry["square_avg"], entry["acc_delta"]
        v.mul_(rho).addcmul_(g, g, value=1 - rho)
        delta = (u + eps).sqrt() / (v + eps).sqrt() * g
        u.mul_(rho).addcmul_(delta, delta, value=1 - rho)
        p.sub_(delta * group["lr"])


class Adagrad(ArrayOptimizer):
    """p -= lr g / (sqrt(s) + eps), with s the sum of g^2 so far.

    Args:
        lr_decay: step n has size lr / (1 + (n - 1) lr_decay).
        initial_accumulator_value: where s starts.
        eps, weight_decay, maximize: as for `Adam`; foreach, fused accepted.
        differentiable: record the step.
    """

    scratch = 2
    states = ("sum",)
    older = {"foreach": None, "maximize": False, "differentiable": False, "fused": None}

    def __init__(
        self, params: ParamsT, lr: Any = 1e-2, lr_decay: float = 0, weight_decay: float = 0,
        initial_accumulator_value: float = 0, eps: float = 1e-10, foreach: bool | None = None, *,
        maximize: bool = False, differentiable: bool = False, fused: bool | None = None,
    ) -> None:  # fmt: skip
        check_rate(
            lr, lr_decay=lr_decay, weight_decay=weight_decay, initial_accumulator_value=initial_accumulator_value,
            epsilon=eps,
        )  # fmt: skip
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

    def share_memory(self) -> None:
        """Move the state to shared memory."""
        for group in self.param_groups:
            for p in group["params"]:
                self.state[p]["sum"].share_memory_()

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

    def sparse(self, group: dict[str, Any], p: Any, g: Any, entry: dict[str, Any]) -> None:
        if group["weight_decay"] != 0:
            raise RuntimeError("weight_decay option is not compatible with sparse gradients")
        if not entry:
            self.begin(group, p, entry)
        c, total = (-g if group["maximize"] else g.clone()).coalesce(), entry["sum"]
        (step,), (size, eps, *_) = self.advance(group, False, (entry["step"].item(),))
        entry["step"].fill_(step)
        total.add_(c.pow(2))
        c._values().div_(total.sparse_mask(c)._values().sqrt_().add_(eps))
        p.add_(c, alpha=-size)

    def recorded(self, group: dict[str, Any], p: Any, g: Any, entry: dict[str, Any]) -> None:
        entry["step"] += 1
        size = group["lr"] / (1 + (entry["step"].item() - 1) * group["lr_decay"])
        g = recorded_gradient(p, g, group)
        total = entry["sum"]
        total.addcmul_(g, g, value=1)
        p.sub_(g / (total.sqrt() + group["eps"]) * size)


class RMSprop(ArrayOptimizer):
    """p -= lr g / (sqrt(v) + eps), with v a running mean of g^2.

    Args:
        alpha: how slowly v forgets.
        momentum: step by b = momentum b + g / (sqrt(v) + eps) instead.
        centered: subtract the square of a running mean of g from v.
        eps, weight_decay, maximize: as for `Adam`; capturable, foreach accepted.
        differentiable: record the step.
    """

    scratch = 2
    older = OLDER | {"centered": False, "momentum": 0}

    def __init__(
        self, params: ParamsT, lr: Any = 1e-2, alpha: float = 0.99, eps: float = 1e-8, weight_decay: float = 0,
        momentum: float = 0, centered: bool = False, capturable: bool = False, foreach: bool | None = None,
        maximize: bool = False, differentiable: bool = False,
    ) -> None:  # fmt: skip
        check_rate(lr, epsilon=eps, momentum=momentum, weight_decay=weight_decay, alpha=alpha)
        super().__init__(
            params,
            {
                "lr": lr, "momentum": momentum, "alpha": alpha, "eps": eps, "centered": centered,
                "weight_decay": weight_decay, "capturable": capturable, "foreach": foreach, "maximize": maximize,
                "differentiable": differentiable,
            },
        )  # fmt: skip

    def names(self, group: dict[str, Any]) -> tuple[str, ...]:
        names = ["square_avg"]
        if group["momentum"] > 0:
            names.append("momentum_buffer")
        if group["centered"]:
            names.append("grad_avg")
        return tuple(names)

    def advance(self, group: dict[str, Any], fresh: bool, values: Any) -> tuple[Any, Any]:
        numbers = (
            number(group["lr"]), group["alpha"], group["eps"], number(group["weight_decay"]), group["momentum"],
            group["centered"], group["maximize"],
        )  # fmt: skip
        return (values[0] + 1,), numbers

    def kernel(self, numbers: Any, scratch: Sequence[Array], p: Array, g: Array, *states: Array) -> None:
        lr, alpha, eps, decay, momentum, centered, maximize = numbers
        v, mean = states[0], states[-1]
        x, spare = scratch
        g = gradient(p, g, spare, maximize, decay)
        decay_squares(v, g, alpha, x)
        if centered:
            lerp(mean, g, 1 - alpha, x)
            np.multiply(mean, mean, x)
            np.subtract(v, x, x)
            np.sqrt(x, x)
        else:
            np.sqrt(v, x)
        np.add(x, eps, x)
        if momentum > 0:
            b = states[1]
            np.divide(g, x, x)
            np.multiply(b, momentum, b)
            np.add(b, x, b)
            np.multiply(b, lr, x)
            np.subtract(p, x, p)
        else:
            np.multiply(g, -lr, spare)
            np.divide(spare, x, x)
            np.add(p, x, p)

    def recorded(self, group: dict[str, Any], p: Any, g: Any, entry: dict[str, Any]) -> None:
        entry["step"] += 1
        g = recorded_gradient(p, g, group)
        alpha, v = group["alpha"], entry["square_avg"]
        v.mul_(alpha).addcmul_(g, g, value=1 - alpha)
        if group["centered"]:
            mean = entry["grad_avg"]
            mean.lerp_(g, 1 - alpha)
            root = (v - mean * mean).sqrt() + group["eps"]
        else:
            root = v.sqrt() + group["eps"]
        if group["momentum"] > 0:
            b = entry["momentum_buffer"]
            b.mul_(group["momentum"]).addcdiv_(g, root)
            p.sub_(b * group["lr"])
        else:
            p.sub_(g / root * group["lr"])


class Rprop(ArrayOptimizer):
    """Each element steps by a size of its own against the sign of its gradient: the size grows while the sign stays,
    shrinks when it changes.

    Args:
        etas: by how much sizes shrink and grow.
        step_sizes: the least and the largest size.
        maximize: go up; foreach, capturable accepted.
        differentiable: record the step.
    """

    scratch = 2
    states = ("prev", "step_size")

    def __init__(
        self, params: ParamsT, lr: Any = 1e-2, etas: tuple[float, float] = (0.5, 1.2),
        step_sizes: tuple[float, float] = (1e-6, 50), *, capturable: bool = False, foreach: bool | None = None,
        maximize: bool = False, differentiable: bool = False,
    ) -> None:  # fmt: skip
        check_rate(lr)
        if not 0.0 < etas[0] < 1.0 < etas[1]:
            raise ValueError(f"Invalid eta values: {etas[0]}, {etas[1]}")
        super().__init__(
            params,
            {
                "lr": lr, "etas": etas, "step_sizes": step_sizes, "foreach": foreach, "maximize": maximize,
                "differentiable": differentiable, "capturable": capturable,
            },
        )  # fmt: skip

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


class ASGD(ArrayOptimizer):
    """Gradient descent, which also keeps the mean of the parameters from step t0 on, in `state[p]["ax"]`.

    Args:
        lambd: how much each step shrinks p, by lambd eta.
        alpha: the power by which eta = lr / (1 + lambd lr n)^alpha falls.
        t0: from which step on to average.
        weight_decay, maximize: as for `Adam`; foreach, capturable accepted.
        differentiable: record the step.
    """

    scalars = ("step", "eta", "mu")
    scratch = 2
    states = ("ax",)

    def __init__(
        self, params: ParamsT, lr: Any = 1e-2, lambd: float = 1e-4, alpha: float = 0.75, t0: float = 1e6,
        weight_decay: float = 0, foreach: bool | None = None, maximize: bool = False, differentiable: bool = False,
        capturable: bool = False,
    ) -> None:  # fmt: skip
        check_rate(lr, weight_decay=weight_decay)
        super().__init__(
            params,
            {
                "lr": lr, "lambd": lambd, "alpha": alpha, "t0": t0, "weight_decay": weight_decay, "foreach": foreach,
                "maximize": maximize, "differentiable": differentiable, "capturable": capturable,
            },
        )  # fmt: skip

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
