"""torch.version: which PyTorch this library stands in for, and which tidu it is.

`tidu.version.tidu` is the release of this library, the number on the package index. `__version__` is what
`torch.__version__` reads, so that version checks in other packages hold: the release of PyTorch whose
behaviour is followed, with tidu's own release behind the plus.
"""

from __future__ import annotations

from .torch_version import TorchVersion

tidu: str = "0.1.0"
pytorch: str = "2.13.0"
__version__ = TorchVersion(f"{pytorch}+tidu.{tidu}")

# PyTorch's build facts, as a CPU build states them.
debug: bool = False
git_version: str | None = None
cuda: str | None = None
hip: str | None = None
rocm: str | None = None
xpu: str | None = None
