"""Numbers that PyTorch has and another reading of its documentation would not give."""

import pytest

import tidu as torch

INF, NAN = float("inf"), float("nan")
F = torch.nn.functional

SAME = [
    # sizes of short integer ranges are those of floats, of int64 those of integers
    (lambda: torch.arange(0, 3.1, dtype=torch.int32), [0, 1, 2, 3]),
    (lambda: torch.arange(0, 3.1, dtype=torch.int64), [0, 1, 2]),
    (lambda: torch.arange(0.9, 3.1, 1.5, dtype=torch.uint8), [0, 1]),
    # integer ends are integers before anything is spaced between them
    (lambda: torch.logspace(0, 3.9, 5, base=2, dtype=torch.int64), [1, 1, 2, 4, 8]),
    (lambda: torch.linspace(4.3, -3, 2, dtype=torch.uint8), [4, 253]),
    # division of integers goes towards zero
    (lambda: F.avg_pool2d(torch.tensor([[[[5, 2], [1, 1]]]]), 2, divisor_override=-2), [[[[-4]]]]),
    (lambda: torch.lgamma(torch.tensor([-INF, INF])), [INF, INF]),
    (lambda: torch.nanmedian(torch.tensor([3, NAN, -2, 1, NAN], dtype=torch.bfloat16)), 1),
    (lambda: torch.tensor([-INF, 4], dtype=torch.float16) ** -0.5, [0, 0.5]),
    # taps that the border moves to one place are rounded together
    (
        lambda: F.interpolate(torch.tensor([[[[3, 4, 5, 4]]]], dtype=torch.uint8), (1, 3), mode="bicubic"),
        [[[[3, 5, 4]]]],
    ),
]


@pytest.mark.parametrize("program, expected", SAME)
def test_same(program, expected):
    assert program().tolist() == expected


def test_samples_of_three_dimensions_come_in_their_order():
    x = torch.arange(216.0).reshape(1, 6, 6, 6)
    got = F.fractional_max_pool3d(x, 1, (4, 4, 4), _random_samples=torch.tensor([[[0.9, 0.0, 0.0]]]))
    assert (got[0, :, 0, 0] / 36).tolist() == [0, 2, 3, 5] and got[0, 0, 0].tolist() == [0, 1, 3, 5]


def test_flip_takes_a_tuple():
    with pytest.raises(TypeError, match=r"flip\(\): argument 'dims' \(position 2\) must be tuple of ints, not int"):
        torch.flip(torch.ones(2), 0)


@pytest.mark.parametrize(
    "program",
    ["torch.add(x[1:], 1, out=x[:3])", "torch.exp(x[1:], out=x[:3])", "torch.maximum(x[1:], x[1:], out=x[:3])"],
)
def test_out_in_a_part_of_an_input(program):
    x = torch.arange(4.0)
    with pytest.raises(RuntimeError, match="some elements of the input tensor and the written-to tensor refer to a"):
        eval(program, {"torch": torch, "x": x})
    assert x.tolist() == [0, 1, 2, 3]
    assert torch.add(x, 1, out=x) is x and x.tolist() == [1, 2, 3, 4]


def test_what_follows_a_second_ellipsis_lies_outside():
    x = torch.ones(2, 3)
    with pytest.raises(IndexError, match="index 0 is out of bounds for dimension 2 with size 0"):
        x[..., ..., 0]
    with pytest.raises(IndexError, match=r"too many indices for tensor of dimension 2 \(got 3\)"):
        x[..., ..., [0]]
    assert x[..., ...].shape == x[..., ..., :1].shape == (2, 3)


@pytest.mark.parametrize(
    "program",
    "sum mean prod amax var std norm nansum count_nonzero argmax all logsumexp median nanmedian max cumprod cummax "
    "logcumsumexp softmax".split(),
)
def test_reductions_lie_in_order(program):
    """Whatever the order in which the dimensions of the input lie in memory: so that they can be viewed."""
    x = torch.arange(24.0).reshape(2, 3, 4).permute(2, 1, 0)
    got = x.norm(dim=0) if program == "norm" else getattr(x, program)(0)
    for r in got if isinstance(got, tuple) else (got,):
        assert r.is_contiguous() and r.view(-1).shape == (r.numel(),)
