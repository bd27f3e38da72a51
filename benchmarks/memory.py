"""Bytes of array that a recorded forward pass keeps alive, against PyTorch: ``python -m benchmarks.memory``.

Counted alike on both sides: the distinct buffers that the result and its graph hold and that the inputs do
not. In tidu NumPy's own allocation tracing tells; in PyTorch the storages that saved-tensor hooks see.
"""

from __future__ import annotations

import argparse
import gc
import importlib.util
import sys
import tracemalloc
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np

from benchmarks.row import Inputs

Case = Callable[[ModuleType, Any, Any, Any], Any]

# each is given torch, x (256x256), w (256x256) and 256 class indices
CASES: dict[str, Case] = {
    "x + w": lambda torch, x, w, t: x + w,
    "x * w": lambda torch, x, w, t: x * w,
    "x * 2": lambda torch, x, w, t: x * 2,
    "x ** 2": lambda torch, x, w, t: x**2,
    "exp": lambda torch, x, w, t: x.exp(),
    "tanh": lambda torch, x, w, t: torch.tanh(x),
    "relu": lambda torch, x, w, t: torch.relu(x),
    "sin": lambda torch, x, w, t: torch.sin(x),
    "gelu": lambda torch, x, w, t: torch.nn.functional.gelu(x),
    "x @ w": lambda torch, x, w, t: x @ w,
    "sum": lambda torch, x, w, t: x.sum(),
    "var": lambda torch, x, w, t: x.var(1),
    "max over a dimension": lambda torch, x, w, t: x.max(1).values,
    "transpose": lambda torch, x, w, t: x.t(),
    "cat": lambda torch, x, w, t: torch.cat([x, w]),
    "x[index]": lambda torch, x, w, t: x[t],
    "clamp": lambda torch, x, w, t: x.clamp(-1, 1),
    "where": lambda torch, x, w, t: torch.where(x > 0, x, w),
    "softmax": lambda torch, x, w, t: torch.softmax(x, -1),
    "logsumexp": lambda torch, x, w, t: torch.logsumexp(x, -1),
    "layer_norm": lambda torch, x, w, t: torch.nn.functional.layer_norm(x, (256,)),
    "cross_entropy": lambda torch, x, w, t: torch.nn.functional.cross_entropy(x, t),
    "mse_loss": lambda torch, x, w, t: torch.nn.functional.mse_loss(x, w),
    "dropout": lambda torch, x, w, t: torch.nn.functional.dropout(x, 0.5),
    "three tanh layers": lambda torch, x, w, t: torch.tanh(torch.tanh(torch.tanh(x @ w) @ w) @ w),
}


def data(torch: ModuleType) -> tuple[Any, Any, Any]:
    """The inputs of every case."""
    inputs = Inputs(torch)
    return inputs.normal(256, 256, grad=True), inputs.normal(256, 256, grad=True), inputs.integers(256, 256)


def held_by_torch(torch: ModuleType, case: Case) -> int:
    """Bytes of the storages that PyTorch saved or returned, the inputs' apart."""
    x, w, t = data(torch)
    storages: dict[int, int] = {}

    def see(tensor: Any) -> Any:
        storage = tensor.untyped_storage()
        storages[storage.data_ptr()] = storage.nbytes()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(see, lambda tensor: tensor):
        out = case(torch, x, w, t)
    see(out)
    for tensor in (x, w, t):
        storages.pop(tensor.untyped_storage().data_ptr(), None)
    return sum(storages.values())


def held_by_tidu(torch: ModuleType, case: Case) -> int:
    """Bytes of the arrays that NumPy allocated during the call and that live on after it."""
    x, w, t = data(torch)
    case(torch, x, w, t)  # whatever is made once and kept is made now
    gc.collect()
    arrays = tracemalloc.DomainFilter(True, np.lib.tracemalloc_domain)
    tracemalloc.start()
    try:
        out = case(torch, x, w, t)
        taken = tracemalloc.take_snapshot().filter_traces([arrays])
        del out
        return sum(trace.size for trace in taken.traces)
    finally:
        tracemalloc.stop()


def held(library: str) -> dict[str, int | str]:
    """Every case's bytes, or why it does not run."""
    torch = importlib.import_module(library)
    measure = held_by_torch if library == "torch" else held_by_tidu
    found: dict[str, int | str] = {}
    for name, case in CASES.items():
        try:
            found[name] = measure(torch, case)
        except Exception as error:
            found[name] = f"{type(error).__name__}: {error}"
    return found


def main(argv: list[str] | None = None) -> int:
    """Prints the table; the exit status tells whether no case keeps more than PyTorch."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.memory", description=__doc__)
    parser.parse_args(argv)
    mine = held("tidu") if importlib.util.find_spec("tidu") else {}
    other = held("torch") if importlib.util.find_spec("torch") else {}
    print(f"{'kept for backward, KiB (256x256 float32)':<42}{'tidu':>10}{'torch':>10}")
    passed = True
    for name, bytes_held in mine.items():
        texts = [
            f"{n / 1024:.0f}" if isinstance(n, int) else "missing" if n else ""
            for n in (bytes_held, other.get(name, ""))
        ]
        theirs = other.get(name)
        worse = isinstance(bytes_held, int) and isinstance(theirs, int) and bytes_held > theirs
        passed &= not worse and isinstance(bytes_held, int)
        print(f"  {name:<40}{texts[0]:>10}{texts[1]:>10}{'  more' if worse else ''}")
        if isinstance(bytes_held, str):
            print(f"      {bytes_held.splitlines()[0]}")
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main())
