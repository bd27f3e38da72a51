"""What PyTorch prints about anomaly mode: the programs of behaviour/anomaly.py."""

import warnings

import numpy as np
import pytest
from behaviour import programs, recorded, text_of

import tidu as torch

PRINTED = recorded("anomaly")


@pytest.mark.parametrize("name", programs("anomaly"))
def test_prints_what_pytorch_prints(name):
    assert text_of(programs("anomaly")[name], torch) == PRINTED[name]


def test_every_program_was_recorded():
    assert list(programs("anomaly")) == list(PRINTED)


# ---- beyond PyTorch


def noted(error):
    return "\n".join(error.__notes__)


def test_infinities_of_gradients():
    x = torch.tensor([1.0, 0.0, 0.0], requires_grad=True)
    y = x.sqrt().sum()
    with torch.autograd.set_detect_anomaly(True, check_inf=True), pytest.warns(UserWarning, match="SqrtBackward0"):
        with pytest.raises(RuntimeError, match="'SqrtBackward0' returned infinite values in its 0th output") as caught:
            y.backward()
    assert "2 of 3 values, of shape (3,), the first at index (1,)" in noted(caught.value)


def test_results_are_looked_at_as_they_are_made():
    x = torch.tensor([1.0, -1.0], requires_grad=True)
    with torch.autograd.set_detect_anomaly(True, forward=True):
        x.exp()
        with pytest.raises(RuntimeError, match="'LogBackward0' made nan values in its 0th result") as caught:
            x.log()
        assert "1 of 2 values" in noted(caught.value) and "x.log()" in noted(caught.value)
    with torch.autograd.set_detect_anomaly(True, forward=True, check_inf=True):
        with pytest.raises(RuntimeError, match="made infinite values"):
            (x * 0).log()
    x.log()


def test_zeros_are_masked():
    x = torch.tensor([0.0, 4.0, -1.0], requires_grad=True)

    def f():
        return torch.where(x > 0, x.sqrt() / x, 0.0).sum() + torch.where(x > 0, x.log(), 0.0).sum()

    (plain,) = torch.autograd.grad(f(), x)
    assert plain.isnan().any()
    with torch.autograd.masked_zeros():
        (g,) = torch.autograd.grad(f(), x)
        assert g.tolist() == [0, -0.0625 + 0.25, 0]
        (g,) = torch.autograd.grad(f(), x, create_graph=True)
        assert g.tolist() == [0, -0.0625 + 0.25, 0]
        s = torch.zeros((), requires_grad=True)
        torch.where(x > 9, x.detach() / s, 1.0).sum().backward()
        assert s.grad == 0
        z = torch.zeros(3, requires_grad=True)
        (z * z).sum().sqrt().backward()
        assert z.grad.tolist() == [0, 0, 0]
    (plain,) = torch.autograd.grad(f(), x)
    assert plain.isnan().any()


def test_zeros_are_masked_under_transforms():
    func = torch.func

    def f(x):
        return torch.where(x > 0, x.sqrt(), 0.0)

    x = torch.tensor([0.0, 4.0])
    with torch.autograd.masked_zeros():
        assert func.jacrev(f)(x).tolist() == [[0, 0], [0, 0.25]]
        assert func.vmap(func.grad(lambda x: f(x).sum()))(x[None]).tolist() == [[0, 0.25]]
        for h in (func.hessian, lambda f: func.jacfwd(func.jacrev(f)), lambda f: func.jacrev(func.jacfwd(f))):
            assert h(lambda x: f(x).sum())(x).tolist() == [[0, 0], [0, -1 / 32]]


def test_zeros_are_masked_by_threads_that_share_a_graph():
    import threading

    x = torch.ones(1, 5, requires_grad=True)
    y = (x * torch.ones(4, 5, requires_grad=True)).sum()
    shapes = []

    def run():
        with torch.autograd.masked_zeros():
            for _ in range(100):
                shapes.append(tuple(torch.autograd.grad(y, x, retain_graph=True)[0].shape))

    threads = [threading.Thread(target=run) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert set(shapes) == {(1, 5)} and len(shapes) == 400


def test_the_error_of_a_write_names_both_lines():
    torch.autograd.set_debug(True)
    try:
        x = torch.ones(3, requires_grad=True)
        y = x * 2
        z = y * y  # the op that keeps y
        y.add_(1)  # the write
        with pytest.raises(RuntimeError, match="modified by an inplace operation") as caught:
            z.sum().backward()
        notes = noted(caught.value)
        assert "the op that keeps y" in notes and "# the write" in notes
        w = torch.ones(3)
        z = x * w  # keeps w
        w.mul_(2)  # unrecorded
        with pytest.raises(RuntimeError) as caught:
            z.sum().backward()
        assert "# keeps w" in noted(caught.value) and "# unrecorded" in noted(caught.value)
        w = torch.ones(3, requires_grad=True)
        z = (w * w).sum()
        z.backward(retain_graph=True)
        torch.optim.SGD([w], 0.1).step()  # the step
        with pytest.raises(RuntimeError) as caught:
            z.backward()
        assert "# the step" in noted(caught.value)
        w = torch.ones(3)
        z = x * w
        torch.exp(w, out=w)  # into out
        with pytest.raises(RuntimeError) as caught:
            z.sum().backward()
        assert "# into out" in noted(caught.value)
    finally:
        torch.autograd.set_debug(False)


def test_a_scalar_that_becomes_nan():
    for f, name in ((lambda x: x / 0 * 0, "Div"), (lambda x: (x * 0).sqrt() * 0, "Sqrt")):
        x = torch.tensor(1.0, requires_grad=True)
        with warnings.catch_warnings(), torch.autograd.detect_anomaly():
            warnings.simplefilter("ignore")
            with pytest.raises(RuntimeError, match=f"Function '{name}Backward0' returned nan values in its 0th output"):
                f(x).backward()


class OfArrays(torch.autograd.Function):
    """Computes with NumPy, where no op is seen."""

    @staticmethod
    def forward(x):
        return torch.from_numpy(np.log(x.detach().numpy()))

    @staticmethod
    def setup_context(ctx, inputs, output):
        pass

    @staticmethod
    def backward(ctx, g):
        return g

    @staticmethod
    def jvp(ctx, t):
        return torch.from_numpy(np.sqrt(t.numpy()))


X = torch.tensor([1.0, -1.0, 0.0])


def _unrecorded():
    with torch.no_grad():
        return X.clone().requires_grad_().log()


def _dual():
    with torch.autograd.forward_ad.dual_level():
        return torch.autograd.forward_ad.make_dual(torch.zeros(3), torch.zeros(3)).sqrt()


@pytest.mark.parametrize(
    "f, name, where, places",
    [
        (lambda: X.log(), "LogBackward0", "", "1 of 3 values, of shape (3,), the first at index (1,)"),
        (_unrecorded, "LogBackward0", "", "1 of 3 values"),
        (lambda: X.clone().log_(), "LogBackward0", "", "1 of 3 values"),
        (lambda: torch.log(X, out=torch.empty(3)), "LogBackward0", "", "1 of 3 values"),
        (lambda: X.clone().add_(float("inf")).sub_(float("inf")), "SubBackward0", "", "3 of 3 values"),
        (lambda: X / torch.zeros(3), "DivBackward0", "", "1 of 3 values, of shape (3,), the first at index (2,)"),
        (lambda: torch.vmap(torch.log)(X[None]), "LogBackward0", "", "of shape (1, 3), the first at index (0, 1)"),
        (lambda: torch.func.grad(lambda v: v.log().sum())(X), "LogBackward0", "", "1 of 3 values"),
        (_dual, "SqrtBackward0", "the tangent of ", "3 of 3 values"),
        (lambda: torch.func.jvp(torch.sqrt, (X * 0,), (X * 0,)), "SqrtBackward0", "the tangent of ", "3 of 3 values"),
        (lambda: OfArrays.apply(X), "OfArraysBackward", "", "1 of 3 values"),
        (lambda: OfArrays.apply(X.clone().requires_grad_()), "OfArraysBackward", "", "1 of 3 values"),
        (lambda: torch.func.jvp(OfArrays.apply, (X.abs(),), (X,)), "OfArraysBackward", "the tangent of ", "1 of 3 values"),
    ],
)  # fmt: skip
def test_the_first_op_that_makes_nan_is_named(f, name, where, places):
    with torch.autograd.set_detect_anomaly(True, forward=True):
        with pytest.raises(
            RuntimeError, match=f"^Function '{name}' made nan values in {where}its 0th result"
        ) as caught:
            f()
        assert places in noted(caught.value) and "made of: shape" in noted(caught.value)
        assert "test_anomaly.py" in noted(caught.value)
    f()


def test_what_came_in_is_nobodys_fault():
    with torch.autograd.set_detect_anomaly(True, check_inf=True, forward=True):
        y = torch.tensor([float("nan"), float("inf"), 1.0]) * 2
        assert torch.softmax(torch.zeros(3).masked_fill(X > 0, float("-inf")), 0).tolist() == [0, 0.5, 0.5]
        assert y.isnan().any()
        with pytest.raises(RuntimeError, match="'MmBackward0' made infinite values"):
            torch.nn.functional.linear(X[None] * 1e30, X[None] * 1e30)
        with pytest.raises(RuntimeError, match="'AddBackward0' made infinite values"):
            X * 2e38 + X * 2e38
        network = torch.nn.Sequential(torch.nn.Conv2d(1, 2, 3), torch.nn.BatchNorm2d(2), torch.nn.ReLU())
        network(torch.randn(2, 1, 5, 5)).sum().backward()
        torch.optim.Adam(network.parameters()).step()


def test_looking_at_results_ends_with_the_mode():
    from tidu.core import subclass
    from tidu.core.modes import state

    for error in (None, KeyError):
        try:
            with torch.autograd.set_detect_anomaly(True, forward=True):
                with torch.autograd.set_detect_anomaly(True):  # not at results
                    assert X.log().isnan().any()
                if error:
                    raise error
        except KeyError:
            pass
        assert not subclass._modes and not state.function_modes and not type(state).function_modes
        assert X.log().isnan().any()
