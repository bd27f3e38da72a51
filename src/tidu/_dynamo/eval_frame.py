"""The class of compiled modules. Source: torch._dynamo.eval_frame."""

from __future__ import annotations

from ..nn.modules.module import Module


class OptimizedModule(Module):
    """The class of compiled modules; `compile` returns a module as it is, so nothing is an instance."""
