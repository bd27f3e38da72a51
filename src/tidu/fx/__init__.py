"""torch.fx as far as modules that are never traced meet it. Symbolic tracing itself is not here. Source: torch.fx."""

from __future__ import annotations

from typing import Any

from ..nn.modules.module import Module

__all__ = ["Graph", "GraphModule", "Node", "Proxy", "Tracer", "has_side_effect", "symbolic_trace", "wrap"]


def wrap(fn_or_name: Any) -> Any:
    """The function or name itself: it tells a tracer to leave a function whole, and there is no tracer. Source:
    torch.fx.wrap."""
    if not callable(fn_or_name) and not isinstance(fn_or_name, str):
        raise RuntimeError("Unsupported type for global function! Must be either a callable or string name")
    return fn_or_name


def has_side_effect(fn: Any) -> Any:
    """The function itself. Source: torch.fx.has_side_effect."""
    return fn


class GraphModule(Module):
    """The class of traced modules; nothing is an instance of it. Source: torch.fx.GraphModule."""


class Graph:
    """The class of traced programs; nothing is an instance of it. Source: torch.fx.Graph."""


class Node:
    """The class of a traced program's steps; nothing is an instance of it. Source: torch.fx.Node."""


class Proxy:
    """The class of a tracer's stand-ins for values; nothing is an instance of it. Source: torch.fx.Proxy."""


class Tracer:
    """The base of programs that trace; `trace` itself is not here. Source: torch.fx.Tracer."""

    def is_leaf_module(self, m: Any, module_qualified_name: str) -> bool:
        """Whether a module would be kept whole: those of torch.nn but for Sequential."""
        from ..nn.modules.container import Sequential

        ours = m.__module__.split(".")[:2] in ([__package__.split(".")[0], "nn"], ["torch", "nn"])
        return ours and not isinstance(m, Sequential)

    def trace(self, root: Any, concrete_args: Any = None) -> Any:
        """Raises NotImplementedError."""
        return symbolic_trace(root)


def symbolic_trace(root: Any, concrete_args: Any = None) -> Any:
    """Raises NotImplementedError: there is no symbolic tracing. Source: torch.fx.symbolic_trace."""
    raise NotImplementedError("torch.fx.symbolic_trace: tidu runs programs and does not trace them into graphs")
