"""Adam, and what became of it. Source: torch.optim.adam, .adamw, .adamax, .nadam, .radam and .sparse_adam."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..core.modes import no_grad
from ..core.tensor import Tensor, tensor_of
from ..devices import strided
from ._arrays import (
    OLDER,
    Array,
    ArrayOptimizer,
    _step_dtype,
    check_fused,
    check_rate,
    decay_squares,
    gradient,
    lerp,
    not_negative,
    number,
    recorded_gradient,
)
from .optimizer import Optimizer, ParamsT, _to_scalar

__all__ = ["Adam", "AdamW", "Adamax", "NAdam", "RAdam", "SparseAdam"]


def _check(lr: Any, betas: Any, eps: float, weight_decay: Any) -> None:
    check_rate(lr, epsilon=eps)
    for i, b in enumerate(betas):
        if not 0.0 <= b < 1.0:
            raise ValueError(f"Invalid beta parameter at index {i}: {b}")
    not_negative(weight_decay=weight_decay)


class _Moments(ArrayOptimizer):
    """An optimiser that goes by running means m and v of g and g^2."""

    scratch = 3
    states = ("exp_avg", "exp_avg_sq")
    older = OLDER | {"decoupled_weight_decay": False}

    def decay(self, group: dict[str, Any]) -> tuple[float, tuple[Any, ...]]:
        """The learning rate, and what `means` reads: the betas, by what weight decay shrinks parameters themselves or how
        much of them it adds to gradients, and whether to go up."""
        lr, decay, shrink = number(group["lr"]), number(group["weight_decay"]), 1.0
        if group["decoupled_weight_decay"]:
            shrink, decay = 1 - lr * decay, 0.0
        return lr, (*map(number, group["betas"]), shrink, decay, group["maximize"])

    @staticmethod
    def means(numbers: Any, scratch: Sequence[Array], p: Array, g: Array, m: Array, v: Array) -> Array:
        """Decay the parameter and move the means; returns the gradient to go by."""
        beta1, beta2, shrink, decay, maximize = numbers
        x, _, spare = scratch
        g = gradient(p, g, spare, maximize, decay)
        if shrink != 1:
            np.multiply(p, shrink, p)
        lerp(m, g, 1 - beta1, x)
        decay_squares(v, g, beta2, x)
        return g

    def recorded_means(self, group: dict[str, Any], p: Any, g: Any, entry: dict[str, Any]) -> tuple[Any, Any, Any]:
        """`means` on tensors: the gradient, and both means."""
        entry["step"] += 1
        beta1, beta2 = group["betas"]
        g = recorded_gradient(p, g, group)
        m, v = entry["exp_avg"], entry["exp_avg_sq"]
        if isinstance(beta1, Tensor):
            m.copy_(m + (1 - beta1) * (g - m))
            v.copy_(beta2 * v + (1 - beta2) * g * g)
        else:
            m.lerp_(g, 1 - beta1)
            v.mul_(beta2).addcmul_(g, g, value=1 - beta2)
        return g, m, v


class Adam(_Moments):
    """p -= lr m' / (sqrt(v') + eps), with m and v running means of g and g^2, and m', v' freed of their bias to zero.

    Args:
        params: the parameters, or groups of them.
        lr: the step size.
        betas: how slowly the two running means forget.
        eps: added to the denominator.
        weight_decay: adds weight_decay p to g; with `decoupled_weight_decay` shrinks p by lr weight_decay instead.
        amsgrad: divide by the largest v so far.
        maximize: go up.
        foreach, capturable, fused: accepted.
        differentiable: record the step.
    """

    older = _Moments.older | {"amsgrad": False, "fused": None}

    def __init__(
        self, params: ParamsT, lr: Any = 1e-3, betas: Any = (0.9, 0.999), eps: float = 1e-8,
        weight_decay: float = 0, amsgrad: bool = False, *, foreach: bool | None = None, maximize: bool = False,
        capturable: bool = False, differentiable: bool = False, fused: bool | None = None,
        decoupled_weight_decay: bool = False,
    ) -> None:  # fmt: skip
        if isinstance(lr, Tensor) and foreach and not capturable:
            raise ValueError("lr as a Tensor is not supported for capturable=False and foreach=True")
        _check(lr, betas, eps, weight_decay)
        if isinstance(betas[0], Tensor) is not isinstance(betas[1], Tensor) or not all(
            isinstance(b, (float, Tensor)) for b in betas
        ):
            raise ValueError("betas must be either both floats or both Tensors")
        for i, b in enumerate(betas):
            if isinstance(b, Tensor):
                if not capturable and foreach:
                    raise ValueError(f"betas[{i}] as a Tensor is not supported for capturable=False and foreach=True")
                if b.numel() != 1:
                    raise ValueError(f"Tensor betas[{i}] must be 1-element")
        defaults = {
            "lr": lr, "betas": tuple(map(_to_scalar, betas)), "eps": eps, "weight_decay": weight_decay,
            "amsgrad": amsgrad, "maximize": maximize, "foreach": foreach, "capturable": capturable,
            "differentiable": differentiable, "fused": fused, "decoupled_weight_decay": decoupled_weight_decay,
        }  # fmt: skip
        super().__init__(params, defaults)
        check_fused(fused, foreach, differentiable)

    def names(self, group: dict[str, Any]) -> tuple[str, ...]:
        return (*self.states, "max_exp_avg_sq") if group["amsgrad"] else self.states

    def advance(self, group: dict[str, Any], fresh: bool, values: Any) -> tuple[Any, Any]:
        step = values[0] + 1
        lr, decay = self.decay(group)
        return (step,), (decay, group["eps"], lr / (1 - decay[0] ** step), (1 - decay[1] ** step) ** 0.5)

    def kernel(  # type: ignore[override]
        self, numbers: Any, scratch: Sequence[Array], p: Array, g: Array, m: Array, v: Array, *most: Array
    ) -> None:
        decay, eps, size, root = numbers
        x, y, _ = scratch
        self.means(decay, scratch, p, g, m, v)
        if most:
            v = np.maximum(most[0], v, out=most[0])
        np.sqrt(v, x)
        np.divide(x, root, x)
        np.add(x, eps, x)
        np.multiply(m, -size, y)
        np.divide(y, x, y)
        np.add(p, y, p)

    def recorded(self, group: dict[str, Any], p: Any, g: Any, entry: dict[str, Any]) -> None:
        beta1, beta2 = group["betas"]
        _, m, v = self.recorded_means(group, p, g, entry)
        now = entry["step"].clone()
        size = (group["lr"] / (1 - beta1**now)).neg()
        root = (1 - beta2**now).sqrt()
        if group["amsgrad"]:
            most = entry["max_exp_avg_sq"]
            most.copy_(most.clone().maximum(v))
            v = most
        denominator = (v.sqrt() / (root * size)).add_(group["eps"] / size)
        p.addcdiv_(m.clone(), denominator)

    def sparse(self, group: dict[str, Any], p: Any, g: Any, entry: dict[str, Any]) -> None:
        raise RuntimeError("Adam does not support sparse gradients, please consider SparseAdam instead")


class AdamW(Adam):
    """Adam with weight decay apart from the gradient: p shrinks by lr weight_decay.

    Args: those of `Adam`.
    """

    def __init__(
        self, params: ParamsT, lr: Any = 1e-3, betas: Any = (0.9, 0.999), eps: float = 1e-8,
        weight_decay: float = 1e-2, amsgrad: bool = False, *, maximize: bool = False, foreach: bool | None = None,
        capturable: bool = False, differentiable: bool = False, fused: bool | None = None,
    ) -> None:  # fmt: skip
        super().__init__(
            params, lr, betas, eps, weight_decay, amsgrad, foreach=foreach, maximize=maximize,
            capturable=capturable, differentiable=differentiable, fused=fused, decoupled_weight_decay=True,
        )  # fmt: skip

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        for group in self.param_groups:
            group["decoupled_weight_decay"] = True


class Adamax(ArrayOptimizer):
    """Adam with the largest gradient (which decays by beta2) in place of the root of the mean square.

    Args: those of `Adam`.
    """

    scratch = 2
    states = ("exp_avg", "exp_inf")

    def __init__(
        self, params: ParamsT, lr: Any = 2e-3, betas: Any = (0.9, 0.999), eps: float = 1e-8, weight_decay: float = 0,
        foreach: bool | None = None, *, maximize: bool = False, differentiable: bool = False,
        capturable: bool = False,
    ) -> None:  # fmt: skip
        _check(lr, betas, eps, weight_decay)
        super().__init__(
            params,
            {
                "lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay, "foreach": foreach,
                "maximize": maximize, "differentiable": differentiable, "capturable": capturable,
            },
        )  # fmt: skip

    def advance(self, group: dict[str, Any], fresh: bool, values: Any) -> tuple[Any, Any]:
        step = values[0] + 1
        beta1, beta2 = group["betas"]
        size = number(group["lr"]) / (1 - beta1**step)
        return (step,), (beta1, beta2, group["eps"], number(group["weight_decay"]), size, group["maximize"])

    def kernel(self, numbers: Any, scratch: Sequence[Array], p: Array, g: Array, *states: Array) -> None:
        beta1, beta2, eps, decay, size, maximize = numbers
        m, most = states
        x, spare = scratch
        g = gradient(p, g, spare, maximize, decay)
        lerp(m, g, 1 - beta1, x)
        np.abs(g, x)
        np.add(x, eps, x)
        np.multiply(most, beta2, most)
        np.maximum(most, x, out=most)
        np.multiply(m, -size, x)
        np.divide(x, most, x)
        np.add(p, x, p)

    def recorded(self, group: dict[str, Any], p: Any, g: Any, entry: dict[str, Any]) -> None:
        entry["step"] += 1
        t = entry["step"].item()
        beta1, beta2 = group["betas"]
        g = recorded_gradient(p, g, group)
        m, most = entry["exp_avg"], entry["exp_inf"]
        m.lerp_(g, 1 - beta1)
        most.copy_((most * beta2).maximum(g.abs() + group["eps"]))
        p.sub_(m / most * (group["lr"] / (1 - beta1**t)))


class NAdam(_Moments):
    """Adam with Nesterov momentum.

    Args: those of `Adam`, and
        momentum_decay: how fast beta1 grows to its full value.
    """

    scalars = ("step", "mu_product")

    def __init__(
        self, params: ParamsT, lr: Any = 2e-3, betas: Any = (0.9, 0.999), eps: float = 1e-8, weight_decay: float = 0,
        momentum_decay: float = 4e-3, decoupled_weight_decay: bool = False, *, foreach: bool | None = None,
        maximize: bool = False, capturable: bool = False, differentiable: bool = False,
    ) -> None:  # fmt: skip
        _check(lr, betas, eps, weight_decay)
        if not momentum_decay >= 0.0:
            raise ValueError(f"Invalid momentum_decay value: {momentum_decay}")
        super().__init__(
            params,
            {
                "lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay, "momentum_decay": momentum_decay,
                "decoupled_weight_decay": decoupled_weight_decay, "maximize": maximize, "foreach": foreach,
                "capturable": capturable, "differentiable": differentiable,
            },
        )  # fmt: skip

    def begin(self, group: dict[str, Any], p: Any, entry: dict[str, Any]) -> None:
        super().begin(group, p, entry)
        entry["mu_product"] = tensor_of(np.ones((), _step_dtype()))

    def _mus(self, group: dict[str, Any], step: Any) -> tuple[Any, Any]:
        beta1, decay = group["betas"][0], group["momentum_decay"]
        return (beta1 * (1.0 - 0.5 * (0.96 ** (step * decay))), beta1 * (1.0 - 0.5 * (0.96 ** ((step + 1) * decay))))

    def advance(self, group: dict[str, Any], fresh: bool, values: Any) -> tuple[Any, Any]:
        step = values[0] + 1
        mu, mu_next = self._mus(group, step)
        product = float(_step_dtype()(values[1] * mu))
        lr, decay = self.decay(group)
        by_g = -lr * (1.0 - mu) / (1.0 - product)
        by_m = -lr * mu_next / (1.0 - product * mu_next)
        return (step, product), (decay, group["eps"], 1 - decay[1] ** step, by_g, by_m)

    def kernel(self, numbers: Any, scratch: Sequence[Array], p: Array, g: Array, *states: Array) -> None:
        decay, eps, correction, by_g, by_m = numbers
        m, v = states
        x, y, _ = scratch
        g = self.means(decay, scratch, p, g, m, v)
        np.divide(v, correction, x)
        np.sqrt(x, x)
        np.add(x, eps, x)
        for a, factor in ((g, by_g), (m, by_m)):
            np.multiply(a, factor, y)
            np.divide(y, x, y)
            np.add(p, y, p)

    def recorded(self, group: dict[str, Any], p: Any, g: Any, entry: dict[str, Any]) -> None:
        g, m, v = self.recorded_means(group, p, g, entry)
        t, lr = entry["step"].item(), group["lr"]
        mu, mu_next = self._mus(group, t)
        entry["mu_product"] *= mu
        product = entry["mu_product"].clone()
        denominator = v.div(1 - group["betas"][1] ** t).sqrt() + group["eps"]
        p.addcdiv_(g * (-lr * (1.0 - mu) / (1.0 - product)), denominator)
        p.addcdiv_(m * (-lr * mu_next / (1.0 - product * mu_next)), denominator)


class RAdam(_Moments):
    """Adam that goes by the mean gradient alone until its second moment can be trusted.

    Args: those of `Adam`.
    """

    def __init__(
        self, params: ParamsT, lr: Any = 1e-3, betas: Any = (0.9, 0.999), eps: float = 1e-8, weight_decay: float = 0,
        decoupled_weight_decay: bool = False, *, foreach: bool | None = None, maximize: bool = False,
        capturable: bool = False, differentiable: bool = False,
    ) -> None:  # fmt: skip
        _check(lr, betas, eps, weight_decay)
        super().__init__(
            params,
            {
                "lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay, "maximize": maximize,
                "foreach": foreach, "capturable": capturable, "decoupled_weight_decay": decoupled_weight_decay,
                "differentiable": differentiable,
            },
        )  # fmt: skip

    @staticmethod
    def _rectified(beta2: float, step: float) -> float | None:
        """The factor of the adaptive step, None while there is none."""
        most = 2 / (1 - beta2) - 1
        rho = most - 2 * step * beta2**step / (1 - beta2**step)
        if not rho > 5.0:
            return None
        return float(((rho - 4) * (rho - 2) * most / ((most - 4) * (most - 2) * rho)) ** 0.5)

    def advance(self, group: dict[str, Any], fresh: bool, values: Any) -> tuple[Any, Any]:
        step = values[0] + 1
        beta1, beta2 = group["betas"]
        lr, decay = self.decay(group)
        rect = self._rectified(beta2, step)
        return (step,), (decay, group["eps"], lr, 1 - beta1**step, (1 - beta2**step) ** 0.5, rect)

    def kernel(self, numbers: Any, scratch: Sequence[Array], p: Array, g: Array, *states: Array) -> None:
        decay, eps, lr, correction, root, rect = numbers
        m, v = states
        x, y, _ = scratch
        self.means(decay, scratch, p, g, m, v)
        np.divide(m, correction, y)
        np.multiply(y, lr, y)
        if rect is not None:
            np.sqrt(v, x)
            np.add(x, eps, x)
            np.divide(root, x, x)
            np.multiply(y, x, y)
            np.multiply(y, rect, y)
        np.subtract(p, y, p)

    def recorded(self, group: dict[str, Any], p: Any, g: Any, entry: dict[str, Any]) -> None:
        _, m, v = self.recorded_means(group, p, g, entry)
        t, (beta1, beta2) = entry["step"].item(), group["betas"]
        update = m / (1 - beta1**t) * group["lr"]
        rect = self._rectified(beta2, t)
        if rect is not None:
            update = update * ((1 - beta2**t) ** 0.5 / (v.sqrt() + group["eps"])) * rect
        p.add_(update, alpha=-1.0)


class SparseAdam(Optimizer):
    """Adam on the rows that a sparse gradient has; the moments of the others stay as they are."""

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
        _check(lr, betas, eps, 0)
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
        """Update the parameters by their gradients."""
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
