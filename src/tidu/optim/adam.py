"""Adam. Source: torch.optim.Adam."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core.tensor import Tensor
from ._arrays import Array, ArrayOptimizer, decay_squares, gradient, lerp, number, recorded_gradient
from .optimizer import ParamsT, _to_scalar
from .sgd import check_fused

__all__ = ["Adam"]


class Adam(ArrayOptimizer):
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

    Source: torch.optim.Adam.
    """

    scratch = 3

    def __init__(
        self, params: ParamsT, lr: Any = 1e-3, betas: Any = (0.9, 0.999), eps: float = 1e-8,
        weight_decay: float = 0, amsgrad: bool = False, *, foreach: bool | None = None, maximize: bool = False,
        capturable: bool = False, differentiable: bool = False, fused: bool | None = None,
        decoupled_weight_decay: bool = False,
    ) -> None:  # fmt: skip
        if isinstance(lr, Tensor):
            if foreach and not capturable:
                raise ValueError("lr as a Tensor is not supported for capturable=False and foreach=True")
            if lr.numel() != 1:
                raise ValueError("Tensor lr must be 1-element")
        check_adam(lr, betas, eps, weight_decay)
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

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        set_adam_defaults(self, amsgrad=False)

    def names(self, group: dict[str, Any]) -> tuple[str, ...]:
        return ("exp_avg", "exp_avg_sq", "max_exp_avg_sq") if group["amsgrad"] else ("exp_avg", "exp_avg_sq")

    def advance(self, group: dict[str, Any], fresh: bool, values: Any) -> tuple[Any, Any]:
        step = values[0] + 1
        beta1, beta2 = map(number, group["betas"])
        lr, decay = number(group["lr"]), number(group["weight_decay"])
        shrink = 1.0
        if group["decoupled_weight_decay"]:
            shrink, decay = 1 - lr * decay, 0.0
        size = lr / (1 - beta1**step)
        root = (1 - beta2**step) ** 0.5
        return (step,), (beta1, beta2, group["eps"], shrink, decay, size, root, group["maximize"])

    def kernel(  # type: ignore[override]
        self, numbers: Any, scratch: Sequence[Array], p: Array, g: Array, m: Array, v: Array, *most: Array
    ) -> None:
        beta1, beta2, eps, shrink, decay, size, root, maximize = numbers
        x, y, spare = scratch
        g = gradient(p, g, spare, maximize, decay)
        if shrink != 1:
            np.multiply(p, shrink, p)
        lerp(m, g, 1 - beta1, x)
        decay_squares(v, g, beta2, x)
        if most:
            v = np.maximum(most[0], v, out=most[0])
        np.sqrt(v, x)
        np.divide(x, root, x)
        np.add(x, eps, x)
        np.multiply(m, -size, y)
        np.divide(y, x, y)
        np.add(p, y, p)

    def recorded(self, group: dict[str, Any], p: Any, g: Any, entry: dict[str, Any]) -> None:
        step = entry["step"]
        step += 1
        beta1, beta2 = group["betas"]
        lr, eps = group["lr"], group["eps"]
        if group["decoupled_weight_decay"]:
            g = -g if group["maximize"] else g
            if isinstance(group["weight_decay"], Tensor) or group["weight_decay"] != 0:
                p.mul_(1 - lr * group["weight_decay"])
        else:
            g = recorded_gradient(p, g, group)
        m, v = entry["exp_avg"], entry["exp_avg_sq"]
        if isinstance(beta1, Tensor):
            m.copy_(m + (1 - beta1) * (g - m))
            v.copy_(beta2 * v + (1 - beta2) * g * g)
        else:
            m.lerp_(g, 1 - beta1)
            v.mul_(beta2).addcmul_(g, g, value=1 - beta2)
        now = step.clone()
        size = (lr / (1 - beta1**now)).neg()
        root = (1 - beta2**now).sqrt()
        if group["amsgrad"]:
            most = entry["max_exp_avg_sq"]
            most.copy_(most.clone().maximum(v))
            v = most
        denominator = (v.sqrt() / (root * size)).add_(eps / size)
        p.addcdiv_(m.clone(), denominator)

    def sparse(self, group: dict[str, Any], p: Any, g: Any, entry: dict[str, Any]) -> None:
        raise RuntimeError("Adam does not support sparse gradients, please consider SparseAdam instead")


def check_adam(lr: Any, betas: Any, eps: float, weight_decay: Any) -> None:
    """Raise for options of the Adam family that are out of range."""
    if not 0.0 <= lr:
        raise ValueError(f"Invalid learning rate: {lr}")
    if not eps >= 0.0:
        raise ValueError(f"Invalid epsilon value: {eps}")
    for i, b in enumerate(betas):
        if not 0.0 <= b < 1.0:
            raise ValueError(f"Invalid beta parameter at index {i}: {b}")
    if not weight_decay >= 0.0:
        raise ValueError(f"Invalid weight_decay value: {weight_decay}")


def set_adam_defaults(opt: Any, **more: Any) -> None:
    """Options that groups from older files lack."""
    defaults = {
        "maximize": False, "foreach": None, "capturable": False, "differentiable": False,
        "decoupled_weight_decay": False, **more,
    }  # fmt: skip
    for group in opt.param_groups:
        for name, value in defaults.items():
            group.setdefault(name, value)
        if "fused" in opt.defaults:
            group.setdefault("fused", None)
        for p in group["params"]:
            entry = opt.state.get(p) or {}
            if entry and not isinstance(entry.get("step"), Tensor):
                from ..core.tensor import tensor_of
                from ._arrays import _step_dtype

                entry["step"] = tensor_of(np.asarray(float(entry["step"]), _step_dtype()))
