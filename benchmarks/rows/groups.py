"""The groups of rows, in the order of the table, with their bars (ratios to PyTorch in eager mode)."""

from benchmarks.row import Group

RECORDED = Group("small ops, recorded (4x4 float32)", geomean=1.0, limit=1.3)
UNRECORDED = Group("small ops, no gradient (4x4 float32)")
STEPS = Group("forward and backward of small work", geomean=0.8, limit=1.0)
LARGE = Group("large arrays, forward and backward", limit=1.1)
NN_STEPS = Group("the MLP steps with nn and optim", limit=1.0)
LAYERS = Group("layers and losses, forward and backward", limit=1.5, aim=1.0)
LINALG = Group("scans, sorting, linear algebra, fft", limit=1.5, aim=1.0)
TRANSFORMS = Group("transforms", limit=0.75)
SPARSE = Group("sparse derivatives: tidu finds the pattern at every call, PyTorch and JAX are told it")
PROGRAMS = Group("programs", limit=1.2, aim=0.9)

GROUPS = (RECORDED, UNRECORDED, STEPS, LARGE, NN_STEPS, LAYERS, LINALG, TRANSFORMS, SPARSE, PROGRAMS)
