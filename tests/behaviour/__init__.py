"""Small programs about autograd, and what PyTorch prints for each.

A topic is a module of functions that take `torch`, the library, and print. `recorded/<topic>.json` holds what PyTorch
printed; the tests hold tidu against that, parity holds both against a live PyTorch. `python -m behaviour.record` (in
tests/, with PyTorch installed) writes the files anew.
"""

from __future__ import annotations

import contextlib
import importlib
import inspect
import io
import json
import re
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

from python_repr import as_here

TOPICS = "engine views hooks function functional forward_mode func anomaly graph overriding corners sparse foundation edges".split()
RECORDED = Path(__file__).parent / "recorded"


def attempt(fn: Callable[..., Any], *args: Any, **kw: Any) -> None:
    """Print what a call gives, or what it raises."""
    try:
        got = fn(*args, **kw)
    except Exception as error:
        print(f"{type(error).__name__}: {error}")
    else:
        print(got)


def programs(topic: str) -> dict[str, Callable[[Any], None]]:
    """The programs of a topic, by name, in order."""
    module = importlib.import_module(f"behaviour.{topic}")
    return {
        name: fn
        for name, fn in vars(module).items()
        if inspect.isfunction(fn)
        and fn.__module__ == module.__name__
        and list(inspect.signature(fn).parameters) == ["torch"]
    }


def text_of(program: Callable[[Any], None], torch: Any) -> str:
    """What the program prints, with the warnings that it gives and the error that it ends with."""
    out = io.StringIO()

    def show(message: Any, category: Any, *_: Any, **__: Any) -> None:
        # said once in a process; about PyTorch's own insides
        if (
            "will create a reference cycle" not in str(message)
            and "Converting a tensor with requires_grad=True" not in str(message)
            and "torch.jit" not in str(message)
            and "GraphModule" not in str(message)
            and "__array_wrap__ must accept" not in str(message)
            and category is not RuntimeWarning  # NumPy's
        ):
            print(f"{category.__name__}: {message}", file=out)

    torch.manual_seed(0)
    with warnings.catch_warnings(), contextlib.redirect_stdout(out):
        warnings.simplefilter("always")
        warnings.showwarning = show
        try:
            program(torch)
        except Exception as error:
            print(f"! {type(error).__name__}: {error}", file=out)
    text = re.sub(r"0x[0-9a-f]{6,}", "0x...", out.getvalue())
    text = re.sub(r" \(Triggered internally at [^)]*\)", "", text)
    return "\n".join(line.rstrip() for line in text.replace(torch.__name__ + ".", "torch.").splitlines())


def recorded(topic: str) -> dict[str, str]:
    """What PyTorch printed."""
    texts = json.loads((RECORDED / f"{topic}.json").read_text())
    return {name: as_here(text) for name, text in texts.items()}
