"""Gradients held within bounds. Source: torch.nn.utils.clip_grad."""

from __future__ import annotations

import math
import types
import warnings
from collections.abc import Iterable
from typing import Any

import numpy as np

from ...core.tensor import Tensor, raw, tensor_of

__all__ = ["clip_grad_norm", "clip_grad_norm_", "clip_grad_value_", "clip_grads_with_norm_", "get_total_norm"]


def _grads(parameters: Any) -> list[Any]:
    if isinstance(parameters, Tensor):
        parameters = [parameters]
    return [p._grad for p in parameters if p._grad is not None]


def _norm(a: Any, order: float) -> Any:
    """The norm of an array's elements, in its own precision."""
    if order == 2 and a.dtype.kind == "f" and a.dtype.itemsize >= 4 and a.size:
        flat = a.reshape(-1) if a.flags.forc else np.ascontiguousarray(a).reshape(-1)
        return np.sqrt(flat @ flat)
    size = np.abs(a if a.dtype.itemsize >= 4 and a.dtype.kind != "V" else a.astype(np.float32))
    if not size.size:
        return size.dtype.type(0)
    if order == math.inf:
        return size.max()
    if order == -math.inf:
        return size.min()
    if order == 0:
        return size.dtype.type(np.count_nonzero(size))
    return (size**order).sum() ** (1.0 / order)


def get_total_norm(
    tensors: Any, norm_type: float = 2.0, error_if_nonfinite: bool = False, foreach: bool | None = None
) -> Tensor:
    """The norm of all the tensors' elements together. Source: torch.nn.utils.get_total_norm."""
    tensors = [tensors] if isinstance(tensors, Tensor) else list(tensors)
    order = float(norm_type)
    if not tensors:
        return tensor_of(np.zeros((), np.float32))
    norms = np.array([_norm(raw(t), order) for t in tensors])
    total = _norm(norms, order)
    if error_if_nonfinite and not np.isfinite(total):
        raise RuntimeError(
            f"The total norm of order {order} for gradients from `parameters` is non-finite, so it cannot be clipped. "
            "To disable this error and scale the gradients by the non-finite norm anyway, set "
            "`error_if_nonfinite=False`"
        )
    return tensor_of(np.asarray(total))


def clip_grads_with_norm_(parameters: Any, max_norm: float, total_norm: Tensor, foreach: bool | None = None) -> None:
    """Scale the gradients as if their norm were `total_norm`, to at most `max_norm`. Source:
    torch.nn.utils.clip_grads_with_norm_."""
    total = raw(total_norm)
    factor = np.minimum(total.dtype.type(float(max_norm)) / (total + total.dtype.type(1e-6)), 1.0)
    for g in _grads(parameters):
        a = raw(g)
        a *= a.dtype.type(factor)
        g._v[0] += 1


def clip_grad_norm_(
    parameters: Any, max_norm: float, norm_type: float = 2.0, error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Tensor:  # fmt: skip
    """Scale the gradients in place so that the norm of all of them together is at most `max_norm`.

    Args:
        parameters: tensors with gradients.
        norm_type: the order of the norm; inf is the largest element.
        error_if_nonfinite: raise if the norm is not a finite number.
        foreach: accepted.

    Returns:
        The norm before.

    Source: torch.nn.utils.clip_grad_norm_.

    >>> import tidu as torch
    >>> w = torch.ones(4, requires_grad=True)
    >>> (w * 2).sum().backward()
    >>> torch.nn.utils.clip_grad_norm_([w], 1.0)
    tensor(4.)
    >>> w.grad
    tensor([0.5000, 0.5000, 0.5000, 0.5000])
    """
    if isinstance(parameters, Tensor):
        parameters = [parameters]
    else:
        lazily = isinstance(parameters, types.GeneratorType)
        parameters = list(parameters)
        if lazily and not parameters:
            warnings.warn("`parameters` is an empty generator, no gradient clipping will occur.", stacklevel=2)
    total = get_total_norm(_grads(parameters), norm_type, error_if_nonfinite)
    clip_grads_with_norm_(parameters, max_norm, total)
    return total


def clip_grad_norm(parameters: Any, max_norm: float, norm_type: float = 2.0, *rest: Any) -> Tensor:
    """The old name of `clip_grad_norm_`. Source: torch.nn.utils.clip_grad_norm."""
    warnings.warn(
        "`torch.nn.utils.clip_grad_norm` is now deprecated in favor of `torch.nn.utils.clip_grad_norm_`.",
        FutureWarning,
        stacklevel=2,
    )
    return clip_grad_norm_(parameters, max_norm, norm_type, *rest)


def clip_grad_value_(parameters: Iterable[Any] | Any, clip_value: float, foreach: bool | None = None) -> None:
    """Clamp each element of the gradients to ±clip_value, in place. Source: torch.nn.utils.clip_grad_value_."""
    limit = float(clip_value)
    for g in _grads(parameters):
        a = raw(g)
        np.minimum(np.maximum(a, -limit, out=a), limit, out=a)
        g._v[0] += 1


_get_total_norm, _clip_grads_with_norm_ = get_total_norm, clip_grads_with_norm_
