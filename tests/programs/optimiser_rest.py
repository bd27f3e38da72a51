"""Optimisers: wrong arguments, groups, hooks, states, copies, dtypes."""

# ruff: noqa
import torch, copy, io, warnings
from torch import nn
O=torch.optim; import torch.optim.optimizer; import sys; OO=sys.modules["torch.optim.optimizer"]
def show(name, f):
    with warnings.catch_warnings(record=True) as w:
        warnings.simplefilter('always')
        try: print(name, '->', f())
        except Exception as e: print(name, '!!', type(e).__name__, str(e)[:300])
        for x in w: print('   warn',x.category.__name__,str(x.message)[:300])
p=nn.Parameter(torch.ones(2)); q=nn.Parameter(torch.ones(3))
# constructor errors
for n,k in (('SGD',dict(lr=-1)),('SGD',dict(momentum=-1)),('SGD',dict(weight_decay=-1)),('SGD',dict(nesterov=True)),('SGD',dict(lr=torch.ones(2))),('SGD',dict(lr=torch.tensor(.1),foreach=True)),('Adam',dict(lr=-1)),('Adam',dict(eps=-1)),('Adam',dict(betas=(1,0))),('Adam',dict(betas=(0,2))),('Adam',dict(weight_decay=-1)),('Adam',dict(lr=torch.ones(2))),('Adam',dict(lr=torch.tensor(.1),foreach=True)),('Adam',dict(betas=(torch.tensor(.9),.9))),('Adam',dict(betas=(torch.tensor(.9),torch.tensor(.9)),foreach=True)),('AdamW',dict(lr=-1)),('NAdam',dict(momentum_decay=-1)),('RAdam',dict(eps=-1)),('Adamax',dict(betas=(2,0))),('Adagrad',dict(lr_decay=-1)),('Adagrad',dict(initial_accumulator_value=-1)),('Adagrad',dict(fused=True,differentiable=True)),('Adadelta',dict(rho=2)),('RMSprop',dict(alpha=-1)),('RMSprop',dict(momentum=-1)),('Rprop',dict(etas=(2,1))),('Rprop',dict(lr=-1)),('ASGD',dict(lr=-1)),('ASGD',dict(weight_decay=-1)),('Adafactor',dict(d=.5)),('Adafactor',dict(beta2_decay=1)),('Adafactor',dict(eps=(None,-1))),('Muon',dict(lr=-1)),('Muon',dict(adjust_lr_fn='x')),('Muon',{}),('LBFGS',dict(line_search_fn='x')),('LBFGS',dict(lr=-1)),('SparseAdam',dict(lr=-1)),('SGD',dict(fused=True,differentiable=True)),('SGD',dict(fused=True,foreach=True)),('SGD',dict(foo=1))):
    show((n,k),lambda:type(getattr(O,n)([p],**k)).__name__)
for a in ([],[p,p],p,[3],[torch.ones(2,requires_grad=True)*2],['a'],{p},[{'params':p},{'params':[p]}],[{'params':[p],'lr':2},{'params':[q],'foo':3}],[{'lr':1}],[('a',p),('b',q)],[('a',p),q],[('a',p),('a',q)],iter([p]),{'params':[p]},[{'params':{p}}],[{'params':[('w',p)]}],3,None):
    show(('params',type(a).__name__),lambda:O.SGD(a,lr=.1).param_groups)
o=O.SGD([p],lr=.1)
show('add',lambda:(o.add_param_group({'params':[q],'lr':.5}),o)); show('add2',lambda:o.add_param_group({'params':[q]})); show('add3',lambda:o.add_param_group([q])); show('add4',lambda:o.add_param_group({'params':[torch.ones(1)*3]}))
print(o.state_dict(), o.defaults, o.__getstate__().keys())
show('load',lambda:o.load_state_dict({'state':{},'param_groups':[{'params':[0]}]})); show('load',lambda:o.load_state_dict({'state':{},'param_groups':[{'params':[0,1]},{'params':[0]}]})); show('load',lambda:o.load_state_dict({}))
# hooks
h=[o.register_step_pre_hook(lambda op,a,k:print('pre',type(op).__name__,a,k)),o.register_step_post_hook(lambda op,a,k:print('post')),o.register_state_dict_pre_hook(lambda op:print('sdpre')),o.register_state_dict_post_hook(lambda op,sd:{**sd,'x':1}),o.register_load_state_dict_pre_hook(lambda op,sd:print('lpre',sorted(sd))),o.register_load_state_dict_post_hook(lambda op:print('lpost')),o.register_step_post_hook(lambda op,a,k:print('post2')),o.register_state_dict_pre_hook(lambda op:print('sdpre0'),prepend=True)]
show('step',lambda:o.step()); show('sd',lambda:o.state_dict().keys()); show('ld',lambda:o.load_state_dict(o.state_dict()))
for x in h:x.remove()
g=[OO.register_optimizer_step_pre_hook(lambda op,a,k:print('gpre')),OO.register_optimizer_step_post_hook(lambda op,a,k:print('gpost'))]
o.step(); [x.remove() for x in g]; 
def badpre(op,a,k): return 3
show('closure',lambda:o.step(lambda:(p.sum()*1).detach())); show('closure2',lambda:o.step(closure=lambda:torch.is_grad_enabled()))
show('zg',lambda:(o.zero_grad(),p.grad)); p.grad=torch.ones(2); o.zero_grad(set_to_none=False); print(p.grad)
c=copy.deepcopy(o); print(c.param_groups[0]['params'][0] is p, c)
import pickle
print(pickle.loads(pickle.dumps(o)))
# state dict round trip dtype casting
m=nn.Linear(2,1).double(); a=O.Adam(m.parameters()); m(torch.ones(1,2).double()).sum().backward(); a.step(); sd=a.state_dict(); m2=nn.Linear(2,1); b=O.Adam(m2.parameters()); b.load_state_dict(sd); print({k:v.dtype for k,v in b.state[m2.weight].items()}, b.state[m2.weight]['step'], sd['state'][0]['step'] is b.state[m2.weight]['step'])
b.load_state_dict({'state':{0:{'step':5,'exp_avg':torch.zeros(1,2),'exp_avg_sq':torch.zeros(1,2)}},'param_groups':sd['param_groups']}); print(b.state[m2.weight]['step'])
m2(torch.ones(1,2)).sum().backward(); show('old step',lambda:(b.step(),b.state[m2.weight]['step']))
class My(O.Optimizer):
    def __init__(s,params,lr=OO.required if hasattr(OO,'required') else .1): super().__init__(params,{'lr':lr})
    @torch.no_grad()
    def step(s,closure=None):
        for g in s.param_groups:
            for p in g['params']:
                if p.grad is not None: p.add_(p.grad,alpha=-g['lr']); s.state[p]['n']=s.state[p].get('n',0)+1
show('my',lambda:My([p])); my=My([{'params':[p]}],.1); p.grad=torch.ones(2); my.step(); print(p,my.state_dict(),my)
show('base',lambda:O.Optimizer([p],{}).step())
with torch.no_grad(): show('setattr',lambda:my.param_groups[0].update(lr=3)); print(my)
# named parameters
n=O.AdamW(nn.Linear(2,2).named_parameters()); print(n.param_groups[0]['param_names'], n.state_dict()['param_groups'][0].keys()); n.add_param_group({'params':[('x',p)]}); show('unnamed',lambda:n.add_param_group({'params':[q]}))
# complex, half, bf16
for dt in (torch.complex64,torch.float64):
    for k in ('SGD','Adam','AdamW','RMSprop','Adagrad','Adadelta','Adamax','NAdam','RAdam','ASGD','Rprop','Adafactor'):
        def f():
            w=nn.Parameter(torch.tensor([1.,-2.,.5]).to(dt)); op=getattr(O,k)([w],lr=.1); 
            for i in range(3): op.zero_grad(); (w*w.conj()).real.sum().backward(); op.step()
            return w.tolist(),{a:(str(b.dtype)) for a,b in op.state[w].items() if isinstance(b,torch.Tensor)}
        show((k,dt),f)
# differentiable
w=torch.ones(2,requires_grad=True); 
def dfn(k):
    p=w.clone(); op=getattr(O,k)([p],lr=.1,differentiable=True); 
    for i in range(2): p.grad=None; l=(p**3).sum(); g,=torch.autograd.grad(l,p,create_graph=True); p.grad=g; op.step()
    return torch.autograd.grad(p.sum(),w)
for k in ('SGD','Adam','AdamW'): show(('diff',k),lambda:dfn(k))
# frozen, none grads, scheduler interplay, empty group
op=O.SGD([{'params':[]},{'params':[p]}],lr=.1); op.step(); print(op)
