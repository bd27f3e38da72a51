"""Functions that PyTorch keeps for itself, _foreach_* of lists, views that copy: mostly met under torch.ops.aten."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from itertools import repeat
from typing import Any

import numpy as np

from .. import dtypes
from ..core.broadcast import as_strided as _as_strided
from ..core.broadcast import cast
from ..core.modes import no_grad, state
from ..core.op import Op
from ..core.tensor import Tensor
from ..shapes import normalize_dim, normalize_dims
from . import comparison, rearrange, shape, windows
from ._dtypes import exact_out, refusal
from .arithmetic import not_implemented
from .gather import gather
from .indexing import getitem, index_put
from .normalization import _batch_norm as batch_norm_of
from .normalization import native_batch_norm
from .piecewise import masked_fill
from .reduction import Ints, into, packed
from .reduction import sum as sum_of
from .selection import clamp, where
from .shape import flatten, ints
from .softmax import _softmax
from .upsample import _OPS as UPSAMPLE
from .windows import slice_ as _slice

__all__ = [
    "_foreach_clone", "_foreach_copy_", "_foreach_max", "_foreach_mm", "_foreach_norm", "_foreach_zero_",
    "_native_batch_norm_legit", "_safe_softmax", "_softmax_backward_data", "_unsafe_masked_index",
    "_unsafe_masked_index_put_accumulate", "alias_copy", "as_strided_copy", "detach_copy", "expand_copy",
    "hash_tensor", "permute_copy", "select_copy", "slice_copy", "split_copy", "split_with_sizes_copy",
    "squeeze_copy", "t_copy", "transpose_copy", "unbind_copy", "unfold_copy", "unsqueeze_copy",
    "view_as_complex_copy", "view_as_real_copy", "view_copy",
]  # fmt: skip
METHODS = "hash_tensor"

# What is found under torch.ops.aten only.
ATEN = (
    "slice", "native_dropout_backward", "_batch_norm_with_update", "_upsample_bilinear2d_aa",
    "max_pool2d_with_indices_backward",
)  # fmt: skip

Value = Any


def slice(input: Value, dim: int = 0, start: int | None = None, end: int | None = None, step: int = 1) -> Value:
    """A slice of one dimension, as a view. Source: torch.ops.aten.slice."""
    return _slice(input, dim % max(input.ndim, 1), start, end, step)


def _dropped(grad_output: Any, mask: Any, scale: float) -> Any:
    dt = grad_output.dtype if grad_output.dtype.kind in "fVc" else dtypes.get_default_dtype().np
    return grad_output.astype(dt, copy=False) * (mask.astype(dt) * np.asarray(scale, dt))


_dropout_backward = Op(
    "native_dropout_backward",
    _dropped,
    vjp={
        "grad_output": lambda g, mask, scale: _dropout_backward.call(g, mask, scale),
        "mask": not_implemented("native_dropout_backward"),
    },
    jvp={"grad_output": lambda t, mask, scale: _dropout_backward.call(t, mask, scale)},
    node="NativeDropoutBackwardBackward0",
    out_arg=False,
)


def native_dropout_backward(grad_output: Value, mask: Value, scale: float) -> Value:
    """grad_output * mask * scale. Source: torch.ops.aten.native_dropout_backward."""
    return _dropout_backward.call(grad_output, mask, scale)


def _softmax_backward_data(grad_output: Value, output: Value, dim: int, input_dtype: Any, *, out: Any = None) -> Value:
    """(grad_output - sum(grad_output * output)) * output along `dim`."""
    last = normalize_dim(dim, grad_output.ndim) == max(grad_output.ndim - 1, 0)
    word = f"softmax_backward_{'lastdim_' * last}kernel_impl"
    refusal("bic", word)("_softmax_backward_data", grad_output.dtype)
    r = (grad_output - sum_of(grad_output * output, dim, True)) * output
    r = r if r.dtype is input_dtype else cast(r, input_dtype.np)
    return r if out is None else out.copy_(r)


def _safe(input: Any, dim: int) -> Any:
    out = _softmax.op.forward(input, dim)
    nothing = np.all(input == -np.inf, axis=dim, keepdims=True)
    return np.where(nothing, np.zeros((), out.dtype), out) if nothing.any() else out


_safe_op = Op("_safe_softmax", _safe, _softmax.op.vjp, _softmax.op.jvp, node="SafeSoftmaxBackward0", out_arg=False)


def _safe_softmax(input: Value, dim: int, dtype: Any = None) -> Value:
    """`softmax`, and zeros where all elements are minus infinity."""
    return _safe_op.call(input if dtype is None else cast(input, dtype.np), dim)


def _native_batch_norm_legit(input: Value, weight: Value, bias: Value, *rest: Any, out: Any = None, **kw: Any) -> Any:
    """`native_batch_norm`, with or without running statistics."""
    if isinstance(rest[0], bool):
        rest = (None, None, *rest)
    return native_batch_norm(input, weight, bias, *rest, out=out, **kw)


def _batch_norm_with_update(
    input: Value, weight: Value, bias: Value, running_mean: Value, running_var: Value, momentum: float, eps: float, *,
    out: Any = None, save_mean: Any = None, save_invstd: Any = None, reserve: Any = None,
) -> Any:  # fmt: skip
    """`native_batch_norm` in training, and an empty reserve. Source: torch.ops.aten._batch_norm_with_update."""
    made = batch_norm_of(input, weight, bias, running_mean, running_var, True, momentum, eps)[:3]
    made = (*made, input.new_empty((0,), dtype=dtypes.uint8))
    if out is None:
        return made
    outs = (out, save_mean, save_invstd, reserve)
    return tuple(into("_batch_norm_with_update", o, r) for o, r in zip(outs, made, strict=True))


def _upsample_bilinear2d_aa(
    input: Value, output_size: Any, align_corners: bool, scales_h: Any = None, scales_w: Any = None, *,
    scale_factors: Any = None,
) -> Value:  # fmt: skip
    """`interpolate(mode="bilinear", antialias=True)`. Source: torch.ops.aten._upsample_bilinear2d_aa."""
    scales = (scales_h, scales_w)
    if scale_factors is not None:
        scales = tuple(scale_factors)
        if output_size is None:
            output_size = [int(n * s) for n, s in zip(input.shape[2:], scales, strict=True)]
    return UPSAMPLE["bilinear", 2, True](input, tuple(output_size), scales, bool(align_corners))


def _within(input: Value, indices: Any) -> tuple[Any, ...]:
    """Indices, moved into the tensor where they lie outside."""
    return tuple(None if i is None else clamp(i, -n, n - 1) for i, n in zip(indices, input.shape, strict=False))


def _unsafe_masked_index(input: Value, mask: Value, indices: Any, fill: Any) -> Value:
    """input[indices] where the mask is true, `fill` elsewhere, where indices may lie outside."""
    whole = np.s_[:]
    return where(mask, getitem(input, tuple(whole if i is None else i for i in _within(input, indices))), fill)


def _unsafe_masked_index_put_accumulate(input: Value, mask: Value, indices: Any, values: Value) -> Value:
    """Add `values` at `indices` where the mask is true."""
    return index_put(input, _within(input, indices), masked_fill(values, ~mask, 0), True)


def _pool_back(grad_output: Any, input: Any, indices: Any) -> Any:
    planes = np.zeros((*input.shape[:-2], input.shape[-2] * input.shape[-1]), grad_output.dtype)
    refusal("bic", "max_pool2d_backward")("max_pool2d", dtypes.from_numpy(input.dtype))
    flat = planes.reshape(-1, planes.shape[-1])
    rows = np.arange(flat.shape[0])[:, None]
    np.add.at(flat, (rows, indices.reshape(flat.shape[0], -1)), grad_output.reshape(flat.shape[0], -1))
    out = np.empty_like(input)  # which lies as the input does
    out[...] = planes.reshape(input.shape)
    return out


_pool_backward = Op(
    "max_pool2d_with_indices_backward",
    _pool_back,
    vjp={
        "grad_output": lambda g, indices: gather(flatten(g, -2), -1, flatten(indices, -2)).reshape(
            tuple(indices.shape)
        ),
        "input": lambda g: g * 0,
    },
    jvp={"grad_output": lambda t, input, indices: _pool_backward.call(t, input, indices), "input": lambda t: t * 0},
    tensors=("grad_output", "input", "indices"),
    node="MaxPool2DWithIndicesBackwardBackward0",
    out_arg=False,
)


def max_pool2d_with_indices_backward(
    grad_output: Value, input: Value, kernel_size: Any, stride: Any, padding: Any, dilation: Any, ceil_mode: bool,
    indices: Value,
) -> Value:  # fmt: skip
    """The cotangent of `max_pool2d`. Source: torch.ops.aten.max_pool2d_with_indices_backward."""
    return _pool_backward.call(grad_output, input, indices)


def _xor(input: Any, dim: Ints, keepdim: bool) -> Any:
    wide = input.astype(np.int64 if input.dtype.kind in "biu" else np.float64)
    return packed(np.bitwise_xor.reduce(wide.view(np.uint64), dim, None, None, keepdim))


_hash = Op("hash_tensor", _xor, out_arg=False)


def hash_tensor(input: Any, dim: Any = (), *, keepdim: bool = False, mode: int = 0, out: Any = None) -> Any:
    """The exclusive or of the elements' bits, each as a 64-bit float or integer, over all or some dimensions.

    Args:
        input: any real tensor; dim: an int or several, none for all; keepdim: keep reduced dimensions with size one;
        mode: which hash; 0 is the only one.

    Returns:
        A tensor of uint64, without history.

    Raises:
        RuntimeError: of another mode, or without elements and without `dim`.

    >>> import tidu as torch
    >>> torch.hash_tensor(torch.tensor([[1, 2], [3, 5]]), 1)
    tensor([3, 6], dtype=torch.uint64)
    """
    if mode != 0:
        raise RuntimeError(f"Unknown hash_tensor mode: {mode}")
    d = input.dtype
    if d.is_complex or d.name in ("uint16", "uint32", "uint64"):
        raise NotImplementedError(f"\"xor_sum_cpu\" not implemented for '{d.legacy}'")
    dims = normalize_dims(dim, input.ndim)
    if input.numel() == 0:
        if dim is None or (not isinstance(dim, int) and len(dim) == 0):
            raise RuntimeError(
                "hash_tensor: Expected reduction dim to be specified for input.numel() == 0. "
                "Specify the reduction dim with the 'dim' argument."
            )
        for k in dims:
            if input.shape[k] == 0:
                raise IndexError(f"hash_tensor: Expected reduction dim {k} to have non-zero size.")
    r = _hash.call(input, dims, keepdim)
    exact = "Expected result to be of dtype uint64, but got {out_word}"
    return r if out is None else into("hash_tensor", out, r, exact)


UNARY = """abs acos asin atan ceil cos cosh erf erfc exp expm1 floor frac lgamma log log10 log1p log2 neg reciprocal
round rsqrt sigmoid sign sin sinh sqrt tan tanh trunc""".split()
BINARY = "add clamp_max clamp_min div maximum minimum mul pow sub".split()
TERNARY = "addcdiv addcmul".split()
METHOD = {"maximum": "clamp_min", "minimum": "clamp_max"}  # these also take numbers


def _each(values: Any, count: int) -> Any:
    """One value for each tensor: of a list, of a vector of scalars, or the same for all."""
    if isinstance(values, (list, tuple)):
        if len(values) != count:
            raise RuntimeError(f"Tensor lists must have the same number of tensors, got {count} and {len(values)}")
        return values
    return repeat(values, count)


def _of_list(tensors: Any, name: str) -> Sequence[Any]:
    if not isinstance(tensors, (list, tuple)):
        raise TypeError(
            f"_foreach_{name}(): argument 'self' (position 1) must be tuple of Tensors, not {type(tensors).__name__}"
        )
    if not tensors:
        raise RuntimeError("Tensor list must have at least one tensor.")
    return tensors


def _unary(name: str, method: str, inplace: bool) -> Callable[..., Any]:
    def op(self: Any) -> Any:
        out = tuple(getattr(t, method)() for t in _of_list(self, name))
        return self if inplace else out

    return op


def _binary(name: str, method: str, inplace: bool) -> Callable[..., Any]:
    def op(self: Any, other: Any, *, alpha: Any = 1) -> Any:
        if isinstance(self, (int, float)):  # _foreach_pow(2, tensors)
            return tuple(self**t for t in _of_list(other, name))
        tensors, more = _of_list(self, name), {} if alpha == 1 else {"alpha": alpha}
        out = tuple(getattr(t, method)(o, **more) for t, o in zip(tensors, _each(other, len(tensors)), strict=False))
        return self if inplace else out

    return op


def _ternary(name: str, method: str, inplace: bool) -> Callable[..., Any]:
    def op(self: Any, tensor1: Any, tensor2: Any, scalars: Any = None, *, value: Any = 1) -> Any:
        tensors = _of_list(self, name)
        given = value if scalars is None else scalars
        given = given.tolist() if isinstance(given, Tensor) else given
        n = len(tensors)
        rows = zip(tensors, _each(tensor1, n), _each(tensor2, n), _each(given, n), strict=False)
        out = tuple(getattr(t, method)(a, b, value=v) for t, a, b, v in rows)
        return self if inplace else out

    return op


def _lerp(name: str, method: str, inplace: bool) -> Callable[..., Any]:
    def op(self: Any, tensors1: Any, weight: Any = None, *, scalars: Any = None, weights: Any = None) -> Any:
        tensors = _of_list(self, name)
        given = next(w for w in (weight, weights, scalars) if w is not None)
        n = len(tensors)
        rows = zip(tensors, _each(tensors1, n), _each(given, n), strict=False)
        out = tuple(getattr(t, method)(a, w) for t, a, w in rows)
        return self if inplace else out

    return op


def _foreach_norm(self: Any, ord: Any = 2, dtype: Any = None) -> Any:
    """The norm of each tensor."""
    return tuple(t.norm(ord, dtype=dtype) for t in _of_list(self, "norm"))


def _foreach_max(self: Any) -> Any:
    """The largest element of each tensor."""
    return tuple(t.max() for t in _of_list(self, "max"))


def _foreach_clone(self: Any, *, memory_format: Any = None) -> Any:
    """A copy of each tensor."""
    return tuple(t.clone() for t in _of_list(self, "clone"))


def _foreach_mm(self: Any, mat2: Any) -> Any:
    """The product of each pair of matrices."""
    return tuple(a.mm(b) for a, b in zip(_of_list(self, "mm"), mat2, strict=True))


def _foreach_zero_(self: Any) -> Any:
    """Zeros into each tensor."""
    for t in _of_list(self, "zero_"):
        t.zero_()
    return self


def _foreach_copy_(self: Any, src: Any, non_blocking: bool = False) -> Any:
    """The second list into the first."""
    for t, s in zip(_of_list(self, "copy_"), _each(src, len(self)), strict=False):
        t.copy_(s)
    return self


def _make() -> list[str]:
    names = []
    kinds = [(UNARY, _unary), (BINARY, _binary), (TERNARY, _ternary), (["lerp"], _lerp)]
    for group, make in kinds:
        for name in group:
            for end in ("", "_"):
                op = make(name, METHOD.get(name, name) + end, bool(end))
                op.__name__ = op.__qualname__ = f"_foreach_{name}{end}"
                op.__doc__ = f"`Tensor.{name}{end}` of each tensor of a list. Source: torch._foreach_{name}{end}."
                globals()[op.__name__] = op
                names.append(op.__name__)
    return names


__all__ += _make()


def _copying(view: Callable[..., Any], name: str, node: str) -> Callable[..., Any]:
    """The op that does what a view op does, with the result (or results) copied."""
    op = view.op
    first, *rest = inspect.signature(op.forward).parameters.values()

    def forward(*args: Any) -> Any:
        if name == "view_copy":  # which need not be a view
            args = (args[0].copy(), *args[1:])
        got = op.forward(*args)
        return tuple(a.copy() for a in got) if isinstance(got, tuple) else np.array(got, order="C")

    forward.__signature__ = inspect.Signature([first, *rest])
    forward.__doc__ = f"`{op.name}`, as a copy. Source: torch.{name}."
    call = exact_out(Op(name, forward, op.vjp, "linear", node=node, outputs=op.outputs).call)
    return call if op.outputs == 1 else _silent_out(name, call)


_OUT_NAMES = {
    "split_copy": "split_copy_Tensor_out()",
    "split_with_sizes_copy": "split_with_sizes_copy_out",
    "unbind_copy": "unbind_copy_int_out",
}


def _silent_out(name: str, call: Callable[..., Any]) -> Callable[..., Any]:
    """With out=, PyTorch's copies of several views return None, and leave whatever history there is as it is."""

    @functools.wraps(call)
    def several(*args: Any, out: Any = None, **kw: Any) -> Any:
        if out is None:
            return call(*args, **kw)
        if name == "unbind_copy" and state.grad and any(getattr(o, "requires_grad", False) for o in out):
            return call(*args, out=out, **kw)  # which refuses it
        with no_grad():
            made = call(*args, **kw)
            if isinstance(out, (tuple, list)) and len(out) != len(made):
                raise RuntimeError(
                    f"{_OUT_NAMES[name]} expected an out= argument of size {len(made)}, got size {len(out)}"
                )
            call(*args, out=out, **kw)
        return None

    return several


alias_copy = _copying(shape.alias, "alias_copy", "AliasBackward0_copy")
permute_copy = _copying(shape.permute, "permute_copy", "PermuteBackward0_copy")
select_copy = _copying(windows.select, "select_copy", "SelectBackward0_copy")
t_copy = _copying(shape.t, "t_copy", "TBackward0_copy")
transpose_copy = _copying(shape.transpose, "transpose_copy", "TransposeBackward0_copy")
unfold_copy = _copying(windows.unfold, "unfold_copy", "UnfoldBackward0_copy")
unsqueeze_copy = _copying(windows.unsqueeze, "unsqueeze_copy", "UnsqueezeBackward0_copy")
unbind_copy = _copying(rearrange.unbind, "unbind_copy", "UnbindBackward0_copy")
split_copy = _copying(rearrange._split_op, "split_copy", "SplitBackward0_copy")
split_with_sizes_copy = _copying(rearrange.split_with_sizes, "split_with_sizes_copy", "SplitWithSizesBackward0_copy")
_expand_copy = _copying(windows.expand, "expand_copy", "ExpandBackward0_copy")
_slice_copy = _copying(windows.slice_, "slice_copy", "SliceBackward0_copy")
_strided_copy = _copying(_as_strided, "as_strided_copy", "AsStridedBackward0_copy")
_view_copy = _copying(shape.view, "view_copy", "ViewBackward0_copy")
_squeeze_all = _copying(windows._squeeze_all, "squeeze_copy", "SqueezeBackward0_copy")
_squeeze_dim = _copying(windows._squeeze_dim, "squeeze_copy.dim", "SqueezeBackward1_copy")
_squeeze_dims = _copying(windows._squeeze_dims, "squeeze_copy.dims", "SqueezeBackward2_copy")


def _no_way_back(needs: Any) -> Any:
    return not_implemented("detach_copy")(None)


view_as_real_copy = _copying(comparison.view_as_real, "view_as_real_copy", "ViewAsRealBackward0_copy")
view_as_complex_copy = _copying(comparison.view_as_complex, "view_as_complex_copy", "ViewAsComplexBackward0_copy")
detach_copy = exact_out(
    Op("detach_copy", lambda input: input.copy(), vjp=_no_way_back, jvp="linear", node="NotImplemented").call
)


def expand_copy(input: Any, size: Any, *, implicit: bool = False, out: Any = None) -> Any:
    """`expand`, as a copy."""
    return _expand_copy(input, ints((size,), "expand_copy", "size"), out=out)


def slice_copy(
    input: Any, dim: int = 0, start: int | None = None, end: int | None = None, step: int = 1, *, out: Any = None
) -> Any:  # fmt: skip
    """A slice of a dimension, as a copy."""
    return _slice_copy(input, normalize_dim(dim, input.ndim), start, end, step, out=out)


def as_strided_copy(
    input: Any, size: Any, stride: Any, storage_offset: int | None = None, *, out: Any = None
) -> Any:  # fmt: skip
    """`as_strided`, as a copy."""
    return _strided_copy(input, *windows._strided_arguments(size, stride, storage_offset), out=out)


def view_copy(input: Any, size: Any = None, *, dtype: Any = None, out: Any = None) -> Any:
    """`view`, as a copy."""
    if dtype is not None or type(size).__name__ == "dtype":
        return shape.method_view(input, dtype if dtype is not None else size).clone()
    return _view_copy(input, ints((size,), "view_copy", "size"), out=out)


def squeeze_copy(input: Tensor, dim: Any = None, *, out: Any = None) -> Any:
    """`squeeze`, as a copy."""
    if dim is None:
        return _squeeze_all(input, out=out)
    if isinstance(dim, (tuple, list)):
        return _squeeze_dims(input, tuple(dim), out=out)
    return _squeeze_dim(input, dim, out=out)


expand_copy.op, slice_copy.op, as_strided_copy.op = _expand_copy.op, _slice_copy.op, _strided_copy.op
view_copy.op, squeeze_copy.op = _view_copy.op, _squeeze_all.op
detach_copy.__doc__ = "A copy without history. Source: torch.detach_copy."
