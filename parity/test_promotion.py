"""The dtype of every combination: dtype x dtype x (tensor, 0-d tensor, Python number), for binary ops and their kin."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from .agree import TORCH, outcome
from .bridge import Side
from .compare import Raised, TensorSnap

DTYPES = (
    *("bool", "uint8", "int8", "int16", "int32", "int64"),
    *("float16", "bfloat16", "float32", "float64", "complex64", "complex128"),
)
SCALARS = (True, 3, 2.5, 1 + 2j)

ARITHMETIC = (
    *("add", "sub", "mul", "div", "true_divide", "floor_divide", "remainder", "fmod", "pow", "float_power"),
    *("maximum", "minimum", "fmax", "fmin", "atan2", "hypot", "logaddexp", "copysign", "xlogy", "nextafter"),
    *(
        "bitwise_and",
        "bitwise_or",
        "bitwise_xor",
        "bitwise_left_shift",
        "bitwise_right_shift",
        "gcd",
        "lcm",
        "heaviside",
    ),
)
COMPARISONS = ("eq", "ne", "lt", "le", "gt", "ge", "logical_and", "logical_or", "logical_xor", "isclose")
INPLACE = (
    *("add_", "sub_", "mul_", "div_", "floor_divide_", "remainder_", "pow_", "fmod_"),
    *("bitwise_and_", "eq_", "lt_", "copy_", "atan2_", "logical_and_", "copysign_"),
)
OPERATORS = (
    "add",
    "sub",
    "mul",
    "truediv",
    "floordiv",
    "mod",
    "pow",
    "and_",
    "or_",
    "xor",
    "lshift",
    "rshift",
    "eq",
    "lt",
)


def tensor(lib: Any, kind: str, dtype: str) -> Any:
    """A tensor of ones, of one dimension or none."""
    return lib.ones(() if kind == "0-d" else (2,), dtype=getattr(lib, dtype))


def operands() -> list[tuple[str, Any]]:
    """Everything an operand may be: (kind, dtype or number)."""
    tensors = [(kind, dtype) for kind in ("tensor", "0-d") for dtype in DTYPES]
    return [*tensors, *(("number", number) for number in SCALARS)]


def make(lib: Any, operand: tuple[str, Any]) -> Any:
    kind, what = operand
    return what if kind == "number" else tensor(lib, kind, what)


def brief(taken: Any) -> Any:
    """The dtype and shape of a result, or its error."""
    if isinstance(taken, TensorSnap):
        return taken.dtype, taken.shape
    if isinstance(taken, Raised):
        return f"{taken.kind}: {taken.message}"
    return taken


def check(side: Side, pairs: Any, call: Callable[[Any, Any, Any], Any]) -> None:
    """The call on every pair of operands, on both sides; all disagreements at once."""
    wrong = []
    count = 0
    for a, b in pairs:
        count += 1

        def program(lib: Any, a: Any = a, b: Any = b) -> Any:
            return call(lib, make(lib, a), make(lib, b))

        expected, got = brief(outcome(TORCH, program)), brief(outcome(side, program))
        if "ComplexHalf" in str(expected) or "complex32" in str(expected):
            continue  # not among tidu's dtypes
        if expected != got:
            wrong.append(f"{a} with {b}: torch {expected}, here {got}")
    assert not wrong, f"{len(wrong)} of {count} differ:\n" + "\n".join(wrong[:12])


ALL_PAIRS = [
    (a, b) for a, b in itertools.product(operands(), operands()) if "number" not in (a[0], b[0]) or a[0] != b[0]
]


@pytest.mark.parametrize("name", ARITHMETIC + COMPARISONS)
def test_functions(side: Side, name: str) -> None:
    check(side, ALL_PAIRS, lambda lib, a, b: getattr(lib, name)(a, b))


@pytest.mark.parametrize("name", OPERATORS)
def test_operators(side: Side, name: str) -> None:
    import operator

    check(side, ALL_PAIRS, lambda lib, a, b: getattr(operator, name)(a, b))


@pytest.mark.parametrize("name", INPLACE)
def test_inplace(side: Side, name: str) -> None:
    pairs = [(a, b) for a, b in ALL_PAIRS if a[0] != "number"]
    check(side, pairs, lambda lib, a, b: getattr(a, name)(b))


def test_where(side: Side) -> None:
    check(side, ALL_PAIRS, lambda lib, a, b: lib.where(lib.tensor([True, False]), a, b))


@pytest.mark.parametrize("name", ["cat", "stack", "hstack"])
def test_joining(side: Side, name: str) -> None:
    pairs = [(a, b) for a, b in ALL_PAIRS if a[0] == b[0] == "tensor"]
    check(side, pairs, lambda lib, a, b: getattr(lib, name)([a, b]))


def test_result_type(side: Side) -> None:
    check(side, ALL_PAIRS, lambda lib, a, b: str(lib.result_type(a, b)))


@pytest.mark.parametrize("name", ["promote_types", "can_cast"])
def test_of_dtypes(side: Side, name: str) -> None:
    wrong = []
    for a, b in itertools.product(DTYPES, DTYPES):
        ours = getattr(side.lib, name)(getattr(side.lib, a), getattr(side.lib, b))
        theirs = getattr(torch, name)(getattr(torch, a), getattr(torch, b))
        if str(ours) != str(theirs):
            wrong.append((a, b, str(theirs), str(ours)))
    assert not wrong


@pytest.mark.parametrize(
    "name",
    [
        *("matmul", "mm", "dot", "outer", "addcmul", "addcdiv", "lerp", "clamp", "linear", "index_add", "scatter"),
        *("masked_fill", "gather", "index_put", "setitem", "einsum", "mse_loss", "prelu", "bilinear"),
    ],
)
def test_mixed_dtypes(side: Side, name: str) -> None:
    """Ops that refuse mixed dtypes, or take them by a rule of their own."""

    def call(lib: Any, a: str, b: str) -> Any:
        x, y = (lib.ones(2, 2, dtype=getattr(lib, d)) for d in (a, b))
        index = lib.tensor([0, 1])
        match name:
            case "matmul" | "mm" | "mse_loss" | "linear":
                space = lib.nn.functional if name in ("mse_loss", "linear") else lib
                return getattr(space, name)(x, y)
            case "dot" | "outer":
                return getattr(lib, name)(x[0], y[0])
            case "addcmul" | "addcdiv":
                return getattr(lib, name)(x, y, y)
            case "lerp":
                return lib.lerp(x, y, 0.5)
            case "clamp":
                return lib.clamp(x, y, y)
            case "index_add":
                return lib.index_add(x, 0, index, y)
            case "scatter":
                return lib.scatter(x, 0, lib.zeros(2, 2, dtype=lib.int64), y)
            case "masked_fill":
                return lib.masked_fill(x, lib.ones(2, 2, dtype=lib.bool), y[0, 0])
            case "gather":
                return lib.gather(x, 0, lib.zeros(2, 2, dtype=getattr(lib, b)))
            case "index_put":
                return lib.index_put(x, (index,), y)
            case "setitem":
                x[index] = y
                return x
            case "einsum":
                return lib.einsum("ij,jk->ik", x, y)
            case "prelu":
                return lib.nn.functional.prelu(x, y[0])
            case _:
                return lib.nn.functional.bilinear(x, x, lib.ones(1, 2, 2, dtype=getattr(lib, b)))

    wrong = []
    for a, b in itertools.product(DTYPES, DTYPES):

        def program(lib: Any, a: str = a, b: str = b) -> Any:
            return call(lib, a, b)

        expected, got = brief(outcome(TORCH, program)), brief(outcome(side, program))
        if expected != got and "ComplexHalf" not in str(expected):
            wrong.append(f"{a} with {b}: torch {expected}, here {got}")
    assert not wrong, f"{len(wrong)} of {len(DTYPES) ** 2} differ:\n" + "\n".join(wrong[:12])


operand = st.one_of(
    st.tuples(st.sampled_from(("tensor", "0-d")), st.sampled_from(DTYPES)),
    st.tuples(st.just("number"), st.sampled_from(SCALARS)),
)


@settings(max_examples=300, deadline=None)
@given(st.lists(operand, min_size=2, max_size=4), st.sampled_from(("add", "mul", "sub")))
def test_chains(side: Side, chain: list[tuple[str, Any]], name: str) -> None:
    """Several operands in a row: intermediate results keep their kind (0-d results stay weak)."""

    def program(lib: Any) -> Any:
        result = make(lib, ("0-d", "int64"))
        for operand in chain:
            result = getattr(lib, name)(result, make(lib, operand))
        return result

    expected, got = brief(outcome(TORCH, program)), brief(outcome(side, program))
    assert expected == got, f"{name} over {chain}"
