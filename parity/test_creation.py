"""Creation and conversion, expression by expression."""

from __future__ import annotations

import pytest

from .agree import agree
from .bridge import Side

EXPRESSIONS = """
torch.tensor(1)
torch.tensor(1.5)
torch.tensor(True)
torch.tensor(2 + 3j)
torch.tensor([])
torch.tensor([[], []])
torch.tensor([1, 2, 3])
torch.tensor([1, 2.5, 3])
torch.tensor([True, 2])
torch.tensor([1, 2j])
torch.tensor([[1, 2], [3, 4]], dtype=torch.float64)
torch.tensor([1.7, -1.7], dtype=torch.int64)
torch.tensor([0, 1, 2], dtype=torch.bool)
torch.tensor([1.5], dtype=torch.float16)
torch.tensor([1.5, 3e38], dtype=torch.bfloat16)
torch.tensor(np.arange(6).reshape(2, 3))
torch.tensor(np.arange(6).reshape(2, 3).T)
torch.tensor(np.float32(1.5))
torch.tensor(np.array(2.5))
torch.tensor([np.array([1, 2]), np.array([3, 4])])
torch.tensor([torch.tensor(1), torch.tensor(2)])
torch.tensor([torch.tensor(1.5), 2])
torch.tensor(range(4))
torch.tensor((1, 2, (3)))
torch.tensor([1.0, 2.0], requires_grad=True)
torch.tensor([1.0, float("nan"), float("inf")])
torch.tensor([2**40])
torch.tensor(2**40, dtype=torch.int32)
torch.tensor([[1, 2], [3]])
torch.tensor([1, [2]])
torch.tensor("a")
torch.tensor(["a"])
torch.tensor(None)
torch.tensor([None])
torch.tensor([1, 2], requires_grad=True)
torch.tensor([300], dtype=torch.uint8)
torch.tensor([-1], dtype=torch.uint8)
torch.tensor(1, dtype="float32")
torch.tensor(1, 2)
torch.tensor()
torch.tensor({1: 2})
torch.tensor([1.0], dtype=torch.float32, device="cpu")
torch.tensor([1.0]).device.type
torch.as_tensor([1, 2, 3])
torch.as_tensor(np.ones((2, 2)))
torch.as_tensor(torch.ones(2), dtype=torch.float64)
torch.as_tensor(1.5, dtype=torch.float64)
torch.asarray([1, 2])
torch.asarray(np.ones(2), dtype=torch.float32)
torch.asarray(1.5)
torch.from_numpy(np.arange(4.0))
torch.from_numpy(np.arange(4.0)[::2])
torch.from_numpy(np.arange(4.0)[::-1])
torch.from_numpy(np.array(3.0))
torch.from_numpy(np.array([True, False]))
torch.from_numpy(np.array(["a"]))
torch.from_numpy([1, 2])
torch.from_numpy(np.float64(2))
torch.from_numpy(np.arange(3, dtype=np.uint16))
torch.from_numpy(np.arange(3, dtype=">f8"))
torch.zeros(2, 3)
torch.zeros((2, 3))
torch.zeros([2, 3])
torch.zeros(())
torch.zeros(0)
torch.zeros(2, dtype=torch.int64)
torch.zeros(torch.Size([2, 2]))
torch.zeros(2, requires_grad=True)
torch.zeros(-1)
torch.zeros(2.5)
torch.zeros("a")
torch.zeros(2, dtype=torch.int64, requires_grad=True)
torch.ones(3, 1)
torch.ones(2, dtype=torch.bool)
torch.ones(2, dtype=torch.complex64)
torch.full((2, 2), 7)
torch.full((2,), 1.5)
torch.full((2,), True)
torch.full((), 2j)
torch.full((2,), 7, dtype=torch.float16)
torch.full([1], torch.tensor(3.0))
torch.full(2, 3)
torch.eye(3)
torch.eye(2, 3)
torch.eye(3, 2, dtype=torch.int64)
torch.eye(0)
torch.eye(-1)
torch.arange(5)
torch.arange(5.0)
torch.arange(1, 4)
torch.arange(1, 2.5, 0.5)
torch.arange(5, 0, -2)
torch.arange(0, 1, 0.1)
torch.arange(0, 1, 0.1, dtype=torch.float64)
torch.arange(3, dtype=torch.float16)
torch.arange(0)
torch.arange(5, 1)
torch.arange(0, 5, 0)
torch.arange(0, 5, -1)
torch.arange(0.0, float("nan"))
torch.arange(torch.tensor(3))
torch.arange(True)
torch.linspace(0, 1, 5)
torch.linspace(0, 1, 1)
torch.linspace(0, 1, 0)
torch.linspace(1, 10, 4, dtype=torch.int64)
torch.linspace(-2.5, 2.5, 7, dtype=torch.float64)
torch.linspace(0, 1j, 3)
torch.linspace(0, 1, -1)
torch.linspace(0, 1)
torch.linspace(3, -3, 11)
torch.logspace(0, 2, 5)
torch.logspace(0, 2, 3, base=2)
torch.logspace(-1, 1, 4, dtype=torch.float64)
torch.logspace(0, 1, -2)
torch.range(0, 3)
torch.empty(2, 3).shape
torch.empty(2, 3, dtype=torch.int8).dtype
torch.empty((2, 3)).stride()
torch.empty_strided((2, 3), (1, 2)).stride()
torch.zeros_like(torch.ones(2, 3, dtype=torch.int32))
torch.zeros_like(torch.ones(2, 3).t())
torch.ones_like(torch.zeros(2, 3), dtype=torch.float64)
torch.ones_like(torch.zeros(4, 2)[::2])
torch.zeros_like(torch.ones(3).expand(2, 3))
torch.zeros_like(torch.ones(2, 3, 4).permute(2, 0, 1))
torch.full_like(torch.zeros(2), 3)
torch.full_like(torch.zeros(2, dtype=torch.int64), 3)
torch.zeros_like(torch.ones(2, requires_grad=True))
torch.zeros_like(torch.ones(2), requires_grad=True)
torch.zeros_like([1, 2])
torch.ones(2).new_zeros(3)
torch.ones(2, dtype=torch.float64).new_ones((2, 2))
torch.ones(2).new_full((2,), 5)
torch.ones(2).new_tensor([1, 2])
torch.ones(2, dtype=torch.int64).new_tensor([1.5, 2])
torch.ones(2).new_empty((2, 3)).shape
torch.tril_indices(3, 3)
torch.tril_indices(4, 3, -1)
torch.triu_indices(3, 4, 1)
torch.triu_indices(3, 3, dtype=torch.int32)
torch.meshgrid(torch.arange(2), torch.arange(3), indexing="ij")
torch.meshgrid(torch.arange(2), torch.arange(3), indexing="xy")
torch.meshgrid([torch.arange(2), torch.tensor(5)], indexing="ij")
torch.meshgrid(torch.ones(2, 2), torch.arange(3), indexing="ij")
torch.meshgrid(torch.arange(2), indexing="zz")
torch.cartesian_prod(torch.arange(2), torch.arange(3))
torch.combinations(torch.arange(4), 2)
torch.complex(torch.ones(2), torch.zeros(2))
torch.complex(torch.ones(2), torch.zeros(2, dtype=torch.float64))
torch.scalar_tensor(3)
torch.scalar_tensor(3, dtype=torch.int32)
torch.Tensor(2, 3).shape
torch.Tensor([1, 2])
torch.Tensor().shape
torch.FloatTensor([1, 2])
torch.LongTensor([1, 2])
torch.DoubleTensor([1, 2])
torch.BoolTensor([1, 0])
torch.ones(2).tolist()
torch.tensor(2.5).item()
torch.tensor([[3]]).item()
torch.tensor(3).item()
torch.tensor(True).item()
torch.tensor(1j).item()
torch.tensor([1, 2]).item()
torch.tensor([]).item()
torch.tensor([[1, 2], [3, 4]]).tolist()
torch.tensor(5).tolist()
torch.tensor([], dtype=torch.int64).tolist()
float(torch.tensor(2.5))
int(torch.tensor(2.7))
complex(torch.tensor(2.5))
bool(torch.tensor(0.0))
bool(torch.tensor([1.0]))
bool(torch.tensor([1.0, 2.0]))
bool(torch.tensor([]))
float(torch.tensor([1.0, 2.0]))
int(torch.tensor(float("nan")))
int(torch.tensor(float("inf")))
float(torch.tensor(1j))
[10, 20, 30][torch.tensor(1)]
[10, 20, 30][torch.tensor(1.0)]
len(torch.ones(3, 2))
len(torch.tensor(1))
[t.item() for t in torch.arange(3)]
list(torch.tensor(1))
1 in torch.tensor([1, 2])
5 in torch.tensor([1, 2])
"a" in torch.tensor([1, 2])
torch.ones(2, 3).numel()
torch.ones(2, 3).size()
torch.ones(2, 3).size(1)
torch.ones(2, 3).size(-1)
torch.ones(2, 3).size(2)
torch.ones(2, 3).dim()
torch.ones(2, 3).t().is_contiguous()
torch.ones(2, 3).stride(0)
torch.ones(2, 3).element_size()
torch.ones(2, 3, dtype=torch.float64).nbytes
torch.ones(4)[1:].storage_offset()
torch.ones(2, 3).t().contiguous().stride()
torch.ones(1, 3, 4, 4).to(memory_format=torch.channels_last).stride()
torch.ones(2, 3).to(torch.float64)
torch.ones(2, 3).to(torch.ones(1, dtype=torch.int32))
torch.ones(2, 3).to("cpu")
torch.ones(2, 3).to("cpu", torch.float64)
torch.ones(2, 3).to(torch.float32) is None
torch.ones(2).type(torch.int64)
torch.ones(2).type("torch.DoubleTensor")
torch.ones(2).type()
torch.ones(2, dtype=torch.int64).type()
torch.ones(2).double().half().int().bool().long().short().char().byte().float()
torch.tensor([1.9, -1.9, 300.0]).to(torch.int32)
torch.tensor([1e10]).to(torch.int64)
torch.tensor([3, 0]).bool()
torch.tensor([1 + 2j]).real
torch.tensor([1 + 2j]).imag
torch.ones(2).imag
torch.ones(2).is_floating_point()
torch.ones(2, dtype=torch.int64).is_floating_point()
torch.ones(2, dtype=torch.complex64).is_complex()
torch.ones(2, dtype=torch.int8).is_signed()
torch.is_tensor(torch.ones(1))
torch.is_tensor(1)
torch.is_floating_point(torch.ones(1))
torch.numel(torch.ones(2, 2))
torch.ones(2).numpy()
torch.ones(2, requires_grad=True).numpy()
torch.ones(2, requires_grad=True).detach().numpy()
torch.ones(2, requires_grad=True).numpy(force=True)
np.asarray(torch.arange(3))
np.array(torch.ones(2, requires_grad=True))
np.asarray(torch.ones(2), dtype=np.float64)
torch.ones(2, dtype=torch.bfloat16).numpy()
torch.finfo(torch.float32).eps
torch.finfo(torch.float16).max
torch.finfo(torch.bfloat16).tiny
torch.finfo(torch.float64).min
torch.finfo(torch.float32).bits
torch.finfo(torch.float32).resolution
torch.finfo(torch.float32).smallest_normal
torch.finfo().dtype
torch.finfo(torch.int64)
torch.finfo(torch.complex64).dtype
torch.iinfo(torch.int32).max
torch.iinfo(torch.uint8).min
torch.iinfo(torch.int16).bits
torch.iinfo(torch.float32)
repr(torch.finfo(torch.float32))
repr(torch.iinfo(torch.int8))
torch.float32.is_floating_point
torch.complex64.is_complex
torch.int8.is_signed
torch.uint8.is_signed
torch.float64.itemsize
torch.complex128.to_real()
torch.float64.to_complex()
torch.float is torch.float32
torch.get_default_dtype()
torch.set_default_dtype(torch.int64)
torch.Size([2, 3])
torch.Size([2, 3]).numel()
torch.Size([2, 3])[0]
torch.Size([2, 3])[:1]
torch.Size([2]) + torch.Size([3])
torch.Size([2]) + (3,)
torch.Size((2, 3)) == (2, 3)
repr(torch.Size([2, 3]))
torch.Size([2.5])
torch.device("cpu")
repr(torch.device("cpu"))
torch.device("cpu", 0).index
torch.device("cpu:1").index
torch.device("nonsense")
torch.device("cpu") == torch.device("cpu")
torch.clone(torch.ones(2, 3).t())
torch.ones(2, 3).t().clone()
torch.ones(2, 3)[:, ::2].clone()
torch.ones(2, 3)[:, 1:].contiguous()
torch.empty(0).sum()
torch.ones(2, 3).T
torch.arange(3).T
torch.ones(2, 3, 4).mT
torch.arange(6).view(2, 3)
torch.arange(6).view(2, -1)
torch.arange(6).view(4, -1)
torch.arange(6).view(-1, -1)
torch.arange(6).view(7)
torch.arange(6.0).view(torch.int32)
torch.arange(6).view(2, 3).t().view(6)
torch.arange(6).reshape(5)
torch.arange(6).reshape(2, 3).t().reshape(6)
torch.arange(6).resize_(2, 2)
torch.ones(2, 3).is_same_size(torch.ones(2, 3))
torch.ones(2).dtype
torch.ones(2).layout
torch.ones(2).is_cuda
torch.ones(2).requires_grad
torch.ones(2).is_leaf
torch.ones(2).grad
torch.ones(2).data
torch.ones(2).itemsize
torch.ones(2, 3).ndim
torch.ones(2, 3).shape
pickle.loads(pickle.dumps(torch.arange(6).view(2, 3).t()))
pickle.loads(pickle.dumps(torch.ones(2, requires_grad=True)))
pickle.loads(pickle.dumps(torch.float32)) is None
pickle.loads(pickle.dumps(torch.Size([1, 2])))
pickle.dumps(torch.ones(2, requires_grad=True) * 2) is None
__import__("copy").deepcopy(torch.arange(6).view(2, 3).t())
__import__("copy").deepcopy(torch.ones(2, requires_grad=True) * 2)
__import__("copy").copy(torch.ones(2, requires_grad=True))
hash(torch.float32) == hash(torch.float)
torch.equal(torch.ones(2), torch.ones(2))
torch.ones(2).tolist() == [1.0, 1.0]
""".strip().splitlines()

PROGRAMS = """
torch.set_default_dtype(torch.float64)
try:
    r = [torch.tensor([1.5]), torch.ones(2), torch.arange(0, 1, 0.5), torch.tensor(1j), torch.ones(1) * 2.5]
    r.append(torch.arange(3) / 2)
finally:
    torch.set_default_dtype(torch.float32)
r
---
a = np.arange(4.0)
t = torch.from_numpy(a)
a[0] = 10
t[1] = 20
[t, a, t.numpy() is a, np.shares_memory(t.numpy(), a)]
---
a = np.arange(4.0)
t = torch.tensor(a)
a[0] = 10
t
---
a = np.arange(4.0)
t = torch.as_tensor(a)
a[0] = 10
t
---
t = torch.arange(3.0)
n = t.numpy()
t.add_(1)
[n, t]
---
t = torch.arange(6.0).reshape(2, 3).t()
n = t.numpy()
[n.strides, n.flags.c_contiguous]
---
x = torch.ones(2)
same = [torch.as_tensor(x), torch.tensor(x), x.to(torch.float32), x.cpu(), x.float(), x.double(), x.contiguous()]
[s is x for s in (*same, x.type(torch.float32))]
---
x = torch.arange(3.0, requires_grad=True)
y = np.sin(x) if False else torch.sin(x)
[y, y.requires_grad]
---
x = torch.arange(3.0)
d = torch.from_dlpack(x)
d[0] = 5
[x, d]
---
n = np.from_dlpack(torch.arange(3))
n
---
torch.asarray(np.ones(2), copy=True)
---
a = np.arange(3.0)
a.setflags(write=False)
torch.from_numpy(a)
---
torch.frombuffer(bytearray(b"abcd"), dtype=torch.uint8)
---
x = torch.arange(3.0)
[x.dtype == torch.float32, x.dtype is torch.float32, x.dtype != torch.float64, str(x.dtype), repr(x.dtype)]
""".strip().split("\n---\n")


@pytest.mark.parametrize("text", EXPRESSIONS + PROGRAMS)
def test_creation(side: Side, text: str) -> None:
    agree(side, text)
