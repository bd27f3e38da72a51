"""One layer of a recurrent network, in one direction, as one op.

The input's part of all steps is one product before the loop, and the weights' gradients are products after it; inside
the loop are one product and a few elementwise calls on whole gates. Where more than numbers are wanted (gradients of
gradients, a transform at work) the layer is computed by elementary ops instead, step by step: `_stepwise`.

Gate order is PyTorch's outside: input, forget, cell, output (LSTM); reset, update, new (GRU).
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from functools import wraps
from typing import Any

import numpy as np

from ..arrays.pool import one_blas_thread
from ..core.modes import enable_grad
from ..core.op import Op
from ..core.tensor import Tensor, tensor_of
from ..ops.joining import stack
from ..ops.linear import linear

Array = np.ndarray[Any, Any]
SMALL = 1 << 22  # products of fewer multiplications than this cost less on one thread than the threads' meeting
GATES = {"LSTM": 4, "GRU": 3, "RNN_TANH": 1, "RNN_RELU": 1}


def _threads(x: Any, w_hh: Any) -> AbstractContextManager[Any]:
    """Keeps a layer's products on one thread if those of its steps are small."""
    return one_blas_thread() if x.shape[1] * w_hh.size < SMALL else nullcontext()


# ------------------------------------------------------------------ LSTM


def _lstm_order(w: Any, scale: bool) -> Any:
    """Rows of a weight or bias in the order output, input, forget, cell; sigmoid gates halved, since
    sigmoid(x) = tanh(x / 2) / 2 + 1/2 lets one tanh serve all gates."""
    h = w.shape[0] // 4
    out = np.concatenate([w[3 * h :], w[: 3 * h]])
    if scale:
        out[: 3 * h] *= 0.5
    return out


def _lstm_back(w: Array) -> Array:
    h = w.shape[0] // 4
    return np.concatenate([w[h:], w[:h]])


def _lstm(x: Any, h0: Any, c0: Any, w_ih: Any, w_hh: Any, b_ih: Any, b_hh: Any) -> Any:
    steps, batch, _ = x.shape
    n = w_hh.shape[1]
    z = x.reshape(steps * batch, -1) @ _lstm_order(w_ih, True).T
    if b_ih is not None:
        z += _lstm_order(b_ih + b_hh, True)
    z = z.reshape(steps, batch, 4 * n)
    recur = np.ascontiguousarray(_lstm_order(w_hh, True).T)
    y, cs = np.empty((steps, batch, n), z.dtype), np.empty((steps, batch, n), z.dtype)
    part, tmp, h, c = np.empty((batch, 4 * n), z.dtype), np.empty((batch, n), z.dtype), h0, c0
    for t in range(steps):
        zt, ct, yt = z[t], cs[t], y[t]
        np.matmul(h, recur, part)
        np.add(zt, part, zt)
        np.tanh(zt, zt)
        sig = zt[:, : 3 * n]
        np.multiply(sig, 0.5, sig)
        np.add(sig, 0.5, sig)
        np.multiply(zt[:, 2 * n : 3 * n], c, ct)
        np.multiply(zt[:, n : 2 * n], zt[:, 3 * n :], tmp)
        np.add(ct, tmp, ct)
        np.tanh(ct, tmp)
        np.multiply(zt[:, :n], tmp, yt)
        h, c = yt, ct
    return y, cs, z


def _lstm_grads(gy: Array, gc: Any, saved: Any) -> Any:
    x, h0, c0, w_ih, w_hh, b_ih, y, cs, z = saved
    steps, batch, n = y.shape
    o, i, f, g = z[..., :n], z[..., n : 2 * n], z[..., 2 * n : 3 * n], z[..., 3 * n :]
    tc = np.tanh(cs)
    before = np.concatenate([c0[None], cs[:-1]])
    # What a cotangent of c (first three) or of h (last) is multiplied with to become that of a gate.
    k = np.empty((steps, batch, 3, n), y.dtype)
    np.multiply(g * i, 1 - i, k[:, :, 0])
    np.multiply(before * f, 1 - f, k[:, :, 1])
    np.multiply(i, 1 - g * g, k[:, :, 2])
    k_o = tc * o * (1 - o)
    k_c = o * (1 - tc * tc)
    dz = np.empty((steps, batch, 4, n), y.dtype)  # in PyTorch's order: input, forget, cell, output
    dh, dc = np.zeros((batch, n), y.dtype), np.zeros((batch, n), y.dtype)
    tmp = np.empty((batch, n), y.dtype)
    flat = dz.reshape(steps, batch, 4 * n)
    for t in range(steps - 1, -1, -1):
        np.add(dh, gy[t], dh)
        if gc is not None:
            np.add(dc, gc[t], dc)
        np.multiply(dh, k_c[t], tmp)
        np.add(dc, tmp, dc)
        np.multiply(k[t], dc[:, None, :], dz[t, :, :3])
        np.multiply(dh, k_o[t], dz[t, :, 3])
        np.multiply(dc, f[t], dc)
        np.matmul(flat[t], w_hh, dh)
    return _finish(flat, flat, x, h0, y, w_ih, w_hh, b_ih, dh, dc)


def _finish(
    dz: Array, dr: Array, x: Any, h0: Any, y: Any, w_ih: Any, w_hh: Any, b_ih: Any, dh: Any, dc: Any
) -> tuple[Any, ...]:
    """The cotangents of a layer's inputs from those of the sums (`dz` of the input's part, `dr` of the state's)."""
    rows, rec = dz.reshape(-1, dz.shape[-1]), dr.reshape(-1, dr.shape[-1])
    before = np.concatenate([h0[None], y[:-1]]).reshape(-1, y.shape[-1])
    gx = (rows @ w_ih).reshape(x.shape)
    gw_ih, gw_hh = rows.T @ x.reshape(-1, x.shape[-1]), rec.T @ before
    gb_ih = gb_hh = None
    if b_ih is not None:
        gb_ih = rows.sum(0)
        gb_hh = gb_ih.copy() if dr is dz else rec.sum(0)
    return gx, dh, dc, gw_ih, gw_hh, gb_ih, gb_hh


# ------------------------------------------------------------------ GRU


def _gru(x: Any, h0: Any, w_ih: Any, w_hh: Any, b_ih: Any, b_hh: Any) -> Any:
    steps, batch, _ = x.shape
    n = w_hh.shape[1]
    z = x.reshape(steps * batch, -1) @ w_ih.T
    if b_ih is not None:
        z += b_ih
    z = z.reshape(steps, batch, 3 * n)
    recur = np.ascontiguousarray(w_hh.T)
    y, inner = np.empty((steps, batch, n), z.dtype), np.empty((steps, batch, n), z.dtype)
    part, h = np.empty((batch, 3 * n), z.dtype), h0
    for t in range(steps):
        zt, yt = z[t], y[t]
        np.matmul(h, recur, part)
        if b_hh is not None:
            np.add(part, b_hh, part)
        ru, new = zt[:, : 2 * n], zt[:, 2 * n :]
        np.add(ru, part[:, : 2 * n], ru)
        np.multiply(ru, 0.5, ru)
        np.tanh(ru, ru)
        np.multiply(ru, 0.5, ru)
        np.add(ru, 0.5, ru)
        np.copyto(inner[t], part[:, 2 * n :])
        np.multiply(inner[t], zt[:, :n], yt)
        np.add(new, yt, new)
        np.tanh(new, new)
        np.subtract(h, new, yt)
        np.multiply(yt, zt[:, n : 2 * n], yt)
        np.add(yt, new, yt)
        h = yt
    return y, inner, z


def _gru_grads(gy: Array, _: Any, saved: Any) -> Any:
    x, h0, w_ih, w_hh, b_ih, y, inner, z = saved
    steps, batch, n = y.shape
    r, u, new = z[..., :n], z[..., n : 2 * n], z[..., 2 * n :]
    before = np.concatenate([h0[None], y[:-1]])
    k_u = (before - new) * u * (1 - u)
    k_n = (1 - u) * (1 - new * new)
    k_r = k_n * inner * r * (1 - r)
    dz = np.empty((steps, batch, 3, n), y.dtype)
    dr = np.empty((steps, batch, 3, n), y.dtype)
    dh, tmp = np.zeros((batch, n), y.dtype), np.empty((batch, n), y.dtype)
    flat = dr.reshape(steps, batch, 3 * n)
    for t in range(steps - 1, -1, -1):
        np.add(dh, gy[t], dh)
        d = dz[t]
        np.multiply(dh, k_r[t], d[:, 0])
        np.multiply(dh, k_u[t], d[:, 1])
        np.multiply(dh, k_n[t], d[:, 2])
        np.copyto(dr[t, :, :2], d[:, :2])
        np.multiply(d[:, 2], r[t], dr[t, :, 2])
        np.multiply(dh, u[t], tmp)
        np.matmul(flat[t], w_hh, dh)
        np.add(dh, tmp, dh)
    gx, dh, _, *weights = _finish(dz.reshape(flat.shape), flat, x, h0, y, w_ih, w_hh, b_ih, dh, None)
    return (gx, dh, *weights)


# ------------------------------------------------------------------ plain


def _plain(ufunc: Callable[..., Any]) -> Callable[..., Any]:
    def forward(x: Any, h0: Any, w_ih: Any, w_hh: Any, b_ih: Any, b_hh: Any) -> Any:
        steps, batch, _ = x.shape
        y = x.reshape(steps * batch, -1) @ w_ih.T
        if b_ih is not None:
            y += b_ih + b_hh
        y = y.reshape(steps, batch, -1)
        recur, h = np.ascontiguousarray(w_hh.T), h0
        part = np.empty((batch, w_hh.shape[0]), y.dtype)
        for t in range(steps):
            np.matmul(h, recur, part)
            np.add(y[t], part, y[t])
            h = ufunc(y[t], y[t])
        return y, y, y

    return forward


def _relu(a: Array, out: Array) -> Array:
    return np.maximum(a, 0, out=out)  # type: ignore[no-any-return]


def _plain_grads(slope: Callable[[Array], Array]) -> Callable[..., Any]:
    def grads(gy: Array, _: Any, saved: Any) -> Any:
        x, h0, w_ih, w_hh, b_ih, y, _, _ = saved
        k = slope(y)
        dz = np.empty_like(y)
        dh = np.zeros(y.shape[1:], y.dtype)
        for t in range(len(y) - 1, -1, -1):
            np.add(dh, gy[t], dh)
            np.multiply(dh, k[t], dz[t])
            np.matmul(dz[t], w_hh, dh)
        gx, dh, _, *weights = _finish(dz, dz, x, h0, y, w_ih, w_hh, b_ih, dh, None)
        return (gx, dh, *weights)

    return grads


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


def _op(mode: str, forward: Any, grads: Any) -> Op:
    """The op of a kind of layer; its rule uses the arrays' formulas for numbers, elementary ops for tensors."""
    lstm = mode == "LSTM"

    @wraps(forward)
    def threaded(*vals: Any) -> Any:
        with _threads(vals[0], vals[-3]):
            return forward(*vals)

    inputs = ("x", "h0", "c0", "w_ih", "w_hh", "b_ih", "b_hh") if lstm else ("x", "h0", "w_ih", "w_hh", "b_ih", "b_hh")

    def rule(gs: Any, out: tuple[Any, ...], vals: tuple[Any, ...], needs: Any) -> Any:
        if not any(isinstance(v, Tensor) for v in (*gs, *vals)):
            with _threads(vals[0], vals[-3]):
                got = grads(gs[0], gs[1] if lstm and gs[1].any() else None, (*vals[:-1], *out))
            return [g if want else None for g, want in zip(got, needs, strict=True)]
        from ..autograd import grad

        leaves = [v if v is None or isinstance(v, Tensor) else tensor_of(v) for v in vals]
        n = 3 if lstm else 2
        with enable_grad():
            made = _stepwise(mode, leaves[0], tuple(leaves[1:n]), leaves[n:])
        wanted = [v for v, want in zip(leaves, needs, strict=True) if want]
        cots = [g if isinstance(g, Tensor) else tensor_of(g) for g in gs[: len(made)]]
        got = iter(grad(list(made), wanted, cots, create_graph=True, allow_unused=True))
        return [next(got) if want else None for want in needs]

    if lstm:

        def lstm_rule(
            gs: Any, out0: Any, out1: Any, out2: Any, x: Any, h0: Any, c0: Any, w_ih: Any, w_hh: Any, b_ih: Any,
            b_hh: Any, needs: Any,
        ) -> Any:  # fmt: skip
            return rule(gs, (out0, out1, out2), (x, h0, c0, w_ih, w_hh, b_ih, b_hh), needs)

        vjp: Any = lstm_rule
    else:

        def other_rule(
            gs: Any, out0: Any, out1: Any, out2: Any, x: Any, h0: Any, w_ih: Any, w_hh: Any, b_ih: Any, b_hh: Any,
            needs: Any,
        ) -> Any:  # fmt: skip
            return rule(gs, (out0, out1, out2), (x, h0, w_ih, w_hh, b_ih, b_hh), needs)

        vjp = other_rule
    return Op(
        mode.lower() + "_layer", threaded, vjp=vjp, tensors=inputs,
        node=f"{mode.title().replace('_', '')}LayerBackward0", outputs=3, nondiff=(2,) if lstm else (1, 2),
        register=False,
    )  # fmt: skip


_OPS = {
    "LSTM": _op("LSTM", _lstm, _lstm_grads),
    "GRU": _op("GRU", _gru, _gru_grads),
    "RNN_TANH": _op("RNN_TANH", _plain(np.tanh), _plain_grads(lambda y: 1 - y * y)),
    "RNN_RELU": _op("RNN_RELU", _plain(_relu), _plain_grads(lambda y: (y > 0).astype(y.dtype))),
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
        return out[:2] if mode == "LSTM" else out[:1]  # type: ignore[no-any-return]
    return _stepwise(mode, x, hidden, weights, w_hr)


def _plain_numbers(args: list[Any]) -> bool:
    """Whether the values are arrays of one of the fast types, and no transform is at work."""
    try:
        kinds = {a._a.dtype for a in args if a is not None}
    except AttributeError:
        return False
    return len(kinds) == 1 and kinds.pop() in _FAST
