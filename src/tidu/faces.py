"""The library's public functions, seen from outside: what `__torch_function__`, function modes and the profiler watch.

As long as somebody watches, each public function has other code, which asks first who wants the call; the code that it
had runs as a function of its own. The function remains the object that it was, so that `func is torch.add` holds and
references taken before are watched too, and whoever does not watch pays nothing.

Calls of ops that none of these functions made are seen by `core/subclass.py`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from importlib import import_module
from inspect import signature
from threading import RLock
from types import FunctionType, ModuleType
from typing import Any

from . import autograd
from .autograd.profiler import RENAMED
from .core.modes import state
from .core.parameters import hand_over, twin
from .core.subclass import FACES, PUBLIC, call_overridden, overrides
from .core.subclass import _hidden as HIDDEN
from .core.tensor import Tensor

NAMESPACES = ("nn.functional", "linalg", "fft", "special")
OPERATORS = {
    "__abs__": "abs", "__add__": "add", "__ge__": "ge", "__gt__": "gt", "__iadd__": "add_", "__ifloordiv__": "floor_divide_",
    "__imod__": "remainder_", "__imul__": "mul_", "__isub__": "sub_", "__itruediv__": "div_", "__le__": "le", "__lt__": "lt",
    "__matmul__": "matmul", "__mod__": "remainder", "__mul__": "mul", "__ne__": "ne", "__neg__": "neg", "__pos__": "positive",
    "__radd__": "add", "__rand__": "bitwise_and", "__rmul__": "mul", "__ror__": "bitwise_or", "__rxor__": "bitwise_xor",
    "__str__": "__repr__", "__sub__": "sub", "__truediv__": "div", "__pow__": "pow", "ndimension": "dim",
    "nelement": "numel",
}  # fmt: skip
# What is about tensors and no op, and what PyTorch's functions do not show either.
UNSEEN = frozenset(
    "__class__ __class_getitem__ __delattr__ __dir__ __getattr__ __hash__ __init__ __init_subclass__ __iter__ __new__ "
    "__setattr__ "
    "__reduce__ __subclasshook__ __torch_function__ _make_subclass as_subclass result_type can_cast is_tensor "
    "is_storage manual_seed seed initial_seed get_rng_state set_rng_state promote_types handle_torch_function "
    "has_torch_function boolean_dispatch from_numpy frombuffer _assert _is_view".split()
)

# Functions of nn.functional in C, and methods in Python: PyTorch's show `types` and keywords of the two kinds differently.
IN_C = frozenset(
    "adaptive_avg_pool1d avg_pool1d avg_pool2d avg_pool3d bilinear channel_shuffle conv1d conv2d conv3d conv_tbc "
    "conv_transpose1d conv_transpose2d conv_transpose3d cosine_similarity gelu hardshrink linear one_hot "
    "pairwise_distance pdist pixel_shuffle pixel_unshuffle prelu scaled_dot_product_attention softplus softshrink".split()
)
IN_PYTHON = frozenset(
    "atleast_1d atleast_2d atleast_3d block_diag broadcast_tensors cartesian_prod cdist chain_matmul einsum meshgrid "
    "tensordot "
    "__array__ __contains__ __deepcopy__ __floordiv__ __format__ __len__ __rdiv__ __reduce_ex__ __repr__ __reversed__ "
    "__rfloordiv__ __rmatmul__ __rmod__ __rpow__ __rsub__ backward is_shared istft lu norm register_hook "
    "register_post_accumulate_grad_hook share_memory_ split stft storage unique unique_consecutive".split()
)

SPELLED = frozenset("grad backward norm cdist split __repr__".split())

OURS = frozenset(["per_sample"])  # arguments that PyTorch's functions have not
UNTIMED = frozenset(
    "backward data_ptr dense_dim dim element_size get_device is_complex is_contiguous is_floating_point is_inference is_signed "
    "numel register_hook register_post_accumulate_grad_hook requires_grad_ retain_grad size storage storage_offset stride "
    "untyped_storage is_grad_enabled is_inference_mode_enabled".split()
)

FACTORIES = frozenset(
    "arange as_tensor empty empty_like eye full full_like linspace logspace new_empty new_full new_ones new_tensor "
    "new_zeros ones ones_like rand rand_like randint randint_like randn randn_like randperm scalar_tensor tensor zeros "
    "zeros_like".split()
)
_seen: dict[Any, Face] = {}
_watchers = 0
_lock = RLock()


class Face:
    """A public function that is watched: its code, and what a call becomes."""

    def __init__(self, fn: Any, shown: Any, event: str | None, functional: bool) -> None:
        self.fn, self.shown, self.event = fn, shown, event
        self.getter = not isinstance(shown, FunctionType)
        name = shown.__name__
        self.in_python = name in IN_PYTHON or (functional and name not in IN_C) or fn.__name__ == "__pow__"
        method = not functional and PUBLIC.get(name) is not shown
        self.home = f"torch.{'nn.functional' if functional else '_tensor' if method else 'functional'}."
        self.operator = fn.__name__[:2] == "__" and name not in ("__repr__", "__len__", "__deepcopy__", "__getitem__")
        self.spelled_out = (functional and name not in IN_C) or name in SPELLED  # optional arguments are shown by name
        self.factory = name in FACTORIES
        self.code, self.kwdefaults = fn.__code__, fn.__kwdefaults__
        self.plain = twin(fn)
        self.wraps = "__wrapped__" not in fn.__dict__
        if self.wraps:  # where inspect finds the signature
            fn.__wrapped__ = self.plain
        hand_over(fn, self)

    @cached_property
    def with_plain(self) -> bool:
        """Whether plain tensors are among the types: where PyTorch has no arguments to parse, or parses in Python."""
        if self.getter or self.spelled_out or self.in_python:
            return True
        op = getattr(self.fn, "op", None)
        return len(signature(self.plain).parameters if op is None else op.params) == 1

    def leave(self) -> None:
        """Give the function its code again."""
        self.fn.__code__, self.fn.__kwdefaults__ = self.code, self.kwdefaults
        if self.wraps:
            del self.fn.__wrapped__

    def __call__(self, args: tuple[Any, ...], kw: dict[str, Any]) -> Any:
        modes = state.face_modes if state.torch_function_modes else ()
        relevant = [v for v in _candidates(args, kw) if v.__class__ is Tensor or overrides(v.__class__)]
        if (modes or (state.torch_function and any(v.__class__ is not Tensor for v in relevant))) and not (
            self.getter and _inside()
        ):
            return self.ask(modes, relevant, args, kw)
        if state.function_modes and self.factory and hasattr(mode := state.function_modes[-1], "made"):
            return mode.made(self.shown.__name__, self.plain, args, kw)
        if state.timer is not None and self.event is not None:
            with state.timer(self.event, args):
                return self.plain(*args, **kw)
        return self.plain(*args, **kw)

    def ask(self, modes: tuple[Any, ...], relevant: list[Any], args: tuple[Any, ...], kw: dict[str, Any]) -> Any:
        """The call by a mode, or by the arguments' classes."""
        if self.spelled_out:
            args, kw = self.spelled(args, kw)
        given = kw if self.in_python or self.spelled_out else kw or None
        if modes:
            types = {v.__class__: None for v in relevant if self.with_plain or v.__class__ is not Tensor}
            was = modes, state.function_modes
            state.face_modes = modes[:-1]
            state.function_modes = tuple(m for m in was[1] if m is not modes[-1])
            try:
                result = modes[-1].__torch_function__(self.shown, tuple(types), args, given)
            finally:
                state.face_modes, state.function_modes = was
            if result is not NotImplemented:
                return result
        python = self.home + self.shown.__name__ if self.in_python else ""
        if self.operator:
            python = "NotImplemented"
        return call_overridden(self.shown, relevant, args, given, plain=self.with_plain, python=python)

    def spelled(self, args: tuple[Any, ...], kw: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The arguments as PyTorch's functions in Python hand them on: those with defaults by name, all of them."""
        try:
            bound = signature(self.fn).bind(*args, **kw)
        except TypeError:
            return args, kw
        bound.apply_defaults()
        parameters = signature(self.fn).parameters.values()
        if any(p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD) for p in parameters):
            return args, kw
        given = bound.arguments
        if given.get("allow_unused", 0) is None:
            given["allow_unused"] = given["materialize_grads"]
        return (
            tuple(given[p.name] for p in parameters if p.default is p.empty),
            {p.name: given[p.name] for p in parameters if p.default is not p.empty and p.name not in OURS},
        )


def _candidates(args: tuple[Any, ...], kw: dict[str, Any]) -> Iterator[Any]:
    for v in (*args, *kw.values()):
        if v.__class__ is tuple or v.__class__ is list:
            yield from (x for x in v if hasattr(x.__class__, "__torch_function__"))
        elif hasattr(v.__class__, "__torch_function__"):
            yield v


def _inside() -> bool:
    """Whether it is the library that asks for an attribute."""
    frame: Any = sys._getframe(3)
    if frame.f_code.co_name == "__get__":  # that of what stood for the attribute
        frame = frame.f_back
    return str(frame.f_globals.get("__name__", "")).partition(".")[0] == __package__


def _watch(fn: Any, shown: Any, event: str | None = None, functional: bool = False) -> None:
    if isinstance(fn, FunctionType) and fn not in _seen:
        _seen[fn] = Face(fn, shown, event, functional)


def _event(name: str) -> str | None:
    return None if name[:2] == "__" or name in UNTIMED else "aten::" + RENAMED.get(name, name)


def _watch_module(module: ModuleType, prefix: str) -> None:
    for name, fn in list(vars(module).items()):
        if name[0] != "_" and name not in UNSEEN and getattr(fn, "__module__", "").partition(".")[0] == __package__:
            event = _event(name if name.startswith(prefix) else prefix + name)
            _watch(fn, fn, event, functional=module.__name__.endswith("functional"))


def refresh(names: Iterable[str] | None = None) -> None:
    """Watch what has been imported since, too: all of it, or what has some names."""
    if names is None:
        for name in NAMESPACES:
            module = sys.modules.get(f"{__package__}.{name}")
            if module is not None:
                _watch_module(module, "" if name == "nn.functional" else name + "_")
        for fn in (autograd.grad, autograd.backward):
            _watch(fn, fn)
        names = [*PUBLIC, *vars(Tensor), *HIDDEN]
    for name in names:
        if name in UNSEEN or name == "_a":
            continue
        if name in PUBLIC:
            _watch(PUBLIC[name], PUBLIC[name], _event(name))
        for value in (vars(Tensor).get(name), HIDDEN.get(name)):
            if isinstance(value, property):
                _watch(value.fget, value.__get__)
            elif isinstance(value, FunctionType):
                called = OPERATORS.get(name, name)
                _watch(value, getattr(Tensor, called, value), _event(called))


def between(change: Callable[[], None]) -> None:
    """Make a change to functions' own code, which they have while nobody watches."""
    with _lock:
        for face in _seen.values():
            face.leave()
        _seen.clear()
        FACES.refresh = None  # or what is imported meanwhile begins to be watched
        change()
        if _watchers:
            FACES.refresh = refresh
            refresh()


def start() -> None:
    """Begin to watch."""
    global _watchers
    with _lock:
        _watchers += 1
        if _watchers == 1:
            import_module(f"{__package__}.nn.functional")
            FACES.refresh = refresh
            refresh()


def stop() -> None:
    """End it."""
    global _watchers
    with _lock:
        _watchers -= 1
        if not _watchers:
            between(lambda: None)
