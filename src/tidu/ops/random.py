"""Random numbers: factories, and the methods that fill a tensor.

For the same seed the numbers are PyTorch's: `arrays/sampling.py` has the formulas. A random number has no
derivative, so the gradient of what a method overwrites is zero.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from .. import dtypes
from ..arrays import normal as _normal
from ..arrays import sampling
from ..core.inplace import apply_inplace
from ..core.op import Op
from ..core.tensor import Tensor, dtype_word
from ..naming import warn
from ._make import check_place, sizes_of
from ._sampler import (
    Array,
    Generator,
    default_generator,
    dtype_for,
    factory,
    fill,
    float_arg,
    floating,
    get_rng_state,
    initial_seed,
    int_arg,
    like,
    manual_seed,
    sampler,
    seed,
    set_rng_state,
    stream_of,
    unsupported,
)
from .factories import _like

__all__ = [
    "Generator", "default_generator", "get_rng_state", "initial_seed", "manual_seed", "rand", "rand_like", "randint",
    "randint_like", "randn", "randn_like", "randperm", "seed", "set_rng_state",
]  # fmt: skip
METHODS = "cauchy_ exponential_ geometric_ log_normal_ normal_ random_ uniform_"

# ------------------------------------------------------------------ uniform


def _uniform(input: Any, low: float, high: float, generator: Any) -> Any:
    d = floating(input, "check_uniform_bounds", complex_too=True)
    _check_uniform(d.to_real() if d.is_complex else d, low, high)
    stream = stream_of(generator, "uniform_")
    return fill(input, lambda shape: sampling.uniform(stream, shape, input.dtype, low, high))


def _check_uniform(d: dtypes.dtype, low: float, high: float) -> None:
    if -6e4 < low <= high < 6e4:  # which all types hold
        return
    largest = dtypes.finfo(d).max
    for name, value in (("from", low), ("to", high)):
        if not -largest <= value <= largest:
            raise RuntimeError(f"{name} is out of bounds for {dtype_word(d)}")
    if low > high:
        raise RuntimeError(f"uniform_ expects to return a [from, to) range, but found from={low:g} > to={high:g}")
    if high - low > largest:
        raise RuntimeError(
            f"uniform_ expects to-from <= std::numeric_limits<{d.legacy}>::max(), but found to={high:g} and "
            f"from={low:g} which result in to-from to exceed the limit"
        )


_uniform_op = sampler("uniform", _uniform, "UniformBackward0")


def _named_bounds(fn: str, args: tuple[Any, ...], kw: dict[str, Any], defaults: tuple[Any, Any]) -> list[Any]:
    """The arguments `from` and `to`, the former of which Python cannot have as a parameter's name."""
    if len(args) > 2:
        raise TypeError(f"{fn}() takes from 0 to 2 positional arguments but {len(args)} were given")
    values = [*args, *defaults[len(args) :]]
    for k, name in enumerate(("from", "to")):
        if name in kw:
            if k < len(args):
                raise TypeError(f"{fn}() got multiple values for argument '{name}'")
            values[k] = kw.pop(name)
    if kw:
        raise TypeError(f"{fn}() got an unexpected keyword argument '{next(iter(kw))}'")
    return values


def uniform_(self: Tensor, *args: Any, generator: Any = None, **kw: Any) -> Tensor:
    """Fill with numbers uniform in [from, to): `uniform_(from=0, to=1)`.

    Raises:
        RuntimeError: from > to, or out of the dtype's range.

    >>> import tidu as torch
    >>> _ = torch.manual_seed(0)
    >>> torch.empty(3).uniform_(1, 2)
    tensor([1.4963, 1.7682, 1.0885])
    """
    low, high = _named_bounds("uniform_", args, kw, (0.0, 1.0))
    bounds = float_arg(low, "uniform_", "from", 1), float_arg(high, "uniform_", "to", 2)
    return apply_inplace(_uniform_op, (self, *bounds, generator))


def rand(
    *args: Any, size: Any = None, generator: Any = None, out: Any = None, dtype: Any = None, layout: Any = None,
    device: Any = None, pin_memory: bool = False, requires_grad: bool = False,
) -> Tensor:  # fmt: skip
    """Numbers uniform in [0, 1).

    Args:
        size: the sizes, as numbers or as one sequence.
        generator: where the numbers come from; by default the default generator.
        out: a tensor to write into.
        dtype: a floating or complex type; by default the default one.
        requires_grad: whether gradients of it are wanted.

    >>> import tidu as torch
    >>> _ = torch.manual_seed(0)
    >>> torch.rand(2, 2)
    tensor([[0.4963, 0.7682],
            [0.0885, 0.1320]])
    """
    if device is not None or pin_memory or layout is not None:
        check_place(device, pin_memory, layout)
    shape = sizes_of(args, size, "rand")
    d = dtype_for(dtype, out, "rand")
    if d.kind not in "fcV":
        raise unsupported("check_uniform_bounds", dtypes.from_numpy(d))
    stream = stream_of(generator, "rand")
    return factory(shape, d, lambda s, t, _: sampling.uniform(stream, s, t), out, requires_grad, "rand")


def rand_like(
    input: Tensor, *, generator: Any = None, dtype: Any = None, layout: Any = None, device: Any = None,
    pin_memory: bool = False, requires_grad: bool = False, memory_format: Any = None,
) -> Tensor:  # fmt: skip
    """Numbers uniform in [0, 1) in the shape and dtype of another tensor."""
    check_place(device, pin_memory, layout)
    a = _like(input, dtype, memory_format, "rand_like")
    return like(input, a, lambda v: _uniform(v, 0.0, 1.0, generator), requires_grad)


# ------------------------------------------------------------------ normal


def normal_fill(input: Any, mean: float, std: float, generator: Any) -> Any:
    if not std >= 0:
        raise RuntimeError(f"normal expects std >= 0.0, but found std {std:g}")
    floating(input, "normal_kernel_cpu", complex_too=True)
    stream = stream_of(generator, "normal_")
    contiguous = input.flags.c_contiguous
    return fill(input, lambda shape: _normal.normal(stream, shape, input.dtype, mean, std, contiguous))


_normal_op = sampler("normal", normal_fill, "NormalBackward0")


def normal_(self: Tensor, mean: float = 0.0, std: float = 1.0, *, generator: Any = None) -> Tensor:
    """Fill with normal numbers of this mean and standard deviation."""
    values = float_arg(mean, "normal_", "mean", 1), float_arg(std, "normal_", "std", 2)
    return apply_inplace(_normal_op, (self, *values, generator))


def randn(
    *args: Any, size: Any = None, generator: Any = None, out: Any = None, dtype: Any = None, layout: Any = None,
    device: Any = None, pin_memory: bool = False, requires_grad: bool = False,
) -> Tensor:  # fmt: skip
    """Normal numbers of mean 0 and variance 1.

    Args:
        size: the sizes, as numbers or as one sequence.
        generator: where the numbers come from; by default the default generator.
        out: a tensor to write into.
        dtype: a floating or complex type; by default the default one. Complex numbers have variance 1 in all.
        requires_grad: whether gradients of it are wanted.

    >>> import tidu as torch
    >>> _ = torch.manual_seed(0)
    >>> torch.randn(3)
    tensor([ 1.5410, -0.2934, -2.1788])
    """
    if device is not None or pin_memory or layout is not None:
        check_place(device, pin_memory, layout)
    shape = sizes_of(args, size, "randn")
    d = dtype_for(dtype, out, "randn")
    if d.kind not in "fcV":
        raise unsupported("normal_kernel_cpu", dtypes.from_numpy(d))
    stream = stream_of(generator, "randn")
    return factory(shape, d, lambda s, t, c: _normal.normal(stream, s, t, 0.0, 1.0, c), out, requires_grad, "randn")


def randn_like(
    input: Tensor, *, generator: Any = None, dtype: Any = None, layout: Any = None, device: Any = None,
    pin_memory: bool = False, requires_grad: bool = False, memory_format: Any = None,
) -> Tensor:  # fmt: skip
    """Normal numbers of mean 0 and variance 1 in the shape and dtype of another tensor."""
    check_place(device, pin_memory, layout)
    a = _like(input, dtype, memory_format, "randn_like")
    return like(input, a, lambda v: normal_fill(v, 0.0, 1.0, generator), requires_grad)


# ------------------------------------------------------------------ integers


def _random(input: Any, low: int | None, high: int | None, generator: Any, fn: str = "random_") -> Any:
    """All of PyTorch's random_: without bounds, up to `high`, or from `low` up to the dtype's largest."""
    d = dtypes.from_numpy(input.dtype)
    stream = stream_of(generator, fn)
    if low is None:
        if d.is_complex or d.name in ("uint16", "uint32", "uint64"):
            raise unsupported("random_kernel_cpu", d)
        return fill(input, lambda shape: sampling.random_bits(stream, shape, input.dtype))
    start, span = _range_of(d, low, high)
    return fill(input, lambda shape: sampling.random_integers(stream, shape, input.dtype, start, span))


def _range_of(d: dtypes.dtype, low: int, high: int | None) -> tuple[int, int]:
    """The first integer and how many there are, checked against what the dtype holds exactly."""
    exact = 63 if d is dtypes.int64 else sampling.DIGITS.get(d.name)
    if exact and high is not None and -(1 << exact) <= low < high <= 1 << exact:
        return low, high - low
    if d.is_complex:
        raise RuntimeError("check_random_bounds handles only integral, floating-point and boolean types")
    digits = sampling.DIGITS.get(d.name)
    if high is None:
        if low == -(1 << 63):
            return _full_range(d)
        last = 1 << digits if digits else 1 if d is dtypes.bool_ else int(np.iinfo(d.np).max)
        last = min(last, (1 << 63) - 1)
        if digits:
            low = _rounded_up(low, d, digits)
        if low > last:
            raise RuntimeError(
                "random_ expects 'from' casted to dtype to be less than or equal to 'to_inc' casted to dtype, but got "
                f"from={low} > to_inc={last}"
            )
    else:
        if low >= high:
            raise RuntimeError(f"random_ expects 'from' to be less than 'to', but got from={low} >= to={high}")
        if digits:
            low, high = _rounded_up(low, d, digits), _rounded_down(high, d, digits)
            if low >= high:
                raise RuntimeError(
                    "random_ expects 'from' casted to dtype to be less than 'to' casted to dtype, but got "
                    f"from={low} >= to={high}"
                )
        last = high - 1
    _check_range(d, low, last, digits)
    return low, last - low + 1


def _full_range(d: dtypes.dtype) -> tuple[int, int]:
    if d in (dtypes.float16, dtypes.bool_):
        raise unsupported("random_full_64_bits_range_kernel_cpu", d)
    if d not in (dtypes.int64, dtypes.float64, dtypes.float32, dtypes.bfloat16):
        raise RuntimeError("random_full_64_bits_range_kernel_cpu handles only int64, double, float and bfloat16")
    return 0, 1 << 64


def _nearest(n: int, d: dtypes.dtype) -> int:
    value = float(sampling.rounded(np.array(n), d.np))
    return int(value) if math.isfinite(value) else (1 << 63) * (1 if n > 0 else -1)


def _rounded_up(low: int, d: dtypes.dtype, digits: int) -> int:
    """`low`, or the next number above it that the type holds, if it does not hold low + 1."""
    nearest = _nearest(low + 1, d)
    return nearest + (1 << abs(low + 1).bit_length() - digits) if nearest < low else low


def _rounded_down(high: int, d: dtypes.dtype, digits: int) -> int:
    nearest = _nearest(high - 1, d)
    return nearest - (1 << abs(high - 1).bit_length() - digits) if nearest >= high else high


def _check_range(d: dtypes.dtype, low: int, last: int, digits: int | None) -> None:
    if digits:
        largest = dtypes.finfo(d).max
        smallest = -largest
    else:
        smallest, largest = (0, 1) if d is dtypes.bool_ else (np.iinfo(d.np).min, np.iinfo(d.np).max)
    for name, value in (("from", low), ("to - 1", last)):
        if not smallest <= value <= largest:
            raise RuntimeError(f"{name} is out of bounds for {dtype_word(d)}")
    for name, value in (("from", low), ("to - 1", last)):
        if digits and abs(value) > 1 << digits:
            warn(
                f"{name} is out of bounds [-(2^{digits}), 2^{digits}]. Due to precision limitations "
                f"{dtype_word(d)} can support discrete uniform distribution only within this range. This warning "
                "will become an error in version 1.7 release, please fix the code in advance"
            )


_random_ops = [sampler("random", _random, f"RandomBackward{k}") for k in range(3)]


def random_(self: Tensor, *args: Any, generator: Any = None, **kw: Any) -> Tensor:
    """Fill with integers: `random_()`, `random_(to)` or `random_(from, to)`.

    `to` is excluded. Without it they go up to the largest of the dtype, or for floating types up to 2 to the
    number of bits of the significand.

    >>> import tidu as torch
    >>> _ = torch.manual_seed(0)
    >>> torch.empty(5).random_(10)
    tensor([4., 9., 3., 0., 3.])
    """
    if len(args) == 1 and "to" not in kw and "from" not in kw:
        args = (0, *args)
        which = 1
    else:
        which = 0 if args or "from" in kw else 1 if "to" in kw else 2
    low, high = _named_bounds("random_", args, kw, (None, None))
    if which < 2:
        low = 0 if low is None else int_arg(low, "random_", "from", 1)
        high = None if high is None else int_arg(high, "random_", "to", 2)
    return apply_inplace(_random_ops[which], (self, low, high, generator, "random_"))


def randint(
    *args: Any, low: Any = 0, high: Any = None, size: Any = None, generator: Any = None, out: Any = None,
    dtype: Any = None, layout: Any = None, device: Any = None, pin_memory: bool = False, requires_grad: bool = False,
) -> Tensor:  # fmt: skip
    """Integers in [low, high): `randint(high, size)` or `randint(low, high, size)`.

    Args:
        low, high: the bounds; `low` is 0 by default, `high` is excluded.
        size: the sizes, a sequence.
        generator: where the numbers come from; by default the default generator.
        dtype: by default int64.

    Raises:
        RuntimeError: low >= high, or bounds that the dtype cannot hold.

    >>> import tidu as torch
    >>> _ = torch.manual_seed(0)
    >>> torch.randint(3, 10, (4,))
    tensor([7, 6, 3, 5])
    """
    low, high, size = _randint_arguments(args, low, high, size)
    check_place(device, pin_memory, layout)
    shape = sizes_of((tuple(size),), None, "randint")
    d = dtype_for(dtype, out, "randint", np.dtype(np.int64))
    start, span = _range_of(dtypes.from_numpy(d), low, high)
    stream = stream_of(generator, "randint")
    return factory(
        shape, d, lambda s, t, _: sampling.random_integers(stream, s, t, start, span), out, requires_grad, "randint"
    )


def _randint_arguments(args: tuple[Any, ...], low: Any, high: Any, size: Any) -> tuple[int, int, Any]:
    if size is None and args and not isinstance(args[-1], (int, float, Tensor)):
        *args, size = args  # type: ignore[assignment]
    if len(args) == 2:
        low, high = args
    elif len(args) == 1 and high is None:
        high = args[0]
    elif args:
        low = args[0]
    if size is None or isinstance(size, int) or high is None:
        if len(args) == 2 and high is not None and low == args[0]:
            size = args[1]
        got = ", ".join(type(a).__name__ for a in args)
        if len(args) == 2:
            raise TypeError(f"randint(): argument 'size' (position 2) must be tuple of ints, not {type(size).__name__}")
        raise TypeError(
            f"randint() received an invalid combination of arguments - got ({got}), but expected one of:\n * (int "
            "high, tuple of ints size, *, torch.Generator generator = None, Tensor out = None, torch.dtype dtype = "
            "None, torch.layout layout = None, torch.device device = None, bool pin_memory = False, bool requires_grad "
            "= False)\n * (int low, int high, tuple of ints size, *, torch.Generator generator = None, Tensor out = "
            "None, torch.dtype dtype = None, torch.layout layout = None, torch.device device = None, bool pin_memory = "
            "False, bool requires_grad = False)\n"
        )
    both = len(args) == 2
    return int_arg(low, "randint", "low", 1), int_arg(high, "randint", "high", 2 if both else 1), size


def randint_like(
    input: Tensor, *args: Any, low: Any = 0, high: Any = None, generator: Any = None, dtype: Any = None,
    layout: Any = None, device: Any = None, pin_memory: bool = False, requires_grad: bool = False,
    memory_format: Any = None,
) -> Tensor:  # fmt: skip
    """Integers in [low, high) in the shape and dtype of another tensor: `randint_like(input, high)` or
    `randint_like(input, low, high)`."""
    low, high, _ = _randint_arguments(args, low, high, ())
    check_place(device, pin_memory, layout)
    a = _like(input, dtype, memory_format, "randint_like")
    return like(input, a, lambda v: _random(v, low, high, generator, "randint_like"), requires_grad)


def randperm(
    n: int, *, generator: Any = None, out: Any = None, dtype: Any = None, layout: Any = None, device: Any = None,
    pin_memory: bool = False, requires_grad: bool = False,
) -> Tensor:  # fmt: skip
    """The integers 0 ... n - 1 in random order.

    Args:
        n: how many.
        generator: where the numbers come from; by default the default generator.
        dtype: by default int64.

    Raises:
        RuntimeError: n < 0, or larger than the dtype can count to.

    >>> import tidu as torch
    >>> _ = torch.manual_seed(0)
    >>> torch.randperm(4)
    tensor([0, 1, 3, 2])
    """
    check_place(device, pin_memory, layout)
    n = int_arg(n, "randperm", "n", 1)
    if n < 0:
        raise RuntimeError(f"Trying to create tensor with negative dimension {n}: [{n}]")
    d = dtype_for(dtype, out, "randperm", np.dtype(np.int64))
    kind = dtypes.from_numpy(d)
    if kind.category not in (dtypes.INTEGRAL, dtypes.FLOATING):
        raise unsupported("randperm", kind)
    digits = sampling.DIGITS.get(kind.name)
    if digits and digits != 8 and n > (1 << digits) + 1:  # PyTorch lets bfloat16 round
        raise RuntimeError(f"n cannot be greater than {(1 << digits) + 1} for {kind.legacy} type.")
    if not digits and n > np.iinfo(d).max:
        raise RuntimeError(f"value cannot be converted to type {kind.name}_t without overflow")
    stream = stream_of(generator, "randperm")

    def draw(shape: Any, *_: Any) -> Array:
        orders = [sampling.rounded(sampling.randperm(stream, n), d) for _ in range(math.prod(shape[:-1]))]
        return orders[0] if len(shape) == 1 else np.stack(orders).reshape(shape)

    return factory((n,), d, draw, out, requires_grad, "randperm")


# ------------------------------------------------------------------ functions of one uniform, or of a normal


def _filler(name: str, kernel: str, sample: Callable[..., Array], check: Callable[..., None]) -> Op:
    """The op of an in-place method with numbers for parameters: sample(stream, shape, dtype, *numbers)."""

    def forward(input: Any, numbers: tuple[float, ...], generator: Any) -> Any:
        check(dtypes.from_numpy(input.dtype), *numbers)
        stream = stream_of(generator, name + "_")
        return fill(input, lambda shape: sample(stream, shape, input.dtype, *numbers))

    return sampler(name, forward, "".join(w.capitalize() for w in name.split("_")) + "Backward0")


def _check_exponential(d: dtypes.dtype, rate: float) -> None:
    if d.category < dtypes.FLOATING:
        raise RuntimeError(
            "Exponential distribution is a continuous probability distribution. dtype must be a floating point but "
            f"you specified {d.legacy}"
        )
    if not rate > 0:
        raise RuntimeError(f"exponential_ expects lambda > 0.0, but found lambda={rate:g}")
    if d.is_complex:
        raise unsupported("exponential_cpu", d)


def _check_geometric(d: dtypes.dtype, p: float) -> None:
    if not 0 < p < 1:
        raise RuntimeError(f"geometric_ expects p to be in (0, 1), but got p={p:g}")
    if d is dtypes.bool_ or d.is_complex:
        raise unsupported("geometric_cpu", d)


def _check_cauchy(d: dtypes.dtype, median: float, sigma: float) -> None:
    if not sigma > 0:
        raise RuntimeError(f"cauchy_ expects sigma > 0.0, but found sigma={sigma:g}")
    if d.category < dtypes.FLOATING:
        raise RuntimeError(
            "Cauchy distribution is a continuous probability distribution. dtype must be a floating point but you "
            f"specified {dtype_word(d)}"
        )
    if d.is_complex:
        raise unsupported("cauchy_cpu", d)


def _check_log_normal(d: dtypes.dtype, mean: float, std: float) -> None:
    if not std > 0:
        raise RuntimeError(f"log_normal_ expects std > 0.0, but found std={std:g}")
    if d.category != dtypes.FLOATING:
        raise unsupported("log_normal_cpu", d)


_exponential_op = _filler("exponential", "exponential_cpu", sampling.exponential, _check_exponential)
_geometric_op = _filler("geometric", "geometric_cpu", sampling.geometric, _check_geometric)
_cauchy_op = _filler("cauchy", "cauchy_cpu", sampling.cauchy, _check_cauchy)
_log_normal_op = _filler("log_normal", "log_normal_cpu", _normal.log_normal, _check_log_normal)


def exponential_(self: Tensor, lambd: float = 1.0, *, generator: Any = None) -> Tensor:
    """Fill with exponential numbers, of density lambd * exp(-lambd * x)."""
    numbers = (float_arg(lambd, "exponential_", "lambd", 1),)
    return apply_inplace(_exponential_op, (self, numbers, generator))


def geometric_(self: Tensor, p: float, *, generator: Any = None) -> Tensor:
    """Fill with the numbers of trials up to the first success, of probability `p`."""
    return apply_inplace(_geometric_op, (self, (float_arg(p, "geometric_", "p", 1),), generator))


def cauchy_(self: Tensor, median: float = 0.0, sigma: float = 1.0, *, generator: Any = None) -> Tensor:
    """Fill with Cauchy numbers, of density sigma / pi / ((x - median)^2 + sigma^2)."""
    numbers = (float_arg(median, "cauchy_", "median", 1), float_arg(sigma, "cauchy_", "sigma", 2))
    return apply_inplace(_cauchy_op, (self, numbers, generator))


def log_normal_(self: Tensor, mean: float = 1.0, std: float = 2.0, *, generator: Any = None) -> Tensor:
    """Fill with exp(std * z + mean) for normal z."""
    numbers = (float_arg(mean, "log_normal_", "mean", 1), float_arg(std, "log_normal_", "std", 2))
    return apply_inplace(_log_normal_op, (self, numbers, generator))
