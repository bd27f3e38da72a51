"""One layer of a recurrent network, in one direction, as one op.

`arrays/recurrent.py` computes it and its gradients. Where more than numbers are wanted (gradients of gradients, a
transform at work) the layer is computed by elementary ops instead, step by step: `_stepwise`.

Gate order is PyTorch's: input, forget, cell, output (LSTM); reset, update, new (GRU).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property, partial
from typing import Any

import numpy as np

from ..arrays import recurrent
from ..core.modes import enable_grad
from ..core.op import Op, OpNode
from ..core.tensor import Tensor, tensor_of
from ..ops.contraction import linear
from ..ops.joining import stack

Array = np.ndarray[Any, Any]
GATES = {"LSTM": 4, "GRU": 3, "RNN_TANH": 1, "RNN_RELU": 1}

# ------------------------------------------------------------------ by elementary ops


def step(mode: str, z: Any, hidden: tuple[Any, ...], w_hh: Any, b_hh: Any) -> tuple[Any, ...]:
    """The next state from the input's part of the sums; tensors."""
    h = hidden[0]
    r = linear(h, w_hh, b_hh)
    if mode == "LSTM":
        i, f, g, o = (z + r).chunk(4, 1)
        c = f.sigmoid() * hidden[1] + i.sigmoid() * g.tanh()
        return o.sigmoid() * c.tanh(), c
    if mode == "GRU":
        zr, zu, zn = z.chunk(3, 1)
        rr, ru, rn = r.chunk(3, 1)
        new = (zn + (zr + rr).sigmoid() * rn).tanh()
        u = (zu + ru).sigmoid()
        return ((h - new) * u + new,)
    return ((z + r).tanh() if mode == "RNN_TANH" else (z + r).relu(),)


def _stepwise(mode: str, x: Any, hidden: tuple[Any, ...], weights: Any, w_hr: Any = None) -> tuple[Any, ...]:
    """A layer by elementary ops: outputs, and for the LSTM all cells."""
    w_ih, w_hh, b_ih, b_hh = weights
    z = linear(x, w_ih, b_ih)
    states = []
    for t in range(x.shape[0]):
        hidden = step(mode, z[t], hidden, w_hh, b_hh)
        if w_hr is not None:
            hidden = linear(hidden[0], w_hr), *hidden[1:]
        states.append(hidden)
    return tuple(stack(list(s)) for s in zip(*states, strict=True))


# ------------------------------------------------------------------ as one op


class LayerNode(OpNode):
    """The node of a layer: outputs that no cotangent reached need no zeros."""

    __slots__ = ()

    def _materialize(self, gs: Sequence[Any], raw: bool) -> list[Any]:
        return list(gs)


class LayerOp(Op):
    """A layer in one direction."""

    @cached_property
    def node(self) -> Any:
        return type(self.node_name, (LayerNode,), {"__slots__": (), "op": self})


def _grads(backward: Callable[..., Any], mode: str, gs: Any, values: Sequence[Any], made: Any, needs: Any) -> Any:
    """The cotangents of the inputs `values`: by arrays for numbers, by elementary ops for tensors."""
    if not any(isinstance(v, Tensor) for v in (*gs, *values)):
        got = backward(*gs, (*values, *made), needs)
        return [g if want else None for g, want in zip(got, needs, strict=True)]
    from ..autograd import grad

    leaves = [v if v is None or isinstance(v, Tensor) else tensor_of(v) for v in values]
    n = len(leaves) - 4
    with enable_grad():
        outs = _stepwise(mode, leaves[0], tuple(leaves[1:n]), leaves[n:])
    reached = [(out, g) for out, g in zip(outs, gs, strict=True) if g is not None]
    cots = [g if isinstance(g, Tensor) else tensor_of(g) for _, g in reached]
    wanted = [v for v, want in zip(leaves, needs, strict=True) if want]
    got = iter(grad([out for out, _ in reached], wanted, cots, create_graph=True, allow_unused=True))
    return [next(got) if want else None for want in needs]


def _lstm_rule(
    gs: Any, out0: Any, out1: Any, out2: Any, x: Any, h0: Any, c0: Any, w_ih: Any, w_hh: Any, b_ih: Any, b_hh: Any,
    needs: Any,
) -> Any:  # fmt: skip
    values = x, h0, c0, w_ih, w_hh, b_ih, b_hh
    return _grads(recurrent.lstm_backward, "LSTM", gs[:2], values, (out0, out1, out2), needs)


def _gru_rule(
    gs: Any, out0: Any, out1: Any, x: Any, h0: Any, w_ih: Any, w_hh: Any, b_ih: Any, b_hh: Any, needs: Any
) -> Any:
    values = x, h0, w_ih, w_hh, b_ih, b_hh
    return _grads(recurrent.gru_backward, "GRU", gs[:1], values, (out0, out1), needs)


def _plain_rule(mode: str, slope: Callable[[Array], Array]) -> Callable[..., Any]:
    backward = partial(recurrent.plain_backward, slope)

    def rule(g: Any, out: Any, x: Any, h0: Any, w_ih: Any, w_hh: Any, b_ih: Any, b_hh: Any, needs: Any) -> Any:
        return _grads(backward, mode, [g], (x, h0, w_ih, w_hh, b_ih, b_hh), (out,), needs)

    return rule


def _plain(f: Callable[..., Any]) -> Callable[..., Any]:
    def forward(x: Any, h0: Any, w_ih: Any, w_hh: Any, b_ih: Any, b_hh: Any) -> Any:
        return recurrent.plain(f, x, h0, w_ih, w_hh, b_ih, b_hh)

    return forward


def _op(mode: str, forward: Any, rule: Any, outputs: int = 1, nondiff: tuple[int, ...] = ()) -> Op:
    names = ("x", "h0", *(("c0",) if mode == "LSTM" else ()), "w_ih", "w_hh", "b_ih", "b_hh")
    return LayerOp(
        mode.lower() + "_layer", forward, rule, tensors=names, outputs=outputs, nondiff=nondiff, register=False,
        node="StackBackward0",  # as the layer's output shows itself in PyTorch
    )  # fmt: skip


_OPS = {
    "LSTM": _op("LSTM", recurrent.lstm, _lstm_rule, 3, (2,)),
    "GRU": _op("GRU", recurrent.gru, _gru_rule, 2, (1,)),
    "RNN_TANH": _op("RNN_TANH", _plain(np.tanh), _plain_rule("RNN_TANH", lambda y: 1 - y * y)),
    "RNN_RELU": _op(
        "RNN_RELU",
        _plain(lambda a, out: np.maximum(a, 0, out=out)),
        _plain_rule("RNN_RELU", lambda y: (y > 0).astype(y.dtype)),
    ),
}
_FAST = (np.dtype(np.float32), np.dtype(np.float64))


def layer(mode: str, x: Any, hidden: tuple[Any, ...], weights: Any, w_hr: Any = None) -> tuple[Any, ...]:
    """A layer's outputs, (T, B, H), and for the LSTM all cells.

    Args:
        mode: "LSTM", "GRU", "RNN_TANH" or "RNN_RELU".
        x: (T, B, I).
        hidden: the first state, (B, H); for the LSTM and the first cell.
        weights: w_ih, w_hh, b_ih, b_hh; biases may be None.
        w_hr: the LSTM's projection.
    """
    args = [x, *hidden, *weights]
    if w_hr is None and _plain_numbers(args):
        out = _OPS[mode].call(*args)
        return out[:-1] if out.__class__ is tuple else (out,)
    return _stepwise(mode, x, hidden, weights, w_hr)


def _plain_numbers(args: list[Any]) -> bool:
    """Whether the values are arrays of one of the fast types, and no transform is at work."""
    try:
        kinds = {a._a.dtype for a in args if a is not None}
    except AttributeError:
        return False
    return len(kinds) == 1 and kinds.pop() in _FAST
