"""Modules, layers, and what is done to them: whole programs against what PyTorch printed, and what they do not show."""

import copy
import gc
import pickle
import weakref

import pytest
import recorded_programs

import tidu as torch
from tidu import nn


@pytest.mark.parametrize(
    "program",
    [
        "modules", "compiled", "module_hooks", "module_texts", "slips", "unfit_arguments", "formats_and_processes", "layers",
        "linear_cross_entropy", "nn_utils",
        "averages_and_amp",
        "amp_all", "nn_utils_all", "testing", "testing_all",
    ],
)  # fmt: skip
def test_programs_print_what_they_print_on_pytorch(program):
    recorded_programs.check(program)


def test_the_comparison_of_outputs_sees_differences():
    want = "a tensor(1.2345)\nb 3\n"
    assert recorded_programs.differences(want, want) == []
    assert recorded_programs.differences("a tensor(1.2346)\nb 3\n", want) == []
    assert recorded_programs.differences("a tensor(1.2445)\nb 3\n", want)
    assert recorded_programs.differences("a tensor(1.2345)\nb 4\n", want)
    assert recorded_programs.differences("a tensor(1.2345)\n", want)


def test_pickle_and_deepcopy_keep_shared_parameters_shared():
    m = nn.Sequential(nn.Linear(3, 3), nn.ReLU(), nn.Linear(3, 3))
    m[2].weight = m[0].weight
    for n in (copy.deepcopy(m), pickle.loads(pickle.dumps(m))):
        assert n[0].weight is n[2].weight and n[0].weight is not m[0].weight
        assert torch.equal(n[0].weight, m[0].weight) and len(list(n.parameters())) == 3


def test_a_parametrised_copy_is_independent():
    m = nn.utils.parametrizations.weight_norm(nn.Linear(3, 2))
    n = copy.deepcopy(m)
    with torch.no_grad():
        n.parametrizations.weight.original0.mul_(2)
    assert torch.allclose(n.weight, 2 * m.weight)


def test_modules_are_freed_without_the_garbage_collector():
    gc.disable()
    try:
        m = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2), nn.LSTM(2, 2))
        ref = weakref.ref(m)
        y = m[0](torch.ones(3, 2)).sum()
        y.backward()
        del m, y
        assert ref() is None
    finally:
        gc.enable()


def test_forward_hooks_of_every_module_come_first():
    seen = []
    m = nn.Linear(1, 1)
    m.register_forward_hook(lambda *a: seen.append("own"))
    with nn.modules.module.register_module_forward_hook(lambda *a: seen.append("all")):
        m(torch.ones(1))
    m(torch.ones(1))
    assert seen == ["all", "own", "own"]


def test_a_hook_that_is_always_called_is_called_after_an_error():
    seen = []
    m = nn.Linear(2, 1)
    m.register_forward_hook(lambda *a: seen.append("usual"))
    m.register_forward_hook(lambda *a: seen.append("always"), always_call=True)
    with pytest.raises(RuntimeError):
        m(torch.ones(3))
    assert seen == ["always"]


@pytest.mark.parametrize("cls", [nn.RNN, nn.LSTM, nn.GRU])
@pytest.mark.parametrize("bidirectional", [False, True])
def test_recurrent_gradients_are_right(cls, bidirectional):
    m = cls(2, 3, 2, bidirectional=bidirectional).double()
    x = torch.randn(4, 2, 2, dtype=torch.float64, requires_grad=True)
    weights = list(m.parameters())

    def run(x, *_):
        out, last = m(x)
        return (out, *(last if isinstance(last, tuple) else (last,)))

    assert torch.autograd.gradcheck(run, (x, *weights))
    # gradients of gradients take the way by elementary ops
    g = torch.autograd.grad(run(x)[0].pow(2).sum(), x, create_graph=True)[0]
    g.sum().backward()
    step = 1e-6
    with torch.no_grad():
        moved = x.clone()
        moved[1, 0, 1] += step

    def first(at):
        at = at.detach().requires_grad_()
        return torch.autograd.grad(run(at)[0].pow(2).sum(), at)[0].sum().item()

    assert x.grad[1, 0, 1].item() == pytest.approx((first(moved) - first(x)) / step, rel=1e-3, abs=1e-4)


def test_a_packed_batch_gives_what_its_sequences_give():
    m = nn.LSTM(3, 4, 2, bidirectional=True)
    sequences = [torch.randn(n, 3) for n in (2, 5, 3)]
    out, (h, c) = m(nn.utils.rnn.pack_sequence(sequences, enforce_sorted=False))
    for k, (part, s) in enumerate(zip(nn.utils.rnn.unpack_sequence(out), sequences)):
        alone, (h1, c1) = m(s)
        torch.testing.assert_close(part, alone)
        torch.testing.assert_close(h[:, k], h1)
        torch.testing.assert_close(c[:, k], c1)


def test_recurrent_layers_under_vmap():
    m = nn.GRU(2, 3)
    x = torch.randn(5, 4, 1, 2)
    got = torch.func.vmap(lambda t: m(t)[0])(x)
    torch.testing.assert_close(got, torch.stack([m(t)[0] for t in x]))


def test_clipping_counts_as_a_write():
    w = torch.ones(3, requires_grad=True)
    (w * w).sum().backward()
    before = w.grad._version
    nn.utils.clip_grad_norm_([w], 0.1)
    assert w.grad._version == before + 1
    assert float(w.grad.norm()) == pytest.approx(0.1, rel=1e-4)


def test_functional_call_and_state_survive_weight_sharing():
    m = nn.Linear(2, 2)
    new = {"weight": torch.eye(2), "bias": torch.zeros(2)}
    x = torch.randn(3, 2)
    torch.testing.assert_close(torch.func.functional_call(m, new, x), x)
    assert not torch.equal(m.weight, torch.eye(2))


def test_autocast_casts_a_parameter_once() -> None:
    weight = nn.Parameter(torch.ones(3, 3))
    x = torch.ones(2, 3)
    with torch.autocast("cpu"):
        casts = {id(n) for n, _ in ((x @ weight).grad_fn.next_functions + (x @ weight).grad_fn.next_functions) if n}
        assert len(casts) == 1
        with torch.no_grad():
            weight.mul_(2)
        assert (x @ weight).tolist() == [[6, 6, 6]] * 2  # not what was cast before the write
        with torch.autocast("cpu", cache_enabled=False):
            assert (x @ weight).grad_fn.next_functions[1] != (x @ weight).grad_fn.next_functions[1]
    assert (x @ weight).dtype is torch.float32


def test_autocast_sees_references_taken_before_it_was_used() -> None:
    import subprocess
    import sys

    program = (
        "import tidu as torch; f, g = torch.mm, torch.nn.functional.cross_entropy; x = torch.ones(2, 2)\n"
        "with torch.autocast('cpu'): print(f(x, x).dtype, g(x.bfloat16(), torch.tensor([0, 1])).dtype, (x + x).dtype)\n"
        "print(f(x, x).dtype)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["torch.bfloat16", "torch.float32", "torch.float32", "torch.float32"]
