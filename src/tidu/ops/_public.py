"""The functions of torch.linalg and torch.fft as their namespaces give them out.

`public` makes of a family's function the one that programs see: with PyTorch's name for it (`linalg_inv`), PyTorch's
names for its arguments, its words for wrong ones, and open to classes and modes that override functions.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from inspect import signature
from typing import Any

from ..core.modes import state
from ..core.parameters import parameters_of
from ..core.subclass import call_overridden, wants_public
from ..core.tensor import Tensor
from ..naming import placed, sourced
from ._arguments import Parameter, parsed, problem, wrong
from ._make import overriding, word
from ._signatures import SIGNATURES

_OUT, _OUTS = "Tensor out = None", "tuple of Tensors out = None"
_NORM = "tuple of ints dim = {}, bool keepdim = False, *, torch.dtype dtype = None, " + _OUT
_TOLERANCE = "*, {0} atol = None, {0} rtol = None, bool hermitian = False, " + _OUT
_OPTIONS = (
    "torch.dtype dtype = None, torch.layout layout = None, torch.device device = None, bool pin_memory = False, "
    "bool requires_grad = False"
)

# By function: its signatures, in PyTorch's notation.
LINALG: dict[str, tuple[str, ...]] = {
    "cholesky": (f"Tensor input, *, bool upper = False, {_OUT}",),
    "cholesky_ex": (f"Tensor input, *, bool upper = False, bool check_errors = False, {_OUTS}",),
    "cond": (f"Tensor input, Number p = None, *, {_OUT}", f"Tensor input, str p, *, {_OUT}"),
    "cross": (f"Tensor input, Tensor other, *, int dim = -1, {_OUT}",),
    "det": (f"Tensor A, *, {_OUT}",),
    "diagonal": ("Tensor A, *, int offset = 0, int dim1 = -2, int dim2 = -1",),
    "eig": (f"Tensor input, *, {_OUTS}",),
    "eigh": (f'Tensor input, str UPLO = "L", *, {_OUTS}',),
    "eigvals": (f"Tensor input, *, {_OUT}",),
    "eigvalsh": (f'Tensor input, str UPLO = "L", *, {_OUT}',),
    "householder_product": (f"Tensor input, Tensor tau, *, {_OUT}",),
    "inv": (f"Tensor A, *, {_OUT}",),
    "inv_ex": (f"Tensor A, *, bool check_errors = False, {_OUTS}",),
    "ldl_factor": (f"Tensor input, *, bool hermitian = False, {_OUTS}",),
    "ldl_factor_ex": (f"Tensor input, *, bool hermitian = False, bool check_errors = False, {_OUTS}",),
    "ldl_solve": (f"Tensor LD, Tensor pivots, Tensor B, *, bool hermitian = False, {_OUT}",),
    "lstsq": (f"Tensor input, Tensor b, float rcond = None, *, str driver = None, {_OUTS}",),
    "lu": (f"Tensor A, *, bool pivot = True, {_OUTS}",),
    "lu_factor": (f"Tensor A, *, bool pivot = True, {_OUTS}",),
    "lu_factor_ex": (f"Tensor A, *, bool pivot = True, bool check_errors = False, {_OUTS}",),
    "lu_solve": (f"Tensor LU, Tensor pivots, Tensor B, *, bool left = True, bool adjoint = False, {_OUT}",),
    "matmul": (f"Tensor input, Tensor other, *, {_OUT}",),
    "matrix_exp": ("Tensor input",),
    "matrix_norm": (
        f"Tensor input, Number ord, {_NORM.format('{-2,-1}')}",
        f'Tensor input, str ord = "fro", {_NORM.format("{-2,-1}")}',
    ),
    "matrix_power": (f"Tensor input, int n, *, {_OUT}",),
    "matrix_rank": (
        f"Tensor input, {_TOLERANCE.format('Tensor')}",
        f"Tensor input, {_TOLERANCE.format('float')}",
        f"Tensor input, Tensor tol, bool hermitian = False, *, {_OUT}",
        f"Tensor input, float tol, bool hermitian = False, *, {_OUT}",
    ),
    "multi_dot": (f"tuple of Tensors tensors, *, {_OUT}",),
    "norm": (
        f"Tensor input, Number ord = None, {_NORM.format('None')}",
        f"Tensor input, str ord, {_NORM.format('None')}",
    ),
    "pinv": (
        f"Tensor input, {_TOLERANCE.format('Tensor')}",
        f"Tensor input, {_TOLERANCE.format('float')}",
        f"Tensor input, Tensor rcond, bool hermitian = False, *, {_OUT}",
        f"Tensor input, float rcond, bool hermitian = False, *, {_OUT}",
    ),
    "qr": (f'Tensor A, str mode = "reduced", *, {_OUTS}',),
    "slogdet": (f"Tensor A, *, {_OUTS}",),
    "solve": (f"Tensor A, Tensor B, *, bool left = True, {_OUT}",),
    "solve_ex": (f"Tensor A, Tensor B, *, bool left = True, bool check_errors = False, {_OUTS}",),
    "solve_triangular": (
        f"Tensor input, Tensor B, *, bool upper, bool left = True, bool unitriangular = False, {_OUT}",
    ),
    "svd": (f"Tensor A, bool full_matrices = True, *, str driver = None, {_OUTS}",),
    "svdvals": (f"Tensor A, *, str driver = None, {_OUT}",),
    "tensorinv": (f"Tensor input, int ind = 2, *, {_OUT}",),
    "tensorsolve": (f"Tensor input, Tensor other, tuple of ints dims = None, *, {_OUT}",),
    "vander": ("Tensor x, *, int N = None",),
    "vecdot": (f"Tensor x, Tensor y, *, int dim = -1, {_OUT}",),
    "vector_norm": (f"Tensor input, Number ord = 2, {_NORM.format('None')}",),
}

_ONE = f"Tensor input, int n = None, int dim = -1, str norm = None, *, {_OUT}"
_TWO = f"Tensor input, tuple of ints s = None, tuple of ints dim = {{-2,-1}}, str norm = None, *, {_OUT}"
_MORE = f"Tensor input, tuple of ints s = None, tuple of ints dim = None, str norm = None, *, {_OUT}"
_BASES = "fft ifft rfft irfft hfft ihfft".split()
FFT: dict[str, tuple[str, ...]] = {
    **{base + ending: (form,) for ending, form in (("", _ONE), ("2", _TWO), ("n", _MORE)) for base in _BASES},
    **dict.fromkeys(
        ("fftfreq", "rfftfreq"), (f"int n, *, {_OUT}, {_OPTIONS}", f"int n, float d, *, {_OUT}, {_OPTIONS}")
    ),
    **dict.fromkeys(("fftshift", "ifftshift"), ("Tensor input, tuple of ints dim = None",)),
}
_FIRST, _BOTH = f"Tensor input, *, {_OUT}", f"Tensor input, Tensor other, *, {_OUT}"
_POLYNOMIALS = (
    *(f"{kind}_polynomial_{k}" for kind in ("chebyshev", "shifted_chebyshev") for k in "tuvw"),
    "hermite_polynomial_h", "hermite_polynomial_he", "laguerre_polynomial_l", "legendre_polynomial_p",
)  # fmt: skip
SPECIAL: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(
        "bessel_j0 bessel_j1 bessel_y0 bessel_y1 digamma entr erf erfc erfcx erfinv exp2 expit expm1 gammaln i0 i0e i1 i1e "
        "log1p log_ndtr modified_bessel_i0 modified_bessel_i1 modified_bessel_k0 modified_bessel_k1 ndtr ndtri psi "
        "sinc".split(),
        (_FIRST,),
    ),
    **dict.fromkeys(
        "airy_ai scaled_modified_bessel_k0 scaled_modified_bessel_k1 spherical_bessel_j0".split(),
        (f"Tensor x, *, {_OUT}",),
    ),
    **dict.fromkeys(
        _POLYNOMIALS,
        tuple(
            f"{x} x, {n} n, *, {_OUT}"
            for x, n in zip(("Tensor", "Number", "Tensor"), ("Tensor", "Tensor", "Number"), strict=True)
        ),
    ),
    **dict.fromkeys(("gammainc", "gammaincc"), (_BOTH,)),
    **dict.fromkeys(
        ("xlog1py", "xlogy", "zeta"),
        (_BOTH, f"Number self, Tensor other, *, {_OUT}", f"Tensor input, Number other, *, {_OUT}"),
    ),
    "log_softmax": ("Tensor input, int dim, *, torch.dtype dtype = None",),
    "logit": (f"Tensor input, float eps = None, *, {_OUT}",),
    "logsumexp": (f"Tensor input, tuple of ints dim, bool keepdim = False, *, {_OUT}",),
    "multigammaln": (f"Tensor input, int p, *, {_OUT}",),
    "polygamma": (f"int n, Tensor input, *, {_OUT}",),
    "round": (f"Tensor input, *, int decimals = 0, {_OUT}",),
    "softmax": ("Tensor input, int dim, torch.dtype dtype = None",),
}
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


def publish(namespace: dict[str, Any], prefix: str, names: dict[str, tuple[str, ...]]) -> None:
    """Put the public form of each function in its place in a namespace."""
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


def look(namespace: dict[str, Any]) -> None:
    """Put `looking` before the functions of nn.functional that have something to look at."""
    for line in _LOOKS.strip().splitlines():
        names, _, steps = line.partition(": ")
        for name in names.split():
            namespace[name] = looking(namespace[name], name, steps)
