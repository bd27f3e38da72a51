"""torch.compile of modules: what a program finds when it looks."""

# ruff: noqa

import copy
import io
import torch
import torch.nn as nn

torch.manual_seed(0)
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc, self.n, self.drop = nn.Linear(2, 3), 0, nn.Dropout(0.5)
    def forward(self, x, scale=1.0):
        self.n += 1
        return self.drop(self.fc(x)) * scale
    def loss(self, x):
        return self(x).sum()

net = Net()
model = torch.compile(net, backend="eager")
print(type(model).__name__, isinstance(model, torch._dynamo.OptimizedModule), isinstance(model, Net), model._orig_mod is net)
print(model)
print(list(model.state_dict()), [n for n, _ in model.named_parameters()], [n for n, _ in model.named_modules()])
print(model.eval() is model, net.training, net.drop.training, model.train().training, net.drop.training)
model.eval()
print(model(torch.ones(1, 2), scale=2.0), model.n, net.n, model.loss(torch.ones(1, 2)), model.fc is net.fc)
model.extra = 3
model.fc.bias = None
print(net.extra, model.fc.bias, hasattr(model, "nope"), model._modules.keys())
try: model.nope
except AttributeError as e: print(e)
opt = torch.optim.SGD(model.parameters(), 0.1)
model(torch.ones(1, 2)).sum().backward()
opt.step()
print(net.fc.weight, [p.grad for p in model.parameters()])
unwanted_prefix, state = "_orig_mod.", model.state_dict()
for k in list(state):
    if k.startswith(unwanted_prefix):
        state[k[len(unwanted_prefix):]] = state.pop(k)
print(net.load_state_dict(state), model.load_state_dict(model.state_dict()))
print([n for n in dir(model) if n in ("fc", "n", "loss", "_orig_mod")])
del model.extra
print(hasattr(net, "extra"), getattr(torch.compile(nn.ReLU()), "_orig_mod"), nn.Sequential(model).state_dict().keys())
try: torch.compile(3)
except AssertionError as e: print(e)
h = model.register_forward_hook(lambda m, i, o: print("hook", type(m).__name__, o.shape))
net.register_forward_hook(lambda m, i, o: print("hook", type(m).__name__, o.shape))
model(torch.ones(1, 2)), h.remove(), model(torch.ones(1, 2))
twin = copy.deepcopy(net)
seq = torch.compile(nn.Sequential(nn.Linear(1, 1), nn.ReLU()), mode="reduce-overhead", backend="inductor", disable=True)
print(len(seq), seq[0], type(seq).__name__)
@torch.compile(backend="eager", dynamic=True)
def f(x): return x * 2
print(f(torch.ones(1)), f.__name__)
def weight(p): return p.sum().item()
print(weight(next(model.parameters())), sum(p.numel() for p in model.parameters() if p.requires_grad), model.double().fc.weight.dtype, model.requires_grad_(False).fc.weight.requires_grad)
net.compile()
print(net(torch.ones(1, 2).double()), list(net.state_dict()))
