"""What of PyTorch's op database tidu does not set out to do, and why; and where a check must be told something."""

from __future__ import annotations

from typing import Any

PRIVATE = "internal operator without a public name"
SPARSE = "sparse layouts"
CUDA = "runs on CUDA only"

# entry -> reason. Everything not listed is in scope.
NOT_IN_SCOPE: dict[str, str] = {
    "jiterator_unary": CUDA,
    "jiterator_binary": CUDA,
    "jiterator_4inputs_with_extra_args": CUDA,
    "jiterator_binary_return_by_ref": CUDA,
    "jiterator_2inputs_2outputs": CUDA,
    "bmm_triton_optimized": CUDA,
    "nn.functional.batch_norm.without_cudnn": CUDA,
    "sparse.sampled_addmm": SPARSE,
    "sparse.mm.reduce": SPARSE,
    "to_sparse": SPARSE,
    "chalf": "complex32 is not among tidu's dtypes",
    "torch._scaled_mm": "8-bit floats are not among tidu's dtypes",
    "torch._scaled_mm_v2": "8-bit floats are not among tidu's dtypes",
    "torch.ops.aten._flash_attention_forward": "private fused attention",
    "torch.ops.aten._efficient_attention_forward": "private fused attention",
    "_chunk_cat": PRIVATE,
}

# entry -> (check, reason): one check of an entry that cannot be made.
CHECK_NOT_IN_SCOPE: dict[tuple[str, str], str] = {
    (name, "vmap"): "reads the storage, whose layout depends on where the batch dimension lies"
    for name in ("as_strided", "as_strided.partial_views", "as_strided_copy")
} | {
    (f"__{name}__", check): "a reflected operator called on the class with a number for self"
    for name in ("radd", "rsub", "rmul", "rdiv", "rmod", "rpow", "rand", "ror", "rxor", "rmatmul")
    for check in ("errors", "messages")
}

CHECK_NOT_IN_SCOPE["_batch_norm_with_update", "out"] = "takes its four results by names of their own"

# A strided out= makes PyTorch 2.13 write outside of it and crash.
CRASHES_STRIDED = {"tril", "triu", "lu_unpack", "linalg.lu"}

# What PyTorch says of memory that it borrowed: the library gets a copy of the sample, and cannot tell.
UNTELLABLE = "storage that is not resizable"

# Results whose numbers mean nothing (uninitialised memory): only dtype, shape and strides are compared.
NO_VALUES = {
    "empty",
    "empty_like",
    "empty_permuted",
    "empty_strided",
    "new_empty",
    "new_empty_strided",
    "resize_",
    "resize_as_",
}

# Decompositions that are unique up to signs, phases or order: values are compared after the entry's own
# `output_process_fn_grad`, which removes the freedom.
GAUGE = {"svd", "linalg.svd", "linalg.eig", "linalg.eigh", "svd_lowrank", "pca_lowrank", "linalg.eigvals"}

# Which of several equal elements these point at depends, in PyTorch, on the machine's vector instructions and on the
# C++ library's partitions: in dtypes that have many equal elements the elements are compared, not their places.
PICKS = {"sort", "argsort", "topk", "kthvalue", "mode"}

# How much wider than the dtype's usual tolerance an entry's results may be, in one check or in all.
TOLERANCE_SCALE: dict[str | tuple[str, str], float] = {
    "logcumsumexp": 20,  # PyTorch's forward mode loses half of the digits
    ("logcumsumexp", "narrow"): 200,  # differences of numbers near 10000
    ("svd_lowrank", "narrow"): 20,  # ill-conditioned
    ("pca_lowrank", "narrow"): 20,
    "cov": 50,  # its weights are float32, and have tangents of their own
} | {
    # PyTorch's float64 series are right to about 1e-6; test_special.py holds tidu's to 1e-13
    f"special.{name}": 40
    for name in ("airy_ai", "bessel_j0", "bessel_j1", "bessel_y0", "bessel_y1")
}


def not_in_scope(entry: Any) -> str:
    """Why an entry is left out, or an empty string."""
    if not entry.dtypes:
        return NOT_IN_SCOPE.get(entry.full_name, "no dtype on the CPU")
    return NOT_IN_SCOPE.get(entry.full_name, "")
