"""The signatures of functions as PyTorch's messages write them, for the errors of calls that fit none of them.

A line a signature; further ones of the same function follow after a bar. `OPTIONS` stands for what all factories take.
Functions whose call costs less than looking at it would are not here.
"""

# ruff: noqa: E501
from __future__ import annotations

OPTIONS = (
    "Tensor out = None, torch.dtype dtype = None, torch.layout layout = None, torch.device device = None, "
    "bool pin_memory = False, bool requires_grad = False"
)

_TEXT = """
addbmm: Tensor input, Tensor batch1, Tensor batch2, *, Number beta = 1, Number alpha = 1, Tensor out = None
addmm: Tensor input, Tensor mat1, Tensor mat2, *, Number beta = 1, Number alpha = 1, Tensor out = None
  | Tensor input, Tensor mat1, Tensor mat2, torch.dtype out_dtype, *, Number beta = 1, Number alpha = 1, Tensor out = None
addmv: Tensor input, Tensor mat, Tensor vec, *, Number beta = 1, Number alpha = 1, Tensor out = None
addr: Tensor input, Tensor vec1, Tensor vec2, *, Number beta = 1, Number alpha = 1, Tensor out = None
all: Tensor input, *, Tensor out = None
  | Tensor input, tuple of ints dim = None, bool keepdim = False, *, Tensor out = None
  | Tensor input, int dim, bool keepdim = False, *, Tensor out = None
allclose: Tensor input, Tensor other, float rtol = 1e-05, float atol = 1e-08, bool equal_nan = False
amax: Tensor input, tuple of ints dim = [], bool keepdim = False, *, Tensor out = None
amin: Tensor input, tuple of ints dim = [], bool keepdim = False, *, Tensor out = None
aminmax: Tensor input, *, int dim = None, bool keepdim = False, tuple of Tensors out = None
any: Tensor input, *, Tensor out = None
  | Tensor input, tuple of ints dim = None, bool keepdim = False, *, Tensor out = None
  | Tensor input, int dim, bool keepdim = False, *, Tensor out = None
arange: Number end, *, OPTIONS
  | Number start, Number end, *, torch.dtype dtype = None, torch.layout layout = None, torch.device device = None, bool pin_memory = False, bool requires_grad = False
  | Number start, Number end, Number step = 1, *, OPTIONS
argmax: Tensor input, int dim = None, bool keepdim = False, *, Tensor out = None
argmin: Tensor input, int dim = None, bool keepdim = False, *, Tensor out = None
argsort: Tensor input, *, bool stable, int dim = -1, bool descending = False, Tensor out = None
  | Tensor input, int dim = -1, bool descending = False
baddbmm: Tensor input, Tensor batch1, Tensor batch2, *, Number beta = 1, Number alpha = 1, Tensor out = None
  | Tensor input, Tensor batch1, Tensor batch2, torch.dtype out_dtype, *, Number beta = 1, Number alpha = 1, Tensor out = None
bernoulli: Tensor input, *, torch.Generator generator = None, Tensor out = None
  | Tensor input, float p, *, torch.Generator generator = None
bincount: Tensor input, Tensor weights = None, int minlength = 0
bitwise_and: Tensor input, Tensor other, *, Tensor out = None
  | Number self, Tensor other
  | Tensor input, Number other, *, Tensor out = None
bitwise_left_shift: Tensor input, Tensor other, *, Tensor out = None
  | Number self, Tensor other
  | Tensor input, Number other, *, Tensor out = None
bitwise_or: Tensor input, Tensor other, *, Tensor out = None
  | Number self, Tensor other
  | Tensor input, Number other, *, Tensor out = None
bitwise_right_shift: Tensor input, Tensor other, *, Tensor out = None
  | Number self, Tensor other
  | Tensor input, Number other, *, Tensor out = None
bitwise_xor: Tensor input, Tensor other, *, Tensor out = None
  | Number self, Tensor other
  | Tensor input, Number other, *, Tensor out = None
broadcast_to: Tensor input, tuple of ints size
bucketize: Tensor input, Tensor boundaries, *, bool out_int32 = False, bool right = False, Tensor out = None
  | Number self, Tensor boundaries, *, bool out_int32 = False, bool right = False
cat: tuple of Tensors tensors, int dim = 0, *, Tensor out = None
chunk: Tensor input, int chunks, int dim = 0
clamp: Tensor input, Tensor min = None, Tensor max = None, *, Tensor out = None
  | Tensor input, Number min = None, Number max = None, *, Tensor out = None
clamp_max: Tensor input, Tensor max, *, Tensor out = None
  | Tensor input, Number max, *, Tensor out = None
clamp_min: Tensor input, Tensor min, *, Tensor out = None
  | Tensor input, Number min, *, Tensor out = None
copysign: Tensor input, Tensor other, *, Tensor out = None
  | Tensor input, Number other, *, Tensor out = None
count_nonzero: Tensor input, int dim = None
  | Tensor input, tuple of ints dim
cross: Tensor input, Tensor other, int dim = None, *, Tensor out = None
cummax: Tensor input, int dim, *, tuple of Tensors out = None
cummin: Tensor input, int dim, *, tuple of Tensors out = None
cumprod: Tensor input, int dim, *, torch.dtype dtype = None, Tensor out = None
cumsum: Tensor input, int dim, *, torch.dtype dtype = None, Tensor out = None
cumulative_trapezoid: Tensor y, Tensor x, *, int dim = -1
  | Tensor y, *, Number dx = 1, int dim = -1
diag: Tensor input, int diagonal = 0, *, Tensor out = None
diagonal: Tensor input, int offset = 0, int dim1 = 0, int dim2 = 1, *, Tensor out = None
diff: Tensor input, int n = 1, int dim = -1, Tensor prepend = None, Tensor append = None, *, Tensor out = None
dist: Tensor input, Tensor other, Number p = 2
dsplit: Tensor input, int sections
  | Tensor input, tuple of ints indices
flatten: Tensor input, int start_dim = 0, int end_dim = -1
flip: Tensor input, tuple of ints dims
full: tuple of ints size, Number fill_value, *, OPTIONS
gather: Tensor input, int dim, Tensor index, *, bool sparse_grad = False, Tensor out = None
hash_tensor: Tensor input, tuple of ints dim = [], *, bool keepdim = False, int mode = 0, Tensor out = None
heaviside: Tensor input, Tensor values, *, Tensor out = None
histc: Tensor input, int bins = 100, Number min = 0, Number max = 0, *, Tensor out = None
hsplit: Tensor input, int sections
  | Tensor input, tuple of ints indices
index_add: Tensor input, int dim, Tensor index, Tensor source, *, Number alpha = 1, Tensor out = None
index_copy: Tensor input, int dim, Tensor index, Tensor source, *, Tensor out = None
index_fill: Tensor input, int dim, Tensor index, Tensor value
  | Tensor input, int dim, Tensor index, Number value
index_select: Tensor input, int dim, Tensor index, *, Tensor out = None
inner: Tensor input, Tensor other, *, Tensor out = None
isclose: Tensor input, Tensor other, float rtol = 1e-05, float atol = 1e-08, bool equal_nan = False
isin: Tensor elements, Tensor test_elements, *, bool assume_unique = False, bool invert = False, Tensor out = None
  | Number element, Tensor test_elements, *, bool assume_unique = False, bool invert = False, Tensor out = None
  | Tensor elements, Number test_element, *, bool assume_unique = False, bool invert = False, Tensor out = None
kron: Tensor input, Tensor other, *, Tensor out = None
kthvalue: Tensor input, int k, int dim = -1, bool keepdim = False, *, tuple of Tensors out = None
lerp: Tensor input, Tensor end, Tensor weight, *, Tensor out = None
  | Tensor input, Tensor end, Number weight, *, Tensor out = None
linspace: Tensor start, Tensor end, int steps, *, OPTIONS
  | Number start, Tensor end, int steps, *, OPTIONS
  | Tensor start, Number end, int steps, *, OPTIONS
  | Number start, Number end, int steps, *, OPTIONS
log_softmax: Tensor input, int dim, torch.dtype dtype = None, *, Tensor out = None
logcumsumexp: Tensor input, int dim, *, Tensor out = None
logspace: Tensor start, Tensor end, int steps, float base = 10.0, *, OPTIONS
  | Number start, Tensor end, int steps, float base = 10.0, *, OPTIONS
  | Tensor start, Number end, int steps, float base = 10.0, *, OPTIONS
  | Number start, Number end, int steps, float base = 10.0, *, OPTIONS
logsumexp: Tensor input, tuple of ints dim, bool keepdim = False, *, Tensor out = None
masked_fill_: Tensor input, Tensor mask, Tensor value
  | Tensor input, Tensor mask, Number value
masked_fill: Tensor input, Tensor mask, Tensor value
  | Tensor input, Tensor mask, Number value
masked_select: Tensor input, Tensor mask, *, Tensor out = None
max: Tensor input, *, Tensor out = None
  | Tensor input, Tensor other, *, Tensor out = None
  | Tensor input, int dim, bool keepdim = False, *, tuple of Tensors out = None
mean: Tensor input, *, torch.dtype dtype = None, Tensor out = None
  | Tensor input, tuple of ints dim, bool keepdim = False, *, torch.dtype dtype = None, Tensor out = None
median: Tensor input
  | Tensor input, int dim, bool keepdim = False, *, tuple of Tensors out = None
min: Tensor input, *, Tensor out = None
  | Tensor input, Tensor other, *, Tensor out = None
  | Tensor input, int dim, bool keepdim = False, *, tuple of Tensors out = None
mode: Tensor input, int dim = -1, bool keepdim = False, *, tuple of Tensors out = None
movedim: Tensor input, int source, int destination
  | Tensor input, tuple of ints source, tuple of ints destination
multinomial: Tensor input, int num_samples, bool replacement = False, *, torch.Generator generator = None, Tensor out = None
nanmean: Tensor input, tuple of ints dim = None, bool keepdim = False, *, torch.dtype dtype = None, Tensor out = None
nanmedian: Tensor input
  | Tensor input, int dim, bool keepdim = False, *, tuple of Tensors out = None
nanquantile: Tensor input, Tensor q, int dim = None, bool keepdim = False, *, str interpolation = "linear", Tensor out = None
  | Tensor input, float q, int dim = None, bool keepdim = False, *, str interpolation = "linear", Tensor out = None
nansum: Tensor input, tuple of ints dim = None, bool keepdim = False, *, torch.dtype dtype = None, Tensor out = None
narrow: Tensor input, int dim, Tensor start, int length
  | Tensor input, int dim, int start, int length
pow: Tensor input, Tensor exponent, *, Tensor out = None
  | Number self, Tensor exponent, *, Tensor out = None
  | Tensor input, Number exponent, *, Tensor out = None
prod: Tensor input, *, torch.dtype dtype = None
  | Tensor input, int dim, bool keepdim = False, *, torch.dtype dtype = None, Tensor out = None
quantile: Tensor input, Tensor q, int dim = None, bool keepdim = False, *, str interpolation = "linear", Tensor out = None
  | Tensor input, float q, int dim = None, bool keepdim = False, *, str interpolation = "linear", Tensor out = None
rand: tuple of ints size, *, torch.Generator generator, OPTIONS
  | tuple of ints size, *, OPTIONS
randint: int high, tuple of ints size, *, torch.Generator generator, OPTIONS
  | int high, tuple of ints size, *, OPTIONS
  | int low, int high, tuple of ints size, *, torch.Generator generator, OPTIONS
  | int low, int high, tuple of ints size, *, OPTIONS
randn: tuple of ints size, *, torch.Generator generator, OPTIONS
  | tuple of ints size, *, OPTIONS
randperm: int n, *, torch.Generator generator, OPTIONS
  | int n, *, OPTIONS
remainder: Tensor input, Tensor other, *, Tensor out = None
  | Number self, Tensor other
  | Tensor input, Number other, *, Tensor out = None
renorm: Tensor input, Number p, int dim, Number maxnorm, *, Tensor out = None
roll: Tensor input, tuple of ints shifts, tuple of ints dims = []
rot90: Tensor input, int k = 1, tuple of ints dims = [0,1]
rsub: Tensor input, Tensor other, *, Number alpha = 1
  | Tensor input, Number other, Number alpha = 1
scatter: Tensor input, int dim, Tensor index, Tensor src, *, Tensor out = None
  | Tensor input, int dim, Tensor index, Tensor src, *, str reduce, Tensor out = None
  | Tensor input, int dim, Tensor index, Number value, *, Tensor out = None
  | Tensor input, int dim, Tensor index, Number value, *, str reduce, Tensor out = None
scatter_add: Tensor input, int dim, Tensor index, Tensor src, *, Tensor out = None
searchsorted: Tensor sorted_sequence, Tensor input, *, bool out_int32 = False, bool right = False, str side = None, Tensor sorter = None, Tensor out = None
  | Tensor sorted_sequence, Number self, *, bool out_int32 = False, bool right = False, str side = None, Tensor sorter = None, Tensor out = None
select_scatter: Tensor input, Tensor src, int dim, int index
slice_scatter: Tensor input, Tensor src, int dim = 0, int start = None, int end = None, int step = 1
softmax: Tensor input, int dim, torch.dtype dtype = None, *, Tensor out = None
sort: Tensor input, *, bool stable, int dim = -1, bool descending = False, tuple of Tensors out = None
  | Tensor input, int dim = -1, bool descending = False, *, tuple of Tensors out = None
stack: tuple of Tensors tensors, int dim = 0, *, Tensor out = None
std: Tensor input, tuple of ints dim, bool unbiased = True, bool keepdim = False, *, Tensor out = None
  | Tensor input, tuple of ints dim = None, *, Number correction = None, bool keepdim = False, Tensor out = None
  | Tensor input, bool unbiased = True
std_mean: Tensor input, tuple of ints dim, bool unbiased = True, bool keepdim = False
  | Tensor input, tuple of ints dim = None, *, Number correction = None, bool keepdim = False
  | Tensor input, bool unbiased = True
squeeze: Tensor input
  | Tensor input, int dim
  | Tensor input, tuple of ints dim
squeeze_: Tensor input
  | Tensor input, int dim
  | Tensor input, tuple of ints dim
sum: Tensor input, *, torch.dtype dtype = None
  | Tensor input, tuple of ints dim, bool keepdim = False, *, torch.dtype dtype = None, Tensor out = None
trapezoid: Tensor y, Tensor x, *, int dim = -1
  | Tensor y, *, Number dx = 1, int dim = -1
topk: Tensor input, int k, int dim = -1, bool largest = True, bool sorted = True, *, tuple of Tensors out = None
tril: Tensor input, int diagonal = 0, *, Tensor out = None
triu: Tensor input, int diagonal = 0, *, Tensor out = None
unbind: Tensor input, int dim = 0
var: Tensor input, tuple of ints dim, bool unbiased = True, bool keepdim = False, *, Tensor out = None
  | Tensor input, tuple of ints dim = None, *, Number correction = None, bool keepdim = False, Tensor out = None
  | Tensor input, bool unbiased = True
var_mean: Tensor input, tuple of ints dim, bool unbiased = True, bool keepdim = False
  | Tensor input, tuple of ints dim = None, *, Number correction = None, bool keepdim = False
  | Tensor input, bool unbiased = True
view: torch.dtype dtype
  | tuple of ints size
vsplit: Tensor input, int sections
  | Tensor input, tuple of ints indices
where: Tensor condition
  | Tensor condition, Tensor input, Tensor other, *, Tensor out = None
  | Tensor condition, Number self, Tensor other
  | Tensor condition, Tensor input, Number other
  | Tensor condition, Number self, Number other
"""

# Where a method's signatures are not the function's without the first argument and `out`.
METHODS = {
    "where": ("Tensor condition, Tensor other", "Tensor condition, Number other"),
    "addmm": ("Tensor mat1, Tensor mat2, *, Number beta = 1, Number alpha = 1",),
    "baddbmm": ("Tensor batch1, Tensor batch2, *, Number beta = 1, Number alpha = 1",),
    "pow": ("Tensor exponent", "Number exponent"),
    **dict.fromkeys(
        "bitwise_and bitwise_left_shift bitwise_or bitwise_right_shift bitwise_xor remainder".split(),
        ("Tensor other", "Number other"),
    ),
    "view": ("torch.dtype dtype", "tuple of ints size"),
}


def _table() -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for line in _TEXT.strip().splitlines():
        if not line.startswith("  | "):
            name, _, line = line.partition(": ")
            found[name] = ()
        found[name] += (line.removeprefix("  | ").replace("OPTIONS", OPTIONS),)
    return found


SIGNATURES = _table()
QUICK = ("squeeze", "squeeze_", "view")  # too quick to be looked at: they call for the message themselves
