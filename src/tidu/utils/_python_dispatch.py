"""Modes that see what ops do beneath autograd: `TorchDispatchMode`. Source: torch.utils._python_dispatch.

What reaches a mode is the ops of forward code, after functions made of several ops have been taken apart. The backward
pass works on arrays and factories make them, so that neither is seen, and there are no classes with a
`__torch_dispatch__` of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..core.modes import no_grad, state
from ..core.op import Op
from ..core.subclass import _presented, pop_mode, push_mode
from ..core.tensor import Tensor, raw
from ..core.views import live_node

__all__ = ["TorchDispatchMode"]

# How PyTorch's operator is called where it is not `<name>.default`.
NAMES = {
    "cast": "_to_copy.default", "index": "index.Tensor", "log_softmax": "_log_softmax.default", "rsub": "rsub.Scalar",
    "select": "select.int", "slice": "slice.Tensor", "softmax": "_softmax.default", "split": "split.Tensor",
    "stack": "stack.default", "std": "std.correction", "transpose": "transpose.int", "unbind": "unbind.int",
    "var": "var.correction", "where": "where.self",
}  # fmt: skip
ARITHMETIC = frozenset("add sub mul div maximum_ floor_divide remainder true_divide".split())
COMPARISONS = frozenset("eq ne lt le gt ge bitwise_and bitwise_or bitwise_xor".split())
ALONG = {
    "sum": "dim_IntList",
    "mean": "dim",
    "prod": "dim_int",
    "max": "dim",
    "min": "dim",
    "any": "dim",
    "all": "dim",
}


def _overload(op: Op, args: Sequence[Any]) -> str:
    """PyTorch's name of the operator, with its overload."""
    name = op.name.partition(".")[0].removesuffix("_dim")
    if name in NAMES:
        return NAMES[name]
    if name in ARITHMETIC:
        return f"{name}.Tensor"
    if name in COMPARISONS:
        return f"{name}.{'Tensor' if isinstance(args[1], Tensor) else 'Scalar'}"
    if name == "pow":
        kinds = ["Tensor" if isinstance(v, Tensor) else "Scalar" for v in args[:2]]
        return "pow.Scalar" if kinds[0] == "Scalar" else f"pow.Tensor_{kinds[1]}"
    if name in ALONG and len(args) > 1 and args[1] is not None and args[1] != ():
        return f"{name}.{ALONG[name]}"
    return f"{name}.default"


class TorchDispatchMode:
    """Within it `__torch_dispatch__` of the mode sees every op. Source: torch.utils._python_dispatch.TorchDispatchMode.

    `func` is an operator of `torch.ops.aten`. What the method returns becomes the op's result, and has the op's
    derivative.

    >>> import tidu as torch
    >>> class Log(TorchDispatchMode):
    ...     def __torch_dispatch__(self, func, types, args=(), kwargs=None):
    ...         print(func)
    ...         return func(*args, **(kwargs or {}))
    >>> x = torch.ones(1, 2)
    >>> with Log():
    ...     y = torch.nn.functional.linear(x, x) * 2
    aten.t.default
    aten.mm.default
    aten.mul.Tensor
    """

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        raise NotImplementedError

    def __enter__(self) -> TorchDispatchMode:
        push_mode(self)
        return self

    def __exit__(self, *exc: Any) -> None:
        pop_mode()

    def _called(self, name: str, run: Callable[..., Any], args: tuple[Any, ...], kw: dict[str, Any]) -> Any:
        operator, _, overload = name.partition(".")
        func = getattr(_packet(operator, run), overload)
        was = state.function_modes
        state.function_modes = was[:-1]
        try:
            return self.__torch_dispatch__(func, (), args, kw)
        finally:
            state.function_modes = was

    def dispatch(self, op: Op, args: tuple[Any, ...]) -> Any:
        """The op on these arguments, by the mode; recorded as the op, whatever the mode does."""
        positional, kw = _presented(op, args)
        with no_grad():
            result = self._called(_overload(op, args), op.call, positional, kw)
        wants = any(isinstance(v, Tensor) and live_node(v) is not None for v in op.tensor_args(args))
        if not (wants and state.grad and op.differentiable):
            return result
        several = isinstance(result, (tuple, list))
        values = [raw(r) if isinstance(r, Tensor) else r for r in (result if several else [result])]
        was, state.function_modes = state.function_modes, ()
        try:
            return op.record(op.tensors_of(args), tuple(values) if several else values[0])
        finally:
            state.function_modes = was

    def dispatch_inplace(self, op: Op, args: Sequence[Any]) -> Any:
        """The op in place."""
        from ..core.inplace import inplace

        positional, kw = _presented(op, args)
        name, _, overload = _overload(op, args).partition(".")
        return self._called(f"{name}_.{overload}", inplace(op), positional, kw)


def _packet(name: str, run: Callable[..., Any]) -> Any:
    """The operator of this name; where the library knows it by that name too, the very one that programs get."""
    from ..ops import aten
    from ..ops._aten import Operator

    try:
        return getattr(aten, name)
    except AttributeError:
        packet = Operator(name, run)
        setattr(aten, name, packet)
        return packet
