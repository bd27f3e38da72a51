"""What the factories share: nested data as arrays; how they read sizes, numbers, dtypes and devices, and make the tensor.

Most data are lists of numbers in rows of equal length, which NumPy reads by itself once the types of the leaves are
known. Whatever else there is (tensors and NumPy scalars among the numbers, ragged rows, strings) is walked in Python.
"""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from .. import dtypes
from ..core.modes import state
from ..core.subclass import Special, overrides
from ..core.tensor import Inference, Tensor, new, raw
from ..devices import CPU, check_cpu, device
from ..dtypes import dtype
from ..naming import warn

ndarray = np.ndarray
Array = np.ndarray[Any, Any]
F32 = np.dtype(np.float32)
I64 = np.dtype(np.int64)
_NUMBERS = frozenset({bool, int, float, complex})
_NESTS = frozenset({list, tuple})
_MAX_DIMS = 128
_TYPES = frozenset(d.np for d in dtypes.ALL if d is not dtypes.bfloat16)


def array_of(data: Any, d: dtype | None) -> Array:
    """A fresh array of Python data: a number, or sequences nested to any depth. Errors are PyTorch's."""
    state.record  # noqa: B018  a thread's first look at the state turns NumPy's warnings off
    leaves = _leaf_types(data)
    if leaves is not None:
        want = d if d is not None else _common(leaves)
        try:
            return _read(data, leaves, want)
        except (ValueError, TypeError, OverflowError):
            pass  # ragged rows, mixed depths, too large a number: the walk finds the words for it
    elif data.__class__ in _NESTS:
        a = _uniform(data)
        if a is not None and (d is None or d.np == a.dtype):
            return a
    return _walk(data, d)


def _uniform(data: Any) -> Array | None:
    """A list of NumPy scalars of one type, or of arrays of one type and shape, by NumPy; None for anything else."""
    kinds = set(map(type, data))
    if len(kinds) != 1:
        return None
    kind = kinds.pop()
    if issubclass(kind, np.generic):
        a = np.array(data)
        return a if a.dtype in _TYPES else None
    if kind is ndarray and data[0].ndim and data[0].dtype in _TYPES:
        if all(v.shape == data[0].shape and v.dtype == data[0].dtype for v in data):
            _warn_arrays()
            return np.stack(data)
    return None


def _leaf_types(data: Any) -> set[type] | None:
    """The types of the numbers in nested lists, None where there is anything else than plain numbers."""
    kind = data.__class__
    if kind in _NUMBERS:
        return {kind}
    if kind not in _NESTS:
        return None
    level = [data]
    while True:
        kinds: set[type] = set()
        for row in level:
            kinds.update(map(type, row))
        if kinds <= _NUMBERS:
            return kinds
        if not kinds <= _NESTS:
            return None
        level = [row for rows in level for row in rows]


def _common(leaves: set[type]) -> dtype:
    if complex in leaves:
        return dtypes.get_default_dtype().to_complex()
    if float in leaves or not leaves:
        return dtypes.get_default_dtype()
    return dtypes.int64 if int in leaves else dtypes.bool_


def _read(data: Any, leaves: set[type], d: dtype) -> Array:
    """Numbers in nested lists, by NumPy."""
    if complex in leaves and d.category != dtypes.COMPLEX and d.category != dtypes.BOOL:
        raise TypeError("the walk says what is wrong")
    if d.category == dtypes.INTEGRAL:
        if float in leaves:
            return integers(np.array(data, np.float64), d)
        return integers(np.array(data, I64), d)
    if d is dtypes.float64 or d.category in (dtypes.BOOL, dtypes.COMPLEX):
        return np.array(data, d.np)
    a = np.array(data, F32)
    return a if d is dtypes.float32 else a.astype(d.np)


def integers(a: Array, d: dtype) -> Array:
    """An array of numbers in an integer type; RuntimeError where one does not fit."""
    if d is dtypes.int64 and a.dtype == I64:
        return a
    info = np.iinfo(d.np)
    low = info.min if info.min else -int(info.max)  # unsigned types wrap what is negative
    if a.size and (a.dtype != I64 or d is not dtypes.uint64):
        if not (a.min() >= low and a.max() <= info.max):
            raise overflow(d)
    return a.astype(I64).astype(d.np) if a.dtype != I64 else a.astype(d.np)


def overflow(d: dtype) -> RuntimeError:
    return RuntimeError(f"value cannot be converted to type {d.name} without overflow")


# ------------------------------------------------------------------ the walk


def _walk(data: Any, d: dtype | None) -> Array:
    sizes = _sizes(data)
    warned = [False]
    inferred = _infer(data, warned)
    if d is None:
        d = inferred
    flat: list[Any] = []
    _flatten(data, sizes, 0, flat)
    store = _STORE[d.category] if d is not dtypes.uint64 else _to_uint64
    values = [store(v) for v in flat]
    return _pack(values, d).reshape(sizes)


def is_sequence(x: Any) -> bool:
    return hasattr(x, "__getitem__") and hasattr(x, "__len__") and not isinstance(x, (dict, Tensor, np.generic))


def _sizes(data: Any) -> list[int]:
    """The sizes, by the first element of each level."""
    sizes: list[int] = []
    x = data
    if isinstance(x, (str, bytes)):
        raise TypeError(f"new(): invalid data type '{type(x).__name__}'")
    while is_sequence(x) and not (isinstance(x, ndarray) and not x.ndim):
        sizes.append(len(x))
        if len(sizes) > _MAX_DIMS:
            raise ValueError(f"too many dimensions '{type(x).__name__}'")
        if not sizes[-1]:
            break
        x = x[0]
    return sizes


def _infer(x: Any, warned: list[bool]) -> dtype:
    """The common dtype of everything in `x`."""
    if isinstance(x, (ndarray, np.generic)):
        return dtypes.from_numpy(x.dtype)
    if isinstance(x, Tensor):
        return x.dtype
    if isinstance(x, (bool, int, float, complex)):
        return dtypes.of_scalar(x)
    if isinstance(x, (str, bytes)):
        raise TypeError(f"new(): invalid data type '{type(x).__name__}'")
    if not is_sequence(x):
        raise RuntimeError(f"Could not infer dtype of {type(x).__name__}")
    found: dtype | None = None
    for v in x:
        if isinstance(v, ndarray) and not warned[0]:
            warned[0] = True
            _warn_arrays()
        d = _infer(v, warned)
        found = d if found is None else dtypes.promote_types(found, d)
    return dtypes.get_default_dtype() if found is None else found


def _warn_arrays() -> None:
    warn(
        "Creating a tensor from a list of numpy.ndarrays is extremely slow. Please consider converting the list to a "
        "single numpy.ndarray with numpy.array() before converting to a tensor."
    )


def _flatten(x: Any, sizes: list[int], dim: int, out: list[Any]) -> None:
    if dim == len(sizes):
        out.append(x)
        return
    try:
        row = list(x)
    except TypeError:
        raise TypeError("not a sequence") from None
    if len(row) != sizes[dim]:
        raise ValueError(f"expected sequence of length {sizes[dim]} at dim {dim} (got {len(row)})")
    for v in row:
        _flatten(v, sizes, dim + 1, out)


def _number(x: Any) -> Any:
    if isinstance(x, Special):
        return x.item()
    a = raw(x) if isinstance(x, Tensor) else x
    if isinstance(a, (ndarray, np.generic)):
        if a.size != 1:
            raise ValueError("only one element tensors can be converted to Python scalars")
        return a.item()
    return a


def _to_int(x: Any) -> int:
    x = _number(x)
    if isinstance(x, float):
        if x != x or x in (float("inf"), float("-inf")):
            return 2**70  # out of every range
        return int(x)
    value = operator.index(x)
    if not -(2**63) <= value < 2**63:
        raise ValueError("Overflow when unpacking long long")
    return value


def _to_uint64(x: Any) -> int:
    x = _number(x)
    value = int(x) if isinstance(x, float) else operator.index(x)
    if not -(2**63) <= value < 2**64:
        raise ValueError("Overflow when unpacking long long")
    return value % 2**64


def _to_float(x: Any) -> float:
    x = _number(x)
    if isinstance(x, (float, int)):
        return float(x)
    raise TypeError(f"must be real number, not {type(x).__name__}")


_STORE = {
    dtypes.BOOL: lambda x: bool(_number(x)),
    dtypes.INTEGRAL: _to_int,
    dtypes.FLOATING: _to_float,
    dtypes.COMPLEX: lambda x: complex(_number(x)),
}


def _pack(values: list[Any], d: dtype) -> Array:
    if d.category != dtypes.INTEGRAL:
        wide = np.array(values, np.float64 if d.category == dtypes.FLOATING else d.np)
        return wide.astype(F32).astype(d.np) if d.itemsize == 2 else wide.astype(d.np, copy=False)
    if d is dtypes.uint64:
        return np.array(values, d.np)
    try:
        return integers(np.array(values, I64), d)
    except OverflowError:
        raise overflow(d) from None


# ------------------------------------------------------------------ NumPy arrays


def check_foreign(a: Array) -> None:
    """Raise what PyTorch raises for arrays that cannot become tensors without copying."""
    dtypes.from_numpy(a.dtype)
    if not a.dtype.isnative:
        raise ValueError(
            "given numpy array has byte order different from the native byte order. Conversion between byte orders "
            "is currently not supported."
        )
    if not a.flags.c_contiguous:
        item = a.itemsize
        for s in a.strides:
            if s < 0:
                raise ValueError(
                    "At least one stride in the given numpy array is negative, and tensors with negative strides are "
                    "not currently supported. (You can probably work around this by making a copy of your array  with "
                    "array.copy().) "
                )
            if s % item:
                raise ValueError(
                    "given numpy array strides not a multiple of the element byte size. Copy the numpy array to "
                    "reallocate the memory."
                )


_PYTHON_TYPES = {float: dtypes.float64, int: dtypes.int64, bool: dtypes.bool_, complex: dtypes.complex128}
_INTS = {int}
_MAX = {
    dtypes.float16: 65504.0, dtypes.bfloat16: 3.3895313892515355e38, dtypes.float32: 3.4028234663852886e38,
    dtypes.float64: math.inf,
}  # fmt: skip
C_TYPES = {
    "int8": "int8_t", "uint8": "uint8_t", "int16": "int16_t", "int32": "int", "int64": "int64_t",
    "uint16": "uint16_t", "uint32": "uint32_t", "uint64": "uint64_t", "float16": "c10::Half",
    "bfloat16": "c10::BFloat16", "float32": "float", "float64": "double", "bool": "bool",
    "complex64": "c10::complex<float>", "complex128": "c10::complex<double>",
}  # fmt: skip


def made(a: Any, requires_grad: Any = False) -> Tensor:
    """A fresh tensor over an array, as a factory returns it."""
    t = new(Tensor)
    t._a = a
    t._v = [0] if not state.inference else Inference((0,))
    t._node = t._view = t._grad = t._extra = None
    if requires_grad:
        want_grad(t, requires_grad)
    return t


def want_grad(t: Tensor, on: Any) -> None:
    if on is not True:
        raise TypeError(f"argument 'requires_grad' must be bool, not {type(on).__name__}")
    if dtypes.from_numpy(raw(t).dtype).category < dtypes.FLOATING:  # raw: a function mode hides the array
        raise RuntimeError("Only Tensors of floating point and complex dtype can require gradients")
    t._node = True


def refuse_grad(out: Any, fn: str) -> None:
    """RuntimeError for an out= that is a leaf wanting a gradient: what is written there would have no history."""
    if state.grad and out._node is True:
        raise RuntimeError(
            f"{fn}(): functions with out=... arguments don't support automatic differentiation, but one of the "
            "arguments requires grad."
        )


def finish(a: Any, out: Any, requires_grad: Any, fn: str = "") -> Tensor:
    """The tensor over a factory's result, or `out` with the result written into it."""
    if out is None:
        return made(a, requires_grad)
    if fn:
        refuse_grad(out, "aten::" + fn)
    if out._a.shape != a.shape:
        out._a = np.empty(a.shape, out._a.dtype)
    out._a[...] = a
    out._v[0] += 1
    if requires_grad:
        want_grad(out, requires_grad)
    return out


# ------------------------------------------------------------------ wrong calls

OPTIONS = (
    "torch.dtype dtype = None, torch.layout layout = None, torch.device device = None, bool pin_memory = False, "
    "bool requires_grad = False"
)


def word(v: Any) -> str:
    """The type of an argument as PyTorch's messages name it."""
    kind = type(v)
    name = kind.__name__
    if isinstance(v, (dtype, device)) or name in ("layout", "memory_format"):
        return f"torch.{name}"
    return {"numpy": "numpy."}.get(
        kind.__module__, "torch._C." if name == "Generator" else "torch." * (name == "Size")
    ) + name


def elements(tensors: Any, place: int = 0) -> Any:
    """The tensors of an argument that is a list of them; TypeError for what is none."""
    for i, x in enumerate(tensors):
        if not isinstance(x, Tensor):
            raise TypeError(f"expected Tensor as element {i} in argument {place}, but got {word(x)}")
    return tensors


def bad_combination(fn: str, args: Any, kw: dict[str, Any], *signatures: str) -> TypeError:
    """The error of arguments that fit none of a function's signatures."""
    got = ", ".join([*map(word, args), *(f"{k}={word(v)}" for k, v in kw.items())])
    if len(kw) == 1 and not args:
        got += ", "
    lines = "".join(f" * ({s})\n" for s in signatures)
    return TypeError(
        f"{fn}() received an invalid combination of arguments - got ({got}), but expected one of:\n{lines}"
    )


def overriding(x: Any) -> bool:
    """Whether a tensor's class wants to see what is done to it: asked where no op would ask."""
    return x.__class__ is not Tensor and ((state.torch_function and overrides(x.__class__)) or hasattr(x, "made_like"))


# ------------------------------------------------------------------ dtypes and places


def as_dtype(d: Any, fn: str) -> dtype:
    """What a caller gave for `dtype=`: a dtype, or Python's float, int, bool or complex."""
    if d.__class__ is dtype:
        return d
    if isinstance(d, type) and d in _PYTHON_TYPES:
        return _PYTHON_TYPES[d]
    raise TypeError(f"{fn}(): argument 'dtype' must be torch.dtype, not {type(d).__name__}")


def np_dtype(d: Any, fn: str) -> Any:
    """The NumPy dtype for `dtype=`, the default type for None."""
    return type_for(d, None, fn)


def type_for(d: Any, out: Any, fn: str) -> Any:
    """The NumPy dtype for `dtype=`: that of `out`, or the default type, where none is given."""
    if d is None:
        return dtypes.get_default_dtype().np if out is None else out._a.dtype
    d = d if d.__class__ is dtype else as_dtype(d, fn)
    if out is not None and out.dtype is not d:
        raise RuntimeError(f"dtype {d.legacy} does not match dtype of out parameter ({out.dtype.legacy})")
    return d.np


def check_place(where: Any, pin_memory: bool = False, layout: Any = None) -> None:
    """Raise if a factory is asked for something that a CPU build does not have."""
    if where is not None and where is not CPU:
        check_cpu(where if isinstance(where, (device, str, int)) else device(where))
    if pin_memory:
        raise RuntimeError(
            "pin_memory=True requires a CUDA or other accelerator backend; no pinned memory allocator is available "
            "on this system."
        )
    if layout is not None and str(layout) != "torch.strided":
        raise RuntimeError(
            f"this makes dense tensors; for those of layout {layout} there is torch.{layout.name}_tensor"
        )


# ------------------------------------------------------------------ sizes


def sizes_of(args: tuple[Any, ...], size: Any, fn: str) -> tuple[int, ...]:
    """Sizes given as numbers, as one sequence, or by `size=`."""
    if args:
        if set(map(type, args)) == _INTS and min(args) >= 0:
            return args
        first = args[0]
        bad = first.numel() != 1 if isinstance(first, Tensor) else not hasattr(first, "__index__")
        if len(args) > 1 and bad and not isinstance(first, str):
            raise TypeError(f"{fn}() takes 1 positional argument but {len(args)} were given")
        size = args[0] if len(args) == 1 else args
    elif size is None:
        raise TypeError(f'{fn}() missing 1 required positional arguments: "size"')
    return shape_of(size, fn, True)


def shape_of(size: Any, fn: str, single: bool = False) -> tuple[int, ...]:
    """A sequence of sizes (or, with `single`, one number), checked."""
    kind = size.__class__
    if kind is not tuple and kind is not list and not isinstance(size, (tuple, list)):
        if not single or not _is_index(size):
            raise TypeError(f"{fn}(): argument 'size' (position 1) must be tuple of ints, not {_word(kind)}")
        size = (size,)
    out = []
    for i, n in enumerate(size):
        if n.__class__ is not int:
            n = _index(n, i, fn, single and not i)
        out.append(n)
    if out and min(out) < 0:
        if fn == "zeros":
            raise RuntimeError("zeros: Dimension size must be non-negative.")
        raise RuntimeError(f"Trying to create tensor with negative dimension {next(n for n in out if n < 0)}: {out}")
    return tuple(out)


def _word(kind: type) -> str:
    return f"numpy.{kind.__name__}" if kind.__module__ == "numpy" else kind.__name__


def _is_index(n: Any) -> bool:
    if isinstance(n, Tensor):
        return n.shape.numel() == 1 and not n.ndim and n.dtype.category == dtypes.INTEGRAL
    return isinstance(n, (int, np.integer)) and not isinstance(n, bool)


def _index(n: Any, i: int, fn: str, looked: bool = False) -> int:
    if isinstance(n, bool) or (looked and not hasattr(n, "__index__")):
        kind = type(n).__name__
        raise TypeError(
            f"{fn}(): argument 'size' (position 1) must be tuple of ints, but found element of type {kind} at pos {i}"
        )
    try:
        return operator.index(n)
    except TypeError:
        raise TypeError(
            f"{fn}(): argument 'size' failed to unpack the object at pos {i + 1} with error \"type must be tuple of "
            f'ints,but got {type(n).__name__}"'
        ) from None


def empty_array(shape: tuple[int, ...], d: Any) -> Any:
    """Memory for an array; RuntimeError with PyTorch's words where there is not enough."""
    try:
        return np.empty(shape, d)
    except (MemoryError, ValueError):
        raise out_of_memory(shape, d) from None


def out_of_memory(shape: tuple[int, ...], d: Any) -> RuntimeError:
    n = np.dtype(d).itemsize * math.prod(shape)
    return RuntimeError(
        f"DefaultCPUAllocator: can't allocate memory: you tried to allocate {n} bytes. Error code 12 (Cannot allocate "
        "memory)"
    )


def restrided(shape: tuple[int, ...], d: Any, order: str) -> Any:
    """Memory whose dimensions lie as in a channels-last format."""
    rank = 4 if order == "channels_last" else 5
    if len(shape) != rank:
        raise RuntimeError(f"required rank {rank} tensor to use {order} format")
    return np.moveaxis(empty_array((shape[0], *shape[2:], shape[1]), d), -1, 1)


def _has_channels_last(a: ndarray) -> bool:
    least = 0
    for d in (1, *range(a.ndim - 1, 1, -1), 0):
        if a.strides[d] < least or (d == 0 and least == a.strides[1]):
            return False
        least = a.strides[d] * a.shape[d]
    return a.size > 0


def laid_as(r: Any, *given: Any) -> Any:
    """A result, with its channels last in memory if one of these arrays has them there."""
    if r.ndim in (4, 5):
        for a in given:
            if not a.flags.c_contiguous and _has_channels_last(a):
                return np.moveaxis(np.ascontiguousarray(np.moveaxis(r, 1, -1)), -1, 1)
    return r


def planned(plan: Callable[..., Any]) -> Callable[..., Any]:
    """Remember what a function of a shape and arguments found."""
    kept = functools.lru_cache(256)(plan)

    def call(*args: Any) -> Any:
        try:
            return kept(*args)
        except TypeError:  # a list, which can't be looked up
            return plan(*args)

    return call


# ------------------------------------------------------------------ numbers


def number(value: Any, fn: str, name: str, position: int) -> Any:
    """A Python number, NumPy scalar or 0-d tensor as a Python number."""
    if isinstance(value, (int, float, complex)) and not isinstance(value, np.generic):
        return value
    if isinstance(value, (Tensor, ndarray, np.generic)) and not value.ndim:
        return value.item()
    raise TypeError(f"{fn}(): argument '{name}' (position {position}) must be Number, not {type(value).__name__}")


_warned: set[str] = set()


def warn_once(text: str) -> None:
    """Warn once in a program."""
    if text not in _warned:
        _warned.add(text)
        warn(text)


def integer(value: Any, fn: str, name: str, position: int) -> int:
    """A Python int, or what stands for one."""
    if value.__class__ is int:
        return value
    try:
        if isinstance(value, bool):
            raise TypeError
        return operator.index(value)
    except TypeError:
        raise TypeError(
            f"{fn}(): argument '{name}' (position {position}) must be int, not {type(value).__name__}"
        ) from None


def filling(value: Any, d: dtype) -> Any:
    """A number as it is written into an array of a dtype; RuntimeError where it does not fit."""
    if isinstance(value, int) and not -(2**63) <= value < 2**64:
        raise OverflowError("int too big to convert")
    fits = True
    if isinstance(value, complex) and d.category < dtypes.COMPLEX:
        fits, value = not value.imag or d is dtypes.bool_, value.real if d is not dtypes.bool_ else value
    if d.category == dtypes.INTEGRAL:
        info = np.iinfo(d.np)
        if isinstance(value, float):
            value = int(value) if info.min <= value <= info.max else 2**70
        fits = fits and -info.max - (1 if info.min else 0) <= value <= info.max
        if fits and value < 0 and not info.min:
            value += info.max + 1
    elif d.category == dtypes.FLOATING:
        value = float(value)
        fits = fits and (abs(value) <= _MAX[d] or not math.isfinite(value))
    elif d.category == dtypes.BOOL:
        value = bool(value)
    if not fits:
        raise RuntimeError(f"value cannot be converted to type {C_TYPES[d.name]} without overflow")
    return np.array(value, d.np)
