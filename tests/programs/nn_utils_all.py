"""nn.utils and nn.init: parametrizations, pruning, clipping, packed sequences, fusion, initial values, errors."""

# ruff: noqa
import torch, copy, pickle, warnings
from torch import nn
from torch.nn.utils import parametrize as P, prune, parametrizations as PZ, rnn, stateless
def show(n,f):
    with warnings.catch_warnings(record=True) as w:
        warnings.simplefilter('always')
        try: print(n,'->',f())
        except Exception as e: print(n,'!!',type(e).__name__,str(e)[:300])
        for x in w: print('   warn',x.category.__name__,str(x.message)[:200])
torch.manual_seed(0)
class Sym(nn.Module):
    def forward(s,x): return x.triu()+x.triu(1).T
    def right_inverse(s,x): return x.triu()
m=nn.Linear(3,3); show('reg',lambda:P.register_parametrization(m,'weight',Sym())); print(m.weight,m.parametrizations,list(m.state_dict()),type(m).__name__,P.is_parametrized(m),P.is_parametrized(m,'bias'))
show('set',lambda:setattr(m,'weight',torch.eye(3)*2) or m.weight); show('deep',lambda:torch.equal(copy.deepcopy(m).weight,m.weight)); show('pickle',lambda:pickle.dumps(m)); show('e',lambda:P.register_parametrization(m,'foo',Sym())); show('e2',lambda:P.register_parametrization(m,'bias',nn.Linear(3,4)))
with P.cached(): print(m.weight is m.weight)
show('rm',lambda:(P.remove_parametrizations(m,'weight'),type(m).__name__,m.weight)); show('rm e',lambda:P.remove_parametrizations(m,'weight')); 
for f in (lambda:PZ.weight_norm(nn.Linear(3,2)),lambda:PZ.weight_norm(nn.Conv2d(2,3,2),dim=None),lambda:PZ.spectral_norm(nn.Linear(3,2)),lambda:PZ.orthogonal(nn.Linear(3,3)),lambda:PZ.orthogonal(nn.Linear(4,2),orthogonal_map='householder'),lambda:PZ.orthogonal(nn.Linear(2,4),orthogonal_map='cayley'),lambda:nn.utils.weight_norm(nn.Linear(3,2)),lambda:nn.utils.spectral_norm(nn.Linear(3,2))):
    torch.manual_seed(1); show('pz',lambda:(lambda k:(k,k.weight.shape,list(k.state_dict()),k(torch.ones(1,k.weight.shape[1])).shape if k.weight.dim()==2 else 0))(f()))
lin=nn.Linear(4,3); torch.manual_seed(0)
for n,f in (('l1',lambda k:prune.l1_unstructured(k,'weight',.4)),('rand',lambda k:prune.random_unstructured(k,'weight',5)),('ln',lambda k:prune.ln_structured(k,'weight',.5,2,0)),('rs',lambda k:prune.random_structured(k,'weight',1,1)),('id',lambda k:prune.identity(k,'weight')),('cust',lambda k:prune.custom_from_mask(k,'bias',torch.tensor([1,0,1]))),('e',lambda k:prune.l1_unstructured(k,'weight',1.5)),('e2',lambda k:prune.l1_unstructured(k,'weight',50)),('e3',lambda k:prune.l1_unstructured(k,'foo',1)),('glob',lambda k:prune.global_unstructured([(k,'weight'),(k,'bias')],prune.L1Unstructured,amount=4))):
    k=copy.deepcopy(lin); torch.manual_seed(3); show(n,lambda:(f(k) is None,sorted(k.state_dict()),{a:b.tolist() for a,b in k.named_buffers()},prune.is_pruned(k)))
k=copy.deepcopy(lin); prune.l1_unstructured(k,'weight',2); prune.random_unstructured(k,'weight',2); show('rm',lambda:(prune.remove(k,'weight'),sorted(k.state_dict()),(k.weight==0).sum())); show('rm e',lambda:prune.remove(k,'weight'))
show('fc',lambda:torch.func.functional_call(lin,{'weight':torch.zeros(3,4)},torch.ones(1,4)).tolist()); show('fc e',lambda:torch.func.functional_call(lin,{'foo':torch.zeros(3,4)},torch.ones(1,4),strict=True)); show('st',lambda:stateless.functional_call(lin,{'bias':torch.zeros(3)},torch.ones(1,4)).shape)
ps=[nn.Parameter(torch.ones(2)),nn.Parameter(torch.ones(3))]
for p in ps: p.grad=torch.ones_like(p)*3
show('cgn',lambda:(nn.utils.clip_grad_norm_(ps,1.),ps[0].grad)); show('cgn inf',lambda:nn.utils.clip_grad_norm_(ps,1.,'inf')); show('cgv',lambda:(nn.utils.clip_grad_value_(ps,.1),ps[1].grad)); show('tot',lambda:nn.utils.get_total_norm([p.grad for p in ps])); ps[0].grad[0]=float('nan'); show('nonf',lambda:nn.utils.clip_grad_norm_(ps,1.,error_if_nonfinite=True)); show('empty',lambda:nn.utils.clip_grad_norm_([],1.)); show('gen',lambda:nn.utils.clip_grad_norm_((p for p in []),1.)); show('old',lambda:nn.utils.clip_grad_norm(ps,1.)); show('p2v',lambda:nn.utils.parameters_to_vector(ps)); show('v2p',lambda:(nn.utils.vector_to_parameters(torch.arange(5.),ps),ps[1])); show('v2p e',lambda:nn.utils.vector_to_parameters(3,ps))
s=[torch.ones(3,1),torch.ones(2,1)*2,torch.ones(1,1)*3]
show('pack',lambda:rnn.pack_sequence(s)); show('pad',lambda:rnn.pad_sequence(s,batch_first=True,padding_value=-1)); show('padl',lambda:rnn.pad_sequence(s,padding_side='left').squeeze(-1)); show('pps',lambda:rnn.pad_packed_sequence(rnn.pack_padded_sequence(rnn.pad_sequence(s),[3,2,1]),total_length=4)); show('unsorted',lambda:rnn.pack_padded_sequence(torch.ones(3,2,1),[1,3])); show('enf',lambda:rnn.pack_padded_sequence(torch.ones(3,2,1),[1,3],enforce_sorted=False)); show('zero',lambda:rnn.pack_padded_sequence(torch.ones(3,2,1),[3,0])); show('unpad',lambda:rnn.unpad_sequence(rnn.pad_sequence(s),torch.tensor([3,2,1]))); show('unpack',lambda:rnn.unpack_sequence(rnn.pack_sequence(s))); show('tot e',lambda:rnn.pad_packed_sequence(rnn.pack_sequence(s),total_length=2)); show('to',lambda:rnn.pack_sequence(s).double().data.dtype)
c=nn.Conv2d(2,3,1).eval(); b=nn.BatchNorm2d(3).eval(); b.running_mean.fill_(.3); b.running_var.fill_(2.); show('fuse',lambda:torch.allclose(nn.utils.fuse_conv_bn_eval(c,b)(torch.ones(1,2,2,2)),b(c(torch.ones(1,2,2,2))))); show('fuse e',lambda:nn.utils.fuse_conv_bn_eval(c.train(),b))
show('skip',lambda:nn.utils.skip_init(nn.Linear,2,3).weight.shape); show('skip e',lambda:nn.utils.skip_init(nn.ReLU)); show('skip e2',lambda:nn.utils.skip_init(3))
for n in ('uniform_','normal_','constant_','ones_','zeros_','eye_','dirac_','xavier_uniform_','xavier_normal_','kaiming_uniform_','kaiming_normal_','trunc_normal_','orthogonal_','sparse_'):
    torch.manual_seed(0); w=torch.empty(3,4) if n!='dirac_' else torch.empty(3,2,3); show(n,lambda:getattr(nn.init,n)(w,*(([.5] if n=='constant_' else [.3] if n=='sparse_' else []))).flatten()[:4]); show('1d',lambda:getattr(nn.init,n)(torch.empty(3),*(([.5] if n=='constant_' else [.3] if n=='sparse_' else []))).shape)
for g in ('linear','conv2d','sigmoid','tanh','relu','leaky_relu','selu','foo'): show(g,lambda:nn.init.calculate_gain(g)); 
show('gain',lambda:nn.init.calculate_gain('leaky_relu','a')); show('fan',lambda:nn.init.kaiming_normal_(torch.empty(3,4),mode='x')); show('zero',lambda:nn.init.xavier_uniform_(torch.empty(0,4)).shape); show('old',lambda:nn.init.normal(torch.empty(2)).shape); show('gen',lambda:nn.init.normal_(torch.empty(2),generator=torch.Generator().manual_seed(1)))
