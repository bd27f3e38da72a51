"""The names of PyTorch's public modules, and the arguments of its functions: what is lacking is listed, with the reason.

parity/absent.toml says what tidu has not; a pattern there that nothing lacking fits fails too.
"""

from __future__ import annotations

import importlib
import inspect
import re
import tomllib
import types
from pathlib import Path
from typing import Any

import pytest
import torch

from .bridge import Side

LISTED = tomllib.loads((Path(__file__).parent / "absent.toml").read_text())
MODULES = """
torch torch.accelerator torch.amp torch.autograd torch.autograd.forward_ad torch.autograd.function
torch.autograd.functional torch.autograd.grad_mode torch.autograd.graph torch.autograd.profiler torch.backends
torch.backends.cpu torch.backends.cuda torch.backends.cudnn torch.backends.mkl torch.backends.mkldnn torch.backends.mps
torch.backends.openmp torch.backends.opt_einsum torch.compiler torch.cpu torch.cuda torch.cuda.amp torch.distributions
torch.distributions.constraints torch.distributions.transforms torch.distributions.kl torch.distributions.utils
torch.fft torch.func torch.functional torch.futures torch.hub torch.jit torch.linalg torch.masked torch.mps
torch.multiprocessing torch.nested torch.nn torch.nn.attention torch.nn.functional torch.nn.grad torch.nn.init
torch.nn.modules torch.nn.parallel torch.nn.parameter torch.nn.utils torch.nn.utils.parametrizations
torch.nn.utils.parametrize torch.nn.utils.prune torch.nn.utils.rnn torch.nn.utils.stateless torch.optim
torch.optim.lr_scheduler torch.optim.swa_utils torch.overrides torch.profiler torch.quasirandom torch.random
torch.return_types torch.serialization torch.signal torch.signal.windows torch.sparse torch.special torch.storage
torch.testing torch.types torch.utils torch.utils.benchmark torch.utils.checkpoint torch.utils.data
torch.utils.data.distributed torch.utils.deterministic torch.utils.dlpack torch.utils.hooks
""".split()


def public(module: types.ModuleType) -> list[str]:
    """The names that a module is meant to give out: those it lists, and its own functions and classes."""
    listed = set(getattr(module, "__all__", ()))
    own = set()
    for name, value in list(vars(module).items()):
        home = getattr(value, "__module__", "") or ""
        if isinstance(value, types.FunctionType | type) and home == module.__name__:
            own.add(name)
    return sorted(n for n in listed | own if n[0] != "_" and hasattr(module, n))


def patterns(kind: str, module: str) -> list[tuple[re.Pattern[str], str]]:
    """What is listed for a module: patterns of names, and why."""
    return [
        (re.compile(pattern), entry["why"])
        for entry in LISTED[kind]
        if module in entry["modules"].split()
        for pattern in entry["names"].split()
    ]


def ours(side: Side, name: str) -> Any:
    return importlib.import_module(side.lib.__name__ + name.removeprefix("torch"))


def lacking(side: Side, name: str) -> list[str]:
    """What PyTorch's module, or class of tensors, gives out and ours does not."""
    if name == "torch.Tensor":
        return [n for n in dir(torch.Tensor) if n[0] != "_" and not hasattr(side.lib.Tensor, n)]
    module = ours(side, name)
    return [n for n in public(importlib.import_module(name)) if not hasattr(module, n)]


@pytest.mark.parametrize("name", [*MODULES, "torch.Tensor"])
def test_names(side: Side, name: str) -> None:
    listed = patterns("absent", name)
    unlisted = [n for n in lacking(side, name) if not any(p.fullmatch(n) for p, _ in listed)]
    assert not unlisted, f"{name} lacks {' '.join(unlisted)}"


def test_what_is_listed_is_lacking(side: Side) -> None:
    idle = []
    for entry in LISTED["absent"]:
        names = [n for module in entry["modules"].split() for n in lacking(side, module)]
        idle += [p for p in entry["names"].split() if not any(re.fullmatch(p, n) for n in names)]
    assert not idle, f"listed as absent, and there: {' '.join(idle)}"


def arguments(f: Any) -> list[tuple[str, str, str]] | None:
    """The names, kinds and defaults of a function's arguments; None where Python does not know them."""
    try:
        found = inspect.signature(f).parameters.values()
    except (TypeError, ValueError):
        return None

    def default(p: inspect.Parameter) -> str:
        text = "" if p.default is p.empty else re.sub(r" at 0x\w+", "", str(p.default))
        return text.replace("tidu.", "torch.").replace("torch.Size([])", "()")

    return [(p.name, p.kind.name, default(p)) for p in found]


@pytest.mark.parametrize("name", MODULES)
def test_arguments(side: Side, name: str) -> None:
    """PyTorch's functions in Python and the constructors of its classes take the same arguments here."""
    theirs, module, listed = importlib.import_module(name), ours(side, name), patterns("arguments", name)
    wrong = []
    for n in public(theirs):
        f, g = getattr(theirs, n), getattr(module, n, None)
        if g is None or not callable(f):
            continue
        want, got = arguments(f), arguments(g)
        if want is None or want == got or [k for _, k, _ in want] == ["VAR_POSITIONAL", "VAR_KEYWORD"]:
            continue
        wrong.append((n, want, got))
    unlisted = [w for w in wrong if not any(p.fullmatch(w[0]) for p, _ in listed)]
    assert not unlisted, "\n".join(f"{n}\n  want {w}\n  got  {g}" for n, w, g in unlisted)
