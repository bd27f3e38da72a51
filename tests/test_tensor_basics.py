"""What tensors are made from, become, and say about themselves: short programs, and what PyTorch prints for each.

`golden_basics.json` maps a program to the text of its last expression, or to its error. parity/test_basics.py holds the
same programs against a live PyTorch.
"""

import ast
import json
import warnings
from pathlib import Path

import numpy as np
import pytest

import tidu

PROGRAMS = json.loads((Path(__file__).parent / "golden_basics.json").read_text())


def outcome(program, lib):
    """The text of the program's last expression, or of what it raises."""
    tree = ast.parse(program)
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    scope = {"torch": lib, "np": np}
    default = lib.get_default_dtype()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            exec(compile(tree, "<program>", "exec"), scope)
            got = None if last is None else eval(compile(ast.Expression(last.value), "<program>", "eval"), scope)
            return repr(got)
        except Exception as error:
            return f"{type(error).__name__}: {error}"
        finally:
            lib.set_default_dtype(default)


@pytest.mark.parametrize("program", PROGRAMS)
def test_program(program):
    assert outcome(program, tidu) == PROGRAMS[program]


def test_a_sampling_of_the_golden_file_is_not_empty():
    assert len(PROGRAMS) > 400


# ---- what no text shows


def test_numpy_shares_memory():
    a = np.zeros(3)
    t = tidu.from_numpy(a)
    assert np.shares_memory(t.numpy(), a)
    assert np.shares_memory(np.asarray(t), a)
    assert not np.shares_memory(tidu.tensor(a).numpy(), a)


def test_the_shape_of_a_tensor_outlives_the_arrays():
    a = np.zeros((2, 3))
    t = tidu.from_numpy(a)
    a.shape = (6,)
    t.numpy().shape = (3, 2)
    assert t.shape == (2, 3)


def test_deepcopy_copies_memory_once():
    import copy

    base = tidu.zeros(4)
    one, two, three = copy.deepcopy([base, base[:2], base])
    assert one is three
    one[0] = 5
    assert two[0] == 5
    assert base[0] == 0


def test_numpy_functions_keep_the_gradient():
    x = tidu.ones(3, requires_grad=True)
    (np.mean(np.sin(np.ones(3) + x)) * np.float64(2)).backward()
    np.testing.assert_allclose(x.grad.numpy(), 2 * np.cos(2) / 3, rtol=1e-6)


def test_numpy_functions_without_an_op_need_arrays():
    x = tidu.ones(3)
    assert isinstance(np.cbrt(x), tidu.Tensor)
    with pytest.raises(RuntimeError, match="requires grad"):
        np.cbrt(x.requires_grad_())


def test_in_place_numpy_counts_as_a_write():
    t = tidu.zeros(2)
    np.add(np.ones(2, np.float32), 1, out=(t,))
    assert t.tolist() == [2, 2]
    assert t._version == 1


# ---- subclasses


class Plain(tidu.Tensor):
    pass


def test_results_of_a_subclass_are_of_the_subclass():
    x = Plain([1.0, 2.0]).requires_grad_()
    y = (x * 2).sum()
    assert type(y) is Plain
    assert all(type(v) is Plain for v in x.unbind())
    y.backward()
    assert x.grad.tolist() == [2, 2]
    assert type(x.detach()) is Plain
    assert x.shape == (2,)
    assert x.numpy(force=True).tolist() == [1, 2]


def test_the_subclass_further_down_wins():
    class Further(Plain):
        pass

    assert type(Plain([1.0]) + Further([1.0])) is Further


def test_in_place_on_a_subclass_writes_and_returns_it():
    x = Plain([1.0, 2.0])
    assert x.add_(1) is x
    assert x.tolist() == [2, 3]


def test_an_overriding_class_sees_the_public_function():
    seen = []

    class Seeing(tidu.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            seen.append((func, types, len(args), kwargs))
            return super().__torch_function__(func, types, args, kwargs)

    x = Seeing([1.0, 2.0])
    assert type(tidu.exp(x)) is Seeing
    assert seen == [(tidu.exp, (Seeing,), 1, None)]


def test_no_implementation():
    class Refusing(tidu.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            return NotImplemented

    with pytest.raises(TypeError, match="all __torch_function__ handlers returned NotImplemented"):
        tidu.exp(Refusing([1.0]))


def test_a_class_that_is_no_tensor():
    class Boxed:
        def __init__(self, value):
            self.value = value

        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            return func(*[a.value if isinstance(a, cls) else a for a in args], **(kwargs or {}))

    assert tidu.add(Boxed(tidu.ones(2)), 1).tolist() == [2, 2]
    assert tidu.mul(tidu.ones(2), Boxed(tidu.ones(2))).tolist() == [1, 1]


def test_a_mode_sees_ops_and_leaves_nothing_behind():
    seen = []

    class Log(tidu.overrides.TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            seen.append(func.__name__)
            return func(*args, **(kwargs or {}))

    x = tidu.ones(2, requires_grad=True)
    with Log():
        y = (x * 2).sum()
        assert y.shape == ()
        y.backward()
    x + 1
    assert seen == ["mul", "sum", "__get__", "backward"]
    assert x.grad.tolist() == [2, 2]


# ---- parameters


def test_a_parameter_is_a_leaf_over_the_same_memory():
    data = tidu.zeros(2)
    p = tidu.nn.Parameter(data)
    assert p.is_leaf
    assert p.requires_grad
    data[0] = 1
    assert p.tolist() == [1, 0]
    assert type(p * 2) is tidu.Tensor


def test_an_uninitialized_parameter_becomes_one():
    p = tidu.nn.UninitializedParameter()
    with pytest.raises(RuntimeError, match="uninitialized parameter"):
        p.shape  # noqa: B018
    p.materialize((2, 3))
    assert type(p) is tidu.nn.Parameter
    assert p.shape == (2, 3)


# ---- the face


def test_a_missing_name_says_so():
    with pytest.raises(AttributeError, match="has no attribute 'no_such_name'"):
        tidu.no_such_name  # noqa: B018


def test_dir_shows_what_comes_later():
    assert {"FloatTensor", "overrides", "set_printoptions", "zeros"} <= set(dir(tidu))


# ---- files


def through_a_file(value, **kw):
    import io

    f = io.BytesIO()
    tidu.save(value, f)
    f.seek(0)
    return tidu.load(f, **kw)


class Unknown:
    pass


def test_saved_tensors_come_back():
    x = tidu.arange(4.0, requires_grad=True)
    saved = {
        "leaf": x, "part": x.detach()[1:], "turned": tidu.arange(6).view(2, 3).t(), "empty": tidu.zeros(0, 3),
        "half": tidu.ones(2, dtype=tidu.bfloat16), "list": [1, (2.0, "a")], "size": tidu.Size([1]),
        "dtype": tidu.float64, "device": tidu.device("cpu"),
    }  # fmt: skip
    back = through_a_file(saved)
    assert repr(back) == repr(saved)
    assert back["turned"].stride() == (1, 3)
    back["part"][0] = 9  # one memory before, one memory after
    assert back["leaf"].tolist() == [0, 9, 2, 3]
    assert x.tolist() == [0, 1, 2, 3]


def test_saved_parameters_come_back():
    p = through_a_file(tidu.nn.Parameter(tidu.ones(2)))
    assert type(p) is tidu.nn.Parameter
    assert p.requires_grad


def test_files_hold_what_pytorch_calls_its_own():
    import io
    import zipfile

    f = io.BytesIO()
    tidu.save([tidu.ones(2)], f)
    with zipfile.ZipFile(f) as archive:
        assert archive.read("archive/data/0") == np.ones(2, np.float32).tobytes()
        text = archive.read("archive/data.pkl")
    assert b"torch._utils\n_rebuild_tensor_v2" in text
    assert b"tidu" not in text


def test_a_file_cannot_run_code():
    import pickle

    with pytest.raises(pickle.UnpicklingError, match="Weights only load failed"):
        through_a_file(Unknown())
    assert type(through_a_file(Unknown(), weights_only=False)) is Unknown
    with tidu.serialization.safe_globals([Unknown]):
        assert type(through_a_file(Unknown())) is Unknown


def test_variable():
    """The old name makes a leaf over the memory of a tensor, and every tensor is one."""
    Variable = tidu.autograd.Variable
    x = tidu.ones(2)
    v = Variable(x, requires_grad=True)
    assert type(v) is tidu.Tensor and v.requires_grad and v.is_leaf and v.data_ptr() == x.data_ptr()
    assert isinstance(x, Variable) and isinstance(tidu.nn.Parameter(x), Variable) and not isinstance(3, Variable)
    assert not Variable(v * 2).requires_grad
    with pytest.raises(TypeError, match="Variable data has to be a tensor, but got float"):
        Variable(1.0)
    with pytest.raises(RuntimeError, match="Only Tensors of floating point and complex dtype can require gradients"):
        Variable(tidu.tensor([1]), requires_grad=True)
