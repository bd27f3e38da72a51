"""torch.optim: optimisers, and schedules of their learning rates."""

from __future__ import annotations

from typing import Any as _Any

from ..naming import sourced_all as _sourced_all
from ..naming import submodules as _submodules
from .adam import Adam, Adamax, AdamW, NAdam, RAdam, SparseAdam
from .descent import ASGD, SGD, Adadelta, Adagrad, RMSprop, Rprop
from .lbfgs import LBFGS
from .matrices import Adafactor, Muon
from .optimizer import Optimizer

_sourced_all(globals())
from .lbfgs import least_squares, minimize  # noqa: E402 (PyTorch has not these)

# PyTorch has a file for each, by which states know the classes.
_submodules(
    globals(),
    globals(),
    {name.lower(): name for name in "ASGD Adadelta Adagrad AdamW Adamax NAdam RAdam RMSprop Rprop SGD".split()}
    | {"sparse_adam": "SparseAdam"},
)

_MODULES = ("lr_scheduler", "swa_utils")  # imported when first asked for

__all__ = [
    "ASGD", "Adadelta", "Adafactor", "Adagrad", "Adam", "AdamW", "Adamax", "LBFGS", "Muon", "NAdam", "Optimizer",
    "RAdam", "RMSprop", "Rprop", "SGD", "SparseAdam", "lr_scheduler", "swa_utils",
]  # fmt: skip


def __getattr__(name: str) -> _Any:
    from importlib import import_module

    if name in _MODULES:
        return import_module("." + name, __name__)
    from ..core.errors import missing_name

    raise missing_name(__name__, name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_MODULES})
