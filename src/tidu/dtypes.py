"""Data types: PyTorch's names over NumPy's dtypes, and the rules by which two of them meet.

A `dtype` is an interned object. Its NumPy counterpart is `.np`; `bfloat16` fetches its own from `ml_dtypes`
the first time it is asked for, so that importing tidu does not pay for it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .naming import Shown

BOOL, INTEGRAL, FLOATING, COMPLEX = range(4)  # the categories of type promotion, in rising order


class dtype(metaclass=Shown):
    """A data type such as `tidu.float32`. Source: torch.dtype."""

    __slots__ = ("_np", "category", "itemsize", "legacy", "name")
    torch_name = "torch.dtype"

    name: str
    category: int
    itemsize: int
    legacy: str  # the word in the names of the old tensor types: FloatTensor, LongTensor, ...

    def __init__(self, name: str, np_type: Any, category: int, itemsize: int, legacy: str) -> None:
        self.name = name
        self._np = None if np_type is None else np.dtype(np_type)
        self.category = category
        self.itemsize = itemsize
        self.legacy = legacy

    @property
    def np(self) -> np.dtype[Any]:
        """The NumPy dtype of this type."""
        if self._np is None:
            import ml_dtypes

            self._np = np.dtype(getattr(ml_dtypes, self.name))
            _BY_NUMPY[self._np] = self
        return self._np

    @property
    def is_floating_point(self) -> bool:
        return self.category == FLOATING

    @property
    def is_complex(self) -> bool:
        return self.category == COMPLEX

    @property
    def is_signed(self) -> bool:
        return self.name[0] not in "ub"[:1] and self.category != BOOL

    def to_real(self) -> dtype:
        """The type of this one's real part."""
        return {complex64: float32, complex128: float64}.get(self, self)

    def to_complex(self) -> dtype:
        """The complex type whose parts have this one's precision."""
        if self.category <= INTEGRAL:
            raise RuntimeError(f"Unknown Complex ScalarType for {self.legacy}")
        return {float64: complex128, complex128: complex128}.get(self, complex64)

    def __repr__(self) -> str:
        return "torch." + self.name

    def __reduce__(self) -> str:
        return self.name


uint8 = dtype("uint8", np.uint8, INTEGRAL, 1, "Byte")
int8 = dtype("int8", np.int8, INTEGRAL, 1, "Char")
int16 = short = dtype("int16", np.int16, INTEGRAL, 2, "Short")
int32 = int_ = dtype("int32", np.int32, INTEGRAL, 4, "Int")
int64 = long = dtype("int64", np.int64, INTEGRAL, 8, "Long")
uint16 = dtype("uint16", np.uint16, INTEGRAL, 2, "UInt16")
uint32 = dtype("uint32", np.uint32, INTEGRAL, 4, "UInt32")
uint64 = dtype("uint64", np.uint64, INTEGRAL, 8, "UInt64")
float16 = half = dtype("float16", np.float16, FLOATING, 2, "Half")
bfloat16 = dtype("bfloat16", None, FLOATING, 2, "BFloat16")
float32 = float_ = dtype("float32", np.float32, FLOATING, 4, "Float")
float64 = double = dtype("float64", np.float64, FLOATING, 8, "Double")
complex64 = cfloat = dtype("complex64", np.complex64, COMPLEX, 8, "ComplexFloat")
complex128 = cdouble = dtype("complex128", np.complex128, COMPLEX, 16, "ComplexDouble")
bool_ = dtype("bool", np.bool_, BOOL, 1, "Bool")

ALL = (
    uint8, int8, int16, int32, int64, uint16, uint32, uint64,
    float16, bfloat16, float32, float64, complex64, complex128, bool_,
)  # fmt: skip

_BY_NUMPY: dict[Any, dtype] = {d._np: d for d in ALL if d._np is not None}


def from_numpy(np_type: Any) -> dtype:
    """The dtype of a NumPy dtype; TypeError with PyTorch's words for those that have none."""
    try:
        return _BY_NUMPY[np_type]
    except KeyError:
        pass
    np_type = np.dtype(np_type)
    if np_type in _BY_NUMPY:
        return _BY_NUMPY[np_type]
    if np_type.name == "bfloat16":
        return _BY_NUMPY[bfloat16.np]
    native = np_type.newbyteorder("=")
    if native in _BY_NUMPY:
        return _BY_NUMPY[native]
    name = "numpy.object_" if np_type == np.object_ else f"numpy.{np_type.type.__name__}"
    raise TypeError(
        f"can't convert np.ndarray of type {name}. The only supported types are: float64, float32, float16, "
        "complex64, complex128, int64, int32, int16, int8, uint64, uint32, uint16, uint8, and bool."
    )


# ------------------------------------------------------------------ the default floating type

_default = float32


def get_default_dtype() -> dtype:
    """The type of floats made from Python numbers. Source: torch.get_default_dtype."""
    return _default


def set_default_dtype(d: dtype) -> None:
    """Set the type that Python floats become; float32 at the start. Source: torch.set_default_dtype."""
    global _default
    if not isinstance(d, dtype):
        raise TypeError("invalid dtype object: only floating-point types are supported as the default type")
    if not d.is_floating_point:
        raise TypeError("only floating-point types are supported as the default type")
    _default = d


def of_scalar(value: Any) -> dtype:
    """The type a Python number takes when nothing else decides."""
    if isinstance(value, (bool, np.bool_)):
        return bool_
    if isinstance(value, (int, np.integer)):
        return int64
    if isinstance(value, (complex, np.complexfloating)):
        return _default.to_complex()
    return _default


# ------------------------------------------------------------------ promotion

_SIGNED_RANK = {int8: 0, int16: 1, int32: 2, int64: 3}


def _dtypes_only(function: str, **given: object) -> None:
    for i, (name, d) in enumerate(given.items(), 1):
        if not isinstance(d, dtype):
            kind = type(d).__name__
            raise TypeError(f"{function}(): argument '{name}' (position {i}) must be torch.dtype, not {kind}")


def promote_types(a: dtype, b: dtype) -> dtype:
    """The smallest type to which both convert without changing category downwards. Source: torch.promote_types.

    >>> from tidu.dtypes import promote_types, uint8, int8, float16, int64
    >>> promote_types(uint8, int8), promote_types(int64, float16)
    (torch.int16, torch.float16)
    """
    if a is b:
        return a
    _dtypes_only("promote_types", type1=a, type2=b)
    if a.category < b.category:
        a, b = b, a
    if a.category != b.category:  # a is of the higher category
        if a.category == COMPLEX and b is float64:
            return complex128
        return a
    if a.category == INTEGRAL:
        if a in _SIGNED_RANK and b in _SIGNED_RANK:
            return a if _SIGNED_RANK[a] >= _SIGNED_RANK[b] else b
        if uint8 in (a, b):
            other = b if a is uint8 else a
            return int16 if other is int8 else other
        wide = {uint16, uint32, uint64}
        if a in wide and b in wide:
            return a if a.itemsize >= b.itemsize else b
        raise RuntimeError(
            "Promotion for uint16, uint32, uint64 types is not supported, attempted to promote "
            f"{a.legacy} and {b.legacy}"
        )
    if a.category == FLOATING and {a, b} == {float16, bfloat16}:
        return float32
    return a if a.itemsize >= b.itemsize else b


def can_cast(from_: dtype, to: dtype) -> bool:
    """Whether PyTorch lets a result of type `from_` be written into `to`. Source: torch.can_cast."""
    _dtypes_only("can_cast", from_=from_, to=to)
    if from_.category == COMPLEX and to.category != COMPLEX:
        return False
    if from_.category == FLOATING and to.category in (INTEGRAL, BOOL):
        return False
    return not (from_.category != BOOL and to.category == BOOL)


# ------------------------------------------------------------------ limits


class finfo:
    """Limits of a floating type. Source: torch.finfo."""

    __slots__ = ("bits", "dtype", "eps", "max", "min", "resolution", "smallest_normal", "tiny")

    def __init__(self, type: dtype | None = None) -> None:
        d = _default if type is None else type
        if not isinstance(d, dtype):
            raise _no_dtype("finfo", d)
        if d.category not in (FLOATING, COMPLEX):
            raise TypeError(
                "torch.finfo() requires a floating point input type. Use torch.iinfo to handle 'torch.finfo'"
            )
        real = d.to_real()
        if real is bfloat16:
            import ml_dtypes

            info: Any = ml_dtypes.finfo(real.np)
        else:
            info = np.finfo(real.np)
        self.bits = real.itemsize * 8
        self.eps = float(info.eps)
        self.max = float(info.max)
        self.min = float(info.min)
        self.tiny = self.smallest_normal = float(info.tiny)
        self.resolution = float(f"{info.resolution:.1g}")
        self.dtype = real.name

    def __eq__(self, other: object) -> bool:
        return other.__class__ is self.__class__ and other.dtype == self.dtype

    def __hash__(self) -> int:
        return hash(self.dtype)

    def __repr__(self) -> str:
        return (
            f"finfo(resolution={self.resolution:g}, min={self.min:g}, max={self.max:g}, eps={self.eps:g}, "
            f"smallest_normal={self.tiny:g}, tiny={self.tiny:g}, dtype={self.dtype})"
        )


def _no_dtype(name: str, d: Any) -> TypeError:
    return TypeError(f"{name}(): argument 'type' (position 1) must be torch.dtype, not {type(d).__name__}")


class iinfo:
    """Limits of an integer type. Source: torch.iinfo."""

    __slots__ = ("bits", "dtype", "max", "min")

    def __init__(self, type: dtype) -> None:
        if not isinstance(type, dtype):
            raise _no_dtype("iinfo", type)
        if type.category in (FLOATING, COMPLEX):
            raise TypeError("torch.iinfo() requires an integer input type. Use torch.finfo to handle 'torch.iinfo'")
        if type is bool_:
            raise TypeError("torch.bool is not supported by torch.iinfo")
        info = np.iinfo(type.np)
        self.bits, self.max, self.min, self.dtype = info.bits, int(info.max), int(info.min), type.name

    __eq__, __hash__ = finfo.__eq__, finfo.__hash__

    def __repr__(self) -> str:
        return f"iinfo(min={self.min:g}, max={self.max:g}, dtype={self.dtype})"
