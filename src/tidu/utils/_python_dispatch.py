"""Modes that see what ops do beneath autograd: `TorchDispatchMode`. Source: torch.utils._python_dispatch.

What reaches a mode is the ops of forward code and of backward passes, after functions made of several ops have been
taken apart, and the factories. There are no classes with a `__torch_dispatch__` of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from .. import dtypes
from ..core.modes import no_grad, state
from ..core.op import Op
from ..core.parameters import REQUIRED, parameters_of
from ..core.subclass import FACES, PUBLIC, _presented, pop_mode, push_mode
from ..core.tensor import Tensor, raw
from ..core.views import live_node
from ..devices import CPU

__all__ = ["TorchDispatchMode"]

# How PyTorch's operator is called where it is not `<name>.default`.
NAMES = {
    "cast": "_to_copy.default", "index": "index.Tensor", "log_softmax": "_log_softmax.default", "rsub": "rsub.Scalar",
    "select": "select.int", "slice": "slice.Tensor", "softmax": "_softmax.default", "split": "split.Tensor",
    "stack": "stack.default", "std": "std.correction", "transpose": "transpose.int", "unbind": "unbind.int",
    "var": "var.correction", "where": "where.self", "unsafe_view": "_unsafe_view.default",
    "reshape_copy": "_unsafe_view.default", "max_all": "max.default", "min_all": "min.default",
    "max_pool2d": "max_pool2d_with_indices.default", "nll_loss": "nll_loss_forward.default",
    "linalg_inv": "linalg_inv_ex.default", "linalg_svd": "_linalg_svd.default", "linalg_det": "_linalg_det.default",
    "linalg_solve": "_linalg_solve_ex.default", "linalg_cholesky": "linalg_cholesky_ex.default",
    "floor_divide": "floor_divide.default", "contiguous_clone": "clone.default",
    "LogSoftmaxBackwardDataBackward": "_log_softmax_backward_data.default",
    "SoftmaxBackwardDataBackward": "_softmax_backward_data.default",
}  # fmt: skip
ARITHMETIC = frozenset("add sub mul div true_divide".split())
COMPARISONS = frozenset("eq ne lt le gt ge bitwise_and bitwise_or bitwise_xor remainder fmod".split())
ALONG = {"sum": "dim_IntList", "mean": "dim", "prod": "dim_int", "max": "dim", "min": "dim", "any": "dim", "all": "dim"}
OVERLOADS = {"empty": "memory_format", "randint": "low", "arange": "start"}


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
    if name == "fill":
        return f"fill.{'Tensor' if isinstance(args[1], Tensor) else 'Scalar'}"
    if name in ALONG and len(args) > 1 and args[1] is not None and args[1] != ():
        return f"{name}.{ALONG[name]}"
    return f"{name}.default"


@cache
def _defaults(op: Op) -> tuple[Any, ...]:
    fn = PUBLIC.get(op.name.partition(".")[0])
    names, defaults, _ = ((), (), 0) if fn is None else parameters_of(fn)
    public = dict(zip(names, defaults, strict=True))
    return tuple(public.get(p, d) if d is REQUIRED else d for p, d in zip(op.params, op.defaults, strict=True))


def _shown(op: Op, args: Sequence[Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments as PyTorch's operators show them: without defaults at the end."""
    if op.name == "cast":
        return args[:1], {"dtype": dtypes.from_numpy(args[1])}  # type: ignore[return-value]
    positional, kw = _presented(op, args)
    defaults = _defaults(op)[: len(positional)]
    n = len(positional)
    while n > 1:
        v, default = positional[n - 1], defaults[n - 1]
        if not (v is None or v is False or v is default or v == () or (v.__class__ is float and v == default)):
            break
        n -= 1
    return positional[:n], kw


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

    sees_backward = True

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        raise NotImplementedError

    def __enter__(self) -> TorchDispatchMode:
        FACES.start()
        push_mode(self)
        return self

    def __exit__(self, *exc: Any) -> None:
        pop_mode()
        FACES.stop()

    def _called(self, name: str, run: Callable[..., Any], args: tuple[Any, ...], kw: dict[str, Any]) -> Any:
        from ..ops._public import RUNS

        operator, _, overload = name.partition(".")
        func = getattr(_packet(operator, run), overload)
        was, runs = state.function_modes, RUNS.now
        state.function_modes, RUNS.now = was[:-1], {**runs, func: run}
        try:
            return self.__torch_dispatch__(func, (), args, kw)
        finally:
            state.function_modes, RUNS.now = was, runs

    def dispatch(self, op: Op, args: tuple[Any, ...]) -> Any:
        """The op on these arguments, by the mode; recorded as the op, whatever the mode does."""
        positional, kw = _shown(op, args)

        def run(*given: Any, **more: Any) -> Any:
            if more.keys() == kw.keys() and len(given) == len(positional):
                same = all(a is b for a, b in zip(given, positional, strict=True))
                return op.call(*(args if same else (*given, *args[len(given) :])))
            return op.call(*given, **more)

        wants = state.grad and op.differentiable
        wants = wants and any(isinstance(v, Tensor) and live_node(v) is not None for v in op.tensor_args(args))
        if not wants:
            return self._called(_overload(op, args), run, positional, kw)
        with no_grad():
            result = self._called(_overload(op, args), run, positional, kw)
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

        positional, kw = _shown(op, args)
        name, _, overload = _overload(op, args).partition(".")
        write = inplace(op)

        def run(*given: Any, **more: Any) -> Any:
            return write(*given, *args[len(given) :]) if not more else write(*given, **more)

        return self._called(f"{name}_.{overload}", run, positional, kw)

    def made(self, name: str, run: Callable[..., Any], args: tuple[Any, ...], kw: dict[str, Any]) -> Any:
        """What a factory makes, by the mode."""
        if kw.get("out") is not None:
            return run(*args, **kw)
        kw = dict(kw)
        wants = kw.pop("requires_grad", False)
        if name in ("tensor", "as_tensor", "new_tensor"):
            was, state.function_modes = state.function_modes, ()
            try:
                result = run(*args, **kw)
            finally:
                state.function_modes = was
            if name != "as_tensor" or result is not args[0]:
                result = self._called("lift_fresh.default", _lifted, (result,), {})
        else:
            overload = OVERLOADS.get(name, "default")
            if name in ("ones", "zeros", "rand", "randn", "empty") and args and isinstance(args[0], int):
                args = (list(args),)
            if (name, len(args)) in (("arange", 1), ("randint", 2)):
                overload = "default"
            elif (name, len(args)) == ("arange", 3):
                overload = "start_step"
            if name[-5:] != "_like" and name[:4] != "new_":
                kw.setdefault("device", CPU)
            kw.setdefault("pin_memory", False)

            def below(*given: Any, **more: Any) -> Any:
                mode = _next()
                return run(*given, **more) if mode is None else mode.made(name, run, given, more)

            result = self._called(f"{name}.{overload}", below, args, kw)
        return result.requires_grad_() if wants else result


def _next() -> Any:
    mode = state.function_modes[-1] if state.function_modes else None
    return mode if isinstance(mode, TorchDispatchMode) else None


def _lifted(t: Any) -> Any:
    mode = _next()
    return t if mode is None else mode._called("lift_fresh.default", _lifted, (t,), {})


def _packet(name: str, run: Callable[..., Any]) -> Any:
    """The operator of this name; where the library knows it by that name too, the very one that programs get."""
    from ..ops import aten
    from ..ops._public import Operator

    try:
        return getattr(aten, name)
    except AttributeError:
        packet = Operator(name, run)
        setattr(aten, name, packet)
        return packet
