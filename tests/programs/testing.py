"""assert_close's words, make_tensor's numbers."""

# ruff: noqa
import torch
from torch.testing import assert_close, make_tensor

import numpy as np

t = torch.tensor


def T(*a, **k):
    try:
        print(assert_close(*a, **k))
    except Exception as e:
        print(type(e).__name__, str(e))
        print("--")


T(t([1.0, 2.0]), t([1.0, 2.1]))
T(t([1.0, 2.0]), t([1.0, 2.0000001]))
T(1.0, 1.1)
T(1, 2)
T(1, 1.0, check_dtype=True)
T(t(1.0), t(2.0))
T(t([1, 2]), t([1, 4]))
T(t([1.0]), t([1.0]).double())
T(t([1.0]), t([1, 2.0]))
T([1, t(2.0)], [1, t(3.0)])
T({"a": 1}, {"b": 1})
T({"a": [t([[1.0, 5.0], [3.0, 4.0]])]}, {"a": [t([[1.0, 2.0], [3.0, 5.0]])]})
T(None, 1)
T(True, False)
T("a", "a")
T(t(1.0), 1.0)
T(np.ones(2), np.zeros(2))
T(t([float("nan")]), t([float("nan")]))
T(t([float("nan")]), t([float("nan")]), equal_nan=True)
T(t([1.0]), t([2.0]), rtol=0, atol=0)
T(t([1.0]), t([2.0]), rtol=1)
T(t([1.0]), t([2.0]), msg="hello")
T(t([1.0]), t([2.0]), msg=lambda m: "X " + m)
T([1, 2], [1])
T(t([0.0, 1]), t([1.0, 0]))
T(t([1 + 1j]), t([1 + 2j]))
T(t([True]), t([False]))
T(t([1.0], dtype=torch.float16), t([2.0], dtype=torch.float16))
T(t([1.0, 2.0]), t([float("inf"), 2.0]))
T(torch.zeros(2, 3).t(), torch.zeros(3, 2), check_stride=True)
T(t([200], dtype=torch.uint8), t([100], dtype=torch.uint8))
T(t([1, 2, 300]), t([0, 2, 3]))
torch.manual_seed(0)
for d in (torch.float32, torch.int64, torch.bool, torch.complex64, torch.uint8, torch.float64):
    print(
        make_tensor(2, 3, dtype=d, device="cpu"),
        make_tensor((3,), dtype=d, device="cpu", low=0, high=2, noncontiguous=True, exclude_zero=True),
    )
for f in [
    lambda: make_tensor(2, dtype=torch.int64, device="cpu", requires_grad=True),
    lambda: make_tensor(2, dtype=torch.uint8, device="cpu", low=-5, high=-1),
    lambda: make_tensor(2, dtype=torch.float32, device="cpu", low=3, high=2),
]:
    try:
        print(f())
    except Exception as e:
        print(type(e).__name__, e)
