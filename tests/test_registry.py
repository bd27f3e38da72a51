"""Checks of every op there is. A new op joins by being declared; see inputs.py for what it is called with.

Derivatives along one direction say enough: with a fixed cotangent c and a random direction v, <c, y(x + hv)> must
change by <vjp(c), v>, and by <c, jvp(v)>. Complex values pair as Re(conj(a) b), which is PyTorch's convention.
"""

from __future__ import annotations

import gc
import inspect
import subprocess
import sys
import weakref
from typing import Any

import numpy as np
import pytest
from inputs import (
    DOMAINS,
    FIRST_IS_CONSTANT,
    INTERNAL,
    NO_DERIVATIVE,
    NO_SECOND_DERIVATIVE,
    NOT_BATCHED,
    OUTPUTS,
    STRUCTURE,
    Source,
    cases_of,
)

import tidu
from tidu.autograd import forward_ad
from tidu.core.op import REGISTRY
from tidu.core.tensor import Tensor, tensor_of
from tidu.ops import families

families()  # import them all
OPS = sorted(REGISTRY)
ELEMENTWISE = [n for n in OPS if REGISTRY[n].kind == "elementwise"]
FLOATS = "fc"


@pytest.mark.parametrize("name", OPS)
def test_every_op_has_inputs(name: str) -> None:
    assert cases_of(REGISTRY[name]), (
        f"no inputs declared for the op {name!r}: add a line to CASES in tests/inputs.py (for an elementwise op with "
        f"arguments beside its tensors, to ARGUMENTS). Its forward takes ({', '.join(REGISTRY[name].params)})."
    )


def declared(name: str) -> list[tuple[Any, ...]]:
    cases = cases_of(REGISTRY[name])
    if not cases:
        pytest.skip("no inputs declared, which test_every_op_has_inputs does not pass")
    return cases


def is_float(x: Any) -> bool:
    return isinstance(x, np.ndarray) and x.dtype.kind in FLOATS


class Case:
    """One argument list of an op, with its real and complex inputs laid out flat."""

    def __init__(self, name: str, args: tuple[Any, ...]) -> None:
        self.op, self.args = REGISTRY[name], args
        self.places: list[tuple[int, int | None]] = []
        for i in self.op.positions:
            if i in self.op.lists:
                self.places += [(i, k) for k, x in enumerate(args[i]) if is_float(x)]
            elif is_float(args[i]) and self.has_rule(i):
                self.places.append((i, None))
        self.values = [args[i] if k is None else args[i][k] for i, k in self.places]
        self.rng = np.random.default_rng(17)

    def has_rule(self, i: int) -> bool:
        if i == 0 and self.op.name in FIRST_IS_CONSTANT:
            return False
        return i in self.op.graded and (self.op.joint is not None or i in self.op.rules)

    def everything(self, values: list[Any]) -> list[Any]:
        """All outputs, for tensors in the places of the inputs."""
        full = list(self.args)
        for i in self.op.positions:
            full[i] = [_tensor(x) for x in full[i]] if i in self.op.lists else _tensor(full[i])
        for (i, k), v in zip(self.places, values, strict=True):
            if k is None:
                full[i] = v
            else:
                full[i][k] = v
        out = self.op.call(*full)
        return list(out) if isinstance(out, tuple) else [out]

    def call(self, values: list[Any]) -> list[Any]:
        """The outputs that carry derivatives."""
        keep = OUTPUTS.get(self.op.name)
        return [
            o
            for k, o in enumerate(self.everything(values))
            if k not in self.op.nondiff and (keep is None or k in keep) and (o.is_floating_point() or o.is_complex())
        ]

    def arrays(self, values: list[Any]) -> list[np.ndarray]:
        """The outputs as arrays, nothing recorded."""
        with tidu.no_grad():
            return [o._a.copy() for o in self.call([tensor_of(v.copy()) for v in values])]

    def like(self, arrays: list[Any]) -> list[np.ndarray]:
        """Random arrays of the same shapes and dtypes."""
        return [
            self.rng.standard_normal(a.shape) + (1j * self.rng.standard_normal(a.shape) if a.dtype.kind == "c" else 0)
            for a in arrays
        ]

    def direction(self) -> list[np.ndarray]:
        """A random change of the inputs."""
        keep = STRUCTURE.get(self.op.name, {})
        return [keep[i](v) if i in keep else v for (i, _), v in zip(self.places, self.like(self.values), strict=True)]

    def leaves(self) -> list[Tensor]:
        return [tensor_of(v.copy()).requires_grad_() for v in self.values]


def _tensor(x: Any) -> Any:
    return tensor_of(x.copy()) if isinstance(x, np.ndarray) else x


def pair(a: Any, b: Any) -> float:
    """The real inner product of two lists of arrays; None counts as 0."""
    return float(sum(np.sum(np.real(np.conj(x) * y)) for x, y in zip(a, b, strict=True) if x is not None))


def array(t: Any) -> Any:
    return t if t is None else np.asarray(t.detach()._a)


def slope(f: Any, h: float = 2e-4) -> float:
    """f'(0) by central differences of fourth order."""
    return (8 * (f(h) - f(-h)) - (f(2 * h) - f(-2 * h))) / (12 * h)


def close(a: float, b: float) -> bool:
    return abs(a - b) <= 1e-7 + 2e-6 * max(abs(a), abs(b))


def differentiable(name: str) -> list[Case]:
    """The cases of an op that has a derivative; skips an op that has none."""
    cases = [Case(name, args) for args in declared(name)]
    if not REGISTRY[name].differentiable:
        pytest.skip("the op has no derivative")
    if name in NO_DERIVATIVE:
        pytest.skip("PyTorch records this op and cannot differentiate it")
    return [c for c in cases if c.values] or pytest.skip("no input that PyTorch has a derivative for")


def vjp(case: Case, cotangents: list[np.ndarray], leaves: list[Tensor], graph: bool = False) -> list[Any]:
    outs = case.call(leaves)
    some = [(o, tensor_of(c)) for o, c in zip(outs, cotangents, strict=True) if o.requires_grad]
    assert some, "nothing was recorded"
    return list(
        tidu.autograd.grad([o for o, _ in some], leaves, [c for _, c in some], create_graph=graph, allow_unused=True)
    )


@pytest.mark.parametrize("name", OPS)
def test_reverse_mode_is_the_derivative(name: str) -> None:
    for case in differentiable(name):
        v = case.direction()
        c = case.like(case.arrays(case.values))

        def along(h: float, case: Case = case, v: Any = v, c: Any = c) -> float:
            return pair(c, case.arrays([x + h * d for x, d in zip(case.values, v, strict=True)]))

        got = vjp(case, c, case.leaves())
        for g, x in zip(got, case.values, strict=True):
            assert g is None or (g.shape == x.shape and g._a.dtype == x.dtype)
        assert close(pair([array(g) for g in got], v), slope(along)), case.args


@pytest.mark.parametrize("name", OPS)
def test_forward_mode_is_reverse_mode_transposed(name: str) -> None:
    for case in differentiable(name):
        v = case.direction()
        c = case.like(case.arrays(case.values))
        back = pair([array(g) for g in vjp(case, c, case.leaves())], v)
        with forward_ad.dual_level():
            duals = [
                forward_ad.make_dual(tensor_of(x.copy()), tensor_of(t)) for x, t in zip(case.values, v, strict=True)
            ]
            outs = [forward_ad.unpack_dual(o) for o in case.call(duals)]
            tangents = [array(o.tangent) for o in outs]
            for o, t in zip(outs, tangents, strict=True):
                assert t is None or (t.shape == o.primal._a.shape and t.dtype == o.primal._a.dtype)
        assert close(pair(tangents, c), back), case.args


@pytest.mark.parametrize("name", OPS)
def test_second_derivative(name: str) -> None:
    if name in NO_SECOND_DERIVATIVE:
        pytest.skip("PyTorch does not differentiate this op's gradient")
    for case in differentiable(name):
        u, v = case.direction(), case.direction()
        c = case.like(case.arrays(case.values))

        def along(h: float, case: Case = case, u: Any = u, v: Any = v, c: Any = c) -> float:
            moved = [tensor_of(x + h * d).requires_grad_() for x, d in zip(case.values, v, strict=True)]
            return pair([array(g) for g in vjp(case, c, moved)], u)

        leaves = case.leaves()
        first = vjp(case, c, leaves, graph=True)
        assert close(pair([array(g) for g in first], u), along(0.0)), "create_graph changes the gradient"
        again = [(g, tensor_of(d)) for g, d in zip(first, u, strict=True) if g is not None and g.requires_grad]
        second: list[Any] = [None] * len(leaves)
        if again:
            second = list(tidu.autograd.grad([g for g, _ in again], leaves, [d for _, d in again], allow_unused=True))
        assert close(pair([array(g) for g in second], v), slope(along)), case.args


COMPLEX = """
    add sub mul div rsub neg square pow.number reciprocal sqrt exp exp2 log log2 log10 sin cos tan
    asin acos atan sinh cosh tanh asinh atanh sigmoid sinc add.scaled sub.scaled addcmul addcdiv
    lerp lerp.tensor where mm bmm mv dot sum mean
    """.split()


@pytest.mark.parametrize("name", COMPLEX)
def test_complex_derivatives(name: str) -> None:
    for args in declared(name):
        r = Source("imag " + name)
        args = tuple(a + 1j * r(*a.shape, low=0.2, high=0.8) if is_float(a) else a for a in args)
        case = Case(name, args)
        v = case.direction()
        c = case.like(case.arrays(case.values))

        def along(h: float, case: Case = case, v: Any = v, c: Any = c) -> float:
            return pair(c, case.arrays([x + h * d for x, d in zip(case.values, v, strict=True)]))

        assert close(pair([array(g) for g in vjp(case, c, case.leaves())], v), slope(along))


# ------------------------------------------------------------------ the elementwise kind


def first_case(name: str) -> tuple[Any, ...]:
    return declared(name)[0]


def run(name: str, args: tuple[Any, ...]) -> np.ndarray:
    op = REGISTRY[name]
    return op.call(*[tensor_of(a) if i in op.positions and a is not None else a for i, a in enumerate(args)])._a


@pytest.mark.parametrize("name", ELEMENTWISE)
def test_elementwise_shapes_and_layouts(name: str) -> None:
    args = floats(name)
    positions = REGISTRY[name].positions
    whole = run(name, args)
    assert whole.shape == (3, 4)

    def mapped(f: Any) -> tuple[Any, ...]:
        return tuple(f(a) if i in positions and a is not None else a for i, a in enumerate(args))

    single = run(name, mapped(lambda a: a[1, 2]))
    assert isinstance(single, np.ndarray) and single.shape == ()
    np.testing.assert_allclose(single, whole[1, 2], rtol=1e-12)
    assert run(name, mapped(lambda a: a[:0])).shape == (0, 4)
    turned = run(name, mapped(lambda a: a.T))
    np.testing.assert_allclose(turned, whole.T, rtol=1e-12)
    np.testing.assert_allclose(run(name, mapped(lambda a: a[::2, ::-1])), whole[::2, ::-1], rtol=1e-12)


def floats(name: str) -> tuple[Any, ...]:
    """The first case, in the dtype that the op takes: integers where it refuses floats."""
    args = first_case(name)
    try:
        run(name, args)
    except NotImplementedError:
        args = tuple(np.abs(a * 5).astype(np.int64) + 1 if is_float(a) else a for a in args)
    return args


TWO = [n for n in ELEMENTWISE if len(REGISTRY[n].positions) > 1]


@pytest.mark.parametrize("name", TWO)
def test_elementwise_broadcasts_and_sums_back(name: str) -> None:
    op, args = REGISTRY[name], floats(name)
    first, second = op.positions[:2]
    small = list(args)
    small[first], small[second] = args[first][:, :1], args[second][0]
    full = list(small)
    full[first], full[second] = (np.broadcast_to(x, (3, 4)).copy() for x in (small[first], small[second]))
    np.testing.assert_allclose(run(name, tuple(small)), run(name, tuple(full)), rtol=1e-12)
    if not op.differentiable or name in NO_DERIVATIVE or name in FIRST_IS_CONSTANT:
        return
    a, b = Case(name, tuple(small)), Case(name, tuple(full))
    c = a.like(a.arrays(a.values))
    for g, whole, x in zip(vjp(a, c, a.leaves()), vjp(b, c, b.leaves()), a.values, strict=True):
        if g is not None:
            axes = tuple(range(whole.ndim - x.ndim)) + tuple(
                i + whole.ndim - x.ndim for i, n in enumerate(x.shape) if n == 1
            )
            np.testing.assert_allclose(array(g), array(whole).sum(axes).reshape(x.shape), rtol=1e-12)
    with pytest.raises(RuntimeError, match="must match the size of tensor b"):
        bad = list(args)
        bad[second] = args[second][:, :3]
        run(name, tuple(bad))


@pytest.mark.parametrize("dtype", ["int64", "int32", "uint8", "bool"])
@pytest.mark.parametrize("name", [n for n in ELEMENTWISE if n not in INTERNAL])
def test_elementwise_integers(name: str, dtype: str) -> None:
    """An op refuses integers, or keeps them, or computes in the default floating type."""
    args = first_case(name)
    low, high = DOMAINS.get(name, (0.0, 3.0))
    r = Source(name)
    args = tuple(np.maximum(r(3, 4, low=low, high=max(high, 3.0)), 1).astype(dtype) if is_float(a) else a for a in args)
    try:
        got = run(name, args)
    except (NotImplementedError, RuntimeError):
        return
    assert got.dtype in (np.dtype(dtype), np.dtype(bool), np.dtype(np.float32), np.dtype(np.int64))
    if got.dtype == np.float32:
        wide = run(name, tuple(a.astype(np.float32) if isinstance(a, np.ndarray) else a for a in args))
        np.testing.assert_array_equal(got, wide)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32"])
@pytest.mark.parametrize("name", ELEMENTWISE)
def test_elementwise_narrow_floats(name: str, dtype: str) -> None:
    d = getattr(tidu, dtype).np
    if any(isinstance(a, np.ndarray) and a.dtype.kind == "c" for a in first_case(name)):
        pytest.skip("the op is for complex numbers")
    args = tuple(a.astype(d) if is_float(a) else a for a in first_case(name))
    try:
        got = run(name, args)
    except NotImplementedError:
        return
    wide = run(name, tuple(a.astype(np.float64) if isinstance(a, np.ndarray) else a for a in args))
    if wide.dtype.kind in "bc":
        np.testing.assert_array_equal(got, wide)
        return
    assert got.dtype == d
    if REGISTRY[name].differentiable and name not in NO_DERIVATIVE:  # a step may fall on the other side
        tolerance = {"float16": 4e-3, "bfloat16": 3e-2, "float32": 1e-5}[dtype]
        np.testing.assert_allclose(got.astype(np.float64), wide, rtol=tolerance, atol=tolerance)


# ------------------------------------------------------------------ in place, out=, memory


def in_face(name: str) -> bool:
    return "." not in name and hasattr(tidu, name)


def tidu_parameters(name: str) -> Any:
    return inspect.signature(getattr(tidu, name)).parameters


INPLACE = [n for n in ELEMENTWISE if in_face(n) and hasattr(Tensor, n + "_")]


class Public:
    """An elementwise op as users call it, for its first case."""

    def __init__(self, name: str) -> None:
        self.name, op, args = name, REGISTRY[name], floats(name)
        kinds = inspect.signature(op.forward).parameters.values()
        given = [(p.name, p.kind, _tensor(a)) for p, a in zip(kinds, args, strict=True)]
        self.args = [a for _, kind, a in given if kind != kind.KEYWORD_ONLY]
        self.kw = {n: a for n, kind, a in given if kind == kind.KEYWORD_ONLY}

    def __call__(self, *args: Any, **kw: Any) -> Any:
        """The function; polygamma's order of arguments is its own."""
        return getattr(tidu, self.name)(*(args[::-1] if self.name == "polygamma" else args), **self.kw, **kw)

    def write(self, x: Any, *args: Any) -> Any:
        return getattr(x, self.name + "_")(*args, **self.kw)


@pytest.mark.parametrize("name", INPLACE)
def test_in_place(name: str) -> None:
    f = Public(name)
    first, *rest = f.args
    expected = f(first, *rest).numpy().astype(first.numpy().dtype)
    x = first.clone()
    memory = x.numpy()
    assert f.write(x, *rest) is x
    assert x._version == 1
    np.testing.assert_array_equal(memory, expected)
    view = tidu.zeros(6, 4, dtype=first.dtype)[::2]
    view.copy_(first)
    f.write(view, *rest)
    np.testing.assert_array_equal(view.numpy(), expected)


@pytest.mark.parametrize("name", INPLACE)
def test_in_place_is_recorded(name: str) -> None:
    op = REGISTRY[name]
    if not op.differentiable or name in NO_DERIVATIVE or name in FIRST_IS_CONSTANT:
        pytest.skip("the op has no derivative")
    f = Public(name)
    first, *rest = f.args
    weights = tensor_of(np.arange(1.0, 13.0).reshape(3, 4))
    for whole in (True, False):
        leaf, fresh = first.clone().requires_grad_(), first.clone().requires_grad_()
        x, y = leaf * 1.0, fresh * 1.0
        if whole:
            f.write(x, *rest)
            y = f(y, *rest)
            assert type(x.grad_fn).__name__ == type(y.grad_fn).__name__
        else:  # through a view
            part = [a[1] if isinstance(a, Tensor) and a.ndim else a for a in rest]
            f.write(x[1], *part)
            y = tidu.stack([y[0], f(y[1], *part), y[2]])
        (x * weights).sum().backward()
        (y * weights).sum().backward()
        np.testing.assert_allclose(leaf.grad.numpy(), fresh.grad.numpy(), rtol=1e-12)


WITH_OUT = [n for n in ELEMENTWISE if in_face(n) and REGISTRY[n].out_arg and "out" in tidu_parameters(n)]


@pytest.mark.parametrize("name", WITH_OUT)
def test_out(name: str) -> None:
    f = Public(name)
    expected = f(*f.args)
    out = tidu.empty(0, dtype=expected.dtype)
    assert f(*f.args, out=out) is out
    np.testing.assert_array_equal(out.numpy(), expected.numpy())


@pytest.mark.parametrize("name", OPS)
def test_recording_makes_no_cycle(name: str) -> None:
    """Memory goes with the last output, without the garbage collector."""
    for case in differentiable(name):
        leaves = case.leaves()
        gc.collect()
        gc.disable()
        try:
            outs = case.call(leaves)
            alive = [weakref.ref(o.grad_fn) for o in outs if o.grad_fn is not None]
            assert alive
            del outs
            assert all(ref() is None for ref in alive)
        finally:
            gc.enable()


# ------------------------------------------------------------------ batches


@pytest.mark.parametrize("name", [n for n in OPS if n not in NOT_BATCHED])
def test_vmap_is_a_loop(name: str) -> None:
    op = REGISTRY[name]
    for args in declared(name)[:2]:
        case = Case(name, args)
        case.places = [
            (i, k)
            for i in op.positions
            for k in (range(len(args[i])) if i in op.lists else (None,))
            if is_float(args[i] if k is None else args[i][k])
        ]
        values = [args[i] if k is None else args[i][k] for i, k in case.places]
        if not values:
            pytest.skip("no input of floats")
        some = [tuple(range(len(values)))] + [(k,) for k in range(len(values)) if len(values) > 1]
        for batched in some:
            rows = [[v * (1 - 0.01 * row) if k in batched else v for k, v in enumerate(values)] for row in range(2)]
            loop = [case.everything([tensor_of(v.copy()) for v in row]) for row in rows]
            stacked = [
                tensor_of(np.stack([row[k] for row in rows]) if k in batched else v.copy())
                for k, v in enumerate(values)
            ]
            dims = tuple(0 if k in batched else None for k in range(len(values)))
            got = tidu.func.vmap(lambda *v, case=case: tuple(case.everything(list(v))), in_dims=dims)(*stacked)
            for k, out in enumerate(got):
                np.testing.assert_allclose(out._a, np.stack([one[k]._a for one in loop]), rtol=1e-12, atol=1e-14)


def test_methods_have_signatures_and_texts_before_first_use() -> None:
    program = """
import inspect, tidu
assert tidu.Tensor.cummax.__doc__.startswith("The greatest") and "dim" in inspect.signature(tidu.Tensor.cummax).parameters

class Loud(tidu.Tensor):
    def lgamma(self):
        print("once")
        return super().lgamma()

Loud([1.0]).lgamma()
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "once\n"
