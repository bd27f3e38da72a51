"""Cells and padded sequences, called wrongly too."""

import torch
from torch import zeros
from torch.nn import GRUCell, LSTMCell, RNNCell
from torch.nn.utils.rnn import pad_sequence

x, two = zeros(2, 3), zeros(2, 4)
for call in [
    lambda: GRUCell(3, 4)(zeros(2, 5)),
    lambda: LSTMCell(3, 4)(zeros(2, 5)),
    lambda: RNNCell(3, 4)(zeros(5)),
    lambda: GRUCell(3, 4)(x, zeros(2, 5)),
    lambda: GRUCell(3, 4)(x, zeros(3, 4)),
    lambda: GRUCell(3, 4)(x, zeros(1, 4)),
    lambda: GRUCell(3, 4)(zeros(2, 5), zeros(3, 5)),
    lambda: LSTMCell(3, 4)(x, (two, zeros(3, 4))),
    lambda: LSTMCell(3, 4)(x, (two, zeros(2, 5))),
    lambda: LSTMCell(3, 4)(x, (zeros(3, 5), two)),
    lambda: LSTMCell(3, 4)(zeros(3), (zeros(4), zeros(5))),
    lambda: LSTMCell(3, 4)(x, two),
    lambda: RNNCell(3, 4)(zeros(3), zeros(5)),
    lambda: pad_sequence(zeros(3)),
    lambda: pad_sequence([x, zeros(3, 4)]),
    lambda: pad_sequence([x, zeros(3, 4)], True),
    lambda: pad_sequence([x, zeros(2, 5), x]),
    lambda: pad_sequence([x, zeros(2)]),
    lambda: pad_sequence([x, zeros(3, 3, 2)]),
    lambda: pad_sequence([x, torch.ones(3, 1)]),
    lambda: pad_sequence([x, torch.arange(3)]),
    lambda: pad_sequence([torch.arange(3), torch.tensor([0.5, 1.5])]),
]:
    try:
        print(call())
    except (RuntimeError, TypeError) as error:
        print(type(error).__name__, error)
