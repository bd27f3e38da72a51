"""Slips of everyday programs: what is not a tensor, what cannot be saved or read, and how results show their history."""

# ruff: noqa
import io, pickle, warnings
import numpy as np
import torch, torch.nn as nn, torch.nn.functional as F
from torch.nn.utils import rnn
from torch.utils.data import DataLoader, Subset, TensorDataset

torch.manual_seed(0)
x, a = torch.randn(2, 3), np.ones((2, 3))
def told(f):
    try: print(f())
    except Exception as e: print(type(e).__name__, str(e).replace(hex(id(here)), "0x"))
here = lambda: 1
for f in (lambda: nn.Linear(3, 1)(a), lambda: F.linear(a, x), lambda: nn.Conv2d(1, 1, 1)(a), lambda: F.dropout(a),
          lambda: nn.ReLU()(None), lambda: nn.Sigmoid()(None), lambda: nn.GRU(3, 2)(), lambda: nn.Conv1d(1, 1, 1)(x, x, x),
          lambda: nn.MaxPool2d(2)(foo=x), lambda: nn.ConvTranspose2d(1, 1, 1)(), lambda: nn.AdaptiveAvgPool2d(1)(), lambda: nn.LPPool1d(1, 2)(), lambda: nn.MaxUnpool2d(2)()):
    told(f)
for name in ("SGD", "Adam", "AdamW", "RMSprop", "Adagrad", "Adadelta", "LBFGS", "SparseAdam", "Adafactor", "Rprop", "NAdam"):
    told(lambda: getattr(torch.optim, name)([x], lr="x"))
data = TensorDataset(x, torch.arange(2))
told(lambda: list(DataLoader(data, 2, sampler=[20, 1])))
told(lambda: list(DataLoader(Subset(data, [0, -5]), 2)))
told(lambda: torch.save({"f": here}, io.BytesIO()))
told(lambda: torch.load(io.BytesIO(b"hello world")))
told(lambda: torch.load(io.BytesIO(b"hello world"), weights_only=False))
told(lambda: torch.distributions.TransformedDistribution(torch.distributions.Normal(0.0, 1.0), [3]))
with warnings.catch_warnings(record=True) as heard:
    warnings.simplefilter("always")
    nn.LazyLinear(2)(x), nn.LazyConv1d(1, 1)(x)
print([str(w.message) for w in heard])
sequences = [torch.ones(3, 2).requires_grad_(), torch.ones(1, 2)]
for cls in (nn.LSTM, nn.GRU, nn.RNN):
    torch.manual_seed(0)
    packed = rnn.pack_sequence(sequences)
    out, h = cls(2, 3, batch_first=True)(packed)
    print(packed, out, h, rnn.pad_packed_sequence(out)[0], rnn.pad_packed_sequence(out, batch_first=True)[0], rnn.pad_sequence(sequences), sep="\n")
    print(cls(2, 2, batch_first=True)(torch.ones(1, 2, 2))[0], cls(2, 2)(torch.ones(1, 1, 2)), sep="\n")
o = torch.optim.LBFGS([p := nn.Parameter(torch.ones(2))], max_iter=3, history_size=2)
def closure():
    o.zero_grad(); l = (p ** 4).sum(); l.backward(); return l
o.step(closure)
print(o.state_dict()["state"][0]["al"])
s = torch.optim.lr_scheduler.CyclicLR(torch.optim.SGD([p], lr=0.1), 0.1, 1.0, cycle_momentum=False)
print(s.state_dict())
for args, more in (((), {}), ((None,), {}), (("",), {}), (("cpu", -2), {}), (("cpu:01",), {}), (("cpu:0", 1), {}), (("cpu", 1, 2), {}), ((), {"device": "cpu"}), (("cpu",), {"foo": 1}), (("cpu", "a"), {}), ((["cpu"],), {}), ((torch.device("cpu"), 1), {}), ((-1,), {})):
    told(lambda: torch.device(*args, **more))
for f in (lambda: torch.ones(2).to("mps"), lambda: torch.ones(2, device="xpu"), lambda: torch.autocast("foo"), lambda: torch.set_deterministic_debug_mode(None), lambda: torch.use_deterministic_algorithms("x"),
          lambda: torch.compile(here, backend="foo"), lambda: torch.compile(here, mode="zz"), lambda: torch.compile(here, mode="default", options={}),
          lambda: nn.LazyLinear(2).weight.numel(), lambda: nn.LazyLinear(2).weight + 1, lambda: torch.testing.assert_allclose(torch.ones(1), torch.tensor([2.0]))):
    told(f)
