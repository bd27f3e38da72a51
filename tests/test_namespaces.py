"""Namespaces that programs import: what they promise on a machine with one CPU."""

import warnings

import pytest
import recorded_programs

import tidu as torch
from tidu import nn


def test_scripting_gives_back_what_it_is_given_with_a_warning():
    m = nn.Linear(2, 2)
    with pytest.warns(UserWarning, match="runs as the Python that it is"):
        assert torch.jit.script(m) is m
    with pytest.warns(UserWarning):
        assert torch.jit.trace(m, torch.ones(2)) is m

    @torch.jit.ignore
    def f(x):
        return x

    assert f(1) == 1 and not torch.jit.is_scripting()
    with pytest.raises(RuntimeError, match="no TorchScript"):
        torch.jit.save(m, "x.pt")


def test_hub_fetches_nothing(tmp_path):
    with pytest.raises(RuntimeError, match="Fetch the file yourself"):
        torch.hub.load("pytorch/vision", "resnet18")
    torch.save({"w": torch.ones(1)}, tmp_path / "w.pt")
    got = torch.hub.load_state_dict_from_url("https://example.org/w.pt", model_dir=tmp_path)
    assert got["w"].item() == 1


def add_one(rank, queue):
    queue.put((rank, (torch.ones(2) + rank).tolist()))


def fail(rank):
    raise ValueError(f"no {rank}")


def test_processes_are_spawned_and_their_errors_raised():
    mp = torch.multiprocessing
    queue = mp.get_context("spawn").SimpleQueue()
    mp.spawn(add_one, (queue,), nprocs=2)
    assert sorted(queue.get() for _ in range(2)) == [(0, [1, 1]), (1, [2, 2])]
    with pytest.raises(mp.ProcessRaisedException, match=r"(?s)process 0 terminated.*ValueError: no 0|Process 0"):
        mp.spawn(fail, nprocs=1)


def test_there_is_one_process_and_its_modules_run_in_parallel_all_the_same():
    assert not torch.distributed.is_available() and not torch.distributed.is_initialized()
    m = nn.Linear(2, 2)
    x = torch.ones(2)
    assert torch.equal(nn.DataParallel(m)(x), m(x))


def test_autocast_narrows_products_and_widens_losses():
    a = torch.randn(4, 4)
    with torch.autocast("cpu"):
        product = a @ a
        assert product.dtype is torch.bfloat16 and (a + a).dtype is torch.float32
        assert nn.functional.mse_loss(product, product).dtype is torch.float32
        with torch.autocast("cpu", enabled=False):
            assert (a @ a).dtype is torch.float32
    assert (a @ a).dtype is torch.float32
    with pytest.warns(UserWarning, match="Disabling autocast"), torch.autocast("cuda"):
        assert (a @ a).dtype is torch.float32


def test_a_scaler_leaves_out_steps_with_infinite_gradients():
    w = nn.Parameter(torch.ones(2))
    opt, scaler = torch.optim.SGD([w], lr=0.5), torch.amp.GradScaler("cpu", init_scale=8.0)
    scaler.scale((w * float("inf")).sum()).backward()
    scaler.step(opt)
    scaler.update()
    assert w.tolist() == [1, 1] and scaler.get_scale() == 4
    opt.zero_grad()
    scaler.scale(w.sum()).backward()
    assert w.grad.tolist() == [4, 4]
    scaler.step(opt)
    assert w.tolist() == [0.5, 0.5]


def test_imports_that_programs_write():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        from tidu.nn.modules.fold import Unfold  # noqa: F401
        from tidu.nn.utils.rnn import pad_sequence  # noqa: F401
        from tidu.optim.lr_scheduler import LRScheduler, _LRScheduler  # noqa: F401
        from tidu.optim.optimizer import Optimizer, required  # noqa: F401
        from tidu.utils.data import DataLoader, Dataset  # noqa: F401
        from tidu.utils.data.dataloader import default_collate  # noqa: F401
        from tidu.utils.data.dataset import random_split  # noqa: F401
        from tidu.utils.data.distributed import DistributedSampler  # noqa: F401


def test_gradients_of_convolutions_are_those_of_autograd():
    import tidu as torch

    x, w = torch.randn(2, 4, 7, 6, requires_grad=True), torch.randn(6, 2, 3, 3, requires_grad=True)
    how = ((2, 1), 1, 1, 2)
    out = torch.nn.functional.conv2d(x, w, None, *how)
    g = torch.randn(out.shape)
    out.backward(g)
    torch.testing.assert_close(torch.nn.grad.conv2d_input(x.shape, w, g, *how), x.grad)
    torch.testing.assert_close(torch.nn.grad.conv2d_weight(x, w.shape, g, *how), w.grad)


def test_attention_under_a_choice_of_kernels():
    import tidu as torch
    from tidu.nn.attention import SDPBackend, bias, sdpa_kernel

    q = torch.randn(1, 2, 3, 4)
    with sdpa_kernel([SDPBackend.MATH, SDPBackend.FLASH_ATTENTION]):
        got = torch.nn.functional.scaled_dot_product_attention(q, q, q, attn_mask=bias.causal_lower_right(3, 3))
    want = torch.nn.functional.scaled_dot_product_attention(q, q, q, is_causal=True)
    torch.testing.assert_close(got, want)


def test_small_utilities():
    import tidu as torch
    from tidu.utils import benchmark, dlpack

    t = torch.arange(3)
    assert dlpack.from_dlpack(t).data_ptr() == t.data_ptr()
    assert dlpack.from_dlpack(dlpack.to_dlpack(t)).tolist() == [0, 1, 2]
    m = benchmark.Timer("x + 1", globals={"x": t}).blocked_autorange(min_run_time=0.01)
    assert 0 < m.median < 1 and "x + 1" in repr(m)
    assert benchmark.Timer("pass").timeit(100).number_per_run == 100
    net = torch.nn.Sequential(torch.nn.Conv2d(2, 3, 3))
    torch.nn.utils.convert_conv2d_weight_memory_format(net, torch.channels_last)
    assert net[0].weight.is_contiguous(memory_format=torch.channels_last)


def test_a_process_group_of_one():
    import pytest

    import tidu as torch
    import tidu.distributed as dist

    with pytest.raises(ValueError, match="has not been initialized"):
        dist.get_rank()
    with pytest.raises(RuntimeError, match="one process"):
        dist.init_process_group("gloo", world_size=2, rank=0)
    dist.init_process_group("gloo", world_size=1, rank=0)
    try:
        t, out = torch.ones(2), [torch.zeros(2)]
        dist.all_reduce(t, op=dist.ReduceOp.SUM)
        dist.all_gather(out, t)
        assert (dist.get_rank(), dist.get_world_size(), out[0].tolist()) == (0, 1, [1.0, 1.0])
        assert dist.all_reduce(t, async_op=True).wait()
    finally:
        dist.destroy_process_group()
    assert not dist.is_initialized()


def test_sobol_sequences_and_tensors_of_indices_and_values() -> None:
    recorded_programs.check("sobol_and_sparse")


@pytest.mark.parametrize(
    "use",
    [
        lambda: torch.nested.nested_tensor([torch.ones(2)]), lambda: torch.export.export(None, ()),
        lambda: torch.ao.quantization.quantize_dynamic(None), lambda: torch.sparse.spsolve(None, None),
        lambda: torch.utils.cpp_extension.load("x", []),
    ],
)  # fmt: skip
def test_what_is_there_to_be_imported_only_says_so_when_it_is_used(use) -> None:  # type: ignore[no-untyped-def]
    import tidu.utils.cpp_extension  # noqa: F401

    with pytest.raises(NotImplementedError, match="which tidu does not have") as caught:
        use()
    assert "docs/ops.md" in caught.value.__notes__[0]


def test_hub_loads_from_a_folder(tmp_path) -> None:  # type: ignore[no-untyped-def]
    (tmp_path / "hubconf.py").write_text("dependencies = ['math']\ndef small(n, **more):\n    return n, more\nx = 3\n")
    assert torch.hub.load(str(tmp_path), "small", 4, source="local", a=1) == (4, {"a": 1})
    with pytest.raises(RuntimeError, match="Cannot find callable x in hubconf"):
        torch.hub.load(tmp_path, "x", source="local")
    with pytest.raises(ValueError, match='Unknown source: "elsewhere"'):
        torch.hub.load(tmp_path, "small", source="elsewhere")
    with pytest.raises(RuntimeError, match="would run code from the network"):
        torch.hub.load("owner/repo", "small")
    (tmp_path / "hubconf.py").write_text("dependencies = ['no_such_package']\n")
    with pytest.raises(RuntimeError, match="Missing dependencies: no_such_package"):
        torch.hub.load(tmp_path, "small", source="local")
