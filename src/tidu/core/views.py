"""Views: tensors over the memory of another one, their base.

`t._view` is (base, version, how): the root tensor whose memory it shows, the version of that memory at which the
view's `_node` was right, and how the view came about. When an op has since written through the base or another
view, the node is derived anew, as a strided window of what the base has become: `live_node` does so, and whoever
reads `_node` of a view asks it first.
"""

from __future__ import annotations

import gc
import sys
from ctypes import c_void_p
from typing import Any

import numpy as np

from .modes import state
from .tensor import NOWHERE, Tensor

DEFAULT, MULTI_OUTPUT, NO_GRAD, INFERENCE, IN_FUNCTION = ("default", "multi", "no_grad", "inference", "function")


def attach_view(t: Tensor, x: Tensor, multi: bool = False) -> None:
    """Make `t`, whose array is a view of `x`'s, a differentiable view of it."""
    base = x._view
    cell = t._v = x._v
    if base is None:
        t._view = (x, cell[0], _how(multi))
    else:
        how = _how(multi)
        t._view = (base[0], cell[0], base[2] if how is DEFAULT else how)


def _how(multi: bool) -> str:
    if state.inference:
        return INFERENCE
    if not state.grad:
        return NO_GRAD
    return MULTI_OUTPUT if multi else DEFAULT


def views_of(base: Tensor) -> list[Tensor]:
    """The plain views of a tensor. Few ask, so no list is kept: who holds the cell they share is asked instead."""
    if sys.getrefcount(base._v) <= 2:
        return []
    return [t for t in gc.get_referrers(base._v) if t.__class__ is Tensor and t._view and t._view[0] is base]


def live_node(t: Tensor, asked: bool = False) -> Any:
    """`_node` of a tensor, brought up to date if it is a view of something written since. RuntimeError where a view
    cannot follow the write: where ops would record, or where somebody has asked for the node.

    A view without a history of its own (made under no_grad, or before its base came to require grad) counts as
    requiring grad if its base does, and swallows what flows to it: its node is NOWHERE.
    """
    view = t._view
    if view is None:
        return t._node
    base, version, how = view
    node = t._node
    cell = t._v
    if base._node is None:
        if node is NOWHERE:
            node = t._node = None
        if node is None or node is True:
            return node
    elif node is None:
        node = t._node = NOWHERE
    if cell[0] != version and (how is DEFAULT or asked or state.grad):
        if how is not DEFAULT:
            raise view_error(t, "its base or another view of its base has been")
        t._view = (base, cell[0], how)
        old, t._node = node, strided_node(t, base)
        node = t._node
        if t._extra is not None and old is not NOWHERE:
            from .hooks import move_captures

            move_captures(t, old)
    return node


def view_error(t: Tensor, written: str) -> RuntimeError:
    from .errors import made_by

    how, node = t._view[2], t._node
    within = "inference mode" if how == INFERENCE else "no_grad mode"
    now = "in normal mode" if how == INFERENCE else "with grad mode enabled"
    if node is None or node is True or node is NOWHERE:
        text = f"A view was created in {within} and {written} modified inplace {now}."
    elif how in (INFERENCE, NO_GRAD):
        text = (
            f"Output {node.nr} of {made_by(node.owner)} is a view of a view which was created in {within} and {written} "
            f"modified inplace {now}."
        )
    else:
        text = f"Output {node.nr} of {made_by(node.owner)} is a view and {written} modified inplace."
    if how == MULTI_OUTPUT:
        text += (
            " This view is the output of a function that returns multiple views. Such functions do not allow the "
            "output views to be modified inplace. You should replace the inplace operation by an out-of-place one."
        )
    elif how == IN_FUNCTION:
        text += (
            " This view was created inside a custom Function (or because an input was returned as-is) and the autograd "
            "logic to handle view+inplace would override the custom backward associated with the custom Function, "
            "leading to incorrect gradients. This behavior is forbidden. You can fix this by cloning the output of the "
            "custom Function."
        )
    else:
        block = "inference_mode" if how == INFERENCE else "no_grad"
        text += (
            " Given that this use case is ambiguous and error-prone, it is forbidden. You can clarify your code by "
            f"moving both the view and the inplace either both inside the {block} block (if you don't want the inplace "
            "to be tracked) or both outside (if you want the inplace to be tracked)."
        )
    return RuntimeError(text)


def strided_node(t: Tensor, base: Tensor) -> Any:
    """The node that takes the view `t` out of its base by sizes, strides and offset."""
    from . import broadcast

    complexes = t._a.dtype.kind == "c", base._a.dtype.kind == "c"
    if complexes == (False, True):  # parts of complex numbers
        from .op import REGISTRY

        base = REGISTRY["view_as_real"].call(base)
    elif complexes == (True, False):  # pairs of real numbers as complex ones
        from .op import REGISTRY
        from .tensor import tensor_of

        pairs = tensor_of(REGISTRY["view_as_real"].forward(t._a))
        pairs._node = broadcast.strided_node(pairs._a, base)
        return REGISTRY["view_as_complex"].call(pairs)._node
    return broadcast.strided_node(t._a, base)


# ------------------------------------------------------------------ memory


def storage_of(a: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The array that owns the memory of `a`, as far as NumPy knows."""
    base = a.base
    while base is not None:
        if isinstance(base, np.ndarray):
            a = base
        elif type(base).__name__ != "DummyArray":  # what as_strided puts between an array and its window
            break
        base = base.base
    return a


def _pointer_slowly(a: np.ndarray[Any, Any]) -> int:
    return int(a.__array_interface__["data"][0])


def _pointer_from_struct(a: np.ndarray[Any, Any]) -> int:
    # The first field of NumPy's array struct, behind Python's object header. NumPy's own ways make a dict or an object
    # of ctypes first, which takes twenty times as long, and every write through a view asks four times.
    return _at(id(a) + _HEADER).value or 0


_at, _HEADER = c_void_p.from_address, object.__basicsize__
_probe = np.zeros(3)[1:]
pointer = _pointer_from_struct if _pointer_from_struct(_probe) == _pointer_slowly(_probe) else _pointer_slowly


def strides_of(a: np.ndarray[Any, Any]) -> tuple[int, ...]:
    """Strides in elements; PyTorch's own where NumPy leaves them open (sizes 0 and 1)."""
    size = a.itemsize
    if a.flags.c_contiguous:
        out, step = [], 1
        for d, s in zip(reversed(a.shape), reversed(a.strides), strict=True):
            out.append(s // size if d == 1 and s > 0 and a.size else step)
            step *= max(d, 1)
        return tuple(reversed(out))
    strides = [s // size for s in a.strides]
    for i, (n, s) in enumerate(zip(a.shape, strides, strict=True)):
        if n == 1 and not s:
            strides[i] = a.shape[i + 1] * strides[i + 1] if i + 1 < a.ndim else 1
    return tuple(strides)


def offset_in(a: np.ndarray[Any, Any], storage: np.ndarray[Any, Any]) -> int:
    """How many elements after the start of `storage` the array `a` begins."""
    return (pointer(a) - pointer(storage)) // (a.itemsize or 1)


def geometry(a: np.ndarray[Any, Any], storage: np.ndarray[Any, Any]) -> tuple[tuple[int, ...], tuple[int, ...], int]:
    """Sizes, strides and offset of `a` in `storage`, in elements."""
    return a.shape, tuple(s // (a.itemsize or 1) for s in a.strides), offset_in(a, storage) if a.size else 0


def window(
    storage: np.ndarray[Any, Any], size: tuple[int, ...], stride: tuple[int, ...], offset: int, dtype: Any = None
) -> np.ndarray[Any, Any]:
    """The strided window of the memory that `storage` owns, perhaps as another dtype; RuntimeError when it reaches
    outside."""
    dtype = storage.dtype if dtype is None else dtype
    item = dtype.itemsize
    need = 0 if 0 in size else offset + 1 + sum((n - 1) * s for n, s in zip(size, stride, strict=True))
    if need * item > storage.nbytes or offset < 0:
        raise RuntimeError(
            f"setStorage: sizes {list(size)}, strides {list(stride)}, storage offset {offset}, and itemsize {item} "
            f"requiring a storage size of {need * item} are out of bounds for storage of size {storage.nbytes}"
        )
    strides = tuple(s * item for s in stride)
    if 0 in size:
        return np.ndarray(size, dtype, strides=strides)
    if storage.flags.forc:
        buffer = storage if storage.flags.c_contiguous else storage.T
        return np.ndarray(size, dtype, buffer, offset * item, strides)
    # an odd layout from outside
    flat = np.lib.stride_tricks.as_strided(storage, (storage.size,), (storage.itemsize,)).view(dtype)
    return np.lib.stride_tricks.as_strided(flat[offset:], size, strides)
