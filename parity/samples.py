"""Which of an op's many samples a check looks at: a few, spread over the whole list, the same every time."""

from __future__ import annotations

import functools
import itertools
import random
import warnings
from typing import Any

import numpy as np
import torch

MOST = 400  # samples drawn from a generator before choosing among them
LARGEST = 200_000  # elements in one argument


@functools.cache
def database() -> dict[str, Any]:
    """PyTorch's op database by full name (`add`, `div.floor_rounding`, `nn.functional.relu`)."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from torch.testing._internal.common_methods_invocations import op_db
    return {entry.full_name: entry for entry in op_db}


def spread(items: list[Any], count: int) -> list[Any]:
    """`count` of the items at even distances, first and last included."""
    if len(items) <= count:
        return items
    if count == 1:
        return items[:1]
    return [items[round(i * (len(items) - 1) / (count - 1))] for i in range(count)]


def samples(entry: Any, dtype: torch.dtype, count: int, grad: bool = False, reference: bool = False) -> list[Any]:
    """At most `count` sample inputs of a dtype; none where the database has none."""
    # the functions behind entry.sample_inputs(), which spends most of its time looking for the calling test
    draw = entry.reference_inputs_func if reference else entry.sample_inputs_func
    seed_all()
    try:
        found = list(itertools.islice(draw(entry, "cpu", dtype, grad), MOST))
    except Exception:
        return []
    return spread([s for s in found if fits(s)], count)


def strided(chosen: list[Any], count: int = 3) -> list[Any]:
    """A few of the samples with tensors that are not contiguous."""
    found = []
    for sample in spread(chosen, count):
        try:
            found.append(sample.noncontiguous())
        except Exception:
            continue  # some samples hold what cannot be laid out anew
    return found


def turned(chosen: list[Any], count: int = 3) -> list[Any]:
    """A few of the samples with tensors whose dimensions lie in memory in reversed order."""

    def turn(v: Any) -> Any:
        if not isinstance(v, torch.Tensor) or v.dim() < 2:
            return v
        order = tuple(reversed(range(v.dim())))
        return v.detach().permute(order).contiguous().permute(order)

    return [s.transform(turn) for s in spread(chosen, count)]


def seed_all() -> None:
    torch.default_generator.manual_seed(1234)
    np.random.seed(1234)
    random.seed(1234)


def fits(sample: Any) -> bool:
    """Strided tensors on the CPU, not too large."""
    from .bridge import tensors_in

    found = tensors_in((sample.input, sample.args, sample.kwargs), lambda v: isinstance(v, torch.Tensor))
    return all(
        t.layout is torch.strided and t.device.type == "cpu" and t.numel() <= LARGEST and not t.is_nested for t in found
    )


def summary(sample: Any) -> str:
    """A sample in a line: shapes and dtypes in place of tensors."""

    def show(value: Any) -> str:
        if isinstance(value, torch.Tensor):
            name = str(value.dtype).removeprefix("torch.")
            extra = "" if value.is_contiguous() else f", strides {value.stride()}"
            few = f" = {value.tolist()}" if value.numel() <= 2 else ""
            return f"{name}{list(value.shape)}{extra}{few}"
        if isinstance(value, (tuple, list)):
            inside = ", ".join(map(show, value))
            return f"({inside})" if isinstance(value, tuple) else f"[{inside}]"
        return repr(value)

    parts = [show(sample.input), *map(show, sample.args), *(f"{k}={show(v)}" for k, v in sample.kwargs.items())]
    return "(" + ", ".join(parts) + ")"
