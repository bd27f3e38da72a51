"""Softmax, its logarithm and its kin."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from .. import dtypes
from ..arrays import rows
from ..core.broadcast import cast
from ..core.op import Op
from ..shapes import normalize_dim
from ._dtypes import refusal
from ._hot import fast, hot
from ._noded import noded
from ._reduce import into
from .pointwise import exp
from .reduction import sum

__all__ = ["log_softmax", "softmax"]
METHODS = "log_softmax softmax"

Value = Any


def _along(kernel: Callable[..., Any], name: str) -> Callable[..., Any]:
    def forward(input: Any, dim: int) -> Any:
        n = input.ndim
        d = normalize_dim(dim, n)
        if input.dtype.kind not in "fV":
            word = f"{name}_lastdim_kernel_impl" if d == max(n - 1, 0) else f"{name}_kernel_impl"
            refusal("bic", word)(name, dtypes.from_numpy(input.dtype))
        return kernel(input, d) if n else kernel(input.reshape(1), 0).reshape(())

    return forward


def _numbers(
    kernel: Callable[..., Any], formula: Callable[..., Any], node: str, derivative: dict[str, Callable[..., Any]]
) -> Callable[..., Any]:
    def numbers(g: Any, out: Any, dim: int) -> Any:
        return kernel(g, out, dim) if g.ndim else g * 0

    return fast(numbers, noded(node + "Backward0", formula, "g out", numbers, derivative))


_softmax = hot(
    Op(
        "softmax",
        _along(rows.softmax, "softmax"),
        {
            "input": _numbers(
                rows.softmax_backward,
                lambda g, out, dim: (g - sum(g * out, dim, True)) * out,
                "SoftmaxBackwardData",
                {
                    "grad_output": lambda g, out, dim: (g - sum(g * out, dim, True)) * out,
                    "out": lambda g, grad_output, out, dim: (
                        g * (grad_output - sum(grad_output * out, dim, True)) - grad_output * sum(g * out, dim, True)
                    ),
                },
            )
        },
        {"input": lambda t, out, dim: (t - sum(t * out, dim, True)) * out},
    ).call
)


def _log_softmax_kernel(a: Any, d: int) -> Any:
    if a.dtype.itemsize != 2 or d != a.ndim - 1 or not a.size:
        return rows.log_softmax(a, d)
    # Along the last dimension PyTorch rounds the sum, and its logarithm, to half precision.
    x = a.astype(np.float32)
    x -= x.max(-1, keepdims=True)
    s = np.log(np.exp(x).sum(-1, keepdims=True).astype(a.dtype).astype(np.float32))
    return (x - s.astype(a.dtype).astype(np.float32)).astype(a.dtype)


_log_softmax = hot(
    Op(
        "log_softmax",
        _along(_log_softmax_kernel, "log_softmax"),
        {
            "input": _numbers(
                rows.log_softmax_backward,
                lambda g, out, dim: g - exp(out) * sum(g, dim, True),
                "LogSoftmaxBackwardData",
                {
                    "grad_output": lambda g, out, dim: g - sum(g * exp(out), dim, True),
                    "out": lambda g, grad_output, out, dim: -(g * exp(out)) * sum(grad_output, dim, True),
                },
            )
        },
        {"input": lambda t, out, dim: t - sum(t * exp(out), dim, True)},
    ).call
)


def softmax(input: Value, dim: int, dtype: Any = None, *, out: Any = None) -> Value:
    """exp(input) / sum(exp(input)) along `dim`. Source: torch.softmax.

    **Arguments** dtype: convert the input to it first.

    >>> import tidu as torch
    >>> torch.softmax(torch.tensor([0., 0.]), 0)
    tensor([0.5000, 0.5000])
    """
    return _called(_softmax, "softmax", input, dim, dtype, out)


def log_softmax(input: Value, dim: int, dtype: Any = None, *, out: Any = None) -> Value:
    """The logarithm of `softmax`, input - log(sum(exp(input))). Source: torch.log_softmax."""
    return _called(_log_softmax, "log_softmax", input, dim, dtype, out)


def _called(op: Callable[..., Any], name: str, input: Value, dim: Any, dtype: Any, out: Any) -> Value:
    if dtype is not None:
        input = cast(input, dtype.np)
    if dim.__class__ is not int:
        dim = _index(name, dim)
    r = op(input, dim)
    return r if out is None else into(name, out, r)


def _index(name: str, dim: Any) -> int:
    if not hasattr(dim, "__index__"):
        raise TypeError(f"{name}(): argument 'dim' (position 2) must be int, not {type(dim).__name__}")
    return dim.__index__()


def implicit_dim(name: str, ndim: int, stacklevel: int) -> int:
    """The dim that softmax took by itself before it had to be named."""
    warnings.warn(
        f"Implicit dimension choice for {name} has been deprecated. Change the call to include dim=X as an argument.",
        stacklevel=stacklevel + 1,
    )
    return 0 if ndim in (0, 1, 3) else 1


def f_softmax(input: Value, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None) -> Value:
    """exp(input) / sum(exp(input)) along `dim`. Source: torch.nn.functional.softmax."""
    if dim is None:
        dim = implicit_dim("softmax", input.ndim, _stacklevel)
    return _called(_softmax, "softmax", input, dim, dtype, None)


def f_log_softmax(input: Value, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None) -> Value:
    """input - log(sum(exp(input))) along `dim`. Source: torch.nn.functional.log_softmax."""
    if dim is None:
        dim = implicit_dim("log_softmax", input.ndim, _stacklevel)
    return _called(_log_softmax, "log_softmax", input, dim, dtype, None)


def softmin(input: Value, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None) -> Value:
    """softmax(-input). Source: torch.nn.functional.softmin."""
    if dim is None:
        dim = implicit_dim("softmin", input.ndim, _stacklevel)
    return softmax(-input, dim, dtype)


def gumbel_softmax(logits: Value, tau: float = 1, hard: bool = False, eps: float = 1e-10, dim: int = -1) -> Value:
    """A sample that is nearly one-hot: softmax((logits + gumbel noise) / tau); `hard` makes it one-hot.

    With `hard` the value is one-hot and the gradient that of the soft sample. Source:
    torch.nn.functional.gumbel_softmax.
    """
    if eps != 1e-10:
        warnings.warn("`eps` parameter is deprecated and has no effect.", stacklevel=2)
    noise = -logits.detach().clone().exponential_().log()
    y = softmax((logits + noise) / tau, dim)
    if not hard:
        return y
    index = y.max(dim, keepdim=True)[1]
    one = y.detach() * 0
    return one.scatter_(dim, index, 1.0) - y.detach() + y
