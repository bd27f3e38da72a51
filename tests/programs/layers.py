"""Layers: texts, values, gradients, errors."""

# ruff: noqa
import torch

nn = torch.nn
torch.manual_seed(0)


def R(t):
    return [round(v, 4) for v in t.detach().flatten().tolist()][:8]


def go(m, *a, **k):
    print(m)
    for x in a:
        if isinstance(x, torch.Tensor) and x.is_floating_point():
            x.requires_grad_()
            x.grad = None
    o = m(*a, **k)
    o0 = o[0] if isinstance(o, tuple) else o
    if isinstance(o, tuple):
        print(
            [tuple(q.shape) if isinstance(q, torch.Tensor) else q and [tuple(s.shape) for s in q] for q in o]
        )
    print(tuple(o0.shape), R(o0))
    o0.pow(2).sum().backward()
    print(
        [
            R(x.grad)
            for x in a
            if isinstance(x, torch.Tensor) and x.is_floating_point() and x.grad is not None
        ],
        [(k, R(p.grad)) for k, p in m.named_parameters() if p.grad is not None],
    )


def try_(f):
    try:
        print(f())
    except Exception as e:
        print(type(e).__name__, e)


x1 = torch.randn(2, 4, 9)
x2 = torch.randn(2, 4, 8, 8)
x3 = torch.randn(2, 4, 5, 5, 5)
go(nn.Conv1d(4, 6, 3, padding=1), x1)
go(nn.Conv2d(4, 6, 3, stride=2, padding=1, groups=2, bias=False), x2)
go(nn.Conv3d(4, 3, 2), x3)
go(nn.Conv2d(4, 6, 3, padding="same", dilation=2), x2)
go(nn.Conv2d(4, 6, 3, padding=1, padding_mode="circular"), x2)
go(nn.Conv2d(4, 6, 3, padding=1, padding_mode="reflect"), x2)
go(nn.ConvTranspose1d(4, 3, 3, stride=2), x1)
go(nn.ConvTranspose2d(4, 6, 3, stride=2, output_padding=1), x2)
print(nn.ConvTranspose2d(4, 2, 3, 2)(x2, output_size=(18, 18)).shape)
try_(lambda: nn.ConvTranspose2d(4, 2, 3, 2)(x2, output_size=(28, 18)))
go(nn.MaxPool1d(2), x1)
go(nn.MaxPool2d(3, 2, 1), x2)
go(nn.AvgPool2d(2), x2)
go(nn.AdaptiveAvgPool2d((3, 2)), x2)
go(nn.AdaptiveMaxPool1d(3), x1)
go(nn.AvgPool1d(2), x1)
go(nn.LPPool2d(2, 2), x2)
go(nn.MaxPool2d(2, return_indices=True), x2)
p, i = nn.MaxPool2d(2, return_indices=True)(x2)
print(nn.MaxUnpool2d(2), nn.MaxUnpool2d(2)(p, i).shape)
for P in (
    nn.ZeroPad2d(1),
    nn.ConstantPad1d((1, 2), 3.0),
    nn.ReflectionPad2d((1, 2, 0, 1)),
    nn.ReplicationPad1d(2),
    nn.CircularPad2d(1),
):
    go(P, x1 if "1d" in str(P) else x2)
go(nn.Upsample(scale_factor=2), x2)
go(nn.Upsample(size=(5, 5), mode="bilinear"), x2)
go(nn.PixelShuffle(2), x2)
go(nn.PixelUnshuffle(2), x2)
go(nn.ChannelShuffle(2), x2)
go(nn.Unfold(3), x2)
go(nn.UpsamplingBilinear2d(scale_factor=2), x2)
go(nn.BatchNorm2d(4), x2)
go(nn.BatchNorm1d(4, momentum=None), x1)
b = nn.BatchNorm2d(4)
b(x2)
b(x2)
b.eval()
go(b, x2)
print(b.running_mean, b.num_batches_tracked)
go(nn.InstanceNorm2d(4, affine=True), x2)
go(nn.GroupNorm(2, 4), x2)
go(nn.LayerNorm(9), x1)
go(nn.RMSNorm(9), x1)
go(nn.LocalResponseNorm(2), x2)
for L in (nn.RNN, nn.LSTM, nn.GRU):
    s = torch.randn(5, 3, 4)
    go(L(4, 6), s)
    go(L(4, 6, 2, bidirectional=True, batch_first=True), torch.randn(3, 5, 4))
    go(L(4, 6, 2, bias=False, dropout=0.5), s)
    go(L(4, 6), torch.randn(5, 4))
    m = L(4, 6, 2, bidirectional=True)
    h = torch.randn(4, 3, 6)
    hx = (h, torch.randn(4, 3, 6)) if L is nn.LSTM else h
    o, hn = m(s, hx)
    print(R(o), R(hn[0] if L is nn.LSTM else hn))
    pk = nn.utils.rnn.pack_sequence([torch.randn(n, 4) for n in (2, 5, 3)], enforce_sorted=False)
    m.zero_grad()
    o, hn = m(pk, hx)
    print(R(o.data), R(hn[1] if L is nn.LSTM else hn), o.batch_sizes, o.sorted_indices)
    (o.data.sum() + (hn[1] if L is nn.LSTM else hn).pow(2).sum()).backward()
    print([R(q.grad) for q in m.parameters()])
    try_(lambda: m(torch.randn(5, 3, 7)))
    try_(lambda: m(torch.randn(5, 3, 4), torch.randn(1, 3, 6) if L is not nn.LSTM else (h, h[:1])))
    try_(lambda: m(torch.randn(3)))
    try_(lambda: L(4, 0))
    try_(lambda: m(torch.randn(5, 3, 4).double()))
go(nn.LSTM(4, 6, proj_size=2), torch.randn(5, 3, 4))
go(nn.RNN(4, 6, nonlinearity="relu"), torch.randn(5, 3, 4))
for C in (nn.RNNCell, nn.LSTMCell, nn.GRUCell):
    go(C(4, 6), torch.randn(3, 4))
    go(C(4, 6, bias=False), torch.randn(4))
l = nn.LSTM(3, 4)
xx = torch.randn(4, 2, 3, requires_grad=True)
(g,) = torch.autograd.grad(l(xx)[0].pow(2).sum(), xx, create_graph=True)
print(R(g))
g.pow(2).sum().backward()
print(R(xx.grad), [R(p.grad) for p in l.parameters()])
go(nn.MultiheadAttention(8, 2), *[torch.randn(5, 3, 8)] * 3)
q = torch.randn(3, 5, 8)
go(
    nn.MultiheadAttention(8, 2, batch_first=True, kdim=4, vdim=6, add_bias_kv=True),
    q,
    torch.randn(3, 7, 4),
    torch.randn(3, 7, 6),
    key_padding_mask=torch.arange(7).expand(3, 7) > 4,
)
m = nn.MultiheadAttention(8, 2, batch_first=True)
o, w = m(q, q, q, attn_mask=torch.triu(torch.ones(5, 5, dtype=torch.bool), 1), average_attn_weights=False)
print(R(o), w.shape, R(w))
go(nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0), torch.randn(5, 3, 8))
go(
    nn.TransformerEncoder(
        nn.TransformerEncoderLayer(8, 2, 16, batch_first=True, norm_first=True, activation="gelu"), 2
    ),
    q,
)
t = nn.Transformer(8, 2, 1, 1, 16, batch_first=True)
go(t, q, torch.randn(3, 4, 8), tgt_mask=nn.Transformer.generate_square_subsequent_mask(4))
t.eval()
print(R(t(q, q)))
e = nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16, batch_first=True), 2).eval()
pm = torch.arange(5).expand(3, 5) > torch.tensor([[4], [2], [3]])
with torch.no_grad():
    print(
        e(q, src_key_padding_mask=pm).shape,
        [round(v, 4) for v in e(q, src_key_padding_mask=pm)[1, :, 0].tolist()],
    )
a = nn.AdaptiveLogSoftmaxWithLoss(8, 20, [5, 10])
xi = torch.randn(6, 8)
print(a)
o = a(xi, torch.tensor([0, 7, 12, 19, 4, 10]))
print(R(o.output), o.loss)
print(a.predict(xi), R(a.log_prob(xi)))
o.loss.backward()
print([R(p.grad) for p in a.parameters()])
for L in (
    nn.LazyConv2d(3, 2),
    nn.LazyConvTranspose1d(3, 2),
    nn.LazyBatchNorm2d(),
    nn.LazyLinear(2),
    nn.LazyInstanceNorm1d(affine=True),
):
    print(L)
    L(x1 if "1d" in str(L) else x2)
    print(L, [tuple(p.shape) for p in L.parameters()])
go(nn.EmbeddingBag(5, 3), torch.tensor([[1, 2], [0, 4]]))
for f in [
    lambda: nn.Conv2d(3, 4, 3, groups=2),
    lambda: nn.Conv2d(3, 4, 3, padding="same", stride=2),
    lambda: nn.GroupNorm(3, 4),
    lambda: nn.MultiheadAttention(5, 2),
    lambda: nn.BatchNorm2d(4)(x1),
    lambda: nn.Dropout(2),
]:
    try_(f)
