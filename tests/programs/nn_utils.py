"""Clipping, parameters as vectors, parametrisations, packed sequences."""

# ruff: noqa
import torch
import torch.nn.utils as U
import torch.nn.utils.parametrizations as PP
import torch.nn.utils.parametrize as P
import torch.nn.utils.rnn as R

nn = torch.nn
torch.manual_seed(0)


def try_(f):
    try:
        print(f())
    except Exception as e:
        print(type(e).__name__, e)


ps = [nn.Parameter(torch.randn(3, 4)), nn.Parameter(torch.randn(5))]
for nt in (2, 1, float("inf"), 3):
    for p in ps:
        p.grad = torch.randn(p.shape)
    print(U.clip_grad_norm_(ps, 1.0, nt), ps[1].grad)
U.clip_grad_value_(ps, 0.05)
print(ps[0].grad)
v = U.parameters_to_vector(ps)
print(v.shape, v.grad_fn is not None)
U.vector_to_parameters(torch.arange(17.0), ps)
print(ps)
ps[0].grad.fill_(float("nan"))
try_(lambda: U.clip_grad_norm_(ps, 1.0, error_if_nonfinite=True))
l = PP.weight_norm(nn.Linear(3, 2))
print(l, list(l.state_dict()))
x = torch.randn(2, 3)
l(x).sum().backward()
print(l(x), l.parametrizations.weight.original0.grad)
P.remove_parametrizations(l, "weight")
print(l, l.weight)
l = U.weight_norm(nn.Linear(3, 2))
print(list(l.state_dict()), l(x))
U.remove_weight_norm(l)
print(l.weight)
l = PP.spectral_norm(nn.Linear(3, 2))
print(l(x), l)
l(x).sum().backward()
l.eval()
print(l(x), l.state_dict())
l = U.spectral_norm(nn.Linear(3, 2))
print(l(x), list(l.state_dict()))
l(x).sum().backward()


class Sym(nn.Module):
    def forward(self, X):
        return X.triu() + X.triu(1).mT

    def right_inverse(self, A):
        return A.triu()


l = nn.Linear(3, 3)
P.register_parametrization(l, "weight", Sym())
print(l.weight, P.is_parametrized(l), type(l).__name__)
l.weight = torch.eye(3) * 2
print(l.weight)
try_(lambda: P.register_parametrization(l, "foo", Sym()))


class Bad(nn.Module):
    def forward(self, X):
        return X[:1]


try_(lambda: P.register_parametrization(nn.Linear(3, 3), "weight", Bad()))
with P.cached():
    print(l.weight is l.weight)
seqs = [torch.arange(3.0), torch.arange(5.0), torch.arange(1.0)]
print(R.pad_sequence(seqs), R.pad_sequence(seqs, True, -1, "left"))
pk = R.pack_sequence(seqs, enforce_sorted=False)
print(pk)
print(R.pad_packed_sequence(pk, batch_first=True), R.unpack_sequence(pk))
try_(lambda: R.pack_sequence(seqs))
try_(lambda: R.pack_padded_sequence(torch.zeros(3, 2), [3, 0]))
try_(lambda: R.pack_padded_sequence(torch.zeros(3, 2), [3]))
y = torch.randn(4, 2, 3, requires_grad=True)
pk = R.pack_padded_sequence(y, [4, 2])
print(pk.batch_sizes, pk.data.shape)
(pk.data * 2).sum().backward()
print(y.grad[:, :, 0])
print(R.pad_packed_sequence(pk, total_length=5)[0].shape, R.pad_packed_sequence(pk)[1])
try_(lambda: R.pad_packed_sequence(pk, total_length=2))
