"""torch.library: functions of one's own as ops with a name and a derivative.

An op's function sees numbers alone: nothing in it is recorded, and what it gives may not be what it was given.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from types import ModuleType
from typing import Any

from . import ops
from .autograd.function import Function
from .core.modes import no_grad, state
from .core.tensor import Tensor
from .ops._public import Operator

__all__ = ["CustomOpDef", "custom_op", "register_autograd", "register_fake", "register_kernel", "register_vmap"]

_ops: dict[str, CustomOpDef] = {}


class _Namespace(ModuleType):
    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"'_OpNamespace' '{self.__name__}' object has no attribute '{name}'")


class CustomOpDef:
    """A function that has become an op. Source: torch.library.CustomOpDef."""

    def __init__(self, name: str, fn: Callable[..., Any], device_types: Any = None) -> None:
        space, self._name = name.split("::")
        self._qualname, self._signature = name, inspect.signature(fn)
        for p in self._signature.parameters.values():
            if p.annotation is p.empty:
                raise ValueError(
                    f"infer_schema(func): Parameter {p.name} must have a type annotation. Got func with signature "
                    f"{self._signature})"
                )
        self._dotted = f"{space}.{self._name}.default"
        self._kernel = fn
        self._vmap: Any = None
        self._backward: Any = None
        self._setup: Any = None
        self._node: Any = None
        home = vars(ops).setdefault(space, _Namespace(space))
        operator = Operator(self._name, self)
        operator.namespace = space
        setattr(home, self._name, operator)
        _ops[name] = self

    def __repr__(self) -> str:
        return f"<CustomOpDef({self._qualname})>"

    def __call__(self, *args: Any, **kw: Any) -> Any:
        bound = self._signature.bind(*args, **kw)
        bound.apply_defaults()
        args, named = bound.args, bound.kwargs
        if state.function_modes or any(
            [isinstance(x, Tensor) and (x.requires_grad or not hasattr(x, "_a")) for x in args]
        ):
            return self._function().apply(*args, named)
        return self._run(args, named)

    def _run(self, args: Any, named: dict[str, Any]) -> Any:
        with no_grad():
            out = self._kernel(*args, **named)
        given = [x._v for x in args if isinstance(x, Tensor) and hasattr(x, "_a")]
        for x in out if isinstance(out, (tuple, list)) else [out]:
            if isinstance(x, Tensor) and any([x._v is v for v in given]):
                raise RuntimeError(
                    f"{self._name} (with implementation in {inspect.getmodule(self._kernel)}): The output of this custom "
                    "operator (1) must not also be an input to this custom operator and (2) may not alias any inputs to "
                    "this custom operator or other returns. The most common way to trigger this error is if we have y = "
                    "custom_op(x) and y and x are the same Tensor. Please instead return a clone of the offending output "
                    "tensor(s) (e.g. return x.clone()) or refactor the custom operator to not return y."
                )
        return out

    def _function(self) -> Any:
        if self._node is not None:
            return self._node

        def forward(*args: Any) -> Any:
            return self._run(args[:-1], args[-1])

        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            if self._setup is not None:
                named = {"keyword_only_inputs": inputs[-1]} if inputs[-1] else {}
                self._setup(ctx=ctx, inputs=inputs[:-1], output=output, **named)

        def backward(ctx: Any, *gs: Any) -> Any:
            if self._backward is None:
                raise RuntimeError(
                    f"Trying to backward through {self._dotted} but no autograd formula was registered. Please use "
                    "register_autograd to add one."
                )
            found = self._backward(ctx, *gs)
            return (*found, None) if isinstance(found, (tuple, list)) else (found, None)

        parts = {"forward": forward, "setup_context": setup_context, "backward": backward}
        if self._vmap is not None:
            parts["vmap"] = lambda info, dims, *args: self._vmap(info, dims[:-1], *args[:-1], **args[-1])
        name = "GeneratedBackwardFor_" + self._dotted.replace(".", "_")
        self._node = type(name, (Function,), {k: staticmethod(f) for k, f in parts.items()})
        return self._node

    def register_autograd(self, backward: Callable[..., Any], /, *, setup_context: Any = None) -> None:
        """Give the op its derivative: of a context and cotangents."""
        self._backward, self._setup = backward, setup_context

    def register_kernel(self, device_types: Any, fn: Any = None, /) -> Any:
        """Another function for some devices; here there is one, the CPU."""
        if fn is None:
            return lambda fn: self.register_kernel(device_types, fn)
        if "cpu" in ([device_types] if isinstance(device_types, str) else device_types or ["cpu"]):
            self._kernel = fn
        return fn

    def register_fake(self, fn: Any, /) -> Any:
        """What the op gives where there are no numbers; nothing asks for it here."""
        return fn

    def register_vmap(self, fn: Any = None) -> Any:
        """How the op takes batches: of an info, the batch dimensions and the arguments."""
        if fn is None:
            return self.register_vmap
        self._vmap, self._node = fn, None
        return fn


def custom_op(
    name: str, fn: Any = None, /, *, mutates_args: str | Iterable[str], device_types: Any = None, schema: Any = None,
    tags: Any = None,
) -> Any:  # fmt: skip
    """Make a function with annotated parameters an op of a name `space::name`. Source: torch.library.custom_op.

    >>> import tidu as torch
    >>> @torch.library.custom_op("examples::double", mutates_args=())
    ... def double(x: torch.Tensor) -> torch.Tensor:
    ...     return x * 2
    >>> double.register_autograd(lambda ctx, g: g * 2)
    >>> torch.ops.examples.double(torch.ones(2, requires_grad=True))
    tensor([2., 2.], grad_fn=<GeneratedBackwardFor_examples_double_defaultBackward>)
    """
    if fn is None:
        return lambda fn: CustomOpDef(name, fn, device_types)
    return CustomOpDef(name, fn, device_types)


def _named(op: Any) -> CustomOpDef:
    return op if isinstance(op, CustomOpDef) else _ops[op]


def register_autograd(op: Any, backward: Callable[..., Any], /, *, setup_context: Any = None, lib: Any = None) -> None:
    """`CustomOpDef.register_autograd` of an op by its name. Source: torch.library.register_autograd."""
    _named(op).register_autograd(backward, setup_context=setup_context)


def register_kernel(op: Any, device_types: Any, func: Any = None, /, *, lib: Any = None) -> Any:
    """`CustomOpDef.register_kernel` of an op by its name. Source: torch.library.register_kernel."""
    return _named(op).register_kernel(device_types, func)


def register_fake(
    op: Any, func: Any = None, /, *, lib: Any = None, _stacklevel: int = 1, allow_override: bool = False
) -> Any:
    """`CustomOpDef.register_fake` of an op by its name. Source: torch.library.register_fake."""
    return _named(op).register_fake if func is None else func


def register_vmap(op: Any, func: Any = None, /, *, lib: Any = None) -> Any:
    """`CustomOpDef.register_vmap` of an op by its name. Source: torch.library.register_vmap."""
    return _named(op).register_vmap(func)
