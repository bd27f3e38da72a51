"""`import torch` brings tidu: the module `torch.x.y` is the module `tidu.x.y`, one object under two names.

`install_as_torch` puts the alias in place for this process. `tidu run` calls it before it runs a script, and
adds what child processes need (see `_torch_shim`).
"""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.metadata
import importlib.util
import sys
from collections.abc import Iterable, Sequence
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import FrameType, ModuleType
from typing import Any

from . import naming, version
from .core.errors import explain_lack, missing_name

_OURS = __package__ + "."
# Where PyTorch has the classes of modules that it has not.
_HOMES = {
    "core.modes": "autograd.grad_mode", "core.hooks": "utils.hooks", "core.node": "autograd.graph",
    "ops._sampler": "_C", "core.tensor": "", "shapes": "", "dtypes": "", "devices": "",
}  # fmt: skip


def install_as_torch() -> None:
    """Let `import torch`, `from torch import nn`, `import torch.nn.functional as F`, ... bring tidu.

    It holds for the whole process, whether or not PyTorch is installed, and must come before anything
    imports PyTorch. Calling it again changes nothing. Packages that ask for PyTorch's version get
    `2.13.0+tidu.<version>` from `torch.__version__` and from `importlib.metadata.version("torch")`.

    Raises:
        RuntimeError: PyTorch itself is already imported. Its classes are in use by then, and two
            libraries under one name would mix in ways that no message could explain.
    """
    tidu = importlib.import_module(__package__)
    present = sys.modules.get("torch")
    if present is not None and present is not tidu:
        raise RuntimeError(
            f"PyTorch is already imported, from {getattr(present, '__file__', None)}: "
            "call tidu.install_as_torch() before the first `import torch`, or run the script with `tidu run`"
        )
    if not any(isinstance(finder, TorchFinder) for finder in sys.meta_path):
        sys.meta_path.insert(0, TorchFinder())
    sys.modules["torch"] = tidu
    tidu.__name__ = "torch"  # packages compare it with what they imported
    naming.announced[:] = [enter]
    mirror()


def mirror() -> None:
    """Enter the modules that are imported under PyTorch's names too.

    Importing a module sets it as an attribute of its package. Under its second name that must not happen again, for
    the package may have a function of that name by now: `nn.utils.weight_norm`, `nn.parallel.data_parallel`.
    """
    for name, module in list(sys.modules.items()):
        if name.startswith(_OURS) and not getattr(module.__spec__, "_initializing", False):
            enter(module, name)


def enter(module: ModuleType, name: str) -> None:
    """Enter a module under PyTorch's name, and let its classes say that they are of PyTorch's module: `print(type(x))`,
    the last line of a traceback, and pickle, which finds them there as long as the alias holds."""
    alias = "torch." + name.removeprefix(_OURS)
    if alias in sys.modules:
        return
    sys.modules[alias] = module
    explain_missing_names(module)
    for value in list(module.__dict__.values()):
        if isinstance(value, type) and value.__module__.startswith(_OURS):
            home = value.__module__.removeprefix(_OURS)
            value.__module__ = ("torch." + _HOMES.get(home, home)).rstrip(".")


def is_installed_as_torch() -> bool:
    """Whether `torch` means tidu in this process."""
    return sys.modules.get("torch") is sys.modules[__package__]


class TorchFinder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds `torch` and `torch.x.y`, and the metadata of a distribution named torch.

    It stands first on sys.meta_path, so that an installed PyTorch is never looked at.
    """

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name.startswith(_OURS):
            return _mirrored(importlib.machinery.PathFinder.find_spec(name, path, target))
        if name != "torch" and not name.startswith("torch."):
            return None
        real = importlib.util.find_spec(__package__ + name.removeprefix("torch"))
        if real is None:
            if _an_import_is_asking():
                raise explain_lack(ModuleNotFoundError(f"No module named {name!r}", name=name), name)
            return None  # somebody only wants to know: importlib.util.find_spec("torch.x")
        is_package = real.submodule_search_locations is not None
        return ModuleSpec(name, self, origin=real.origin, is_package=is_package)

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        module = importlib.import_module(__package__ + spec.name.removeprefix("torch"))
        spec.loader_state = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        # The module ran when it was imported as tidu's. The import system has meanwhile written the
        # alias's spec into it; give it back its own, by which pickle, reload and repr know it.
        alias = module.__spec__
        assert alias is not None
        module.__spec__ = alias.loader_state
        explain_missing_names(module)
        mirror()

    def find_distributions(
        self, context: importlib.metadata.DistributionFinder.Context
    ) -> Iterable[importlib.metadata.Distribution]:
        if context.name == "torch":
            yield TorchDistribution()

    def invalidate_caches(self) -> None:
        pass


def _mirrored(spec: ModuleSpec | None) -> ModuleSpec | None:
    """A module's spec, by which it is entered under PyTorch's name too once it has run."""
    if spec is not None and spec.loader is not None:
        run = spec.loader.exec_module

        def exec_module(module: ModuleType) -> None:
            run(module)
            enter(module, module.__name__)

        spec.loader.exec_module = exec_module  # type: ignore[method-assign]
    return spec


def _an_import_is_asking() -> bool:
    """Whether find_spec was called to import and not by importlib.util.find_spec, which promises None."""
    frame: FrameType | None = sys._getframe(2)
    while frame is not None and frame.f_code.co_name == "_find_spec":
        frame = frame.f_back
    return frame is not None and frame.f_code.co_name == "_find_and_load_unlocked"


def explain_missing_names(module: ModuleType) -> None:
    """Give a module that has none a `__getattr__` whose error says that it is tidu that lacks the name."""
    if "__getattr__" in module.__dict__:
        return

    def __getattr__(name: str) -> Any:
        raise missing_name(module.__name__, name)

    module.__getattr__ = __getattr__  # type: ignore[method-assign]


class TorchDistribution(importlib.metadata.Distribution):
    """What importlib.metadata tells of `torch` while tidu stands in for it."""

    def read_text(self, filename: str) -> str | None:
        if filename != "METADATA":
            return None
        return f"Metadata-Version: 2.1\nName: torch\nVersion: {version.__version__}\n"

    def locate_file(self, path: Any) -> Any:
        return Path(__file__).parent.parent / path
