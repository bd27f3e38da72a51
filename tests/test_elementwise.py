"""Elementwise ops: what they are called in the graph, what they do at kinks, dtypes, refusals, operators.

The expected values were read off PyTorch 2.13.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tidu as torch

NAN, INF = float("nan"), float("inf")
T = torch.tensor


def leaf(*values: Any, dtype: Any = None) -> Any:
    return T(list(values), dtype=dtype or torch.float64, requires_grad=True)


# ------------------------------------------------------------------ names of nodes

X, Y, Z, B = leaf(1.0, 2.0), leaf(3.0, 4.0), leaf(1 + 1j, 2, dtype=torch.complex128), T([True, False])

NODES: list[tuple[str, Any]] = [
    ("AddBackward0", lambda: X + 1),
    ("SubBackward0", lambda: X - Y),
    ("RsubBackward1", lambda: 1 - X),
    ("RsubBackward0", lambda: torch.rsub(X, Y)),
    ("MulBackward0", lambda: 2 * X),
    ("DivBackward0", lambda: X / 2),
    ("DivBackward2", lambda: torch.div(X, 2, rounding_mode="floor")),
    ("DivBackward2", lambda: torch.div(X, 2, rounding_mode=None)),
    ("NotImplemented", lambda: X // 2),
    ("RemainderBackward0", lambda: X % 2),
    ("RemainderBackward1", lambda: X % Y),
    ("FmodBackward0", lambda: torch.fmod(X, 2)),
    ("FmodBackward1", lambda: torch.fmod(X, Y)),
    ("PowBackward0", lambda: X**2),
    ("PowBackward0", lambda: X**2.5),
    ("PowBackward0", lambda: X.square()),
    ("PowBackward1", lambda: X**Y),
    ("PowBackward2", lambda: 2**X),
    ("NegBackward0", lambda: -X),
    ("AbsBackward0", lambda: abs(Z)),
    ("SgnBackward0", lambda: torch.sgn(Z)),
    ("Log1PBackward0", lambda: torch.log1p(X)),
    ("Deg2RadBackward0", lambda: torch.deg2rad(X)),
    ("TruncBackward0", lambda: torch.fix(X)),
    ("RoundBackward0", lambda: torch.round(X)),
    ("RoundBackward1", lambda: torch.round(X, decimals=1)),
    ("ClampBackward1", lambda: X.clamp(0, 1)),
    ("ClampBackward0", lambda: X.clamp(Y, Y)),
    ("ClampMinBackward0", lambda: X.clamp_min(0)),
    ("ClampMaxBackward1", lambda: X.clamp_max(Y)),
    ("WhereBackward0", lambda: torch.where(B, X, 0.0)),
    ("LerpBackward0", lambda: torch.lerp(X, Y, 0.5)),
    ("LerpBackward1", lambda: torch.lerp(X, Y, Y)),
    ("MaskedFillBackward0", lambda: X.masked_fill(B, 0)),
    ("MaskedFillBackward1", lambda: X.masked_fill(B, Y[0])),
    ("CopysignBackward1", lambda: torch.copysign(X, 2.0)),
    ("XlogyBackward0", lambda: torch.xlogy(X, Y)),
    ("XlogyBackward1", lambda: torch.xlogy(2, X)),
    ("XlogyBackward2", lambda: torch.xlogy(X, 2)),
    ("SpecialXlog1PyBackward1", lambda: torch.special.xlog1py(2, X)),
    ("SpecialI0EBackward0", lambda: torch.special.i0e(X)),
    ("SpecialZetaBackward1", lambda: torch.special.zeta(2, X)),
    ("FillBackward2", lambda: (X * 1).fill_(2.0)),
    ("FillBackward3", lambda: (X * 1).fill_(Y[0])),
    ("ZeroBackward0", lambda: (X * 1).zero_()),
    ("CopyBackwards", lambda: (X * 1).copy_(Y)),
    ("ConjBackward0", lambda: Z.conj()),
    ("SelectBackward0", lambda: Z.real),
]


@pytest.mark.parametrize(("name", "call"), NODES)
def test_node_names(name: str, call: Any) -> None:
    assert type(call().grad_fn).__name__ == name


def test_a_number_over_a_tensor_is_its_reciprocal_times_the_number() -> None:
    node = (2 / X).grad_fn
    assert type(node).__name__ == "MulBackward0"
    assert type(node.next_functions[0][0]).__name__ == "ReciprocalBackward0"


# ------------------------------------------------------------------ gradients at kinks, ties and zero

KINKS: list[tuple[Any, list[list[Any]], list[list[Any]]]] = [
    (torch.abs, [[0.0, -2.0]], [[0.0, -1.0]]),
    (torch.abs, [[0j, 3 + 4j]], [[0j, 0.6 + 0.8j]]),
    (torch.sgn, [[3 + 4j, 0j]], [[0.128 - 0.096j, 0j]]),
    (torch.angle, [[3 + 4j, 0j]], [[-0.16 + 0.12j, 0j]]),
    (torch.angle, [[-1.0, 0.0]], [[0.0, 0.0]]),
    (torch.sqrt, [[0.0, 4.0]], [[INF, 0.25]]),
    (torch.reciprocal, [[0.0]], [[-INF]]),
    (
        lambda a, b: a**b,
        [[0.0, 0.0, 0.0, -1.0, 2.0, 0.0], [0.0, 1.0, 2.0, 2.0, 0.0, -1.0]],
        [[0.0, 1.0, 0.0, -2.0, 0.0, -INF], [0.0, 0.0, 0.0, NAN, 0.6931471805599453, -INF]],
    ),
    (lambda a: a**0, [[0.0, 1.0]], [[0.0, 0.0]]),
    (lambda a: a**0.5, [[0.0, 4.0]], [[INF, 0.25]]),
    (lambda a: 0**a, [[0.0, 1.0, -1.0]], [[0.0, 0.0, -INF]]),
    (lambda a: a**2, [[1 + 2j]], [[2 - 4j]]),
    (lambda a, b: a * b, [[1 + 2j], [2.0]], [[2 + 0j], [1.0]]),
    (lambda a, b: a / b, [[1 + 2j], [2 - 1j]], [[0.4 - 0.2j], [0.2 + 0.4j]]),
    (lambda a, b: a % b, [[2.0, -3.5], [3.0, 2.0]], [[1.0, 1.0], [0.0, 2.0]]),
    (torch.fmod, [[2.0, -3.5], [3.0, 2.0]], [[1.0, 1.0], [0.0, 1.0]]),
    (torch.atan2, [[0.0, 1.0], [0.0, 1.0]], [[0.0, 0.5], [0.0, -0.5]]),
    (torch.hypot, [[0.0], [0.0]], [[NAN], [NAN]]),
    (torch.xlogy, [[0.0, 0.0, 1.0], [0.0, NAN, 0.0]], [[0.0, NAN, -INF], [NAN, NAN, INF]]),
    (torch.maximum, [[1.0, 2.0, NAN], [1.0, 1.0, 1.0]], [[0.5, 1.0, 1.0], [0.5, 0.0, 1.0]]),
    (torch.fmax, [[1.0, 2.0, NAN], [1.0, 1.0, NAN]], [[1.0, 1.0, 1.0], [0.0, 0.0, 0.0]]),
    (torch.fmin, [[1.0, 2.0, NAN], [1.0, 1.0, NAN]], [[1.0, 0.0, 1.0], [0.0, 1.0, 0.0]]),
    (lambda a: a.clamp(0, 1), [[0.0, 1.0, 2.0, -1.0, NAN]], [[1.0, 1.0, 0.0, 0.0, 0.0]]),
    (
        torch.clamp,
        [[0.0, 1.0, 2.0, -1.0, 5.0], [0.0, 0.0, 0.0, 0.0, 3.0], [1.0, 1.0, 1.0, 1.0, 2.0]],
        [[1.0, 1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 1.0, 0.0, 1.0]],
    ),
    (lambda a, b: a.clamp_min(b), [[0.0, 1.0], [0.0, 0.0]], [[1.0, 1.0], [0.0, 0.0]]),
    (torch.logaddexp, [[-INF], [-INF]], [[NAN], [NAN]]),
    (torch.copysign, [[0.0, 2.0, -3.0], [1.0, -1.0, 1.0]], [[0.0, -1.0, -1.0], [0.0, 0.0, 0.0]]),
    (torch.nan_to_num, [[NAN, INF, 1.0]], [[0.0, 0.0, 1.0]]),
    (torch.nextafter, [[1.0, 2.0], [3.0, 4.0]], [[1.0, 1.0], [0.0, 0.0]]),
    (torch.logit, [[0.0, 1.0, -1.0, 0.5]], [[INF, INF, NAN, 4.0]]),
    (lambda a: torch.logit(a, 0.1), [[0.0, 0.05, 0.1, 0.5]], [[0.0, 0.0, 11.111111111111109, 4.0]]),
    (torch.special.entr, [[0.0, -1.0, 0.5]], [[INF, NAN, -0.3068528194400547]]),
    (torch.special.xlog1py, [[0.0, 0.0, 1.0], [-1.0, NAN, -1.0]], [[0.0, NAN, -INF], [NAN, NAN, INF]]),
    (torch.special.i1, [[0.0]], [[0.5]]),
    (torch.sinc, [[0.0, 0.5]], [[0.0, -1.2732395447351628]]),
]


@pytest.mark.parametrize(("fn", "inputs", "expected"), KINKS)
def test_gradients_at_kinks(fn: Any, inputs: list[list[Any]], expected: list[list[Any]]) -> None:
    leaves = [T(v, dtype=torch.complex128 if isinstance(v[0], complex) else torch.float64) for v in inputs]
    for x in leaves:
        x.requires_grad_()
    out = fn(*leaves)
    out.backward(torch.ones_like(out))
    for x, e in zip(leaves, expected, strict=True):
        np.testing.assert_allclose(x.grad.numpy(), np.array(e), rtol=1e-14)


def test_a_quotient_by_a_number_is_exact() -> None:
    x = T([49.0], requires_grad=True)  # 49 * (1 / 49) is not 1 in float32
    (x / 49).backward(T([49.0]))
    assert x.grad.item() == 1.0
    x.grad = None
    torch.log(x).backward(T([49.0]))
    assert x.grad.item() == 1.0


def test_a_zero_factor_wins_over_an_infinite_cotangent() -> None:
    x = leaf(1.0, -1.0)
    torch.where(x > 0, x, 0.0).backward(T([1.0, INF], dtype=torch.float64))
    assert x.grad.tolist() == [1.0, 0.0]


# ------------------------------------------------------------------ dtypes

I, U, F, H = T([1, 2]), T([1, 2], dtype=torch.uint8), T([1.0, 2.0]), T([1.0, 2.0], dtype=torch.float16)  # noqa: E741
I0, D0 = T(5), T(1.5, dtype=torch.float64)

DTYPES: list[tuple[Any, Any, list[Any]]] = [
    (lambda: I / 2, torch.float32, [0.5, 1.0]),
    (lambda: I + 1.5, torch.float32, [2.5, 3.5]),
    (lambda: I * True, torch.int64, [1, 2]),
    (lambda: B + B, torch.bool, [True, False]),
    (lambda: B * 2, torch.int64, [2, 0]),
    (lambda: B / B, torch.float32, [1.0, NAN]),
    (lambda: I0 + F, torch.float32, [6.0, 7.0]),
    (lambda: D0 * F, torch.float32, [1.5, 3.0]),
    (lambda: D0 * I, torch.float64, [1.5, 3.0]),
    (lambda: D0 * H, torch.float16, [1.5, 3.0]),
    (lambda: H + H.bfloat16(), torch.float32, [2.0, 4.0]),
    (lambda: F * 1j, torch.complex64, [1j, 2j]),
    (lambda: U + (-1), torch.uint8, [0, 1]),
    (lambda: U + 300, torch.uint8, [45, 46]),
    (lambda: U == 257, torch.bool, [True, False]),
    (lambda: U < -1, torch.bool, [True, True]),  # -1 is 255 there
    (lambda: U == 300, torch.bool, [False, False]),
    (lambda: torch.exp(I), torch.float32, [2.7182817459106445, 7.389056205749512]),
    (lambda: I**2.0, torch.float32, [1.0, 4.0]),
    (lambda: I ** T([-1, -2]), torch.int64, [1, 0]),
    (lambda: B**2, torch.int64, [1, 0]),
    (lambda: B.square(), torch.int64, [1, 0]),
    (lambda: torch.float_power(H, 2), torch.float64, [1.0, 4.0]),
    (lambda: torch.floor(I), torch.int64, [1, 2]),
    (lambda: torch.sgn(B), torch.bool, [True, False]),
    (lambda: torch.sign(T([NAN, -2.0])), torch.float32, [0.0, -1.0]),
    (lambda: torch.clamp(I, 0.5, 1.5), torch.float32, [1.0, 1.5]),
    (lambda: torch.clamp(F, 2, 1), torch.float32, [1.0, 1.0]),
    (lambda: torch.where(B, 1, 2), torch.int64, [1, 2]),
    (lambda: torch.where(B, 1.0, 2.0), torch.float32, [1.0, 2.0]),
    (lambda: torch.where(B, I, 2.5), torch.float32, [1.0, 2.5]),
    (lambda: I.masked_fill(B, 1.5), torch.int64, [1, 2]),
    (lambda: torch.maximum(I, F), torch.float32, [1.0, 2.0]),
    (lambda: torch.div(I, 2, rounding_mode="floor"), torch.int64, [0, 1]),
    (lambda: torch.div(T([-7, 7]), 2, rounding_mode="trunc"), torch.int64, [-3, 3]),
    (lambda: T([-7, 7]) // 2, torch.int64, [-4, 3]),
    (lambda: T([-7, 7]) % 3, torch.int64, [2, 1]),
    (lambda: torch.fmod(T([-7, 7]), 3), torch.int64, [-1, 1]),
    (lambda: F // 0, torch.float32, [INF, INF]),
    (lambda: torch.bitwise_left_shift(I, 64), torch.int64, [0, 0]),
    (lambda: torch.bitwise_right_shift(-I, 70), torch.int64, [-1, -1]),
    (lambda: B & 1, torch.int64, [1, 0]),
    (lambda: 3 >> I, torch.int64, [1, 0]),
    (lambda: ~I, torch.int64, [-2, -3]),
    (lambda: torch.nan_to_num(H * 1e5), torch.float16, [65504.0, 65504.0]),
    (lambda: torch.angle(T([NAN, -1.0])), torch.float32, [NAN, 3.1415927410125732]),
    (lambda: torch.heaviside(I, I), torch.int64, [1, 1]),
    (lambda: torch.copysign(I, -1), torch.float32, [-1.0, -2.0]),
    (lambda: torch.ldexp(I, I), torch.float32, [2.0, 8.0]),
    (lambda: torch.isclose(T([INF, -INF]), T([INF, INF])), torch.bool, [True, False]),
    (lambda: torch.special.chebyshev_polynomial_t(F, 2.7), torch.float32, [1.0, 7.0]),
]


@pytest.mark.parametrize(("call", "dtype", "expected"), DTYPES)
def test_dtypes(call: Any, dtype: Any, expected: list[Any]) -> None:
    got = call()
    assert got.dtype is dtype
    np.testing.assert_allclose(got.numpy(), np.array(expected, got.numpy().dtype), rtol=2e-7)


def test_default_dtype_is_what_integers_become() -> None:
    torch.set_default_dtype(torch.float64)
    try:
        assert (I / 2).dtype is torch.float64 and torch.sin(I).dtype is torch.float64
    finally:
        torch.set_default_dtype(torch.float32)
    assert (I / 2).dtype is torch.float32


# ------------------------------------------------------------------ refusals

ERRORS: list[tuple[Any, type[Exception], str]] = [
    (lambda: B - B, RuntimeError, "Subtraction, the `-` operator, with two bool tensors is not supported."),
    (lambda: F - True, RuntimeError, "Subtraction, the `-` operator, with a bool tensor is not supported."),
    (lambda: -B, RuntimeError, "Negation, the `-` operator, on a bool tensor is not supported."),
    (lambda: +B, RuntimeError, "The `+` operator, on a bool tensor is not supported."),
    (lambda: abs(B), NotImplementedError, "\"abs_cpu\" not implemented for 'Bool'"),
    (lambda: I // 0, RuntimeError, "ZeroDivisionError"),
    (lambda: I % 0, RuntimeError, "ZeroDivisionError"),
    (lambda: torch.fmod(I, 0), RuntimeError, "ZeroDivisionError"),
    (lambda: I**-1, RuntimeError, "Integers to negative integer powers are not allowed."),
    (lambda: F + torch.ones(3), RuntimeError, "The size of tensor a (2) must match the size of tensor b (3) at"),
    (lambda: F.clone().add_(torch.ones(3, 2)), RuntimeError, "output with shape [2] doesn't match the broadcast shape"),
    (lambda: I.add_(1.5), RuntimeError, "result type Float can't be cast to the desired output type Long"),
    (lambda: F + "a", TypeError, "unsupported operand type(s) for +: 'Tensor' and 'str'"),
    (lambda: F + None, TypeError, "unsupported operand type(s) for +: 'Tensor' and 'NoneType'"),
    (lambda: [1, 2] + F, TypeError, 'can only concatenate list (not "Tensor") to list'),
    (lambda: F < None, TypeError, "'<' not supported between instances of 'Tensor' and 'NoneType'"),
    (lambda: torch.add(F, "a"), TypeError, "add(): argument 'other' (position 2) must be Tensor, not str"),
    (lambda: torch.exp(1.0), TypeError, "exp(): argument 'input' (position 1) must be Tensor, not float"),
    (lambda: torch.maximum(F, 1), TypeError, "maximum(): argument 'other' (position 2) must be Tensor, not int"),
    (lambda: torch.add(I, I, alpha=1.5), RuntimeError, "For integral input tensors, argument alpha must not be a"),
    (lambda: torch.add(I, I, alpha=True), RuntimeError, "Boolean alpha only supported for Boolean results."),
    (lambda: torch.div(F, F, rounding_mode="x"), RuntimeError, "div expected rounding_mode to be one of None, 'trunc'"),
    (lambda: I + 2**64, OverflowError, "int too big to convert"),
    (lambda: Z < Z, NotImplementedError, "\"lt_cpu\" not implemented for 'ComplexDouble'"),
    (lambda: ~F, TypeError, "~ (operator.invert) is only implemented on integer and Boolean-type tensors"),
    (lambda: F & F, NotImplementedError, "\"bitwise_and_cpu\" not implemented for 'Float'"),
    (lambda: torch.where(F, F, F), RuntimeError, "where expected condition to be a boolean tensor"),
    (lambda: torch.clamp(F), RuntimeError, "torch.clamp: At least one of 'min' or 'max' must not be None"),
    (lambda: F.masked_fill(I, 1.0), RuntimeError, "masked_fill_ only supports boolean masks, but got mask with dtype"),
    (lambda: F.masked_fill(B, T([1.0])), RuntimeError, "masked_fill_ only supports a 0-dimensional value tensor, but"),
    (lambda: U.fill_(300), RuntimeError, "value cannot be converted to type uint8_t without overflow"),
    (lambda: F.imag, RuntimeError, "imag is not implemented for tensors with non-complex dtypes."),
    (lambda: torch.polar(F, I), RuntimeError, "Expected both inputs to be Half, Float or Double tensors but got"),
    (lambda: torch.polygamma(-1, F), RuntimeError, "polygamma(n, x) does not support negative n."),
    (lambda: torch.lerp(F, F.double(), 0.5), RuntimeError, "expected dtype float for `end` but got dtype double"),
    (lambda: (X // 2).sum().backward(), RuntimeError, "derivative for aten::floor_divide is not implemented"),
    (lambda: torch.igamma(X, Y).sum().backward(), NotImplementedError, "the derivative for 'igamma: input' is not"),
    (lambda: (Z * 1).abs_(), RuntimeError, "In-place abs is not supported for complex tensors."),
]


@pytest.mark.parametrize(("call", "error", "message"), ERRORS)
def test_refusals(call: Any, error: type[Exception], message: str) -> None:
    before = [t.clone() for t in (I, U, F, B)]
    with pytest.raises(error) as caught:
        call()
    assert type(caught.value) is error and str(caught.value).startswith(message)
    assert all(torch.equal(a, b) for a, b in zip(before, (I, U, F, B), strict=True)), "a refused call wrote something"


# ------------------------------------------------------------------ operators


def test_equality_with_anything_and_identity_hash() -> None:
    assert (F == None) is False and (F != None) is True and (F == "a") is False  # noqa: E711
    assert hash(F) == hash(F) and hash(F) != hash(F.detach())
    assert len({F, F, X}) == 2


def test_arrays_and_numpy_scalars_on_either_side() -> None:
    a = np.ones(2)
    for got in (F + a, a + F, F * a, a * F, a - F, F**a, a**F, a / F, F / a):
        assert isinstance(got, torch.Tensor) and got.dtype is torch.float64
    assert (np.float64(2) * F).dtype is torch.float32
    assert (np.float64(2) * I).dtype is torch.float32
    assert (F + np.float32(1)).tolist() == [2.0, 3.0]
    assert (a < F).tolist() == [False, True]
    x = T([1.0, 2.0], requires_grad=True)
    (a * x).sum().backward()
    assert x.grad.tolist() == [1.0, 1.0]


def test_in_place_operators_keep_the_tensor() -> None:
    x = y = T([1.0, 2.0])
    x += 1
    x -= 0.5
    x *= T([2.0, 2.0])
    x /= 2
    x **= 2
    x //= 1
    x %= 3
    assert x is y and x._version == 7 and x.tolist() == [2.0, 0.0]
    m = n = T([True, False])
    m |= T([False, True])
    m &= T([True, False])
    m ^= T([True, True])
    assert m is n and m.tolist() == [False, True]
    k = T([1, 2])
    k <<= 2
    k >>= 1
    assert k.tolist() == [2, 4]


def test_recorded_in_place_arithmetic() -> None:
    a, b = leaf(1.0, 2.0), leaf(3.0, 4.0)
    x = a * 3
    x += b
    x *= b
    x -= 1
    x /= b
    x.sum().backward()
    np.testing.assert_allclose(a.grad.numpy(), [3.0, 3.0])
    np.testing.assert_allclose(b.grad.numpy(), 1 + 1 / np.array([3.0, 4.0]) ** 2)
    x = a * 3
    y = x * x
    x.mul_(2)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


def test_aliases() -> None:
    x = torch.tensor([1.5, -2.5])
    for alias, name in (
        ("multiply", "mul"),
        ("absolute", "abs"),
        ("arctan2", "atan2"),
        ("greater", "gt"),
        ("fix", "trunc"),
    ):
        given = (x,) if name in ("abs", "trunc") else (x, x.flip(0))
        assert torch.equal(getattr(torch, alias)(*given), getattr(torch, name)(*given))
        with pytest.raises(TypeError, match=alias):
            getattr(torch, alias)("a")
    assert torch.equal(torch.special.expit(x), torch.sigmoid(x)) and torch.equal(torch.special.psi(x), torch.digamma(x))


def test_frexp_is_a_named_tuple() -> None:
    got = torch.frexp(T([1.5, -4.0]))
    assert got.mantissa.tolist() == [0.75, -0.5] and got.exponent.tolist() == [1, 3]
    assert got.exponent.dtype is torch.int32


# ------------------------------------------------------------------ complex


def test_real_and_imag_are_views() -> None:
    z = T([1 + 2j, 3 - 1j])
    z.real.mul_(10)
    z.imag.add_(1)
    assert z.tolist() == [10 + 3j, 30 + 0j]
    assert torch.view_as_complex(T([[1.0, 2.0]])).tolist() == [1 + 2j]
    with pytest.raises(RuntimeError, match="Tensor must have a last dimension of size 2"):
        torch.view_as_complex(T([1.0, 2.0, 3.0]))


def test_conjugates_of_real_tensors_are_themselves() -> None:
    assert F.conj() is F and torch.real(F) is F and F.resolve_conj() is F and not Z.is_conj()


def test_a_real_leaf_in_complex_arithmetic_gets_a_real_gradient() -> None:
    x = T([2.0], requires_grad=True)
    (x * (1 + 2j)).abs().sum().backward()
    assert x.grad.dtype is torch.float32
    np.testing.assert_allclose(x.grad.item(), 5**0.5, rtol=1e-6)


# ------------------------------------------------------------------ large arrays


@pytest.mark.parametrize(
    "fn",
    [
        lambda x, y: x * y + x / y - y,
        lambda x, y: torch.tanh(x) * torch.sigmoid(y),
        lambda x, y: torch.where(x > y, x * 2, y.exp()),
        lambda x, y: x.clamp(-0.5, 0.5) * torch.maximum(x, y),
        lambda x, y: 1 - torch.erf(x) ** 2 + torch.log1p(y.abs()),
    ],
)
def test_threaded_routes_agree_with_the_direct_ones(fn: Any) -> None:
    rng = np.random.default_rng(3)
    a, b = (rng.uniform(0.1, 2, (700, 500)).astype(np.float32) for _ in range(2))
    g = rng.standard_normal((700, 500)).astype(np.float32)
    whole = []
    for rows in (slice(None), slice(0, 3)):
        x, y = (torch.from_numpy(v[rows].copy()).requires_grad_() for v in (a, b))
        out = fn(x, y)
        out.backward(torch.from_numpy(g[rows].copy()))
        whole.append([v.numpy()[:3] for v in (out.detach(), x.grad, y.grad)])
    for big, small in zip(*whole, strict=True):
        np.testing.assert_allclose(big, small, rtol=2e-6, atol=1e-6)


def test_ops_say_nothing_about_infinities() -> None:
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        x = T([0.0, -1.0], requires_grad=True)
        (torch.log(x) / x).sum().backward()


def test_recorded_backward_is_one_node():
    """The gradient of a rectifier or sigmoid function, itself recorded, is one node, as PyTorch's is."""
    x = torch.tensor([0.5, -1.0], requires_grad=True)
    for f, name in ((torch.relu, "Threshold"), (torch.sigmoid, "Sigmoid"), (torch.tanh, "Tanh")):
        (g,) = torch.autograd.grad(f(x).sum(), x, create_graph=True)
        assert g.grad_fn.name() == f"{name}BackwardBackward0"
    (g,) = torch.autograd.grad(torch.relu(x).sum(), x, create_graph=True)
    assert torch.autograd.grad(g.sum(), x)[0].tolist() == [0, 0]
    h = torch.func.jacfwd(torch.func.grad(lambda v: torch.sigmoid(v).sum()))(torch.tensor([0.5, 1.0]))
    assert "-0." not in repr(h[0, 1:]) and "-0." not in repr(h[1, :1])


def test_bessel_functions_grow_until_exp_overflows():
    for name in ("i0", "i1", "modified_bessel_i0", "modified_bessel_i1"):
        fn = getattr(torch.special, name)
        below, above = fn(torch.tensor([88.6, 89.0])).tolist()
        assert 1e37 < below < 2e37 and above == float("inf")
        assert fn(torch.tensor(700.0, dtype=torch.float64)) < float("inf")


def test_hash_tensor_is_the_exclusive_or_of_64_bit_elements():
    x = torch.tensor([[1.5, -2.0], [0.25, 3.0]], dtype=torch.float32)
    bits = x.numpy().astype("float64").view("uint64")
    assert torch.hash_tensor(x).item() == int(bits[0, 0] ^ bits[0, 1] ^ bits[1, 0] ^ bits[1, 1])
    assert torch.hash_tensor(x, 1, keepdim=True).tolist() == [[int(a ^ b)] for a, b in bits]
    assert torch.hash_tensor(torch.tensor([-1, 1], dtype=torch.int8)).item() == 2**64 - 2
    with pytest.raises(RuntimeError, match="Unknown hash_tensor mode: 1"):
        torch.hash_tensor(x, mode=1)
    with pytest.raises(IndexError, match="hash_tensor: Expected reduction dim 0 to have non-zero size."):
        torch.hash_tensor(torch.empty(0, 3), 0)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_alpha_may_be_a_tensor_of_one_number(dtype):
    x, alpha = torch.ones(2, dtype=dtype), torch.tensor(0.5, dtype=dtype)
    assert torch.add(x, x, alpha=alpha).tolist() == [1.5, 1.5] == x.add_(x, alpha=alpha).tolist()
    assert torch.sub(x, x, alpha=alpha).tolist() == [0.75, 0.75]


def test_decimals_are_rounded_in_the_inputs_own_precision():
    assert torch.round(torch.tensor([1.255, 0.285]), decimals=2).tolist() == torch.tensor([1.26, 0.28]).tolist()
