"""tidu and PyTorch in one process: each refuses the other's tensors, but for data."""

import pytest
import torch

import tidu

CALLS = {
    "add": lambda a, b: a.ones(2) + b.ones(2),
    "mul": lambda a, b: a.ones(2) * b.ones(2),
    "relu": lambda a, b: a.relu(b.ones(2)),
    "cat": lambda a, b: a.cat([b.ones(1)]),
    "softmax": lambda a, b: a.nn.functional.softmax(b.ones(2), 0),
    "linear": lambda a, b: a.nn.Linear(2, 1)(b.ones(2)),
}


@pytest.mark.parametrize("one, other", [(torch, tidu), (tidu, torch)], ids=["torch", "tidu"])
@pytest.mark.parametrize("call", CALLS)
def test_the_other_ones_tensors_are_refused(call, one, other):
    with pytest.raises(TypeError):
        CALLS[call](one, other)


def test_data_goes_from_one_to_the_other():
    for one, other in ((torch, tidu), (tidu, torch)):
        t = other.arange(3)
        for got in (one.tensor(t), one.as_tensor(t), one.from_dlpack(t), one.from_numpy(t.numpy())):
            assert type(got) is one.Tensor and got.tolist() == [0, 1, 2]
