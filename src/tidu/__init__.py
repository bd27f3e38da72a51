"""tidu: PyTorch's automatic differentiation in pure Python.

`import tidu as torch`, and the program runs. This module is the face: PyTorch's top-level names, nothing defined here.
What few programs need is imported when first asked for.
"""

from __future__ import annotations

from importlib import import_module as _import_module
from math import e, inf, nan, pi
from typing import Any as _Any

from . import waiting as _waiting  # isort: skip  (before NumPy is loaded)
from . import autograd
from . import devices as _devices
from . import methods as _methods
from . import settings as _settings
from .arrays.threads import get_num_threads, set_num_threads
from .core.modes import (
    enable_grad,
    inference_mode,
    is_grad_enabled,
    is_inference_mode_enabled,
    no_grad,
    set_grad_enabled,
)
from .core.subclass import PUBLIC as _PUBLIC
from .core.tensor import Tensor
from .devices import device
from .dtypes import (
    bfloat16,
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
    get_default_dtype,
    half,
    iinfo,
    int8,
    int16,
    int32,
    int64,
    long,
    promote_types,
    set_default_dtype,
    short,
    uint8,
    uint16,
    uint32,
    uint64,
)
from .dtypes import bool_ as bool
from .dtypes import float_ as float
from .dtypes import int_ as int
from .shapes import Size
from .version import __version__

newaxis = None
has_lapack = has_spectral = True
has_mkl = has_openmp = False
globals().update({_name: getattr(_devices, _name) for _name in _devices.NAMES})
globals().update({_name: getattr(_settings, _name) for _name in _settings.NAMES})

__all__ = [
    name for name, value in globals().items()
    if name[0] != "_" and name != "annotations" and type(value) is not type(_methods)
] + [name for name in _methods.LATER if name[0] != "_"]  # fmt: skip

# Names that are imported when first asked for, and the module that has them.
_LATER = {
    name: module
    for module, names in {
        "aliasing": "install_as_torch is_installed_as_torch",
        "amp": (
            "GradScaler autocast autocast_decrement_nesting autocast_increment_nesting clear_autocast_cache "
            "get_autocast_cpu_dtype get_autocast_gpu_dtype is_autocast_cpu_enabled set_autocast_cpu_dtype "
            "set_autocast_cpu_enabled set_autocast_gpu_dtype get_autocast_dtype is_autocast_cache_enabled is_autocast_enabled "
            "set_autocast_cache_enabled set_autocast_dtype set_autocast_enabled"
        ),
        "autograd.anomaly_mode": "is_anomaly_enabled is_anomaly_check_nan_enabled set_anomaly_enabled",
        "compiler": "compile",
        "cuda": "AcceleratorError OutOfMemoryError",
        "func": "vmap",
        "elsewhere": (
            "BFloat16Storage BFloat16Tensor BoolStorage BoolTensor ByteStorage ByteTensor CharStorage CharTensor "
            "ComplexDoubleStorage ComplexFloatStorage "
            "DoubleStorage DoubleTensor FloatStorage FloatTensor HalfStorage HalfTensor IntStorage IntTensor "
            "LongStorage LongTensor ShortStorage Storage ShortTensor TypedStorage UntypedStorage is_storage "
            "set_default_tensor_type typename"
        ),
        "overrides": "DisableTorchFunction DisableTorchFunctionSubclass",
        "printing": "_tensor_str set_printoptions",
        "random": "thread_safe_generator",
        "serialization": "load save",
        "sparse": "dsmm hsmm hspmm spmm",
    }.items()
    for name in names.split()
}
_MODULES = frozenset(
    "_C __config__ __future__ _dynamo accelerator amp ao backends compiler cpu cuda distributed distributions export fft func "
    "functional futures fx hub jit library linalg masked mps multiprocessing nested nn onnx optim overrides "
    "profiler quantization quasirandom random return_types serialization signal sparse special storage testing types utils "
    "version xpu mtia aliasing cli printing".split()
)


def __getattr__(name: str) -> _Any:
    if name in _methods.LATER:
        globals()[name] = _PUBLIC[name]
        return _PUBLIC[name]
    where = _LATER.get(name)
    if where is not None or name in _MODULES:
        try:
            module = _import_module("." + (where or name), __package__)
        except ModuleNotFoundError as error:
            if error.name is None or not error.name.startswith(__package__):
                raise
        else:
            value = module if where is None else getattr(module, name)
            globals()[name] = value
            return value
    from .core.errors import missing_name

    raise missing_name(__name__, name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_methods.LATER, *_LATER, *_MODULES})


torch = _import_module(__package__)  # as PyTorch's namespace has itself
