"""Choosing between values, and mixing them: where, clamp; lerp, addcmul, addcdiv."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from .. import dtypes
from ..arrays.select import where as _where_kernel
from ..arrays.threads import BIG, big_ufunc
from ..core.broadcast import cast, sum_to
from ..core.elementwise import F32, F64, ONE, elementwise, kind_of
from ..core.errors import invalid_combination
from ..core.inplace import inplace, spread, writes_plainly
from ..core.modes import CAREFUL, state
from ..core.node import Node, freed, modified, next_seq
from ..core.op import Op, check_savable
from ..core.parameters import REQUIRED
from ..core.promote import Number, Policy, result_type, scalar_of
from ..core.tensor import Tensor, dtype_word, live_node, new, tensor_of
from ..naming import warn
from ..shapes import broadcast_shapes
from ._arguments import describe, spoken, strayed
from ._dtypes import refusal, refuse, widened
from ._hot import hot

__all__ = [
    "addcdiv", "addcmul", "clamp", "clamp_", "clamp_max", "clamp_max_", "clamp_min", "clamp_min_", "clip",
    "clip_", "lerp", "where",
]  # fmt: skip
METHODS = "* lerp_ addcmul_ addcdiv_"

# ------------------------------------------------------------------ where


SMALL = 1 << 12  # up to so many elements NumPy's own where is the quickest


def pick(condition: Any, input: Any, other: Any) -> Any:
    try:
        return (np.where if condition.size <= SMALL else _where_kernel)(condition, input, other)
    except ValueError:
        broadcast_shapes(condition.shape, input.shape, other.shape)
        raise


_where_op = Op(
    "where",
    pick,
    {
        "input": lambda g, condition, input_shape: sum_to(where(condition, g, 0), input_shape),
        "other": lambda g, condition, other_shape: sum_to(where(condition, 0, g), other_shape),
    },
    {"input": lambda t, condition: where(condition, t, 0), "other": lambda t, condition: where(condition, 0, t)},
    tensors=("condition", "input", "other"),
)


class WhereNode(Node):
    __slots__ = ("condition", "shapes", "version")
    condition: Any
    op = _where_op

    def apply(self, g: Any, edges: Sequence[Any], raw: bool) -> Sequence[Any]:
        condition = self.condition
        if condition is None:
            raise freed(self)
        if condition._v[0] != self.version:
            raise modified(self, condition, condition._v, self.version)
        if raw:
            condition = condition._a
        (ex, ey), (x_shape, y_shape) = edges, self.shapes
        return (
            None if ex is None else sum_to(where(condition, g, 0), x_shape),
            None if ey is None else sum_to(where(condition, 0, g), y_shape),
        )

    def release(self) -> None:
        self.condition = None

    def saved_arrays(self) -> Iterator[np.ndarray[Any, Any]]:
        yield self.condition._a


WhereBackward0: Any = type("WhereBackward0", (WhereNode,), {"__slots__": ()})
_BOOL = np.dtype(np.bool_)


def where(condition: Any, input: Any = None, other: Any = None, *, out: Any = None) -> Any:
    """`input` where the condition holds, else `other`; the two and the condition broadcast, either may be a number.

    Its cotangent goes to the one that was chosen. With the condition alone: the indices where it holds.

    >>> import tidu as torch
    >>> x = torch.tensor([1., -2.])
    >>> torch.where(x > 0, x, 0.)
    tensor([1., 0.])
    """
    try:
        c = condition._a
        a = input._a
        dt = a.dtype
        if other.__class__ is float and (dt is F32 or dt is F64):
            b, ey = scalar_of(other, dt), None
        else:
            b = other._a
            ey = other._node if other._view is None else live_node(other)
        if b.dtype is dt and c.dtype is _BOOL and out is None and dt.kind in "fc" and state.record is not CAREFUL:
            t = tensor_of(pick(c, a, b))
            ex = input._node if input._view is None else live_node(input)
            if state.record and (ex is not None or ey is not None):
                t._node = n = new(WhereBackward0)
                n.seq = next_seq()
                n._hooks = None
                n.edges = (input if ex is True else ex, other if ey is True else ey)
                n.condition, n.version = condition, check_savable(condition)._v[0]
                n.shapes = a.shape, b.shape
            return t
    except AttributeError:
        pass
    if input is None and other is None:
        return condition.nonzero(as_tuple=True)
    if not (isinstance(condition, Tensor) or isinstance(input, Tensor) or isinstance(other, Tensor)):
        return pick(condition, input, other)  # a rule running for numbers
    if not isinstance(condition, (Tensor, np.ndarray)) or not all(
        isinstance(v, (Tensor, np.ndarray, *Number)) for v in (input, other)
    ):
        kinds = ", ".join(type(v).__name__ for v in (condition, input, other))
        raise TypeError(
            f"where() received an invalid combination of arguments - got ({kinds}), but expected one of:\n"
            " * (Tensor condition)\n * (Tensor condition, Tensor input, Tensor other, *, Tensor out = None)\n"
            " * (Tensor condition, Number self, Tensor other)\n * (Tensor condition, Tensor input, Number other)\n"
            " * (Tensor condition, Number self, Number other)\n"
        )
    if kind_of(condition) != "b":
        condition = _as_condition(condition)
    if not (isinstance(input, Tensor) and isinstance(other, Tensor) and input.dtype is other.dtype):
        d = result_type([input, other])
        input, other = (
            cast(v, d.np) if isinstance(v, Tensor) else tensor_of(np.asarray(v).astype(d.np)) for v in (input, other)
        )
    return _where_op.call(condition, input, other, out=out)


def _as_condition(condition: Any) -> Any:
    if condition.dtype is not dtypes.uint8:
        raise RuntimeError(
            f"where expected condition to be a boolean tensor, but got a tensor with dtype {condition.dtype.legacy}"
        )
    warn(
        "where received a uint8 condition tensor. This behavior is deprecated and will be removed in a future version "
        "of PyTorch. Use a boolean condition instead."
    )
    return condition != 0


def method_where(self: Any, condition: Any, other: Any) -> Any:
    """This tensor where the condition holds, else `other`."""
    return where(condition, self, other)


# ------------------------------------------------------------------ clamp


def _real(word: str) -> Policy:
    """Complex numbers have no order; of bools alone there is no clamp."""
    clamps = word.startswith("clamp")
    no_complex = "clamp is not supported for complex types" if clamps else word

    def check(name: str, d: Any, values: list[Any]) -> None:
        if clamps and d.category == dtypes.COMPLEX and kind_of(values[0]) != "c":  # only the bounds are
            refusal("c", word if all(v is not None for v in values) else "maximum_cpu")(name, d)
        refusal("c", no_complex)(name, d)
        if clamps:
            refusal("b", word)(name, d)

    return Policy(check=check)


def _bounded(input: Any, min: Any = None, max: Any = None) -> Any:
    if min is not None:
        input = _extremum(np.maximum, input, _bound(min, input))
    if max is not None:
        input = _extremum(np.minimum, input, _bound(max, input))
    return np.asarray(input)


def _extremum(ufunc: Any, a: Any, bound: Any) -> Any:
    return ufunc(bound, a) if a.size <= BIG else big_ufunc(ufunc, a, bound)  # of equals the second: -0. stays


def _bound(value: Any, input: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value
    d = input.dtype
    return scalar_of(value, d) if d is F32 or d is F64 else np.array(value).astype(d)


def _inside(g: Any, input: Any, min: Any, max: Any) -> Any:
    if max is None:
        return where(input >= min, g, 0)
    return where(input <= max if min is None else (input >= min) & (input <= max), g, 0)


def _at_min(g: Any, input: Any, min: Any, max: Any) -> Any:
    return where(input < min if max is None else (input < min) & (min < max), g, 0)


def _at_max(g: Any, input: Any, min: Any, max: Any) -> Any:
    return where(input > max if min is None else (input > max) | (max < min), g, 0)


_clamp = hot(elementwise("clamp", _bounded, {"input": _inside}, policy=_real("clamp_cpu"), node="ClampBackward1"))
_PLAIN = frozenset((int, float, type(None)))
_clamp_tensor = elementwise(
    "clamp.tensor", _bounded, {"input": _inside, "min": _at_min, "max": _at_max}, policy=_real("clamp_cpu"),
    node="ClampBackward0",
)  # fmt: skip


def _one_bound(name: str, node: str, number: bool) -> Any:
    low = name.endswith("min")
    policy = _real(name + "_scalar_cpu" if number else "maximum_cpu" if low else "minimum_cpu")
    if number:
        forward = (lambda input, min: _bounded(input, min)) if low else (lambda input, max: _bounded(input, None, max))
        rules: Any = {"input": (lambda g, input, min: _inside(g, input, min, None)) if low
                      else (lambda g, input, max: _inside(g, input, None, max))}  # fmt: skip
        return hot(elementwise(name, forward, rules, policy=policy, node=node + "0"))
    if low:
        return elementwise(
            name + ".tensor", lambda input, min: _bounded(input, min),
            {"input": lambda g, input, min: where(input >= min, g, 0),
             "min": lambda g, input, min: where(input < min, g, 0)},
            policy=policy, node=node + "1",
        )  # fmt: skip
    return elementwise(
        name + ".tensor", lambda input, max: _bounded(input, None, max),
        {"input": lambda g, input, max: where(input <= max, g, 0),
         "max": lambda g, input, max: where(input > max, g, 0)},
        policy=policy, node=node + "1",
    )  # fmt: skip


_clamp_min, _clamp_max = (_one_bound(n, "Clamp" + n[6:].title() + "Backward", True) for n in ("clamp_min", "clamp_max"))
_clamp_min_tensor, _clamp_max_tensor = (
    _one_bound(n, "Clamp" + n[6:].title() + "Backward", False) for n in ("clamp_min", "clamp_max")
)


def _with_numbers(input: Any, *bounds: Any) -> Any:
    """The input in the dtype that it has together with the numbers beside it."""
    if not isinstance(input, Tensor):
        return input
    if input.dtype.category == dtypes.FLOATING and all(b.__class__ in _PLAIN for b in bounds):
        return input
    return cast(input, result_type([input, *[b for b in bounds if b is not None]]).np)


def _is_tensor_clamp(input: Any, min: Any, max: Any) -> bool:
    if min is None and max is None:
        raise RuntimeError("torch.clamp: At least one of 'min' or 'max' must not be None")
    given = [b for b in (min, max) if b is not None]
    tensors = [isinstance(b, Tensor) for b in given]
    if any(tensors) != all(tensors) or not all(isinstance(b, (Tensor, *Number)) for b in given):
        raise invalid_combination(
            "clamp",
            (input, min, max),
            "(Tensor input, Tensor min = None, Tensor max = None, *, Tensor out = None)",
            "(Tensor input, Number min = None, Number max = None, *, Tensor out = None)",
        )
    return tensors[0]


def clamp(input: Any, min: Any = None, max: Any = None, *, out: Any = None) -> Any:
    """min(max(input, min), max), with numbers or tensors as bounds, of which one may be None.

    The cotangent passes where the input is within the bounds, on them too; a tensor bound takes it where it was chosen.

    >>> import tidu as torch
    >>> torch.clamp(torch.tensor([-1., 0.5, 2.]), 0, 1)
    tensor([0.0000, 0.5000, 1.0000])
    """
    if min.__class__ in _PLAIN and max.__class__ in _PLAIN and min is not max:
        try:
            dt = input._a.dtype
            if dt is F32 or dt is F64:
                return _clamp(input, min, max, out=out)
        except AttributeError:
            if input.__class__ is np.ndarray and (input.dtype is F32 or input.dtype is F64):
                return _clamp(input, min, max)  # a rule running for numbers
    if _is_tensor_clamp(input, min, max):
        return _clamp_tensor(input, min, max, out=out)
    return _clamp(_with_numbers(input, min, max), min, max, out=out)


def clamp_min(input: Any, min: Any, *, out: Any = None) -> Any:
    """max(input, min)."""
    if isinstance(min, Number):
        return _clamp_min(_with_numbers(input, min), min, out=out)
    return _clamp_min_tensor(input, min, out=out)


def clamp_max(input: Any, max: Any, *, out: Any = None) -> Any:
    """min(input, max)."""
    if isinstance(max, Number):
        return _clamp_max(_with_numbers(input, max), max, out=out)
    return _clamp_max_tensor(input, max, out=out)


for _fn in (_clamp, _clamp_min, _clamp_max):
    _fn.op.same_out = True  # type: ignore[union-attr]
_iclamp, _iclamp_tensor = inplace(_clamp.op), inplace(_clamp_tensor.op)
_iclamp_min, _iclamp_min_tensor = inplace(_clamp_min.op), inplace(_clamp_min_tensor.op)
_iclamp_max, _iclamp_max_tensor = inplace(_clamp_max.op), inplace(_clamp_max_tensor.op)


def _keeps_dtype(input: Any, *bounds: Any) -> None:
    d = result_type([input, *[b for b in bounds if b is not None]])
    if not dtypes.can_cast(d, input.dtype):
        tensors = [b for b in bounds if isinstance(b, Tensor)]
        broadcast_shapes(input.shape, *[b.shape for b in tensors])
        word = input.dtype.legacy if tensors else dtype_word(input.dtype)
        raise RuntimeError(f"result type {d.legacy} can't be cast to the desired output type {word}")


def clamp_(self: Any, min: Any = None, max: Any = None) -> Any:
    """In-place `clamp`."""
    if min.__class__ in _PLAIN and max.__class__ in _PLAIN and min is not max:
        try:
            a = self._a
            if writes_plainly(self, a):
                low = None if min is None else scalar_of(min, a.dtype)
                high = None if max is None else scalar_of(max, a.dtype)

                def bound(x: Any, out: Any) -> None:
                    if low is not None:
                        x = np.maximum(x, low, out=out)
                    if high is not None:
                        np.minimum(x, high, out=out)

                spread(bound, a)
                self._v[0] += 1
                return self
        except AttributeError:
            pass
    tensors = _is_tensor_clamp(self, min, max)
    _keeps_dtype(self, min, max)
    return (_iclamp_tensor if tensors else _iclamp)(self, min, max)


def clamp_min_(self: Any, min: Any) -> Any:
    """In-place `clamp_min`."""
    _keeps_dtype(self, min)
    return (_iclamp_min if isinstance(min, Number) else _iclamp_min_tensor)(self, min)


def clamp_max_(self: Any, max: Any) -> Any:
    """In-place `clamp_max`."""
    _keeps_dtype(self, max)
    return (_iclamp_max if isinstance(max, Number) else _iclamp_max_tensor)(self, max)


clip, clip_ = clamp, clamp_


@widened
def _mix(input: Any, end: Any, weight: Any) -> Any:
    """From the nearer end, so that the weights 0 and 1 give the ends exactly."""
    if not isinstance(weight, np.ndarray):
        weight = np.asarray(weight).astype(input.dtype)
    low = np.abs(weight) < 0.5
    step = end - input
    if weight.ndim == 0:
        return np.asarray(input + weight * step if low else end - step * (1 - weight))
    return _where_kernel(low, input + weight * step, end - step * (1 - weight))


_lerp = elementwise(
    "lerp", _mix, {"input": lambda weight: 1 - weight, "end": lambda weight: weight},
    policy=refuse("bi", "lerp_kernel_scalar"),
)  # fmt: skip
_lerp_tensor = elementwise(
    "lerp.tensor", _mix,
    {"input": lambda weight: 1 - weight, "end": lambda weight: weight, "weight": lambda input, end: end - input},
    policy=refuse("bi", "lerp_kernel_tensor"), node="LerpBackward1",
)  # fmt: skip


def _lerp_op(input: Any, end: Any, weight: Any) -> Any:
    if not isinstance(end, (Tensor, np.ndarray)) or not isinstance(weight, (Tensor, np.ndarray, *Number)):
        raise invalid_combination(
            "lerp",
            (input, end, weight),
            "(Tensor input, Tensor end, Tensor weight, *, Tensor out = None)",
            "(Tensor input, Tensor end, Number weight, *, Tensor out = None)",
        )
    for word, v in (("end", end), ("weight", weight)):
        if isinstance(v, Tensor) and isinstance(input, Tensor) and v.dtype is not input.dtype:
            if word == "weight" and v.ndim == 0:
                continue
            raise RuntimeError(
                f"expected dtype {dtype_word(input.dtype)} for `{word}` but got dtype {dtype_word(v.dtype)}"
            )
    return (_lerp if isinstance(weight, Number) else _lerp_tensor).op


def lerp(input: Any, end: Any, weight: Any, *, out: Any = None) -> Any:
    """input + weight * (end - input), the weight a number or a tensor."""
    return _lerp_op(input, end, weight).call(input, end, weight, out=out)


def lerp_(self: Any, end: Any, weight: Any) -> Any:
    """In-place `lerp`."""
    if weight.__class__ is float:
        try:
            a, b = self._a, end._a
            if (
                b.dtype is a.dtype
                and end._v is not self._v
                and writes_plainly(self, a)
                and not (state.grad and end.requires_grad)
            ):
                near = abs(weight) < 0.5
                w = scalar_of(weight if near else 1 - weight, a.dtype)

                def mix(x: Any, y: Any, out: Any) -> None:
                    step = np.multiply(np.subtract(y, x), w)
                    np.add(x, step, out) if near else np.subtract(y, step, out)

                spread(mix, a, b)
                self._v[0] += 1
                return self
        except (AttributeError, ValueError):
            pass
    return _ilerp[isinstance(weight, Number)](self, end, weight) if _lerp_op(self, end, weight) else self


_ilerp = inplace(_lerp_tensor.op, "lerp_"), inplace(_lerp.op, "lerp_")


def _scaled(value: Any, a: Any) -> Any:
    return np.asarray(value).astype(a.dtype)


@widened
def _addcmul(input: Any, tensor1: Any, tensor2: Any, *, value: Any = 1) -> Any:
    scaled = tensor1 if _is_one(value) else _scaled(value, input) * tensor1
    return np.asarray(input + scaled * tensor2)


@widened
def _addcdiv(input: Any, tensor1: Any, tensor2: Any, *, value: Any = 1) -> Any:
    scaled = tensor1 if _is_one(value) else _scaled(value, input) * tensor1
    return np.asarray(input + scaled / tensor2)


def _is_one(value: Any) -> bool:
    return type(value) is not bool and not isinstance(value, Tensor) and bool(value == 1)


def _no_integers(name: str, d: Any, values: list[Any]) -> None:
    if d.category < dtypes.FLOATING or (len(values) > 2 and all(kind_of(v) in "biu" for v in values[1:3])):
        raise RuntimeError(
            "Integer division with addcdiv is no longer supported, and in a future  release addcdiv will perform a "
            "true division of tensor1 and tensor2. The historic addcdiv behavior can be implemented as (input + value "
            "* torch.trunc(tensor1 / tensor2)).to(input.dtype) for integer inputs and as (input + value * tensor1 / "
            "tensor2) for float inputs. The future addcdiv behavior is just the latter implementation: (input + value "
            "* tensor1 / tensor2), for all dtypes."
        )


addcmul = elementwise(
    "addcmul", _addcmul,
    {
        "input": ONE, "tensor1": lambda tensor2, value: tensor2 * value,
        "tensor2": lambda tensor1, value: tensor1 * value,
    },
    policy=refuse("b", "addcmul_cpu_out"), numbers=False,
)  # fmt: skip
addcdiv = elementwise(
    "addcdiv", _addcdiv,
    {
        "input": ONE, "tensor1": lambda tensor2, value: value / tensor2,
        "tensor2": lambda tensor1, tensor2, value: -(value * tensor1 / (tensor2 * tensor2)),
    },
    policy=Policy(check=_no_integers), numbers=False,
)  # fmt: skip
_iaddcmul, _iaddcdiv = inplace(addcmul.op), inplace(addcdiv.op)


def _plain(x: Any, t1: Any, t2: Any, value: Any) -> bool:
    """Whether x may take value * (t1, t2) at once: one dtype, nothing recorded."""
    if value.__class__ is not float and value.__class__ is not int:
        return False
    a = x._a
    if t1._a.dtype is not a.dtype or t2._a.dtype is not a.dtype or not writes_plainly(x, a):
        return False
    if any([t._v is x._v and t is not x for t in (t1, t2)]):  # which may overlap in part
        return False
    return not (state.grad and (t1.requires_grad or t2.requires_grad))


def _accumulate(ufunc: Any, a: Any, t1: Any, t2: Any, value: Any) -> None:
    """a += ufunc(value * t1, t2)."""
    factor = scalar_of(value, a.dtype)
    if a.size <= BIG:
        np.add(a, ufunc(t1 if value == 1 else np.multiply(factor, t1), t2), a)
    else:
        spread(lambda x, y, z, out: np.add(x, ufunc(np.multiply(factor, y), z), out), a, t1, t2)


def addcmul_(self: Any, tensor1: Any = REQUIRED, tensor2: Any = REQUIRED, *old: Any, value: Any = 1) -> Any:
    """In-place `addcmul`: self += value * tensor1 * tensor2."""
    try:
        if not old and _plain(self, tensor1, tensor2, value):
            a = self._a
            _accumulate(np.multiply, a, tensor1._a, tensor2._a, value)
            self._v[0] += 1
            return self
    except (AttributeError, ValueError):
        pass
    try:
        if old:
            return strayed(addcmul_, "addcmul_", (self, tensor1, tensor2, *old), {})
        return _iaddcmul(self, tensor1, tensor2, value=value)
    except Exception as error:
        raise spoken(error, self, tensor1, tensor2, *old, value=value) from None


def addcdiv_(self: Any, tensor1: Any = REQUIRED, tensor2: Any = REQUIRED, *old: Any, value: Any = 1) -> Any:
    """In-place `addcdiv`: self += value * tensor1 / tensor2."""
    try:
        if not old and _plain(self, tensor1, tensor2, value):
            a = self._a
            _accumulate(np.true_divide, a, tensor1._a, tensor2._a, value)
            self._v[0] += 1
            return self
    except (AttributeError, ValueError):
        pass
    try:
        if old:
            return strayed(addcdiv_, "addcdiv_", (self, tensor1, tensor2, *old), {})
        return _iaddcdiv(self, tensor1, tensor2, value=value)
    except Exception as error:
        raise spoken(error, self, tensor1, tensor2, *old, value=value) from None


describe(
    globals(),
    """
    addcmul: input + value * tensor1 * tensor2.
    addcdiv: input + value * tensor1 / tensor2; integers refuse.
    """,
)
