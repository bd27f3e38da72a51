"""Files go both ways: what PyTorch saves tidu loads, and the reverse."""

from __future__ import annotations

import io
from typing import Any

import pytest
import torch

from .bridge import Side

CONTENTS = {
    "leaf": lambda lib: lib.arange(4.0, requires_grad=True),
    "two of one memory": lambda lib: [t := lib.arange(4.0), t[1:], t.view(2, 2)],
    "turned": lambda lib: lib.arange(6).view(2, 3).t(),
    "empty": lambda lib: lib.zeros(0, 3),
    "number": lambda lib: lib.tensor(2.5, dtype=lib.float64),
    "dtypes": lambda lib: [
        lib.ones(2, dtype=d)
        for d in (lib.bool, lib.uint8, lib.int8, lib.int16, lib.int32, lib.float16, lib.bfloat16, lib.complex64)
    ],
    "parameter": lambda lib: lib.nn.Parameter(lib.ones(2)),
    "frozen parameter": lambda lib: lib.nn.Parameter(lib.ones(2), requires_grad=False),
    "containers": lambda lib: {"a": [1, (2.0, "b", None, True)], "c": {"d": {3}}, "e": 1 + 2j},
    "sparse": lambda lib: [
        lib.sparse_coo_tensor([[0, 1, 0], [2, 0, 2]], [3.0, 4.0, 5.0], (2, 3)),
        lib.eye(2).to_sparse(),
        lib.sparse_csr_tensor([0, 1, 2], [0, 1], [1.0, 2.0], (2, 3)),
    ],
    "sizes and types": lambda lib: [lib.Size([1, 2]), lib.float32, lib.device("cpu")],
}


def saved(lib: Any, value: Any) -> io.BytesIO:
    f = io.BytesIO()
    lib.save(value, f)
    f.seek(0)
    return f


@pytest.mark.parametrize("name", CONTENTS)
def test_from_pytorch(side: Side, name: str) -> None:
    value = CONTENTS[name](torch)
    assert repr(side.lib.load(saved(torch, value))) == repr(value)


@pytest.mark.parametrize("name", CONTENTS)
def test_to_pytorch(side: Side, name: str) -> None:
    value = CONTENTS[name](side.lib)
    assert repr(torch.load(saved(side.lib, value))) == repr(value)


def test_shared_memory_stays_shared(side: Side) -> None:
    for one, other in ((torch, side.lib), (side.lib, torch)):
        whole, part, square = other.load(saved(one, CONTENTS["two of one memory"](one)))
        part[0] = 9
        assert whole.tolist() == [0, 9, 2, 3]
        assert square.tolist() == [[0, 9], [2, 3]]


def test_state_of_a_model(side: Side) -> None:
    if not hasattr(side.lib.nn, "Linear"):
        pytest.skip("no modules yet")
    theirs, ours = torch.nn.Linear(3, 2), side.lib.nn.Linear(3, 2)
    ours.load_state_dict(side.lib.load(saved(torch, theirs.state_dict())))
    assert ours.weight.tolist() == theirs.weight.tolist()
    theirs.load_state_dict(torch.load(saved(side.lib, ours.state_dict())))


def test_the_same_refusal(side: Side) -> None:
    class Unknown:
        pass

    Unknown.__qualname__ = "Unknown"
    globals()["Unknown"] = Unknown
    messages = []
    for lib in (torch, side.lib):
        with pytest.raises(Exception, match="Weights only load failed") as caught:
            lib.load(saved(lib, Unknown()))
        messages.append((type(caught.value), str(caught.value)))
    assert messages[0] == messages[1]
