"""The arguments that `reduction` replaced. Source: torch.nn._reduction."""

from __future__ import annotations

import warnings
from typing import Any


def legacy_get_string(size_average: Any, reduce: Any, emit_warning: bool = True) -> str:
    """The `reduction` that `size_average` and `reduce` stand for."""
    size_average = True if size_average is None else size_average
    reduce = True if reduce is None else reduce
    got = "none" if not reduce else "mean" if size_average else "sum"
    if emit_warning:
        warnings.warn(
            f"size_average and reduce args will be deprecated, please use reduction='{got}' instead.", stacklevel=2
        )
    return got
