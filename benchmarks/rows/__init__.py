"""What is timed: one module a family. Importing this package declares every row."""

from benchmarks.rows import chains, curvature, large, layers, linear_algebra, mlp, programs, small, transforms  # noqa: F401
from benchmarks.rows.groups import GROUPS

__all__ = ["GROUPS"]
