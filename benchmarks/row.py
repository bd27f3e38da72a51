"""What a benchmark row is: a name, a group with its bar, and the function that prepares it for a library."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Group:
    """Rows that are judged together; bars are ratios to PyTorch, `None` where nothing is promised.

    Args:
        title: printed above the rows.
        geomean: the geometric mean of the ratios must not exceed this.
        limit: no single ratio may exceed this.
        aim: what each row ought to reach; rows beyond it are counted, not failed.
    """

    title: str
    geomean: float | None = None
    limit: float | None = None
    aim: float | None = None


@dataclass
class Inline:
    """A statement timed in the loop itself, where calling a function would weigh as much as the op."""

    code: str
    names: dict[str, Any]


Build = Callable[[ModuleType], "Callable[[], Any] | Inline"]


@dataclass
class Row:
    """One line of the table.

    Args:
        name: unique over all rows.
        group: the group it is judged in.
        build: given ``torch`` (or what stands in for it), prepares the data and returns the step to be timed;
            what the step returns is compared between the libraries before timing.
        tol: largest difference allowed, relative to the largest magnitude in each result.
        build_jax: the same computation written for JAX, where comparing is worthwhile.
    """

    name: str
    group: Group
    build: Build
    tol: float = 1e-4
    build_jax: Build | None = field(default=None)

    def jax(self, build: Build) -> Build:
        """Decorator: `build` is this row written for the module ``jax``."""
        self.build_jax = build
        return build


ROWS: dict[str, Row] = {}


def row(name: str, group: Group, tol: float = 1e-4) -> Callable[[Build], Row]:
    """Decorator: declares the function below it as the row `name` of `group`."""

    def declare(build: Build) -> Row:
        if name in ROWS:
            raise ValueError(f"two rows are called {name!r}")
        ROWS[name] = Row(name, group, build, tol)
        return ROWS[name]

    return declare


class Inputs:
    """Data for a row, the same in every library: drawn by NumPy, handed over without a copy.

    ``Inputs(torch).normal(4, 4, grad=True)`` is a leaf tensor; each call draws new numbers.
    """

    def __init__(self, lib: ModuleType, seed: int = 0) -> None:
        self._rng = np.random.default_rng(seed)
        self._wrap: Callable[[np.ndarray], Any] = lib.numpy.asarray if lib.__name__ == "jax" else lib.from_numpy
        self._lib = lib

    def of(self, array: np.ndarray, grad: bool = False) -> Any:
        """`array` as a tensor."""
        tensor = self._wrap(array)
        return tensor.requires_grad_() if grad else tensor

    def normal(self, *shape: int, scale: float = 1.0, dtype: str = "float32", grad: bool = False) -> Any:
        """Independent normal numbers with standard deviation `scale`."""
        return self.of(np.asarray(self._rng.standard_normal(shape) * scale, dtype), grad)

    def integers(self, high: int, *shape: int) -> Any:
        """Integers from 0 to `high` - 1, as int64."""
        return self.of(self._rng.integers(0, high, shape))

    def fill(self, module: Any, scale: float = 0.1) -> Any:
        """Gives every parameter of `module` normal numbers, so that no row rests on equal default inits."""
        with self._lib.no_grad():
            for parameter in module.parameters():
                parameter.copy_(self.normal(*parameter.shape, scale=scale))
        return module
