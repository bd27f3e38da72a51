"""Steps on raw arrays: how an optimiser's arithmetic is brought to its parameters.

An optimiser says what it does to flat arrays, its *kernel*. Small parameters of a group are laid side by side in one
flat array, a *bank*, so that a step is a dozen array operations however many they are; their states live in the bank,
as views. Large parameters are worked on one by one, in blocks that stay in the cache, by several threads.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from mmap import mmap
from typing import Any

import numpy as np

from .. import dtypes
from ..arrays.threads import parallel
from ..core.engine import LAYOUTS
from ..core.modes import no_grad, set_record, state
from ..core.tensor import Tensor, tensor_of
from .optimizer import Optimizer, sparse_ones

Array = np.ndarray[Any, Any]
SMALL = 1 << 14  # parameters up to this many elements go into a bank
BLOCK = 1 << 14  # elements that a kernel works on at a time
THREADED = 1 << 18  # from this many elements on several threads work
PLAIN = (np.dtype(np.float32), np.dtype(np.float64))
_HALF = ("float16", "bfloat16")
OLDER = {"maximize": False, "foreach": None, "differentiable": False, "capturable": False}


def _step_dtype() -> Any:
    return np.float64 if dtypes.get_default_dtype() is dtypes.float64 else np.float32


class Bank:
    """Small parameters side by side."""

    def __init__(
        self, opt: ArrayOptimizer, params: Sequence[Any], entries: Sequence[Any], names: Sequence[str]
    ) -> None:
        self.params, self.entries, self.names = list(params), list(entries), [*opt.scalars, *names]
        self.dtype = params[0]._a.dtype
        sizes = [p._a.size for p in params]
        total = sum(sizes)
        ends = np.cumsum(sizes).tolist()
        places = [slice(end - n, end) for n, end in zip(sizes, ends, strict=True)]
        shapes = [p._a.shape for p in params]

        def windows(flat: Array) -> list[Array]:
            return [flat[at].reshape(shape) for at, shape in zip(places, shapes, strict=True)]

        self.p, self.g = np.empty(total, self.dtype), np.empty(total, self.dtype)
        self.p_windows, self.g_windows = windows(self.p), windows(self.g)
        self.states = [np.empty(total, self.dtype) for _ in names]
        self.scalars = [np.empty(len(sizes), entries[0][name]._a.dtype) for name in opt.scalars]
        for k, name in enumerate(opt.scalars):
            _move_in([e[name] for e in entries], [self.scalars[k][i : i + 1].reshape(()) for i in range(len(sizes))])
        for flat, name in zip(self.states, names, strict=True):
            _move_in([e[name] for e in entries], windows(flat))
        self.held = [[(e[name], e[name]._a) for name in self.names] for e in entries]
        self.scratch = [np.empty(min(total, BLOCK), self.dtype) for _ in range(opt.scratch)]

    def serves(self, params: Sequence[Any], entries: Sequence[Any]) -> bool:
        """Whether these are its parameters, with the states that it holds."""
        if len(params) != len(self.params):
            return False
        names, dtype = self.names, self.dtype
        for p, mine, entry, held in zip(params, self.params, entries, self.held, strict=True):
            if p is not mine or p._a.dtype is not dtype:
                return False
            for name, (t, window) in zip(names, held, strict=True):
                if entry.get(name) is not t or t._a is not window:
                    return False
        return True

    def uniform(self) -> bool:
        """Whether all its parameters have the same counts of steps."""
        return all(bool((s == s[0]).all()) for s in self.scalars)


def _move_in(tensors: Sequence[Tensor], windows: Sequence[Array]) -> None:
    """Let state tensors live in the given memory."""
    for t, window in zip(tensors, windows, strict=True):
        window[...] = t._a
        t._a = window


class ArrayOptimizer(Optimizer):
    """An optimiser whose update is elementwise. A subclass says what its state is, and how to update."""

    scalars: tuple[str, ...] = ("step",)  # entries of a parameter's state that are single numbers
    scratch = 2  # how many scratch arrays the kernel needs
    bank_from = 2  # from this many small parameters on they go into a bank
    states: tuple[str, ...] = ()  # entries that have the parameter's shape, in the kernel's order
    older: dict[str, Any] = OLDER  # options that groups in older files lack

    def names(self, group: dict[str, Any]) -> tuple[str, ...]:
        """The `states` that this group has."""
        return self.states

    def begin(self, group: dict[str, Any], p: Any, entry: dict[str, Any]) -> None:
        """Make a parameter's state, before its first step."""
        for name in self.scalars:
            entry[name] = tensor_of(np.zeros((), _step_dtype()))
        for name in self.names(group):
            entry[name] = _zeros_like(p)

    def fresh(self, group: dict[str, Any], entry: dict[str, Any]) -> bool:
        """Whether a parameter has no state yet."""
        return not entry

    def advance(self, group: dict[str, Any], fresh: bool, values: tuple[float, ...]) -> tuple[tuple[float, ...], Any]:
        """The single numbers of the state after this step, and what the kernel reads."""
        raise NotImplementedError

    def kernel(self, numbers: Any, scratch: Sequence[Array], p: Array, g: Array, *states: Array) -> None:
        """Update `p` and the states in place; neither `g` nor anything else is written but `scratch`."""
        raise NotImplementedError

    def recorded(self, group: dict[str, Any], p: Any, g: Any, entry: dict[str, Any]) -> None:
        """The same on tensors, so that it can be differentiated."""
        raise NotImplementedError(f"{type(self).__name__}(differentiable=True)")

    def check(self, group: dict[str, Any], p: Any) -> None:
        """Raise for a parameter that the optimiser does not take."""

    # ---------------------------------------------------------------- stepping

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Update the parameters by their gradients.

        Args:
            closure: computes the loss anew and returns it; its value is returned.
        """
        loss = self._loss_of(closure)
        overriding = state.torch_function
        state.torch_function = False  # parameters that are instances of subclasses show their arrays
        try:
            for group in self.param_groups:
                if LAYOUTS[0] and (sparse := sparse_ones(group["params"])):
                    self._step_sparse(group, sparse)
                elif group.get("differentiable"):
                    self._step_recorded(group)
                else:
                    self._step_arrays(group)
        finally:
            state.torch_function = overriding
        return loss

    def sparse(self, group: dict[str, Any], p: Any, g: Any, entry: dict[str, Any]) -> None:
        """Update a parameter by a sparse gradient."""
        raise RuntimeError(f"{type(self).__name__} does not support sparse gradients")

    def _step_sparse(self, group: dict[str, Any], sparse: list[Any]) -> None:
        with no_grad():
            for p in sparse:
                self.sparse(group, p, p._grad, self.state[p])
        params = group["params"]
        try:
            group["params"] = [p for p in params if not any(p is s for s in sparse)]
            self._step_arrays(group)
        finally:
            group["params"] = params

    def _step_recorded(self, group: dict[str, Any]) -> None:
        for p in group["params"]:
            if p.grad is not None:
                entry = self.state[p]
                if self.fresh(group, entry):
                    was = set_record(False)
                    self.begin(group, p, entry)
                    set_record(was)
                self.recorded(group, p, p.grad, entry)

    def _step_arrays(self, group: dict[str, Any]) -> None:
        table = self.state
        keeps = bool(self.scalars) or bool(self.names(group))
        small: list[Any] = []
        entries: list[Any] = []
        done: dict[Any, Any] = {}
        kinds: set[Any] = set()
        for p in group["params"]:
            g = p._grad
            if g is None:
                continue
            entry = None
            fresh = False
            if keeps:
                entry = table[p]
                fresh = self.fresh(group, entry)
                if fresh:
                    self.check(group, p)
                    self.begin(group, p, entry)
            a = p._a
            if a.size <= SMALL and not fresh and a.dtype in PLAIN:
                small.append(p)
                entries.append(entry)
                kinds.add(a.dtype)
                continue
            self._one(group, p, g._a, entry, fresh, done)
        if len(small) >= self.bank_from and len(kinds) == 1:
            bank = self._bank(group, small, entries, keeps)
            if bank is not None:
                self._step_bank(group, bank)
                return
        for p, entry in zip(small, entries, strict=True):
            self._one(group, p, p._grad._a, entry, False, done)

    def _one(
        self, group: dict[str, Any], p: Any, g: Array, entry: Any, fresh: bool, done: dict[Any, Any]
    ) -> None:  # fmt: skip
        values = tuple([entry[name]._a.item() for name in self.scalars])
        known = done.get((fresh, values))
        if known is None:
            known = done[fresh, values] = self.advance(group, fresh, values)
        after, numbers = known
        for name, value in zip(self.scalars, after, strict=True):
            entry[name]._a[()] = value
        states = [entry[name]._a for name in self.names(group)]
        run(self.kernel, numbers, self.scratch, p._a, g, states)
        p._v[0] += 1

    # ---------------------------------------------------------------- banks

    def _bank(self, group: dict[str, Any], params: list[Any], entries: list[Any], keeps: bool) -> Bank | None:
        """The bank for these parameters: the one from before, or a new one, if their states are in step."""
        banks = self.__dict__.setdefault("_banks", {})
        key = id(group)
        bank = banks.get(key)
        entries = entries if keeps else [{}] * len(params)
        if bank is None or not bank.serves(params, entries):
            names = self.names(group)
            if any(isinstance(e[n]._a.base, mmap) for e in entries for n in (*self.scalars, *names)) or any(
                e[n]._a.ndim for e in entries for n in self.scalars
            ):  # memory of other processes too, or a shape that the program chose
                return None
            bank = banks[key] = Bank(self, params, entries, names)
        return bank if bank.uniform() else None

    def _step_bank(self, group: dict[str, Any], bank: Bank) -> None:
        values = tuple([s[0].item() for s in bank.scalars])
        after, numbers = self.advance(group, False, values)
        for flat, value in zip(bank.scalars, after, strict=True):
            flat[:] = value
        params = bank.params
        for p, p_window, g_window in zip(params, bank.p_windows, bank.g_windows, strict=True):
            p_window[...] = p._a
            g_window[...] = p._grad._a
        _in_blocks(self.kernel, numbers, bank.scratch, [bank.p, bank.g, *bank.states])
        for p, p_window in zip(params, bank.p_windows, strict=True):
            p._a[...] = p_window
            p._v[0] += 1

    def __getstate__(self) -> dict[str, Any]:
        return {k: v for k, v in super().__getstate__().items() if k != "_banks"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__["_banks"] = {}
        super().__setstate__(state)
        for group in self.param_groups:
            for option, value in self.older.items():
                group.setdefault(option, value)
            for p in group["params"]:
                entry = self.state.get(p, {})
                for name in self.scalars:
                    if name in entry and not isinstance(entry[name], Tensor):
                        entry[name] = tensor_of(np.asarray(float(entry[name]), _step_dtype()))


def run(kernel: Any, numbers: Any, n_scratch: int, p: Array, g: Array, states: Sequence[Array]) -> None:
    """Run a kernel on one parameter's arrays, whatever their type and layout."""
    arrays = [p, g, *states]
    if p.dtype.name in _HALF:  # computed in float32, rounded once
        wide = [a.astype(np.float32) for a in arrays]
        run(kernel, numbers, n_scratch, wide[0], wide[1], wide[2:])
        for a, w in zip((p, *states), (wide[0], *wide[2:]), strict=True):
            a[...] = w
        return
    if p.dtype.kind == "c":  # real and imaginary parts are numbers like others
        real = np.float32 if p.dtype == np.complex64 else np.float64
        if all(a.flags.c_contiguous for a in arrays):
            arrays = [a.reshape(-1).view(real) for a in arrays]
        else:
            copies = [np.ascontiguousarray(a).reshape(-1).view(real) for a in arrays]
            _in_blocks(kernel, numbers, [], copies, n_scratch)
            for a, c in zip((p, *states), (copies[0], *copies[2:]), strict=True):
                a[...] = c.view(a.dtype).reshape(a.shape)
            return
    elif p.size > BLOCK and all(a.flags.c_contiguous for a in arrays):
        arrays = [a.reshape(-1) for a in arrays]
    if arrays[0].ndim == 1 and arrays[0].size > BLOCK:
        _in_blocks(kernel, numbers, [], arrays, n_scratch)
    else:
        kernel(numbers, [np.empty_like(arrays[0]) for _ in range(n_scratch)], *arrays)


def _in_blocks(
    kernel: Any, numbers: Any, scratch: Sequence[Array], arrays: Sequence[Array], n_scratch: int = 0
) -> None:  # fmt: skip
    """Run a kernel on flat arrays, a block at a time."""
    n, dtype = arrays[0].size, arrays[0].dtype
    n_scratch = n_scratch or len(scratch)
    if n <= BLOCK:
        kernel(numbers, [s[:n] for s in scratch] or [np.empty(n, dtype) for _ in range(n_scratch)], *arrays)
        return
    starts = range(0, n, BLOCK)

    def piece(first: int, last: int) -> None:
        own = [np.empty(BLOCK, dtype) for _ in range(n_scratch)]
        for start in starts[first:last]:
            end = min(start + BLOCK, n)
            kernel(numbers, [s[: end - start] for s in own], *[a[start:end] for a in arrays])

    blocks = len(starts)
    if n < THREADED:
        piece(0, blocks)
    else:
        per = -(-blocks // 8)
        parallel(lambda i: piece(i * per, (i + 1) * per), -(-blocks // per))


def _zeros_like(p: Any) -> Tensor:
    return tensor_of(np.zeros_like(p._a))


def gradient(p: Array, g: Array, spare: Array, maximize: bool, weight_decay: float) -> Array:
    """The gradient to go by: negated to maximise, and with weight decay; written to `spare` if it is not `g`."""
    if weight_decay != 0:
        np.multiply(p, weight_decay, spare)
        return (np.subtract if maximize else np.add)(spare, g, spare)
    return np.negative(g, spare) if maximize else g


def lerp(start: Array, end: Array, weight: float, spare: Array) -> None:
    """start += weight (end - start)."""
    np.subtract(end, start, spare)
    np.multiply(spare, weight, spare)
    np.add(start, spare, start)


def decay_squares(v: Array, g: Array, beta: float, spare: Array) -> None:
    """v = beta v + (1 - beta) g^2."""
    np.multiply(g, 1 - beta, spare)
    np.multiply(spare, g, spare)
    np.multiply(v, beta, v)
    np.add(v, spare, v)


def recorded_gradient(p: Any, g: Any, group: dict[str, Any]) -> Any:
    """`gradient` on tensors; weight decay that is decoupled from gradients shrinks `p` itself."""
    g = -g if group.get("maximize") else g
    wd = group["weight_decay"]
    if not isinstance(wd, Tensor) and wd == 0:
        return g
    if not group.get("decoupled_weight_decay"):
        return g + wd * p
    p.mul_(1 - group["lr"] * wd)
    return g


def number(x: Any) -> float:
    """An option as a number; tensors of one element are taken too."""
    return float(x.item()) if isinstance(x, Tensor) else x


def check_rate(lr: Any, **others: Any) -> None:
    """Raise ValueError for a learning rate, or another option, that is negative."""
    if isinstance(lr, Tensor) and lr.numel() != 1:
        raise ValueError("Tensor lr must be 1-element")
    if not 0.0 <= lr:
        raise ValueError(f"Invalid learning rate: {lr}")
    not_negative(**others)


def not_negative(**options: Any) -> None:
    """The same for other options alone."""
    for name, value in options.items():
        if not value >= 0.0:
            raise ValueError(f"Invalid {name} value: {value}")


def check_fused(fused: bool | None, foreach: bool | None, differentiable: bool) -> None:
    """Raise for options that do not go together."""
    if fused:
        if differentiable:
            raise RuntimeError("`fused` does not support `differentiable`")
        if foreach:
            raise RuntimeError("`fused` and `foreach` cannot be `True` together.")
