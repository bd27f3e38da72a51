"""Parameters as one vector, and back. Source: torch.nn.utils.convert_parameters."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ...core.tensor import Tensor
from ...ops.joining import cat

__all__ = ["parameters_to_vector", "vector_to_parameters"]


def parameters_to_vector(parameters: Iterable[Any]) -> Tensor:
    """All parameters, flattened, one after the other. Source: torch.nn.utils.parameters_to_vector."""
    return cat([p.view(-1) for p in parameters])  # type: ignore[no-any-return]


def vector_to_parameters(vec: Tensor, parameters: Iterable[Any]) -> None:
    """Take the parameters' values from a vector; they become views of it. Source:
    torch.nn.utils.vector_to_parameters."""
    if not isinstance(vec, Tensor):
        from ...legacy import typename

        raise TypeError(f"expected torch.Tensor, but got: {typename(vec)}")
    at = 0
    for p in parameters:
        n = p.numel()
        p.data = vec[at : at + n].view_as(p).data  # type: ignore[index]
        at += n
