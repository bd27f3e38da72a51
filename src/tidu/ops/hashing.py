"""Hashes of tensors."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.op import Op
from ..shapes import normalize_dims
from ._reduce import Ints, into, packed

__all__ = ["hash_tensor"]
METHODS = "hash_tensor"


def _xor(input: Any, dim: Ints, keepdim: bool) -> Any:
    wide = input.astype(np.int64 if input.dtype.kind in "biu" else np.float64)
    return packed(np.bitwise_xor.reduce(wide.view(np.uint64), dim, None, None, keepdim))


_hash = Op("hash_tensor", _xor, out_arg=False)


def hash_tensor(input: Any, dim: Any = (), *, keepdim: bool = False, mode: int = 0, out: Any = None) -> Any:
    """The exclusive or of the elements' bits, each as a 64-bit float or integer, over all or some dimensions.

    Args:
        input: any real tensor; dim: an int or several, none for all; keepdim: keep reduced dimensions with size one;
        mode: which hash; 0 is the only one.

    Returns:
        A tensor of uint64, without history.

    Raises:
        RuntimeError: of another mode, or without elements and without `dim`.

    Source: torch.hash_tensor.

    >>> import tidu as torch
    >>> torch.hash_tensor(torch.tensor([[1, 2], [3, 5]]), 1)
    tensor([3, 6], dtype=torch.uint64)
    """
    if mode != 0:
        raise RuntimeError(f"Unknown hash_tensor mode: {mode}")
    d = input.dtype
    if d.is_complex or d.name in ("uint16", "uint32", "uint64"):
        raise NotImplementedError(f"\"xor_sum_cpu\" not implemented for '{d.legacy}'")
    dims = normalize_dims(dim, input.ndim)
    if input.numel() == 0:
        if dim is None or (not isinstance(dim, int) and len(dim) == 0):
            raise RuntimeError(
                "hash_tensor: Expected reduction dim to be specified for input.numel() == 0. "
                "Specify the reduction dim with the 'dim' argument."
            )
        for k in dims:
            if input.shape[k] == 0:
                raise IndexError(f"hash_tensor: Expected reduction dim {k} to have non-zero size.")
    r = _hash.call(input, dims, keepdim)
    exact = "Expected result to be of dtype uint64, but got {out_word}"
    return r if out is None else into("hash_tensor", out, r, exact)
