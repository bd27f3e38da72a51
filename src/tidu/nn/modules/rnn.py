"""Recurrent networks. Source: torch.nn.modules.rnn."""

from __future__ import annotations

import math
import numbers
import warnings
from typing import Any

import numpy as np

from ...core.tensor import Tensor, tensor_of
from ...dtypes import float32
from ...ops.factories import empty, zeros
from ...ops.joining import cat, stack
from .. import _recurrent, init
from .. import functional as F
from ..parameter import Parameter
from ..utils.rnn import PackedSequence, _positions, shown_as
from .module import Module


class RNNBase(Module):
    """Several recurrent layers, one above the other, perhaps in both directions."""

    __constants__ = [
        "mode", "input_size", "hidden_size", "num_layers", "bias", "batch_first", "dropout", "bidirectional",
        "proj_size",
    ]  # fmt: skip

    def __init__(
        self, mode: str, input_size: int, hidden_size: int, num_layers: int = 1, bias: bool = True,
        batch_first: bool = False, dropout: float = 0.0, bidirectional: bool = False, proj_size: int = 0,
        device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        self.mode, self.input_size, self.hidden_size, self.num_layers = (mode, input_size, hidden_size, num_layers)
        self.bias, self.batch_first, self.dropout = bias, batch_first, float(dropout)
        self.bidirectional, self.proj_size = bidirectional, proj_size
        self._check_options(dropout)
        out = proj_size if proj_size > 0 else hidden_size
        directions = 2 if bidirectional else 1
        gates = _recurrent.GATES[mode] * hidden_size
        self._all_weights: list[list[str]] = []
        for layer in range(num_layers):
            for suffix in ("", "_reverse")[:directions]:
                shapes: dict[str, tuple[int, ...]] = {
                    "weight_ih": (gates, input_size if layer == 0 else out * directions), "weight_hh": (gates, out),
                }  # fmt: skip
                if bias:
                    shapes |= {"bias_ih": (gates,), "bias_hh": (gates,)}
                if proj_size > 0:
                    shapes["weight_hr"] = (proj_size, hidden_size)
                names = []
                for what, shape in shapes.items():
                    names.append(f"{what}_l{layer}{suffix}")
                    setattr(self, names[-1], Parameter(empty(shape, device=device, dtype=dtype)))
                self._all_weights.append(names)
        self.reset_parameters()

    def _check_options(self, dropout: Any) -> None:
        if not isinstance(dropout, numbers.Number) or isinstance(dropout, bool) or not 0 <= dropout <= 1:  # type: ignore[operator]
            raise ValueError(
                "dropout should be a number in range [0, 1] representing the probability of an element being zeroed"
            )
        if dropout > 0 and self.num_layers == 1:  # type: ignore[operator]
            warnings.warn(
                "dropout option adds dropout after all but last recurrent layer, so non-zero dropout expects "
                "num_layers "
                f"greater than 1, but got dropout={dropout} and num_layers={self.num_layers}",
                stacklevel=4,
            )
        for name, kind in (("bias", bool), ("batch_first", bool), ("input_size", int), ("hidden_size", int)):
            value = getattr(self, name)
            if not isinstance(value, kind):
                raise TypeError(f"{name} should be of type {kind.__name__}, got: {type(value).__name__}")
            if kind is int and value <= 0:
                raise ValueError(f"{name} must be greater than zero")
        if self.num_layers <= 0:
            raise ValueError("num_layers must be greater than zero")
        if self.proj_size < 0:
            raise ValueError("proj_size should be a positive integer or zero to disable projections")
        if self.proj_size >= self.hidden_size:
            raise ValueError("proj_size has to be smaller than hidden_size")
        if self.mode not in _recurrent.GATES:
            raise ValueError("Unrecognized RNN mode: " + self.mode)

    def reset_parameters(self) -> None:
        bound = 1.0 / math.sqrt(self.hidden_size) if self.hidden_size > 0 else 0
        for weight in self.parameters():
            init.uniform_(weight, -bound, bound)

    def flatten_parameters(self) -> None:
        """Nothing to do on the CPU."""

    def __getstate__(self) -> dict[str, Any]:
        """The state as PyTorch's modules have it, which read their weights from a list."""
        names = self._flat_weights_names
        return {**super().__getstate__(), "_flat_weights_names": names, "_flat_weights": self._flat_weights}

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__({k: v for k, v in state.items() if not k.startswith("_flat_weight")})

    @property
    def _flat_weights_names(self) -> list[str]:
        return [name for names in self._all_weights for name in names]

    @property
    def _flat_weights(self) -> list[Any]:
        return [getattr(self, name) for name in self._flat_weights_names]

    @property
    def all_weights(self) -> list[list[Any]]:
        """The parameters of each layer and direction."""
        return [[getattr(self, name) for name in names] for names in self._all_weights]

    def extra_repr(self) -> str:
        s = f"{self.input_size}, {self.hidden_size}"
        plain = {
            "proj_size": 0, "num_layers": 1, "bias": True, "batch_first": False, "dropout": 0, "bidirectional": False,
        }  # fmt: skip
        return s + "".join(f", {k}={getattr(self, k)}" for k, v in plain.items() if getattr(self, k) != v)

    # ---------------------------------------------------------------- checking

    def check_input(self, input: Any, batch_sizes: Any) -> None:
        from ...amp import is_autocast_enabled

        weight = self._parameters.get("weight_ih_l0")
        if weight is not None and input.dtype != weight.dtype and not is_autocast_enabled("cpu"):
            raise ValueError(
                f"RNN input dtype ({input.dtype}) does not match weight dtype ({weight.dtype}). Convert input: "
                f"input.to({weight.dtype}), or convert model: model.to({input.dtype})"
            )
        want = 3 if batch_sizes is None else 2
        if input.dim() != want:
            raise RuntimeError(f"input must have {want} dimensions, got {input.dim()}")
        if self.input_size != input.size(-1):
            raise RuntimeError(
                f"input.size(-1) must be equal to input_size. Expected {self.input_size}, got {input.size(-1)}"
            )

    def check_hidden_size(
        self, hx: Any, expected: tuple[int, ...], msg: str = "Expected hidden size {}, got {}"
    ) -> None:
        if tuple(hx.size()) != expected:
            raise RuntimeError(msg.format(expected, list(hx.size())))

    # ---------------------------------------------------------------- running

    def _run(self, input: Any, hx: Any) -> tuple[Any, Any]:
        packed = isinstance(input, PackedSequence)
        kind = "RNN" if self.mode.startswith("RNN") else self.mode
        lengths = None
        sizes = order = back = None
        if packed:
            data, sizes, order, back = input
            self.check_input(data, sizes)
            x, lengths = _unpacked(data, sizes._a)
        else:
            if input.dim() not in (2, 3):
                word = " tensor" if kind == "RNN" else ""
                raise ValueError(f"{kind}: Expected input to be 2D or 3D, got {input.dim()}D{word} instead")
            x = input
        batched = packed or x.dim() == 3
        batch_dim = 0 if self.batch_first and not packed else 1
        if not batched:
            x = x.unsqueeze(batch_dim)
        hidden = self._hidden(hx, batched, x, batch_dim, order)
        if not packed:
            self.check_input(x, None)
        self._check_hidden(hidden, x.size(batch_dim))
        if batch_dim == 0:
            x = x.transpose(0, 1)
        if not x.size(0):
            raise RuntimeError("Expected sequence length to be larger than 0 in RNN")
        y, last = self._layers(x, hidden, lengths)
        if packed:
            at, _ = _positions(lengths, x.size(1), x.size(0))
            y = y.reshape(-1, y.size(2)).index_select(0, tensor_of(at))
            y = PackedSequence(shown_as("CatBackward0", y), sizes, order, back)
            if back is not None:
                last = tuple(s.index_select(1, back) for s in last)
            return y, last
        if batch_dim == 0:
            y = y.transpose(0, 1)
            if self.mode != "LSTM":
                y = shown_as("TransposeBackward1", y)
        if not batched:
            y, last = y.squeeze(batch_dim), tuple(s.squeeze(1) for s in last)
        return y, last

    def _widths(self) -> tuple[int, ...]:
        h = self.proj_size if self.proj_size > 0 else self.hidden_size
        return (h, self.hidden_size) if self.mode == "LSTM" else (h,)

    def _hidden(self, hx: Any, batched: bool, x: Any, batch_dim: int, order: Any) -> tuple[Any, ...]:
        directions = 2 if self.bidirectional else 1
        if hx is None:
            shape = self.num_layers * directions, x.size(batch_dim)
            return tuple(zeros(*shape, n, dtype=x.dtype) for n in self._widths())
        lstm = self.mode == "LSTM"
        if lstm and isinstance(hx, (tuple, list, Tensor)):
            hx[1]  # of fewer, the IndexError
            if len(hx) != 2:
                raise RuntimeError("lstm expects two hidden states")
        hidden = tuple(hx) if lstm else (hx,)
        dims = [h.dim() for h in hidden]
        want = 3 if batched else 2
        if any(d != want for d in dims):
            what = f"For {'batched 3-D' if batched else 'unbatched 2-D'} input, hx "
            if lstm:
                got = ", ".join(f"{d}-D" for d in dims)
                raise RuntimeError(f"{what}and cx should also be {want}-D but got ({got}) tensors")
            raise RuntimeError(f"{what}should also be {want}-D but got {dims[0]}-D tensor")
        if not batched:
            hidden = tuple(h.unsqueeze(1) for h in hidden)
        return hidden if order is None else tuple(h.index_select(1, order) for h in hidden)

    def _check_hidden(self, hidden: tuple[Any, ...], batch: int) -> None:
        n = self.num_layers * (2 if self.bidirectional else 1)
        for i, (h, width) in enumerate(zip(hidden, self._widths(), strict=True)):
            word = f"hidden[{i}]" if self.mode == "LSTM" else "hidden"
            self.check_hidden_size(h, (n, batch, width), "Expected " + word + " size {}, got {}")

    def _layers(self, x: Any, hidden: tuple[Any, ...], lengths: Any) -> tuple[Any, tuple[Any, ...]]:
        directions = 2 if self.bidirectional else 1
        backwards = None if lengths is None else _backwards(lengths, x.size(0), x.size(1))
        last: list[tuple[Any, ...]] = []
        for layer in range(self.num_layers):
            outs = []
            for d in range(directions):
                k = layer * directions + d
                names = self._all_weights[k]
                weights = [getattr(self, name) for name in names]
                w_hr = weights.pop() if self.proj_size > 0 else None
                if not self.bias:
                    weights += [None, None]
                xd = _turned(x, backwards) if d else x
                states = _recurrent.layer(self.mode, xd, tuple(h[k] for h in hidden), weights, w_hr)
                last.append(tuple(_at_end(s, lengths) for s in states))
                y = states[0]
                if lengths is None and self.mode == "LSTM" and w_hr is None and y.dtype is float32:
                    y = shown_as("MkldnnRnnLayerBackward0", y)
                outs.append(_turned(y, backwards) if d else y)
            x = outs[0] if directions == 1 else cat(outs, 2)
            if self.dropout > 0 and layer < self.num_layers - 1:
                if lengths is None or not self.training:
                    x = F.dropout(x, self.dropout, self.training)
                else:  # of what is there, in the order in which it is packed
                    at, sizes = _positions(lengths, x.size(1), x.size(0))
                    data = F.dropout(x.reshape(-1, x.size(2)).index_select(0, tensor_of(at)), self.dropout)
                    x, _ = _unpacked(data, sizes)
        return x, tuple(stack(list(s)) for s in zip(*last, strict=True))


def _unpacked(data: Any, sizes: Any) -> tuple[Any, Any]:
    """A packed batch's data as (T, B, ...), zeros after the ends, and the lengths."""
    steps, batch = len(sizes), int(sizes[0])
    lengths = (sizes[None, :] > np.arange(batch)[:, None]).sum(1).astype(np.int64)
    at, _ = _positions(lengths, batch, steps)
    out = data.new_zeros((steps * batch, *data.shape[1:])).index_copy(0, tensor_of(at), data)
    return out.reshape(steps, batch, *data.shape[1:]), lengths


def _backwards(lengths: Any, steps: int, batch: int) -> Any:
    """Where each place of (T B) goes if every sequence runs backwards; padding stays."""
    t = np.arange(steps)[:, None]
    turned = np.where(t < lengths[None], lengths[None] - 1 - t, t)
    return tensor_of((turned * batch + np.arange(batch)[None]).reshape(-1).astype(np.int64))


def _turned(x: Any, backwards: Any) -> Any:
    """(T, B, ...) in reverse time order, each sequence within its length."""
    if backwards is None:
        return x.flip(0)
    return x.reshape(-1, *x.shape[2:]).index_select(0, backwards).reshape(x.shape)


def _at_end(states: Any, lengths: Any) -> Any:
    if lengths is None:
        return states[-1]
    steps, batch = states.shape[:2]
    at = (lengths - 1) * batch + np.arange(batch)
    return states.reshape(steps * batch, *states.shape[2:]).index_select(0, tensor_of(at.astype(np.int64)))


class _SingleState(RNNBase):
    def forward(self, input: Any, hx: Any = None) -> Any:
        """Run over a sequence.

        Args:
            input: (T, B, I), (B, T, I) if batch_first, (T, I), or a PackedSequence.
            hx: the first state, (layers * directions, B, H); by default zeros.

        Returns:
            The outputs of the last layer, and the last states of all.
        """
        y, last = self._run(input, hx)
        return y, last[0]


class RNN(_SingleState):
    """h' = tanh(W_ih x + b_ih + W_hh h + b_hh).

    Args:
        input_size, hidden_size: of x and of h.
        num_layers: how many, one above the other.
        nonlinearity: "tanh" or "relu".
        bias, batch_first, dropout, bidirectional: as for `LSTM`.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if "proj_size" in kwargs:
            raise ValueError("proj_size argument is only supported for LSTM, not RNN or GRU")
        if len(args) > 3:
            nonlinearity = args[3]
            args = args[:3] + args[4:]
        else:
            nonlinearity = kwargs.pop("nonlinearity", "tanh")
        modes = {"tanh": "RNN_TANH", "relu": "RNN_RELU"}
        if nonlinearity not in modes:
            raise ValueError(f"Unknown nonlinearity '{nonlinearity}'. Select from 'tanh' or 'relu'.")
        super().__init__(modes[nonlinearity], *args, **kwargs)
        self.nonlinearity = nonlinearity


class GRU(_SingleState):
    """Gated recurrent units.

    r = sigmoid(W_ir x + b_ir + W_hr h + b_hr), u likewise, n = tanh(W_in x + b_in + r (W_hn h + b_hn)),
    h' = (1 - u) n + u h. Args: those of `LSTM` but proj_size.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if "proj_size" in kwargs:
            raise ValueError("proj_size argument is only supported for LSTM, not RNN or GRU")
        super().__init__("GRU", *args, **kwargs)


class LSTM(RNNBase):
    """Long short-term memory.

    i, f, o = sigmoid(W x + b + W_h h + b_h), g = tanh(...), c' = f c + i g, h' = o tanh(c').

    Args:
        input_size, hidden_size: of x and of h.
        num_layers: how many, one above the other.
        bias: whether there are any.
        batch_first: inputs are (B, T, I) instead of (T, B, I).
        dropout: between layers, in training.
        bidirectional: run backwards too, and put both outputs side by side.
        proj_size: the state is W_hr h', of this size.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__("LSTM", *args, **kwargs)

    def forward(self, input: Any, hx: Any = None) -> Any:
        """Run over a sequence.

        Args:
            input: (T, B, I), (B, T, I) if batch_first, (T, I), or a PackedSequence.
            hx: the first states and cells, each (layers * directions, B, H); by default zeros.

        Returns:
            The outputs of the last layer, and the last (states, cells) of all.
        """
        return self._run(input, hx)


# ------------------------------------------------------------------ cells


class RNNCellBase(Module):
    """One step of a recurrent network."""

    __constants__ = ["input_size", "hidden_size", "bias"]
    weight_ih: Any
    weight_hh: Any
    bias_ih: Any
    bias_hh: Any
    nonlinearity = "tanh"

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool, num_chunks: int, device: Any = None, dtype: Any = None
    ) -> None:
        super().__init__()
        self.input_size, self.hidden_size, self.bias = input_size, hidden_size, bias
        gates = num_chunks * hidden_size
        for name, shape in (("weight_ih", (gates, input_size)), ("weight_hh", (gates, hidden_size))):
            setattr(self, name, Parameter(empty(shape, device=device, dtype=dtype)))
        for name in ("bias_ih", "bias_hh"):
            self.register_parameter(name, Parameter(empty(gates, device=device, dtype=dtype)) if bias else None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        bound = 1.0 / math.sqrt(self.hidden_size) if self.hidden_size > 0 else 0
        for weight in self.parameters():
            init.uniform_(weight, -bound, bound)

    def extra_repr(self) -> str:
        s = f"{self.input_size}, {self.hidden_size}"
        if self.bias is not True:
            s += f", bias={self.bias}"
        return s if self.nonlinearity == "tanh" else s + f", nonlinearity={self.nonlinearity}"

    def _check(self, input: Any, hidden: tuple[Any, ...]) -> None:
        rows, size = input.shape
        if size != self.input_size:
            raise RuntimeError(f"input has inconsistent input_size: got {size} expected {self.input_size}")
        for i, h in enumerate(hidden):
            if len(h) != rows:
                raise RuntimeError(f"Input batch size {rows} doesn't match hidden{i} batch size {len(h)}")
            if h.shape[1] != self.hidden_size:
                raise RuntimeError(
                    f"hidden{i} has inconsistent hidden_size: got {h.shape[1]}, expected {self.hidden_size}"
                )

    def _step(self, mode: str, input: Any, hx: Any) -> tuple[Any, ...]:
        kind = type(self).__name__
        if input.dim() not in (1, 2):
            raise ValueError(f"{kind}: Expected input to be 1D or 2D, got {input.dim()}D instead")
        several = mode == "LSTM"
        if several and isinstance(hx, Tensor):
            raise TypeError("lstm_cell(): argument 'hx' (position 2) must be tuple of Tensors, not Tensor")
        hidden = () if hx is None else tuple(hx) if several else (hx,)
        for i, h in enumerate(hidden):
            if h.dim() not in (1, 2):
                word = f"hx[{i}]" if several else "hidden"
                raise ValueError(f"{kind}: Expected {word} to be 1D or 2D, got {h.dim()}D instead")
        batched = input.dim() == 2
        if not batched:
            input, hidden = input.unsqueeze(0), tuple(h.unsqueeze(0) for h in hidden)
        if hx is None:
            hidden = (zeros(input.size(0), self.hidden_size, dtype=input.dtype),) * (2 if several else 1)
        self._check(input, hidden)
        z = F.linear(input, self.weight_ih, self.bias_ih)
        out = _recurrent.step(mode, z, hidden, self.weight_hh, self.bias_hh)
        return out if batched else tuple(o.squeeze(0) for o in out)


class RNNCell(RNNCellBase):
    """One step of `RNN`."""

    __constants__ = ["input_size", "hidden_size", "bias", "nonlinearity"]

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool = True, nonlinearity: str = "tanh", device: Any = None,
        dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__(input_size, hidden_size, bias, 1, device, dtype)
        self.nonlinearity = nonlinearity

    def forward(self, input: Any, hx: Any = None) -> Any:
        if self.nonlinearity not in ("tanh", "relu"):
            raise RuntimeError(f"Unknown nonlinearity: {self.nonlinearity}")
        return self._step("RNN_" + self.nonlinearity.upper(), input, hx)[0]


class LSTMCell(RNNCellBase):
    """One step of `LSTM`."""

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool = True, device: Any = None, dtype: Any = None
    ) -> None:
        super().__init__(input_size, hidden_size, bias, 4, device, dtype)

    def forward(self, input: Any, hx: Any = None) -> Any:
        return self._step("LSTM", input, hx)


class GRUCell(RNNCellBase):
    """One step of `GRU`."""

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool = True, device: Any = None, dtype: Any = None
    ) -> None:
        super().__init__(input_size, hidden_size, bias, 3, device, dtype)

    def forward(self, input: Any, hx: Any = None) -> Any:
        return self._step("GRU", input, hx)[0]
