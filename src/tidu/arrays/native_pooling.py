"""The native loops of pooling, made for the windows they take: lanes are neighbouring windows of a line.

All take (arrays, planes, then for input and output the lines' number and length). Windows lie inside the planes. A
window's lines are read as whole vectors, `stride` times as wide as the windows' own, of which shuffles take each
place; so they are made for a few strides only.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tidu.arrays.native_loops import WIDTH, Lanes, Loops

Build = Callable[[Loops], None]


class _Wide:
    """Vectors of `stride` elements to a lane, of which the first `width` of the last lane lie in the line."""

    def __init__(self, k: Loops, stride: int, width: int) -> None:
        self.k, self.stride = k, stride
        self.width = width
        self.count = stride * WIDTH
        self.type = k.ir.VectorType(k.single, self.count)
        self.zero = k.ir.Constant(self.type, [0.0] * self.count)
        self.nothing = k.ir.Constant(self.type, k.ir.Undefined)

    def _ints(self, values: list[int]) -> Any:
        ir = self.k.ir
        return ir.Constant(ir.VectorType(ir.IntType(32), len(values)), values)

    def mask(self, at: Lanes, n: Any) -> Any:
        """Where a step that ends before n windows has elements."""
        if at.mask is None:
            return None
        ir, b = self.k.ir, self.k.builder
        word = ir.IntType(32)
        left = b.trunc(b.sub(n, at.i), word)
        end = b.sub(b.mul(left, ir.Constant(word, self.stride)), ir.Constant(word, self.stride - self.width))
        one = b.insert_element(self._undefined(), end, ir.Constant(word, 0))
        ends = b.shuffle_vector(one, self._undefined(), self._ints([0] * self.count))
        return b.icmp_signed("<", self._ints(list(range(self.count))), ends)

    def _undefined(self) -> Any:
        ir = self.k.ir
        return ir.Constant(ir.VectorType(ir.IntType(32), self.count), ir.Undefined)

    def _function(self, what: str, types: list[Any], result: Any) -> Any:
        ir, module = self.k.ir, self.k.module
        name = f"llvm.masked.{what}.v{self.count}f32.p0"
        found = module.globals.get(name)
        return found or ir.Function(module, ir.FunctionType(result, types), name)

    def load(self, place: Any, mask: Any) -> Any:
        k = self.k
        ir, b = k.ir, k.builder
        place = b.bitcast(place, self.type.as_pointer())
        if mask is None:
            return b.load(place, align=4)
        types = [self.type.as_pointer(), ir.IntType(32), mask.type, self.type]
        function = self._function("load", types, self.type)
        return b.call(function, [place, ir.Constant(ir.IntType(32), 4), mask, self.zero])

    def store(self, x: Any, place: Any, mask: Any) -> None:
        k = self.k
        ir, b = k.ir, k.builder
        place = b.bitcast(place, self.type.as_pointer())
        if mask is None:
            b.store(x, place, align=4)
            return
        types = [self.type, self.type.as_pointer(), ir.IntType(32), mask.type]
        function = self._function("store", types, ir.VoidType())
        b.call(function, [x, place, ir.Constant(ir.IntType(32), 4), mask])

    def every(self, x: Any, first: int) -> Any:
        """The element `first` of each lane."""
        if self.stride == 1:
            return x
        places = [first + self.stride * i for i in range(WIDTH)]
        return self.k.builder.shuffle_vector(x, self.nothing, self._ints(places))

    def joined(self, parts: list[Any]) -> Any:
        """The vector whose lanes have these elements, and then zeros."""
        if self.stride == 1:
            return parts[0]
        k = self.k
        parts = parts + [k.constant(k.vector, 0.0)] * (self.stride - len(parts))
        pairs = list(range(2 * WIDTH))
        whole, size = parts[0], WIDTH
        for part in parts[1:]:
            if size > WIDTH:  # as long as the other
                widened = [i if i < WIDTH else 0 for i in range(size)]
                part = k.builder.shuffle_vector(part, k.ir.Constant(k.vector, k.ir.Undefined), self._ints(widened))
            both = pairs if size == WIDTH else list(range(size + WIDTH))
            whole = k.builder.shuffle_vector(whole, part, self._ints(both))
            size += WIDTH
        order = [WIDTH * place + lane for lane in range(WIDTH) for place in range(self.stride)]
        return k.builder.shuffle_vector(whole, self.nothing, self._ints(order))


def _lines(k: Loops, planes: Any, rows: Any, body: Callable[[Any, Any], None]) -> None:
    """body(plane, row) for all rows of windows."""
    k.rows(planes, lambda plane: k.rows(rows, lambda row: body(plane, row)))


def _reading(
    k: Loops, wide: _Wide, kernel: tuple[int, int], at: Lanes, n: Any, line: Callable[[int], Any]
) -> Callable[[int], list[Any]]:
    """What the places of the u-th line of the kernel see, for the windows of a step."""
    mask = wide.mask(at, n)
    start = k.builder.mul(at.i, k.ir.Constant(k.int, wide.stride))

    def seen(u: int) -> list[Any]:
        first = k.at(line(u), start)
        if kernel[1] <= wide.stride:
            read = wide.load(first, mask)
            return [wide.every(read, v) for v in range(kernel[1])]
        steps = range(kernel[1])
        return [wide.every(wide.load(k.at(first, k.ir.Constant(k.int, v)), mask), 0) for v in steps]

    return seen


def _width(kernel: tuple[int, int], stride: tuple[int, int]) -> int:
    return kernel[1] if kernel[1] <= stride[1] else 1


def _pool(kernel: tuple[int, int], stride: tuple[int, int], sums: bool = False) -> Build:
    def build(k: Loops) -> None:
        x, out, planes, height, length, rows, n = k.arguments
        b = k.builder
        wide = _Wide(k, stride[1], _width(kernel, stride))

        def windows(plane: Any, row: Any) -> None:
            top = b.add(b.mul(plane, height), b.mul(row, k.ir.Constant(k.int, stride[0])))
            target = k.at(out, b.mul(b.add(b.mul(plane, rows), row), n))

            def step(at: Lanes) -> list[Any]:
                line = lambda u: k.at(x, b.mul(b.add(top, k.ir.Constant(k.int, u)), length))  # noqa: E731
                seen = _reading(k, wide, kernel, at, n, line)
                best: Any = None
                for u in range(kernel[0]):
                    for value in seen(u):
                        if best is None or sums:
                            best = value if best is None else b.fadd(best, value)
                            continue
                        larger = b.fcmp_ordered(">", value, best)
                        best = b.select(b.or_(larger, b.fcmp_unordered("uno", value, value)), value, best)
                at.store(k.scalar(best), target)
                return []

            k.vectors(n, [], step)

        _lines(k, planes, rows, windows)

    return build


def _pool_back(kernel: tuple[int, int], stride: tuple[int, int]) -> Build:
    """Of maxima, given inputs and results, or of sums. Where windows meet, or leave some elements out, the result must
    hold zeros."""
    apart = all(s >= size for s, size in zip(stride, kernel, strict=True))

    def build(k: Loops) -> None:
        g, *inputs, out, planes, height, length, rows, n = k.arguments
        b = k.builder
        wide = _Wide(k, stride[1], _width(kernel, stride))
        zero = k.constant(k.vector, 0.0)

        def windows(plane: Any, row: Any) -> None:
            top = b.add(b.mul(plane, height), b.mul(row, k.ir.Constant(k.int, stride[0])))
            place = b.mul(b.add(b.mul(plane, rows), row), n)
            gr = k.at(g, place)

            def step(at: Lanes) -> list[Any]:
                starts = [b.mul(b.add(top, k.ir.Constant(k.int, u)), length) for u in range(kernel[0])]
                mask = wide.mask(at, n)
                first = b.mul(at.i, k.ir.Constant(k.int, stride[1]))
                left = at.load(gr).raw  # cotangents that have found no place yet
                free: Any = None
                if inputs:
                    x, y = inputs
                    seen = _reading(k, wide, kernel, at, n, lambda u: k.at(x, starts[u]))
                    best = at.load(k.at(y, place)).raw
                for u in range(kernel[0]):
                    taken = [] if inputs else [left] * kernel[1]
                    for value in seen(u) if inputs else ():
                        hit = b.fcmp_ordered("==", value, best)
                        if free is not None:
                            hit = b.and_(hit, free)
                        taken.append(b.select(hit, left, zero))
                        free = b.not_(hit) if free is None else b.xor(free, hit)
                    target = k.at(k.at(out, starts[u]), first)
                    if kernel[1] <= stride[1]:
                        made = wide.joined(taken)
                        if not apart:
                            made = b.fadd(wide.load(target, mask), made)
                        wide.store(made, target, mask)
                        continue
                    for v, part in enumerate(taken):
                        spot = k.at(target, k.ir.Constant(k.int, v))
                        wide.store(b.fadd(wide.load(spot, mask), wide.joined([part])), spot, mask)
                return []

            k.vectors(n, [], step)

        _lines(k, planes, rows, windows)

    return build


WINDOWS: dict[str, tuple[str, Callable[..., Build]]] = {
    "max_pool": ("ppnnnnn", _pool),
    "max_pool_back": ("ppppnnnnn", _pool_back),
    "sum_pool": ("ppnnnnn", lambda kernel, stride: _pool(kernel, stride, True)),
    "sum_pool_back": ("ppnnnnn", _pool_back),
}
