"""Layouts and memory formats: names by which programs say how elements lie in memory.

tidu has dense tensors in row-major order and views of them. The other names exist so that programs which mention them
can be read, and fail where they would need the thing itself.
"""

from __future__ import annotations

from typing import Any


class _Named:
    """An object that is its name."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return "torch." + self.name

    def __reduce__(self) -> Any:
        return self.name

    def __deepcopy__(self, memo: Any) -> Any:
        return self


class layout(_Named):
    """How the elements of a tensor are stored, such as `strided`. Source: torch.layout."""

    __slots__ = ()


class memory_format(_Named):
    """In which order the dimensions lie in memory. Source: torch.memory_format."""

    __slots__ = ()


strided = layout("strided")
sparse_coo = layout("sparse_coo")
sparse_csr = layout("sparse_csr")
sparse_csc = layout("sparse_csc")
sparse_bsr = layout("sparse_bsr")
sparse_bsc = layout("sparse_bsc")
jagged = layout("jagged")

contiguous_format = legacy_contiguous_format = memory_format("contiguous_format")
preserve_format = memory_format("preserve_format")
channels_last = memory_format("channels_last")
channels_last_3d = memory_format("channels_last_3d")

NAMES = (
    "channels_last channels_last_3d contiguous_format jagged layout legacy_contiguous_format memory_format "
    "preserve_format sparse_bsc sparse_bsr sparse_coo sparse_csc sparse_csr strided"
).split()
