"""The everyday ops, which must be whole: no failure of theirs may be expected.

`OPS` maps each op's plain name to its entries in PyTorch's op database. Those that have none are compared by
hand-written tests, named in `BY_HAND`.
"""

from __future__ import annotations

OPS: dict[str, tuple[str, ...]] = {}


def _same(*names: str) -> None:
    OPS.update((name, (name,)) for name in names)


# creation
_same("zeros", "ones", "full", "empty", "eye", "arange", "linspace", "logspace")
_same("zeros_like", "ones_like", "full_like", "empty_like", "new_zeros", "new_ones", "new_full", "new_empty")
_same("tril_indices", "triu_indices", "scalar_tensor")
OPS["meshgrid"] = ("meshgrid.variadic_tensors", "meshgrid.list_of_tensors")

# random
_same("randn", "randint", "rand_like", "randn_like", "randint_like", "bernoulli", "multinomial", "uniform")
OPS["normal"] = ("normal", "normal.number_mean", "normal.in_place")
OPS["dropout"] = ("nn.functional.dropout",)

# arithmetic and unary math
_same("add", "sub", "mul", "rsub", "true_divide", "floor_divide", "remainder", "fmod", "pow", "float_power")
_same("__radd__", "__rsub__", "__rmul__", "__rdiv__", "__rmod__", "__rpow__", "__rmatmul__")
_same("__rand__", "__ror__", "__rxor__")
OPS["div"] = ("div.no_rounding_mode", "div.trunc_rounding", "div.floor_rounding")
_same("abs", "neg", "positive", "sign", "sgn", "reciprocal", "square", "sqrt", "rsqrt", "exp", "exp2", "expm1")
_same("log", "log2", "log10", "log1p", "logaddexp", "logaddexp2", "sin", "cos", "tan", "asin", "acos", "atan")
_same("atan2", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "sigmoid", "erf", "erfc", "erfinv", "lgamma")
_same("digamma", "sinc", "floor", "ceil", "trunc", "frac", "hypot", "lerp", "addcmul", "addcdiv")
_same("deg2rad", "rad2deg", "nan_to_num", "logit", "xlogy", "copysign", "ldexp", "real", "imag", "conj", "angle")
_same("view_as_real", "view_as_complex", "complex", "polar", "sum_to_size")
OPS["round"] = ("round", "round.decimals_0", "round.decimals_3", "round.decimals_neg_3")

# comparisons, logical, bitwise, choosing
_same("eq", "ne", "lt", "le", "gt", "ge", "isclose", "allclose", "equal", "isnan", "isinf", "isfinite", "isposinf")
_same("isneginf", "isreal", "signbit", "maximum", "minimum", "fmax", "fmin")
_same("logical_and", "logical_or", "logical_xor", "logical_not", "bitwise_and", "bitwise_or", "bitwise_xor")
_same("bitwise_not", "bitwise_left_shift", "bitwise_right_shift")
_same("clamp", "clamp_min", "clamp_max", "where", "masked_fill", "masked_select", "masked_scatter", "heaviside")

# reductions and scans
_same("sum", "prod", "mean", "amax", "amin", "aminmax", "argmax", "argmin", "all", "any", "logsumexp", "cumsum")
_same("cumprod", "median", "nanmedian", "quantile", "nanquantile", "count_nonzero", "nansum", "nanmean")
_same("logcumsumexp", "cummax", "cummin", "mode", "kthvalue", "diff", "dist")
OPS["var"] = ("var", "var.unbiased")
OPS["std"] = ("std", "std.unbiased")
OPS["var_mean"] = ("var_mean", "var_mean.unbiased")
OPS["std_mean"] = ("std_mean", "std_mean.unbiased")
OPS["max"] = ("max.reduction_with_dim", "max.reduction_no_dim", "max.binary")
OPS["min"] = ("min.reduction_with_dim", "min.reduction_no_dim", "min.binary")
OPS["norm"] = ("norm", "norm.nuc", "norm.fro", "norm.inf", "linalg.vector_norm")

# shape
_same("view", "view_as", "reshape", "reshape_as", "flatten", "unflatten", "ravel", "unsqueeze", "transpose", "t")
_same("T", "H", "mT", "mH", "permute", "movedim", "expand", "expand_as", "broadcast_to", "broadcast_tensors")
_same("broadcast_shapes", "repeat", "repeat_interleave", "tile", "flip", "fliplr", "flipud", "rot90", "roll", "cat")
_same("stack", "hstack", "vstack", "dstack", "column_stack", "chunk", "unbind", "narrow", "select", "diagonal")
_same("diag", "diag_embed", "diagflat", "trace", "tril", "triu", "as_strided", "unfold", "clone", "contiguous")
_same("atleast_1d", "atleast_2d", "atleast_3d", "tensor_split", "hsplit", "vsplit", "dsplit", "split_with_sizes")
_same("select_scatter", "slice_scatter", "diagonal_scatter", "block_diag")
OPS["squeeze"] = ("squeeze", "squeeze.multiple")
OPS["split"] = ("split", "split.list_args")
_same("to", "bfloat16", "bool", "byte", "char", "double", "float", "half", "int", "long", "short", "cfloat", "cdouble")
_same("item", "fill", "zero_", "resize_", "resize_as_")

# indexing and sorting
_same("__getitem__", "index_put", "gather", "scatter", "scatter_add", "index_add", "index_select", "index_copy")
_same("index_fill", "take", "take_along_dim", "put", "nonzero", "argwhere", "sort", "argsort", "msort", "topk")
_same("unique", "unique_consecutive", "searchsorted", "bucketize", "isin")
OPS["scatter_reduce"] = tuple(f"scatter_reduce.{kind}" for kind in ("sum", "prod", "mean", "amin", "amax"))

# matmul family
_same("matmul", "mm", "bmm", "mv", "dot", "vdot", "outer", "inner", "addmv", "addr", "addbmm", "baddbmm", "einsum")
_same("tensordot", "kron", "cross")
OPS["addmm"] = ("addmm", "addmm.decomposed")
OPS["linear"] = ("nn.functional.linear",)
OPS["bilinear"] = ("nn.functional.bilinear",)

# activations and the softmax family
for _name in (
    *("relu", "relu6", "leaky_relu", "elu", "selu", "celu", "gelu", "silu", "mish", "softplus", "softsign"),
    *("hardtanh", "hardsigmoid", "hardswish", "hardshrink", "softshrink", "tanhshrink", "logsigmoid", "prelu"),
    *("rrelu", "glu", "threshold", "normalize", "one_hot", "embedding"),
):
    OPS[_name] = (f"nn.functional.{_name}",)
OPS["softmax"] = ("softmax", "softmax.with_dtype")
OPS["log_softmax"] = ("log_softmax", "log_softmax.with_dtype")
OPS["softmin"] = ("nn.functional.softmin", "nn.functional.softmin.with_dtype")

# losses
for _name in (
    *("mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss", "cross_entropy", "nll_loss", "binary_cross_entropy"),
    *("binary_cross_entropy_with_logits", "kl_div", "cosine_similarity", "margin_ranking_loss"),
    *("hinge_embedding_loss", "soft_margin_loss", "poisson_nll_loss", "gaussian_nll_loss"),
):
    OPS[_name] = (f"nn.functional.{_name}",)

ENTRIES = frozenset(entry for entries in OPS.values() for entry in entries)

# Named beside the ops above but without an entry in the database -> the test that compares them.
BY_HAND: dict[str, str] = {
    "tensor, as_tensor, from_numpy, rand, asarray": "parity/test_creation.py",
    "rand, randperm, uniform_, normal_, manual_seed, Generator, get_rng_state": "parity/test_random.py",
    "promotion of every pair of dtypes, .to, .type, default dtype, finfo, iinfo": "parity/test_promotion.py",
    "t[index], t[index] = value, and their errors": "parity/test_indexing.py",
    "views and in-place writes, version counters": "parity/test_inplace_views.py",
    "backward, grad, hooks, and their errors": "parity/test_errors.py, parity/test_graph.py",
    "repr, set_printoptions": "parity/test_printing.py",
}
