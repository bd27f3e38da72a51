"""How the library's classes show themselves: by the names they have in PyTorch."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from importlib import import_module
from importlib.machinery import ModuleSpec
from types import FunctionType, ModuleType
from typing import Any


class Shown(type):
    """A class whose text is PyTorch's: `<class 'torch.Tensor'>`. Where it lives, pickle and help() know as ever."""

    torch_name: str | None = None

    def __repr__(cls) -> str:
        name = cls.__dict__.get("torch_name")
        if name is None:
            module = cls.__module__
            if module.split(".")[0] == __package__:
                module = "torch" + module.removeprefix(__package__)
            name = f"{module}.{cls.__qualname__}"
        return f"<class '{name}'>"


TYPES: dict[str, type] = {}  # of named results, by name


class Named(tuple, metaclass=Shown):
    """A tuple whose items have names too."""

    __slots__ = ()
    fields: tuple[str, ...] = ()

    def __new__(cls, *items: Any) -> Any:
        return tuple.__new__(cls, items[0] if len(items) == 1 and len(cls.fields) != 1 else items)

    def __repr__(self) -> str:
        inner = ",\n".join(f"{n}={v!r}" for n, v in zip(self.fields, self, strict=True))
        return f"torch.return_types.{type(self).__name__}(\n{inner})"

    def __reduce__(self) -> Any:
        return type(self), tuple(self)


def return_type(name: str, *fields: str) -> Any:
    """The result type of this name: made once, with its fields as properties."""
    if name not in TYPES:
        body: dict[str, Any] = {
            "__module__": f"{__package__}.return_types",
            "__slots__": (),
            "fields": fields,
            "n_fields": len(fields),
            "n_sequence_fields": len(fields),
        }
        for i, f in enumerate(fields):
            body[f] = property(lambda self, i=i: self[i])  # type: ignore[misc]
        TYPES[name] = Shown(name, (Named,), body)
    return TYPES[name]


def given_out(result: Any) -> Any:
    """The result type of a call with out=."""
    return return_type(result.__name__ + "_out", *result.fields)


def placed(namespace: dict[str, Any]) -> None:
    """Give a namespace's functions that are not found under their own names elsewhere their place in it, where pickle
    finds them again."""
    home = namespace["__name__"]
    for name, fn in list(namespace.items()):
        if name[0] != "_" and isinstance(fn, FunctionType):
            module = sys.modules.get(fn.__module__)
            if module is None or module.__dict__.get(fn.__qualname__) is not fn:
                fn.__module__, fn.__qualname__ = home, name


def sourced(fn: Any, name: str) -> None:
    """Say after the first paragraph of a docstring which name of PyTorch's it is about, unless it says so itself."""
    doc = fn.__doc__
    if doc and "Source:" not in doc:
        first, blank, rest = doc.partition("\n\n")
        fn.__doc__ = f"{first.rstrip()} Source: torch.{name}.{blank}{rest}"


def sourced_all(namespace: Any, path: str = "") -> None:
    """Say it of all that a namespace gives by its own name, and of its classes' methods."""
    home = namespace.get("__name__", "").partition(".")[2]  # the package goes by two names
    path = path or home
    for name, value in list(namespace.items()):
        value = getattr(value, "__func__", value)  # a static method's
        own = value.fget if isinstance(value, property) else value
        if name[0] == "_" or not isinstance(own, (FunctionType, type)):
            continue
        if own.__name__ == name and own.__module__.partition(".")[2].startswith(home):
            if isinstance(own, type):
                sourced_all(vars(own), f"{path}.{name}")
            sourced(value, f"{path}.{name}")


def warn(text: str, category: type[Warning] = UserWarning) -> None:
    """Warn of the line of the program that called the library, however many wrappers lie between."""
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == __package__:
        level, frame = level + 1, frame.f_back
    warnings.warn(text, category, stacklevel=level)


announced: list[Callable[[ModuleType, str], None]] = []  # who wants to know of modules made here


def submodule(namespace: dict[str, Any], name: str, names: str = "", /, **more: Any) -> ModuleType:
    """The module `name` of a package for which PyTorch has a file and tidu needs none, importable as such.

    Args:
        namespace: the package's own.
        name: the module's, in the package.
        names: what the module gives out of the package's namespace.
        more: what it has besides.
    """
    given = {n: namespace[n] for n in names.split()} | more
    for value in given.values():
        if isinstance(value, (FunctionType, type)):
            value.__module__ = f"{namespace['__spec__'].name}.{name}"
    return showing(namespace, name, given)


def showing(namespace: dict[str, Any], name: str, given: dict[str, Any]) -> ModuleType:
    """Such a module, for names that have their place elsewhere."""
    path = f"{namespace['__spec__'].name}.{name}"
    module = ModuleType(path)
    module.__spec__ = ModuleSpec(path, None)
    vars(module).update(given, __all__=[n for n in given if n[0] != "_"])
    module.__doc__ = f"Source: torch{path.removeprefix(__package__)}."
    sys.modules[path] = module
    for enter in announced:
        enter(module, path)
    namespace.setdefault(name, module)  # a package may have a function of that name
    return module


def submodules(package: dict[str, Any], home: dict[str, Any], files: dict[str, str]) -> None:
    """Such modules of a package for what another namespace has: names by module."""
    for name, names in files.items():
        submodule(package, name, **{n: home[n] for n in names.split()})


FACE = vars(sys.modules[__package__])  # the namespace `torch`
# Such modules that are made when they are first asked for, by what makes them.
MAKERS = {
    **dict.fromkeys(
        "__config__ _tensor accelerator export functional mps mtia nested onnx return_types storage types xpu".split(),
        "elsewhere",
    ),
    "quantization": "ao", "quasirandom": "random", "cpu.amp": "amp._old", "cuda.amp": "amp._old",
}  # fmt: skip


class Maker:
    """Finds and loads those modules."""

    @staticmethod
    def find_spec(name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        return ModuleSpec(name, Maker) if name.removeprefix(__package__ + ".") in MAKERS else None  # type: ignore[arg-type]

    @staticmethod
    def create_module(spec: ModuleSpec) -> ModuleType:
        import_module(f"{__package__}.{MAKERS[spec.name.removeprefix(__package__ + '.')]}")
        return sys.modules[spec.name]

    @staticmethod
    def exec_module(module: ModuleType) -> None:
        pass


sys.meta_path.append(Maker)
