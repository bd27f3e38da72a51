"""Random numbers against a live PyTorch: every value to the bit, and the generator's state after every draw.

Each program is written once over the library. What it returns, and the 5056 bytes of the default generator's state
afterwards, must agree. A sequence of programs shares one seed, so a sampler that used a word too many or too few would
also upset all that follow it.
"""

from __future__ import annotations

import random as python_random
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

import tidu

Program = Callable[[Any], Any]

SIZES = (0, 1, 5, 15, 16, 17, 40, 624, 1000, 16400)
FLOATS = ("float16", "bfloat16", "float32", "float64")
COMPLEX = ("complex64", "complex128")
INTEGERS = ("bool", "uint8", "int8", "int16", "int32", "int64")


def plain(x: Any) -> Any:
    """A result as something `==` can compare: what a tensor is and its bits, errors by class and words."""
    if isinstance(x, (tuple, list)):
        return [plain(v) for v in x]
    if not hasattr(x, "detach"):
        return x
    t = x.detach()
    strides = tuple(t.stride()) if t.numel() > 1 else ()
    wide = t.contiguous()
    if str(t.dtype) == "torch.bfloat16":
        wide = wide.to((torch if isinstance(t, torch.Tensor) else tidu).float32)
    a = np.ascontiguousarray(wide.numpy())
    bits = a.view(np.uint8).tobytes() if a.ndim else a.tobytes()
    return str(t.dtype), tuple(t.shape), strides, x.requires_grad, bits


def outcome(lib: Any, program: Program) -> Any:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            result = plain(program(lib))
        except Exception as e:
            result = type(e).__name__, str(e)
    said = [str(w.message).split(" (Triggered")[0] for w in caught if issubclass(w.category, UserWarning)]
    return result, said


def agree(programs: dict[str, Program], seed: int, failing: bool = False) -> None:
    """Run the programs one after the other in both libraries, from one seed."""
    torch.manual_seed(seed)
    tidu.manual_seed(seed)
    wrong = []
    for name, program in programs.items():
        want, got = outcome(torch, program), outcome(tidu, program)
        if failing:  # PyTorch draws before it looks at some arguments
            tidu.set_rng_state(tidu.from_numpy(torch.get_rng_state().numpy()))
        if want != got:
            wrong.append(f"{name}:\n{explain(want, got)}")
        state = torch.get_rng_state().numpy()
        if not np.array_equal(state, tidu.get_rng_state().numpy()):
            wrong.append(f"{name}: the generators' states differ")
            tidu.set_rng_state(tidu.from_numpy(state))
    if wrong:
        pytest.fail(f"{len(wrong)} of {len(programs)} disagree\n" + "\n".join(wrong[:30]), pytrace=False)


def explain(want: Any, got: Any) -> str:
    (a, said_a), (b, said_b) = want, got
    if said_a != said_b:
        return f"warnings\n  {said_a}\n  {said_b}"
    if len(a) == len(b) == 5 and a[:4] == b[:4] and isinstance(a[4], bytes):
        kind = np.float32 if a[0] == "torch.bfloat16" else np.dtype(a[0].removeprefix("torch."))
        x, y = np.frombuffer(a[4], kind), np.frombuffer(b[4], kind)
        where = np.flatnonzero(~((x == y) | ((x != x) & (y != y))))
        return f"{where.size} of {x.size} differ, first at {where[:3]}: {x[where[:3]]} {y[where[:3]]}"
    return f"  {a!r:.300}\n  {b!r:.300}"


def case(program: str, **given: Any) -> Program:
    """A program from its text, over `t` (the library) and what is given."""
    code = compile(program, program, "eval")
    names = {k: v for k, v in given.items() if k != "dtype"}
    return lambda lib: eval(code, {"t": lib, "dtype": getattr(lib, given.get("dtype", "float32")), **names})


def cases(texts: str, **given: Any) -> dict[str, Program]:
    return {f"{text} {given}": case(text, **given) for text in map(str.strip, texts.splitlines()) if text}


# ------------------------------------------------------------------ values


FLOAT_OR_COMPLEX = """
    t.rand(n, dtype=dtype)
    t.randn(n, dtype=dtype)
    t.empty(n, dtype=dtype).uniform_(-0.3, 0.9)
    t.empty(n, dtype=dtype).uniform_(2.5, 100.25)
    t.empty(n, dtype=dtype).uniform_(1000, 1001)
    t.empty(n, dtype=dtype).normal_(0.3, 0.7)
    t.empty(n, dtype=dtype).normal_(-2, 2)
    t.empty(n, dtype=dtype).normal_(0, 1.3)
    t.empty(n, dtype=dtype).normal_(3, 0)
    t.rand_like(t.empty(n, dtype=dtype))
    t.randn_like(t.empty(n, dtype=dtype))
    t.normal(0.5, 1.5, (n,), dtype=dtype)
"""
FLOAT = """
    t.empty(n, dtype=dtype).exponential_()
    t.empty(n, dtype=dtype).exponential_(2.5)
    t.empty(n, dtype=dtype).geometric_(0.01)
    t.empty(n, dtype=dtype).cauchy_()
    t.empty(n, dtype=dtype).cauchy_(0.3, 0.7)
    t.empty(n, dtype=dtype).log_normal_()
    t.empty(n, dtype=dtype).log_normal_(0.3, 0.7)
    t.bernoulli(t.rand(n, dtype=dtype))
    t.normal(t.rand(n, dtype=dtype), 1.5)
    t.normal(0.25, t.rand(n, dtype=dtype))
    t.normal(t.rand(n, dtype=dtype), t.rand(n, dtype=dtype))
    t.poisson(t.rand(n, dtype=dtype) * 4)
    t.poisson(t.rand(n, dtype=dtype) * 40)
    t.dropout(t.rand(n, dtype=dtype), 0.3, True)
    t.alpha_dropout(t.rand(n, dtype=dtype), 0.3, True)
    t.native_dropout(t.rand(n, dtype=dtype), 0.3, True)
"""
ANY = """
    t.empty(n, dtype=dtype).bernoulli_()
    t.empty(n, dtype=dtype).bernoulli_(0.3)
    t.empty(n, dtype=dtype).bernoulli_(1)
    t.empty(n, dtype=dtype).bernoulli_(t.rand(n))
    t.empty(n, dtype=dtype).bernoulli_(t.rand(n, dtype=t.float64))
    t.empty(n, dtype=dtype).random_()
    t.empty(n, dtype=dtype).random_(2)
    t.empty(n, dtype=dtype).random_(100)
    t.empty(n, dtype=dtype).random_(-5, 100)
    t.empty(n, dtype=dtype).random_(0, 2**24 + 2)
    t.empty(n, dtype=dtype).random_(-2**25, 2**26)
    t.empty(n, dtype=dtype).random_(0, 2**28 - 1)
    t.empty(n, dtype=dtype).random_(0, 2**28)
    t.empty(n, dtype=dtype).random_(-2**40, 2**62)
    t.empty(n, dtype=dtype).random_(1, None)
    t.empty(n, dtype=dtype).random_(-300, None)
    t.empty(n, dtype=dtype).random_(-2**63, None)
    t.empty(n, dtype=dtype).geometric_(0.3)
    t.randint(7, (n,), dtype=dtype)
    t.randint(-100, 100, (n,), dtype=dtype)
    t.randint_like(t.empty(n, dtype=dtype), 2)
    t.randperm(n, dtype=dtype)
"""
MORE = """
    t.randint(0, 10, (n,))
    t.randint(2**40, (n,))
    t.randint(-2**63, 2**63 - 1, (n,))
    t.randperm(n)
    t.multinomial(t.ones(n + 1), n, True) if n else 0
    t.multinomial(t.rand(n + 1), n) if 0 < n < 2000 else 0
    t.multinomial(t.rand(3, 37), 5)
    t.multinomial(t.rand(3, 37, dtype=t.float64), 50, True)
    t.multinomial(t.rand(70, 37), 9, True)
    t.multinomial(t.rand(70, 37), 1)
    t.binomial(t.floor(t.rand(n) * 100), t.rand(n))
    t.binomial(t.floor(t.rand(n, dtype=t.float64) * 9), t.rand(n, dtype=t.float64))
    t._standard_gamma(t.rand(n) * 3)
    t._standard_gamma(t.rand(n, dtype=t.float64) * 3)
    t._sample_dirichlet(t.rand(n, 4) * 3)
"""


def everything(n: int) -> dict[str, Program]:
    programs: dict[str, Program] = {}
    for d in FLOATS + COMPLEX:
        programs |= cases(FLOAT_OR_COMPLEX, n=n, dtype=d)
    for d in FLOATS:
        programs |= cases(FLOAT, n=n, dtype=d)
    for d in FLOATS + INTEGERS:
        programs |= cases(ANY, n=n, dtype=d)
    return programs | cases(MORE, n=n)


@pytest.mark.parametrize("n", SIZES)
def test_values(n: int) -> None:
    programs = everything(n)
    if n == 0:  # PyTorch does not look at some arguments when there is nothing to fill; tidu does
        programs = {k: p for k, p in programs.items() if "-2**63, None" not in k and "geometric_" not in k}
    agree(programs, seed=n)


def write_golden(path: str) -> None:
    """Record PyTorch's numbers for tests/test_random.py: for each size one sequence of programs, by checksums."""
    import json
    import zlib

    lists = {"float_or_complex": FLOAT_OR_COMPLEX, "float": FLOAT, "any": ANY, "more": MORE}
    golden: dict[str, Any] = {k: [t.strip() for t in v.strip().splitlines()] for k, v in lists.items()}
    golden["torch"] = torch.__version__
    golden["sums"] = {}
    for n in SIZES[1:-1]:
        torch.manual_seed(n)
        sums = []
        for program in everything(n).values():
            result, _ = outcome(torch, program)
            sums.append(f"{zlib.crc32(repr(result).encode()):08x}")
        sums.append(f"{zlib.crc32(torch.get_rng_state().numpy().tobytes()):08x}")
        golden["sums"][n] = " ".join(sums)
    with open(path, "w") as file:
        json.dump(golden, file, indent=1)
        file.write("\n")


@pytest.mark.parametrize("seed", range(5))
def test_mixed_sequences(seed: int) -> None:
    shuffled = python_random.Random(seed)
    programs = {
        name: program
        for n in (1, 5, 15, 16, 17, 40)
        for d in FLOATS
        for name, program in cases(FLOAT_OR_COMPLEX + FLOAT + ANY, n=n, dtype=d).items()
    } | {name: p for n in (1, 5, 17) for name, p in cases(MORE, n=n).items()}
    names = list(programs)
    shuffled.shuffle(names)
    agree({name: programs[name] for name in names}, seed)


LAYOUTS = """
    t.empty(6, 7).t().uniform_()
    t.empty(6, 7).t().normal_()
    t.empty(6, 7)[:, ::2].normal_()
    t.empty(6, 7)[::2].uniform_(1, 3)
    t.empty(6, 7, dtype=t.complex64).t().normal_()
    t.empty(2, 3, 4, 5).permute(2, 0, 3, 1).random_(10)
    t.empty(2, 3, 4, 5).permute(2, 0, 3, 1).exponential_()
    t.empty(6, 7).t().bernoulli_(0.4)
    t.empty(6, 7).t().bernoulli_(t.rand(7, 6))
    t.empty(6, 7).t().bernoulli_(t.rand(6))
    t.rand_like(t.empty(6, 7).t())
    t.randn_like(t.empty(6, 7).t())
    t.randn_like(t.empty(6, 7)[:, ::2])
    t.rand_like(t.empty(6, 7).t(), memory_format=t.contiguous_format)
    t.randint_like(t.empty(6, 7).t(), 3, 9)
    t.bernoulli(t.rand(6, 7).t())
    t.bernoulli(t.rand(6, 7).t(), 0.5)
    t.poisson(t.rand(6, 7).t() * 3)
    t.normal(t.rand(6, 7).t(), 1.0)
    t.normal(t.rand(6, 1), t.rand(7))
    t.multinomial(t.rand(6, 7).t(), 3)
    t.multinomial(t.rand(6, 7).t(), 3, True)
    t.binomial(t.ones(6, 7).t() * 9, t.rand(6))
    t.dropout(t.rand(6, 7).t(), 0.5, True)
    t.dropout(t.rand(6, 7)[:, ::2], 0.5, True)
    t.feature_dropout(t.rand(2, 3, 4).transpose(1, 2), 0.5, True)
    t.rand(3, out=t.empty(3, dtype=t.float64))
    t.rand(3, out=t.empty(0))
    t.rand(4, out=t.empty(4, 2)[:, 1])
    t.randn(4, 5, out=t.empty(5, 4).t())
    t.randint(9, (3,), out=t.empty(0, dtype=t.int32))
    t.randperm(5, out=t.empty(0, dtype=t.int32))
    t.bernoulli(t.rand(4), out=t.empty(4, dtype=t.int64))
    t.multinomial(t.ones(3), 2, out=t.empty(2, dtype=t.int64))
    t.normal(t.zeros(3), t.ones(3), out=t.empty(3))
    t.normal(0.0, 1.0, (3,), out=t.empty(3))
    t.rand(())
    t.rand(2, 3, 4)
    t.rand((2, 3))
    t.rand(size=(2, 3))
    t.randn(2, 0, 3)
    t.rand(2, requires_grad=True)
    t.randn(2, requires_grad=True)
    t.randint(3, (2,), dtype=t.float32, requires_grad=True)
    t.rand(2, generator=t.Generator().manual_seed(3))
    t.empty(20).normal_(generator=t.Generator().manual_seed(3))
    t.randint(low=2, high=9, size=(3,))
    t.randint(high=9, size=(3,))
    t.randint(2, high=9, size=(3,))
    t.randint(t.tensor(7), (2,))
    t.empty(3).uniform_(**{"from": 2, "to": 3})
    t.empty(3).random_(to=5)
    t.empty(3).random_(**{"from": 2, "to": 5})
    t.empty(3).uniform_(t.tensor(2.0), 3)
    t.normal(t.tensor(0.0), t.tensor(1.0), size=(2,))
    t.normal(t.zeros(3, dtype=t.float64), t.ones(3))
    t.normal(t.zeros(3), t.ones(3, dtype=t.float64) * 0.3)
    t.normal(t.zeros(3), t.tensor(0.3, dtype=t.float64))
    t.normal(t.zeros(3, dtype=t.complex64), 0.3)
    t.normal(t.zeros(3, dtype=t.complex64), t.ones(3))
    t.normal(2, t.ones(3))
    t.multinomial(t.ones(0, 3), 2)
    t.empty(()).uniform_()
    t.empty(()).normal_(2, 3)
    t.empty((), dtype=t.int64).random_()
    t.empty((), dtype=t.int64).random_().item()
    t.empty(()).bernoulli_(t.tensor(0.5))
    t.empty(()).exponential_()
    t.empty(()).cauchy_()
    t.empty(()).geometric_(0.5)
    t.empty(()).log_normal_()
    t.bernoulli(t.tensor(0.5))
    t.poisson(t.tensor(3.0))
    t.binomial(t.tensor(9.0), t.tensor(0.5))
    t._standard_gamma(t.tensor(3.0))
    t._sample_dirichlet(t.tensor(3.0))
    t.normal(t.tensor(3.0), t.tensor(2.0))
    t.normal(t.tensor(3.0), 2.0)
    t.normal(1.0, t.tensor(3.0, dtype=t.float64))
    t.randint(5, ())
    t.randint_like(t.tensor(3.0), 5)
    t.randn(())
    t.dropout(t.tensor(3.0), 0.5, True)
    t.alpha_dropout(t.tensor(3.0), 0.5, True)
    t.native_dropout(t.tensor(3.0), 0.5, True)
    t.manual_seed(7).initial_seed()
    t.manual_seed(-7).initial_seed()
    t.manual_seed("7").initial_seed()
    t.Generator().initial_seed()
    t.Generator().get_state()
    t.Generator().manual_seed(5).get_state()
    str(t.Generator().device)
    t.initial_seed()
    t.Generator().manual_seed(5).clone_state().get_state()
"""


def test_layouts_and_arguments() -> None:
    agree(cases(LAYOUTS), seed=1)


ERRORS = """
    t.empty(3).uniform_(2, 1)
    t.empty(3).uniform_(-3e38, 3e38)
    t.empty(3, dtype=t.float16).uniform_(0, 1e6)
    t.empty(3, dtype=t.float16).uniform_(-60000, 60000)
    t.empty(3).uniform_(0, float("nan"))
    t.empty(3, dtype=t.int64).uniform_()
    t.empty(3).uniform_("a")
    t.empty(3).uniform_(0, 1, 2)
    t.empty(3).uniform_(a=2)
    t.empty(3).uniform_(generator=5)
    t.empty(3).normal_(0, -1)
    t.empty(3).normal_(0, float("nan"))
    t.empty(3, dtype=t.int32).normal_()
    t.rand(3, dtype=t.int64)
    t.randn(3, dtype=t.bool)
    t.rand(-1)
    t.rand(2, device="foo")
    t.rand(2, dtype=t.float64, out=t.empty(2))
    t.rand(2, out=t.empty(2, requires_grad=True))
    t.rand_like([1])
    t.randn_like(t.ones(2, dtype=t.int64))
    t.randint(5, 5, (3,))
    t.randint(0, (3,))
    t.randint(3, 300, (3,), dtype=t.uint8)
    t.randint(0, 2**63, (3,))
    t.randint(1.5, (2,))
    t.randint(10, 3)
    t.randint(3, (2,), requires_grad=True)
    t.randint(10, (2,), dtype=t.complex64)
    t.randint(3, (2,), out=t.empty(0, dtype=t.int32), dtype=t.int64)
    t.empty(3).random_(5, 5)
    t.empty(3, dtype=t.uint8).random_(-1, 30)
    t.empty(3, dtype=t.bool).random_(0, 3)
    t.empty(3, dtype=t.float16).random_(0, 70000)
    t.empty(3, dtype=t.uint16).random_()
    t.empty(3, dtype=t.int32).random_(-2**63, None)
    t.empty(3, dtype=t.float16).random_(-2**63, None)
    t.empty(3).random_(0)
    t.randperm(-1)
    t.randperm(300, dtype=t.uint8)
    t.randperm(3000, dtype=t.float16)
    t.randperm(3, dtype=t.bool)
    t.randperm(5.0)
    t.empty(3).bernoulli_(1.5)
    t.empty(3).bernoulli_(t.tensor([0, 0.5, 2.0]))
    t.empty(3).bernoulli_(t.tensor([0, 1, 0]))
    t.empty(3).bernoulli_(t.tensor([0, 1.0]))
    t.empty(3, dtype=t.complex64).bernoulli_(0.3)
    t.bernoulli(t.tensor([0, 1]))
    t.bernoulli(t.tensor([0, 2.0]))
    t.empty(3).exponential_(0)
    t.empty(3, dtype=t.int32).exponential_()
    t.empty(3).geometric_(1)
    t.empty(3, dtype=t.bool).geometric_(0.3)
    t.empty(3).cauchy_(0, 0)
    t.empty(3, dtype=t.int32).cauchy_()
    t.empty(3).log_normal_(0, 0)
    t.empty(3, dtype=t.int32).log_normal_()
    t.normal(t.zeros(2), t.tensor([1.0, -2]))
    t.normal(t.zeros(2), -2.0)
    t.normal(t.tensor([1, 2]), 2.0)
    t.normal(1.0, t.tensor([1.0, 2j]))
    t.normal(t.zeros(3), t.ones(2))
    t.multinomial(t.ones(3), 5)
    t.multinomial(t.ones(3), 0)
    t.multinomial(t.ones(2, 3, 4), 1)
    t.multinomial(t.tensor([1, 2]), 1)
    t.multinomial(t.tensor([1.0, -2]), 1)
    t.multinomial(t.tensor([1.0, -2]), 2, replacement=True)
    t.multinomial(t.tensor([1.0, float("inf")]), 3, True)
    t.multinomial(t.tensor([0.0, 0]), 1)
    t.multinomial(t.tensor([0.0, 0]), 3, True)
    t.multinomial(t.ones(3), 2, out=t.empty(3))
    t.multinomial(t.ones(3), 2.5)
    t.multinomial([1.0, 2], 1)
    t.poisson(t.tensor([1, 2]))
    t.poisson(t.tensor([-1.0]))
    t.binomial(t.tensor([1, 2]), t.tensor([0.5, 0.5]))
    t.binomial(t.ones(2, dtype=t.float64), t.tensor([0.5, 0.5]))
    t.dropout(t.ones(3), 1.5, True)
    t.dropout(t.ones(3, dtype=t.int64), 0.5, True)
    t.feature_dropout(t.ones(3), 0.5, True)
    t.Generator().manual_seed(2**64)
    t.Generator().manual_seed("a")
    t.Generator().manual_seed(1.5)
    t.Generator().set_state(3)
    t.Generator().set_state(t.zeros(3))
    t.Generator().set_state(t.zeros(3, dtype=t.uint8))
    t.Generator().set_state(t.zeros(5056, dtype=t.uint8))
    t.Generator("cuda")
    t.Generator("foo")
    t.Generator().get_offset()
    t.manual_seed("a")
    t.manual_seed(2**64)
"""


def test_errors() -> None:
    agree(cases(ERRORS), seed=1, failing=True)


GRADIENTS = """
    x.uniform_()
    (x * 1).uniform_()
    (x * 1).normal_()
    (x * 1).random_()
    (x * 1).random_(5)
    (x * 1).random_(2, 5)
    (x * 1).bernoulli_()
    (x * 1).bernoulli_(t.full((6,), 0.5))
    (x * 1).exponential_()
    (x * 1).geometric_(0.5)
    (x * 1).cauchy_()
    (x * 1).log_normal_()
    t.bernoulli(x * 0.1)
    t.normal(x, 1.0)
    t.normal(1.0, x)
    t.normal(x, x)
    t.poisson(x)
    t.dropout(x, 0.5, True)
    t.dropout_(x * 1, 0.5, True)
    t.dropout(x, 1.0, True)
    t.native_dropout(x, 0.5, True)[0]
    t.alpha_dropout(x, 0.5, True)
    t.alpha_dropout_(x * 2, 0.5, True)
    t.feature_dropout(x.view(1, 3, 2), 0.5, True)
    t.feature_alpha_dropout(x.view(1, 3, 2), 0.5, True)
    t._standard_gamma(x)
    t._standard_gamma(x * 0.1)
    t._sample_dirichlet(x)
    t.bernoulli(x, 0.5)
    t.binomial(x, x * 0.1)
"""


@pytest.mark.parametrize("text", [line.strip() for line in GRADIENTS.strip().splitlines()])
def test_gradients(text: str) -> None:
    results = []
    for lib in (torch, tidu):
        lib.manual_seed(3)
        x = lib.arange(1.0, 7.0).requires_grad_()
        try:
            y = eval(text, {"t": lib, "x": x})
            y.sum().backward()
        except RuntimeError as e:
            results.append(str(e))
            continue
        results.append((type(y.grad_fn).__name__, y.detach().numpy().tolist(), x.grad.numpy()))
    want, got = results
    if isinstance(want, str):
        assert got == want
    else:
        assert got[:2] == want[:2]
        np.testing.assert_allclose(got[2], want[2], rtol=1e-3 if "gamma" in text else 0)  # PyTorch's is a rough fit


@pytest.mark.parametrize(
    "name", ["dropout", "alpha_dropout", "dropout1d", "dropout2d", "dropout3d", "feature_alpha_dropout"]
)
@pytest.mark.parametrize("shape", [(4, 3), (2, 3, 4), (2, 3, 4, 5), (2, 3, 4, 2, 2)])
@pytest.mark.parametrize("inplace", [False, True])
def test_functional_dropout(name: str, shape: tuple[int, ...], inplace: bool) -> None:
    from tidu.ops import dropout

    ours = getattr(dropout, "f_" + name, None) or getattr(dropout, name)
    theirs = getattr(torch.nn.functional, name)
    for training in (True, False):
        for p in (0.0, 0.4, 1.0, 1.5):
            agree(
                {
                    f"{name} {p}": lambda t: (theirs if t is torch else ours)(
                        t.rand(shape),
                        p,  # noqa: B023
                        training,  # noqa: B023
                        inplace,
                    )
                },
                seed=4,
            )


def test_state_moves_between_the_libraries() -> None:
    torch.manual_seed(11)
    torch.randn(5)
    torch.rand(1000)
    tidu.set_rng_state(tidu.tensor(torch.get_rng_state().numpy()))
    assert torch.randn(33).tolist() == tidu.randn(33).tolist()
    torch.set_rng_state(torch.from_numpy(tidu.get_rng_state().numpy()))
    assert torch.randn(7).tolist() == tidu.randn(7).tolist()
    assert torch.randperm(1000).tolist() == tidu.randperm(1000).tolist()


def test_large() -> None:
    n = 10**6
    agree(
        cases(
            """
            t.rand(n)
            t.randn(n)
            t.randn(n, dtype=t.float64)
            t.randperm(n)
            t.randint(10, (n,))
            t.empty(n).bernoulli_(0.3)
            t.empty(n).exponential_()
            """,
            n=n,
        ),
        seed=0,
    )


if __name__ == "__main__":  # python -m parity.test_random tests/golden_random.json
    import sys

    write_golden(sys.argv[1])
