"""What programs ask of PyTorch's compiler in passing: answers for a library that compiles nothing. Source:
torch._dynamo."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..compiler import allow_in_graph, assume_constant_result, disable, is_compiling, list_backends, reset
from ..naming import submodule
from ..nn.modules.module import Module

__all__ = [
    "OptimizedModule", "allow_in_graph", "assume_constant_result", "config", "disable", "disallow_in_graph",
    "forbid_in_graph", "graph_break", "is_compiling", "is_dynamo_supported", "list_backends", "mark_dynamic", "mark_static",
    "mark_static_address", "maybe_mark_dynamic", "optimize", "reset",
]  # fmt: skip


class OptimizedModule(Module):
    """What `compile` makes of a module: it calls that module, has its attributes, and keeps it as `_orig_mod`."""

    def __init__(self, mod: Module) -> None:
        super().__init__()
        self._modules["_orig_mod"] = mod
        del self.__dict__["training"]  # it is the module's

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        return self._orig_mod(*args, **kwargs)

    def __len__(self) -> int:
        return len(self._orig_mod)

    def __getattr__(self, name: str) -> Any:
        mod = self.__dict__["_modules"]["_orig_mod"]
        return mod if name == "_orig_mod" else getattr(mod, name)

    def __setattr__(self, name: str, value: Any) -> None:
        own = name == "_orig_mod" or name in self.__dict__ or hasattr(type(self), name)
        super().__setattr__(name, value) if own else setattr(self._orig_mod, name, value)

    def __delattr__(self, name: str) -> None:
        delattr(self._orig_mod, name)

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *dir(self._orig_mod)})

    def __reduce__(self) -> Any:
        return type(self), (self._orig_mod,)


class _InvalidBackend(RuntimeError):
    pass


_InvalidBackend.__name__ = _InvalidBackend.__qualname__ = "InvalidBackend"
submodule(globals(), "eval_frame", OptimizedModule=OptimizedModule)


class CompileCounter:
    """A backend for `torch.compile` that counts the graphs given to it, and runs them as they are. Source:
    torch._dynamo.testing.CompileCounter."""

    def __init__(self) -> None:
        self.frame_count = self.op_count = 0

    def __call__(self, gm: Any, example_inputs: Any) -> Any:
        self.frame_count += 1
        return gm.forward

    def clear(self) -> None:
        """Count from 0 again."""
        self.__init__()  # type: ignore[misc]


submodule(globals(), "testing", CompileCounter=CompileCounter)
exc = submodule(globals(), "exc", InvalidBackend=_InvalidBackend)
# The compiler's settings: a module on which any may be set, and none matters.
config = submodule(
    globals(), "config", suppress_errors=False, cache_size_limit=8, recompile_limit=8, capture_scalar_outputs=False,
    capture_dynamic_output_shape_ops=False, assume_static_by_default=True, verbose=False, disable=True,
)  # fmt: skip


def is_dynamo_supported() -> bool:
    """False: there is no compiler. Source: torch._dynamo.is_dynamo_supported."""
    return False


def disallow_in_graph(fn: Any) -> Any:
    """The function itself. Source: torch._dynamo.disallow_in_graph."""
    return fn


forbid_in_graph = disallow_in_graph


def graph_break(msg: str = "") -> None:
    """Nothing: there is no graph to break. Source: torch._dynamo.graph_break."""


def mark_dynamic(t: Any, index: Any, **options: Any) -> None:
    """Nothing: no shape is compiled in. Source: torch._dynamo.mark_dynamic."""


maybe_mark_dynamic = mark_static = mark_dynamic


def mark_static_address(t: Any, guard: bool = True) -> None:
    """Nothing. Source: torch._dynamo.mark_static_address."""


def optimize(*args: Any, **kwargs: Any) -> Callable[[Any], Any]:
    """A decorator that returns the function itself. Source: torch._dynamo.optimize."""
    return disallow_in_graph
