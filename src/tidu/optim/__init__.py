"""torch.optim: optimisers, and schedules of their learning rates."""

from __future__ import annotations

from typing import Any as _Any

from ..naming import submodule as _submodule
from ._adafactor import Adafactor
from ._muon import Muon
from .adam import Adam
from .adam_kin import Adamax, NAdam, RAdam
from .adamw import AdamW
from .lbfgs import LBFGS
from .optimizer import Optimizer
from .rates import ASGD, Adadelta, Adagrad, RMSprop, Rprop
from .sgd import SGD
from .sparse_adam import SparseAdam

# PyTorch has a file for each, by which states know the classes.
for _name in ("ASGD", "Adadelta", "Adagrad", "Adamax", "NAdam", "RAdam", "RMSprop", "Rprop"):
    _submodule(globals(), _name.lower(), _name)

# Imported when first asked for. The optimisers are all here at once, for packages that go through the namespace.
_LATER = {"least_squares": "scipy_", "minimize": "scipy_"}
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
