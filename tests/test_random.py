"""Random numbers: PyTorch's recorded values, the generator's state, and the ops' gradients."""

from __future__ import annotations

import copy
import json
import pickle
import threading
import warnings
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tidu as torch
from tidu.arrays import generator, normal, sampling

GOLDEN = json.loads((Path(__file__).parent / "golden_random.json").read_text())
FLOATS = ("float16", "bfloat16", "float32", "float64")
COMPLEX = ("complex64", "complex128")
INTEGERS = ("bool", "uint8", "int8", "int16", "int32", "int64")


def plain(x: Any) -> Any:
    """A result as text-able data: what a tensor is and its bits, errors by class and words."""
    if isinstance(x, (tuple, list)):
        return [plain(v) for v in x]
    if not isinstance(x, torch.Tensor):
        return x
    t = x.detach()
    strides = tuple(t.stride()) if t.numel() > 1 else ()
    wide = t.contiguous()
    if t.dtype is torch.bfloat16:
        wide = wide.to(torch.float32)
    a = np.ascontiguousarray(wide.numpy())
    return (
        str(t.dtype),
        tuple(t.shape),
        strides,
        x.requires_grad,
        a.view(np.uint8).tobytes() if a.ndim else a.tobytes(),
    )


def run(text: str, **names: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return plain(eval(text, {"t": torch, **names}))
        except Exception as e:
            return type(e).__name__, str(e)


def everything(n: int) -> list[tuple[str, dict[str, Any]]]:
    programs = []
    for kind, types in (("float_or_complex", FLOATS + COMPLEX), ("float", FLOATS), ("any", FLOATS + INTEGERS)):
        programs += [(text, {"n": n, "dtype": d}) for d in types for text in GOLDEN[kind]]
    return programs + [(text, {"n": n}) for text in GOLDEN["more"]]


@pytest.mark.parametrize("n", [int(n) for n in GOLDEN["sums"]])
def test_recorded_numbers(n: int) -> None:
    """Every sampler, dtype and size in one sequence from one seed: a word too many would upset all that follows."""
    *sums, state = GOLDEN["sums"][str(n)].split()
    torch.manual_seed(n)
    wrong = []
    programs = everything(n)
    assert len(programs) == len(sums)
    for (text, given), want in zip(programs, sums, strict=True):
        names = {k: getattr(torch, v) if k == "dtype" else v for k, v in given.items()}
        if f"{zlib.crc32(repr(run(text, **names)).encode()):08x}" != want:
            wrong.append(f"{text} {given}")
    assert not wrong
    assert f"{zlib.crc32(torch.get_rng_state().numpy().tobytes()):08x}" == state


def test_well_known_numbers() -> None:
    torch.manual_seed(0)
    assert torch.rand(3).tolist() == [0.49625658988952637, 0.7682217955589294, 0.08847743272781372]
    torch.manual_seed(0)
    assert torch.randn(3).tolist() == [1.5409960746765137, -0.293428897857666, -2.1787893772125244]
    torch.manual_seed(0)
    assert torch.randn(2, dtype=torch.float64).tolist() == [1.5409961082440433, -0.2934289057609464]
    torch.manual_seed(0)
    assert torch.randperm(5).tolist() == [4, 0, 1, 3, 2]
    torch.manual_seed(0)
    assert torch.randint(10, (3,)).tolist() == [4, 9, 3]
    torch.manual_seed(0)
    assert torch.empty(3).exponential_().tolist() == [3.508326292037964, 1.2303847074508667, 0.615044116973877]


def test_threshold_of_wide_integers() -> None:
    """Ranges of 2**28 and more take two words a number."""
    torch.manual_seed(0)
    assert torch.randint(0, 2**28 - 1, (1,)).tolist() == [209652404]
    torch.manual_seed(0)
    assert torch.randint(0, 2**28, (1,)).tolist() == [130329135]


@pytest.mark.parametrize("n", [301, 1001, 65537, 200_000])
def test_randperm_without_swapping(n: int) -> None:
    """The vectorised permutation is the one that swapping gives."""
    torch.manual_seed(n)
    got = torch.randperm(n).tolist()
    words = np.random.RandomState(n).randint(0, 2**32, n, dtype=np.uint32).tolist()
    want = list(range(n))
    for i in range(n - 1):
        j = i + words[i] % (n - i)
        want[i], want[j] = want[j], want[i]
    assert got == want


# ------------------------------------------------------------------ state


def test_state_layout() -> None:
    g = torch.Generator().manual_seed(3)
    state = g.get_state()
    assert state.dtype is torch.uint8 and tuple(state.shape) == (5056,)
    raw = state.numpy()
    assert int(raw[:8].view(np.uint64)[0]) == 3
    torch.randn(1, generator=g)
    assert g.get_state().numpy()[5024:5032].view(np.float64)[0] == pytest.approx(0.17483339)


@pytest.mark.parametrize("drawn", [0, 1, 623, 624, 625, 2000])
def test_state_restores_the_sequence(drawn: int) -> None:
    g = torch.Generator().manual_seed(drawn)
    torch.rand(drawn, generator=g)
    torch.randn(3, generator=g)
    state = g.get_state()
    want = [torch.randn(5, generator=g).tolist(), torch.rand(2000, generator=g).tolist()]
    other = torch.Generator().set_state(state)
    assert other.get_state().tolist() == state.tolist()
    assert [torch.randn(5, generator=other).tolist(), torch.rand(2000, generator=other).tolist()] == want
    assert other.get_state().tolist() == g.get_state().tolist()


SMALL = [
    "t.rand(3, generator=g)", "t.randn(4, 4, generator=g)", "t.randn(5, generator=g)", "t.randn(20, generator=g)",
    "t.randn(4, 8, generator=g, dtype=t.float64)", "t.randn(33, generator=g, dtype=t.float64)",
    "t.empty(16).normal_(0.3, 0.7, generator=g)", "t.empty(6).uniform_(-1, 3, generator=g)",
    "t.rand(3, generator=g, dtype=t.float64)", "t.empty(7).bernoulli_(0.3, generator=g)",
    "t.bernoulli(t.full((5,), 0.4), generator=g)", "t.randint(3, 11, (5,), generator=g)",
    "t.randint(0, 9, (70,), generator=g)", "t.empty(6).exponential_(generator=g)", "t.randperm(9, generator=g)",
    "t.randn(300, generator=g)",
]  # fmt: skip


@pytest.mark.parametrize("seed", range(4))
def test_numbers_made_ahead_are_those_of_the_state(seed: int) -> None:
    """A generator that has drawn before, and may have made more than was asked for, against a fresh one in its
    state."""
    g = torch.Generator().manual_seed(seed)
    choice = np.random.default_rng(seed)
    for text in choice.choice(SMALL[: 2 + 5 * seed], 700):
        state = g.get_state()
        fresh = torch.Generator().set_state(state)
        assert run(text, g=g) == run(text, g=fresh), text
        assert torch.equal(g.get_state(), fresh.get_state()), text
        if choice.random() < 0.02:
            mark = g.stream.mark()
            first = run(text, g=g)
            run("t.randn(3000, generator=g)", g=g)
            g.stream.back(mark)
            assert run(text, g=g) == first


@pytest.mark.parametrize("n", [16, 33, 40, 1000, 70_001])
def test_compiled_samplers_give_the_same_numbers(n: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Words, normals and permutations by compiled loops, and by NumPy."""
    pytest.importorskip("llvmlite")
    programs = (
        "t.rand(n, generator=g)", "t.empty(n).normal_(0.3, 0.7, generator=g)", "t.randperm(n, generator=g)",
        "t.randn(n, generator=g, dtype=t.bfloat16)", "t.randn(n, generator=g)", "g.get_state()",
        "g.manual_seed(7).get_state()", "t.randn(2 * n, generator=g)", "t.randint(0, 10, (n,), generator=g)",
        "t.Generator().set_state(g.get_state()).get_state()",
    )  # fmt: skip
    found = []
    for wanted in (False, True, False):  # and back again from a compiled one's state
        for module in (generator, normal, sampling):
            monkeypatch.setattr(module, "worth_compiling", lambda *_, wanted=wanted: wanted)
        g = torch.Generator().manual_seed(n)
        found.append([run(text, g=g, n=n) for text in programs])
        monkeypatch.setattr(generator, "worth_compiling", lambda *_, wanted=wanted: not wanted)
        found[-1] += [run(text, g=g, n=n) for text in programs]
    assert found[0] == found[1] == found[2]


def test_copies_of_a_generator() -> None:
    g = torch.Generator().manual_seed(5)
    torch.rand(7, generator=g)
    copies = [pickle.loads(pickle.dumps(g)), copy.deepcopy(g), g.clone_state()]
    want = torch.rand(9, generator=g).tolist()
    for other in copies:
        assert torch.rand(9, generator=other).tolist() == want
        assert other.initial_seed() == 5


def test_fork_rng() -> None:
    torch.manual_seed(1)
    with torch.random.fork_rng():
        inside = torch.rand(3).tolist()
    assert torch.rand(3).tolist() == inside
    with torch.random.fork_rng(enabled=False):
        torch.rand(3)
    assert torch.rand(3).tolist() != inside


def test_seed_is_fresh() -> None:
    first = torch.seed()
    assert torch.initial_seed() == first
    assert torch.seed() != first


def test_threads_share_a_generator() -> None:
    """Every word goes to one thread only: together they draw what one alone would."""
    g = torch.Generator().manual_seed(9)
    want = sorted(torch.randint(2**31, (8 * 50 * 100,), generator=g, dtype=torch.int64).tolist())
    g.manual_seed(9)
    got: list[int] = []

    def work() -> None:
        for _ in range(50):
            got.extend(torch.randint(2**31, (100,), generator=g).tolist())

    threads = [threading.Thread(target=work) for _ in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert sorted(got) == want


# ------------------------------------------------------------------ arguments and errors


ERRORS = [
    ("t.empty(3).uniform_(2, 1)", RuntimeError,
     "uniform_ expects to return a [from, to) range, but found from=2 > to=1"),
    ("t.rand(3, dtype=t.int64)", NotImplementedError, "\"check_uniform_bounds\" not implemented for 'Long'"),
    ("t.empty(3).normal_(0, -1)", RuntimeError, "normal expects std >= 0.0, but found std -1"),
    ("t.randint(5, 5, (3,))", RuntimeError, "random_ expects 'from' to be less than 'to', but got from=5 >= to=5"),
    ("t.randint(0, 300, (3,), dtype=t.uint8)", RuntimeError, "to - 1 is out of bounds for unsigned char"),
    ("t.randperm(-1)", RuntimeError, "Trying to create tensor with negative dimension -1: [-1]"),
    ("t.empty(3).geometric_(1)", RuntimeError, "geometric_ expects p to be in (0, 1), but got p=1"),
    ("t.multinomial(t.ones(3), 5)", RuntimeError,
     "cannot sample n_sample > prob_dist.size(-1) samples without replacement"),
    ("t.poisson(t.tensor([-1.0]))", RuntimeError, "invalid Poisson rate, expected rate to be non-negative"),
    ("t.empty(3).uniform_(generator=5)", TypeError,
     "uniform_(): argument 'generator' must be torch.Generator, not int"),
    ("t.dropout(t.ones(3), 1.5, True)", RuntimeError, "dropout probability has to be between 0 and 1, but got 1.5"),
    ("t.Generator().manual_seed(2**64)", ValueError, "Overflow when unpacking long long"),
    ("t.Generator().set_state(t.zeros(5056, dtype=t.uint8))", RuntimeError, "Invalid mt19937 state"),
]  # fmt: skip


@pytest.mark.parametrize("text, error, message", ERRORS)
def test_errors_change_nothing(text: str, error: type[Exception], message: str) -> None:
    torch.manual_seed(0)
    before = torch.get_rng_state()
    with pytest.raises(error) as caught:
        eval(text, {"t": torch})
    assert str(caught.value) == message
    assert torch.get_rng_state().tolist() == before.tolist()


def test_fills_in_the_order_of_memory() -> None:
    torch.manual_seed(0)
    flat = torch.rand(6)
    torch.manual_seed(0)
    turned = torch.empty(2, 3).t().uniform_()
    assert turned.t().reshape(-1).tolist() == flat.tolist()


def test_filling_counts_as_a_write() -> None:
    x = torch.zeros(3)
    x.uniform_()
    assert x._version == 1


# ------------------------------------------------------------------ gradients


@pytest.mark.parametrize(
    "text, node",
    [
        ("(x * 1).uniform_()", "UniformBackward0"),
        ("(x * 1).normal_()", "NormalBackward0"),
        ("(x * 1).bernoulli_(0.5)", "BernoulliBackward2"),
        ("(x * 1).random_(2, 5)", "RandomBackward0"),
        ("(x * 1).log_normal_()", "LogNormalBackward0"),
        ("t.bernoulli(x * 0.1)", "BernoulliBackward0"),
        ("t.normal(x, x)", "NormalBackward3"),
        ("t.poisson(x)", "PoissonBackward0"),
    ],
)
def test_samples_pass_zero_on(text: str, node: str) -> None:
    x = torch.arange(1.0, 4.0).requires_grad_()
    y = eval(text, {"t": torch, "x": x})
    assert type(y.grad_fn).__name__ == node
    y.sum().backward()
    assert x.grad.tolist() == [0, 0, 0]


def test_leaf_cannot_be_filled() -> None:
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad is being used in an in-place operation"):
        torch.ones(3, requires_grad=True).uniform_()


@pytest.mark.parametrize("name", ["dropout", "feature_dropout", "alpha_dropout", "feature_alpha_dropout"])
def test_dropout_gradient_is_the_factor(name: str) -> None:
    x = torch.ones(4, 5, 3, requires_grad=True)
    torch.manual_seed(2)
    y = getattr(torch, name)(x, 0.4, True)
    torch.manual_seed(2)
    doubled = getattr(torch, name)(x.detach() + 1, 0.4, True)
    y.sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), (doubled - y.detach()).numpy(), rtol=1e-5, atol=1e-6)


def test_dropout_leaves_input_alone() -> None:
    x = torch.ones(3)
    assert torch.dropout(x, 0.5, False) is x
    assert torch.dropout(x, 0.0, True) is x
    assert torch.dropout(x, 1.0, True).tolist() == [0, 0, 0]


def test_gamma_gradient() -> None:
    """Against derivatives of the inverse of the distribution function, computed in high precision."""
    alpha = torch.tensor([0.5, 1.0, 3.0, 9.0, 50.0, 1000.0], dtype=torch.float64)
    x = torch.tensor(GAMMA_MEDIANS, dtype=torch.float64)
    got = torch._standard_gamma_grad(alpha, x)
    np.testing.assert_allclose(got.numpy(), GAMMA_SLOPES, rtol=1e-8)


GAMMA_MEDIANS = [
    0.2274682115597864, 0.6931471805599453, 2.6740603137235603,
    8.668951184370371, 49.66706461799423, 999.6666864269652,
]  # fmt: skip
GAMMA_SLOPES = [
    0.8583674447437152, 0.9680448304420445, 0.9972683761398632,
    0.9997361390946193, 0.9999919830850547, 0.9999999802324887,
]  # fmt: skip
