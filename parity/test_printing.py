"""The printed text of random tensors under random print options, against a live PyTorch."""

from __future__ import annotations

import contextlib
import io
import textwrap
import warnings
from collections.abc import Iterator
from typing import Any

import ml_dtypes
import numpy as np
import pytest
import torch

import tidu
from tidu import dtypes, printing
from tidu.core.tensor import Tensor, tensor_of

FLOATS = [np.float16, np.float32, np.float64, ml_dtypes.bfloat16]
COMPLEX = [np.complex64, np.complex128]
INTEGERS = [np.bool_, np.uint8, np.int8, np.int16, np.int32, np.int64, np.uint16, np.uint32, np.uint64]
SPECIAL = [0.0, -0.0, np.inf, -np.inf, np.nan]
CASES_PER_SEED = 250


@pytest.fixture(autouse=True)
def restored() -> Iterator[None]:
    yield
    torch.set_printoptions(profile="default")
    printing.set_printoptions(profile="default")
    torch.set_default_dtype(torch.float32)
    dtypes.set_default_dtype(dtypes.float32)


def random_shape(rng: np.random.Generator) -> tuple[int, ...]:
    if rng.random() < 0.05:
        return (int(rng.integers(900, 1500)),)
    ndim = int(rng.integers(0, 6))
    smallest = 0 if rng.random() < 0.1 else 1
    return tuple(int(n) for n in rng.integers(smallest, [1, 41, 13, 9, 6, 4][ndim], ndim))


def random_reals(rng: np.random.Generator, shape: tuple[int, ...], wide: bool) -> np.ndarray:
    """Numbers of one of the kinds that printing tells apart."""
    n = int(np.prod(shape))
    decades = 300 if wide and rng.random() < 0.3 else 12
    scale = 10.0 ** rng.integers(-decades, decades)
    normal = rng.standard_normal(n)
    sign = rng.choice([-1, 1], n)
    kinds = [
        lambda: normal,
        lambda: normal * scale,
        lambda: -np.abs(normal * scale),
        lambda: np.round(normal * 10.0 ** rng.integers(0, 10)),
        lambda: normal * 10.0 ** rng.integers(-4, 4, n),
        lambda: rng.integers(-9, 10, n) / rng.choice([1, 2, 4, 8, 1000]),
        # around the powers of ten, where rounding adds a digit
        lambda: sign * 10.0 ** rng.integers(-6, 10, n) * rng.choice([1, 0.99999, 0.999999, 9.9999999], n),
        # around the limits of the choice for scientific notation
        lambda: rng.choice([0, 1, -1, 1e-4, 1e-5, 1000, 1001, 1e8, 1.1e8], n),
        lambda: np.zeros(n),
    ]
    x = kinds[rng.integers(len(kinds))]()
    if rng.random() < 0.3:
        x = np.where(rng.random(n) < 0.2, rng.choice(SPECIAL, n), x)
    return np.asarray(x, np.float64).reshape(shape)


def random_array(rng: np.random.Generator) -> np.ndarray:
    shape = random_shape(rng)
    family = rng.random()
    with np.errstate(all="ignore"):
        if family < 0.55:
            dtype: Any = FLOATS[rng.integers(len(FLOATS))]
            return random_reals(rng, shape, dtype is np.float64).astype(dtype)
        if family < 0.75:
            dtype = COMPLEX[rng.integers(len(COMPLEX))]
            a = np.empty(shape, dtype)
            a.real = random_reals(rng, shape, dtype is np.complex128)
            a.imag = random_reals(rng, shape, dtype is np.complex128)
            return a
    dtype = INTEGERS[rng.integers(len(INTEGERS))]
    if dtype is np.bool_:
        return np.asarray(rng.random(shape) < rng.choice([0, 0.5, 1]))
    limits = np.iinfo(dtype)
    reach = 10 ** int(rng.choice([1, 3, 20]))
    low, high = max(limits.min, -reach), min(limits.max, reach)
    return np.asarray(rng.integers(low, high, shape, dtype=dtype, endpoint=True))


def random_options(rng: np.random.Generator) -> dict[str, Any]:
    choices: dict[str, list[Any]] = {
        "precision": list(range(12)),
        "threshold": [0, 1, 5, 20, 100, float("inf")],
        "edgeitems": list(range(5)),
        "linewidth": list(range(1, 200)),
        "profile": ["default", "short", "full", "none such"],
        "sci_mode": [True, False],
    }
    return {k: v[rng.integers(len(v))] for k, v in choices.items() if rng.random() < 0.35}


def as_torch(a: np.ndarray) -> torch.Tensor:
    if a.dtype == ml_dtypes.bfloat16:
        return torch.from_numpy(a.view(np.int16).copy()).view(torch.bfloat16)
    return torch.from_numpy(a.copy())


def set_options(options: dict[str, Any]) -> None:
    torch.set_printoptions(**options)
    printing.set_printoptions(**options)


@pytest.mark.parametrize("seed", range(20))
def test_random_tensors(seed: int) -> None:
    rng = np.random.default_rng(seed)
    for _ in range(CASES_PER_SEED):
        set_options({"profile": "default"})
        options = random_options(rng)
        set_options(options)
        default = rng.choice(["float32", "float64", "float16", "bfloat16"], p=[0.7, 0.1, 0.1, 0.1])
        torch.set_default_dtype(getattr(torch, default))
        dtypes.set_default_dtype(getattr(dtypes, default))

        a = random_array(rng)
        theirs, ours = as_torch(a), tensor_of(a)
        if rng.random() < 0.2 and (theirs.is_floating_point() or theirs.is_complex()):
            theirs.requires_grad_(True)
            ours.requires_grad = True
        expected = repr(theirs)
        assert printing.tensor_repr(ours) == expected, (options, default, a.dtype, a.shape)


@pytest.mark.parametrize("seed", range(4))
def test_memory_layout_does_not_show(seed: int) -> None:
    rng = np.random.default_rng(1000 + seed)
    for _ in range(50):
        set_options({"threshold": int(rng.choice([5, 1000]))})
        a = random_array(rng)
        theirs = as_torch(a)
        if a.ndim:
            order = [int(i) for i in rng.permutation(a.ndim)]
            a, theirs = a.transpose(order), theirs.permute(order)
            a, theirs = a[::2], theirs[::2]
        a = np.broadcast_to(a, (2, *a.shape))
        theirs = theirs.expand(2, *theirs.shape)
        assert printing.tensor_repr(tensor_of(a)) == repr(theirs)


@pytest.mark.parametrize("linewidth", [40, 80])
@pytest.mark.parametrize("n", range(1, 25))
def test_where_suffixes_wrap(n: int, linewidth: int) -> None:
    set_options({"linewidth": linewidth})
    for shape in [(n,), (2, n), (n, 0)]:
        for dtype in (np.float32, np.float64):
            a = np.ones(shape, dtype)
            ours = tensor_of(a)
            ours.requires_grad = True
            assert printing.tensor_repr(ours) == repr(as_torch(a).requires_grad_())


def outcome(f: Any) -> tuple[str, str]:
    try:
        return "text", f()
    except Exception as e:
        return type(e).__name__, str(e)


@pytest.mark.parametrize("spec", ["", ".3f", "8.2e", ">12", "08.3f", "d", "x", "b", ",", "g", "%", "s", "q"])
def test_format(spec: str) -> None:
    arrays = [np.array(x) for x in (2.5, -3, True, 1 - 2j, 1e300, float("nan"))]
    arrays += [np.array(0.1, np.float32), np.array(0.1, np.float16), np.array(0.1, ml_dtypes.bfloat16)]
    arrays += [np.ones(1), np.zeros((2, 2), np.int32)]
    for a in arrays:
        theirs, ours = as_torch(a), tensor_of(a)
        expected = outcome(lambda theirs=theirs: format(theirs, spec))
        if a.ndim and not spec:
            assert printing.tensor_repr(ours) == expected[1]
        else:
            assert outcome(lambda ours=ours: printing.tensor_format(ours, spec)) == expected, (a, spec)


def test_subclasses() -> None:
    class Celsius(Tensor):
        pass

    class Theirs(torch.Tensor):
        pass

    Theirs.__name__ = "Celsius"
    for a in (np.ones(3, np.float32), np.ones((2, 2)), np.array(1, np.float32), np.zeros((0, 2), np.float32)):
        ours = tensor_of(a)
        ours.__class__ = Celsius
        assert printing.tensor_repr(ours) == repr(as_torch(a).as_subclass(Theirs))
        assert outcome(lambda ours=ours: printing.tensor_format(ours, ".2f")) == outcome(
            lambda a=a: format(as_torch(a).as_subclass(Theirs), ".2f")
        )


def test_parameters() -> None:
    class Parameter(Tensor):
        _is_param = True

    class Weight(Parameter):
        pass

    class TheirWeight(torch.nn.Parameter):
        pass

    TheirWeight.__name__ = "Weight"
    a = np.ones((2, 3), np.float32)
    for ours_class, theirs_class in [(Parameter, torch.nn.Parameter), (Weight, TheirWeight)]:
        ours = tensor_of(a)
        ours.requires_grad = True
        ours.__class__ = ours_class
        theirs = repr(theirs_class(as_torch(a)))
        assert "Parameter containing:\n" + printing.tensor_repr(ours) == theirs


def test_wrappers() -> None:
    inner = np.arange(4, dtype=np.float32).reshape(2, 2)
    text = printing.tensor_repr(tensor_of(inner))
    seen = []

    def look(x: torch.Tensor) -> torch.Tensor:
        seen.append(repr(x))
        return x.sum()

    torch.func.grad(look)(as_torch(inner))
    torch.vmap(look)(as_torch(inner))
    torch.vmap(look, in_dims=1)(as_torch(inner))
    assert seen == [
        printing.grad_tracking_repr(text, 1),
        printing.batched_repr(text, 1, 0),
        printing.batched_repr(text, 1, 1),
    ]


def test_tangent() -> None:
    a = np.arange(30, dtype=np.float32)
    with warnings.catch_warnings(), torch.autograd.forward_ad.dual_level():
        warnings.simplefilter("ignore")
        for n in (2, 12, 30):
            dual = torch.autograd.forward_ad.make_dual(as_torch(a[:n]), as_torch(a[:n]))
            tangent = printing.tensor_repr(tensor_of(a[:n]))
            assert printing.tensor_repr(tensor_of(a[:n]), tangent=tangent) == repr(dual)


def test_contents() -> None:
    a = np.ones(3)
    theirs = as_torch(a).__repr__(tensor_contents="[?]")
    assert printing.tensor_repr(tensor_of(a), tensor_contents="[?]") == theirs


def test_options_state() -> None:
    rng = np.random.default_rng(7)
    for _ in range(200):
        set_options(random_options(rng))
        assert printing.get_printoptions() == torch._tensor_str.get_printoptions()
    with printing.printoptions(precision=1), torch._tensor_str.printoptions(precision=1):
        assert printing.get_printoptions() == torch._tensor_str.get_printoptions()
    assert printing.get_printoptions() == torch._tensor_str.get_printoptions()


@pytest.mark.parametrize("options", [{"linewidth": float("inf")}, {"precision": -1}])
def test_unusable_options(options: dict[str, Any]) -> None:
    set_options(options)
    a = np.array([0.5, 1.5], np.float32)
    theirs = outcome(lambda: repr(as_torch(a)))
    assert theirs[0] != "text"
    assert outcome(lambda: printing.tensor_repr(tensor_of(a))) == theirs


# What a tensor's history shows, in whole programs; `torch` is either library.
PROGRAMS = {
    "leaf and results": """
        x = torch.tensor([1., 2., 3.], requires_grad=True)
        print(x, x * 2, x + 1, x - 1, x / 2, x ** 2, -x, x.exp(), x.sum(), x.mean(), x[0], x[1:], sep="\\n")
        print(x.view(3, 1), x.reshape(1, 3), x.detach(), x.clone(), x.double(), x.data, sep="\\n")
    """,
    "matrix": """
        a = torch.arange(6.).view(2, 3).requires_grad_()
        print(a, a @ a.T, a.t(), a.transpose(0, 1), a.sum(1), a.max(), a.relu(), a.softmax(1), sep="\\n")
        print([a, a * 2])
        print({"a": a, "b": (a.sum(),)})
    """,
    "written in place": """
        x = torch.zeros(3, requires_grad=True)
        y = x * 1
        y.mul_(2)
        print(y)
        y[1] = 5
        print(y)
        z = (x * 1).clone()
        row = z[:2]
        row.add_(1)
        print(row, z, sep="\\n")
    """,
    "a view made without recording": """
        x = torch.ones(3, requires_grad=True).clone()
        with torch.no_grad():
            view = x[:2]
        print(view)
        x.mul_(2)
        with torch.no_grad():
            view.mul_(2)
        print(view, x, sep="\\n")
    """,
    "a Function": """
        class MyExp(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                y = x.exp()
                ctx.save_for_backward(y)
                return y

            @staticmethod
            def backward(ctx, g):
                return g * ctx.saved_tensors[0]

        x = torch.zeros(2, 2, requires_grad=True)
        print(MyExp.apply(x), x.grad)
        MyExp.apply(x).sum().backward()
        print(x.grad)
    """,
    "second order": """
        x = torch.tensor(3., requires_grad=True)
        y, = torch.autograd.grad(x ** 3, x, create_graph=True)
        print(y, y.detach(), y.item())
    """,
    "numbers in f-strings": """
        x = torch.tensor(2.5, requires_grad=True)
        print(f"{x} {x:.2f} {x:>10} {x.detach()!r} {x!r} {torch.tensor(7):03d} {torch.tensor(True)}")
        print(f"{torch.ones(2)}", "{:.1f}".format(torch.tensor(1.25)), "%s %.1f" % (x, x), str(x))
        try:
            print(f"{torch.ones(2):.2f}")
        except TypeError as e:
            print(e)
    """,
    "options": """
        x = torch.linspace(0, 1, 20)
        torch.set_printoptions(precision=2, linewidth=40)
        print(x)
        torch.set_printoptions(profile="short", threshold=3, sci_mode=True)
        print(x)
        torch.set_printoptions(profile="default")
        print(x)
    """,
    "dtypes": """
        names = "float16 bfloat16 float64 int32 uint8 bool complex64"
        for d in [getattr(torch, name) for name in names.split()]:
            print(torch.arange(3).to(d), torch.empty(0, 2, dtype=d))
        torch.set_default_dtype(torch.float64)
        print(torch.ones(2), torch.ones(2, dtype=torch.float32))
        torch.set_default_dtype(torch.float32)
    """,
    "shape, dtype, device": """
        x = torch.ones(2, 3)
        print(x.shape, x.size(), x.dtype, x.device, repr(x.shape), [x.shape, x.dtype])
    """,
}


def printed(program: str, library: Any) -> str:
    text = io.StringIO()
    with contextlib.redirect_stdout(text):
        exec(textwrap.dedent(program), {"torch": library})
    return text.getvalue()


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(name: str) -> None:
    assert printed(PROGRAMS[name], tidu) == printed(PROGRAMS[name], torch)
