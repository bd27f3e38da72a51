"""Sequences of different lengths: padded, and packed. Source: torch.nn.utils.rnn."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from ... import dtypes
from ...core.tensor import Tensor, tensor_of
from ...ops._make import elements
from ...ops.creation import as_tensor
from ...ops.joining import cat, stack
from ...shapes import broadcast_shapes

__all__ = [
    "PackedSequence", "invert_permutation", "pack_padded_sequence", "pack_sequence", "pad_packed_sequence",
    "pad_sequence", "unpack_sequence", "unpad_sequence",
]  # fmt: skip


class PackedSequence_(NamedTuple):
    """The fields of a packed batch."""

    data: Any
    batch_sizes: Any
    sorted_indices: Any
    unsorted_indices: Any


class PackedSequence(PackedSequence_):
    """A batch of sequences without padding: the first elements of all, then the second ones, and so on.

    Made by `pack_sequence` and `pack_padded_sequence`. Source: torch.nn.utils.rnn.PackedSequence.
    """

    __slots__ = ()

    def __new__(
        cls, data: Any, batch_sizes: Any = None, sorted_indices: Any = None, unsorted_indices: Any = None
    ) -> Any:
        if unsorted_indices is None:
            unsorted_indices = invert_permutation(sorted_indices)
        if batch_sizes is None:
            if not (isinstance(data, (list, tuple)) and len(data) == 2):
                raise AssertionError("Expected data to be a list or tuple of length 2")
            data, batch_sizes = data
        return super().__new__(cls, data, batch_sizes, sorted_indices, unsorted_indices)

    def to(self, *args: Any, **kwargs: Any) -> Any:
        """The same with its data converted."""
        data = self.data.to(*args, **kwargs)
        if data is self.data:
            return self
        return type(self)(data, self.batch_sizes, self.sorted_indices, self.unsorted_indices)

    def cpu(self, *args: Any, **kwargs: Any) -> Any:
        return self

    def pin_memory(self) -> Any:
        return self

    def double(self) -> Any:
        return self.to(dtypes.float64)

    def float(self) -> Any:
        return self.to(dtypes.float32)

    def half(self) -> Any:
        return self.to(dtypes.float16)

    def long(self) -> Any:
        return self.to(dtypes.int64)

    def int(self) -> Any:
        return self.to(dtypes.int32)

    def short(self) -> Any:
        return self.to(dtypes.int16)

    def char(self) -> Any:
        return self.to(dtypes.int8)

    def byte(self) -> Any:
        return self.to(dtypes.uint8)

    @property
    def is_cuda(self) -> bool:
        return False

    def is_pinned(self) -> bool:
        return False


def invert_permutation(permutation: Any) -> Any:
    """The permutation that undoes one; None for None. Source: torch.nn.utils.rnn.invert_permutation."""
    return None if permutation is None else tensor_of(np.argsort(permutation._a, kind="stable"))


def shown_as(name: str, t: Any) -> Any:
    """A result whose `grad_fn` shows itself as PyTorch's node, which works by other ops."""
    node = t.grad_fn
    if node is not None:
        key = name, type(node)
        if key not in _SHOWN:
            _SHOWN[key] = type(name, (type(node),), {"__slots__": ()})
        node.__class__ = _SHOWN[key]
    return t


_SHOWN: dict[Any, Any] = {}


def _positions(lengths: Any, batch: int, steps: int) -> tuple[Any, Any]:
    """Where the elements of a packed batch are in a padded (T, B, ...) one flattened to (T B, ...), and the batch
    sizes."""
    sizes = (lengths[None, :] > np.arange(steps)[:, None]).sum(1)
    sizes = sizes[sizes > 0]
    at = np.concatenate([t * batch + np.arange(n) for t, n in enumerate(sizes)]) if len(sizes) else np.zeros(0, int)
    return at.astype(np.int64), sizes.astype(np.int64)


def pack_padded_sequence(
    input: Any, lengths: Any, batch_first: bool = False, enforce_sorted: bool = True
) -> PackedSequence:
    """A padded batch of sequences, packed. Source: torch.nn.utils.rnn.pack_padded_sequence.

    Args:
        input: (T, B, ...), or (B, T, ...) if `batch_first`.
        lengths: of each sequence.
        enforce_sorted: the sequences are sorted by length, longest first; False to have them sorted.
    """
    lengths = lengths.to(dtypes.int64) if isinstance(lengths, Tensor) else as_tensor(lengths, dtype=dtypes.int64)
    n = lengths._a
    if n.ndim != 1:
        raise RuntimeError("'lengths' argument should be a 1D CPU int64 tensor, but got a tensor of other shape")
    order = None
    if not enforce_sorted:
        order = np.argsort(-n, kind="stable")
        n = n[order]
        input = input.index_select(0 if batch_first else 1, tensor_of(order))
    if batch_first:
        input = input.transpose(0, 1)
    if not input.numel():
        raise RuntimeError("Cannot pack empty tensors.")
    if n.size != input.size(1):
        raise RuntimeError(
            f"Expected `len(lengths)` to be equal to batch_size, but got {n.size} (batch_size={input.size(1)})"
        )
    if n.min() <= 0:
        raise RuntimeError(
            "Length of all samples has to be greater than 0, but found an element in 'lengths' that is <= 0"
        )
    if (n[1:] > n[:-1]).any():
        raise RuntimeError(
            "`lengths` array must be sorted in decreasing order when `enforce_sorted` is True. You can pass "
            "`enforce_sorted=False` to pack_padded_sequence and/or pack_sequence to sidestep this requirement if you "
            "do not need ONNX exportability."
        )
    steps = int(n[0])
    if steps > input.size(0):
        raise RuntimeError(
            f"Expected `len(lengths)` to be at most the padded length, but got {steps} (length={input.size(0)})"
        )
    at, sizes = _positions(n, input.size(1), input.size(0))
    data = input.reshape(-1, *input.shape[2:]).index_select(0, tensor_of(at))
    data = shown_as("PackPaddedSequenceBackward0", data)
    return PackedSequence(data, tensor_of(sizes), None if order is None else tensor_of(order), None)


def pad_packed_sequence(
    sequence: Any, batch_first: bool = False, padding_value: float = 0.0, total_length: int | None = None
) -> tuple[Any, Any]:
    """A packed batch, padded, and the lengths of the sequences. Source: torch.nn.utils.rnn.pad_packed_sequence.

    Args:
        total_length: pad to this length.
    """
    data, sizes = sequence.data, sequence.batch_sizes._a
    steps, batch = len(sizes), int(sizes[0])
    if total_length is not None:
        if total_length < steps:
            raise ValueError(
                "Expected total_length to be at least the length of the longest sequence in input, but got "
                f"total_length={total_length} and max sequence length being {steps}"
            )
        steps = total_length
    lengths = (sizes[None, :] > np.arange(batch)[:, None]).sum(1).astype(np.int64)
    at, _ = _positions(lengths, batch, steps)
    empty = data.new_full((steps * batch, *data.shape[1:]), padding_value)
    out = empty.index_copy(0, tensor_of(at), data).reshape(steps, batch, *data.shape[1:])
    out = shown_as("CopySlices", out)
    if batch_first:
        out = out.transpose(0, 1)
    n = tensor_of(lengths)
    if sequence.unsorted_indices is not None:
        back = sequence.unsorted_indices
        return out.index_select(0 if batch_first else 1, back), n[back]
    return out, n


def pad_sequence(
    sequences: Any, batch_first: bool = False, padding_value: float = 0.0, padding_side: str = "right"
) -> Any:
    """Sequences of different lengths as one tensor, (T, B, ...) or (B, T, ...). Source:
    torch.nn.utils.rnn.pad_sequence.

    >>> import tidu as torch
    >>> pad_sequence([torch.ones(3), torch.ones(1)], batch_first=True)
    tensor([[1., 1., 1.],
            [1., 0., 0.]])
    """
    if not isinstance(sequences, Iterable):
        raise RuntimeError(
            f"pad_sequence: Expected iterable for input sequences, but got arg of type: {type(sequences)}"
        )
    sequences = elements(tuple(sequences))
    if not sequences:
        raise RuntimeError("received an empty list of sequences")
    if padding_side not in ("left", "right"):
        raise RuntimeError(f"Expected padding_side to be one of left or right, but got {padding_side}.")
    first = sequences[0]
    if not first.ndim:
        raise RuntimeError("ArrayRef: invalid slice, N = 1; size = 0")
    longest, tail = max(s.size(0) for s in sequences), first.shape[1:]
    rows = []
    for s in sequences:
        missing = longest - s.size(0)
        if s.shape[1:] != tail or s.dtype is not first.dtype:  # it is copied into a tensor like the first
            shape = (s.size(0), *tail)
            broadcast_shapes(shape, s.shape)
            s = s.to(first.dtype).expand(shape)
        if missing:
            fill = s.new_full((missing, *tail), padding_value)
            s = cat([s, fill] if padding_side == "right" else [fill, s])
        rows.append(s)
    return shown_as("CopySlices", stack(rows, 0 if batch_first else 1))


def unpad_sequence(padded_sequences: Any, lengths: Any, batch_first: bool = False) -> list[Any]:
    """The sequences of a padded batch, each at its length. Source: torch.nn.utils.rnn.unpad_sequence."""
    rows = padded_sequences if batch_first else padded_sequences.transpose(0, 1)
    return [row[:n] for row, n in zip(rows.unbind(0), lengths.tolist(), strict=True)]


def pack_sequence(sequences: list[Any], enforce_sorted: bool = True) -> PackedSequence:
    """Sequences of different lengths, packed. Source: torch.nn.utils.rnn.pack_sequence."""
    lengths = [s.size(0) for s in sequences]
    return pack_padded_sequence(pad_sequence(sequences), lengths, enforce_sorted=enforce_sorted)


def unpack_sequence(packed_sequences: Any) -> list[Any]:
    """The sequences of a packed batch. Source: torch.nn.utils.rnn.unpack_sequence."""
    padded, lengths = pad_packed_sequence(packed_sequences, batch_first=True)
    return unpad_sequence(padded, lengths, batch_first=True)
