"""The native loops of pooling and of plane convolutions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tidu.arrays.native_loops import WIDTH, Lanes, Loops

Build = Callable[[Loops], None]

# ------------------------------------------------------------------ pooling: lanes are neighbouring windows of a line

# All take (arrays, planes, then for input and output the lines' number and length). Windows lie inside the planes. A
# window's lines are read as whole vectors, `stride` times as wide as the windows' own, of which shuffles take each
# place; so they are made for a few strides only.


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
    start = k.builder.mul(at.i, k.whole(wide.stride))

    def seen(u: int) -> list[Any]:
        first = k.at(line(u), start)
        if kernel[1] <= wide.stride:
            read = wide.load(first, mask)
            return [wide.every(read, v) for v in range(kernel[1])]
        steps = range(kernel[1])
        return [wide.every(wide.load(k.at(first, k.whole(v)), mask), 0) for v in steps]

    return seen


def _width(kernel: tuple[int, int], stride: tuple[int, int]) -> int:
    return kernel[1] if kernel[1] <= stride[1] else 1


def _pool(kernel: tuple[int, int], stride: tuple[int, int], sums: bool = False) -> Build:
    def build(k: Loops) -> None:
        x, out, planes, height, length, rows, n = k.arguments
        b = k.builder
        wide = _Wide(k, stride[1], _width(kernel, stride))

        def windows(plane: Any, row: Any) -> None:
            top = b.add(b.mul(plane, height), b.mul(row, k.whole(stride[0])))
            target = k.at(out, b.mul(b.add(b.mul(plane, rows), row), n))

            def step(at: Lanes) -> list[Any]:
                line = lambda u: k.at(x, b.mul(b.add(top, k.whole(u)), length))  # noqa: E731
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
            top = b.add(b.mul(plane, height), b.mul(row, k.whole(stride[0])))
            place = b.mul(b.add(b.mul(plane, rows), row), n)
            gr = k.at(g, place)

            def step(at: Lanes) -> list[Any]:
                starts = [b.mul(b.add(top, k.whole(u)), length) for u in range(kernel[0])]
                mask = wide.mask(at, n)
                first = b.mul(at.i, k.whole(stride[1]))
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
                        spot = k.at(target, k.whole(v))
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


# ------------------------------------------------------------------ convolutions: lanes are output channels

# Numbers of the input are spread over them. No columns are laid out: a tile of neighbouring outputs stays in registers
# while all channels and places of the kernel pass by, and is turned around there to be written channel by channel.


def _to_registers(k: Loops) -> None:
    if not k.wide:
        k.set_width(WIDTH // 2)


def _turned(k: Loops, rows: list[Any]) -> list[Any]:
    """Some vectors as a square matrix, transposed: blocks of half its size, a quarter and so on change places."""
    rows = rows + [k.ir.Constant(k.vector, k.ir.Undefined)] * (k.width - len(rows))
    step = k.width // 2
    while step:
        low = [lane if not lane & step else k.width + lane - step for lane in range(k.width)]
        high = [lane + step if not lane & step else k.width + lane for lane in range(k.width)]
        first, second = (k.ir.Constant(k.ints, places) for places in (low, high))
        for i in range(k.width):
            if not i & step:
                a, b = rows[i], rows[i + step]
                rows[i] = k.builder.shuffle_vector(a, b, first)
                rows[i + step] = k.builder.shuffle_vector(a, b, second)
        step //= 2
    return rows


class _Adder:
    """Sums of products of places, for addresses."""

    def __init__(self, k: Loops) -> None:
        self.k = k

    def __call__(self, *terms: Any) -> Any:
        b = self.k.builder
        total: Any = None
        for term in terms:
            if isinstance(term, tuple):
                first, second = (self._of(t) for t in term)
                term = b.mul(first, second)
            total = self._of(term) if total is None else b.add(total, self._of(term))
        return total

    def _of(self, x: Any) -> Any:
        return self.k.whole(x) if isinstance(x, int) else x


def _vector(k: Loops, place: Any) -> Any:
    return k.builder.load(k.builder.bitcast(place, k.vector.as_pointer()), align=4)


def _store(k: Loops, x: Any, place: Any, count: int) -> None:
    """The first `count` lanes."""
    ir, b = k.ir, k.builder
    if not k.wide and count < k.width:  # stores under a mask are slow
        x = b.shuffle_vector(x, x, ir.Constant(ir.VectorType(ir.IntType(32), count), list(range(count))))
    if not k.wide or count == k.width:
        b.store(x, b.bitcast(place, x.type.as_pointer()), align=4)
        return
    place = b.bitcast(place, k.vector.as_pointer())
    bits = ir.VectorType(ir.IntType(1), k.width)
    name = f"llvm.masked.store.v{k.width}f32.p0"
    types = [k.vector, k.vector.as_pointer(), ir.IntType(32), bits]
    function = k.module.globals.get(name) or ir.Function(k.module, ir.FunctionType(ir.VoidType(), types), name)
    mask = ir.Constant(bits, [int(lane < count) for lane in range(k.width)])
    b.call(function, [x, place, ir.Constant(ir.IntType(32), 4), mask])


def _spread(k: Loops, place: Any) -> Any:
    return k.spread(k.scalar(k.builder.load(place))).raw


def _times_plus(k: Loops, x: Any, y: Any, z: Any) -> Any:
    return k.intrinsic("llvm.fmuladd", [x, y, z])


def _least(k: Loops, x: Any, y: Any, sign: str = "<") -> Any:
    return k.builder.select(k.builder.icmp_signed(sign, x, y), x, y)


def _correlate(width: int, stride: tuple[int, int], tile: int, shorter: bool, groups: int) -> Build:
    """(x, w, bias, out, samples, channels, rows and length of x, rows of padding above, rows of the kernel, blocks of
    output channels, rows and length of the output).

    w is laid out as (blocks, channels, rows, width, groups of lanes, lanes); x is padded along its lines.
    """

    def build(k: Loops) -> None:
        x, w, bias, out, samples, channels, height, length, above, kernel, blocks, rows, n, whole = k.arguments
        _to_registers(k)
        sum_ = _Adder(k)
        zero, lanes = k.whole(0), groups * k.width
        line = width * lanes  # elements of a line of the kernel

        def one(sample: Any, block: Any, row: Any) -> None:
            top = sum_((row, stride[0]), (above, -1))
            low = _least(k, sum_(zero, (top, -1)), zero, ">")
            high = _least(k, kernel, sum_(height, (top, -1)))
            count = sum_(high, (low, -1))

            def step(i: Any, tile: int) -> list[Any]:
                start = _least(k, i, sum_(n, -tile))
                column = sum_((start, stride[1]))
                begin = [
                    k.scalar(_vector(k, k.at(bias, sum_((block, lanes), g * k.width))))
                    for g in range(groups)
                    for _ in range(tile)
                ]

                def channel(c: Any, *sums: Any) -> Any:
                    plane = sum_((sample, channels), c)
                    first = sum_(((sum_((plane, height), top, low)), length), column)
                    matrix = sum_((sum_((sum_((block, channels), c), kernel), low), line))

                    def lines(u: Any, *sums: Any) -> Any:
                        xs = k.at(x, sum_(first, (u, length)))
                        ws = k.at(w, sum_(matrix, (u, line)))
                        seen: dict[int, Any] = {}

                        def place(v: Any, *sums: Any) -> Any:
                            raws = [s.raw for s in sums]
                            ahead = [_vector(k, k.at(ws, sum_((v, lanes), g * k.width))) for g in range(groups)]
                            for t in range(tile):
                                at = t * stride[1] + v if isinstance(v, int) else -t
                                if at not in seen:
                                    seen[at] = _spread(k, k.at(xs, sum_(v, t * stride[1])))
                                for g in range(groups):
                                    j = g * tile + t
                                    raws[j] = _times_plus(k, seen[at], ahead[g], raws[j])
                            return [k.scalar(r) for r in raws]

                        if not k.wide:
                            return k.loop(sum_(width), 1, sums, place)
                        for v in range(width):
                            sums = place(v, *sums)
                        return sums

                    return k.loop(count, 1, sums, lines)

                sums = k.loop(channels, 1, begin, channel)
                for g in range(groups):
                    turned = _turned(k, [s.raw for s in sums[g * tile : (g + 1) * tile]])
                    for o in range(k.width):
                        plane = sum_((sum_((sample, blocks), block), lanes), g * k.width + o)
                        place = sum_((sum_((plane, rows), row), n), start)
                        _store(k, turned[o], k.at(out, place), tile)
                return []

            k.loop(whole, tile, (), lambda i: step(i, tile))
            if shorter:
                k.steps(whole, n, tile - 1, (), lambda i: step(i, tile - 1))

        k.rows(samples, lambda s: k.rows(blocks, lambda o: k.rows(rows, lambda i: one(s, o, i))))

    return build


def _channels_last(k: Loops) -> None:
    """(x, out, matrices, rows, length, rounded): each matrix transposed; rows are a multiple of sixteen, and lines of
    the result as many as `rounded` tells, the length rounded up to one."""
    x, out, matrices, rows, n, rounded = k.arguments
    _to_registers(k)
    b, sum_ = k.builder, _Adder(k)
    whole = b.mul(b.sdiv(n, sum_(k.width)), sum_(k.width))

    def one(matrix: Any, row: Any) -> Any:
        source, target = sum_((sum_((matrix, rows), row), n)), sum_((matrix, sum_((rounded, rows))), row)

        def step(at: Any) -> list[Any]:
            taken = [at.load(k.at(x, sum_(source, (n, o)))).raw for o in range(k.width)]
            for j, made in enumerate(_turned(k, taken)):
                _store(k, made, k.at(out, sum_(target, (sum_(at.i, j), rows))), k.width)
            return []

        return k.rest(whole, n, k.loop(whole, k.width, (), lambda i: step(Lanes(k, i, None))), step)

    k.loop(matrices, 1, (), lambda m: k.loop(rows, k.width, (), lambda r: one(m, r)))


def _weight(kernel: tuple[int, int], stride: tuple[int, int], groups: int) -> Build:
    """(g, x, out, samples, channels, rows and length of x, output channels, rows and length of the output, rounded,
    rows at a time).

    g has its channels last, and as many places as `rounded` tells; to out is added, which is (output channels / lanes,
    channels, places of the kernel, lanes), groups of lanes together. Some rows of g stay in the nearest cache while all
    channels pass by, and what they add to some lines of the kernel in registers.
    """

    def build(k: Loops) -> None:
        g, x, out, samples, channels, height, length, outs, rows, n, rounded, most = k.arguments
        _to_registers(k)
        sum_ = _Adder(k)
        lanes, lines = groups * k.width, kernel[0] if k.wide else 1
        count = lines * kernel[1]

        def some(sample: Any, begin: Any, first: Any, c: Any) -> Any:
            plane = sum_((sum_((sample, channels), c), height))
            end = _least(k, rows, sum_(begin, most))
            matrix = sum_((first, sum_((channels, kernel[0] * kernel[1]))), (c, kernel[0] * kernel[1] * lanes))

            def part(u: Any) -> Any:
                target = k.at(out, sum_(matrix, (u, kernel[1] * lanes)))
                places = [k.at(target, sum_(j * k.width)) for j in range(count * groups)]

                def row(i: Any, *sums: Any) -> Any:
                    line = sum_((sum_(plane, (i, stride[0]), u), length))
                    seen = [k.at(x, sum_(line, (length, v))) for v in range(lines)]
                    ahead = k.at(g, sum_((sum_((sample, rounded), (i, n)), outs), first))

                    def column(j: Any, *sums: Any) -> Any:
                        raws = [s.raw for s in sums]
                        at = [
                            _spread(k, k.at(line, sum_((j, stride[1]), v))) for line in seen for v in range(kernel[1])
                        ]
                        for group in range(groups):
                            cotangent = _vector(k, k.at(ahead, sum_((j, outs), group * k.width)))
                            for place, x in enumerate(at):
                                made = place * groups + group
                                raws[made] = _times_plus(k, x, cotangent, raws[made])
                        return [k.scalar(r) for r in raws]

                    return k.loop(n, 1, sums, column)

                sums = k.steps(begin, end, 1, [k.scalar(_vector(k, place)) for place in places], row)
                for place, total in zip(places, sums, strict=True):
                    _store(k, total.raw, place, k.width)
                return ()

            k.loop(sum_(kernel[0]), lines, (), part)
            return ()

        k.loop(
            outs,
            lanes,
            (),
            lambda o: k.loop(
                samples,
                1,
                (),
                lambda s: k.steps(
                    sum_(0), rows, most, (), lambda i: k.loop(channels, 1, (), lambda c: some(s, i, o, c))
                ),
            ),
        )

    return build


CONVOLUTIONS: dict[str, tuple[str, Callable[..., Build]]] = {
    "correlate": ("ppppnnnnnnnnnn", _correlate),
    "correlate_weight": ("pppnnnnnnnnn", _weight),
    "channels_last": ("ppnnnn", lambda: _channels_last),
}
