"""Padding: with a constant, by reflection, by the last value, around the circle.

All but the circle are one linear op each, whose adjoint adds the padding's cotangent to the places it was taken from.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..core.linear import linear
from ..core.op import Op
from ._dtypes import refusal

__all__ = ["constant_pad_nd"]
METHODS = ""

Value = Any
Ints = tuple[int, ...]

# ------------------------------------------------------------------ a constant


def _slices(shape: Sequence[int], pad: Sequence[int]) -> tuple[tuple[slice, ...], tuple[slice, ...], Ints]:
    """Where the kept part lies in the input, where in the output, and the output's shape."""
    source, target, size = [], [], []
    n = len(shape)
    for d, length in enumerate(shape):
        k = n - 1 - d
        before, after = (pad[2 * k], pad[2 * k + 1]) if 2 * k < len(pad) else (0, 0)
        source.append(slice(max(0, -before), length - max(0, -after)))
        target.append(slice(max(0, before), length + before + after - max(0, after)))
        size.append(length + before + after)
    return tuple(source), tuple(target), tuple(size)


def _constant(input: Any, pad: Ints, value: float) -> Any:
    source, target, size = _slices(input.shape, pad)
    kept = input[source]
    if kept.shape == size:
        return kept.copy()
    out = np.zeros(size, input.dtype) if value == 0 else np.full(size, value, input.dtype)
    out[target] = kept
    return out


_constant_op = Op(
    "constant_pad_nd",
    _constant,
    {"input": lambda g, pad: _constant_op.call(g, tuple(-p for p in pad), 0)},
    {"input": lambda t, pad: _constant_op.call(t, pad, 0)},
)


def constant_pad_nd(input: Value, pad: Sequence[int], value: Any = 0, *, out: Value = None) -> Value:
    """`value` put before and after, from the last dimension on: (left, right, top, bottom, ...); negative cuts off.

    Source: torch.constant_pad_nd.

    >>> import tidu as torch
    >>> torch.constant_pad_nd(torch.ones(2), (1, 2), 5.)
    tensor([5., 1., 1., 5., 5.])
    """
    pad = tuple(int(p) for p in pad)
    if len(pad) % 2:
        raise RuntimeError(f"Length of pad must be even but instead it equals {len(pad)}")
    if len(pad) > 2 * input.ndim:
        raise RuntimeError(
            "Length of pad should be no more than twice the number of dimensions of the input. Pad length is "
            f"{len(pad)}"
            f"while the input has {input.ndim}dimensions."
        )
    for k in range(len(pad) // 2):
        d = input.ndim - 1 - k
        if input.shape[d] + min(pad[2 * k], 0) + min(pad[2 * k + 1], 0) < 0:
            raise RuntimeError("narrow(): length must be non-negative.")
    return _constant_op.call(input, pad, value, out=out)


# ------------------------------------------------------------------ taken from the input


def _gather(input: Any, places: tuple[Any, ...]) -> Any:
    """The elements at the places given for each of the last dimensions."""
    for k, index in enumerate(reversed(places)):
        input = input.take(index, input.ndim - 1 - k)
    return input


def _scatter(input: Any, places: tuple[Any, ...], shape: Ints) -> Any:
    """The adjoint of `_gather`: a product with a matrix of ones and zeros for each dimension."""
    for k, index in enumerate(reversed(places)):
        axis = input.ndim - 1 - k
        length = shape[axis]
        moved = np.moveaxis(input, axis, -1)
        if index.size >= 1 and (np.diff(index) == 1).all() and index.size == length:
            continue
        out = np.zeros((*moved.shape[:-1], length), input.dtype)
        lo, hi = _run_of(index, length)
        out[..., index[lo] : index[lo] + hi - lo] = moved[..., lo:hi]
        for i in (*range(lo), *range(hi, len(index))):
            out[..., index[i]] += moved[..., i]
        input = np.moveaxis(out, -1, axis)
    return np.ascontiguousarray(input)


def _run_of(index: Any, length: int) -> tuple[int, int]:
    """The longest run of consecutive places: the middle, which is the input itself."""
    best, start = (0, 1 if len(index) else 0), 0
    for i in range(1, len(index) + 1):
        if i == len(index) or index[i] != index[i - 1] + 1:
            if i - start > best[1] - best[0]:
                best = (start, i)
            start = i
    return best


def _padded(mode: str, n: int) -> Callable[..., Any]:
    """The op of one mode for one number of dimensions."""
    name = f"{mode}_pad{n}d"
    op = linear(
        name,
        lambda input, padding, places: np.ascontiguousarray(_gather(input, places)),
        lambda g, input_shape, padding, places: back(g, padding, places, tuple(input_shape)),
        node=f"{mode.title()}Pad{n}DBackward0",
        out_arg=False,
    )
    back = linear(
        name + "_backward",
        lambda g, padding, places, shape: _scatter(g, places, shape),
        lambda g, padding, places, shape: op(g, padding, places),
        register=False,
    )
    return op


_OPS = {
    (mode, n): _padded(mode, n) for mode in ("reflection", "replication") for n in (1, 2, 3)
}  # fmt: skip


def _reflected(length: int, before: int, after: int) -> Any:
    i = np.arange(-before, length + after)
    i = np.abs(i)
    return np.where(i >= length, 2 * (length - 1) - i, i)


def _replicated(length: int, before: int, after: int) -> Any:
    return np.clip(np.arange(-before, length + after), 0, length - 1)


def _pad_from(input: Value, pad: Ints, mode: str) -> Value:
    n = len(pad) // 2
    word = "reflection" if mode == "reflect" else "replication"
    lengths = [input.shape[input.ndim - 1 - k] for k in range(n)]
    if any(d == 0 for i, d in enumerate(input.shape) if i or input.ndim == n + 1):
        raise RuntimeError(
            f"Expected {n + 1}D or {n + 2}D (batch mode) tensor with possibly 0 batch size and other non-zero "
            f"dimensions for input, but got: {list(input.shape)}"
        )
    for k in range(n):
        left, right, d = pad[2 * k], pad[2 * k + 1], input.ndim - 1 - k
        if mode == "reflect" and (left >= lengths[k] or right >= lengths[k]):
            place = 4 + 2 * k
            raise RuntimeError(
                f"Argument #{place}: Padding size should be less than the corresponding input dimension, but "
                "got: padding "
                f"({left}, {right}) at dimension {d} of input {list(input.shape)}"
            )
    sizes = [lengths[k] + pad[2 * k] + pad[2 * k + 1] for k in range(n)]
    if all(s < 1 for s in sizes):
        back = range(n - 1, -1, -1)
        have = f"{', ' if n > 1 else ''}".join(f"{'WHD'[k]}: {lengths[k]}" for k in back)
        want = " ".join(f"{'WHD'[k]}: {sizes[k]}" for k in back)
        end = " " if mode == "replicate" and n > 1 else ""
        raise RuntimeError(f"input ({have}{end}) is too small. Calculated output {want}")
    if any(s < 0 for s in sizes):
        shape = [*input.shape[: input.ndim - n], *reversed(sizes)]
        raise RuntimeError(f"Trying to create tensor with negative dimension {min(sizes)}: {shape}")
    refusal("b", f"{word}_pad{n}d")("", input.dtype)
    index = _reflected if mode == "reflect" else _replicated
    places = tuple(index(lengths[k], pad[2 * k], pad[2 * k + 1]) for k in reversed(range(n)))
    return _OPS[word, n](input, pad, places)


def _pad_circular(input: Value, pad: Ints) -> Value:
    """The middle copied, then each side from the other end, a dimension after another."""
    n = len(pad) // 2
    size = list(input.shape)
    for k in range(n):
        d = input.ndim - 1 - k
        left, right = pad[2 * k], pad[2 * k + 1]
        if left > input.shape[d] or right > input.shape[d]:
            raise RuntimeError("Padding value causes wrapping around more than once.")
        size[d] += left + right
        if size[d] < 0:
            raise RuntimeError("Negative padding value is resulting in an empty dimension")
    out = input.new_empty(tuple(size))

    place, kept = out, input
    for k in range(n):
        d = input.ndim - 1 - k
        left, right = pad[2 * k], pad[2 * k + 1]
        place = place.narrow(d, max(left, 0), size[d] - max(left, 0) - max(right, 0))
        kept = kept.narrow(d, max(-left, 0), input.shape[d] - max(-left, 0) - max(-right, 0))
    place.copy_(kept)
    for k in range(n):
        d = input.ndim - 1 - k
        left, right = max(pad[2 * k], 0), max(pad[2 * k + 1], 0)
        if left:
            out.narrow(d, 0, left).copy_(out.narrow(d, size[d] - left - right, left))
        if right:
            out.narrow(d, size[d] - right, right).copy_(out.narrow(d, left, right))
    return out


_RANKS = {2: (2, 3), 4: (3, 4), 6: (4, 5)}


def pad(input: Value, pad: Sequence[int], mode: str = "constant", value: float | None = None) -> Value:
    """The tensor made larger at its last dimensions: (left, right, top, bottom, front, back, ...).

    **Arguments** mode: "constant" (with `value`), "reflect" (mirrored at the edge, which is not repeated), "replicate"
    (the edge repeated) or "circular"; negative sizes cut off. Source: torch.nn.functional.pad.

    >>> import tidu as torch
    >>> torch.nn.functional.pad(torch.arange(3.)[None], (2, 0), "reflect")
    tensor([[2., 1., 0., 1., 2.]])
    """
    pads = tuple(int(p) for p in pad)
    if len(pads) % 2:
        raise RuntimeError("Padding length must be divisible by 2")
    if len(pads) > 2 * input.ndim:
        raise RuntimeError(
            "Padding length should be less than or equal to two times the input dimension but got padding length "
            f"{len(pads)} and input of dimension {input.ndim}"
        )
    if mode == "constant":
        return constant_pad_nd(input, pads, 0 if value is None else value)
    if value is not None and value != 0:
        raise RuntimeError(f'Padding mode "{mode}" doesn\'t take in value argument')
    if input.ndim not in _RANKS.get(len(pads), ()):
        if mode in ("reflect", "replicate", "circular"):
            raise NotImplementedError(
                f"Padding size {len(pads)} is not supported for {input.ndim}D input tensor.\n"
                "Supported combinations for non-constant padding:\n"
                "  - 2D or 3D input: padding size = 2 (pads last dimension)\n"
                "  - 3D or 4D input: padding size = 4 (pads last 2 dimensions)\n"
                "  - 4D or 5D input: padding size = 6 (pads last 3 dimensions)"
            )
        raise NotImplementedError(f"Unrecognised padding mode {mode}")
    if mode == "circular":
        return _pad_circular(input, pads)
    if mode not in ("reflect", "replicate"):
        raise NotImplementedError(f"Unrecognised padding mode {mode}")
    return _pad_from(input, pads, mode)
