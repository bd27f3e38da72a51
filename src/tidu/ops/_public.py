"""The functions of torch.linalg, torch.fft and torch.special, and those of torch.ops.aten, as their namespaces give them out.

`public` makes of a family's function the one that programs see: with PyTorch's name for it (`linalg_inv`), PyTorch's
names for its arguments, its words for wrong ones, and open to classes and modes that override functions.
"""

# ruff: noqa: E501
from __future__ import annotations

import functools
import sys
import threading
from collections.abc import Callable
from importlib import import_module
from inspect import signature
from types import ModuleType, SimpleNamespace
from typing import Any

from ..core.modes import state
from ..core.parameters import parameters_of
from ..core.subclass import call_overridden, wants_public
from ..core.tensor import Tensor
from ..naming import placed, sourced
from . import family
from ._arguments import Parameter, parsed, problem, wrong
from ._make import overriding, word
from ._signatures import SIGNATURES, table

# By function: its signatures, written as those of `_signatures.py`.
LINALG = table("""
cholesky: Tensor input, *, bool upper = False, OUT
cholesky_ex: Tensor input, *, bool upper = False, bool check_errors = False, OUTS
cond: Tensor input, Number p = None, *, OUT
  | Tensor input, str p, *, OUT
cross: Tensor input, Tensor other, *, int dim = -1, OUT
det inv: Tensor A, *, OUT
diagonal: Tensor A, *, int offset = 0, int dim1 = -2, int dim2 = -1
eig: Tensor input, *, OUTS
eigh: Tensor input, str UPLO = "L", *, OUTS
eigvals: Tensor input, *, OUT
eigvalsh: Tensor input, str UPLO = "L", *, OUT
householder_product: Tensor input, Tensor tau, *, OUT
inv_ex: Tensor A, *, bool check_errors = False, OUTS
ldl_factor: Tensor input, *, bool hermitian = False, OUTS
ldl_factor_ex: Tensor input, *, bool hermitian = False, bool check_errors = False, OUTS
ldl_solve: Tensor LD, Tensor pivots, Tensor B, *, bool hermitian = False, OUT
lstsq: Tensor input, Tensor b, float rcond = None, *, str driver = None, OUTS
lu lu_factor: Tensor A, *, bool pivot = True, OUTS
lu_factor_ex: Tensor A, *, bool pivot = True, bool check_errors = False, OUTS
lu_solve: Tensor LU, Tensor pivots, Tensor B, *, bool left = True, bool adjoint = False, OUT
matmul: Tensor input, Tensor other, *, OUT
matrix_exp: Tensor input
matrix_norm: Tensor input, Number ord, tuple of ints dim = {-2,-1}, bool keepdim = False, *, torch.dtype dtype = None, OUT
  | Tensor input, str ord = "fro", tuple of ints dim = {-2,-1}, bool keepdim = False, *, torch.dtype dtype = None, OUT
matrix_power: Tensor input, int n, *, OUT
matrix_rank: Tensor input, *, Tensor atol = None, Tensor rtol = None, bool hermitian = False, OUT
  | Tensor input, *, float atol = None, float rtol = None, bool hermitian = False, OUT
  | Tensor input, Tensor tol, bool hermitian = False, *, OUT
  | Tensor input, float tol, bool hermitian = False, *, OUT
multi_dot: tuple of Tensors tensors, *, OUT
norm: Tensor input, Number ord = None, tuple of ints dim = None, bool keepdim = False, *, torch.dtype dtype = None, OUT
  | Tensor input, str ord, tuple of ints dim = None, bool keepdim = False, *, torch.dtype dtype = None, OUT
pinv: Tensor input, *, Tensor atol = None, Tensor rtol = None, bool hermitian = False, OUT
  | Tensor input, *, float atol = None, float rtol = None, bool hermitian = False, OUT
  | Tensor input, Tensor rcond, bool hermitian = False, *, OUT
  | Tensor input, float rcond, bool hermitian = False, *, OUT
qr: Tensor A, str mode = "reduced", *, OUTS
slogdet: Tensor A, *, OUTS
solve: Tensor A, Tensor B, *, bool left = True, OUT
solve_ex: Tensor A, Tensor B, *, bool left = True, bool check_errors = False, OUTS
solve_triangular: Tensor input, Tensor B, *, bool upper, bool left = True, bool unitriangular = False, OUT
svd: Tensor A, bool full_matrices = True, *, str driver = None, OUTS
svdvals: Tensor A, *, str driver = None, OUT
tensorinv: Tensor input, int ind = 2, *, OUT
tensorsolve: Tensor input, Tensor other, tuple of ints dims = None, *, OUT
vander: Tensor x, *, int N = None
vecdot: Tensor x, Tensor y, *, int dim = -1, OUT
vector_norm: Tensor input, Number ord = 2, tuple of ints dim = None, bool keepdim = False, *, torch.dtype dtype = None, OUT
""")
FFT = table("""
fft ifft rfft irfft hfft ihfft: Tensor input, int n = None, int dim = -1, str norm = None, *, OUT
fft2 ifft2 rfft2 irfft2 hfft2 ihfft2: Tensor input, tuple of ints s = None, tuple of ints dim = {-2,-1}, str norm = None, *, OUT
fftn ifftn rfftn irfftn hfftn ihfftn: Tensor input, tuple of ints s = None, tuple of ints dim = None, str norm = None, *, OUT
fftfreq rfftfreq: int n, *, OPTIONS
  | int n, float d, *, OPTIONS
fftshift ifftshift: Tensor input, tuple of ints dim = None
""")
SPECIAL = table("""
bessel_j0 bessel_j1 bessel_y0 bessel_y1 digamma entr erf erfc erfcx erfinv exp2 expit expm1 gammaln i0 i0e i1 i1e log1p log_ndtr modified_bessel_i0 modified_bessel_i1 modified_bessel_k0 modified_bessel_k1 ndtr ndtri psi sinc: Tensor input, *, OUT
airy_ai scaled_modified_bessel_k0 scaled_modified_bessel_k1 spherical_bessel_j0: Tensor x, *, OUT
chebyshev_polynomial_t chebyshev_polynomial_u chebyshev_polynomial_v chebyshev_polynomial_w shifted_chebyshev_polynomial_t shifted_chebyshev_polynomial_u shifted_chebyshev_polynomial_v shifted_chebyshev_polynomial_w hermite_polynomial_h hermite_polynomial_he laguerre_polynomial_l legendre_polynomial_p: Tensor x, Tensor n, *, OUT
  | Number x, Tensor n, *, OUT
  | Tensor x, Number n, *, OUT
gammainc gammaincc: Tensor input, Tensor other, *, OUT
xlog1py xlogy zeta: Tensor input, Tensor other, *, OUT
  | Number self, Tensor other, *, OUT
  | Tensor input, Number other, *, OUT
log_softmax: Tensor input, int dim, *, torch.dtype dtype = None
logit: Tensor input, float eps = None, *, OUT
logsumexp: Tensor input, tuple of ints dim, bool keepdim = False, *, OUT
multigammaln: Tensor input, int p, *, OUT
polygamma: int n, Tensor input, *, OUT
round: Tensor input, *, int decimals = 0, OUT
softmax: Tensor input, int dim, torch.dtype dtype = None
""")
SIGNATURES.update({"special_" + name: forms for name, forms in SPECIAL.items()})
SIGNATURES.update({"linalg_" + name: forms for name, forms in LINALG.items()})
SIGNATURES.update({"fft_" + name: forms for name, forms in FFT.items()})


def public(fn: Callable[..., Any], name: str) -> Callable[..., Any]:
    """A family's function under PyTorch's name, such as linalg_inv."""
    theirs = [p.name for p in parsed(SIGNATURES[name][-1])]
    op = getattr(fn, "op", None)
    ours = (*op.params, "out") if op is not None else parameters_of(fn)[0]
    renamed = {t: o for t, o in zip(theirs, ours, strict=False) if t != o and t not in ours}

    @functools.wraps(fn)
    def call(*args: Any, **kw: Any) -> Any:
        given = kw
        if kw and renamed:
            kw = {renamed.get(k, k): v for k, v in kw.items()}
        if any(v.__class__ is not Tensor and hasattr(v, "__torch_function__") for v in args) or state.function_modes:
            seen = [v for v in (*args, *kw.values()) if hasattr(v, "__torch_function__")]
            if wants_public(seen):
                return call_overridden(call, seen, args, given or None)
        try:
            return fn(*args, **kw)
        except Exception:
            better = wrong(name, False, args, given)
            if better is None:
                raise
            raise better from None

    call.__name__ = call.__qualname__ = name
    return call


def publish(
    namespace: dict[str, Any], prefix: str, names: dict[str, tuple[str, ...]], family: str, homes: dict[str, str]
) -> None:
    """Put the public form of each function in its place in a namespace.

    They come from `family`, but for those that `homes` has by other families. There a function is called by its name,
    with or without the prefix, or as `homes` says behind "=".
    """
    own = dict(item.partition("=")[::2] for given in homes.values() for item in given.split())
    rest = " ".join(name for name in names if name not in {*namespace, *own})
    for home, given in [(family, rest), *homes.items()]:
        module = vars(import_module(f".{home}", __package__))
        for name in (item.partition("=")[0] for item in given.split()):
            namespace[name] = module.get(prefix + name) or module[own.get(name) or name]
    for name in names:
        namespace[name] = public(namespace[name], prefix + name)
        sourced(namespace[name], f"{prefix[:-1]}.{name}")
    placed(namespace)


# ------------------------------------------------------------------ functions that PyTorch has in Python

# By function of nn.functional: what PyTorch's looks at before it computes. `input.size` is an attribute that it reads,
# R the reduction, and `f(T input, i dim)` a call of a function whose arguments are checked, their kinds by letters.
_LOOKS = """
l1_loss mse_loss smooth_l1_loss huber_loss: target.size; input.size
binary_cross_entropy: R; target.size; input.size
binary_cross_entropy_with_logits: R; target.size; input.size; {}(T input, T target, t weight, t pos_weight)
multilabel_margin_loss soft_margin_loss: R; {}(T input, T target)
cross_entropy: R; cross_entropy_loss(T input, T target, t weight, o reduction, i ignore_index, f label_smoothing)
nll_loss: R; nll_loss_nd(T input, T target, t weight, o reduction, i ignore_index)
multi_margin_loss: R; {}(T input, T target, N p, N margin)
poisson_nll_loss: {}(T input, T target, b log_input, b full, f eps)
cosine_embedding_loss: R; {}(T input1, T input2, T target, f margin)
margin_ranking_loss: R; input1.dim; input2.dim; target.dim; {}(T input1, T input2, T target, f margin)
hinge_embedding_loss: R; {}(T input, T target, f margin)
triplet_margin_loss: R; {}(T anchor, T positive, T negative, f margin, f p, f eps, b swap)
kl_div: R; {}(T input, T target)
batch_norm: {}(T input, t weight, t bias, t running_mean, t running_var, b training, f momentum, f eps)
instance_norm: {}(T input, t weight, t bias, t running_mean, t running_var, b use_input_stats, f momentum, f eps)
layer_norm: {}(T input, L normalized_shape, t weight, t bias, f eps)
rms_norm: {}(T input, L normalized_shape, t weight)
group_norm: input.dim; {}(T input, o num_groups, t weight, t bias, f eps)
dropout: {}(T input, o p, b training)
max_pool1d max_pool2d max_pool3d: {}(T input, I kernel_size, J stride, I padding, I dilation, b ceil_mode)
elu celu: {}(T input, N alpha)
leaky_relu: {}(T input, N negative_slope)
softplus softshrink hardshrink rrelu: R
threshold: {}(T input, N threshold, N value)
relu6 selu: {}(T input)
embedding: {}(T weight)
grid_sample: grid_sampler(T input, T grid)
interpolate: input.dim
glu: input.dim; {}(T input, i dim)
softmax log_softmax: input.{}; {}(j dim)
normalize: input.norm
pad: {}(T input, L pad, s mode, F value)
affine_grid: theta.is_floating_point
adaptive_max_pool2d adaptive_avg_pool2d: input.size
dropout1d dropout2d dropout3d: input.dim
"""
_KINDS = {
    "T": "Tensor", "t": "Tensor", "i": "int", "j": "int", "f": "float", "F": "float", "b": "bool", "N": "Number", "s": "str",
    "I": "tuple of ints", "J": "tuple of ints", "L": "tuple of ints", "o": "object",
}  # fmt: skip


def _look(step: str, given: dict[str, Any]) -> Exception | None:
    """What is wrong in one step."""
    called, call, rest = step.rstrip(")").partition("(")
    if not call:
        name, _, attribute = step.partition(".")
        missing = not hasattr(given[name], attribute)
        return AttributeError(f"'{word(given[name])}' object has no attribute '{attribute}'") if missing else None
    form, values = [], []
    for letter, _, name in (p.partition(" ") for p in rest.split(", ")):
        shown = "train" if called == "dropout" and name == "training" else name
        form.append(Parameter(_KINDS[letter], shown, True, False, letter in "tFJjo", letter != "L"))
        values.append(given[name])
    text = problem(called, form, tuple(values), {})
    return TypeError(text) if text else None


def _refuse_complex(name: str, input: Any) -> None:
    """Raise for a complex number where a real one is due."""
    double = name in ("celu", "softshrink", "rrelu") or input.dtype.name == "float64"
    if double or input.dtype.is_floating_point:
        raise RuntimeError(f"value cannot be converted to type {'double' if double else 'float'} without overflow")


def looking(fn: Any, name: str, steps: str) -> Callable[..., Any]:
    """A function that, where it fails, says what PyTorch's function in Python would have come upon."""

    real = " N " in steps or steps == "R"  # takes numbers, not complex ones

    @functools.wraps(fn)
    def call(*args: Any, **kw: Any) -> Any:
        try:
            if real and any([v.__class__ is complex for v in (*args, *kw.values())]):
                _refuse_complex(name, args[0] if args else kw["input"])
            return fn(*args, **kw)
        except Exception:
            try:
                bound = signature(fn).bind(*args, **kw)
            except TypeError:
                bound = None
            if bound is None or any(overriding(v) for v in (*args, *kw.values())):
                raise
            bound.apply_defaults()
            given = bound.arguments
            for step in steps.replace("{}", name).split("; "):
                if step == "R":
                    if given.get("reduction") not in ("none", "mean", "sum"):
                        break
                elif (better := _look(step, given)) is not None:
                    raise better from None
            raise

    return call


def look(fn: Any, name: str) -> Any:
    """Put `looking` before a function of nn.functional that has something to look at."""
    for line in _LOOKS.strip().splitlines():
        names, _, steps = line.partition(": ")
        if name in names.split():
            return looking(fn, name, steps)
    return fn


# ------------------------------------------------------------------ torch.ops.aten

_PREFIXES = {"linalg_": "linalg", "fft_": "fft", "special_": "special"}


class _Runs(threading.local):
    """What an operator does while a mode handles its call."""

    def __init__(self) -> None:
        self.now: dict[Any, Any] = {}


RUNS = _Runs()


class Operator:
    """A function, and its overloads, which are the function too: it looks at its arguments."""

    namespace = "aten"

    def __init__(self, name: str, function: Any, packet: Any = None) -> None:
        self.__name__ = self.__qualname__ = name
        self._function = function
        if packet is not None:  # an overload
            self.overloadpacket, self._overloadname = packet, name.rpartition(".")[2]

    def __call__(self, *args: Any, **kw: Any) -> Any:
        return RUNS.now.get(self, self._function)(*args, **kw)

    def __getattr__(self, overload: str) -> Any:
        if overload.startswith("__"):
            raise AttributeError(overload)
        if overload == "_schema":
            return SimpleNamespace(name=f"{self.namespace}::{self.__name__.partition('.')[0]}")
        made = Operator(f"{self.__name__}.{overload}", self._function, self)
        made.namespace = self.namespace
        setattr(self, overload, made)
        return made

    def __str__(self) -> str:
        return f"{self.namespace}.{self.__name__}"

    def __repr__(self) -> str:
        name, _, overload = self.__name__.partition(".")
        if overload:
            return f"<OpOverload(op='{self.namespace}.{name}', overload='{overload}')>"
        return f"<OpOverloadPacket(op='{self.namespace}.{name}')>"

    def name(self) -> str:
        """The name with its namespace; that of the default overload is the function's own."""
        return f"{self.namespace}::{self.__name__.removesuffix('.default')}"


def _function(name: str) -> Any:
    """The function of an operator: an internal one, the library's, a method, or one of a namespace."""
    internal = family("internal")
    if name in internal.ATEN:
        return getattr(internal, name)
    root = sys.modules[__name__.partition(".")[0]]  # the library, which stands above and is there by now
    for home in (root, root.Tensor, root.nn.functional):
        found = getattr(home, name, None)
        if callable(found):
            return found
    for prefix, space in _PREFIXES.items():
        if name.startswith(prefix):
            return getattr(getattr(root, space), name.removeprefix(prefix), None)
    return None


class _Operators(ModuleType):
    def __getattr__(self, name: str) -> Any:
        function = None if name.startswith("__") else _function(name)
        if function is None:
            raise AttributeError(f"'_OpNamespace' 'aten' object has no attribute '{name}'")
        operator = Operator(name, function)
        setattr(self, name, operator)
        return operator


aten = _Operators("torch.ops.aten", "The functions under the names of PyTorch's operators.")
