"""assert_close: what it says of each kind of pair under each option; make_tensor of each type."""

# ruff: noqa
import torch, warnings, numpy as np
from torch.testing import assert_close, make_tensor
def show(n,f):
    try: print(n,'->',f())
    except Exception as e: print(n,'!!',type(e).__name__,str(e)[:500])
t=torch.tensor
C=[(1,1),(1,2),(1.,1.0001),(t([1.,2]),t([1.,2.1])),(t([1.,2]),t([1.,2.1,3])),(t([1.]),t([1],dtype=torch.int64)),(t([1.]),t([1.],dtype=torch.float64)),(t([float('nan')]),t([float('nan')])),(t(1.),t(2.)),([1,t([2.])],[1,t([3.])]),({'a':t([1.])},{'a':t([2.])}),({'a':1},{'b':1}),([1],[1,2]),('a','a'),(None,None),(None,t([1.])),(np.ones(2),np.ones(2)),(np.ones(2),t([1.,1])),(t([True,False]),t([True,True])),(t([1,2]),t([1,5])),(t([1+1j]),t([1+2j])),(t([1e10]),t([1e10+1])),(torch.ones(2,3),torch.ones(2,3)*2),(t([float('inf')]),t([1.])),((1,2),[1,2]),(torch.ones(2,2),torch.ones(2,2).t()),(1,t(1)),(3+4j,3+5j),(True,False),(t([]),t([])),(t([1.]).half(),t([1.1]).half())]
for i,(a,b) in enumerate(C):
    for k in ({},dict(rtol=.5,atol=.5),dict(equal_nan=True),dict(check_dtype=False),dict(check_stride=True),dict(allow_subclasses=False),dict(msg='hey'),dict(msg=lambda m:'X '+m[:20]),dict(rtol=.1)): show((i,list(k)),lambda: assert_close(a,b,**k))
for d in (torch.float32,torch.float64,torch.int32,torch.int64,torch.uint8,torch.bool,torch.complex64,torch.float16,torch.bfloat16):
    torch.manual_seed(0); show(d,lambda:make_tensor((2,3),dtype=d,device='cpu')); show(d,lambda:make_tensor(3,dtype=d,device='cpu',low=1,high=5)); show(d,lambda:make_tensor(2,2,dtype=d,device='cpu',noncontiguous=True,exclude_zero=True).is_contiguous())
show('e',lambda:make_tensor(3,dtype=torch.float32,device='cpu',low=5,high=1)); show('e',lambda:make_tensor(3,dtype=torch.int32,device='cpu',requires_grad=True)); show('e',lambda:make_tensor(3,dtype=torch.uint8,device='cpu',low=-5,high=300)); show('rg',lambda:make_tensor(2,dtype=torch.float32,device='cpu',requires_grad=True).requires_grad); show('mf',lambda:make_tensor((1,2,3,3),dtype=torch.float32,device='cpu',memory_format=torch.channels_last).stride()); show('e',lambda:make_tensor(3,dtype=torch.float32,device='cpu',low=float('nan'))); show('assert_allclose',lambda:torch.testing.assert_allclose(t([1.]),t([1.])) )
