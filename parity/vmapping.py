"""vmap against a loop: samples with a batch dimension, mapped by the library and looped over by PyTorch."""

from __future__ import annotations

from typing import Any

import torch

from .bridge import tensors_in
from .programs import Bench, _replaced

BATCH = 2
PATTERNS = ("all at 0", "first at the end")


class NotMapped(Exception):
    """PyTorch's own vmap cannot do this."""


def batched(sample: Any, pattern: str) -> tuple[list[torch.Tensor], list[torch.Tensor], list[int]]:
    """The tensors to map over, their stacked forms, and their batch dimensions."""
    found = tensors_in((sample.input, sample.args, sample.kwargs), lambda v: isinstance(v, torch.Tensor))
    chosen = [t for t in found if t.requires_grad] or found
    if not chosen:
        raise NotMapped("no tensor to map over")
    if pattern == "first at the end":
        chosen = chosen[:1]
    dims = [0 if pattern == "all at 0" else t.dim() for t in chosen]
    stacked = []
    for t, dim in zip(chosen, dims, strict=True):
        plain = t.detach().resolve_conj().resolve_neg()
        # scaled down: keeps symmetry, definiteness, triangles, probabilities
        other = plain * 0.75 if plain.is_floating_point() or plain.is_complex() else plain
        stacked.append(torch.stack([plain, other.to(plain.dtype)], dim))
    return chosen, stacked, dims


def looped(bench: Bench, sample: Any, pattern: str) -> Any:
    """PyTorch's result of each batch entry by itself, stacked; PyTorch's vmap must manage it too."""
    chosen, stacked, dims = batched(sample, pattern)
    try:
        torch.vmap(_function(bench, sample, chosen), in_dims=tuple(dims))(*stacked)
    except Exception as error:
        raise NotMapped(str(error)) from None
    each = []
    for i in range(BATCH):
        parts = [s.select(d, i) for s, d in zip(stacked, dims, strict=True)]
        each.append(_function(bench, sample, chosen)(*parts))
    return _stack(each), []


def mapped(bench: Bench, sample: Any, pattern: str) -> Any:
    chosen, stacked, dims = batched(sample, pattern)
    bench.side.forget()
    carried = bench.side.put(stacked)
    return bench.side.get("vmap")(_function(bench, sample, chosen), in_dims=tuple(dims))(*carried), []


def _function(bench: Bench, sample: Any, chosen: list[torch.Tensor]) -> Any:
    """The op as a function of the tensors that are mapped over."""
    rest, places = _put_around(bench, sample, chosen)

    def function(*parts: Any) -> Any:
        first, args, kwargs = _replaced(rest, dict(zip(places, parts, strict=True)), bench.side)
        return bench.settled(sample, bench.op(first, *args, **kwargs))

    return function


def _put_around(bench: Bench, sample: Any, chosen: list[torch.Tensor]) -> tuple[Any, list[int]]:
    kept = bench.side.put(chosen)
    rest = bench.side.put((sample.input, tuple(sample.args), dict(sample.kwargs)))
    return rest, [id(k) for k in kept]


def _stack(each: list[Any]) -> Any:
    if isinstance(each[0], torch.Tensor):
        if len({t.shape for t in each}) != 1:
            raise NotMapped("results differ in shape")
        return torch.stack(each)
    if isinstance(each[0], (tuple, list)):
        kind = type(each[0])
        items = [_stack([e[i] for e in each]) for i in range(len(each[0]))]
        return kind(items) if not hasattr(kind, "_fields") else kind(*items)
    raise NotMapped("no tensor comes out")
