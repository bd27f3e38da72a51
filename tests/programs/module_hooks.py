"""Hooks of modules of all kinds, and what loading a state says."""

# ruff: noqa
import torch, copy, pickle, io
from torch import nn
torch.manual_seed(0)
def show(name, f):
    try: print(name, '->', f())
    except Exception as e: print(name, '!!', type(e).__name__, e)
class M(nn.Module):
    def __init__(self):
        super().__init__(); self.l=nn.Linear(2,3); self.register_buffer('b',torch.ones(3))
    def forward(self,x,*,scale=1.0,flag=False):
        if flag: raise ValueError('boom')
        return self.l(x)*scale+self.b
def F(name, ret=None):
    def h(*a, **k):
        print('  hook',name,len(a),[type(q).__name__ for q in a],k)
        return ret(*a) if ret else None
    return h
m=M(); x=torch.randn(4,2,requires_grad=True)
h1=m.register_forward_pre_hook(F('pre'))
h2=m.register_forward_pre_hook(F('prekw',lambda mod,args,kw:((args[0]*2,),{**kw,'scale':3.0})),with_kwargs=True)
h3=m.register_forward_hook(F('fwd'))
h4=m.register_forward_hook(F('fwdkw',lambda mod,args,kw,out:out+1),with_kwargs=True)
h5=m.register_forward_hook(F('always'),always_call=True)
h6=m.register_forward_pre_hook(F('prepend'),prepend=True)
h7=m.register_forward_hook(F('fprepend'),prepend=True)
print(m(x,scale=2.0).sum())
show('flag',lambda:m(x,flag=True))
for h in(h1,h2,h3,h4,h5,h6,h7):h.remove()
def bad(mod,a,o): raise RuntimeError('hook err')
g=m.register_forward_hook(bad,always_call=True)
show('flag2',lambda:m(x,flag=True)); show('x',lambda:m(x)); g.remove()
# pre hooks returning
for r in (1,[1],(x,),x,(),None):
    h=m.register_forward_pre_hook(lambda mod,a,r=r:r); show(('pre',type(r)),lambda:m(x).shape); h.remove()
for r in (1,(1,2),((x,),{}),((x,),3),(x,{}),None, [ (x,), {} ]):
    h=m.register_forward_pre_hook(lambda mod,a,k,r=r:r,with_kwargs=True); show(('prekw',type(r)),lambda:m(x).shape); h.remove()
# backward
def bw(mod,gi,go):
    print('  bw',[None if t is None else tuple(t.shape) for t in gi],[None if t is None else tuple(t.shape) for t in go])
def bw2(mod,gi,go): bw(mod,gi,go); return tuple(t*2 if t is not None else None for t in gi)
def bp(mod,go): print('  bpre',[tuple(t.shape) for t in go]); return tuple(t*3 for t in go)
hb=m.register_full_backward_hook(bw2); hp=m.register_full_backward_pre_hook(bp); hp2=m.register_full_backward_pre_hook(lambda mod,go:print('first'),prepend=True)
y=m(x); print(type(y.grad_fn).__name__); y.sum().backward(); print(x.grad, m.l.weight.grad)
show('legacy',lambda:m.register_backward_hook(bw))
hb.remove();hp.remove();hp2.remove()
m=M()
hl=m.register_backward_hook(bw); m(x).sum().backward(); show('full after', lambda:m.register_full_backward_hook(bw)); hl.remove()
m=M()
hb=m.register_full_backward_hook(bw); m(x.detach()).sum().backward()
show('view',lambda:m(x).add_(1).sum().backward()); 
def inpl(mod,i,o): return None
for r in (1,(1,),(x,),(None,),None,(torch.ones(4,2),torch.ones(1))):
    h=m.register_full_backward_hook(lambda mod,gi,go,r=r:r); show(('bwret',type(r)),lambda:m(x).sum().backward()); h.remove()
for r in (1,(1,),(x,),(None,),None,(torch.ones(4,3),torch.ones(1)),torch.ones(4,3)):
    h=m.register_full_backward_pre_hook(lambda mod,go,r=r:r); show(('bpret',type(r)),lambda:m(x).sum().backward()); h.remove()
hb.remove()
# dict/list outputs
class D(nn.Module):
    def forward(self,a,d): return {'o':a*d['k'],'n':3}
d=D(); hh=d.register_full_backward_hook(bw)
import warnings
with warnings.catch_warnings(record=True) as w:
    warnings.simplefilter('always'); o=d(x,{'k':x}); o['o'].sum().backward(); print([str(q.message) for q in w])
class T2(nn.Module):
    def forward(self,a,b): return a*2,[b*3]
d=T2(); d.register_full_backward_hook(bw); o=d(x,torch.ones(2)); o[0].sum().backward()
d=nn.Identity(); d.register_full_backward_hook(bw); d(x).sum().backward()
# global hooks
import torch.nn.modules.module as gm
G=[gm.register_module_forward_pre_hook(lambda mod,i:print('  gpre',type(mod).__name__)),
 gm.register_module_forward_hook(lambda mod,i,o:print('  gfwd',type(mod).__name__)),
 gm.register_module_full_backward_hook(lambda mod,gi,go:print('  gbw',type(mod).__name__,len(gi),len(go))),
 gm.register_module_full_backward_pre_hook(lambda mod,go:print('  gbpre',type(mod).__name__)),
 gm.register_module_buffer_registration_hook(lambda mod,n,b:print('  gbuf',n)),
 gm.register_module_parameter_registration_hook(lambda mod,n,b:print('  gpar',n)),
 gm.register_module_module_registration_hook(lambda mod,n,b:print('  gmod',n,type(b).__name__))]
mm=nn.Sequential(nn.Linear(2,2),nn.BatchNorm1d(2)); mm(x).sum().backward()
gm.register_module_forward_hook(lambda mod,i,o:print('   galways'),always_call=True)
show('err',lambda:m(x,flag=True))
show('legacy g',lambda:gm.register_module_backward_hook(bw))
for h in G:h.remove()
gm._global_forward_hooks.clear(); 
# state dict hooks
m=M()
class Ext(M):
    def get_extra_state(self): return {'v':1}
    def set_extra_state(self,s): print('  extra',s)
e=Ext()
k1=e._register_state_dict_hook(lambda mod,sd,prefix,meta:print('  sdhook',list(sd),repr(prefix),meta))
k2=e.register_state_dict_post_hook(lambda mod,sd,prefix,meta:print('  sdpost',prefix))
k3=e.register_state_dict_pre_hook(lambda mod,prefix,keep:print('  sdpre',prefix,keep))
k4=e.register_load_state_dict_pre_hook(lambda mod,sd,prefix,meta,strict,miss,unexp,err:print('  lpre',type(mod).__name__,prefix,meta,strict,miss,unexp,err))
k5=e.register_load_state_dict_post_hook(lambda mod,inc:print('  lpost',inc))
k6=e._register_load_state_dict_pre_hook(lambda sd,prefix,*a:print('  lpre_',prefix,len(a)))
p=nn.Sequential(e); sd=p.state_dict(prefix='q.'); print(sd, sd._metadata)
show('load',lambda:p.load_state_dict(p.state_dict()))
sd=p.state_dict(); del sd['0.l.bias']; sd['zz']=torch.ones(1); sd['0.l.weight']=torch.ones(7,7)
show('load2',lambda:p.load_state_dict(sd)); show('load3',lambda:p.load_state_dict({k:v for k,v in sd.items() if k!='0.l.weight'},strict=False))
sd=p.state_dict(); sd['0._extra_state']=None; sd['0.b']=3; show('l4',lambda:p.load_state_dict(sd))
sd=p.state_dict(); del sd['0._extra_state']; show('l5',lambda:p.load_state_dict(sd))
show('post ret',lambda:(e.register_load_state_dict_post_hook(lambda mod,inc:3),p.load_state_dict(p.state_dict())))
show('state positional', lambda: list(nn.Linear(1,1).state_dict({}, 'pre.', True)))
show('keep',lambda:nn.Linear(1,1).state_dict(keep_vars=True)['weight'].requires_grad)
k2=e.register_state_dict_post_hook(lambda mod,sd,prefix,meta:sd); show('postret',lambda:p.state_dict())
lin=nn.Linear(2,2); sd={'weight':torch.zeros(2,2),'bias':torch.zeros(2,dtype=torch.float64)}
show('assign',lambda:(lin.load_state_dict(sd,assign=True),lin.weight.requires_grad,lin.bias.dtype,lin.weight is sd['weight'],lin.weight.data_ptr()==sd['weight'].data_ptr()))
show('conv0d',lambda:nn.Conv1d(1,1,1).load_state_dict({'weight':torch.ones(1),'bias':torch.tensor(1.)}))
class Bb(nn.Module):
    def __init__(s): super().__init__(); s.p=nn.Parameter(torch.tensor(0.)); 
bb=Bb(); show('1to0',lambda:(bb.load_state_dict({'p':torch.tensor([2.])}),bb.p))
class S(nn.Module):
    def get_extra_state(self): raise RuntimeError('x')
show('xs',lambda:S().state_dict())
class S2(nn.Module):
    def set_extra_state(self,s): print('set',s)
show('xs2',lambda:S2().load_state_dict({'_extra_state':3}))
show('xs3',lambda:nn.Linear(1,1).get_extra_state()); show('xs4',lambda:nn.Linear(1,1).set_extra_state(1))
