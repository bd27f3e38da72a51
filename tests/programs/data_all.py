"""Loaders, samplers, data sets, collation: every option, every error, the order of the same seed."""

# ruff: noqa
import torch, warnings, os, time, random, sys, collections, traceback
import numpy as np
from torch.utils.data import *
from torch.utils import data as D
def show(name, f):
    with warnings.catch_warnings(record=True) as w:
        warnings.simplefilter('always')
        try: print(name, '->', f())
        except Exception as e: print(name, '!!', type(e).__name__, str(e).replace('\n','|')[-500:])
        for x in w:
            if 'use of fork()' not in str(x.message): print('   warn',x.category.__name__,str(x.message)[:300])  # Python 3.12's
class Sq(Dataset):
    def __init__(s,n=10): s.n=n
    def __len__(s): return s.n
    def __getitem__(s,i): return torch.tensor([i,i*i]), i
class It(IterableDataset):
    def __init__(s,n=10,ln=None): s.n=n; s.ln=ln
    def __iter__(s):
        w=get_worker_info(); a,b=(0,1) if w is None else (w.id,w.num_workers)
        return iter(range(a,s.n,b))
class ItL(It):
    def __len__(s): return s.ln
class Bad(Sq):
    def __getitem__(s,i):
        if i==3: raise ValueError('bad item 3')
        return i
class KeyBad(Sq):
    def __getitem__(s,i): raise KeyError('k')
class Slow(Sq):
    def __getitem__(s,i): time.sleep(5); return i
class Die(Sq):
    def __getitem__(s,i): os._exit(3)
class Rand(Sq):
    def __getitem__(s,i): return torch.rand(1).item(), random.random(), np.random.rand()
class Info(Sq):
    def __getitem__(s,i): w=get_worker_info(); return (w.id,w.num_workers,w.seed-w.id, type(w.dataset).__name__) if w else -1
class Multi(Sq):
    def __getitems__(s,idx): return [(i,'g') for i in idx]
def L(*a,**k): return lambda: [x for x in DataLoader(*a,**k)]
if __name__=='__main__':
    torch.manual_seed(0)
    for k in ({},dict(batch_size=3),dict(batch_size=3,drop_last=True),dict(shuffle=True,batch_size=4),dict(batch_size=None),dict(batch_size=4,shuffle=True,num_workers=2),dict(sampler=SequentialSampler(range(5))),dict(batch_sampler=[[0,1],[5]]),dict(batch_sampler=BatchSampler(RandomSampler(range(6)),4,False)),dict(collate_fn=lambda b:len(b),batch_size=4),dict(shuffle=True,generator=torch.Generator().manual_seed(5)),dict(num_workers=2,batch_size=3,persistent_workers=True),dict(num_workers=1,prefetch_factor=1,in_order=False),dict(pin_memory=True,batch_size=5),dict(num_workers=2,batch_size=2,multiprocessing_context='spawn' if 0 else 'fork')):
        torch.manual_seed(1); show(sorted(k),L(Sq(),**k)); print(torch.rand(1))
    for k in ({},dict(batch_size=3),dict(num_workers=2,batch_size=2),dict(batch_size=None),dict(batch_size=None,num_workers=2),dict(batch_size=3,drop_last=True,num_workers=2)): show(('it',str(k)),L(It(),**k))
    show('itlen',lambda:len(DataLoader(ItL(10,7),batch_size=2))); show('itlen drop',lambda:len(DataLoader(ItL(10,7),batch_size=2,drop_last=True))); show('ln warn',L(ItL(10,3),batch_size=2)); show('nolen',lambda:len(DataLoader(It())))
    for n,k in (('e1',dict(num_workers=-1)),('e2',dict(timeout=-1)),('e3',dict(prefetch_factor=2)),('e4',dict(num_workers=1,prefetch_factor=-1)),('e5',dict(persistent_workers=True)),('e6',dict(sampler=[0],shuffle=True)),('e7',dict(batch_sampler=[[0]],batch_size=3)),('e8',dict(batch_size=None,drop_last=True)),('e9',dict(batch_size=0)),('e10',dict(batch_size='a')),('e11',dict(multiprocessing_context='fork')),('e12',dict(num_workers=1,multiprocessing_context='x')),('e13',dict(shuffle='yes')),('e14',dict(drop_last=3,batch_size=2)),('e15',dict(batch_sampler=[[0]],shuffle=True)),('e16',dict(batch_sampler=[[0]],drop_last=True)),('e17',dict(batch_size=2.5)),('e18',dict(num_workers=1,multiprocessing_context=3)),('e19',dict(timeout=3)),('e20',dict(pin_memory_device='cuda'))):
        show(n,lambda:type(DataLoader(Sq(),**k)).__name__)
    for n,k in (('i1',dict(shuffle=True)),('i2',dict(sampler=[0])),('i3',dict(batch_sampler=[[0]]))): show(n,lambda:DataLoader(It(),**k))
    show('empty',lambda:DataLoader([],shuffle=True)); show('empty2',L([])); show('list',L([1,2,3],batch_size=2))
    # errors
    def tb(f):
        try: f()
        except Exception as e:
            s=str(e); return type(e).__name__, [l.strip() if not l.strip().startswith('File') else 'File' for l in s.split('\n')][0], s.strip().split('\n')[-1], 'Original Traceback' in s
    for nw in (0,1,2): show(('bad',nw),lambda:tb(L(Bad(),num_workers=nw,batch_size=2))); show(('kbad',nw),lambda:tb(L(KeyBad(),num_workers=nw,batch_size=2)))
    show('timeout',lambda:tb(L(Slow(),num_workers=1,timeout=1)))
    show('die',lambda:(lambda r:(r[0],r[1][:26]))(tb(L(Die(),num_workers=1))))
    show('winit',lambda:tb(L(Sq(),num_workers=1,worker_init_fn=lambda i:1/0)))
    show('init',L(Info(4),num_workers=2,collate_fn=list,worker_init_fn=lambda i:None,generator=torch.Generator().manual_seed(3)))
    torch.manual_seed(3); show('rand',L(Rand(4),num_workers=2,collate_fn=list)); show('rand0',lambda:torch.rand(1).item()); show('seed order',lambda:(torch.manual_seed(7) is None,[b.tolist() for b in DataLoader(range(12),batch_size=5,shuffle=True)],[b.tolist() for b in DataLoader(range(12),batch_size=5,shuffle=True,num_workers=1)],torch.rand(1)))
    show('itererr',lambda:tb(L(type('X',(IterableDataset,),{'__iter__':lambda s:iter([1,1/0])})(),num_workers=0)))
    dl=DataLoader(range(6),batch_size=2,num_workers=2,persistent_workers=True); show('epochs',lambda:[[x.tolist() for x in dl] for _ in range(2)])
    it=iter(dl); next(it); show('reset',lambda:[x.tolist() for x in dl]); del dl,it
    show('setattr',lambda:setattr(DataLoader([1]),'batch_size',3)); show('setattr',lambda:setattr(DataLoader([1]),'foo',3)); show('setattr',lambda:setattr(DataLoader([1]),'dataset',3)); show('mpc',lambda:DataLoader([1],num_workers=1,multiprocessing_context='fork').multiprocessing_context.get_start_method())
    show('attrs',lambda:sorted(k for k in DataLoader([1]).__dict__ if k[0]!='_'))
    show('warn workers',lambda:type(DataLoader([1],num_workers=1000)).__name__ if 0 else 0)
    # samplers
    torch.manual_seed(0)
    for n,f in (('rs',lambda:list(RandomSampler(range(5)))),('rs rep',lambda:list(RandomSampler(range(5),True,7))),('rs n',lambda:list(RandomSampler(range(5),num_samples=12))),('rs40',lambda:list(RandomSampler(range(3),True,70))[:40]),('rs e',lambda:RandomSampler(range(5),replacement=3)),('rs e2',lambda:RandomSampler(range(5),num_samples=-1)),('rs e3',lambda:RandomSampler([])),('srs',lambda:list(SubsetRandomSampler([3,5,7]))),('wrs',lambda:list(WeightedRandomSampler([.1,.9,.5],6))),('wrs n',lambda:list(WeightedRandomSampler([.1,.9,.5],2,False))),('wrs e',lambda:WeightedRandomSampler([.1],2.5)),('wrs e2',lambda:WeightedRandomSampler([[.1]],2)),('wrs e3',lambda:WeightedRandomSampler([.1],2,3)),('wrs e4',lambda:list(WeightedRandomSampler([.1],2,False))),('bs',lambda:(list(BatchSampler(range(7),3,False)),len(BatchSampler(range(7),3,True)))),('bs e',lambda:BatchSampler(range(3),0,False)),('bs e2',lambda:BatchSampler(range(3),2,3)),('bs e3',lambda:BatchSampler(range(3),True,False)),('ss',lambda:(list(SequentialSampler([4,5])),len(SequentialSampler([4,5])))),('samp',lambda:list(Sampler())),('samp ds',lambda:Sampler([1])),
       ('split',lambda:[list(s.indices) for s in random_split(range(10),[3,7])]),('split f',lambda:[len(s) for s in random_split(range(11),[.3,.3,.4])]),('split g',lambda:[list(s) for s in random_split(range(5),[2,3],generator=torch.Generator().manual_seed(2))]),('split e',lambda:random_split(range(5),[2,2])),('split e2',lambda:random_split(range(5),[.5,.6])),('split e3',lambda:random_split(range(5),[-.5,1.5])),('split z',lambda:[len(s) for s in random_split(range(1),[.5,.5])]),
       ('ds',lambda:[list(DistributedSampler(range(10),num_replicas=3,rank=r,seed=1)) for r in range(3)]),('ds2',lambda:[list(DistributedSampler(range(10),3,r,shuffle=False,drop_last=True)) for r in range(3)]),('ds e',lambda:DistributedSampler(range(3),2,2)),('ds ep',lambda:(lambda s:(s.set_epoch(3),list(s)))(DistributedSampler(range(5),2,0))),('ds none',lambda:DistributedSampler(range(3)))):
        show(n,f)
    # datasets
    t=torch.arange(6).view(3,2); td=TensorDataset(t,t[:,0]); show('td',lambda:(td[1],len(td),td[:2])); show('td e',lambda:TensorDataset(t,t[:2])); show('cat',lambda:(lambda c:(len(c),c[0],c[-1],c[4],c.cumulative_sizes))(ConcatDataset([range(3),range(10,14)]))); show('cat e',lambda:ConcatDataset([])); show('cat e2',lambda:ConcatDataset([It()])); show('cat e3',lambda:ConcatDataset([range(3)])[5]); show('cat e4',lambda:ConcatDataset([range(3)])[-5]); show('add',lambda:list(Sq(2)+Sq(1)) if 0 else len(Sq(2)+Sq(1)))
    show('chain',lambda:list(ChainDataset([It(3),It(2)]))); show('chain+',lambda:list(It(3)+It(2))); show('stack',lambda:(lambda s:(s[1],len(s),s.__getitems__([0,2])))(StackDataset(range(3),range(3,6)))); show('stackd',lambda:StackDataset(a=range(3),b=range(3,6))[2]); show('stack e',lambda:StackDataset(range(3),a=range(3))); show('stack e2',lambda:StackDataset(range(3),range(2))); show('stack e3',lambda:StackDataset()); show('sub',lambda:(Subset(range(10),[3,4])[1],len(Subset(range(9),[1])),Subset(range(10),[3,4,5])[[0,2]],Subset(Multi(),[3,4]).__getitems__([1]))); show('base',lambda:Dataset()[0]); show('multi',L(Multi(5),batch_size=2))
    # collate
    C=D.default_collate
    P=collections.namedtuple('P','x y')
    for v in ([1,2],[1.5,2],['a','b'],[b'a',b'b'],[torch.ones(2)]*2,[np.ones(2),np.ones(2)],[np.float32(1),np.float32(2)],[{'a':1,'b':'x'},{'a':2,'b':'y'}],[(1,2.),(3,4.)],[[1,2],[3,4]],[P(1,2),P(3,4)],[True,False],[np.array('a')],[np.array(1),np.array(2)],[None],[{1},{2}],[(1,),(1,2)],[torch.ones(2),torch.ones(3)],[range(3),range(3)],[np.array([1,'a'])],[object()],[{'a':1},{'b':2}],[torch.ones(2,requires_grad=True)],[np.int64(3)],[np.bool_(True)],[(torch.ones(1),{'k':[1]}),(torch.ones(1),{'k':[2]})],[collections.defaultdict(int,a=1)]*2):
        show(('col',str(v)[:30] if 'object at' not in str(v) else 'obj'),lambda:C(v))
    show('conv',lambda:D.default_convert([1,np.ones(2),{'a':np.float32(1)},(np.array('s'),'t')]))
    show('ga',lambda:DataLoader.__class_getitem__(int) is not None); show('gwi',lambda:get_worker_info())
    from torch.utils.data._utils.collate import collate, default_collate_fn_map
    show('map',lambda:sorted(getattr(k,'__name__',str(k)) for k in default_collate_fn_map if not isinstance(k,tuple))); show('cm',lambda:collate([1,2],collate_fn_map={int:lambda b,*,collate_fn_map=None:sum(b)}))
    g=torch.Generator(); g.manual_seed(1); dl=DataLoader(range(8),shuffle=True,generator=g,num_workers=1,batch_size=4); show('g',lambda:([x.tolist() for x in dl],g.initial_seed(),torch.rand(1,generator=g)))
