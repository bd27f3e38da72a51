"""Sobol sequences, tensors of indices and values (dense here), torch.functional, futures."""

# ruff: noqa
import torch
S=torch.quasirandom.SobolEngine
def show(f):
    try: print(f())
    except Exception as e: print(type(e).__name__,e)
s=S(3); print(s.draw(5),s,s.num_generated,s.fast_forward(3).draw(2),s.num_generated,s.reset().draw(1),s.draw(1),s.draw(0))
s=S(2); s.fast_forward(4); print(s.draw(2))
for d in (1,4,40):
    for seed in (0,5):
        s=S(d,scramble=True,seed=seed); print(s,s.draw(4,dtype=torch.float64),s.shift[:3])
print(S(5).draw(3,dtype=torch.float64), S(2).draw_base2(3)); show(lambda:S(0)); show(lambda:S(30000)); show(lambda:(lambda s:(s.draw(3),s.draw_base2(2)))(S(2)))
o=torch.empty(1); print(S(2).draw(2,out=o),o)
print(S(1000).draw(3)[2,::200])
print(S(3).sobolstate[:,:4])
i=torch.tensor([[0,1,1,0],[2,0,2,2]]); v=torch.tensor([3.,4,5,1],requires_grad=True)
a=torch.sparse_coo_tensor(i,v,(2,3)); print(a.detach().to_dense(), torch.sparse.mm(a,torch.ones(3,2)).detach(), torch.spmm(a,torch.ones(3,2)).detach(), torch.sparse.FloatTensor(i,v.detach(),torch.Size([2,3])).to_dense())
torch.sparse.mm(a,torch.ones(3,2)).sum().backward(); print(v.grad)
show(lambda: torch.sparse_coo_tensor(i,v[:2],(2,3))); show(lambda: torch.sparse_coo_tensor(torch.tensor([0,1]),v,(2,3))); print(torch.sparse_coo_tensor([[0,1],[1,0]],[1,2]).to_dense(),torch.sparse_coo_tensor((2,3)).to_dense(),torch.sparse_csr_tensor([0,1,3],[0,1,2],[1.,2,3]).to_dense())
print(torch.functional.einsum('ij->j',torch.ones(2,3)), torch.return_types.max is type(torch.ones(2,2).max(0)))
from torch.futures import Future, collect_all, wait_all
f=Future(); g=f.then(lambda x:x.wait()+1); f.set_result(2); print(g.wait(),f.done(),wait_all([f,g])); show(lambda:f.set_result(3))
