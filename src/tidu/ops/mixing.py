"""Mixing values: lerp, addcmul, addcdiv."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import dtypes
from ..arrays.threads import BIG
from ..core.elementwise import ONE, elementwise, kind_of
from ..core.errors import invalid_combination
from ..core.inplace import inplace, spread, writes_plainly
from ..core.modes import state
from ..core.promote import Number, Policy, scalar_of
from ..core.tensor import Tensor, dtype_word
from ._arguments import describe, strayed
from ._dtypes import refuse, widened

__all__ = ["lerp", "addcmul", "addcdiv"]
METHODS = "* lerp_ addcmul_ addcdiv_"


@widened
def _mix(input: Any, end: Any, weight: Any) -> Any:
    """From the nearer end, so that the weights 0 and 1 give the ends exactly."""
    if not isinstance(weight, np.ndarray):
        weight = np.asarray(weight).astype(input.dtype)
    low = np.abs(weight) < 0.5
    step = end - input
    if weight.ndim == 0:
        return np.asarray(input + weight * step if low else end - step * (1 - weight))
    return np.where(low, input + weight * step, end - step * (1 - weight))


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


def addcmul_(self: Any, tensor1: Any, tensor2: Any, *old: Any, value: Any = 1) -> Any:
    """In-place `addcmul`: self += value * tensor1 * tensor2."""
    if old:
        return strayed(addcmul_, "addcmul_", (self, tensor1, tensor2, *old), {})
    try:
        if _plain(self, tensor1, tensor2, value):
            a = self._a
            _accumulate(np.multiply, a, tensor1._a, tensor2._a, value)
            self._v[0] += 1
            return self
    except (AttributeError, ValueError):
        pass
    return _iaddcmul(self, tensor1, tensor2, value=value)


def addcdiv_(self: Any, tensor1: Any, tensor2: Any, *old: Any, value: Any = 1) -> Any:
    """In-place `addcdiv`: self += value * tensor1 / tensor2."""
    if old:
        return strayed(addcdiv_, "addcdiv_", (self, tensor1, tensor2, *old), {})
    try:
        if _plain(self, tensor1, tensor2, value):
            a = self._a
            _accumulate(np.true_divide, a, tensor1._a, tensor2._a, value)
            self._v[0] += 1
            return self
    except (AttributeError, ValueError):
        pass
    return _iaddcdiv(self, tensor1, tensor2, value=value)


describe(
    globals(),
    """
    addcmul: input + value * tensor1 * tensor2.
    addcdiv: input + value * tensor1 / tensor2; integers refuse.
    """,
)
