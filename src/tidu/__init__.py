"""tidu: PyTorch's automatic differentiation in pure Python.

`import tidu as torch`, and the program runs. This module is the face: PyTorch's top-level names, nothing defined here.
What few programs need is imported when first asked for.
"""

from __future__ import annotations

from importlib import import_module as _import_module
from typing import Any as _Any

from . import methods as _methods
from .core.modes import (
    enable_grad,
    inference_mode,
    is_grad_enabled,
    is_inference_mode_enabled,
    no_grad,
    set_grad_enabled,
)
from .core.promote import result_type
from .core.tensor import Tensor
from .devices import device
from .dtypes import (
    bfloat16,
    bool_ as bool,
    can_cast,
    cdouble,
    cfloat,
    complex64,
    complex128,
    double,
    dtype,
    finfo,
    float16,
    float32,
    float64,
    float_ as float,
    get_default_dtype,
    half,
    iinfo,
    int8,
    int16,
    int32,
    int64,
    int_ as int,
    long,
    promote_types,
    set_default_dtype,
    short,
    uint8,
    uint16,
    uint32,
    uint64,
)
from .shapes import Size
from . import autograd

globals().update(_methods.FACE)
