"""A small language for loops over vectors of floats, written as Python and compiled by LLVM.

`Loops` writes loops into an LLVM function, `Value` is a float or a vector of floats in it with Python's operators,
and `Compiler` makes the function callable. llvmlite is imported when the first `Compiler` is made.
"""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

WIDTH = 16  # floats in a vector; LLVM makes several registers of it where the machine's are shorter


class Compiler:
    def __init__(self) -> None:
        import llvmlite.binding as binding
        import llvmlite.ir as ir

        self.binding, self.ir = binding, ir
        if hasattr(binding, "initialize"):
            try:
                binding.initialize()
            except RuntimeError:  # newer versions do it by themselves, and say so
                pass
        binding.initialize_native_target()
        binding.initialize_native_asmprinter()
        target, features = binding.Target.from_default_triple(), binding.get_host_cpu_features()
        self.machine = target.create_target_machine(cpu=binding.get_host_cpu_name(), features=features.flatten(), opt=3)
        self.wide, self.halves = bool(features.get("avx512f")), bool(features.get("f16c"))
        self.engines: list[Any] = []  # they own the code

    def compile(self, name: str, signature: str, build: Callable[[Loops], None]) -> Callable[..., None]:
        """A function of pointers (p), int64 (n) and float (f) arguments, as the signature says."""
        ir = self.ir
        module = ir.Module(name)
        module.triple = self.binding.get_default_triple()
        single, whole = ir.FloatType(), ir.IntType(64)
        types = {"p": single.as_pointer(), "n": whole, "f": single}
        function = ir.Function(module, ir.FunctionType(ir.VoidType(), [types[c] for c in signature]), name)
        builder = ir.IRBuilder(function.append_basic_block("entry"))
        loops = Loops(ir, module, builder, function.args)
        loops.wide = self.wide
        build(loops)
        builder.ret_void()
        self._task(module, function, signature)
        parsed = self.binding.parse_assembly(str(module))
        parsed.verify()
        engine = self.binding.create_mcjit_compiler(parsed, self.machine)
        engine.finalize_object()
        self.engines.append(engine)
        c_types = {"p": ctypes.c_void_p, "n": ctypes.c_int64, "f": ctypes.c_float}
        prototype = ctypes.CFUNCTYPE(None, *[c_types[c] for c in signature])
        made: Any = prototype(engine.get_function_address(name))
        made.task, made.signature = engine.get_function_address("task"), signature
        return made

    def _task(self, module: Any, function: Any, signature: str) -> None:
        """The function of one row of a table of arguments, floats by their bits."""
        ir, whole = self.ir, self.ir.IntType(64)
        task = ir.Function(module, ir.FunctionType(ir.VoidType(), [whole.as_pointer(), whole]), "task")
        b = ir.IRBuilder(task.append_basic_block("entry"))
        table, index = task.args
        start = b.mul(index, ir.Constant(whole, len(signature)))
        arguments = []
        for i, kind in enumerate(signature):
            x = b.load(b.gep(table, [b.add(start, ir.Constant(whole, i))]))
            if kind == "p":
                x = b.inttoptr(x, ir.FloatType().as_pointer())
            elif kind == "f":
                x = b.bitcast(b.trunc(x, ir.IntType(32)), ir.FloatType())
            arguments.append(x)
        b.call(function, arguments)
        b.ret_void()


class Value:
    """A vector or scalar of floats with Python's operators; plain numbers take the other's type."""

    __slots__ = ("loops", "raw")

    def __init__(self, loops: Loops, raw: Any) -> None:
        self.loops, self.raw = loops, raw

    def _of(self, x: Any) -> Any:
        return x.raw if isinstance(x, Value) else self.loops.constant(self.raw.type, x)

    def __add__(self, x: Any) -> Value:
        return Value(self.loops, self.loops.builder.fadd(self.raw, self._of(x)))

    def __radd__(self, x: Any) -> Value:
        return self + x

    def __sub__(self, x: Any) -> Value:
        return Value(self.loops, self.loops.builder.fsub(self.raw, self._of(x)))

    def __rsub__(self, x: Any) -> Value:
        return Value(self.loops, self.loops.builder.fsub(self._of(x), self.raw))

    def __mul__(self, x: Any) -> Value:
        return Value(self.loops, self.loops.builder.fmul(self.raw, self._of(x)))

    def __rmul__(self, x: Any) -> Value:
        return self * x

    def __truediv__(self, x: Any) -> Value:
        return Value(self.loops, self.loops.builder.fdiv(self.raw, self._of(x)))

    def __rtruediv__(self, x: Any) -> Value:
        return Value(self.loops, self.loops.builder.fdiv(self._of(x), self.raw))

    def __neg__(self) -> Value:
        return -0.0 - self

    def times_plus(self, x: Any, y: Any) -> Value:
        """self * x + y, rounded once where the machine can."""
        arguments = [self.raw, self._of(x), self._of(y)]
        return Value(self.loops, self.loops.intrinsic("llvm.fmuladd", arguments))

    def where_above(self, bound: Any, other: Any) -> Value:
        """self where it is above `bound` or NaN, else `other`."""
        builder = self.loops.builder
        above = builder.fcmp_unordered(">", self.raw, self._of(bound))
        return Value(self.loops, builder.select(above, self.raw, self._of(other)))

    def where_below(self, bound: Any, other: Any) -> Value:
        """self where it is below `bound` or NaN, else `other`."""
        builder = self.loops.builder
        below = builder.fcmp_unordered("<", self.raw, self._of(bound))
        return Value(self.loops, builder.select(below, self.raw, self._of(other)))

    def chooses(self, yes: Value, no: Any) -> Value:
        """`yes` where self is above 0 or NaN, else `no`."""
        builder = self.loops.builder
        above = builder.fcmp_unordered(">", self.raw, self._of(0.0))
        return Value(self.loops, builder.select(above, yes.raw, self._of(no)))

    def call(self, intrinsic: str) -> Value:
        return Value(self.loops, self.loops.intrinsic(intrinsic, [self.raw]))


class Loops:
    """Writes loops over vectors of floats into a function."""

    wide = False  # whether a vector is one register

    def __init__(self, ir: Any, module: Any, builder: Any, arguments: Sequence[Any]) -> None:
        self.ir, self.module, self.builder, self.arguments = ir, module, builder, arguments
        self.single, self.int = ir.FloatType(), ir.IntType(64)
        self.set_width(WIDTH)

    def set_width(self, width: int) -> None:
        self.width = width
        self.vector = self.ir.VectorType(self.single, width)
        self.ints = self.ir.VectorType(self.ir.IntType(32), width)

    def constant(self, type_: Any, x: float) -> Any:
        x = float(np.float32(x))
        return self.ir.Constant(type_, [x] * self.width if type_ == self.vector else x)

    def integers(self, x: int) -> Any:
        return self.ir.Constant(self.ints, [x] * self.width)

    def whole(self, x: int) -> Any:
        return self.ir.Constant(self.int, x)

    def spread(self, x: Any) -> Value:
        if not isinstance(x, Value):
            return Value(self, self.constant(self.vector, x))
        return Value(self, self._spread(x.raw, self.vector))

    def _spread(self, scalar: Any, vector: Any) -> Any:
        nothing = self.ir.Constant(vector, self.ir.Undefined)
        one = self.builder.insert_element(nothing, scalar, self.ir.Constant(self.ir.IntType(32), 0))
        zeros = self.ir.Constant(self.ints, [0] * self.width)
        return self.builder.shuffle_vector(one, nothing, zeros)

    def scalar(self, x: Any) -> Value:
        return Value(self, x)

    def intrinsic(self, name: str, arguments: Sequence[Any]) -> Any:
        type_ = arguments[0].type
        name += f".v{self.width}f32" if type_ == self.vector else ".f32"
        function = self.module.globals.get(name)
        if function is None:
            function = self.ir.Function(self.module, self.ir.FunctionType(type_, [type_] * len(arguments)), name)
        return self.builder.call(function, arguments)

    def halves(self, pointer: Any, i: Any) -> Any:
        """The place of a vector of half precision at element i."""
        half, b = self.ir.HalfType(), self.builder
        place = b.gep(b.bitcast(pointer, half.as_pointer()), [i])
        return b.bitcast(place, self.ir.VectorType(half, self.width).as_pointer())

    def loop(self, stop: Any, step: int, carried: Sequence[Value], body: Callable[..., Sequence[Value]]) -> list[Value]:
        """for i in range(0, stop, step): carried = body(i, *carried). The last step may not be a whole one: it is
        for the caller to pass a `stop` that is a multiple."""
        return self.steps(self.ir.Constant(self.int, 0), stop, step, carried, body)

    def steps(self, start: Any, stop: Any, step: Any, carried: Sequence[Value], body: Any) -> list[Value]:
        """`loop` from `start` on."""
        b = self.builder
        before = b.block
        head, inside, after = (b.append_basic_block() for _ in range(3))
        b.branch(head)
        b.position_at_end(head)
        i = b.phi(self.int)
        phis = [b.phi(c.raw.type) for c in carried]
        i.add_incoming(start, before)
        for phi, c in zip(phis, carried, strict=True):
            phi.add_incoming(c.raw, before)
        b.cbranch(b.icmp_signed("<", i, stop), inside, after)
        b.position_at_end(inside)
        results = body(i, *[Value(self, phi) for phi in phis])
        following = b.add(i, self.whole(step) if isinstance(step, int) else step)
        i.add_incoming(following, b.block)
        for phi, r in zip(phis, results or (), strict=True):
            phi.add_incoming(r.raw, b.block)
        b.branch(head)
        b.position_at_end(after)
        return [Value(self, phi) for phi in phis]

    def vectors(self, n: Any, carried: Sequence[Value], body: Callable[..., Sequence[Value]]) -> list[Value]:
        """carried = body(lanes, *carried) for whole vectors and then, if there is one, for the short rest."""
        b = self.builder
        width = self.ir.Constant(self.int, self.width)
        whole = b.mul(b.sdiv(n, width), width)
        done = self.loop(whole, self.width, carried, lambda i, *c: body(Lanes(self, i, None), *c))
        return self.rest(whole, n, done, body)

    def rest(self, whole: Any, n: Any, carried: Sequence[Value], body: Callable[..., Sequence[Value]]) -> list[Value]:
        """carried = body(lanes, *carried) for the short vector from `whole` to n, if there is one."""
        return self.steps(whole, n, self.width, carried, lambda i, *c: body(self.some(i, n), *c))

    def some(self, i: Any, n: Any) -> Lanes:
        """A vector at element i of which only what lies before element n is there."""
        b = self.builder
        left = b.trunc(b.sub(n, i), self.ir.IntType(32))
        lanes = self.ir.Constant(self.ints, list(range(self.width)))
        return Lanes(self, i, b.icmp_signed("<", lanes, self._spread(left, self.ints)))

    def rows(self, count: Any, body: Callable[[Any], None]) -> None:
        def one(i: Any) -> Sequence[Value]:
            body(i)
            return ()

        self.loop(count, 1, (), one)

    def total(self, x: Value, combine: Callable[[Value, Value], Value]) -> Value:
        raw, n = x.raw, self.width
        index = self.ir.IntType(32)
        while n > 1:
            n //= 2
            low, high = (
                self.builder.shuffle_vector(
                    raw, raw, self.ir.Constant(self.ir.VectorType(index, n), [k + first for k in range(n)])
                )
                for first in (0, n)
            )
            raw = combine(Value(self, low), Value(self, high)).raw
        return Value(self, self.builder.extract_element(raw, self.ir.Constant(index, 0)))

    def moved(self, x: Value, by: int) -> Value:
        """The lanes moved up by some places (down if negative), zeros where none comes from."""
        zeros = self.spread(0.0)
        places = [i - by if 0 <= i - by < self.width else self.width for i in range(self.width)]
        return Value(self, self.builder.shuffle_vector(x.raw, zeros.raw, self.ir.Constant(self.ints, places)))

    def lane(self, x: Value, i: int) -> Value:
        return Value(self, self.builder.shuffle_vector(x.raw, x.raw, self.integers(i)))

    def at(self, pointer: Any, i: Any) -> Any:
        return self.builder.gep(pointer, [i])


class Lanes:
    """Where a step of `vectors` reads and writes: at element `i` of a row, under a mask in the last step."""

    def __init__(self, loops: Loops, i: Any, mask: Any) -> None:
        self.loops, self.i, self.mask = loops, i, mask

    def _place(self, pointer: Any) -> Any:
        b = self.loops.builder
        return b.bitcast(b.gep(pointer, [self.i]), self.loops.vector.as_pointer())

    def _masked(self, what: str, types: Sequence[Any], result: Any) -> Any:
        ir, vector = self.loops.ir, self.loops.vector
        name = f"llvm.masked.{what}.v{self.loops.width}f32.p0"
        function = self.loops.module.globals.get(name)
        if function is None:
            types = [*types, ir.VectorType(ir.IntType(1), self.loops.width)] + ([vector] if what == "load" else [])
            function = ir.Function(self.loops.module, ir.FunctionType(result, types), name)
        return function

    def load(self, pointer: Any, other: float = 0.0) -> Value:
        """Sixteen elements; those past the end read as `other`."""
        loops = self.loops
        if self.mask is None:
            return Value(loops, loops.builder.load(self._place(pointer), align=4))
        ir, vector = loops.ir, loops.vector
        function = self._masked("load", [vector.as_pointer(), ir.IntType(32)], vector)
        rest = loops.constant(vector, other)
        arguments = [self._place(pointer), ir.Constant(ir.IntType(32), 4), self.mask, rest]
        return Value(loops, loops.builder.call(function, arguments))

    def store(self, x: Value, pointer: Any) -> None:
        loops = self.loops
        if self.mask is None:
            loops.builder.store(x.raw, self._place(pointer), align=4)
            return
        ir, vector = loops.ir, loops.vector
        function = self._masked("store", [vector, vector.as_pointer(), ir.IntType(32)], ir.VoidType())
        loops.builder.call(function, [x.raw, self._place(pointer), ir.Constant(ir.IntType(32), 4), self.mask])


_MAGIC = 12582912.0  # 1.5 * 2**23: added to a small number, it leaves the nearest integer in the low bits


def _power(x: Value) -> tuple[Any, Value]:
    """n and r of exp(x) = 2**n * exp(r): the integer nearest to x / log 2, and what is left."""
    loops = x.loops
    b = loops.builder
    shifted = x.times_plus(1 / math.log(2), _MAGIC)
    n = shifted - _MAGIC
    r = n.times_plus(-0.693359375, x)  # log 2 in two parts, the first of few bits
    r = n.times_plus(2.12194440e-4, r)
    integer = b.sub(b.bitcast(shifted.raw, loops.ints), loops.integers(0x4B400000))
    return integer, r


def _two_to(n: Any, loops: Any) -> Value:
    """2**n for integers between -126 and 127."""
    b = loops.builder
    return Value(loops, b.bitcast(b.shl(b.add(n, loops.integers(127)), loops.integers(23)), loops.vector))


def exp(x: Value) -> Value:
    """exp by 2**n * P(r), n the nearest integer to x / log 2; denormal results included. Within 1.5 ulp."""
    loops = x.loops
    b = loops.builder
    integer, r = _power(x.where_above(-104.0, -104.0).where_below(89.0, 89.0))
    p = loops.spread(_EXP[-1])
    for c in _EXP[-2::-1]:
        p = p.times_plus(r, c)
    half = b.ashr(integer, loops.integers(1))
    for part in (half, b.sub(integer, half)):  # two factors, so that each is a normal number
        p = p * _two_to(part, loops)
    return p


def power(x: Value) -> Value:
    """2**x for x up to 128; zero where it is below the normal numbers."""
    loops = x.loops
    b = loops.builder
    x = x.where_above(-127.0, -127.0)
    shifted = x + _MAGIC
    r = x - (shifted - _MAGIC)
    p = loops.spread(_EXP[-1] * math.log(2) ** 7)
    for k in range(6, -1, -1):
        p = p.times_plus(r, _EXP[k] * math.log(2) ** k)
    return p * _two_to(b.bitcast(shifted.raw, loops.ints), loops)


# exp(r) on [-log(2)/2, log(2)/2] = 1 + r + r**2/2 + ...: Taylor's terms up to the 7th are exact to float32 there.
_EXP = [1 / math.factorial(k) for k in range(8)]


def log(x: Value) -> Value:
    """log of a normal positive number or NaN: exponent * log 2 + log(m), m between sqrt(1/2) and sqrt(2)."""
    loops = x.loops
    b = loops.builder
    bits = b.sub(b.bitcast(x.raw, loops.ints), loops.integers(0x3F3504F3))  # those of sqrt(1/2)
    exponent = Value(loops, b.sitofp(b.ashr(bits, loops.integers(23)), loops.vector))
    mantissa = b.add(b.and_(bits, loops.integers(0x7FFFFF)), loops.integers(0x3F3504F3))
    m = Value(loops, b.bitcast(mantissa, loops.vector))
    t = (m - 1.0) / (m + 1.0)  # log(m) = 2 * atanh(t)
    u = t * t
    p = loops.spread(2 / 9)
    for k in (7, 5, 3):
        p = p.times_plus(u, 2 / k)
    small = (t * u).times_plus(p, t + t)
    return exponent.times_plus(0.693359375, exponent.times_plus(-2.12194440e-4, small)) + (x - x)


def sigmoid(x: Value) -> Value:
    """1 / (1 + exp(-x))."""
    return 1.0 / (exp(-x) + 1.0)


def tanh(x: Value) -> Value:
    """m / (m + 2) with m = exp(2 x) - 1 = 2**n * (exp(r) - 1) + 2**n - 1, which loses nothing near zero."""
    loops = x.loops
    x = x.where_above(-10.0, -10.0).where_below(10.0, 10.0)
    integer, r = _power(x + x)
    p = loops.spread(_EXP[-1])
    for c in _EXP[-2:0:-1]:
        p = p.times_plus(r, c)
    power = _two_to(integer, loops)
    m = (p * r).times_plus(power, power - 1.0)
    return m / (m + 2.0)
