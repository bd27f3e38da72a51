"""What a user's wrong calls say: constructors, attention masks, hidden states, functions without arguments."""

import torch
from torch import nn, zeros

attention, layer = (
    nn.MultiheadAttention(4, 2, batch_first=True),
    nn.TransformerEncoderLayer(4, 2, 8, batch_first=True),
)
decoder = nn.TransformerDecoderLayer(4, 2, 8, batch_first=True)
x, state = zeros(1, 3, 4), zeros(1, 2, 4)


def attend(**masks):
    return attention(x, x, x, **masks)


def lstm(hx):
    return nn.LSTM(3, 4)(zeros(5, 2, 3), hx)


def attempt(name, call, *args, **kw):
    try:
        call(*args, **kw)
        print(name, "fine")
    except Exception as error:  # noqa: BLE001
        print(name, type(error).__name__, error)


SHARING = """Conv1d Conv2d Conv3d ConvTranspose1d ConvTranspose2d ConvTranspose3d AvgPool2d AvgPool3d MaxPool2d MaxUnpool1d
MaxUnpool2d FractionalMaxPool2d ConstantPad1d ConstantPad2d ZeroPad2d ReflectionPad2d ReplicationPad1d CircularPad3d
ReLU SiLU SELU Mish Hardswish Hardsigmoid ELU CELU Hardshrink Softshrink Softmax LogSoftmax Softmin Linear Dropout"""
for name in SHARING.split():
    attempt(name, getattr(nn, name), unknown=1)
    attempt(name, getattr(nn, name), *[1] * 20)
for name in "Conv2d ConvTranspose1d AvgPool2d ConstantPad2d ZeroPad2d Linear Embedding".split():
    attempt(name, getattr(nn, name))
attempt("Hardtanh", nn.Hardtanh, 1)
attempt("padding of another batch", attend, key_padding_mask=zeros(2, 3))
attempt("padding of another length", attend, key_padding_mask=zeros(1, 4).bool())
attempt("padding of both", attend, key_padding_mask=zeros(2, 2).bool())
attempt("padding, one sequence", attention, x[0], x[0], x[0], key_padding_mask=zeros(2))
attempt("attention mask", attend, attn_mask=zeros(2, 3))
attempt("encoder layer", layer, x, src_key_padding_mask=zeros(2, 3))
attempt("encoder layer, evaluated", layer.eval(), x, src_key_padding_mask=zeros(2, 3))
attempt("decoder layer", decoder, x, x[:, :2], memory_key_padding_mask=zeros(1, 3))
for hx in (
    state,
    [state],
    (state,),
    (state, state, zeros(1)),
    (),
    (state[0], state[0]),
    (state, state),
    [state, state],
):
    attempt("state and cell", lstm, hx)
for name in "sum mean max min std arange clamp cumsum".split():
    attempt(name, getattr(torch, name))
attempt("einsum", torch.einsum, "ii", zeros(3, 4))
attempt("einsum", torch.einsum, "ii->i", zeros(1, 4))
attempt("einsum", torch.einsum, "ij,jk", zeros(3, 4), zeros(3, 4))
for Recurrent in (nn.RNN, nn.LSTM, nn.GRU):
    attempt(Recurrent.__name__, Recurrent(4, 3), zeros(0, 2, 4))
for shape in ((), (4,), (2, 4), (4, 4, 4)):
    attempt("CrossMapLRN2d", nn.CrossMapLRN2d(2), zeros(shape))
    attempt("RMSNorm", nn.RMSNorm([3, 4]), zeros(shape))
scores, classes = zeros(3, 4), torch.tensor([1, 0, 2])
for weight in (zeros(3), zeros(4, 1)):
    for target in (classes, scores):
        attempt("cross_entropy", nn.CrossEntropyLoss(weight), scores, target)
attempt("nll_loss", nn.NLLLoss(zeros(3)), scores[..., None, None], classes[:, None, None])
for factor in (0, -1, 1.5):
    attempt("Sequential", nn.Sequential().__mul__, factor)
    attempt("Sequential", nn.Sequential().__imul__, factor)
attempt("Module.to", nn.Linear(1, 1).to, torch.float64, copy=True)
