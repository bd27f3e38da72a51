"""Samplers whose parameters are tensors: Bernoulli, normal, multinomial, Poisson, binomial, gamma, Dirichlet.

For the same seed the numbers are PyTorch's. No gradient flows to the parameters (it is zero), except for those of
the gamma and Dirichlet distributions.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import dtypes
from ..arrays import normal as _normal
from ..arrays import sampling
from ..core.inplace import apply_inplace, resize
from ..core.op import Op
from ..core.tensor import Tensor
from ..shapes import broadcast_shapes
from ._dtypes import refuse_overlap
from ._make import check_place, finish, refuse_grad, sizes_of
from ._sampler import (
    Array,
    drawing,
    dtype_for,
    factory,
    fill,
    float_arg,
    floating,
    int_arg,
    sampler,
    stream_of,
    unsupported,
)  # fmt: skip
from .arithmetic import not_implemented
from .random import _normal_op, normal_fill

__all__ = [
    "_sample_dirichlet", "_standard_gamma", "_standard_gamma_grad", "bernoulli", "binomial", "multinomial", "normal",
    "poisson",
]  # fmt: skip
METHODS = "bernoulli bernoulli_ multinomial"

# ------------------------------------------------------------------ Bernoulli


def _flip(input: Any, p: float, generator: Any) -> Any:
    if not 0 <= p <= 1:
        raise RuntimeError(f"bernoulli_ expects p to be in [0, 1], but got p={p:g}")
    if input.dtype.kind == "c":
        raise unsupported("bernoulli_scalar_cpu_", dtypes.from_numpy(input.dtype))
    stream = stream_of(generator, "bernoulli_")
    return fill(input, lambda shape: sampling.coin_flips(stream, shape, p).astype(input.dtype))


def _flip_each(input: Any, p: Any, generator: Any) -> Any:
    """In the shape and dtype of `input`, with the probabilities `p`, which are expanded to it."""
    d = dtypes.from_numpy(p.dtype)
    if input.dtype.kind == "c":
        raise unsupported("bernoulli_tensor_cpu_self_", dtypes.from_numpy(input.dtype))
    if d.category != dtypes.FLOATING:
        raise unsupported("bernoulli_tensor_cpu_p_", d)
    if p.size and not ((p >= 0) & (p <= 1)).all():
        raise RuntimeError(
            "Expected p_in >= 0 && p_in <= 1 to be true, but got false.  (Could this error message be improved?  If "
            "so, please report an enhancement request to PyTorch.)"
        )
    if p.shape != input.shape:
        p = _expanded(p, input.shape)
    stream = stream_of(generator, "bernoulli")
    if input.flags.c_contiguous:
        return sampling.bernoulli(stream, p).astype(input.dtype)
    order = sorted(range(input.ndim), key=lambda k: -input.strides[k])
    back = sorted(range(input.ndim), key=order.__getitem__)
    return sampling.bernoulli(stream, p.transpose(order)).transpose(back).astype(input.dtype)


def _expanded(p: Array, shape: tuple[int, ...]) -> Array:
    try:
        return np.broadcast_to(p, shape)
    except ValueError:
        pass
    if p.ndim > len(shape):
        raise RuntimeError(
            f"expand(torch.FloatTensor{{{list(p.shape)}}}, size={list(shape)}): the number of sizes provided "
            f"({len(shape)}) must be greater or equal to the number of dimensions in the tensor ({p.ndim})"
        )
    k = next(k for k in range(1, p.ndim + 1) if p.shape[-k] not in (1, shape[-k]))
    raise RuntimeError(
        f"The expanded size of the tensor ({shape[-k]}) must match the existing size ({p.shape[-k]}) at non-singleton "
        f"dimension {len(shape) - k}.  Target sizes: {list(shape)}.  Tensor sizes: {list(p.shape)}"
    )


def _bernoulli(input: Any, p: Any, generator: Any) -> Any:
    place = np.empty(input.shape, input.dtype)
    return _flip_each(place, input, generator) if p is None else _flip(place, p, generator)


_flip_op = sampler("bernoulli", _flip, "BernoulliBackward2")
_flip_each_op = sampler("bernoulli", _flip_each, "BernoulliBackward1", "input", "p")
_bernoulli_op = sampler("bernoulli", _bernoulli, "BernoulliBackward0")
_bernoulli_p_op = sampler("bernoulli", _bernoulli, "NotImplemented", rule=not_implemented("bernoulli"))


def bernoulli(input: Tensor, p: float | None = None, *, generator: Any = None, out: Any = None) -> Tensor:
    """1 with probability `input`, place by place, else 0; with probability `p` if given.

    Args:
        input: the probabilities, of a floating type. With `p` only its shape and dtype matter.
        generator: where the numbers come from; by default the default generator.
        out: a tensor to write into.

    Raises:
        RuntimeError: probabilities outside [0, 1].

    >>> import tidu as torch
    >>> _ = torch.manual_seed(0)
    >>> torch.bernoulli(torch.tensor([0.5, 0.5, 0.]))
    tensor([1., 0., 0.])
    """
    if p is not None:
        p = float_arg(p, "bernoulli", "p", 2)
    if out is None:
        op = _bernoulli_op if p is None else _bernoulli_p_op
        return op.call(input, p, generator)
    for t in (input, out):
        refuse_grad(t, "bernoulli")
    refuse_overlap(out, ())
    place = out._a if out._a.shape == input.shape else np.empty(input.shape, out._a.dtype)
    return finish(_flip_each(place, input._a, generator), out, False)


def bernoulli_(self: Tensor, p: Any = 0.5, *, generator: Any = None) -> Tensor:
    """Fill with 1 with probability `p` (a number, or a tensor of them), else 0."""
    if isinstance(p, Tensor):
        return apply_inplace(_flip_each_op, (self, p, generator))
    return apply_inplace(_flip_op, (self, float_arg(p, "bernoulli_", "p", 1), generator))


# ------------------------------------------------------------------ normal


def _check_std(std: Any) -> None:
    if std.dtype.kind == "c":
        raise RuntimeError("normal expects standard deviation to be non-complex")
    if std.size and std.min() < 0:
        raise RuntimeError("normal expects all elements of std >= 0.0")


def _normal_tensors(mean: Any, std: Any, generator: Any) -> Any:
    """z * std + mean, each step rounded to the result's dtype."""
    like = mean if isinstance(mean, np.ndarray) else std
    if isinstance(std, np.ndarray):
        _check_std(std)
    shape = broadcast_shapes(np.shape(mean), np.shape(std))
    place = np.empty(shape, like.dtype)
    if not isinstance(std, np.ndarray):
        out = normal_fill(place, 0.0, std, generator)
    else:
        out = normal_fill(place, 0.0, 1.0, generator)
        out = (out * (std if std.ndim else std.astype(out.real.dtype))).astype(out.dtype)
    return np.asarray(out + (mean if np.ndim(mean) else out.dtype.type(mean))).astype(out.dtype, copy=False)


_normal_by_mean = sampler("normal", _normal_tensors, "NormalBackward1", "mean")
_normal_by_std = sampler("normal", _normal_tensors, "NormalBackward2", "std")
_normal_by_both = sampler("normal", _normal_tensors, "NormalBackward3", "mean", "std")


def normal(
    mean: Any, std: Any = 1.0, size: Any = None, *, generator: Any = None, out: Any = None, dtype: Any = None,
    layout: Any = None, device: Any = None, pin_memory: bool = False, requires_grad: bool = False,
) -> Tensor:  # fmt: skip
    """Normal numbers: `normal(mean, std)` with tensors or `normal(mean, std, size)`.

    Args:
        mean, std: means and standard deviations: tensors that broadcast, or a tensor and a number. The result
            has the dtype of `mean`, or of `std` where `mean` is a number.
        size: with two numbers: the sizes of the result.
        generator: where the numbers come from; by default the default generator.

    Raises:
        RuntimeError: a standard deviation below 0.

    >>> import tidu as torch
    >>> _ = torch.manual_seed(0)
    >>> torch.normal(torch.tensor([1., 10.]), 0.5)
    tensor([1.7705, 9.8533])
    """
    if size is not None:
        return _normal_sized(mean, std, size, generator, out, dtype, requires_grad, (device, pin_memory, layout))
    by_mean, by_std = isinstance(mean, Tensor), isinstance(std, Tensor)
    if not by_mean and not by_std:
        raise TypeError(
            f"normal() received an invalid combination of arguments - got ({type(mean).__name__}, "
            f"{type(std).__name__}), but expected one of:\n * (Tensor mean, Tensor std, *, torch.Generator generator = "
            "None, Tensor out = None)\n * (Tensor mean, float std = 1, *, torch.Generator generator = None, Tensor out "
            "= None)\n * (float mean, Tensor std, *, torch.Generator generator = None, Tensor out = None)\n * (float "
            "mean, float std, tuple of ints size, *, torch.Generator generator = None, Tensor out = None, torch.dtype "
            "dtype = None, torch.layout layout = None, torch.device device = None, bool pin_memory = False, bool "
            "requires_grad = False)\n"
        )
    if not by_mean:
        mean = float_arg(mean, "normal", "mean", 1)
    if not by_std:
        std = float_arg(std, "normal", "std", 2)
    if out is not None:
        return _normal_out(mean, std, generator, out)
    op = _normal_by_both if by_mean and by_std else _normal_by_mean if by_mean else _normal_by_std
    return op.call(mean, std, generator)


def _normal_out(mean: Any, std: Any, generator: Any, out: Tensor) -> Tensor:
    """The numbers drawn where `out` is to hold them, in its dtype and layout."""
    for t in (mean, std, out):
        if isinstance(t, Tensor):
            refuse_grad(t, "normal")
    scale = 1.0
    if isinstance(std, Tensor):
        _check_std(std._a)
        shape = broadcast_shapes(tuple(std.shape), np.shape(getattr(mean, "_a", mean)))
    else:  # a number is spread over `out`, whose shape therefore counts
        scale, shape = std, broadcast_shapes(tuple(mean.shape), tuple(out.shape))
    if tuple(out.shape) != shape:
        resize(out, shape)
    apply_inplace(_normal_op, (out, 0.0, scale, generator))
    if isinstance(std, Tensor):
        out.mul_(std)
    return out.add_(mean)


def _normal_sized(
    mean: Any, std: Any, size: Any, generator: Any, out: Any, dtype: Any, requires_grad: bool, place: tuple[Any, ...]
) -> Tensor:
    check_place(*place)
    if isinstance(size, int):
        raise TypeError(
            "normal() received an invalid combination of arguments - got "
            f"({type(mean).__name__}, {type(std).__name__}, int), but expected one with a tuple of ints size"
        )
    shape = sizes_of((size,), None, "normal")
    mean, std = float_arg(mean, "normal", "mean", 1), float_arg(std, "normal", "std", 2)
    d = dtype_for(dtype, out, "normal")

    def draw(s: Sequence[int], t: Any, contiguous: bool) -> Array:
        place = np.empty(0, t)
        normal_fill(place, mean, std, generator)  # checks only
        return _normal.normal(stream_of(generator, "normal"), s, t, mean, std, contiguous)

    return factory(shape, d, draw, out, requires_grad, "normal")


# ------------------------------------------------------------------ multinomial


def multinomial(
    input: Tensor, num_samples: int, replacement: bool = False, *, generator: Any = None, out: Any = None
) -> Tensor:
    """Places drawn with probabilities in proportion to `input`, a row of them for each of its rows.

    Args:
        input: weights of a floating type, not negative; a vector or a matrix.
        num_samples: how many to draw from each row.
        replacement: whether a place may be drawn more than once.
        generator: where the numbers come from; by default the default generator.
        out: an int64 tensor to write into.

    Raises:
        RuntimeError: weights that are negative, infinite, nan or all zero; more samples than places without
            replacement.

    >>> import tidu as torch
    >>> _ = torch.manual_seed(0)
    >>> torch.multinomial(torch.tensor([1., 10., 3., 0.]), 4, replacement=True)
    tensor([2, 1, 1, 2])
    """
    if not isinstance(input, Tensor):
        kind = type(input).__name__
        raise TypeError(f"multinomial(): argument 'input' (position 1) must be Tensor, not {kind}")
    n = int_arg(num_samples, "multinomial", "num_samples", 2)
    if out is not None and out.dtype is not dtypes.int64:
        raise RuntimeError(f"multinomial expects Long tensor out, got: {out.dtype.legacy}")
    a = _multinomial_op.call(input, n, replacement, generator)
    return a if out is None else finish(a._a, out, False)


def _multinomial(input: Any, num_samples: int, replacement: bool, generator: Any) -> Any:
    if input.ndim not in (1, 2):
        raise RuntimeError("prob_dist must be 1 or 2 dim")
    d = dtypes.from_numpy(input.dtype)
    if not d.is_floating_point:
        raise RuntimeError(f"multinomial only supports floating-point dtypes for input, got: {d.legacy}")
    if num_samples <= 0:
        raise RuntimeError("cannot sample n_sample <= 0 samples")
    if not replacement and num_samples > input.shape[-1]:
        raise RuntimeError("cannot sample n_sample > prob_dist.size(-1) samples without replacement")
    weights = input[None] if input.ndim == 1 else input
    if 0 in weights.strides:  # an expanded tensor is drawn row by row
        weights = np.ascontiguousarray(weights)
    if weights.size:
        _check_weights(weights, in_rows=replacement and num_samples > 1)
    stream = stream_of(generator, "multinomial")
    if replacement and num_samples > 1:
        found = sampling.multinomial(stream, weights, num_samples)
    else:
        exponentials = fill(weights, lambda shape: sampling.exponential(stream, shape, weights.dtype))
        found = sampling.choose(weights, exponentials, num_samples)
    return found[0] if input.ndim == 1 else found


def _check_weights(weights: Array, in_rows: bool) -> None:
    wide = weights.astype(np.float64, copy=False)
    low, high = wide.min(), wide.max()  # nan if there is one
    if in_rows:
        if low < 0:
            raise RuntimeError("invalid multinomial distribution (encountering probability entry < 0)")
        if not high < np.inf:
            raise RuntimeError("invalid multinomial distribution (encountering probability entry = infinity or NaN)")
    elif not (high < np.inf and low >= 0):
        raise RuntimeError("probability tensor contains either `inf`, `nan` or element < 0")
    if not (wide.sum(-1) > 0).all():
        raise RuntimeError("invalid multinomial distribution (sum of probabilities <= 0)")


_multinomial_op = sampler("multinomial", _multinomial, None)


# ------------------------------------------------------------------ Poisson and binomial


def _poisson(input: Any, generator: Any) -> Any:
    floating(input, "poisson_cpu")
    if input.size and not (input >= 0).all():
        raise RuntimeError("invalid Poisson rate, expected rate to be non-negative")
    return _normal.poisson(stream_of(generator, "poisson"), input)


_poisson_op = sampler("poisson", _poisson, "PoissonBackward0")


def poisson(input: Tensor, generator: Any = None) -> Tensor:
    """A Poisson number for every rate in `input`, in its dtype.

    Raises:
        RuntimeError: a rate below 0.

    >>> import tidu as torch
    >>> _ = torch.manual_seed(0)
    >>> torch.poisson(torch.tensor([0., 2., 100.]))
    tensor([ 0.,  6., 96.])
    """
    return _poisson_op.call(input, generator)


def _binomial(count: Any, prob: Any, generator: Any) -> Any:
    for name, a in (("count", count), ("prob", prob)):
        d = dtypes.from_numpy(a.dtype)
        if not d.is_floating_point:
            raise ValueError(f"binomial only supports floating-point dtypes for {name}, got: {d.legacy}")
    if prob.dtype != count.dtype:
        want, got = (dtypes.from_numpy(a.dtype).legacy for a in (count, prob))
        raise RuntimeError(f"Found dtype {got} but expected {want}")
    shape = broadcast_shapes(count.shape, prob.shape)
    count, prob = np.broadcast_to(count, shape), np.broadcast_to(prob, shape)
    return _normal.binomial(stream_of(generator, "binomial"), count, prob)


_binomial_op = sampler("binomial", _binomial, "NotImplemented", "count", "prob", rule=not_implemented("binomial"))


def binomial(count: Tensor, prob: Tensor, generator: Any = None) -> Tensor:
    """How many of `count` trials succeed, each with probability `prob`.

    Args:
        count, prob: tensors of one floating dtype; they broadcast.
        generator: where the numbers come from; by default the default generator.

    >>> import tidu as torch
    >>> _ = torch.manual_seed(0)
    >>> torch.binomial(torch.tensor([10., 5.]), torch.tensor([0.5, 0.4]))
    tensor([7., 2.])
    """
    return _binomial_op.call(count, prob, generator)


# ------------------------------------------------------------------ gamma and Dirichlet


def _gamma(input: Any, generator: Any) -> Any:
    d = floating(input, "gamma_cpu")
    if d.itemsize == 2:
        raise unsupported("gamma_cpu", d)
    return _normal.standard_gamma(stream_of(generator, "_standard_gamma"), input)


def _gamma_grad(input: Any, output: Any) -> Any:
    return _normal.standard_gamma_grad(input, output)


_standard_gamma_grad = Op(
    "_standard_gamma_grad",
    _gamma_grad,
    {name: not_implemented("_standard_gamma_grad") for name in ("input", "output")},
    node="NotImplemented",
    register=False,
).call
_gamma_op = drawing(
    Op(
        "_standard_gamma",
        _gamma,
        {"input": lambda g, input, out: g * _standard_gamma_grad(input, out)},
        node="StandardGammaBackward0",
        register=False,
    )
)


def _standard_gamma(input: Tensor, generator: Any = None) -> Tensor:
    """A Gamma(alpha, 1) number for every alpha in `input`; gradients flow to alpha."""
    return _gamma_op.call(input, generator)


def _dirichlet(input: Any, generator: Any) -> Any:
    d = floating(input, "dirichlet")
    if d.itemsize == 2:
        raise unsupported("dirichlet", d)
    return _normal.dirichlet(stream_of(generator, "_sample_dirichlet"), input)


_dirichlet_op = sampler("_sample_dirichlet", _dirichlet, "NotImplemented", rule=not_implemented("_sample_dirichlet"))


def _sample_dirichlet(input: Tensor, generator: Any = None) -> Tensor:
    """Dirichlet numbers along the last dimension of the concentrations `input`."""
    return _dirichlet_op.call(input, generator)
