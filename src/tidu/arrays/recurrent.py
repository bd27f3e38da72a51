"""Recurrent layers over whole sequences: LSTM, GRU and the plain ones, forward and backward.

The input's part of all steps is one product before the loop, and the weights' cotangents are products after it. A step
is one product with the state and a few elementwise calls, each on all the gates that it serves: gates lie one after the
other, (gates, batch, hidden), so that such a call is one run through memory, and next to what they are multiplied with.
An LSTM in float32 takes all its steps in one native loop where llvmlite is installed, cut over the threads by the batch.
Sigmoids come from the tanh that serves all gates, sigmoid(x) = tanh(x / 2) / 2 + 1/2; their weights are halved first.

Arrays are x (T, B, I), y (T, B, H), weights (gates * H, I or H) in PyTorch's order of gates: input, forget, cell, output
(LSTM); reset, update, new (GRU). The last result of a forward is what its backward needs besides. A backward gives the
cotangents of the forward's arguments in their order, None for those that `needs` does not want.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from typing import Any

import numpy as np

from tidu.arrays.native import address, kernel
from tidu.arrays.threads import get_num_threads, one_blas_thread, parallel, quiet

Array = np.ndarray[Any, Any]
Needs = Sequence[bool]
_add, _sub, _mul, _tanh, _matmul = np.add, np.subtract, np.multiply, np.tanh, np.matmul

_SMALL = 1 << 22  # products of fewer multiplications than this cost less on one thread than the threads' meeting
_NATIVE = 1 << 22  # multiplications in all steps from which a native loop is worth compiling
_MOST = 1 << 18  # elements of weights up to which it is: of larger ones BLAS moves less
_LEAST_BATCH = 4
_CHUNK = 1 << 13  # elements of state in the steps whose factors backward computes together: they stay in the cache


@contextmanager
def _stepping(batch: int, w_hh: Array) -> Iterator[None]:
    """For a loop over steps: no warnings, and small products stay on one thread."""
    with one_blas_thread() if batch * w_hh.size < _SMALL else nullcontext(), quiet():
        yield


def _columns(w: Array, order: Sequence[int], halved: Sequence[int], row: Array | None = None) -> Array:
    """A weight (gates * H, K) as (gates, K, H) in this order of gates, some halved; `row` (gates * H) below it."""
    h, k = len(w) // len(order), w.shape[1]
    out = np.empty((len(order), k + (row is not None), h), w.dtype)
    for gate, of in zip(out, order, strict=True):
        gate[:k] = w[of * h : (of + 1) * h].T
        if row is not None:
            gate[k] = row[of * h : (of + 1) * h]
        if of in halved:
            gate *= 0.5
    return out


def _input_part(x: Array, w: Array, order: Sequence[int], halved: Sequence[int], bias: Array | None) -> Array:
    """What the input adds to the gates at each step, (T, gates, B, H)."""
    steps, batch, n = x.shape
    rows: Array
    if bias is None:
        rows = x.reshape(steps * batch, n)
    else:
        rows = np.empty((steps * batch, n + 1), x.dtype)
        rows.reshape(steps, batch, n + 1)[..., :n] = x
        rows[:, n] = 1
    z = _matmul(rows, _columns(w, order, halved, bias))
    return z.reshape(len(order), steps, batch, z.shape[2]).swapaxes(0, 1)


def _chunks(steps: int, state: int) -> Iterator[slice]:
    """The steps from the last to the first, a few at a time."""
    size = max(1, _CHUNK // max(1, state))
    for stop in range(steps, 0, -size):
        yield slice(max(0, stop - size), stop)


def _before(first: Array, states: Array) -> Array:
    return np.concatenate([first[None], states[:-1]])


def _finish(rows: Array, rec: Array, x: Array, before: Array, w_ih: Array, biases: Any, needs: Needs) -> list[Any]:
    """The cotangents of x, of both weights and of both biases, from those of the sums in the gates: `rows`
    (T * B, gates * H) of the input's part, `rec` of the state's; `biases` gives their sums."""
    gx = (rows @ w_ih).reshape(x.shape) if needs[0] else None
    gw_ih = rows.T @ x.reshape(-1, x.shape[-1]) if needs[1] else None
    gw_hh = rec.T @ before.reshape(-1, before.shape[-1]) if needs[2] else None
    return [gx, gw_ih, gw_hh, *(biases() if any(needs[3:]) else (None, None))]


def _sums(rows: Array) -> Array:
    return np.ones(len(rows), rows.dtype).dot(rows)


# ------------------------------------------------------------------ LSTM


def lstm(
    x: Array, h0: Array, c0: Array, w_ih: Array, w_hh: Array, b_ih: Array | None, b_hh: Array | None
) -> tuple[Array, Array, Array]:
    """The outputs, the cells after each step, and what is kept.

    That is one array of (B, H): by step the cell before it and the gates g, f, i, o, and at its end the last cell.
    c, g and f, i side by side are one product, and c' its two halves' sum.
    """
    steps, batch, _ = x.shape
    n = w_hh.shape[1]
    order, sigmoids = (2, 1, 0, 3), (0, 1, 3)
    function = _native("lstm", x, w_hh)
    if function is not None:
        return _native_lstm(function, order, x, h0, c0, w_ih, w_hh, None if b_ih is None else b_ih + b_hh)
    z = _input_part(x, w_ih, order, sigmoids, None if b_ih is None else b_ih + b_hh)
    recur = _columns(w_hh, order, sigmoids)
    kept = np.empty((5 * steps + 1, batch, n), z.dtype)
    kept[0] = c0
    by_step, cells = kept[:-1].reshape(steps, 5, batch, n), kept[5::5]
    y = np.empty((steps, batch, n), z.dtype)
    part, pair, tmp = (np.empty((k, batch, n), z.dtype) for k in (4, 2, 1))
    tmp, old, new, half, h = tmp[0], pair[0], pair[1], np.array(0.5, z.dtype), h0
    calls = zip(
        z, by_step[:, 1:], by_step[:, 2:], by_step[:, :2], by_step[:, 2:4], by_step[:, 4], cells, y, strict=True
    )
    with _stepping(batch, w_hh):
        for zt, gates, sigmoid, c_g, f_i, o, c, yt in calls:
            _matmul(h, recur, part)
            _add(zt, part, gates)
            _tanh(gates, gates)
            _mul(sigmoid, half, sigmoid)
            _add(sigmoid, half, sigmoid)
            _mul(c_g, f_i, pair)
            _add(old, new, c)
            _tanh(c, tmp)
            _mul(o, tmp, yt)
            h = yt
    return y, cells, kept


def lstm_backward(gy: Array | None, gc: Array | None, saved: Any, needs: Needs) -> list[Any]:
    """From the cotangents of outputs and cells (None: zeros) and (*arguments, *results)."""
    x, h0, _, w_ih, w_hh, b_ih, _, y, cells, kept = saved
    steps, batch, n = y.shape
    dz = np.empty((steps, batch, 4, n), y.dtype)
    dh, dc = np.zeros((batch, n), y.dtype), np.zeros((batch, n), y.dtype)
    gy = np.broadcast_to(y.dtype.type(0), y.shape) if gy is None else gy
    function = _native("lstm_backward", y, w_hh)
    if function is None:
        _lstm_steps(gy, gc, y, cells, kept, w_hh, dz, dh, dc)
    else:
        _native_lstm_steps(function, gy, gc, kept, w_hh, dz, dh, dc)
    rows = dz.reshape(-1, 4 * n)

    def biases() -> tuple[Array, Array] | tuple[None, None]:
        if b_ih is None:
            return None, None
        total = _sums(rows)
        return total, total.copy()

    gx, *weights = _finish(rows, rows, x, _before(h0, y), w_ih, biases, (needs[0], *needs[3:]))
    return [gx, dh, dc, *weights]


def _lstm_steps(
    gy: Array, gc: Array | None, y: Array, cells: Array, kept: Array, w_hh: Array, dz: Array, dh: Array, dc: Array
) -> None:
    """From the last step to the first: the cotangents of the gates' sums, and in dh and dc those of the first state."""
    steps, batch, n = y.shape
    by_step = kept[:-1].reshape(steps, 5, batch, n)
    flat, turned = dz.reshape(steps, batch, 4 * n), dz.swapaxes(1, 2)
    tmp = np.empty((batch, n), y.dtype)
    with _stepping(batch, w_hh):
        for cut in _chunks(steps, batch * n):
            s = by_step[cut]
            g, f, i, o = s[:, 1], s[:, 2], s[:, 3], s[:, 4]
            # what the cotangent of the cell is multiplied with to become that of i, f, g ...
            k = np.empty((len(s), 3, batch, n), y.dtype)
            both, k_g = k[:, 1::-1], k[:, 2]
            _sub(1, s[:, 2:4], both)
            _mul(both, s[:, 2:4], both)
            _mul(both, s[:, :2], both)
            _mul(g, g, k_g)
            _sub(1, k_g, k_g)
            _mul(k_g, i, k_g)
            # ... and that of the output, to become that of o and of the cell
            k_o = _sub(1, o)
            _mul(k_o, y[cut], k_o)
            k_c = _tanh(cells[cut])
            _mul(k_c, y[cut], k_c)
            _sub(o, k_c, k_c)
            steps_of = zip(
                gy[cut][::-1], k[::-1], k_o[::-1], k_c[::-1], f[::-1], turned[cut][::-1, :3], dz[cut][::-1, :, 3],
                flat[cut][::-1], range(cut.stop - 1, -1, -1), strict=False,
            )  # fmt: skip
            for gyt, kt, ko, kc, ft, d_ifg, d_o, d, t in steps_of:
                _add(dh, gyt, dh)
                if gc is not None:
                    _add(dc, gc[t], dc)
                _mul(dh, kc, tmp)
                _add(dc, tmp, dc)
                _mul(kt, dc, d_ifg)
                _mul(dh, ko, d_o)
                _mul(dc, ft, dc)
                _matmul(d, w_hh, dh)


def _native(name: str, x: Array, w_hh: Array) -> Callable[..., None] | None:
    steps, batch, weights = x.shape[0], x.shape[1], w_hh.size
    pays = batch >= _LEAST_BATCH and _NATIVE <= steps * batch * weights and weights <= _MOST
    return kernel(name) if pays and x.dtype.char == "f" else None


def _share(run: Callable[[int, int], None], batch: int) -> None:
    """run(first row, number of rows) over the batch, in whole fours."""
    step = -(-batch // (4 * get_num_threads())) * 4
    parallel(lambda i: run(i * step, min(step, batch - i * step)), -(-batch // step))


def _packed(w: Array, width: int) -> Array:
    """For native_recurrent.py: matrices (K, n) side by side in blocks of columns, (blocks, K, matrices, width), filled up with zeros."""
    count, k, n = w.shape
    blocks = -(-n // width)
    out = np.zeros((blocks, k, count, width), w.dtype)
    for i in range(blocks):
        part = w[:, :, i * width : (i + 1) * width]
        out[i, :, :, : part.shape[2]] = part.swapaxes(0, 1)
    return out


def _native_lstm(
    function: Callable[..., None], order: Sequence[int], x: Array, h0: Array, c0: Array, w_ih: Array, w_hh: Array,
    bias: Array | None,
) -> tuple[Array, Array, Array]:  # fmt: skip
    from tidu.arrays.native_loops import WIDTH

    steps, batch, _ = x.shape
    n = w_hh.shape[1]
    z = _input_part(x, w_ih, order, (), bias)
    weights = _packed(_columns(w_hh, order, ()), WIDTH)
    h0 = np.ascontiguousarray(h0)
    kept, y = np.empty((5 * steps + 1, batch, n), x.dtype), np.empty((steps, batch, n), x.dtype)
    kept[0] = c0
    pz, pw, ph, pk, py = map(address, (z, weights, h0, kept, y))

    def run(first: int, count: int) -> None:
        at = 4 * first * n
        function(pz + at, pw, ph + at, pk + at, py + at, steps, batch, count, n)

    _share(run, batch)
    return y, kept[5::5], kept


def _native_lstm_steps(
    function: Callable[..., None],
    gy: Array,
    gc: Array | None,
    kept: Array,
    w_hh: Array,
    dz: Array,
    dh: Array,
    dc: Array,
) -> None:
    from tidu.arrays.native_recurrent import BLOCK

    steps, batch, _, n = dz.shape
    zeros = np.zeros((batch, n), dz.dtype)
    from_y = np.ascontiguousarray(gy)
    from_c = zeros if gc is None else np.ascontiguousarray(gc)
    weights = _packed(w_hh[None], BLOCK)
    gc_step = 0 if gc is None else batch * n
    p_y, p_c, pk, pw, pz, ph, pc = map(address, (from_y, from_c, kept, weights, dz, dh, dc))

    def run(first: int, count: int) -> None:
        at = 4 * first * n
        function(
            p_y + at, batch * n, p_c + at, gc_step, pk + at, pw, pz + 4 * at, ph + at, pc + at, steps, batch, count, n
        )

    _share(run, batch)


# ------------------------------------------------------------------ GRU


def gru(x: Array, h0: Array, w_ih: Array, w_hh: Array, b_ih: Array | None, b_hh: Array | None) -> tuple[Array, Array]:
    """The outputs, and by step the gates r, u, n and what r was multiplied with, (T, 4, B, H)."""
    steps, batch, _ = x.shape
    n = w_hh.shape[1]
    order, sigmoids = (0, 1, 2), (0, 1)
    bias = inner_bias = None
    if b_ih is not None and b_hh is not None:
        bias, inner_bias = b_ih + b_hh, b_hh[2 * n :]
        bias[2 * n :] = b_ih[2 * n :]
    z = _input_part(x, w_ih, order, sigmoids, bias)
    recur = _columns(w_hh, order, sigmoids)
    kept, y = np.empty((steps, 4, batch, n), z.dtype), np.empty((steps, batch, n), z.dtype)
    part, half, h = np.empty((3, batch, n), z.dtype), np.array(0.5, z.dtype), h0
    part_ru, part_n = part[:2], part[2]
    calls = zip(z[:, :2], z[:, 2], kept[:, :2], kept[:, 0], kept[:, 1], kept[:, 2], kept[:, 3], y, strict=True)
    with _stepping(batch, w_hh):
        for z_ru, z_n, ru, r, u, new, inner, yt in calls:
            _matmul(h, recur, part)
            _add(z_ru, part_ru, ru)
            _tanh(ru, ru)
            _mul(ru, half, ru)
            _add(ru, half, ru)
            if inner_bias is None:
                np.copyto(inner, part_n)
            else:
                _add(part_n, inner_bias, inner)
            _mul(inner, r, new)
            _add(z_n, new, new)
            _tanh(new, new)
            _sub(h, new, yt)
            _mul(yt, u, yt)
            _add(yt, new, yt)
            h = yt
    return y, kept


def gru_backward(gy: Array, saved: Any, needs: Needs) -> list[Any]:
    """From the cotangent of the outputs and (*arguments, *results)."""
    x, h0, w_ih, w_hh, b_ih, _, y, kept = saved
    steps, batch, n = y.shape
    before = _before(h0, y)
    # The cotangents of the sums in n, r, u, and of what r is multiplied with: the first three are the input's,
    # the last three the state's.
    dz = np.empty((steps, batch, 4, n), y.dtype)
    flat, turned = dz.reshape(steps, batch, 4 * n), dz.swapaxes(1, 2)
    dh, tmp = np.zeros((batch, n), y.dtype), np.empty((batch, n), y.dtype)
    with _stepping(batch, w_hh):
        for cut in _chunks(steps, batch * n):
            s = kept[cut]
            r, u, new, inner = s[:, 0], s[:, 1], s[:, 2], s[:, 3]
            k = np.empty(s.shape, y.dtype)  # what that of the state is multiplied with
            k_n, k_r, k_u, k_inner = k[:, 0], k[:, 1], k[:, 2], k[:, 3]
            _sub(1, s[:, :2], k[:, 1:3])
            _mul(new, new, k_n)
            _sub(1, k_n, k_n)
            _mul(k_n, k_u, k_n)
            _mul(k[:, 1:3], s[:, :2], k[:, 1:3])
            _mul(k_n, inner, k_inner)
            _mul(k_r, k_inner, k_r)
            _sub(before[cut], new, k_inner)
            _mul(k_u, k_inner, k_u)
            _mul(k_n, r, k_inner)
            steps_of = zip(gy[cut][::-1], k[::-1], u[::-1], turned[cut][::-1], flat[cut][::-1, :, n:], strict=True)
            for gyt, kt, ut, d, rec in steps_of:
                _add(dh, gyt, dh)
                _mul(kt, dh, d)
                _mul(dh, ut, tmp)
                _matmul(rec, w_hh, dh)
                _add(dh, tmp, dh)
    rows = flat.reshape(-1, 4 * n)

    def biases() -> tuple[Any, Any]:
        if b_ih is None:
            return None, None
        total = _sums(rows)
        return _rolled(total[: 3 * n]), total[n:].copy()

    # the gates of the input's part in the order n, r, u
    turned_w = np.concatenate([w_ih[2 * n :], w_ih[: 2 * n]]) if needs[0] else w_ih
    wanted = (needs[0], *needs[2:])
    gx, gw_ih, *rest = _finish(rows[:, : 3 * n], rows[:, n:], x, before, turned_w, biases, wanted)
    return [gx, dh, None if gw_ih is None else _rolled(gw_ih), *rest]


def _rolled(w: Array) -> Array:
    """Gates n, r, u in PyTorch's order."""
    n = len(w) // 3
    return np.concatenate([w[n:], w[:n]])


# ------------------------------------------------------------------ plain


def plain(
    f: Callable[[Array, Array], Any], x: Array, h0: Array, w_ih: Array, w_hh: Array, b_ih: Array | None,
    b_hh: Array | None,
) -> Array:  # fmt: skip
    """The outputs f(W_ih x + W_hh h + b); f(a, out) writes into `out`."""
    y: Array = _input_part(x, w_ih, (0,), (), None if b_ih is None else b_ih + b_hh)[:, 0]
    recur, part, h = _columns(w_hh, (0,), ())[0], np.empty(y.shape[1:], y.dtype), h0
    with _stepping(x.shape[1], w_hh):
        for yt in y:
            _matmul(h, recur, part)
            _add(yt, part, yt)
            f(yt, yt)
            h = yt
    return y


def plain_backward(slope: Callable[[Array], Array], gy: Array, saved: Any, needs: Needs) -> list[Any]:
    """From the cotangent of the outputs and (*arguments, outputs); `slope` is f' as a function of f."""
    x, h0, w_ih, w_hh, b_ih, _, y = saved
    k = slope(y)
    dz, dh = np.empty_like(k), np.zeros(y.shape[1:], y.dtype)
    with _stepping(y.shape[1], w_hh):
        for gyt, kt, d in zip(gy[::-1], k[::-1], dz[::-1], strict=True):
            _add(dh, gyt, dh)
            _mul(dh, kt, d)
            _matmul(d, w_hh, dh)
    rows = dz.reshape(-1, dz.shape[-1])

    def biases() -> tuple[Any, Any]:
        if b_ih is None:
            return None, None
        total = _sums(rows)
        return total, total.copy()

    gx, *weights = _finish(rows, rows, x, _before(h0, y), w_ih, biases, (needs[0], *needs[2:]))
    return [gx, dh, *weights]
