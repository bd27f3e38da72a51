"""Arguments that do not fit: too few, too many, of other types, arrays for tensors, out= in methods."""

import numpy as np
import torch
from torch.nn import functional as F

names = {"torch": torch, "np": np, "F": F, "x": torch.ones(2), "m": torch.ones(2, 2), "n": np.ones(2)}
names["w"] = torch.ones(2, requires_grad=True)
CALLS = """
torch.add(x) torch.add() torch.add(x,None) torch.add(x,other='x') torch.add(x,0,'x') x.add('x') x.add(None) x.add()
x.add(x,x) x.add(other=None) x.add_(None) x.add_() x.add(torch.ones(3)) x.add(x,alpha='x') x.add(x,alpha=1j)
torch.add(x,x,out=x) torch.sub(x,None) torch.subtract(x,None) x.subtract(None) torch.divide(x,'x') x.divide('x')
x.div_(None) x.divide_(None) torch.div(x,x,rounding_mode='x') x.div(rounding_mode='floor') x.addcmul_(x) x.addcmul_()
x.addcmul_(x,'x') x.addcmul_(0,x,'x') x.addcdiv_(x,x,x,x) x.matmul(1.5) x.matmul() torch.matmul(x) torch.matmul(x,1)
torch.matmul(other=x) torch.matmul(n,x) torch.matmul(x,torch.tensor(1)) torch.fmin(other=x) torch.mul(x,x,x) x.pow()
torch.eq(other=x) x.mul(1,'x') x.gt(0,0) torch.logical_and(x,None) x.eq(None) x==None x.abs(out=x) x.mul(x,out=x)
x.sum(dim=0,out=x) x.cumsum(0,out=x) x.sum(dim=0,keepdim=1) torch.exp(n) torch.mul(n,2) torch.mul(2,n) x*n
torch.sort(n) torch.where(n>0,x,x) torch.index_select(x,0,np.array([0])) x.masked_fill(n>0,0) torch.unsqueeze(n,0)
torch.transpose(m.numpy(),0,1) torch.as_tensor(n) torch.maximum(n,x) torch.sigmoid(n) torch.clamp(n,0,1)
x.addmm(foo=1) x.addcmul(foo=1) x.all((1,'a')) x.mean((1,'a')) x.as_strided((1,'a')) x.float('x') x.double(1,2)
torch.atleast_1d(1.5) torch.atleast_2d(x,'x') torch.atleast_1d([x,1]) torch.broadcast_tensors([x])
torch.block_diag([x]) torch.block_diag(x,x) torch.cartesian_prod([x]) torch.chain_matmul(2) torch.chain_matmul(x,x)
torch.meshgrid(x,2) torch.einsum('i,i',x,2) torch.nn.utils.rnn.pad_sequence([1,2]) torch.cdist(x,'x')
torch.dropout_(x) torch.special.hermite_polynomial_h(2,n=x) torch.empty(('a',)) torch.zeros([1.5]) torch.ones([[1]])
torch.empty(x,x) x.reshape((1.,)) x.expand((1.,)) torch.reshape(x,2) torch.reshape(x,'a') torch.reshape(x)
F.linear() F.linear(x) F.linear(x,None) F.linear('x',x) F.one_hot('x') F.one_hot() F.one_hot(torch.tensor([1]),'x')
F.scaled_dot_product_attention(x,x) F.scaled_dot_product_attention(m,m,m,'x') F.relu6('x') F.selu(None)
torch.arcsin(w,out=x) torch.vstack([w],out=m) torch.fix(w,out=x) torch.square(w,out=x) torch.clip(w,0,1,out=x)
torch.special.expit(w,out=x) torch.fft.irfft(w,out=x) torch.linalg.svdvals(w[None],out=x) torch.add(x,0.5,2)
F.adaptive_avg_pool2d(m,1) F.adaptive_avg_pool2d(x,1) F.batch_norm(m,x.double(),x.double()) F.group_norm(m.half(),1,x)
F.batch_norm(m.double(),x,x) F.group_norm(m.double(),1,x) F.layer_norm(m.long(),(2,),x) F.layer_norm(m,(2,),x.half())
F.conv2d(m.double(),m,x) F.conv_transpose1d(m[None],m[None].double()) F.nll_loss(x,m[0]) F.nll_loss(m.long(),x)
F.kl_div(x[0],x[0],reduction='batchmean') F.soft_margin_loss(x,m)
F.embedding(torch.tensor([1]),None) F.grid_sample(x,'x') F.interpolate('x')
""".split()
for call in CALLS:
    try:
        print(call, eval(call, names))
    except Exception as error:  # noqa: BLE001
        print(call, type(error).__name__, error)


class Once(torch.autograd.Function):
    @staticmethod
    def forward(ctx, input):
        return 2 * input

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, g):
        return 2 * g


x = names["x"].requires_grad_()
print(torch.autograd.grad(Once.apply(x).pow(2).sum(), x, create_graph=True))


def handed_on(fn, *args, **kw):
    return fn(*args, **kw)


class Refuses:
    @classmethod
    def __torch_function__(cls, fn, kinds, args=(), kw=None):
        return NotImplemented


try:
    torch.mul(Refuses(), 1)  # from here on functions are watched
except TypeError as error:
    print(str(error)[:90])
for fn, args, kw in [(torch.add, (x,), {"other": "s"}), (torch.hypot, (x, None), {}), (torch.gcd, (x,), {"other": []})]:
    for call in (lambda: handed_on(fn, *args, **kw), lambda: fn(*args, **kw)):  # noqa: B023
        try:
            call()
        except TypeError as error:
            print(error)
