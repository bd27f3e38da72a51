"""Every schedule for twenty steps, through its state halfway; averages of weights."""

# ruff: noqa
import torch, copy, warnings, pickle, math
from torch import nn
O=torch.optim; L=O.lr_scheduler
def show(name, f):
    with warnings.catch_warnings(record=True) as w:
        warnings.simplefilter('always')
        try: print(name, '->', f())
        except Exception as e: print(name, '!!', type(e).__name__, str(e)[:300])
        for x in w: print('   warn',x.category.__name__,str(x.message)[:300])
def mk(lr=.1,tensor=False,groups=2,**k):
    ps=[nn.Parameter(torch.ones(1)) for _ in range(groups)]
    return O.SGD([{'params':[p],'lr':(torch.tensor(lr*(i+1)) if tensor else lr*(i+1))} for i,p in enumerate(ps)],lr=lr,momentum=.9,**k)
S={
 'LambdaLR':[lambda o:L.LambdaLR(o,lambda e:.9**e),lambda o:L.LambdaLR(o,[lambda e:.9**e,lambda e:1/(e+1)])],
 'MultiplicativeLR':[lambda o:L.MultiplicativeLR(o,lambda e:.9)],
 'StepLR':[lambda o:L.StepLR(o,3),lambda o:L.StepLR(o,4,.5)],'MultiStepLR':[lambda o:L.MultiStepLR(o,[2,5,5,9],.3)],
 'ConstantLR':[lambda o:L.ConstantLR(o),lambda o:L.ConstantLR(o,.5,3)],'LinearLR':[lambda o:L.LinearLR(o),lambda o:L.LinearLR(o,.1,.9,7)],
 'ExponentialLR':[lambda o:L.ExponentialLR(o,.8)],'PolynomialLR':[lambda o:L.PolynomialLR(o,7,2.)],
 'CosineAnnealingLR':[lambda o:L.CosineAnnealingLR(o,6),lambda o:L.CosineAnnealingLR(o,6,.01)],
 'CosineAnnealingWarmRestarts':[lambda o:L.CosineAnnealingWarmRestarts(o,3),lambda o:L.CosineAnnealingWarmRestarts(o,3,2,.01)],
 'CyclicLR':[lambda o:L.CyclicLR(o,.01,.1,3),lambda o:L.CyclicLR(o,.01,.1,3,4,'triangular2'),lambda o:L.CyclicLR(o,.01,.1,2,mode='exp_range',gamma=.9,cycle_momentum=False),lambda o:L.CyclicLR(o,[.01,.02],[.1,.3],3,scale_fn=lambda x:1/(x+1),scale_mode='iterations')],
 'OneCycleLR':[lambda o:L.OneCycleLR(o,.5,total_steps=25),lambda o:L.OneCycleLR(o,[.5,1],epochs=5,steps_per_epoch=5,anneal_strategy='linear',three_phase=True)],
 'ChainedScheduler':[lambda o:L.ChainedScheduler([L.ConstantLR(o,.1,2),L.ExponentialLR(o,.9)])],
 'SequentialLR':[lambda o:L.SequentialLR(o,[L.LinearLR(o,.1,1,5),L.CosineAnnealingLR(o,10),L.ExponentialLR(o,.5)],[5,14])],
 'SeqPlateau':[],
}
for tensor in (False,True):
    for n,fs in S.items():
        for i,f in enumerate(fs):
            def run():
                o=mk(tensor=tensor); s=f(o); out=[]
                for e in range(20):
                    o.step(); s.step(); out.append([round(float(x),7) for x in s.get_last_lr()])
                    if 'Cyc' in n: out[-1].append(round(float(o.param_groups[0]['momentum']),6))
                    if e==9 and n not in('LambdaLR','MultiplicativeLR') and not(n=='CyclicLR' and i==3):
                        sd=s.state_dict(); 
                        if not tensor and n not in ('ChainedScheduler','SequentialLR'): print('  ',n,sorted((k,v) for k,v in sd.items() if not callable(v)))
                        o2=mk(tensor=tensor); s2=f(o2); o2.load_state_dict(o.state_dict()); s2.load_state_dict(copy.deepcopy(sd)); s=s2; o=o2
                return out
            show((n,i,tensor),run)
def plat(**k):
    o=mk(); s=L.ReduceLROnPlateau(o,**k); out=[]
    for e,m in enumerate([5,4,3,3,3,3,3,2.9999,2.99,3,4,5,5,5,5,6,7,2,1,1,1,1]):
        o.step(); s.step(m); out.append(s.get_last_lr()); 
        if e==10: sd=s.state_dict(); print(sorted((a,b) for a,b in sd.items() if not callable(b))); s2=L.ReduceLROnPlateau(o,**k); s2.load_state_dict(sd); s=s2
    return out
for k in (dict(patience=2),dict(patience=1,factor=.5,cooldown=2,min_lr=[.01,.05]),dict(mode='max',patience=2,threshold=.1,threshold_mode='abs'),dict(patience=0,eps=.02),dict(mode='max',threshold_mode='rel',patience=3)): show(k,lambda:plat(**k))
for n,f in (('p1',lambda:L.ReduceLROnPlateau(mk(),factor=1.0)),('p2',lambda:L.ReduceLROnPlateau(mk(),mode='x')),('p3',lambda:L.ReduceLROnPlateau(mk(),threshold_mode='x')),('p4',lambda:L.ReduceLROnPlateau(mk(),min_lr=[1])),('p5',lambda:L.ReduceLROnPlateau(3)),('p6',lambda:L.ReduceLROnPlateau(mk()).step()),('p7',lambda:L.ReduceLROnPlateau(mk()).step(torch.tensor(3.))),
 ('s1',lambda:L.StepLR(3,1)),('s2',lambda:L.StepLR(mk(),3,last_epoch=4)),('s3',lambda:L.LambdaLR(mk(),[lambda e:1])),('s4',lambda:L.MultiplicativeLR(mk(),[lambda e:1])),('s5',lambda:L.ConstantLR(mk(),2)),('s6',lambda:L.LinearLR(mk(),2)),('s7',lambda:L.LinearLR(mk(),.1,3)),('s8',lambda:L.LinearLR(mk(),0)),('c1',lambda:L.CosineAnnealingWarmRestarts(mk(),0)),('c2',lambda:L.CosineAnnealingWarmRestarts(mk(),3,0)),('c2b',lambda:L.CosineAnnealingWarmRestarts(mk(),3).step(-1)),('c3',lambda:L.CyclicLR(mk(),.1,.2,mode='x')),('c4',lambda:L.CyclicLR(O.Adam([nn.Parameter(torch.ones(1))]),.1,.2)),('c5',lambda:L.CyclicLR(O.Adagrad([nn.Parameter(torch.ones(1))]),.1,.2)),('c6',lambda:L.CyclicLR(mk(),[.1],[.2])),('o1',lambda:L.OneCycleLR(mk(),.1)),('o2',lambda:L.OneCycleLR(mk(),.1,total_steps=-1)),('o3',lambda:L.OneCycleLR(mk(),.1,epochs=0,steps_per_epoch=1)),('o4',lambda:L.OneCycleLR(mk(),.1,total_steps=5,pct_start=2)),('o5',lambda:L.OneCycleLR(mk(),.1,total_steps=5,anneal_strategy='x')),('o6',lambda:L.OneCycleLR(O.Adagrad([nn.Parameter(torch.ones(1))]),.1,total_steps=5)),
 ('q1',lambda:L.SequentialLR(mk(),[],[])),('q2',lambda:L.SequentialLR(mk(),[L.StepLR(mk(),1)],[])),('ch0',lambda:L.ChainedScheduler([])),('ch1',lambda:L.ChainedScheduler([L.StepLR(mk(),1),L.StepLR(mk(),1)])),
 ):
    show(n,lambda:type(f()).__name__)
def seq():
    o=mk(); a=L.StepLR(o,1); b=L.StepLR(o,2)
    return L.SequentialLR(o,[a,b],[1,2])
show('q3',seq)
def ov():
    o=mk(groups=1); s=L.OneCycleLR(o,.1,total_steps=2)
    for i in range(5): o.step(); s.step()
show('over',ov)
def warns():
    o=mk(groups=1); s=L.StepLR(o,1); s.step(); s.step()
show('order',warns)
def warns2():
    o=mk(groups=1); s=L.StepLR(o,1); o.step(); s.step(3); return s.get_last_lr(), s.last_epoch
show('epoch',warns2)
show('get_lr',lambda:L.StepLR(mk(),1).get_lr()); show('verbose',lambda:L.StepLR(mk(),1,verbose=True)); show('print',lambda:L.StepLR(mk(),1).print_lr(True,0,.1))
def resume():
    o=mk(groups=1); 
    for g in o.param_groups: g['initial_lr']=1.
    return L.ExponentialLR(o,.5,last_epoch=3).get_last_lr(), L.StepLR(o,2,last_epoch=5).base_lrs
show('resume',resume)
def initlr():
    o=mk(groups=1); L.StepLR(o,1); return o.param_groups[0]['initial_lr'], hasattr(o.step,'_wrapped_by_lr_sched')
show('init',initlr)
def seqpl():
    o=mk(groups=1); s=L.SequentialLR(o,[L.ConstantLR(o,.5,3),L.ReduceLROnPlateau(o,patience=1)],[3]); out=[]
    for i in range(8):
        o.step(); s.step(); out.append(o.param_groups[0]['lr'])
    return out
show('seqpl',seqpl)
def chpl():
    o=mk(groups=1); s=L.ChainedScheduler([L.ConstantLR(o,.5,3),L.ExponentialLR(o,.9)],optimizer=o); out=[]
    for i in range(5): o.step(); s.step(); out.append(s.get_last_lr())
    sd=s.state_dict(); return out, sorted(sd), [sorted(x) for x in sd['_schedulers']]
show('chain',chpl)
show('pickle',lambda:pickle.loads(pickle.dumps(L.StepLR(mk(),3))).step_size)
class MyS(L.LRScheduler):
    def get_lr(self): return [b*(self.last_epoch+1) for b in self.base_lrs]
o=mk(); s=MyS(o); o.step(); s.step(); print(s.get_last_lr(),s.state_dict())
# swa
from torch.optim import swa_utils as W
m=nn.Sequential(nn.Linear(2,2),nn.BatchNorm1d(2)); torch.manual_seed(0)
with torch.no_grad(): [p.copy_(torch.randn_like(p)) for p in m.parameters()]
for k in ({},dict(multi_avg_fn=W.get_ema_multi_avg_fn(.9)),dict(avg_fn=W.get_ema_avg_fn(.8)),dict(multi_avg_fn=W.get_swa_multi_avg_fn()),dict(avg_fn=W.get_swa_avg_fn(),use_buffers=True),dict(avg_fn=lambda a,b,n:a+b)):
    def run():
        a=W.AveragedModel(m,**k); torch.manual_seed(1)
        for i in range(4):
            with torch.no_grad(): [p.add_(torch.randn_like(p)) for p in m.parameters()]
            m(torch.randn(4,2)); a.update_parameters(m)
        return a.n_averaged,[p.detach().flatten()[:2].tolist() for p in a.parameters()],list(a.state_dict()),a.eval()(torch.ones(2,2)).tolist()
    show(('avg',list(k)),run)
show('both',lambda:W.AveragedModel(m,avg_fn=1,multi_avg_fn=2))
show('ema bad',lambda:W.get_ema_avg_fn(2)); show('ema bad',lambda:W.get_ema_multi_avg_fn(-1))
torch.manual_seed(0); dl=[torch.randn(5,2)*3+1,(torch.randn(5,2),1)]
show('ubn',lambda:(W.update_bn(dl,m),m[1].running_mean.tolist(),m[1].running_var.tolist(),m[1].momentum))
for k in (dict(swa_lr=.05),dict(swa_lr=[.05,.5],anneal_epochs=3),dict(swa_lr=.05,anneal_strategy='linear',anneal_epochs=4),dict(swa_lr=1,anneal_strategy='x'),dict(swa_lr=1,anneal_epochs=-1)):
    def run():
        o=mk(); s=W.SWALR(o,**k); out=[]
        for i in range(6): o.step(); s.step(); out.append([round(x,7) for x in s.get_last_lr()])
        return out
    show(('swalr',str(k)),run)
