"""The signatures of functions as PyTorch's messages write them, for the errors of calls that fit none of them.

A line a signature, after the names of the functions that have it; further ones of the same functions follow after a bar.
A name! has an in-place variant, name_, of the same signatures without out=.
"""

# ruff: noqa: E501
from __future__ import annotations

import re
from typing import Any

OUT = "Tensor out = None"
OPTIONS = (
    f"{OUT}, torch.dtype dtype = None, torch.layout layout = None, torch.device device = None, "
    "bool pin_memory = False, bool requires_grad = False"
)
_WORDS = {
    "OPTIONS": OPTIONS,
    "PLACE": OPTIONS.partition(", ")[2],
    "OUTS": "tuple of Tensors out = None",
    "OUT": OUT,
    "GENERATOR": "torch.Generator generator",
}

_TEXT = """
abs! absolute acos! acosh! angle arccos! arccosh! arcsin! arcsinh! arctan! arctanh! asin! asinh! atan! atanh! bitwise_not ceil! conj_physical! cos! cosh! deg2rad! digamma erf! erfc! erfinv exp! exp2! expm1! fix! floor! frac! i0! inverse isneginf isposinf lgamma log! log10! log1p! log2! logical_not msort neg! negative! rad2deg! reciprocal! rsqrt! sgn sigmoid! sign signbit sin! sinc! sinh! sqrt! square tan! tanh! trunc!: Tensor input, *, OUT
adjoint argwhere conj corrcoef det detach! fliplr flipud get_device imag is_complex is_conj is_floating_point is_inference is_nonzero is_signed isfinite isinf isnan isreal logdet matrix_exp numel positive ravel real relu! resolve_conj selu! t trace view_as_complex view_as_real zero_: Tensor input
adaptive_avg_pool1d adaptive_max_pool1d: Tensor input, tuple of ints output_size
add sub: Tensor input, Tensor other, *, Number alpha = 1, OUT
addcdiv addcmul: Tensor input, Tensor tensor1, Tensor tensor2, *, Number value = 1, OUT
all any: Tensor input, *, OUT
  | Tensor input, tuple of ints dim = None, bool keepdim = False, *, OUT
  | Tensor input, int dim, bool keepdim = False, *, OUT
allclose isclose: Tensor input, Tensor other, float rtol = 1e-05, float atol = 1e-08, bool equal_nan = False
alpha_dropout! dropout! feature_alpha_dropout! feature_dropout!: Tensor input, float p, bool train
amax amin: Tensor input, tuple of ints dim = [], bool keepdim = False, *, OUT
arctan2 atan2 fmax fmin gcd! hypot igamma igammac inner kron lcm! ldexp! logaddexp logaddexp2 logical_and logical_or logical_xor matmul maximum minimum mul nextafter vdot: Tensor input, Tensor other, *, OUT
argmax argmin: Tensor input, int dim = None, bool keepdim = False, *, OUT
as_strided!: Tensor input, tuple of ints size, tuple of ints stride, int storage_offset = None
bartlett_window blackman_window hann_window: int window_length, *, PLACE
  | int window_length, bool periodic, *, PLACE
bitwise_and bitwise_left_shift bitwise_or bitwise_right_shift bitwise_xor remainder: Tensor input, Tensor other, *, OUT
  | Number self, Tensor other
  | Tensor input, Number other, *, OUT
bmm mm: Tensor input, Tensor mat2, *, OUT
  | Tensor input, Tensor mat2, torch.dtype out_dtype, *, OUT
cat concat concatenate stack: tuple of Tensors tensors, int dim = 0, *, OUT
celu!: Tensor input, Number alpha = 1.0
cholesky cholesky_inverse: Tensor input, bool upper = False, *, OUT
clamp! clip!: Tensor input, Tensor min = None, Tensor max = None, *, OUT
  | Tensor input, Number min = None, Number max = None, *, OUT
column_stack dstack hstack row_stack vstack: tuple of Tensors tensors, *, OUT
conv1d conv2d conv3d: Tensor input, Tensor weight, Tensor bias = None, tuple of ints stride = 1, tuple of ints padding = 0, tuple of ints dilation = 1, int groups = 1
  | Tensor input, Tensor weight, Tensor bias = None, tuple of ints stride = 1, str padding = "valid", tuple of ints dilation = 1, int groups = 1
copysign eq fmod ge greater greater_equal gt le less less_equal lt ne not_equal: Tensor input, Tensor other, *, OUT
  | Tensor input, Number other, *, OUT
cosine_embedding_loss margin_ranking_loss: Tensor input1, Tensor input2, Tensor target, float margin = 0.0, int reduction = 1
cummax cummin: Tensor input, int dim, *, OUTS
cumprod cumsum: Tensor input, int dim, *, torch.dtype dtype = None, OUT
cumulative_trapezoid trapezoid: Tensor y, Tensor x, *, int dim = -1
  | Tensor y, *, Number dx = 1, int dim = -1
diag tril triu: Tensor input, int diagonal = 0, *, OUT
dsplit hsplit vsplit: Tensor input, int sections
  | Tensor input, tuple of ints indices
empty ones zeros: tuple of ints size, *, OPTIONS
empty_like ones_like zeros_like: Tensor input, *, PLACE, torch.memory_format memory_format = None
equal is_same_size: Tensor input, Tensor other
fill!: Tensor input, Tensor value
  | Tensor input, Number value
flip permute tile: Tensor input, tuple of ints dims
float_power pow: Tensor input, Tensor exponent, *, OUT
  | Number self, Tensor exponent, *, OUT
  | Tensor input, Number exponent, *, OUT
floor_divide multiply true_divide: Tensor input, Tensor other, *, OUT
  | Tensor input, Number other
frexp slogdet: Tensor input, *, OUTS
ger outer: Tensor input, Tensor vec2, *, OUT
index_put!: Tensor input, tuple of Tensors indices, Tensor values, bool accumulate = False
log_softmax softmax: Tensor input, int dim, torch.dtype dtype = None, *, OUT
masked_fill!: Tensor input, Tensor mask, Tensor value
  | Tensor input, Tensor mask, Number value
max min: Tensor input, *, OUT
  | Tensor input, Tensor other, *, OUT
  | Tensor input, int dim, bool keepdim = False, *, OUTS
median nanmedian: Tensor input
  | Tensor input, int dim, bool keepdim = False, *, OUTS
moveaxis movedim: Tensor input, int source, int destination
  | Tensor input, tuple of ints source, tuple of ints destination
nanmean nansum: Tensor input, tuple of ints dim = None, bool keepdim = False, *, torch.dtype dtype = None, OUT
nanquantile quantile: Tensor input, Tensor q, int dim = None, bool keepdim = False, *, str interpolation = "linear", OUT
  | Tensor input, float q, int dim = None, bool keepdim = False, *, str interpolation = "linear", OUT
rand randn: tuple of ints size, *, GENERATOR, OPTIONS
  | tuple of ints size, *, OPTIONS
rand_like randn_like: Tensor input, *, GENERATOR, torch.memory_format memory_format = None, PLACE
  | Tensor input, *, torch.memory_format memory_format = None, PLACE
rrelu!: Tensor input, Number lower = 0.125, Number upper = 0.3333333333333333, bool training = False, GENERATOR = None
squeeze!: Tensor input
  | Tensor input, int dim
  | Tensor input, tuple of ints dim
std var: Tensor input, tuple of ints dim, bool unbiased = True, bool keepdim = False, *, OUT
  | Tensor input, tuple of ints dim = None, *, Number correction = None, bool keepdim = False, OUT
  | Tensor input, bool unbiased = True
std_mean var_mean: Tensor input, tuple of ints dim, bool unbiased = True, bool keepdim = False
  | Tensor input, tuple of ints dim = None, *, Number correction = None, bool keepdim = False
  | Tensor input, bool unbiased = True
swapdims transpose: Tensor input, int dim0, int dim1
tril_indices triu_indices: int row, int col, int offset = 0, *, PLACE
addbmm: Tensor input, Tensor batch1, Tensor batch2, *, Number beta = 1, Number alpha = 1, OUT
addmm: Tensor input, Tensor mat1, Tensor mat2, *, Number beta = 1, Number alpha = 1, OUT
  | Tensor input, Tensor mat1, Tensor mat2, torch.dtype out_dtype, *, Number beta = 1, Number alpha = 1, OUT
addmv!: Tensor input, Tensor mat, Tensor vec, *, Number beta = 1, Number alpha = 1, OUT
addr: Tensor input, Tensor vec1, Tensor vec2, *, Number beta = 1, Number alpha = 1, OUT
aminmax: Tensor input, *, int dim = None, bool keepdim = False, OUTS
arange: Number end, *, OPTIONS
  | Number start, Number end, *, PLACE
  | Number start, Number end, Number step = 1, *, OPTIONS
argsort: Tensor input, *, bool stable, int dim = -1, bool descending = False, OUT
  | Tensor input, int dim = -1, bool descending = False
as_tensor: object data, *, torch.dtype dtype = None, torch.device device = None
avg_pool1d: Tensor input, tuple of ints kernel_size, tuple of ints stride = [], tuple of ints padding = [0], bool ceil_mode = False, bool count_include_pad = True
avg_pool2d avg_pool3d: Tensor input, tuple of ints kernel_size, tuple of ints stride = None, tuple of ints padding = 0, bool ceil_mode = False, bool count_include_pad = True, int divisor_override = None, *, OUT
baddbmm: Tensor input, Tensor batch1, Tensor batch2, *, Number beta = 1, Number alpha = 1, OUT
  | Tensor input, Tensor batch1, Tensor batch2, torch.dtype out_dtype, *, Number beta = 1, Number alpha = 1, OUT
batch_norm: Tensor input, Tensor weight, Tensor bias, Tensor running_mean, Tensor running_var, bool training, float momentum, float eps, bool cudnn_enabled
bernoulli: Tensor input, *, GENERATOR = None, OUT
  | Tensor input, float p, *, GENERATOR = None
bilinear: Tensor input1, Tensor input2, Tensor weight, Tensor bias = None
binary_cross_entropy_with_logits: Tensor input, Tensor target, Tensor weight = None, Tensor pos_weight = None, int reduction = 1
bincount: Tensor input, Tensor weights = None, int minlength = 0
binomial: Tensor count, Tensor prob, GENERATOR = None
broadcast_to: Tensor input, tuple of ints size
bucketize: Tensor input, Tensor boundaries, *, bool out_int32 = False, bool right = False, OUT
  | Number self, Tensor boundaries, *, bool out_int32 = False, bool right = False
cdist: Tensor x1, Tensor x2, float p = 2, object compute_mode = None
channel_shuffle: Tensor input, int groups
cholesky_solve: Tensor input, Tensor input2, bool upper = False, *, OUT
chunk: Tensor input, int chunks, int dim = 0
clamp_max!: Tensor input, Tensor max, *, OUT
  | Tensor input, Number max, *, OUT
clamp_min!: Tensor input, Tensor min, *, OUT
  | Tensor input, Number min, *, OUT
clone: Tensor input, *, torch.memory_format memory_format = None
combinations: Tensor input, int r = 2, bool with_replacement = False
complex: Tensor real, Tensor imag, *, OUT
conv_transpose1d: Tensor input, Tensor weight, Tensor bias = None, tuple of ints stride = [1], tuple of ints padding = [0], tuple of ints output_padding = [0], int groups = 1, tuple of ints dilation = [1]
conv_transpose2d: Tensor input, Tensor weight, Tensor bias = None, tuple of ints stride = [1,1], tuple of ints padding = [0,0], tuple of ints output_padding = [0,0], int groups = 1, tuple of ints dilation = [1,1]
conv_transpose3d: Tensor input, Tensor weight, Tensor bias = None, tuple of ints stride = [1,1,1], tuple of ints padding = [0,0,0], tuple of ints output_padding = [0,0,0], int groups = 1, tuple of ints dilation = [1,1,1]
cosine_similarity: Tensor x1, Tensor x2, int dim = 1, float eps = 1e-08
count_nonzero: Tensor input, int dim = None
  | Tensor input, tuple of ints dim
cov: Tensor input, *, int correction = 1, Tensor fweights = None, Tensor aweights = None
cross: Tensor input, Tensor other, int dim = None, *, OUT
ctc_loss: Tensor log_probs, Tensor targets, tuple of ints input_lengths, tuple of ints target_lengths, int blank = 0, int reduction = at::Reduction::Mean, bool zero_infinity = False
  | Tensor log_probs, Tensor targets, Tensor input_lengths, Tensor target_lengths, int blank = 0, int reduction = at::Reduction::Mean, bool zero_infinity = False
device: torch.device device
  | str type, int index = -1
diag_embed: Tensor input, int offset = 0, int dim1 = -2, int dim2 = -1
diagflat: Tensor input, int offset = 0
diagonal: Tensor input, int offset = 0, int dim1 = 0, int dim2 = 1
diagonal_scatter: Tensor input, Tensor src, int offset = 0, int dim1 = 0, int dim2 = 1
diff: Tensor input, int n = 1, int dim = -1, Tensor prepend = None, Tensor append = None, *, OUT
dist: Tensor input, Tensor other, Number p = 2
div: Tensor input, Tensor other, *, OUT
  | Tensor input, Tensor other, *, str rounding_mode, OUT
  | Tensor input, Number other, *, str rounding_mode
divide: Tensor input, Tensor other, *, OUT
  | Tensor input, Tensor other, *, str rounding_mode, OUT
  | Tensor input, Number other
  | Tensor input, Number other, *, str rounding_mode
dot: Tensor input, Tensor tensor, *, OUT
embedding: Tensor weight, Tensor indices, int padding_idx = -1, bool scale_grad_by_freq = False, bool sparse = False
embedding_bag: Tensor weight, Tensor indices, Tensor offsets, bool scale_grad_by_freq, int mode, bool sparse, Tensor per_sample_weights, bool include_last_offset, int padding_idx
  | Tensor weight, Tensor indices, Tensor offsets, bool scale_grad_by_freq = False, int mode = 0, bool sparse = False, Tensor per_sample_weights = None, bool include_last_offset = False
empty_strided: tuple of ints size, tuple of ints stride, *, PLACE
eye: int n, *, OPTIONS
  | int n, int m, *, OPTIONS
flatten: Tensor input, int start_dim = 0, int end_dim = -1
full: tuple of ints size, Number fill_value, *, OPTIONS
full_like: Tensor input, Number fill_value, *, PLACE, torch.memory_format memory_format = None
gather: Tensor input, int dim, Tensor index, *, bool sparse_grad = False, OUT
gradient: Tensor input, *, tuple of ints dim, int edge_order = 1
  | Tensor input, *, Number spacing, tuple of ints dim, int edge_order = 1
  | Tensor input, *, Number spacing = None, int dim = None, int edge_order = 1
  | Tensor input, *, tuple of Scalars spacing, int dim = None, int edge_order = 1
  | Tensor input, *, tuple of Scalars spacing, tuple of ints dim, int edge_order = 1
  | Tensor input, *, tuple of Tensors spacing, int dim = None, int edge_order = 1
  | Tensor input, *, tuple of Tensors spacing, tuple of ints dim, int edge_order = 1
group_norm: Tensor input, int num_groups, Tensor weight = None, Tensor bias = None, float eps = 1e-05, bool cudnn_enabled = True
hamming_window: int window_length, *, PLACE
  | int window_length, bool periodic, *, PLACE
  | int window_length, bool periodic, float alpha, *, PLACE
  | int window_length, bool periodic, float alpha, float beta, *, PLACE
hardshrink: Tensor input, Number lambd = 0.5, *, OUT
hash_tensor: Tensor input, tuple of ints dim = [], *, bool keepdim = False, int mode = 0, OUT
heaviside: Tensor input, Tensor values, *, OUT
hinge_embedding_loss: Tensor input, Tensor target, float margin = 1.0, int reduction = 1
histc: Tensor input, int bins = 100, Number min = 0, Number max = 0, *, OUT
histogram: Tensor input, Tensor bins, *, Tensor weight = None, bool density = False, OUTS
  | Tensor input, int bins = 100, *, tuple of floats range = None, Tensor weight = None, bool density = False, OUTS
index_add: Tensor input, int dim, Tensor index, Tensor source, *, Number alpha = 1, OUT
index_copy: Tensor input, int dim, Tensor index, Tensor source, *, OUT
index_fill: Tensor input, int dim, Tensor index, Tensor value
  | Tensor input, int dim, Tensor index, Number value
index_reduce: Tensor input, int dim, Tensor index, Tensor source, str reduce, *, bool include_self = True, OUT
index_select: Tensor input, int dim, Tensor index, *, OUT
instance_norm: Tensor input, Tensor weight, Tensor bias, Tensor running_mean, Tensor running_var, bool use_input_stats, float momentum, float eps, bool cudnn_enabled
isin: Tensor elements, Tensor test_elements, *, bool assume_unique = False, bool invert = False, OUT
  | Number element, Tensor test_elements, *, bool assume_unique = False, bool invert = False, OUT
  | Tensor elements, Number test_element, *, bool assume_unique = False, bool invert = False, OUT
istft: Tensor input, int n_fft, int hop_length = None, int win_length = None, Tensor window = None, bool center = True, bool normalized = False, bool onesided = None, int length = None, bool return_complex = False
kaiser_window: int window_length, *, PLACE
  | int window_length, bool periodic, *, PLACE
  | int window_length, bool periodic, float beta, *, PLACE
kl_div: Tensor input, Tensor target, int reduction = 1, *, bool log_target = False
kthvalue: Tensor input, int k, int dim = -1, bool keepdim = False, *, OUTS
layer_norm: Tensor input, tuple of ints normalized_shape, Tensor weight = None, Tensor bias = None, float eps = 1e-05, bool cudnn_enable = True
lerp: Tensor input, Tensor end, Tensor weight, *, OUT
  | Tensor input, Tensor end, Number weight, *, OUT
linspace: Tensor start, Tensor end, int steps, *, OPTIONS
  | Number start, Tensor end, int steps, *, OPTIONS
  | Tensor start, Number end, int steps, *, OPTIONS
  | Number start, Number end, int steps, *, OPTIONS
linear: Tensor input, Tensor weight, Tensor bias = None
logcumsumexp: Tensor input, int dim, *, OUT
logit!: Tensor input, float eps = None, *, OUT
logspace: Tensor start, Tensor end, int steps, float base = 10.0, *, OPTIONS
  | Number start, Tensor end, int steps, float base = 10.0, *, OPTIONS
  | Tensor start, Number end, int steps, float base = 10.0, *, OPTIONS
  | Number start, Number end, int steps, float base = 10.0, *, OPTIONS
logsumexp: Tensor input, tuple of ints dim, bool keepdim = False, *, OUT
lu_solve: Tensor input, Tensor LU_data, Tensor LU_pivots, *, OUT
lu_unpack: Tensor LU_data, Tensor LU_pivots, bool unpack_data = True, bool unpack_pivots = True, *, OUTS
masked_scatter: Tensor input, Tensor mask, Tensor source
masked_select: Tensor input, Tensor mask, *, OUT
matrix_power: Tensor input, int n, *, OUT
max_pool1d: Tensor input, tuple of ints kernel_size, tuple of ints stride = [], tuple of ints padding = [0], tuple of ints dilation = [1], bool ceil_mode = False
max_pool2d: Tensor input, tuple of ints kernel_size, tuple of ints stride = [], tuple of ints padding = [0,0], tuple of ints dilation = [1,1], bool ceil_mode = False
max_pool3d: Tensor input, tuple of ints kernel_size, tuple of ints stride = [], tuple of ints padding = [0,0,0], tuple of ints dilation = [1,1,1], bool ceil_mode = False
mean: Tensor input, *, torch.dtype dtype = None, OUT
  | Tensor input, tuple of ints dim, bool keepdim = False, *, torch.dtype dtype = None, OUT
mode: Tensor input, int dim = -1, bool keepdim = False, *, OUTS
multinomial: Tensor input, int num_samples, bool replacement = False, *, GENERATOR = None, OUT
mv: Tensor input, Tensor vec, *, OUT
mvlgamma: Tensor input, int p, *, OUT
nan_to_num!: Tensor input, float nan = None, float posinf = None, float neginf = None, *, OUT
narrow: Tensor input, int dim, Tensor start, int length
  | Tensor input, int dim, int start, int length
nonzero: Tensor input, *, bool as_tuple = False, OUT
nonzero_static: Tensor input, *, int size, int fill_value = -1, OUT
normal: Tensor mean, Tensor std, *, GENERATOR = None, OUT
  | Tensor mean, float std = 1, *, GENERATOR = None, OUT
  | float mean, Tensor std, *, GENERATOR = None, OUT
  | float mean, float std, tuple of ints size, *, GENERATOR = None, OPTIONS
orgqr: Tensor input, Tensor input2, *, OUT
ormqr: Tensor input, Tensor input2, Tensor input3, bool left = True, bool transpose = False, *, OUT
one_hot: Tensor input, int num_classes = -1
pairwise_distance: Tensor x1, Tensor x2, float p = 2.0, float eps = 1e-06, bool keepdim = False
pdist: Tensor input, float p = 2.0
pinverse: Tensor input, float rcond = 1e-15
pixel_shuffle: Tensor input, int upscale_factor
pixel_unshuffle: Tensor input, int downscale_factor
poisson: Tensor input, GENERATOR = None
poisson_nll_loss: Tensor input, Tensor target, bool log_input, bool full, float eps, int reduction
polar: Tensor abs, Tensor angle, *, OUT
polygamma: int n, Tensor input, *, OUT
prelu: Tensor input, Tensor weight
prod: Tensor input, *, torch.dtype dtype = None
  | Tensor input, int dim, bool keepdim = False, *, torch.dtype dtype = None, OUT
put: Tensor input, Tensor index, Tensor source, bool accumulate = False
geqrf: Tensor input, *, OUTS
qr: Tensor input, bool some = True, *, OUTS
randint: int high, tuple of ints size, *, GENERATOR, OPTIONS
  | int high, tuple of ints size, *, OPTIONS
  | int low, int high, tuple of ints size, *, GENERATOR, OPTIONS
  | int low, int high, tuple of ints size, *, OPTIONS
randint_like: Tensor input, int low, int high, *, GENERATOR, torch.memory_format memory_format = None, PLACE
  | Tensor input, int low, int high, *, torch.memory_format memory_format = None, PLACE
  | Tensor input, Tensor high, *, GENERATOR, torch.memory_format memory_format = None, PLACE
  | Tensor input, Tensor high, *, torch.memory_format memory_format = None, PLACE
  | Tensor input, int high, *, GENERATOR, torch.memory_format memory_format = None, PLACE
  | Tensor input, int high, *, torch.memory_format memory_format = None, PLACE
randperm: int n, *, GENERATOR, OPTIONS
  | int n, *, OPTIONS
renorm: Tensor input, Number p, int dim, Number maxnorm, *, OUT
repeat_interleave: Tensor input, Tensor repeats, int dim = None, *, int output_size = None
  | Tensor repeats, *, int output_size = None
  | Tensor input, int repeats, int dim = None, *, int output_size = None
reshape: Tensor input, tuple of ints shape
resize_as_: Tensor input, Tensor the_template, *, torch.memory_format memory_format = None
result_type: Tensor tensor, Tensor other
  | Number scalar, Tensor tensor
  | Tensor tensor, Number other
  | Number scalar1, Number scalar2
rms_norm: Tensor input, tuple of ints normalized_shape, Tensor weight = None, float eps = None
roll: Tensor input, tuple of ints shifts, tuple of ints dims = []
rot90: Tensor input, int k = 1, tuple of ints dims = [0,1]
round!: Tensor input, *, OUT
  | Tensor input, *, int decimals, OUT
rsub: Tensor input, Tensor other, *, Number alpha = 1
  | Tensor input, Number other, Number alpha = 1
scalar_tensor: Number s, *, PLACE
scaled_dot_product_attention: Tensor query, Tensor key, Tensor value, Tensor attn_mask = None, float dropout_p = 0.0, bool is_causal = False, *, float scale = None, bool enable_gqa = False
scatter: Tensor input, int dim, Tensor index, Tensor src, *, OUT
  | Tensor input, int dim, Tensor index, Tensor src, *, str reduce, OUT
  | Tensor input, int dim, Tensor index, Number value, *, OUT
  | Tensor input, int dim, Tensor index, Number value, *, str reduce, OUT
scatter_add: Tensor input, int dim, Tensor index, Tensor src, *, OUT
scatter_reduce: Tensor input, int dim, Tensor index, Tensor src, str reduce, *, bool include_self = True, OUT
searchsorted: Tensor sorted_sequence, Tensor input, *, bool out_int32 = False, bool right = False, str side = None, Tensor sorter = None, OUT
  | Tensor sorted_sequence, Number self, *, bool out_int32 = False, bool right = False, str side = None, Tensor sorter = None, OUT
select: Tensor input, int dim, int index
select_scatter: Tensor input, Tensor src, int dim, int index
slice_scatter: Tensor input, Tensor src, int dim = 0, int start = None, int end = None, int step = 1, *, OUT
sort: Tensor input, *, bool stable, int dim = -1, bool descending = False, OUTS
  | Tensor input, int dim = -1, bool descending = False, *, OUTS
split_with_sizes: Tensor input, tuple of ints split_sizes, int dim = 0
subtract: Tensor input, Tensor other, *, Number alpha = 1, OUT
  | Tensor input, Number other, Number alpha = 1
sum: Tensor input, *, torch.dtype dtype = None
  | Tensor input, tuple of ints dim, bool keepdim = False, *, torch.dtype dtype = None, OUT
svd: Tensor input, bool some = True, bool compute_uv = True, *, OUTS
swapaxes: Tensor input, int axis0, int axis1
take: Tensor input, Tensor index, *, OUT
take_along_dim: Tensor input, Tensor indices, int dim = None, *, OUT
tensor: List[t] data, *, torch.dtype dtype = None, torch.device device = None, bool requires_grad = False
tensor_split: Tensor input, tuple of ints indices, int dim = 0
  | Tensor input, Tensor tensor_indices_or_sections, int dim = 0
  | Tensor input, int sections, int dim = 0
threshold!: Tensor input, Number threshold, Number value, *, OUT
topk: Tensor input, int k, int dim = -1, bool largest = True, bool sorted = True, *, OUTS
trapz: Tensor y, *, float dx = 1, int dim = -1
  | Tensor y, Tensor x, *, int dim = -1
triangular_solve: Tensor input, Tensor A, bool upper = True, bool transpose = False, bool unitriangular = False, *, OUTS
triplet_margin_loss: Tensor anchor, Tensor positive, Tensor negative, float margin = 1.0, float p = 2.0, float eps = 1e-06, bool swap = False, int reduction = 1
unbind: Tensor input, int dim = 0
unflatten: Tensor input, int dim, tuple of ints sizes
unsqueeze: Tensor input, int dim
vander: Tensor x, int N = None, bool increasing = False
view: torch.dtype dtype
  | tuple of ints size
where: Tensor condition
  | Tensor condition, Tensor input, Tensor other, *, OUT
  | Tensor condition, Number self, Tensor other
  | Tensor condition, Tensor input, Number other
  | Tensor condition, Number self, Number other
xlogy: Tensor input, Tensor other, *, OUT
  | Number self, Tensor other, *, OUT
  | Tensor input, Number other, *, OUT
xlogy_: Tensor input, Tensor other
  | Tensor input, Number other
"""

# Where a method's signatures are not the function's without the first argument and `out`.
_METHODS = """
bitwise_and bitwise_left_shift bitwise_or bitwise_right_shift bitwise_xor remainder xlogy: Tensor other
  | Number other
bmm mm: Tensor mat2
dim element_size item retain_grad size storage_offset stride tolist:
expand_as reshape_as type_as view_as: Tensor other
float_power pow: Tensor exponent
  | Number exponent
new_empty new_ones new_zeros: tuple of ints size, *, torch.dtype dtype = None, torch.layout layout = None, torch.device device = None, bool pin_memory = None, bool requires_grad = False
addmm: Tensor mat1, Tensor mat2, *, Number beta = 1, Number alpha = 1
baddbmm: Tensor batch1, Tensor batch2, *, Number beta = 1, Number alpha = 1
bernoulli_: Tensor p, *, GENERATOR = None
  | float p = 0.5, *, GENERATOR = None
cauchy_: float median = 0.0, float sigma = 1.0, *, GENERATOR = None
contiguous cpu is_contiguous: *, torch.memory_format memory_format = 0
copy_: Tensor other, bool non_blocking = False
cuda: torch.device device = None, bool non_blocking = False, *, torch.memory_format memory_format = None
expand: tuple of ints size, *, bool implicit = False
exponential_: float lambd = 1.0, *, GENERATOR = None
fill_diagonal_: Number fill_value, bool wrap = False
geometric_: float p, *, GENERATOR = None
is_set_to: Tensor tensor
log_normal_: float mean = 1.0, float std = 2.0, *, GENERATOR = None
new_full: tuple of ints size, Number fill_value, *, torch.dtype dtype = None, torch.layout layout = None, torch.device device = None, bool pin_memory = None, bool requires_grad = False
nonzero:
  | *, bool as_tuple
normal_: float mean = 0.0, float std = 1.0, *, GENERATOR = None
polygamma: int n
random_: *, GENERATOR = None
  | int from, int to, *, GENERATOR = None
  | int to, *, GENERATOR = None
repeat: tuple of ints repeats
repeat_interleave: Tensor repeats, int dim = None, *, int output_size = None
  | int repeats, int dim = None, *, int output_size = None
requires_grad_: bool requires_grad = True
resize_: tuple of ints size, *, torch.memory_format memory_format = None
sum_to_size: tuple of ints size
to: torch.device device = None, torch.dtype dtype = None, bool non_blocking = False, bool copy = False, *, torch.memory_format memory_format = None
  | torch.dtype dtype, bool non_blocking = False, bool copy = False, *, torch.memory_format memory_format = None
  | Tensor tensor, bool non_blocking = False, bool copy = False, *, torch.memory_format memory_format = None
type: object dtype = None, bool non_blocking = False, *, torch.memory_format memory_format = None
unfold: int dimension, int size, int step
uniform_: float from = 0.0, float to = 1.0, *, GENERATOR = None
where: Tensor condition, Tensor other
  | Tensor condition, Number other
view: torch.dtype dtype
  | tuple of ints size
"""


class _Table(dict[str, Any]):
    """Signatures by function, each spelled out when it is asked for: few are."""

    def __getitem__(self, name: str) -> tuple[str, ...]:
        forms = super().__getitem__(name)
        if forms.__class__ is str:
            found = []
            for form in forms.removeprefix("!").split("\n  | "):
                form = form.strip()
                for word, meaning in _WORDS.items():
                    form = form.replace(word, meaning)
                found.append(form.removesuffix(", " + OUT).removesuffix(", *") if forms[:1] == "!" else form)
            forms = self[name] = tuple(found)
        return forms

    def get(self, name: str, default: Any = None) -> Any:
        return self[name] if name in self else default


def table(text: str) -> dict[str, Any]:
    """The signatures of a text such as the above, by function."""
    found = _Table()
    for entry in re.split(r"\n(?!  \|)", text.strip()):
        head, _, forms = entry.partition(":")
        for name in head.split():
            bare = name.removesuffix("!")
            found[bare] = forms
            if bare != name:
                found[bare + "_"] = "!" + forms
    return found


SIGNATURES, METHODS = table(_TEXT), table(_METHODS)
# Functions that may be given numbers for tensors.
NUMBERS = frozenset(
    n + end
    for n in "add sub subtract mul multiply div divide true_divide floor_divide copy".split()
    for end in ("", "_")
)
# What the words for that call some, and those functions whose out= is not refused for what requires grad, and those whose words for that begin with aten::.
WRITES = frozenset(
    "all any argmax argmin bucketize cross empty eq float_power ge ger greater greater_equal gt histc inner isin isneginf "
    "isposinf le less less_equal logical_and logical_not logical_or logical_xor lt matrix_power multinomial nanquantile ne "
    "nonzero not_equal outer quantile searchsorted signbit trace".split()
)
ATEN = frozenset(
    "arange bitwise_and bitwise_left_shift bitwise_not bitwise_or bitwise_right_shift bitwise_xor conj_physical eye "
    "floor_divide full gcd heaviside lcm linspace log_softmax logspace normal ones rand randint randperm scatter softmax "
    "zeros".split()
)
# Functions that cost less than being looked at would: their own messages do.
QUICK = frozenset(
    "squeeze squeeze_ view add add_ sub sub_ div div_ subtract subtract_ divide divide_ true_divide clone detach detach_ "
    "contiguous reshape matmul expand item dim size numel stride zero_ fill_ copy_ is_complex is_floating_point "
    "is_contiguous requires_grad_ empty ones zeros tensor conj storage_offset element_size "
    "is_conj is_neg resolve_conj resolve_neg is_inference is_signed get_device t_ addcmul_ addcdiv_ lerp_".split()
)
