"""torch.optim: optimisers, and schedules of their learning rates."""

from __future__ import annotations

from typing import Any as _Any

from .adam import Adam
from .adamw import AdamW
from .optimizer import Optimizer
from .sgd import SGD

# The others are imported when first asked for.
_LATER = {
    "ASGD": "asgd", "Adadelta": "adadelta", "Adafactor": "_adafactor", "Adagrad": "adagrad", "Adamax": "adamax",
    "LBFGS": "lbfgs", "Muon": "_muon", "NAdam": "nadam", "RAdam": "radam", "RMSprop": "rmsprop", "Rprop": "rprop",
    "SparseAdam": "sparse_adam", "least_squares": "scipy_", "minimize": "scipy_",
}  # fmt: skip
_MODULES = frozenset(("lr_scheduler", "swa_utils", *_LATER.values()))

__all__ = [
    "ASGD", "Adadelta", "Adafactor", "Adagrad", "Adam", "AdamW", "Adamax", "LBFGS", "Muon", "NAdam", "Optimizer",
    "RAdam", "RMSprop", "Rprop", "SGD", "SparseAdam", "lr_scheduler", "swa_utils",
]  # fmt: skip


def __getattr__(name: str) -> _Any:
    from importlib import import_module

    if name in _MODULES:
        return import_module("." + name, __name__)
    if name in _LATER:
        value = globals()[name] = getattr(import_module("." + _LATER[name], __name__), name)
        return value
    from ..missing import missing_name

    raise missing_name(__name__, name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_LATER, *_MODULES})
