"""torch.utils.cpp_extension, to be imported: there is nothing to compile against."""

from __future__ import annotations

from ..unbuilt import unbuilt_names

_NAMES = "BuildExtension CUDAExtension CppExtension include_paths load load_inline"
__all__ = _NAMES.split()

CUDA_HOME = ROCM_HOME = None
globals().update(unbuilt_names("torch.utils.cpp_extension", _NAMES, "PyTorch's C++ library"))
