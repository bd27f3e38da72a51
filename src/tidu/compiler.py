"""torch.compiler where nothing is compiled: its questions get true answers, its requests change nothing. Source:
torch.compiler."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

__all__ = [
    "allow_in_graph", "assume_constant_result", "compile", "cudagraph_mark_step_begin", "disable", "is_compiling",
    "is_dynamo_compiling", "is_exporting", "list_backends", "nested_compile_region", "reset", "set_stance",
]  # fmt: skip


def compile(
    model: Any = None, *, fullgraph: bool = False, dynamic: bool | None = None, backend: Any = "inductor",
    mode: str | None = None, options: Any = None, disable: bool = False,
) -> Any:  # fmt: skip
    """The function as it is, or the module in another that calls it: ops run one by one. As a decorator too. Source:
    torch.compile."""
    if mode is not None and options is not None:
        raise RuntimeError("Either mode or options can be specified, but both can't be specified at the same time.")
    modes = ("default", "lite", "reduce-overhead", "max-autotune-no-cudagraphs", "max-autotune")
    if mode is not None and mode not in modes and backend == "inductor":
        raise RuntimeError(f"Unrecognized mode={mode}, should be one of: {', '.join(modes)}")
    if isinstance(backend, str) and backend not in _BACKENDS:
        from ._dynamo import exc

        raise exc.InvalidBackend(
            f"Invalid backend: {backend!r}, see `torch._dynamo.list_backends()` for available backends."
        )
    if model is None:
        return lambda m: compile(m, disable=disable)
    if not callable(model):
        raise AssertionError(f"A callable function is expected, but {type(model)} is provided.")
    from ._dynamo import Module, OptimizedModule

    return OptimizedModule(model) if isinstance(model, Module) and not disable else model


_BACKENDS = frozenset(
    "aot_eager aot_eager_decomp_partition aot_eager_default_partitioner aot_ts cudagraphs eager eager_debug "
    "eager_noexcept inductor onnxrt openxla ts tvm".split()
)


def is_compiling() -> bool:
    """False: a program runs as it is written. Source: torch.compiler.is_compiling."""
    return False


def is_dynamo_compiling() -> bool:
    """False, as is_compiling. Source: torch.compiler.is_dynamo_compiling."""
    return False


def is_exporting() -> bool:
    """False: there is no export. Source: torch.compiler.is_exporting."""
    return False


def list_backends(exclude_tags: Any = ("debug", "experimental")) -> list[str]:
    """[]: there is no backend to choose. Source: torch.compiler.list_backends."""
    return []


def reset() -> None:
    """Nothing: no compiled program is kept. Source: torch.compiler.reset."""


def cudagraph_mark_step_begin() -> None:
    """Nothing: there are no CUDA graphs. Source: torch.compiler.cudagraph_mark_step_begin."""


def disable(fn: Any = None, recursive: bool = True, *, reason: str | None = None) -> Any:
    """The function itself, also as a decorator with arguments. Source: torch.compiler.disable."""
    return fn if fn is not None else lambda fn: fn


def allow_in_graph(fn: Any) -> Any:
    """The function, or list of functions, itself. Source: torch.compiler.allow_in_graph."""
    return fn


def assume_constant_result(fn: Callable[..., Any]) -> Callable[..., Any]:
    """The function itself. Source: torch.compiler.assume_constant_result."""
    return fn


def nested_compile_region(fn: Any = None, *args: Any, **kwargs: Any) -> Any:
    """The function itself. Source: torch.compiler.nested_compile_region."""
    return fn if fn is not None else lambda fn: fn


class set_stance:
    """Accepted as a call, a context and a decorator. Source: torch.compiler.set_stance."""

    def __init__(self, stance: str = "default", **options: Any) -> None:
        pass

    def __call__(self, fn: Any) -> Any:
        return fn

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exc: Any) -> None:
        pass
