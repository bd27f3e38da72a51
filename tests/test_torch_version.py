"""Each comparison was made with PyTorch 2.13.0's torch.__version__, whose text is then "2.13.0+cpu"."""

import pytest

from tidu.torch_version import TorchVersion

V = TorchVersion("2.13.0+cpu")


@pytest.mark.parametrize(
    "other, sign",
    [
        ("2.13.0", 1), ("2.13", 1), ("2.9", 1), ("2.13.0+abc", 1), ("2.13.0+z", -1), ("3", -1),
        ("2.13.0rc1", 1), ("2.13.0.post1", -1), ("2.13.0.dev20260101", 1), ("abc", -1), ("v2.0", 1),
        ("2.13.0+cpu", 0), ((2, 13), 1), ((2, 13, 0), 1), ((2, 9), 1), ((3,), -1),
        ((2, 13, "0+cpu"), 0), ([2, 13], 1),
    ],
)  # fmt: skip
def test_compares_as_a_version(other, sign):
    relations = (V > other, V == other, V < other, V >= other, V <= other, V != other)
    assert relations == (sign > 0, sign == 0, sign < 0, sign >= 0, sign <= 0, sign != 0)


def test_order_of_one_release():
    inorder = "1.0.dev1 1.0a1 1.0b2 1.0rc1.dev3 1.0rc1 1 1.0+a 1.0+1 1.0.post1 1.0.1 1!0.1".split()
    for i, a in enumerate(inorder):
        for j, b in enumerate(inorder):
            assert (TorchVersion(a) < b, TorchVersion(a) == b) == (i < j, i == j), (a, b)


def test_is_text_otherwise():
    assert str(V) == "2.13.0+cpu" and V.split("+") == ["2.13.0", "cpu"] and hash(V) == hash("2.13.0+cpu")
    assert V != 2 and not V == None  # noqa: E711
    with pytest.raises(TypeError):
        V < 2  # noqa: B015
