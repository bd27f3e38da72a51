"""What packages ask of PyTorch in passing: is a compiler at work, is there a GPU, is this PyTorch."""

import subprocess
import sys

import pytest

import tidu as torch


def test_nothing_is_compiled_or_traced():
    assert not (torch.compiler.is_compiling() or torch.compiler.is_exporting())
    assert not (torch._dynamo.is_compiling() or torch._dynamo.is_dynamo_supported())
    assert torch.compiler.list_backends() == []

    def f(x):
        return x

    dynamo, compiler = torch._dynamo, torch.compiler
    for same in (compiler.disable, compiler.disable(recursive=False), dynamo.optimize("eager"), torch.fx.wrap):
        assert same(f) is f
    torch._dynamo.config.cache_size_limit = 64
    torch._dynamo.reset()
    with compiler.set_stance("force_eager"):
        assert torch.compile(f) is f and torch.compile(fullgraph=True)(f) is f
    with pytest.raises(RuntimeError, match="Must be either a callable or string name"):
        torch.fx.wrap(3)


def test_there_is_no_symbolic_tracing():
    with pytest.raises(NotImplementedError, match="does not trace"):
        torch.fx.symbolic_trace(torch.nn.Linear(1, 1))
    assert torch.fx.Tracer().is_leaf_module(torch.nn.Linear(1, 1), "")
    assert not torch.fx.Tracer().is_leaf_module(torch.nn.Sequential(), "")


def test_no_tensor_is_on_a_gpu():
    assert not isinstance(torch.ones(2), torch.cuda.FloatTensor)
    with pytest.raises(TypeError, match="type torch.cuda.ByteTensor not available. Torch not compiled with CUDA"):
        torch.cuda.ByteTensor(3)
    assert not torch.distributed.is_gloo_available() and not torch.distributed.is_nccl_available()


def test_modules_hold_other_tensors_for_a_while():
    m = torch.nn.Linear(2, 1)
    w = m.weight
    with torch.nn.utils.stateless._reparametrize_module(m, {"weight": torch.zeros(1, 2)}):
        assert m.weight.tolist() == [[0.0, 0.0]]
    assert m.weight is w


def test_distributions_without_a_batch_expand():
    assert torch.distributions.Normal(0.0, 1.0).expand(()).batch_shape == ()


def test_constraints_take_their_bounds_by_name():
    c = torch.distributions.constraints
    assert c.greater_than(lower_bound=1.0).check(torch.tensor([0.0, 2.0])).tolist() == [False, True]
    assert str(c.interval(lower_bound=0, upper_bound=1)) == "Interval(lower_bound=0, upper_bound=1)"
    assert str(c.less_than(upper_bound=1)) == "LessThan(upper_bound=1)"


def test_the_type_tensor_is_the_default_one():
    assert (torch.ones(2) < 2).type(torch.Tensor).dtype is torch.float32


def test_the_name_is_torch_where_it_stands_in():
    code = "import tidu; assert tidu.__name__ == 'tidu'; tidu.install_as_torch(); import torch; print(torch.__name__)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout == "torch\n", done.stderr


def test_programs_may_import_the_exporter_and_ask_how_the_library_was_built():
    import tidu.onnx

    assert not tidu.onnx.is_in_onnx_export()
    with pytest.raises(NotImplementedError, match="graph capture"):
        tidu.onnx.export(torch.nn.Linear(1, 1), (torch.ones(1),), "model.onnx")
    assert "NumPy" in torch.__config__.show()


def test_the_old_switch_between_kinds_of_attention():
    with pytest.warns(FutureWarning, match="sdp_kernel"), torch.backends.cuda.sdp_kernel(enable_math=False):
        pass
