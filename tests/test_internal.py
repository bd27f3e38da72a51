"""segment_reduce, and what programs find under torch.ops.aten."""

import pytest

import tidu as torch


def test_segments_of_different_rows():
    x = torch.arange(8.0).reshape(2, 4).requires_grad_()
    lengths = torch.tensor([[1, 3], [2, 2]])
    out = torch.segment_reduce(x, "mean", lengths=lengths, axis=1)
    assert out.tolist() == [[0, 2], [4.5, 6.5]]
    out.sum().backward()
    assert torch.allclose(x.grad, torch.tensor([[1, 1 / 3, 1 / 3, 1 / 3], [0.5, 0.5, 0.5, 0.5]]))
    assert torch.segment_reduce(x, "max", offsets=torch.tensor([[0, 4], [0, 2]]), axis=1).tolist() == [[3], [5]]
    with pytest.raises(RuntimeError, match="Either lengths or offsets must be defined"):
        torch.segment_reduce(x, "sum")
    with pytest.raises(RuntimeError, match="lengths contains negative value!"):
        torch.segment_reduce(x, "sum", lengths=torch.tensor([[-1, 5], [2, 2]]), axis=1)


def test_operators_by_pytorchs_names():
    aten = torch.ops.aten
    x = torch.tensor([[1.0, -2.0, 3.0]], requires_grad=True)
    assert aten.add.Tensor(x, 1).tolist() == [[2, -1, 4]] and str(aten.add.Tensor) == "aten.add.Tensor"
    assert aten.slice(x, 1, -2).tolist() == [[-2, 3]] and aten.slice(x, 1, -2)._base is x
    assert aten.relu.default(x).tolist() == aten.relu_(x.detach().clone()).tolist() == [[1, 0, 3]]
    assert aten.linalg_vector_norm(x.detach()).item() == pytest.approx(14**0.5)
    assert torch._safe_softmax(torch.tensor([-float("inf")] * 2), 0).tolist() == [0, 0]
    with pytest.raises(AttributeError, match="'_OpNamespace' 'aten' object has no attribute 'nonsense'"):
        _ = aten.nonsense
