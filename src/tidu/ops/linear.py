"""Affine maps: linear, as networks call it, and bilinear."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..arrays import matmul as kernels
from ..core.broadcast import sum_to
from ..core.elementwise import F32, F64, conj
from ..core.modes import state
from ..core.node import Node, freed, modified, next_seq
from ..core.op import Op
from ..core.tensor import Tensor, live_node, new, type_name
from ._dtypes import c_word, refusal
from ._reduce import into
from .matmul import addmm, matmul, mm
from .shape import permute, reshape, t

__all__ = ["bilinear"]
METHODS = ""

Value = Any
ndarray = np.ndarray


class AffineNode(Node):
    """input @ weight.T + bias as one node.

    It shows as PyTorch's two: the product with the transposed weight, AddmmBackward0, and before it the transposing,
    TBackward0.
    """

    __slots__ = ("versions", "x", "w")
    op = addmm.op

    def apply(self, g: Any, edges: Sequence[Any], raw: bool) -> Sequence[Any]:
        versions = self.versions
        if versions is None:
            raise freed(self)
        x, w = self.x, self.w
        eb, ex, ew = edges
        if ex is not None and w._v[0] != versions[1]:
            raise modified(self, w, w._v, versions[1])
        if ew is not None and x._v[0] != versions[0]:
            raise modified(self, x, x._v, versions[0])
        if raw:
            needs = ex is not None, ew is not None, eb is not None
            arrays = None if x is None else x._a, None if w is None else w._a
            gx, gw, gb = kernels.linear_backward(g, *arrays, needs)
            return gb, gx, gw
        return (
            None if eb is None else sum_to(g, (g.shape[1],)),
            None if ex is None else mm(g, w),
            None if ew is None else mm(g.t(), x),
        )

    def release(self) -> None:
        self.x = self.w = self.versions = None

    def saved_arrays(self) -> Any:
        yield from (v._a for v in (self.x, self.w) if v is not None)

    @property
    def next_functions(self) -> tuple[tuple[Any, int], ...]:
        bias, input, weight = Node.next_functions.fget(self)
        if weight[0] is not None:
            made = self.__dict__.get("transposed")
            if made is None:
                made = self.__dict__["transposed"] = new(_TransposeNode)
                made.edges, made.seq, made._hooks, made.shape, made.args = (self.edges[2:], self.seq, None, (), ())
            weight = made, 0
        return bias, input, weight


class _TransposeNode(Node):
    __slots__ = ("args", "shape")

    def apply(self, g: Any, edges: Sequence[Any], raw: bool) -> Sequence[Any]:
        return (g.T if raw else g.t(),)


_Affine: Any = type("AddmmBackward0", (AffineNode,), {"__slots__": ()})
_TransposeNode.__name__ = _TransposeNode.__qualname__ = "TBackward0"


def linear(input: Value, weight: Value, bias: Value = None, *, out: Value = None) -> Value:
    """input @ weight.T + bias, for input (..., n), weight (m, n) or (n), bias (m) or none.

    Source: torch.nn.functional.linear.

    >>> import tidu as torch
    >>> torch.nn.functional.linear(torch.tensor([[1., 2.]]), torch.tensor([[3., 4.]]), torch.tensor([5.]))
    tensor([[16.]])
    """
    if out is not None:
        return into("linear", out, linear(input, weight, bias))
    if bias is None:
        return _without_bias(input, weight)
    try:
        x, w, b = input._a, weight._a, bias._a
        dt = x.dtype
        if (
            x.ndim != 2 or w.ndim != 2 or b.ndim != 1 or (dt is not F32 and dt is not F64) or w.dtype is not dt
            or b.dtype is not dt or x.shape[1] != w.shape[1] or b.shape[0] != w.shape[0] or state.record is not True
        ):  # fmt: skip
            return _composed(input, weight, bias)
    except AttributeError:
        return _composed(input, weight, bias)
    ex = input._node if input._view is None else live_node(input)
    ew = weight._node if weight._view is None else live_node(weight)
    eb = bias._node if bias._view is None else live_node(bias)
    y = new(Tensor)
    y._a = kernels.linear(x, w, b)
    y._v = [0]
    y._node = y._view = y._grad = y._extra = None
    if ex is None and ew is None and eb is None:
        return y
    y._node = n = new(_Affine)
    n.seq = next_seq()
    n._hooks = None
    n.edges = (bias if eb is True else eb, input if ex is True else ex, weight if ew is True else ew)
    n.x = None if ew is None else input
    n.w = None if ex is None else weight
    n.versions = (input._v[0], weight._v[0])
    return y


def _without_bias(input: Value, weight: Value) -> Value:
    _check("input", 1, input)
    _check("weight", 2, weight)
    if not input.ndim or not weight.ndim:
        raise RuntimeError(
            f"both arguments to linear need to be at least 1D, but they are {input.ndim}D and {weight.ndim}D"
        )
    if input.ndim == 2 and weight.ndim == 2:
        return mm(input, t(weight))
    return matmul(input, weight if weight.ndim == 1 else t(weight))


def _composed(input: Value, weight: Value, bias: Value) -> Value:
    for i, (name, v) in enumerate((("input", input), ("weight", weight), ("bias", bias)), 1):
        _check(name, i, v)
    if input.ndim == 2:
        return addmm(bias, input, t(weight))
    if input.ndim and weight.ndim == 2 and bias.ndim == 1 and input.is_contiguous():
        *lead, n = input.shape
        r = linear(input.view((math.prod(lead), n)), weight, bias)
        return r.view((*lead, weight.shape[0]))
    return matmul(input, weight if weight.ndim == 1 else t(weight)) + bias


def _check(name: str, position: int, x: Any) -> None:
    if not isinstance(x, Tensor):
        raise TypeError(f"linear(): argument '{name}' (position {position}) must be Tensor, not {type_name(x)}")


# ------------------------------------------------------------------ two inputs


def _trilinear_forward(input1: Any, weight: Any, input2: Any) -> Any:
    k, a, b = weight.shape
    half = kernels.mm(input1, weight.transpose(1, 0, 2).reshape(a, k * b)).reshape(-1, k, b)
    return kernels.mm(half, input2[:, :, None])[:, :, 0]


def _outer_products(x: Value, y: Value) -> Value:
    n, a, b = x.shape[0], x.shape[1], y.shape[1]
    return reshape(reshape(x, (n, a, 1)) * reshape(y, (n, 1, b)), (n, a * b))


_trilinear: Any = Op(
    "_trilinear",
    _trilinear_forward,
    {
        "input1": lambda g, weight, input2: _trilinear(g, permute(conj(weight), (1, 0, 2)), conj(input2)),
        "weight": lambda g, input1, input2, weight_shape: reshape(
            mm(g.T if isinstance(g, np.ndarray) else g.t(), conj(_outer_products(input1, input2))), weight_shape
        ),
        "input2": lambda g, input1, weight: _trilinear(g, permute(conj(weight), (2, 0, 1)), conj(input1)),
    },
    {
        "input1": lambda t, weight, input2: _trilinear(t, weight, input2),
        "weight": lambda t, input1, input2: _trilinear(input1, t, input2),
        "input2": lambda t, input1, weight: _trilinear(input1, weight, t),
    },
    node="TrilinearBackward0",
    out_arg=False,
).call


def bilinear(input1: Value, input2: Value, weight: Value, bias: Value = None) -> Value:
    """sum over i, j of input1[..., i] * weight[k, i, j] * input2[..., j] + bias[k], for every k.

    **Raises** RuntimeError where sizes do not agree. Source: torch.bilinear.
    """
    given = {"input1": input1, "input2": input2, "weight": weight, "bias": bias}
    if any(v is not None and v.dtype != input1.dtype for v in given.values()):
        got = ", ".join(f"{k}: {c_word(v.dtype)}" for k, v in given.items() if v is not None)
        raise RuntimeError(f"All tensors must have the same dtype, got {got}")
    if input1.ndim != input2.ndim:
        raise RuntimeError(f"bilinear(): input dimensions do not match: got {input1.ndim} and {input2.ndim}")
    for i in range(input1.ndim - 1):
        if input1.shape[i] != input2.shape[i]:
            raise RuntimeError(
                f"bilinear(): input batch dimensions do not match at dim {i}: got {input1.shape[i]} and "
                f"{input2.shape[i]}"
            )
    for which, x, d in (("1", input1, 1), ("2", input2, 2)):
        if x.shape[-1] != weight.shape[d]:
            raise RuntimeError(
                f"bilinear(): input{which} size does not match weight size: got {x.shape[-1]} but expected "
                f"{weight.shape[d]}"
            )
    if bias is not None and bias.shape[0] != weight.shape[0]:
        raise RuntimeError(
            f"bilinear(): bias size does not match weight size: got {bias.shape[0]} but expected {weight.shape[0]}"
        )
    refusal("b", "bmm")("", input1.dtype)
    lead = tuple(input1.shape[:-1])
    n = math.prod(lead)
    r = _trilinear(reshape(input1, (n, input1.shape[-1])), weight, reshape(input2, (n, input2.shape[-1])))
    r = reshape(r, (*lead, weight.shape[0]))
    return r if bias is None else r + bias
