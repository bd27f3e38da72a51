"""Functions of rows: softmax, its logarithm and its kin; layer norm, and norm by the root of the mean square alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .. import dtypes
from ..arrays import rows
from ..core.broadcast import cast, sum_to
from ..core.elementwise import F32, F64
from ..core.modes import state
from ..core.node import Node, freed, modified, next_seq
from ..core.op import Op, check_savable
from ..core.tensor import Tensor, live_node, new
from ..naming import warn
from ..shapes import normalize_dim
from ._dtypes import refusal
from ._hot import fast, hot
from ._noded import noded
from .loss import add_number
from .normalization import affine_push, like_input, pull, refuse_mixed, standard, three, times
from .pointwise import exp
from .powers import pow, rsqrt
from .reduction import dim_index, into, mean, sum

__all__ = [
    "layer_norm", "log_softmax", "native_layer_norm", "rms_norm", "softmax",
]  # fmt: skip
METHODS = "log_softmax softmax"

Value = Any
Ints = tuple[int, ...]
ndarray = np.ndarray


def _layer_forward(input: Any, normalized_shape: Ints, weight: Any, bias: Any, eps: float) -> Any:
    return like_input(rows.layer_norm(input, len(normalized_shape), weight, bias, eps), input, weight, bias)


def _layer_rule(
    g0: Value, input: Value, weight: Value, out1: Value, out2: Value, normalized_shape: Ints, eps: float, needs: Any
) -> Any:
    n = len(normalized_shape)
    wants = three(needs)
    if g0.__class__ is ndarray:
        return rows.layer_norm_backward(g0, input, out1, out2, n, weight, wants)
    axes = tuple(range(input.ndim - n, input.ndim))
    z, rstd = standard(input, axes, eps)
    return (
        pull(times(g0, weight), z, rstd, axes) if wants[0] else None,
        sum_to(g0 * z, normalized_shape) if wants[1] else None,
        sum_to(g0, normalized_shape) if wants[2] else None,
    )


def _layer_push(
    t_input: Value, t_weight: Value, t_bias: Value, input: Value, weight: Value, normalized_shape: Ints, eps: float
) -> Any:
    axes = tuple(range(input.ndim - len(normalized_shape), input.ndim))
    z, rstd = standard(input, axes, eps)
    return affine_push(t_input, t_weight, t_bias, z, rstd, weight, axes), None, None


_layer = Op(
    "native_layer_norm", _layer_forward, _layer_rule, _layer_push, tensors=("input", "weight", "bias"), outputs=3,
    nondiff=(1, 2), out_arg=False,
)  # fmt: skip


def native_layer_norm(input: Value, normalized_shape: Any, weight: Value, bias: Value, eps: float) -> Any:
    """`layer_norm`, and the means and inverse deviations that it found."""
    shape = _normalized("layer_norm", input, normalized_shape, weight, bias)
    refuse_mixed(input, weight, bias)
    refusal("bic", "LayerNormKernelImpl")("", input.dtype)
    return _layer.call(input, shape, weight, bias, eps)


def _normalized(fn: str, input: Value, normalized_shape: Any, weight: Value, bias: Value) -> Ints:
    if not isinstance(normalized_shape, (tuple, list)):
        raise TypeError(
            f"{fn}(): argument 'normalized_shape' (position 2) must be tuple of ints, not "
            f"{type(normalized_shape).__name__}"
        )
    shape = tuple(int(n) for n in normalized_shape)
    if not shape:
        raise RuntimeError(
            "Expected normalized_shape to be at least 1-dimensional, i.e., containing at least one element, but got "
            "normalized_shape = []"
        )
    for name, w in (("weight", weight), ("bias", bias)):
        if w is not None and tuple(w.shape) != shape:
            raise RuntimeError(
                f"Expected {name} to be of same shape as normalized_shape, but got {name} of shape {list(w.shape)} and "
                f"normalized_shape = {list(shape)}"
            )
    if fn == "rms_norm" and input.ndim < len(shape):
        raise ValueError(f"Input tensor must have at least {len(shape)} dimensions, but got {input.ndim}")
    if tuple(input.shape[max(input.ndim - len(shape), 0) :]) != shape:
        comma = ", " if fn == "layer_norm" else ""
        raise RuntimeError(
            f"Given normalized_shape={list(shape)}, expected input with shape "
            f"[*{comma}{', '.join(map(str, shape))}], but got input of size{list(input.shape)}"
        )
    return shape


def layer_norm(
    input: Value, normalized_shape: Any, weight: Value = None, bias: Value = None, eps: float = 1e-5,
    cudnn_enable: bool = True,
) -> Value:  # fmt: skip
    """(input - mean) / sqrt(var + eps) * weight + bias over the last dimensions, of `normalized_shape`."""
    return native_layer_norm(input, normalized_shape, weight, bias, eps)[0]


class LayerNormNode(Node):
    __slots__ = ("args", "stats", "versions", "w", "x")
    op = _layer

    def apply(self, g: Any, edges: Sequence[Any], raw: bool) -> Sequence[Any]:
        versions = self.versions
        if versions is None:
            raise freed(self)
        x, w = self.x, self.w
        for v, version in ((x, versions[0]), (w, versions[1])):
            if v is not None and v._v[0] != version:
                raise modified(self, v, v._v, version)
        if raw:
            x, w = x._a, None if w is None else w._a
        return _layer_rule(g, x, w, *self.stats, *self.args, [e is not None for e in edges])

    def release(self) -> None:
        self.x = self.w = self.stats = self.versions = None

    def saved_arrays(self) -> Any:
        if self.x is not None:
            yield from (self.x._a, *self.stats)
            if self.w is not None:
                yield self.w._a


_LayerNormNode: Any = type("NativeLayerNormBackward0", (LayerNormNode,), {"__slots__": ()})


def _layer_norm_hot(input: Value, shape: Any, weight: Value, bias: Value, eps: float) -> Value:
    """The result where all is as it mostly is; None where it is not."""
    try:
        x = input._a
        w, b = None if weight is None else weight._a, None if bias is None else bias._a
    except AttributeError:
        return None
    dt = x.dtype
    n = len(shape)
    record = state.record
    if (dt is not F32 and dt is not F64) or record.__class__ is not bool or not n or x.shape[-n:] != shape:
        return None
    if (w is not None and (w.dtype is not dt or w.shape != shape)) or (
        b is not None and (b.dtype is not dt or b.shape != shape)
    ):
        return None
    out, m, rstd = rows.layer_norm(x, n, w, b, eps)
    ex, ew, eb = (None if v is None else v._node if v._view is None else live_node(v) for v in (input, weight, bias))
    t = new(Tensor)
    t._a = out
    t._v = [0]
    t._node = t._view = t._grad = t._extra = None
    if not record or (ex is None and ew is None and eb is None):
        return t
    t._node = node = new(_LayerNormNode)
    node.seq = next_seq()
    node._hooks = None
    node.edges = (input if ex is True else ex, weight if ew is True else ew, bias if eb is True else eb)
    node.x, node.w = check_savable(input), weight if weight is None else check_savable(weight)
    node.versions = (input._v[0], None if weight is None else weight._v[0])
    node.stats, node.args = (m, rstd), (shape, eps)
    return t


def f_layer_norm(
    input: Value, normalized_shape: Any, weight: Value = None, bias: Value = None, eps: float = 1e-5
) -> Value:
    """(input - mean) / sqrt(var + eps) * weight + bias over the last dimensions, of `normalized_shape`.

    Source: torch.nn.functional.layer_norm.
    """
    if normalized_shape.__class__ is tuple or isinstance(normalized_shape, (tuple, list)):
        got = _layer_norm_hot(input, tuple(normalized_shape), weight, bias, eps)
        if got is not None:
            return got
    return native_layer_norm(input, normalized_shape, weight, bias, eps)[0]


def rms_norm(input: Value, normalized_shape: Any, weight: Value = None, eps: float | None = None) -> Value:
    """input / sqrt(mean(input**2) + eps) * weight over the last dimensions, of `normalized_shape`.

    **Arguments** eps: the dtype's machine epsilon if not given.
    """
    shape = _normalized("rms_norm", input, normalized_shape, weight, None)
    refusal("bi", "rms_norm")("", input.dtype)
    if eps is None:
        eps = dtypes.finfo(input.dtype.to_real() if input.dtype.is_complex else input.dtype).eps
    wide = input.float() if input.dtype.itemsize == 2 else input
    axes = tuple(range(input.ndim - len(shape), input.ndim))
    r = wide * rsqrt(add_number(mean(pow(wide, 2), axes, True), eps))
    if weight is not None:
        r = r * weight
    return r.to(input.dtype) if input.dtype.itemsize == 2 else r


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
    """exp(input) / sum(exp(input)) along `dim`.

    **Arguments** dtype: convert the input to it first.

    >>> import tidu as torch
    >>> torch.softmax(torch.tensor([0., 0.]), 0)
    tensor([0.5000, 0.5000])
    """
    return _called(_softmax, "softmax", input, dim, dtype, out)


def log_softmax(input: Value, dim: int, dtype: Any = None, *, out: Any = None) -> Value:
    """The logarithm of `softmax`, input - log(sum(exp(input)))."""
    return _called(_log_softmax, "log_softmax", input, dim, dtype, out)


def _called(op: Callable[..., Any], name: str, input: Value, dim: Any, dtype: Any, out: Any) -> Value:
    if dtype is not None:
        input = cast(input, dtype.np)
    if dim.__class__ is not int:
        dim = dim_index(name, dim)
    r = op(input, dim)
    return r if out is None else into(name, out, r)


def implicit_dim(name: str, ndim: int) -> int:
    """The dim that softmax took by itself before it had to be named."""
    warn(f"Implicit dimension choice for {name} has been deprecated. Change the call to include dim=X as an argument.")
    return 0 if ndim in (0, 1, 3) else 1


def f_softmax(input: Value, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None) -> Value:
    """exp(input) / sum(exp(input)) along `dim`. Source: torch.nn.functional.softmax."""
    if dim is None:
        dim = implicit_dim("softmax", input.ndim)
    return _called(_softmax, "softmax", input, dim, dtype, None)


def f_log_softmax(input: Value, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None) -> Value:
    """input - log(sum(exp(input))) along `dim`. Source: torch.nn.functional.log_softmax."""
    if dim is None:
        dim = implicit_dim("log_softmax", input.ndim)
    return _called(_log_softmax, "log_softmax", input, dim, dtype, None)


def softmin(input: Value, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None) -> Value:
    """softmax(-input)."""
    if dim is None:
        dim = implicit_dim("softmin", input.ndim)
    return softmax(-input, dim, dtype)


def gumbel_softmax(logits: Value, tau: float = 1, hard: bool = False, eps: float = 1e-10, dim: int = -1) -> Value:
    """A sample that is nearly one-hot: softmax((logits + gumbel noise) / tau); `hard` makes it one-hot.

    With `hard` the value is one-hot and the gradient that of the soft sample.
    """
    if eps != 1e-10:
        warn("`eps` parameter is deprecated and has no effect.")
    noise = -logits.detach().contiguous().clone().exponential_().log()
    y = softmax((logits + noise) / tau, dim)
    if not hard:
        return y
    index = y.max(dim, keepdim=True)[1]
    one = y.detach() * 0
    return one.scatter_(dim, index, 1.0) - y.detach() + y
