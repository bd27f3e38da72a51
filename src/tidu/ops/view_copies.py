"""View ops that copy: torch.view_copy and its kin, what a view op is where memory must not be shared."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from ..core.modes import no_grad, state
from ..core.op import Op
from ..core.strided import as_strided as _as_strided
from ..core.tensor import Tensor
from ..shapes import normalize_dim
from . import complexes, dims, shape, splitting, windows
from ._dtypes import exact_out
from .arithmetic import not_implemented
from .shape import ints

__all__ = [
    "alias_copy", "as_strided_copy", "detach_copy", "expand_copy", "permute_copy", "select_copy", "slice_copy",
    "split_copy", "split_with_sizes_copy", "squeeze_copy", "t_copy", "transpose_copy", "unbind_copy", "unfold_copy",
    "unsqueeze_copy", "view_as_complex_copy", "view_as_real_copy", "view_copy",
]  # fmt: skip


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
unsqueeze_copy = _copying(dims.unsqueeze, "unsqueeze_copy", "UnsqueezeBackward0_copy")
unbind_copy = _copying(splitting.unbind, "unbind_copy", "UnbindBackward0_copy")
split_copy = _copying(splitting._split_op, "split_copy", "SplitBackward0_copy")
split_with_sizes_copy = _copying(splitting.split_with_sizes, "split_with_sizes_copy", "SplitWithSizesBackward0_copy")
_expand_copy = _copying(dims.expand, "expand_copy", "ExpandBackward0_copy")
_slice_copy = _copying(windows.slice_, "slice_copy", "SliceBackward0_copy")
_strided_copy = _copying(_as_strided, "as_strided_copy", "AsStridedBackward0_copy")
_view_copy = _copying(shape.view, "view_copy", "ViewBackward0_copy")
_squeeze_all = _copying(dims._squeeze_all, "squeeze_copy", "SqueezeBackward0_copy")
_squeeze_dim = _copying(dims._squeeze_dim, "squeeze_copy.dim", "SqueezeBackward1_copy")
_squeeze_dims = _copying(dims._squeeze_dims, "squeeze_copy.dims", "SqueezeBackward2_copy")


def _no_way_back(needs: Any) -> Any:
    return not_implemented("detach_copy")(None)


view_as_real_copy = _copying(complexes.view_as_real, "view_as_real_copy", "ViewAsRealBackward0_copy")
view_as_complex_copy = _copying(complexes.view_as_complex, "view_as_complex_copy", "ViewAsComplexBackward0_copy")
detach_copy = exact_out(
    Op("detach_copy", lambda input: input.copy(), vjp=_no_way_back, jvp="linear", node="NotImplemented").call
)


def expand_copy(input: Any, size: Any, *, implicit: bool = False, out: Any = None) -> Any:
    """`expand`, as a copy. Source: torch.expand_copy."""
    return _expand_copy(input, ints((size,), "expand_copy", "size"), out=out)


def slice_copy(
    input: Any, dim: int = 0, start: int | None = None, end: int | None = None, step: int = 1, *, out: Any = None
) -> Any:  # fmt: skip
    """A slice of a dimension, as a copy. Source: torch.slice_copy."""
    return _slice_copy(input, normalize_dim(dim, input.ndim), start, end, step, out=out)


def as_strided_copy(
    input: Any, size: Any, stride: Any, storage_offset: int | None = None, *, out: Any = None
) -> Any:  # fmt: skip
    """`as_strided`, as a copy. Source: torch.as_strided_copy."""
    return _strided_copy(input, *windows._strided_arguments(size, stride, storage_offset), out=out)


def view_copy(input: Any, size: Any = None, *, dtype: Any = None, out: Any = None) -> Any:
    """`view`, as a copy. Source: torch.view_copy."""
    if dtype is not None or type(size).__name__ == "dtype":
        return shape.method_view(input, dtype if dtype is not None else size).clone()
    return _view_copy(input, ints((size,), "view_copy", "size"), out=out)


def squeeze_copy(input: Tensor, dim: Any = None, *, out: Any = None) -> Any:
    """`squeeze`, as a copy. Source: torch.squeeze_copy."""
    if dim is None:
        return _squeeze_all(input, out=out)
    if isinstance(dim, (tuple, list)):
        return _squeeze_dims(input, tuple(dim), out=out)
    return _squeeze_dim(input, dim, out=out)


expand_copy.op, slice_copy.op, as_strided_copy.op = _expand_copy.op, _slice_copy.op, _strided_copy.op
view_copy.op, squeeze_copy.op = _view_copy.op, _squeeze_all.op
detach_copy.__doc__ = "A copy without history. Source: torch.detach_copy."
