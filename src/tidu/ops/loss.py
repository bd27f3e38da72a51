"""What losses share: reductions, their deprecated arguments; and losses between values: errors, entropies, divergences."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from .. import dtypes
from ..arrays.reduce import mean_all, sum_all
from ..arrays.rows import number
from ..arrays.threads import BIG
from ..core.broadcast import sum_to
from ..core.elementwise import F32, F64, ONE, blocked, elementwise
from ..core.modes import no_grad, state
from ..core.node import Node, freed, modified, next_seq
from ..core.op import Op, check_savable
from ..core.tensor import Tensor, live_node, new
from ..dtypes import can_cast, dtype, from_numpy, promote_types
from ..naming import warn
from ..shapes import broadcast_shapes
from ._dtypes import refusal
from ._noded import noded
from .activation import logsigmoid
from .piecewise import masked_fill, xlogy
from .pointwise import abs, exp, log, sigmoid
from .reduction import mean, sum
from .selection import clamp, clamp_min
from .windows import broadcast_tensors

__all__ = [
    "binary_cross_entropy_with_logits", "kl_div", "poisson_nll_loss",
]  # fmt: skip

Value = Any
ndarray = np.ndarray

NONE, MEAN, SUM = 0, 1, 2
_CODES = {"none": NONE, "mean": MEAN, "sum": SUM}

# PyTorch's own code adds and multiplies plain numbers by ops of another name than Python's operators.
_add = elementwise("add.number", lambda input, other: input + _like(other, input), {"input": ONE}, node="AddBackward1")
_sub = elementwise("sub.number", lambda input, other: input - _like(other, input), {"input": ONE}, node="SubBackward1")
_mul = elementwise(
    "mul.number", lambda input, other: np.asarray(input * _like(other, input)), {"input": lambda g, other: g * other},
    node="MulBackward1",
)  # fmt: skip
_div = elementwise(
    "div.number", lambda input, other: np.asarray(input / _like(other, input)), {"input": lambda g, other: g / other},
    node="DivBackward1",
)  # fmt: skip


def _like(value: float, a: Any) -> Any:
    return a.dtype.type(value)


def add_number(x: Value, value: float) -> Value:
    return _add(x, value) if x.dtype.category >= dtypes.FLOATING else x + value


def sub_number(x: Value, value: float) -> Value:
    return _sub(x, value) if x.dtype.category >= dtypes.FLOATING else x - value


def mul_number(x: Value, value: float) -> Value:
    return _mul(x, value) if x.dtype.category >= dtypes.FLOATING else x * value


def div_number(x: Value, value: float) -> Value:
    return _div(x, value) if x.dtype.category >= dtypes.FLOATING else x / value


def code(reduction: str) -> int:
    """0, 1 or 2 for "none", "mean" or "sum"; ValueError for anything else."""
    got = _CODES.get(reduction)
    if got is None:
        if reduction == "elementwise_mean":
            warn("reduction='elementwise_mean' is deprecated. Please use reduction='mean' instead.")
            return MEAN
        raise ValueError(f"{reduction} is not a valid value for reduction")
    return got


def legacy(size_average: bool | None, reduce: bool | None, reduction: str) -> str:
    """The reduction that the two deprecated arguments mean, with a warning; `reduction` where neither is given."""
    if size_average is None and reduce is None:
        return reduction
    average = True if size_average is None else size_average
    word = "none" if reduce is False else "mean" if average else "sum"
    warn(f"size_average and reduce args will be deprecated, please use reduction='{word}' instead.")
    return word


def reduced(x: Value, how: int) -> Value:
    """A value reduced by the ops that PyTorch composes."""
    return mean(x) if how == MEAN else sum(x) if how == SUM else x


def reduce_array(a: Any, how: int) -> Any:
    return mean_all(a) if how == MEAN else sum_all(a) if how == SUM else np.asarray(a)


def spread(g: Value, how: int, n: int) -> Value:
    """The cotangent of one element before the reduction."""
    return g / n if how == MEAN else g


def product(g: Value, p: Value) -> Value:
    """g * p, over the threads where that pays."""
    if p.__class__ is ndarray and p.size > BIG and g.__class__ is ndarray and g.dtype == p.dtype:
        if g.ndim == 0:
            return blocked(lambda x: x * g, p)
        return blocked(np.multiply, p, g)
    return g * p


class PairNode(Node):
    __slots__ = ("args", "versions", "x", "y")
    pull_x: Callable[..., Any]
    pull_y: Callable[..., Any]

    def apply(self, g: Any, edges: Sequence[Any], raw: bool) -> Sequence[Any]:
        versions = self.versions
        if versions is None:
            raise freed(self)
        x, y = self.x, self.y
        if x._v[0] != versions[0]:
            raise modified(self, x, x._v, versions[0])
        if y._v[0] != versions[1]:
            raise modified(self, y, y._v, versions[1])
        if raw:
            x, y = x._a, y._a
        cx = None if edges[0] is None else self.pull_x(g, x, y, *self.args)
        if len(edges) == 1:
            return (cx,)
        return cx, None if edges[1] is None else self.pull_y(g, x, y, *self.args)

    def release(self) -> None:
        self.x = self.y = self.versions = None

    def saved_arrays(self) -> Iterator[Any]:
        yield from (v._a for v in (self.x, self.y) if v is not None)


def pair_loss(
    name: str,
    values: Callable[..., Any],
    partial_x: Callable[..., Any],
    partial_y: Callable[..., Any] | None | bool,
    kernel: str,
    extra: str = "",
    wide: bool = True,
    recorded: str = "",
) -> Callable[..., Any]:
    """Declare a loss op(input, target, reduction[, extra]).

    `values(x, y[, extra])` are the elements before the reduction, `partial_x` and `partial_y` their derivatives,
    written
    over values; None for the second: minus the first; False:
    no derivative. Half precision is computed in float32 if `wide`. Shapes broadcast. `recorded` names the one node that
    a rule is where the backward pass is recorded.
    """
    tail = [extra] if extra else []
    refuse = refusal("bic", kernel)

    def elements(input: Any, target: Any, args: Any) -> Any:
        if input.dtype != target.dtype:
            both = dtypes.promote_types(dtypes.from_numpy(input.dtype), dtypes.from_numpy(target.dtype)).np
            input, target = input.astype(both, copy=False), target.astype(both, copy=False)
        dt = input.dtype
        if dt.kind not in "fV":
            refuse(name, dtypes.from_numpy(dt))
        if dt.itemsize == 2 and wide:
            return np.asarray(values(input.astype(np.float32), target.astype(np.float32), *args)).astype(dt)
        return values(input, target, *args)

    def forward(input: Any, target: Any, reduction: int, *args: Any) -> Any:
        return reduce_array(elements(input, target, args), reduction)

    def size(x: Value, y: Value) -> int:
        n = 1
        for d in np.broadcast_shapes(tuple(x.shape), tuple(y.shape)) if tuple(x.shape) != tuple(y.shape) else x.shape:
            n *= d
        return n

    def part(rule: Callable[..., Any], input: Value, target: Value, *args: Any) -> Value:
        if input.__class__ is ndarray and input.size > BIG:
            return blocked(rule, input, target, *args)
        return rule(input, target, *args)

    def pull_x(g: Value, input: Value, target: Value, reduction: int, *args: Any) -> Value:
        g = spread(g, reduction, size(input, target))
        return sum_to(product(g, part(partial_x, input, target, *args)), tuple(input.shape))

    def pull_y(g: Value, input: Value, target: Value, reduction: int, *args: Any) -> Value:
        g = spread(g, reduction, size(input, target))
        p = part(partial_y, input, target, *args) if callable(partial_y) else -part(partial_x, input, target, *args)
        return sum_to(product(g, p), tuple(target.shape))

    def push_x(t: Value, input: Value, target: Value, reduction: int, *args: Any) -> Value:
        return reduced(t * partial_x(input, target, *args), reduction)

    def push_y(t: Value, input: Value, target: Value, reduction: int, *args: Any) -> Value:
        p = partial_y(input, target, *args) if callable(partial_y) else -partial_x(input, target, *args)
        return reduced(t * p, reduction)

    reads = ["input", "target", "reduction", *tail]
    if recorded:
        pull_x = noded(recorded, signed(pull_x, ["g", *reads]), "g input target", pull_x)
        pull_y = noded(recorded, signed(pull_y, ["g", *reads]), "g input target", pull_y)
    vjp: Any = {"input": signed(pull_x, ["g", *reads])}
    jvp: Any = {"input": signed(push_x, ["t", *reads])}
    if partial_y is not False:
        vjp["target"], jvp["target"] = signed(pull_y, ["g", *reads]), signed(push_y, ["t", *reads])
    op = Op(name, signed(forward, reads), vjp, jvp, tensors=("input", "target"))
    cls: Any = type(
        op.node_name, (PairNode,),
        {"__slots__": (), "op": op, "pull_x": staticmethod(pull_x), "pull_y": staticmethod(pull_y)},
    )  # fmt: skip
    general, count = op.call, len(vjp)

    def call(input: Value, target: Value, *args: Any) -> Value:
        try:
            x, y = input._a, target._a
        except AttributeError:
            return general(input, target, *args)
        dt, record = x.dtype, state.record
        if (dt is not F32 and dt is not F64) or y.dtype is not dt or x.shape != y.shape or record.__class__ is not bool:
            return general(input, target, *args)
        each = blocked(values, x, y, *args[1:]) if x.size > BIG else values(x, y, *args[1:])
        r = reduce_array(each, args[0])
        ex = input._node if input._view is None else live_node(input)
        ey = target._node if target._view is None else live_node(target)
        t = new(Tensor)
        t._a = r
        t._v = [0]
        t._node = t._view = t._grad = t._extra = None
        if not record or (ex is None and ey is None):
            return t
        t._node = n = new(cls)
        n.seq = next_seq()
        n._hooks = None
        n.edges = (input if ex is True else ex, target if ey is True else ey)[:count]
        n.x, n.y, n.args = check_savable(input), check_savable(target), args
        n.versions = (input._v[0], target._v[0])
        return t

    call.op = op
    return call


def signed(fn: Callable[..., Any], names: Sequence[str]) -> Callable[..., Any]:
    """A function of any arguments, with names for them."""
    import inspect

    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    fn.__signature__ = inspect.Signature([inspect.Parameter(n, kind) for n in names])
    return fn


def not_differentiable(fn: str, name: str, value: Any) -> None:
    """Raise for an argument that PyTorch takes no gradient with respect to."""
    if isinstance(value, Tensor) and value.requires_grad and state.grad:
        raise RuntimeError(
            f"The function '{fn}' is not differentiable with respect to argument '{name}'. This input cannot have "
            "requires_grad True."
        )


Flag = bool | None


def _pair(fn: str, input: Value, target: Value) -> tuple[Value, Value]:
    """The two in one shape, with a warning where they had to be broadcast."""
    if input.shape == target.shape:
        return input, target
    warn(
        f"Using a target size ({target.size()}) that is different to the input size ({input.size()}). This will likely "
        "lead to incorrect results due to broadcasting. Please ensure they have the same size."
    )
    a, b = broadcast_tensors(input, target)
    return a if a.shape != input.shape else input, b if b.shape != target.shape else target


def _check_kept(found: dtype, kept: dtype) -> None:
    if not can_cast(found, kept):
        raise RuntimeError(f"result type {found.legacy} can't be cast to the desired output type {kept.legacy}")


def _check_weight(input: Value, weight: Value, reduction: str) -> None:
    if weight.size() != input.size():
        raise ValueError("Weights and input must have the same size.")
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(f"Invalid reduction mode: {reduction}. Expected one of 'none', 'mean', 'sum'.")


def _weighted(elements: Value, weight: Value, reduction: str) -> Value:
    x = elements * weight
    return x if reduction == "none" else sum(x) if reduction == "sum" else sum(x) / sum(weight)


# ------------------------------------------------------------------ errors

_mse = pair_loss(
    "mse_loss", lambda x, y: np.square(x - y), lambda x, y: (x - y) * 2, None, "mse_cpu",
    recorded="MseLossBackwardBackward0",
)  # fmt: skip
_smooth_l1 = pair_loss(
    "smooth_l1_loss",
    lambda x, y, beta: _smooth(np.abs(x - y), beta, 1 / beta if beta else 0.0),
    lambda x, y, beta: clamp((x - y) * (1 / beta), -1, 1),
    None,
    "smooth_l1_cpu",
    "beta",
    recorded="SmoothL1LossBackwardBackward0",
)
_huber = pair_loss(
    "huber_loss",
    lambda x, y, delta: _smooth(np.abs(x - y), delta, 1.0),
    lambda x, y, delta: clamp(x - y, -delta, delta),
    None,
    "huber_cpu",
    "delta",
    recorded="HuberLossBackwardBackward0",
)


def _smooth(z: Any, beta: float, scale: float) -> Any:
    """scale * z**2 / 2 up to beta, scale * beta * (z - beta / 2) from there on: with m = min(z, beta) one formula."""
    number = z.dtype.type
    m = np.minimum(z, number(beta))
    return (z - m * number(0.5)) * (m * number(scale))


def mse_loss(
    input: Value, target: Value, size_average: Flag = None, reduce: Flag = None, reduction: str = "mean",
    weight: Value = None,
) -> Value:  # fmt: skip
    """(input - target)**2, averaged, summed, or as it is.

    **Arguments** reduction: "mean", "sum" or "none"; weight: a factor for each element, by whose sum "mean" divides.

    >>> import tidu as torch
    >>> torch.nn.functional.mse_loss(torch.tensor([1., 2.]), torch.tensor([1., 4.]))
    tensor(2.)
    """
    if input.__class__ is Tensor and target.__class__ is Tensor and input.shape == target.shape:
        pass
    else:
        input, target = _pair("mse_loss", input, target)
    reduction = legacy(size_average, reduce, reduction)
    if weight is None:
        return _mse(input, target, code(reduction))
    _check_weight(input, weight, reduction)
    return _weighted((input - target) ** 2, weight, reduction)


def l1_loss(
    input: Value, target: Value, size_average: Flag = None, reduce: Flag = None, reduction: str = "mean",
    weight: Value = None,
) -> Value:  # fmt: skip
    """|input - target|, reduced."""
    input, target = _pair("l1_loss", input, target)
    reduction = legacy(size_average, reduce, reduction)
    if weight is None:
        return reduced(abs(input - target), code(reduction))
    _check_weight(input, weight, reduction)
    return _weighted(abs(input - target), weight, reduction)


def smooth_l1_loss(
    input: Value, target: Value, size_average: Flag = None, reduce: Flag = None, reduction: str = "mean",
    beta: float = 1.0,
) -> Value:  # fmt: skip
    """z**2 / (2 beta) for z = |input - target| < beta, else z - beta / 2."""
    input, target = _pair("smooth_l1_loss", input, target)
    how = code(legacy(size_average, reduce, reduction))
    if beta < 0:
        raise RuntimeError("smooth_l1_loss does not support negative values for beta.")
    return reduced(abs(input - target), how) if beta == 0 else _smooth_l1(input, target, how, beta)


def huber_loss(input: Value, target: Value, reduction: str = "mean", delta: float = 1.0, weight: Value = None) -> Value:
    """z**2 / 2 for z = |input - target| < delta, else delta * (z - delta / 2)."""
    input, target = _pair("huber_loss", input, target)
    if delta <= 0:
        raise RuntimeError("huber_loss does not support non-positive values for delta.")
    if input.dtype is not target.dtype:  # computed in one, kept in the input's
        _check_kept(promote_types(input.dtype, target.dtype), input.dtype)
        target = target.to(input.dtype)
    if weight is None:
        return _huber(input, target, code(reduction), delta)
    _check_weight(input, weight, reduction)
    r = _huber(input, target, NONE, delta) * weight
    return reduced(r, code(reduction))


# ------------------------------------------------------------------ probabilities


def _bce_forward(input: Any, target: Any, weight: Any, reduction: int) -> Any:
    if input.dtype.kind not in "fV":
        refusal("bic", "binary_cross_entropy")("", from_numpy(input.dtype))
    wide = input.astype(np.float32) if input.dtype.itemsize == 2 else input
    y = target.astype(wide.dtype, copy=False)
    kind = wide.dtype.char
    low, one = number(-100, kind), number(1, kind)
    r = np.negative(wide, np.empty_like(wide))
    np.maximum(np.log1p(r, r), low, out=r)
    np.multiply(r, y - one, r)
    logs = np.log(wide, np.empty_like(wide))
    np.multiply(np.maximum(logs, low, out=logs), y, logs)
    r = np.subtract(r, logs, r)
    if weight is not None:
        r = r * weight
    got = reduce_array(np.asarray(r).astype(input.dtype, copy=False), reduction)
    careful = reduction == NONE or got != got  # logarithms of what is outside are NaN
    if careful:
        _check_unit("input", input, careful)
    _check_unit("target", target, careful)
    return got


def _check_unit(name: str, a: Any, careful: bool) -> None:
    if not careful and a.size <= 64:  # and no NaN among them
        numbers = a.ravel().tolist()
        inside = not numbers or (min(numbers) >= 0 and max(numbers) <= 1)
    else:
        inside = not a.size or (np.minimum.reduce(a, None) >= 0 and np.maximum.reduce(a, None) <= 1)
    if not inside:
        raise RuntimeError(f"all elements of {name} should be between 0 and 1")


def _times_weight(g: Value, weight: Value) -> Value:
    return g if weight is None else g * weight


def _bce_count(shape: Any, g: Value, how: int) -> Value:
    return spread(g, how, math.prod(shape))


_bce = Op(
    "binary_cross_entropy",
    _bce_forward,
    {
        "input": lambda g, input, target, weight, reduction, input_shape: _times_weight(
            _bce_count(input_shape, g, reduction) * (input - target) / clamp_min((1 - input) * input, 1e-12), weight
        ),
        "target": lambda g, input, weight, reduction, input_shape: _times_weight(
            _bce_count(input_shape, g, reduction) * (log(1 - input) - log(input)), weight
        ),
    },
    {
        "input": lambda t, input, target, weight, reduction: reduced(
            _times_weight(t * (input - target) / clamp_min((1 - input) * input, 1e-12), weight), reduction
        ),
        "target": lambda t, input, weight, reduction: reduced(
            _times_weight(t * (log(1 - input) - log(input)), weight), reduction
        ),
    },
    tensors=("input", "target", "weight"),
)


def binary_cross_entropy(
    input: Value, target: Value, weight: Value = None, size_average: Flag = None, reduce: Flag = None,
    reduction: str = "mean",
) -> Value:  # fmt: skip
    """-target * log(input) - (1 - target) * log(1 - input), logarithms at least -100, reduced.

    **Raises** ValueError for sizes that differ, RuntimeError for inputs outside of [0, 1].
    """
    how = code(legacy(size_average, reduce, reduction))
    if target.size() != input.size():
        raise ValueError(
            f"Using a target size ({target.size()}) that is different to the input size ({input.size()}) is "
            "deprecated. Please ensure they have the same size."
        )
    if input.dtype != target.dtype:
        raise RuntimeError(f"Found dtype {target.dtype.legacy} but expected {input.dtype.legacy}")
    if weight is not None:
        not_differentiable("binary_cross_entropy", "weight", weight)
        size = broadcast_shapes(tuple(target.shape), tuple(weight.shape))
        weight = weight.expand(size)
        if size != tuple(input.shape):
            raise RuntimeError(f"output with shape {list(input.shape)} doesn't match the broadcast shape {list(size)}")
    return _bce.call(input, target, weight, how)


def _softplus_neg(x: Any) -> Any:
    """-log(sigmoid(x))."""
    return np.log1p(np.exp(-np.abs(x))) - np.minimum(x, 0)


def _logits_forward(input: Any, target: Any, weight: Any, pos_weight: Any, reduction: int) -> Any:
    dt = input.dtype
    if dt.kind not in "fV":
        refusal("bic", "log_sigmoid_cpu")("", from_numpy(dt))
    if target.dtype != dt:  # the loss is kept in the target's
        _check_kept(promote_types(from_numpy(dt), from_numpy(target.dtype)), from_numpy(target.dtype))
        dt = target.dtype
    x = input.astype(np.float32) if dt.itemsize == 2 else input
    y = target.astype(x.dtype, copy=False)
    if pos_weight is None:
        r = (1 - y) * x + _softplus_neg(x)
    else:
        r = (1 - y) * x + ((pos_weight - 1) * y + 1) * _softplus_neg(x)
    if weight is not None:
        r = r * weight
    return reduce_array(np.asarray(r).astype(dt, copy=False), reduction)


def _logits_count(g: Value, input_shape: Any, weight: Value, pos_weight: Value, how: int) -> Value:
    shapes = [input_shape, *(tuple(w.shape) for w in (weight, pos_weight) if w is not None)]
    return spread(g, how, math.prod(broadcast_shapes(*shapes)))


def _logits_partial(input: Value, target: Value, weight: Value, pos_weight: Value) -> Value:
    if pos_weight is None:
        p = sigmoid(input) - target
    else:
        w = pos_weight * target
        p = (w + 1 - target) * sigmoid(input) - w
    return _times_weight(p, weight)


def _logits_target_partial(input: Value, weight: Value, pos_weight: Value) -> Value:
    p = -input if pos_weight is None else logsigmoid(-input) - pos_weight * logsigmoid(input)
    return _times_weight(p, weight)


_logits = Op(
    "binary_cross_entropy_with_logits",
    _logits_forward,
    {
        "input": lambda g, input, target, weight, pos_weight, reduction, input_shape: sum_to(
            _logits_count(g, input_shape, weight, pos_weight, reduction)
            * _logits_partial(input, target, weight, pos_weight),
            input_shape,
        ),
        "target": lambda g, input, weight, pos_weight, reduction, input_shape: sum_to(
            _logits_count(g, input_shape, weight, pos_weight, reduction)
            * _logits_target_partial(input, weight, pos_weight),
            input_shape,
        ),
    },
    {
        "input": lambda t, input, target, weight, pos_weight, reduction: reduced(
            t * _logits_partial(input, target, weight, pos_weight), reduction
        ),
        "target": lambda t, input, weight, pos_weight, reduction: reduced(
            t * _logits_target_partial(input, weight, pos_weight), reduction
        ),
    },
    tensors=("input", "target", "weight", "pos_weight"),
)


def f_binary_cross_entropy_with_logits(
    input: Value, target: Value, weight: Value = None, size_average: Flag = None, reduce: Flag = None,
    reduction: str = "mean", pos_weight: Value = None,
) -> Value:  # fmt: skip
    """The binary cross entropy of sigmoid(input), without overflow, reduced.

    **Arguments** weight: a factor for each element; pos_weight: a factor for the targets' part, one a class. Source:
    torch.nn.functional.binary_cross_entropy_with_logits.
    """
    how = code(legacy(size_average, reduce, reduction))
    if target.size() != input.size():
        raise ValueError(f"Target size ({target.size()}) must be the same as input size ({input.size()})")
    return binary_cross_entropy_with_logits(input, target, weight, pos_weight, how)


def binary_cross_entropy_with_logits(
    input: Value, target: Value, weight: Value = None, pos_weight: Value = None, reduction: int = NONE
) -> Value:
    """`nn.functional.binary_cross_entropy_with_logits` with a number for the reduction."""
    for name, w in (("weight", weight), ("pos_weight", pos_weight)):
        if w is not None:
            not_differentiable("binary_cross_entropy_with_logits", name, w)
            broadcast_shapes(*[tuple(v.shape) for v in ((input, w) if name == "weight" else (w, input))])
    return _logits.call(input, target, weight, pos_weight, reduction)


# ------------------------------------------------------------------ divergences


def kl_div(input: Value, target: Value, reduction: int = NONE, *, log_target: bool = False) -> Value:
    """target * (log(target) - input), reduced; with `log_target` both are logarithms."""
    if not (input.dtype.category >= 2 and target.dtype.category >= 2):
        raise RuntimeError("kl_div: Integral inputs not supported.")
    if input.dtype.is_complex or target.dtype.is_complex:
        raise RuntimeError("kl_div: Complex inputs not supported.")
    if log_target:
        r = exp(target) * (target - input)
    else:
        r = xlogy(target, target) - target * input
    return reduced(r, reduction)


def f_kl_div(
    input: Value, target: Value, size_average: Flag = None, reduce: Flag = None, reduction: str = "mean",
    log_target: bool = False,
) -> Value:  # fmt: skip
    """The Kullback-Leibler divergence target * (log(target) - input) of log-probabilities `input`.

    **Arguments** reduction: also "batchmean", the sum divided by the batch size; log_target: `target` are logarithms
    too. Source: torch.nn.functional.kl_div.
    """
    if size_average is not None or reduce is not None:
        reduction = legacy(size_average, reduce, reduction)
    elif reduction == "mean":
        warn(
            "reduction: 'mean' divides the total loss by both the batch size and the support size.'batchmean' divides "
            "only by the batch size, and aligns with the KL div math definition.'mean' will be changed to behave the "
            "same as 'batchmean' in the next major release."
        )
    if reduction == "batchmean":
        total = kl_div(input, target, SUM, log_target=log_target)
        return total / input.size()[0] if input.ndim else total
    return kl_div(input, target, code(reduction), log_target=log_target)


def poisson_nll_loss(input: Value, target: Value, log_input: bool, full: bool, eps: float, reduction: int) -> Value:
    """exp(input) - target * input, or input - target * log(input + eps)."""
    loss = exp(input) - target * input if log_input else input - target * log(add_number(input, eps))
    if full:
        stirling = target * log(target) - target + 0.5 * log(2 * math.pi * target)
        loss = loss + masked_fill(stirling, target <= 1, 0)
    return reduced(loss, reduction)


def f_poisson_nll_loss(
    input: Value, target: Value, log_input: bool = True, full: bool = False, size_average: Flag = None,
    eps: float = 1e-8, reduce: Flag = None, reduction: str = "mean",
) -> Value:  # fmt: skip
    """The negative log likelihood of Poisson counts `target`, whose rate or its logarithm is `input`.

    **Arguments** full: add Stirling's approximation of log(target!). Source: torch.nn.functional.poisson_nll_loss.
    """
    reduction = legacy(size_average, reduce, reduction)
    return poisson_nll_loss(input, target, log_input, full, eps, code(reduction))


def gaussian_nll_loss(
    input: Value, target: Value, var: Value, full: bool = False, eps: float = 1e-6, reduction: str = "mean"
) -> Value:
    """(log(var) + (input - target)**2 / var) / 2, with a variance of at least `eps` that carries no gradient there.

    **Arguments** var: a number or a tensor like `input`, or one without its last dimension; full: add log(2 pi) / 2.
    """
    if isinstance(var, float):
        if var < 0:
            raise ValueError("var has negative entry/entries")
        var = var * input.new_ones(input.size())
    elif bool((var < 0).any()):
        raise ValueError("var has negative entry/entries")
    if var.size() != input.size():
        if input.size()[:-1] == var.size():
            var = var.unsqueeze(-1)
        elif not (input.size()[:-1] == var.size()[:-1] and var.size(-1) == 1):
            differ = [b for a, b in zip(input.shape, var.shape, strict=False) if a != b]
            if var.ndim != input.ndim or differ != [1]:
                raise ValueError("var is of incorrect size")
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(reduction + " is not valid")
    var = var.clone()
    _raise_to(var, eps)
    loss = 0.5 * (log(var) + (input - target) ** 2 / var)
    if full:
        loss = loss + 0.5 * math.log(2 * math.pi)
    return reduced(loss, code(reduction))


def _raise_to(var: Value, eps: float) -> None:
    """Raise a variance to `eps` in place, unrecorded: the gradient passes as if it had not been."""
    with no_grad():
        var.clamp_(min=eps)
