"""The same elements in another shape or order: view, reshape, transpose, permute.

Each op here is linear and a view, so its adjoint is all there is to say. `windows.py` adds, drops and
repeats dimensions, and has the views of a part.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from ..core.errors import explain
from ..core.linear import linear, view_op
from ..core.parameters import REQUIRED
from ..core.tensor import Tensor, new
from ..core.views import storage_of
from ..dtypes import from_numpy
from ..shapes import normalize_dim
from ._arguments import numpy_names, refusal, spoken
from ._hot import relabel
from ._make import warn_once

__all__ = [
    "adjoint", "flatten", "moveaxis", "movedim", "permute", "ravel", "reshape", "swapaxes", "swapdims", "t",
    "transpose", "unflatten",
]  # fmt: skip
METHODS = "* reshape_as swapaxes_ swapdims_ t_ transpose_ view view_as"
PROPERTIES = "H T mH mT"

Ints = tuple[int, ...]
ndarray = np.ndarray


def ints(args: tuple[Any, ...], fn: str, name: str) -> Ints:
    """The sizes or dims of a method called as f(2, 3) or f((2, 3)); TypeError for what is none."""
    if len(args) == 1 and args[0].__class__ is not int:
        only = args[0]
        if isinstance(only, (tuple, list)):
            args = tuple(only)
            if args and not hasattr(args[0], "__index__"):
                what = type(args[0]).__name__
                raise TypeError(
                    f"{fn}(): argument '{name}' (position 1) must be tuple of ints, but found element of type {what} at pos 0"
                )
        elif isinstance(only, bool) or not hasattr(only, "__index__") or getattr(only, "ndim", None):
            what = type(only).__name__
            raise TypeError(f"{fn}(): argument '{name}' (position 1) must be tuple of ints, not {what}")
    elif args and (
        not hasattr(args[0], "__index__")
        or (isinstance(args[0], Tensor) and (args[0].numel() != 1 or args[0].dtype.np.kind not in "iu"))
    ):
        if len(args) > 1:
            raise TypeError(f"{fn}() takes 1 positional argument but {len(args)} were given")
    for a in args:
        if a.__class__ is not int:
            return tuple(_one(a, i, fn, name) for i, a in enumerate(args))
    return args


def _one(a: Any, i: int, fn: str, name: str) -> int:
    try:
        if isinstance(a, bool) or not hasattr(a, "__index__"):
            raise TypeError
        return operator.index(a)
    except TypeError:
        raise TypeError(
            f"{fn}(): argument '{name}' failed to unpack the object at pos {i + 1} with error \"type must be tuple of "
            f'ints,but got {type(a).__name__}"'
        ) from None


def named_ints(args: tuple[Any, ...], kw: dict[str, Any], fn: str, name: str) -> Ints:
    """`ints`, of sizes that may also be given by keyword, the only one there is."""
    if name in kw:
        args = (kw.pop(name),)
    elif not args:
        raise TypeError(f'{fn}() missing 1 required positional arguments: "{name}"')
    if kw:
        raise TypeError(f"{fn}() got an unexpected keyword argument '{next(iter(kw))}'")
    return ints(args, fn, name)


# ------------------------------------------------------------------ another shape


def infer_shape(shape: Ints, size: int) -> Ints:
    """A shape with its -1 resolved; RuntimeError when it does not hold `size` elements."""
    known, hole = 1, None
    for i, d in enumerate(shape):
        if d == -1:
            if hole is not None:
                raise RuntimeError("only one dimension can be inferred")
            hole = i
        elif d < 0:
            raise RuntimeError(f"invalid shape dimension {d} at index {i} of shape {list(shape)}")
        else:
            known *= d
    if hole is None:
        if known == size:
            return shape
    elif known == 0:
        if size == 0:
            raise RuntimeError(
                f"cannot reshape tensor of 0 elements into shape {list(shape)} because the unspecified dimension size "
                "-1 can be any value and is ambiguous"
            )
    elif size % known == 0:
        return (*shape[:hole], size // known, *shape[hole + 1 :])
    raise explain(
        RuntimeError(f"shape '{list(shape)}' is invalid for input of size {size}"),
        f"the sizes must multiply to {size}; one of them may be -1 to be inferred.",
    )


def _reshaped(input: Any, shape: Ints) -> Any:
    """An array in another shape: a view if NumPy can. Sizes are checked when something is unusual about them."""
    try:
        r = input.reshape(shape)
    except ValueError:
        return input.reshape(infer_shape(shape, input.size))
    if r.shape != shape and min(shape) < -1:  # which NumPy takes for -1
        infer_shape(shape, input.size)
    return r


def _view(input: Any, shape: Ints) -> Any:
    """The same elements in another shape, sharing memory."""
    try:
        r = input.reshape(shape)
        if r.shape != shape and min(shape) < -1:  # which NumPy takes for -1
            infer_shape(shape, input.size)
    except ValueError:
        r = input.reshape(infer_shape(shape, input.size))
    if input.flags.c_contiguous or not input.size or storage_of(r) is storage_of(input):
        return r
    raise explain(
        RuntimeError(
            "view size is not compatible with input tensor's size and stride (at least one dimension spans across two "
            "contiguous subspaces). Use .reshape(...) instead."
        ),
        "view() never copies, and these elements do not lie one after the other; reshape() copies where it must.",
    )


view = view_op("view", _view, lambda g, shape, _: reshape(g, shape))


def method_view(self: Tensor, *shape: Any, dtype: Any = None, size: Any = None) -> Any:
    """The same elements in another shape, sharing memory; or the same bytes as another dtype.

    **Arguments** shape: the sizes, as numbers or one tuple, of which one may be -1; or a dtype.
    **Errors** RuntimeError where the elements do not lie so that a view could show them.

    >>> import tidu as torch
    >>> torch.arange(6).view(2, -1)
    tensor([[0, 1, 2],
            [3, 4, 5]])
    """
    if shape and shape[0].__class__ is int:
        try:
            return view(self, shape)
        except TypeError:  # a size that is no number: `ints` says so in PyTorch's words
            pass
    if dtype is not None or (shape and type(shape[0]).__name__ == "dtype"):
        return _view_as_dtype(self, dtype if dtype is not None else shape[0])
    try:
        sizes = named_ints(shape, {} if size is None else {"size": size}, "view", "size")
    except TypeError as error:
        raise refusal("view", True, (self, *shape), {}) or error from None
    return view(self, sizes)


def _reshape_copy(input: Any, shape: Ints) -> Any:
    return np.array(input, order="C").reshape(infer_shape(shape, input.size))


copying_reshape = linear(
    "reshape_copy",
    _reshape_copy,
    lambda g, input_shape: reshape(g, input_shape),
    node="UnsafeViewBackward0",
    out_arg=False,
)
_unsafe_view = linear(
    "_unsafe_view", _reshaped, lambda g, input_shape: reshape(g, input_shape), node="UnsafeViewBackward0", out_arg=False
)


_reshape_alias = view_op("_reshape_alias", _view, lambda g, shape, _: reshape(g, shape))


def reshape(input: Any = REQUIRED, shape: Any = REQUIRED) -> Any:
    """The elements in another shape: a view where that is possible, else a copy."""
    if input.__class__ is ndarray:
        return input.reshape(shape)
    if shape.__class__ is not tuple:
        if not isinstance(shape, (tuple, list)):
            raise spoken(TypeError(), input, shape)
        shape = ints((shape,), "reshape", "shape")
    a = getattr(input, "_a", None)
    if a is None:
        try:
            return view(input, shape)
        except RuntimeError:  # it need not be possible for a value of a transform
            return copying_reshape(input, shape)
    if a.flags.c_contiguous:
        return view(input, shape)
    if storage_of(_reshaped(a, shape)) is storage_of(a):
        return _reshape_alias(input, shape)
    return _unsafe_view(contiguous_clone(input), infer_shape(shape, a.size))


contiguous_clone = linear(
    "contiguous_clone", lambda input: np.array(input, order="C"), lambda g: g, node="CloneBackward0", out_arg=False
)


def method_reshape(self: Tensor, *shape: Any, **kw: Any) -> Any:
    """The elements in another shape: a view where that is possible, else a copy."""
    if shape and shape[0].__class__ is int and not kw:
        try:
            return reshape(self, shape)
        except TypeError:
            pass
    return reshape(self, named_ints(shape, kw, "reshape", "shape"))


def view_as(self: Tensor, other: Tensor) -> Any:
    """The elements in the shape of `other`, sharing memory."""
    return view(self, tuple(other.shape))


def reshape_as(self: Tensor, other: Tensor) -> Any:
    """The elements in the shape of `other`."""
    return reshape(self, tuple(other.shape))


def flatten(input: Any, start_dim: int = 0, end_dim: int = -1) -> Any:
    """The dimensions from `start_dim` through `end_dim` made one; a 0-d tensor gets a dimension."""
    a = getattr(input, "_a", None)
    if start_dim == 0 and end_dim == -1 and a is not None and a.ndim > 1:
        return reshape(input, (a.size,))
    shape = tuple(input.shape)
    first, last = normalize_dim(start_dim, len(shape)), normalize_dim(end_dim, len(shape))
    if first > last:
        raise RuntimeError("flatten() has invalid args: start_dim cannot come after end_dim")
    if not shape:
        return reshape(input, (1,))
    if first == last:
        return input
    n = 1
    for d in shape[first : last + 1]:
        n *= d
    return reshape(input, (*shape[:first], n, *shape[last + 1 :]))


@numpy_names
def unflatten(input: Any, dim: int, sizes: Any) -> Any:
    """One dimension split into several, whose sizes (one may be -1) multiply to its own."""
    if not isinstance(sizes, (tuple, list)):
        what = type(sizes).__name__
        raise TypeError(f"unflatten(): argument 'sizes' (position 3) must be tuple of ints, not {what}")
    sizes = tuple(sizes)
    shape = tuple(input.shape)
    if not shape:
        normalize_dim(dim, 0)
        raise RuntimeError("unflatten got an unexpected error:\nDimension specified as 0 but tensor has no dimensions")
    d = normalize_dim(dim, len(shape))
    if not sizes:
        raise RuntimeError("unflatten: sizes must be non-empty")
    try:
        full = infer_shape(sizes, shape[d])
    except RuntimeError as error:
        if "is invalid" not in str(error):
            raise RuntimeError(f"unflatten got an unexpected error:\n{error}") from None
        raise RuntimeError(
            f"unflatten: Provided sizes {list(sizes)} don't multiply up to the size of dim {d} ({shape[d]}) in the "
            "input tensor"
        ) from None
    return view(input, (*shape[:d], *full, *shape[d + 1 :]))


def ravel(input: Any) -> Any:
    """All elements in one dimension: a view if they lie in order, else a copy."""
    a = getattr(input, "_a", None)
    if a is None:
        return reshape(input, (-1,))
    return view(input if a.flags.c_contiguous else contiguous_clone(input), (-1,))


# ------------------------------------------------------------------ the same bytes as another dtype


def _bytes_as(input: Any, dtype: Any) -> Any:
    have, want = input.itemsize, dtype.itemsize
    if have == want:
        return input.view(dtype)
    words = f"view {from_numpy(input.dtype).legacy} as {from_numpy(dtype).legacy} (different element sizes)"
    if not input.ndim:
        raise RuntimeError(f"self.dim() cannot be 0 to {words}")
    if want > have and input.shape[-1] * have % want:
        ratio = want // have
        raise RuntimeError(f"self.size(-1) must be divisible by {ratio} to {words}, but got {input.shape[-1]}")
    if input.shape[-1] > 1 and input.strides[-1] != have:
        raise RuntimeError(f"self.stride(-1) must be 1 to {words}, but got {input.strides[-1] // have}")
    if want > have:
        for i, s in enumerate(input.strides[:-1]):
            if s % want and input.shape[i] > 1:
                ratio = want // have
                raise RuntimeError(f"self.stride({i}) must be divisible by {ratio} to {words}, but got {s // have}")
    return input.view(dtype)


_bytes_op = linear("view_as_dtype", _bytes_as, None, out_arg=False)


def _view_as_dtype(x: Any, d: Any) -> Any:
    a = getattr(x, "_a", None)
    if a is None:
        return _bytes_op(x, d.np)
    r = new(Tensor)  # shares memory and version, and is no view that autograd knows
    r._a = _bytes_as(a, d.np)
    r._v = x._v
    r._node = r._view = r._grad = r._extra = None
    return r


# ------------------------------------------------------------------ the dimensions in another order


alias = view_op("alias", lambda input: input[...], lambda g, shape: g)


def _transpose(input: Any, dim0: int, dim1: int) -> Any:
    """Exchange two dimensions, as a view."""
    n = input.ndim
    if n == 2 and dim0 != dim1 and -2 <= dim0 < 2 and -2 <= dim1 < 2 and (dim0 - dim1) % 2:
        return input.T
    d0, d1 = normalize_dim(dim0, n), normalize_dim(dim1, n)
    return input.swapaxes(d0, d1) if n else input[...]


transpose = view_op("transpose", _transpose, lambda g, shape, dim0, dim1: transpose(g, dim0, dim1))


def swapaxes(input: Any, axis0: int, axis1: int) -> Any:
    """Exchange two dimensions, as a view."""
    return transpose(input, axis0, axis1)


def swapdims(input: Any, dim0: int, dim1: int) -> Any:
    """Exchange two dimensions, as a view."""
    return transpose(input, dim0, dim1)


def _t(input: Any) -> Any:
    """The transpose of a matrix, as a view."""
    if input.ndim > 2:
        raise RuntimeError(f"t() expects a tensor with <= 2 dimensions, but self is {input.ndim}D")
    return input.T


t = view_op("t", _t, lambda g, shape: t(g))


def _permute(input: Any, dims: Ints) -> Any:
    """The dimensions in another order, as a view."""
    try:
        return input.transpose(dims)
    except ValueError:
        pass
    n = input.ndim
    if len(dims) != n:
        raise RuntimeError(
            "permute(sparse_coo): number of dimensions in the tensor input does not match the length of the desired "
            f"ordering of dimensions i.e. input.dim() = {n} is not equal to len(dims) = {len(dims)}"
        )
    for d in dims:
        normalize_dim(d, n)
    raise RuntimeError("permute(): duplicate dims are not allowed.")


def _inverse(dims: Ints) -> Ints:
    n = len(dims)
    out = [0] * n
    for i, d in enumerate(dims):
        out[d % n] = i
    return tuple(out)


permute = view_op("permute", _permute, lambda g, shape, dims: permute(g, _inverse(dims)))


def method_permute(self: Tensor, *dims: Any, **kw: Any) -> Any:
    """The dimensions in another order, as a view."""
    if dims and dims[0].__class__ is int and not kw:
        return permute(self, dims)
    return permute(self, named_ints(dims, kw, "permute", "dims"))


def movedim(input: Any, source: Any, destination: Any) -> Any:
    """Dimensions moved to other places, the rest in their order, as a view. Source: torch.movedim."""
    one = isinstance(source, int)
    sources, places = ((source,), (destination,)) if one else (tuple(source), tuple(destination))
    if len(sources) != len(places):
        raise RuntimeError(
            f"movedim: Invalid source or destination dims: source ({list(sources)} dims) should contain the same "
            f"number of dims as destination ({list(places)} dims)"
        )
    n = len(input.shape)
    src = [normalize_dim(d, n) for d in sources]
    dst = [normalize_dim(d, n) for d in places]
    if len(set(src)) != len(src):
        raise RuntimeError(f"movedim: repeated dim in `source` ({list(sources)})")
    if len(set(dst)) != len(dst):
        raise RuntimeError(f"movedim: repeated dim in `destination` ({list(places)})")
    if not n:
        return alias(input)
    placed = dict(zip(dst, src, strict=True))
    rest = iter([d for d in range(n) if d not in src])
    return permute(input, tuple(placed[i] if i in placed else next(rest) for i in range(n)))


moveaxis = movedim


def property_T(self: Tensor) -> Any:
    """The dimensions in reverse order, as a view."""
    a = getattr(self, "_a", None)
    n = self.ndim if a is None else a.ndim
    if n == 2:
        return permute(self, (1, 0))
    if n == 0:
        warn_once("Tensor.T is deprecated on 0-D tensors. This function is the identity in these cases.")
    else:
        warn_once(
            "The use of `x.T` on tensors of dimension other than 2 to reverse their shape is deprecated and it will "
            "throw an error in a future release. Consider `x.mT` to transpose batches of matrices or "
            "`x.permute(*torch.arange(x.ndim - 1, -1, -1))` to reverse the dimensions of a tensor."
        )
    return permute(self, tuple(range(n - 1, -1, -1)))


def _matrices(x: Any, what: str, note: str) -> bool:
    """Whether `x` is a matrix or batch of them; False for a 0-d tensor, RuntimeError for a vector."""
    n = x.ndim
    if n == 1:
        raise RuntimeError(f"{what} is only supported on matrices or batches of matrices. Got 1-D tensor.")
    if not n:
        warn_once(note)
    return n > 1


def _conj(x: Any) -> Any:
    return x.conj() if x.dtype.is_complex else x


def property_mT(self: Tensor) -> Any:
    """The last two dimensions exchanged, as a view."""
    note = "Tensor.mT is deprecated on 0-D tensors. This function is the identity in these cases."
    return transpose(self, -2, -1) if _matrices(self, "tensor.mT", note) else self


def property_mH(self: Tensor) -> Any:
    """The conjugate transpose of a matrix or batch of them."""
    note = "Tensor.mH is deprecated on 0-D tensors. Consider using x.conj()."
    return _conj(transpose(self, -2, -1) if _matrices(self, "tensor.mH", note) else self)


def adjoint(input: Tensor) -> Any:
    """The conjugate transpose of a matrix or batch of them."""
    note = "adjoint() is deprecated on 0-D tensors. Consider using x.conj()."
    return _conj(transpose(input, -2, -1) if _matrices(input, "tensor.adjoint()", note) else input)


def property_H(self: Tensor) -> Any:
    """The conjugate transpose of a matrix."""
    n = self.ndim
    if n == 2:
        return _conj(transpose(self, 0, 1))
    if n:
        more = " For batches of matrices, consider using tensor.mH" if n > 2 else ""
        raise RuntimeError(f"tensor.H is only supported on matrices (2-D tensors). Got {n}-D tensor.{more}")
    warn_once("Tensor.H is deprecated on 0-D tensors. Consider using x.conj().")
    return _conj(self)


# ------------------------------------------------------------------ in place: the tensor itself gets the new shape


t_ = relabel(t.op, "t_", "TBackward1")
transpose_ = swapdims_ = swapaxes_ = relabel(transpose.op, "transpose_", "TransposeBackward1")

for _method in (method_view, method_reshape, method_permute):  # by these names Python speaks of them
    _method.__name__ = _method.__qualname__ = _method.__name__.removeprefix("method_")
