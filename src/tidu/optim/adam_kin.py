"""What Adam became: Adamax, NAdam and RAdam."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core.tensor import Tensor, tensor_of
from ._arrays import Array, ArrayOptimizer, _step_dtype, decay_squares, gradient, lerp, number, recorded_gradient
from .adam import check_adam, set_adam_defaults
from .optimizer import ParamsT

__all__ = ["Adamax", "NAdam", "RAdam"]


class Adamax(ArrayOptimizer):
    """Adam with the largest gradient (which decays by beta2) in place of the root of the mean square. Source:
    torch.optim.Adamax.

    Args: those of `Adam`.
    """

    scratch = 2

    def __init__(
        self, params: ParamsT, lr: Any = 2e-3, betas: Any = (0.9, 0.999), eps: float = 1e-8, weight_decay: float = 0,
        foreach: bool | None = None, *, maximize: bool = False, differentiable: bool = False,
        capturable: bool = False,
    ) -> None:  # fmt: skip
        if isinstance(lr, Tensor) and lr.numel() != 1:
            raise ValueError("Tensor lr must be 1-element")
        check_adam(lr, betas, eps, weight_decay)
        super().__init__(
            params,
            {
                "lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay, "foreach": foreach,
                "maximize": maximize, "differentiable": differentiable, "capturable": capturable,
            },
        )  # fmt: skip

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        set_adam_defaults(self)
        for group in self.param_groups:
            group.pop("decoupled_weight_decay", None)

    def names(self, group: dict[str, Any]) -> tuple[str, ...]:
        return "exp_avg", "exp_inf"

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


class NAdam(ArrayOptimizer):
    """Adam with Nesterov momentum. Source: torch.optim.NAdam.

    Args: those of `Adam`, and
        momentum_decay: how fast beta1 grows to its full value.
    """

    scalars = ("step", "mu_product")
    scratch = 3

    def __init__(
        self, params: ParamsT, lr: Any = 2e-3, betas: Any = (0.9, 0.999), eps: float = 1e-8, weight_decay: float = 0,
        momentum_decay: float = 4e-3, decoupled_weight_decay: bool = False, *, foreach: bool | None = None,
        maximize: bool = False, capturable: bool = False, differentiable: bool = False,
    ) -> None:  # fmt: skip
        if isinstance(lr, Tensor) and lr.numel() != 1:
            raise ValueError("Tensor lr must be 1-element")
        check_adam(lr, betas, eps, weight_decay)
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

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        set_adam_defaults(self)

    def names(self, group: dict[str, Any]) -> tuple[str, ...]:
        return "exp_avg", "exp_avg_sq"

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
        lr, decay, shrink = number(group["lr"]), number(group["weight_decay"]), 1.0
        if group["decoupled_weight_decay"]:
            shrink, decay = 1 - lr * decay, 0.0
        beta1, beta2 = group["betas"]
        by_g = -lr * (1.0 - mu) / (1.0 - product)
        by_m = -lr * mu_next / (1.0 - product * mu_next)
        return (step, product), (
            beta1, beta2, group["eps"], shrink, decay, 1 - beta2**step, by_g, by_m, group["maximize"],
        )  # fmt: skip

    def kernel(self, numbers: Any, scratch: Sequence[Array], p: Array, g: Array, *states: Array) -> None:
        beta1, beta2, eps, shrink, decay, correction, by_g, by_m, maximize = numbers
        m, v = states
        x, y, spare = scratch
        if shrink != 1:
            np.multiply(p, shrink, p)
        g = gradient(p, g, spare, maximize, decay)
        lerp(m, g, 1 - beta1, x)
        decay_squares(v, g, beta2, x)
        np.divide(v, correction, x)
        np.sqrt(x, x)
        np.add(x, eps, x)
        for a, factor in ((g, by_g), (m, by_m)):
            np.multiply(a, factor, y)
            np.divide(y, x, y)
            np.add(p, y, p)

    def recorded(self, group: dict[str, Any], p: Any, g: Any, entry: dict[str, Any]) -> None:
        step = entry["step"]
        step += 1
        t = step.item()
        lr, (beta1, beta2) = group["lr"], group["betas"]
        if group["decoupled_weight_decay"]:
            p.mul_(1 - lr * group["weight_decay"])
            g = -g if group["maximize"] else g
        else:
            g = recorded_gradient(p, g, group)
        mu, mu_next = self._mus(group, t)
        entry["mu_product"] *= mu
        product = entry["mu_product"].clone()
        m, v = entry["exp_avg"], entry["exp_avg_sq"]
        m.lerp_(g, 1 - beta1)
        v.mul_(beta2).addcmul_(g, g, value=1 - beta2)
        denominator = v.div(1 - beta2**t).sqrt() + group["eps"]
        p.addcdiv_(g * (-lr * (1.0 - mu) / (1.0 - product)), denominator)
        p.addcdiv_(m * (-lr * mu_next / (1.0 - product * mu_next)), denominator)


class RAdam(ArrayOptimizer):
    """Adam that goes by the mean gradient alone until its second moment can be trusted. Source: torch.optim.RAdam.

    Args: those of `Adam`.
    """

    scratch = 3

    def __init__(
        self, params: ParamsT, lr: Any = 1e-3, betas: Any = (0.9, 0.999), eps: float = 1e-8, weight_decay: float = 0,
        decoupled_weight_decay: bool = False, *, foreach: bool | None = None, maximize: bool = False,
        capturable: bool = False, differentiable: bool = False,
    ) -> None:  # fmt: skip
        if isinstance(lr, Tensor) and lr.numel() != 1:
            raise ValueError("Tensor lr must be 1-element")
        check_adam(lr, betas, eps, weight_decay)
        super().__init__(
            params,
            {
                "lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay, "maximize": maximize,
                "foreach": foreach, "capturable": capturable, "decoupled_weight_decay": decoupled_weight_decay,
                "differentiable": differentiable,
            },
        )  # fmt: skip

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        set_adam_defaults(self)

    def names(self, group: dict[str, Any]) -> tuple[str, ...]:
        return "exp_avg", "exp_avg_sq"

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
        lr, decay, shrink = number(group["lr"]), number(group["weight_decay"]), 1.0
        if group["decoupled_weight_decay"]:
            shrink, decay = 1 - lr * decay, 0.0
        rect = self._rectified(beta2, step)
        return (step,), (
            beta1, beta2, group["eps"], shrink, decay, lr, 1 - beta1**step, (1 - beta2**step) ** 0.5, rect,
            group["maximize"],
        )  # fmt: skip

    def kernel(self, numbers: Any, scratch: Sequence[Array], p: Array, g: Array, *states: Array) -> None:
        beta1, beta2, eps, shrink, decay, lr, correction, root, rect, maximize = numbers
        m, v = states
        x, y, spare = scratch
        if shrink != 1:
            np.multiply(p, shrink, p)
        g = gradient(p, g, spare, maximize, decay)
        lerp(m, g, 1 - beta1, x)
        decay_squares(v, g, beta2, x)
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
        entry["step"] += 1
        t = entry["step"].item()
        lr, (beta1, beta2) = group["lr"], group["betas"]
        if group["decoupled_weight_decay"]:
            p.mul_(1 - lr * group["weight_decay"])
            g = -g if group["maximize"] else g
        else:
            g = recorded_gradient(p, g, group)
        m, v = entry["exp_avg"], entry["exp_avg_sq"]
        m.lerp_(g, 1 - beta1)
        v.mul_(beta2).addcmul_(g, g, value=1 - beta2)
        update = m / (1 - beta1**t) * lr
        rect = self._rectified(beta2, t)
        if rect is not None:
            update = update * ((1 - beta2**t) ** 0.5 / (v.sqrt() + group["eps"])) * rect
        p.add_(update, alpha=-1.0)
