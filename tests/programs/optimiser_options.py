"""Every optimiser with every kind of option, ten steps; its state, its groups, its text."""

# ruff: noqa
import torch, copy, io, itertools, warnings, sys
from torch import nn
torch.set_printoptions(precision=7)
def show(name, f):
    with warnings.catch_warnings(record=True) as w:
        warnings.simplefilter('always')
        try: print(name, '->', f())
        except Exception as e: print(name, '!!', type(e).__name__, str(e)[:300])
        for x in w: print('   warn',x.category.__name__,str(x.message)[:200])
O=torch.optim
OPT={
 'SGD':[{},dict(lr=.1,momentum=.9),dict(lr=.1,momentum=.9,dampening=.1,weight_decay=.1),dict(lr=.1,momentum=.9,nesterov=True,weight_decay=.01)],
 'Adam':[{},dict(lr=.01,amsgrad=True),dict(weight_decay=.1,betas=(.8,.9),eps=1e-3),dict(decoupled_weight_decay=True,weight_decay=.1),dict(lr=torch.tensor(.01))],
 'AdamW':[{},dict(lr=.01,amsgrad=True,weight_decay=.2)],
 'NAdam':[{},dict(weight_decay=.1,momentum_decay=.01),dict(weight_decay=.1,decoupled_weight_decay=True)],
 'RAdam':[{},dict(weight_decay=.1),dict(weight_decay=.1,decoupled_weight_decay=True)],
 'Adamax':[{},dict(weight_decay=.1,lr=.1)],'Adagrad':[{},dict(lr_decay=.1,weight_decay=.1,initial_accumulator_value=.3)],
 'Adadelta':[{},dict(rho=.8,weight_decay=.1,lr=.5)],'RMSprop':[{},dict(momentum=.9,centered=True),dict(weight_decay=.1,alpha=.9)],
 'Rprop':[{},dict(etas=(.4,1.3),step_sizes=(1e-4,.1))],'ASGD':[{},dict(t0=3,lambd=.1,alpha=.6,weight_decay=.1)],
 'Adafactor':[{},dict(lr=.1,weight_decay=.1,d=.5)],'LBFGS':[dict(line_search_fn='strong_wolfe',max_iter=4,history_size=3)],
 'Muon':[dict(),dict(lr=.1,nesterov=False,weight_decay=.1,ns_steps=3),dict(adjust_lr_fn='match_rms_adamw')],
}
EXTRA=[{},dict(maximize=True),dict(foreach=True),dict(foreach=False),dict(fused=True),dict(differentiable=True),dict(foreach=True,fused=True),dict(foreach=True,maximize=True)]
for name,opts in OPT.items():
    for o in opts:
        for ex in EXTRA:
            def run():
                torch.manual_seed(1)
                w=nn.Parameter(torch.randn(3,2)); b=nn.Parameter(torch.randn(4)) if name!='Muon' else nn.Parameter(torch.randn(2,4)); u=nn.Parameter(torch.randn(2,2)); z=nn.Parameter(torch.randn(2,2),requires_grad=False)
                op=getattr(O,name)([{'params':[w]},{'params':[b,u],'lr':.02}] if name not in('LBFGS','SparseAdam') else [w,b],**o,**ex)
                def cl():
                    op.zero_grad(); l=((w-1)**2).sum()+((b+2)**4).sum(); l=l if ex.get('maximize') is None else l*-1e-2; l.backward(); return l
                if ex.get('differentiable'):
                    w2=w.clone(); 
                for i in range(10):
                    if name=='LBFGS': op.step(cl)
                    else: cl(); op.step()
                if i==9 and ex=={}:
                    st=op.state_dict(); print('  state',{k:{kk:(tuple(vv.shape),str(vv.dtype)) if isinstance(vv,torch.Tensor) else type(vv).__name__ for kk,vv in v.items()} for k,v in st['state'].items()}); print('  groups',st['param_groups']); print('  ',repr(op))
                return w.detach().flatten().tolist(), b.detach().flatten()[:3].tolist()
            show((name,o,ex),run)
