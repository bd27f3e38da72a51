"""Floor 1: fast routes over NumPy arrays. Nothing here knows about tensors or gradients.

Every function takes and returns `numpy.ndarray` (0-d results too, never a NumPy scalar, unless it
says so), never writes to its inputs unless it says so, and gives the same bits on every run at a
given number of threads. Dtypes are those of the inputs; promotion is the caller's business.
bfloat16 (from ml_dtypes) and float16 are computed in float32 and rounded once.

The docstring of a file says how its routes go. native.py has the loops that llvmlite compiles, for large float32 arrays:
the other files go there by themselves.
"""

from tidu.arrays.numpy_ import keep_memory

keep_memory()
