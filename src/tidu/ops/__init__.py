"""The rulebook: one file a family. A family says what it gives to the library's face:

    __all__      names in the top-level namespace (tidu.exp)
    METHODS      names that are methods of Tensor (x.exp()); the function is `method_<name>` where the family
                 defines one, because the method's arguments differ from the function's, else `<name>`
    PROPERTIES   names that are properties of Tensor (x.T); the getter is `property_<name>`, the setter `set_property_<name>`
    INPLACE      ops with an in-place variant (x.exp_(), tidu.exp_)
    OPERATORS    Python's operators: {"__add__": add, ...}
"""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules
from types import ModuleType


def families() -> list[ModuleType]:
    """The modules of all families: every public file in this folder."""
    return [
        import_module(f"{__name__}.{m.name}") for m in iter_modules(__path__) if not m.name.startswith("_")
    ]
