"""The printed text of tensors, as PyTorch prints it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from tidu import dtypes, printing
from tidu.core.tensor import Tensor, tensor_of
from tidu.printing import printoptions, set_printoptions, tensor_format, tensor_repr

nan, inf = math.nan, math.inf


def f32(x: Any) -> np.ndarray:
    return np.asarray(x, np.float32)


def c64(x: Any) -> np.ndarray:
    return np.asarray(x, np.complex64)


@pytest.fixture(autouse=True)
def restored() -> Iterator[None]:
    yield
    set_printoptions(profile="default")
    dtypes.set_default_dtype(dtypes.float32)


# fmt: off
CASES: list[tuple[Any, dict[str, Any], str]] = [
    # floats
    (f32([1, 2, 3]), {}, "tensor([1., 2., 3.])"),
    (f32([[1, 2.5], [-3, 1000]]), {}, """\
tensor([[   1.0000,    2.5000],
        [  -3.0000, 1000.0000]])"""),
    (f32(3.14159265), {}, "tensor(3.1416)"),
    (f32(-2), {}, "tensor(-2.)"),
    (f32(0), {}, "tensor(0.)"),
    (f32(-0.0), {}, "tensor(-0.)"),
    (f32([0.0, -0.0, 1.5, -0.00001]), {}, "tensor([ 0.0000e+00, -0.0000e+00,  1.5000e+00, -1.0000e-05])"),
    (f32([1, 1001]), {}, "tensor([1.0000e+00, 1.0010e+03])"),
    (f32([0.5, 501]), {}, "tensor([5.0000e-01, 5.0100e+02])"),
    (f32([1e8, 2e8]), {}, "tensor([1.0000e+08, 2.0000e+08])"),
    (f32([1e8, 5e7]), {}, "tensor([100000000.,  50000000.])"),
    (np.array([1e-4, 2e-4]), {}, "tensor([0.0001, 0.0002], dtype=torch.float64)"),
    (f32([100000001.0, 2e8]), {}, "tensor([1.0000e+08, 2.0000e+08])"),
    (f32([-1000, 0.01, 1000]), {}, "tensor([-1.0000e+03,  1.0000e-02,  1.0000e+03])"),
    (f32([0.0001, 0.0002]), {}, "tensor([1.0000e-04, 2.0000e-04])"),
    (f32([0.00009, 0.0002]), {}, "tensor([9.0000e-05, 2.0000e-04])"),
    (f32([1e-20, 1, 1e20]), {}, "tensor([1.0000e-20, 1.0000e+00, 1.0000e+20])"),
    (f32([0.99999, 9.99996]), {}, "tensor([ 1.0000, 10.0000])"),
    (f32([nan, inf, -inf]), {}, "tensor([nan, inf, -inf])"),
    (f32([nan, 1, -2]), {}, "tensor([nan,  1., -2.])"),
    (f32([inf, 0.5, 12345]), {}, "tensor([       inf, 5.0000e-01, 1.2345e+04])"),
    (f32([inf, 1e10, 0.3, nan]), {}, "tensor([       inf, 1.0000e+10, 3.0000e-01,        nan])"),
    (np.array([1e-310, 1e300]), {}, "tensor([1.0000e-310, 1.0000e+300], dtype=torch.float64)"),
    (np.array([9.99999e99, 1.0]), {}, "tensor([1.0000e+100,  1.0000e+00], dtype=torch.float64)"),
    (np.array([1/3, 2/3], np.float16), {}, "tensor([0.3333, 0.6665], dtype=torch.float16)"),
    (np.array([60000, 1], np.float16), {}, "tensor([6.0000e+04, 1.0000e+00], dtype=torch.float16)"),
    (np.array([1/3, 2/3]), {}, "tensor([0.3333, 0.6667], dtype=torch.float64)"),
    (f32([[0.1], [20]]), {}, """\
tensor([[ 0.1000],
        [20.0000]])"""),
    # wrapping and nesting
    (f32(range(30)), {}, """\
tensor([ 0.,  1.,  2.,  3.,  4.,  5.,  6.,  7.,  8.,  9., 10., 11., 12., 13.,
        14., 15., 16., 17., 18., 19., 20., 21., 22., 23., 24., 25., 26., 27.,
        28., 29.])"""),
    (np.linspace(0, 1, 25, dtype=np.float32), {}, """\
tensor([0.0000, 0.0417, 0.0833, 0.1250, 0.1667, 0.2083, 0.2500, 0.2917, 0.3333,
        0.3750, 0.4167, 0.4583, 0.5000, 0.5417, 0.5833, 0.6250, 0.6667, 0.7083,
        0.7500, 0.7917, 0.8333, 0.8750, 0.9167, 0.9583, 1.0000])"""),
    (f32(range(24)).reshape(2, 3, 4), {}, """\
tensor([[[ 0.,  1.,  2.,  3.],
         [ 4.,  5.,  6.,  7.],
         [ 8.,  9., 10., 11.]],

        [[12., 13., 14., 15.],
         [16., 17., 18., 19.],
         [20., 21., 22., 23.]]])"""),
    (f32(range(8)).reshape(1, 2, 2, 2), {}, """\
tensor([[[[0., 1.],
          [2., 3.]],

         [[4., 5.],
          [6., 7.]]]])"""),
    (np.arange(60).reshape(2, 30), {}, """\
tensor([[ 0,  1,  2,  3,  4,  5,  6,  7,  8,  9, 10, 11, 12, 13, 14, 15, 16, 17,
         18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29],
        [30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47,
         48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59]])"""),
    (np.arange(20) / 7, {}, """\
tensor([0.0000, 0.1429, 0.2857, 0.4286, 0.5714, 0.7143, 0.8571, 1.0000, 1.1429,
        1.2857, 1.4286, 1.5714, 1.7143, 1.8571, 2.0000, 2.1429, 2.2857, 2.4286,
        2.5714, 2.7143], dtype=torch.float64)"""),
    (np.arange(5, dtype=np.int32), dict(linewidth=30), """\
tensor([0, 1, 2, 3, 4],
       dtype=torch.int32)"""),
    (np.arange(12), dict(linewidth=1), """\
tensor([ 0,
         1,
         2,
         3,
         4,
         5,
         6,
         7,
         8,
         9,
        10,
        11])"""),
    # summaries
    (f32(range(1000))[:20], dict(threshold=20), """\
tensor([ 0.,  1.,  2.,  3.,  4.,  5.,  6.,  7.,  8.,  9., 10., 11., 12., 13.,
        14., 15., 16., 17., 18., 19.])"""),
    (np.arange(1001), {}, "tensor([   0,    1,    2,  ...,  998,  999, 1000])"),
    (f32(range(10000)).reshape(100, 100) / 7, {}, """\
tensor([[0.0000e+00, 1.4286e-01, 2.8571e-01,  ..., 1.3857e+01, 1.4000e+01,
         1.4143e+01],
        [1.4286e+01, 1.4429e+01, 1.4571e+01,  ..., 2.8143e+01, 2.8286e+01,
         2.8429e+01],
        [2.8571e+01, 2.8714e+01, 2.8857e+01,  ..., 4.2429e+01, 4.2571e+01,
         4.2714e+01],
        ...,
        [1.3857e+03, 1.3859e+03, 1.3860e+03,  ..., 1.3996e+03, 1.3997e+03,
         1.3999e+03],
        [1.4000e+03, 1.4001e+03, 1.4003e+03,  ..., 1.4139e+03, 1.4140e+03,
         1.4141e+03],
        [1.4143e+03, 1.4144e+03, 1.4146e+03,  ..., 1.4281e+03, 1.4283e+03,
         1.4284e+03]])"""),
    (np.arange(2000).reshape(10, 20, 10), dict(edgeitems=1), """\
tensor([[[   0,  ...,    9],
         ...,
         [ 190,  ...,  199]],

        ...,

        [[1800,  ..., 1809],
         ...,
         [1990,  ..., 1999]]])"""),
    (np.arange(1200).reshape(3, 400), {}, """\
tensor([[   0,    1,    2,  ...,  397,  398,  399],
        [ 400,  401,  402,  ...,  797,  798,  799],
        [ 800,  801,  802,  ..., 1197, 1198, 1199]])"""),
    (np.arange(1200).reshape(400, 3), dict(edgeitems=2), """\
tensor([[   0,    1,    2],
        [   3,    4,    5],
        ...,
        [1194, 1195, 1196],
        [1197, 1198, 1199]])"""),
    (np.where(np.arange(2000) == 1000, 1e9, 0.5), {}, """\
tensor([0.5000, 0.5000, 0.5000,  ..., 0.5000, 0.5000, 0.5000],
       dtype=torch.float64)"""),
    (np.arange(10), dict(threshold=3, edgeitems=0), "tensor([...], size=(10,))"),
    (np.arange(2), dict(edgeitems=0), "tensor([0, 1], size=(2,))"),
    (f32(5), dict(threshold=0), "tensor(5.)"),
    (np.zeros((2,) * 4, dtype=bool), dict(threshold=8), """\
tensor([[[[False, False],
          [False, False]],

         [[False, False],
          [False, False]]],


        [[[False, False],
          [False, False]],

         [[False, False],
          [False, False]]]])"""),
    (np.arange(24).reshape(4, 6), dict(threshold=10, edgeitems=2), """\
tensor([[ 0,  1,  ...,  4,  5],
        [ 6,  7,  ..., 10, 11],
        [12, 13,  ..., 16, 17],
        [18, 19,  ..., 22, 23]])"""),
    (np.arange(30), dict(threshold=10, edgeitems=10), """\
tensor([ 0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  ..., 20, 21, 22, 23, 24, 25, 26,
        27, 28, 29])"""),
    (np.arange(1001) * 1j, {}, """\
tensor([0.+0.j, 0.+1.j, 0.+2.j,  ..., 0.+998.j, 0.+999.j, 0.+1000.j],
       dtype=torch.complex128)"""),
    # integers and bools
    (np.array([1, -20, 300]), {}, "tensor([  1, -20, 300])"),
    (np.array(7), {}, "tensor(7)"),
    (np.array([0, 255], np.uint8), {}, "tensor([  0, 255], dtype=torch.uint8)"),
    (np.array([-(2**63), 2**63 - 1]), {}, "tensor([-9223372036854775808,  9223372036854775807])"),
    (np.array([True, False]), {}, "tensor([ True, False])"),
    (np.array([[True], [True]]), {}, """\
tensor([[True],
        [True]])"""),
    (np.array(False), {}, "tensor(False)"),
    (np.array([-128, 5], np.int8), {}, "tensor([-128,    5], dtype=torch.int8)"),
    (np.array([1, 2], np.int16), {}, "tensor([1, 2], dtype=torch.int16)"),
    # complex
    (c64([1 + 2j, -3.5 - 4j]), {}, "tensor([ 1.0000+2.j, -3.5000-4.j])"),
    (c64(1j), {}, "tensor(0.+1.j)"),
    (c64([0, -0.0]), {}, "tensor([0.+0.j, -0.+0.j])"),
    (c64([complex(nan, inf), complex(-inf, nan), 1]), {}, "tensor([nan+infj, -inf+nanj, 1.+0.j])"),
    (c64([1e10 + 1e-5j, 1 + 100j]), {}, "tensor([1.0000e+10+1.0000e-05j, 1.0000e+00+1.0000e+02j])"),
    (np.array([1 - 0.25j]), {}, "tensor([1.-0.2500j], dtype=torch.complex128)"),
    (c64(range(12)) * (1 - 0.5j), {}, """\
tensor([ 0.+0.0000j,  1.-0.5000j,  2.-1.0000j,  3.-1.5000j,  4.-2.0000j,
         5.-2.5000j,  6.-3.0000j,  7.-3.5000j,  8.-4.0000j,  9.-4.5000j,
        10.-5.0000j, 11.-5.5000j])"""),
    (c64([[1 + 10j, 200 - 3j]]), {}, "tensor([[  1.+10.j, 200.-3.j]])"),
    (c64([complex(1, -0.0)]), {}, "tensor([1.-0.j])"),
    # empty
    (f32([]), {}, "tensor([])"),
    (f32([[]]), {}, "tensor([], size=(1, 0))"),
    (np.zeros((2, 0, 3)), {}, "tensor([], size=(2, 0, 3), dtype=torch.float64)"),
    (np.array([], np.int64), {}, "tensor([], dtype=torch.int64)"),
    (np.array([], bool), dict(edgeitems=0), "tensor([], dtype=torch.bool)"),
    (c64([]), {}, "tensor([], dtype=torch.complex64)"),
    # options
    (f32([1/3, 200/3]), dict(precision=2), "tensor([ 0.33, 66.67])"),
    (f32([1/3]), dict(precision=10), "tensor([0.3333333433])"),
    (f32([1.5, 2.5]), dict(precision=0), "tensor([2, 2])"),
    (f32([1, 20]), dict(sci_mode=True), "tensor([1.0000e+00, 2.0000e+01])"),
    (f32([0, nan]), dict(sci_mode=True), "tensor([0., nan])"),
    (f32([0, nan, 3]), dict(sci_mode=True), "tensor([0.0000e+00,        nan, 3.0000e+00])"),
    (f32([1e-9, 12.5]), dict(sci_mode=False), "tensor([ 0.0000, 12.5000])"),
    (f32([1e9, 1]), dict(sci_mode=False), "tensor([1000000000.,          1.])"),
    (np.arange(1001), dict(profile='short'), "tensor([   0,    1,  ...,  999, 1000])"),
    (f32([1/3]), dict(profile='short'), "tensor([0.33])"),
    (f32([1/3]), dict(profile='short', precision=6), "tensor([0.333333])"),
    (
        np.arange(1010)[1000:], dict(profile='full', threshold=5),
        "tensor([1000, 1001, 1002,  ..., 1007, 1008, 1009])",
    ),
]
# fmt: on


@pytest.mark.parametrize(("array", "options", "text"), CASES)
def test_text(array: Any, options: dict[str, Any], text: str) -> None:
    set_printoptions(**options)
    assert tensor_repr(tensor_of(array)) == text


def test_bfloat16() -> None:
    t = tensor_of(np.array([1 / 3, -2, 100], ml_dtypes.bfloat16))
    assert tensor_repr(t) == "tensor([  0.3340,  -2.0000, 100.0000], dtype=torch.bfloat16)"
    assert tensor_format(tensor_of(np.array(0.1, ml_dtypes.bfloat16)), ".6f") == "0.100098"


def test_default_dtype_is_left_out() -> None:
    single, double = tensor_of(f32([1])), tensor_of(np.ones(1))
    single_complex, double_complex = tensor_of(c64([1])), tensor_of(np.ones(1, complex))
    dtypes.set_default_dtype(dtypes.float64)
    assert tensor_repr(single) == "tensor([1.], dtype=torch.float32)"
    assert tensor_repr(double) == "tensor([1.])"
    assert tensor_repr(single_complex) == "tensor([1.+0.j], dtype=torch.complex64)"
    assert tensor_repr(double_complex) == "tensor([1.+0.j])"


def test_requires_grad_follows_and_wraps() -> None:
    short, long = tensor_of(f32([1, 2])), tensor_of(f32(range(14)))
    short.requires_grad = long.requires_grad = True
    assert tensor_repr(short) == "tensor([1., 2.], requires_grad=True)"
    wrapped = """\
tensor([ 0.,  1.,  2.,  3.,  4.,  5.,  6.,  7.,  8.,  9., 10., 11., 12., 13.],
       requires_grad=True)"""
    assert tensor_repr(long) == wrapped


@pytest.mark.parametrize(
    ("shape", "linewidth", "breaks"),
    [
        # a case on either side of each limit; a 1 is a line break before size=, dtype=, requires_grad=
        ((2, 0), 23, (1, 1, 1)),
        ((2, 0), 24, (0, 1, 1)),
        ((2, 0), 44, (0, 1, 1)),
        ((2, 0), 45, (0, 0, 1)),
        ((2, 0), 64, (0, 0, 1)),
        ((2, 0), 65, (0, 0, 0)),
        ((2, 1), 35, (1, 1)),
        ((2, 1), 36, (0, 1)),
        ((2, 1), 55, (0, 1)),
        ((2, 1), 56, (0, 0)),
        ((7,), 45, (1, 1)),
        ((7,), 46, (1, 0)),
    ],
)
def test_where_suffixes_wrap(shape: tuple[int, ...], linewidth: int, breaks: tuple[int, ...]) -> None:
    data = {(2, 0): "[]", (2, 1): "[[1.],\n        [1.]]", (7,): "[1., 1., 1., 1., 1., 1., 1.]"}[shape]
    suffixes = ["size=(2, 0)", "dtype=torch.float64", "requires_grad=True"][-len(breaks) :]
    text = "".join((",\n       " if b else ", ") + s for b, s in zip(breaks, suffixes, strict=True))
    set_printoptions(linewidth=linewidth)
    t = tensor_of(np.ones(shape))
    t.requires_grad = True
    assert tensor_repr(t) == f"tensor({data}{text})"


class Celsius(Tensor):
    """A subclass as users write them."""


class Parameter(Tensor):
    """What nn.Parameter tells printing."""

    _is_param = True


class Weight(Parameter):
    pass


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        (Tensor, "tensor([1., 2.], requires_grad=True)"),
        (Celsius, "Celsius([1., 2.], requires_grad=True)"),
        (Parameter, "tensor([1., 2.], requires_grad=True)"),
        (Weight, "Parameter(Weight([1., 2.], requires_grad=True))"),
    ],
)
def test_classes(kind: type, text: str) -> None:
    t = tensor_of(f32([1, 2]))
    t.requires_grad = True
    t.__class__ = kind
    assert tensor_repr(t) == text


class MulBackward0:
    """A node, as far as printing looks at it."""

    @property
    def owner(self) -> MulBackward0:
        return self


class Stale:
    """The node of a view whose history cannot be derived again."""

    @property
    def owner(self) -> None:
        raise RuntimeError


def test_grad_fn() -> None:
    t = tensor_of(f32([[1, 2]]))
    t._node = MulBackward0()
    assert tensor_repr(t) == "tensor([[1., 2.]], grad_fn=<MulBackward0>)"
    t._node = Stale()
    assert tensor_repr(t) == "tensor([[1., 2.]], grad_fn=<Invalid>)"


def test_tangent_and_contents() -> None:
    t = tensor_of(f32([1]))
    assert tensor_repr(t, tangent=tensor_repr(t)) == "tensor([1.], tangent=tensor([1.]))"
    assert tensor_repr(t, tensor_contents="[?]") == "tensor([?])"


def test_wrappers() -> None:
    text = tensor_repr(tensor_of(f32([[1], [2]])))
    under_grad = """\
GradTrackingTensor(lvl=2, value=
    tensor([[1.],
            [2.]])
)"""
    assert printing.grad_tracking_repr(text, 2) == under_grad
    under_vmap = """\
BatchedTensor(lvl=1, bdim=0, value=
    tensor([[1.],
            [2.]])
)"""
    assert printing.batched_repr(text, 1, 0) == under_vmap


@pytest.mark.parametrize(
    ("value", "spec", "text"),
    [
        (f32(2.5), ".3f", "2.500"),
        (f32(0.1), "", "0.10000000149011612"),
        (np.array(3), "x", "3"),
        (np.array(-7), ">5", "   -7"),
        (np.array(True), "", "True"),
        (np.array(1 + 2j), ".2f", "1.00+2.00j"),
    ],
)
def test_format_of_a_number(value: np.ndarray, spec: str, text: str) -> None:
    assert tensor_format(tensor_of(value), spec) == text


def test_format_errors() -> None:
    with pytest.raises(TypeError, match=r"^unsupported format string passed to Tensor.__format__$"):
        tensor_format(tensor_of(np.ones(1)), ".2f")
    with pytest.raises(ValueError, match=r"^Unknown format code 'd' for object of type 'float'$"):
        tensor_format(tensor_of(np.ones(())), "d")
    number = tensor_of(np.ones(()))
    number.__class__ = Celsius
    with pytest.raises(TypeError, match=r"^unsupported format string passed to Celsius.__format__$"):
        tensor_format(number, ".2f")


def test_every_call_sets_sci_mode() -> None:
    set_printoptions(sci_mode=True, precision=2)
    assert tensor_repr(tensor_of(f32([1]))) == "tensor([1.00e+00])"
    set_printoptions(linewidth=70)
    assert printing.get_printoptions() == dict(precision=2, threshold=1000, edgeitems=3, linewidth=70, sci_mode=None)


def test_options_of_a_block() -> None:
    before = printing.get_printoptions()
    with pytest.raises(ZeroDivisionError), printoptions(precision=1, sci_mode=False):
        assert tensor_repr(tensor_of(f32([0.25]))) == "tensor([0.2])"
        raise ZeroDivisionError
    assert printing.get_printoptions() == before


def test_large_tensors_are_not_formatted_whole() -> None:
    zeros = np.broadcast_to(f32(0.5), (10**6, 10**6))  # no memory, and no time, for all of its elements
    assert tensor_repr(tensor_of(zeros)).count("0.5000") == 36
