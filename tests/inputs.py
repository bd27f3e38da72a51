"""Inputs for the tests that run over all ops, see test_registry.py.

An elementwise op needs no line here unless its domain is not (-2, 2) without a gap around 0, or it has arguments
beside its tensors that have no default (`ARGUMENTS`); every other op needs one in `CASES`: its name, and a function
of `r` that returns the argument lists to call it with. `r(3, 4)` is an array of that shape with distinct float64
values between -2 and 2, none near 0; `r(3, low=0.5, high=2)` chooses the range. Arrays of integers and bools
(indices, masks) are taken as they are.
"""

from __future__ import annotations

import inspect
import zlib
from collections.abc import Callable
from typing import Any

import numpy as np

import tidu
from tidu.arrays.pooling import Window

Args = tuple[Any, ...]
UNIT, POSITIVE, ABOVE_ONE = (-0.9, 0.9), (0.3, 2.0), (1.2, 3.0)

# Elementwise ops: the range of their inputs, where the usual one does not do.
DOMAINS: dict[str, tuple[float, float]] = {
    **dict.fromkeys("asin acos atanh erfinv".split(), UNIT),
    **dict.fromkeys(
        "log log2 log10 log1p sqrt rsqrt lgamma digamma polygamma pow pow.number pow.base xlogy xlogy.base "
        "xlogy.number special_xlog1py special_xlog1py.first special_xlog1py.second special_entr igamma igammac "
        "logaddexp mvlgamma".split(),
        POSITIVE,
    ),
    **dict.fromkeys("acosh acosh.complex special_zeta special_zeta.first special_zeta.second".split(), ABOVE_ONE),
    **dict.fromkeys("logit special_ndtri".split(), (0.15, 0.85)),
    "mvlgamma": (2.0, 4.0),
}

# Elementwise ops: what they are called with beside their tensors.
ARGUMENTS: dict[str, list[dict[str, Any]]] = {
    "add.scaled": [{"alpha": 0.5}],
    "sub.number": [{"other": 1.5}],
    "sub.scaled": [{"alpha": 0.5}],
    "rsub.scaled": [{"alpha": 0.5}],
    "rsub.tensor_scaled": [{"alpha": 0.5}],
    "add.number": [{"other": 1.5}],
    "mul.number": [{"other": 1.5}],
    "div.number": [{"other": 1.5}],
    "threshold": [{"threshold": 0.3, "value": 0.7}],
    "threshold.in_place": [{"threshold": 0.3, "value": 0.7}],
    "gelu": [{"approximate": "none"}, {"approximate": "tanh"}],
    "addcmul": [{"value": 1}, {"value": 0.5}],
    "addcdiv": [{"value": 1}, {"value": -0.5}],
    "clamp": [{"min": -0.7, "max": 0.9}, {"min": None, "max": 0.5}],
    "clamp_min": [{"min": 0.1}],
    "clamp_max": [{"max": 0.1}],
    "copysign.number": [{"other": -1.5}],
    "lerp": [{"weight": 0.3}, {"weight": 0.8}],
    "logit": [{"eps": None}, {"eps": 0.2}],
    "mvlgamma": [{"p": 1}, {"p": 3}],
    "nan_to_num": [{"nan": 0.0, "posinf": None, "neginf": None}],
    "polygamma": [{"n": 0}, {"n": 2}],
    "pow.number": [{"exponent": e} for e in (0, 1, 2, 3, 0.5, -1, -0.5, 2.7)],
    "pow.base": [{"base": 2.0}, {"base": 0.5}],
    "round.decimals": [{"decimals": 1}],
    "round.decimals_0": [{"decimals": 0}],
}

# Elementwise ops with a second input that is a constant of the derivative: PyTorch has none for the first.
FIRST_IS_CONSTANT = {"igamma", "igammac", "special_zeta", "special_zeta.second"}

# Ops that PyTorch records and cannot differentiate.
NO_DERIVATIVE = set(
    "floor_divide heaviside remainder.of_number scatter.reduce scatter.value_reduce histogram histogram.edges "
    "histogramdd detach_copy _unique2 unique_dim unique_consecutive geqrf linalg_ldl_factor_ex linalg_ldl_solve".split()
)

# Ops whose gradient PyTorch cannot differentiate again.
NO_SECOND_DERIVATIVE = {"_ctc_loss", "segment_reduce"}

# Inputs of which an op reads but a part, or whose structure it takes for granted: by position, what makes a change of
# the input one that keeps it.
STRUCTURE: dict[str, dict[int, Callable[[np.ndarray], np.ndarray]]] = {
    **{n: {0: lambda a: a + a.T} for n in ("linalg_cholesky_ex", "cholesky", "linalg_eigh")},
    "cholesky_solve": {1: np.tril},
    "cholesky_inverse": {0: np.tril},
    # log-probabilities stay such
    "_ctc_loss": {0: lambda v: v - (np.exp(_LOG_PROBS) * v).sum(-1, keepdims=True)},
}
_LOGITS = np.random.default_rng(3).standard_normal((5, 2, 4))
_LOG_PROBS = _LOGITS - np.log(np.exp(_LOGITS).sum(-1, keepdims=True))

# Outputs whose derivative is the function's; eigenvectors are free to turn.
OUTPUTS = {"linalg_eig": (0,)}

# Ops whose results' shapes depend on values, that work on places in memory, or on integers alone.
NOT_BATCHED = set(
    "bitwise_and bitwise_or bitwise_xor bitwise_not bitwise_left_shift bitwise_right_shift gcd lcm "
    "nonzero nonzero_static masked_select _unique2 unique_dim unique_consecutive bincount as_strided "
    "as_strided_adjoint as_strided_window as_strided_scatter as_strided_clear as_strided_copy".split()
)

# Ops that only rules and losses call, on floats.
INTERNAL = {"square", "div.number", "sub.number", "mul.i"}


class Source:
    """`r`: arrays of distinct values, the same in every run."""

    def __init__(self, name: str) -> None:
        self.rng = np.random.default_rng(zlib.crc32(name.encode()))
        self.calls = 0

    def __call__(self, *shape: int, low: float = -2.0, high: float = 2.0) -> np.ndarray:
        n = int(np.prod(shape))
        self.calls += 1  # no value is near one of another array: the maximum of two has a kink there
        steps = (np.arange(n) + 0.2 + 0.13 * self.calls % 0.6) / max(n, 1)
        values = low + (high - low) * self.rng.permutation(steps)
        if low < 0 < high:
            values = np.where(np.abs(values) < 0.15, values + np.copysign(0.15, values), values)
        return values.reshape(shape)

    def symmetric(self, *shape: int) -> np.ndarray:
        """Positive definite matrices."""
        a = self(*shape)
        return a @ np.swapaxes(a, -1, -2) + 3 * np.eye(shape[-1])


def cases_of(op: Any) -> list[Args]:
    """The argument lists to test an op with; empty where nothing says."""
    r = Source(op.name)
    name = op.name
    if "_copy" in name and name not in CASES:  # a view op whose result is a copy
        name = name.replace("_copy.", "_").replace("_copy", "")
    if name in CASES:
        return CASES[name](r)
    if op.kind != "elementwise":
        return []
    low, high = DOMAINS.get(op.name, (-2.0, 2.0))
    params = inspect.signature(op.forward).parameters
    others = [p for i, p in enumerate(params) if i not in op.positions]
    defaults = {p: params[p].default for p in others}
    if op.name not in ARGUMENTS and inspect.Parameter.empty in defaults.values():
        return []
    made = []
    for given in ARGUMENTS.get(op.name, [defaults]):
        full = [r(3, 4, low=low, high=high) if i in op.positions else given[p] for i, p in enumerate(params)]
        made.append(tuple(full))
    return made


def _mask(*shape: int) -> np.ndarray:
    return np.random.default_rng(5).random(shape) < 0.5


_I = np.array([2, 0, 2])
_J = np.array([[1, 0], [3, 2], [0, 3]])
_RATIO = np.resize([1.4, 2.5, -1.6, 0.6, -2.3], (3, 4))  # quotients far from whole numbers
_HOW = (0, 1, 2)  # the reductions none, mean, sum


def _quotient(x: np.ndarray) -> list[Args]:
    return [(x, x / _RATIO)]


def _image(r: Source, n: int) -> np.ndarray:
    return r(1, 2, *(4, 5, 3)[:n])


def _windows(n: int) -> tuple[Window, ...]:
    """Windows of two places, one apart, with one place of padding before."""
    return tuple(Window(2, 2, 1, 1, (length - 1) // 2 + 1) for length in (4, 5, 3)[:n])


# What everything else is called with.
CASES: dict[str, Callable[[Source], list[Args]]] = {
    # the core
    "as_strided": lambda r: [(r(12), (2, 3), (3, 1), 2), (r(12), (3, 4), (2, 1), 0)],
    "as_strided_adjoint": lambda r: [(r(2, 3), (2, 3), (3, 1), 2, ((12,), (1,), 0))],
    "as_strided_window": lambda r: [(r(12), (2, 3), (3, 1), 2, ((12,), (1,), 0))],
    "cast": lambda r: [(r(3), np.dtype(np.float64))],
    "sum_to_size": lambda r: [(r(3, 4), (4,)), (r(3, 4), (3, 1))],
    # quotients that are rounded
    **{
        n: lambda r: _quotient(r(3, 4))
        for n in "remainder remainder.number fmod fmod.number div.floor div.trunc".split()
    },
    # piecewise and complex
    "where": lambda r: [(_mask(3, 4), r(3, 4), r(3, 4)), (_mask(3, 1), r(4), r(1, 4))],
    "isclose": lambda r: [(r(3), r(3), 1e-5, 1e-8, False)],
    "masked_fill": lambda r: [(r(3, 4), _mask(3, 4), 2.5), (r(4), _mask(3, 1), 2.5)],
    "masked_fill.tensor": lambda r: [(r(3, 4), _mask(3, 4), r())],
    "frexp": lambda r: [(r(3, 4),)],
    "fill": lambda r: [(r(3), 2.0)],
    "fill.tensor": lambda r: [(r(3), r())],
    "fill.number_": lambda r: [(r(3), 2.0)],
    "fill.tensor_": lambda r: [(r(3), r())],
    "zero": lambda r: [(r(3),)],
    "copy": lambda r: [(r(3, 4), r(4)), (r(3), r(3))],
    "abs.complex": lambda r: [(r(3) + 1j * r(3),)],
    "sgn.complex": lambda r: [(r(3) + 1j * r(3),)],
    "angle.complex": lambda r: [(r(3) + 1j * r(3),)],
    "acosh.complex": lambda r: [(r(3, 4) + 1j * r(3, 4),)],
    "view_as_real": lambda r: [(r(3) + 1j * r(3),)],
    "view_as_complex": lambda r: [(r(3, 2),)],
    "conj": lambda r: [(r(3) + 1j * r(3),)],
    "conj_physical": lambda r: [(r(3) + 1j * r(3),)],
    "complex": lambda r: [(r(3), r(3)), (r(2, 1), r(3))],
    "polar": lambda r: [(r(3, low=0.3, high=2), r(3)), (r(2, 1, low=0.3, high=2), r(3))],
    # shapes
    "view": lambda r: [(r(3, 4), (2, 6))],
    "reshape_copy": lambda r: [(r(3, 4), (2, 6))],
    "_reshape_alias": lambda r: [(r(4, 3).T, (3, 2, 2))],
    "_unsafe_view": lambda r: [(r(3, 4), (2, 6))],
    "unsafe_view": lambda r: [(r(3, 4), (2, 6))],
    "contiguous_clone": lambda r: [(r(3, 4),)],
    "alias": lambda r: [(r(3, 4),)],
    "view_as_dtype": lambda r: [(r(3), np.dtype(np.int64))],
    "transpose": lambda r: [(r(2, 3, 4), 0, 2)],
    "t": lambda r: [(r(3, 4),)],
    "permute": lambda r: [(r(2, 3, 4), (2, 0, 1))],
    "unsqueeze": lambda r: [(r(3, 4), 1)],
    "squeeze": lambda r: [(r(3, 1, 4),)],
    "squeeze_dim": lambda r: [(r(3, 1, 4), 1)],
    "squeeze_dims": lambda r: [(r(3, 1, 4, 1), (1, 3))],
    "expand": lambda r: [(r(3, 1), (2, 3, 4))],
    "select": lambda r: [(r(3, 4), 1, 2)],
    "select_backward": lambda r: [(r(3), (3, 4), 1, 2)],
    "slice": lambda r: [(r(5, 4), 0, 1, 5, 2)],
    "slice_backward": lambda r: [(r(2, 4), (5, 4), 0, 1, 5, 2)],
    "narrow_copy": lambda r: [(r(5, 4), 0, 1, 3)],
    "diagonal": lambda r: [(r(3, 4), 1, 0, 1)],
    "diagonal_backward": lambda r: [(r(3), (3, 4), 1, 0, 1)],
    "diagonal_copy": lambda r: [(r(3, 4), 1, 0, 1)],
    "unfold": lambda r: [(r(5, 2), 0, 3, 1)],
    "unfold_backward": lambda r: [(r(3, 2, 3), (5, 2), 0, 3, 1)],
    "select_scatter": lambda r: [(r(3, 4), r(3), 1, 2)],
    "select_scatter_clear": lambda r: [(r(3, 4), 1, 2)],
    "diagonal_scatter": lambda r: [(r(3, 4), r(3), 1, 0, 1)],
    "diagonal_scatter_clear": lambda r: [(r(3, 4), 1, 0, 1)],
    "slice_scatter": lambda r: [(r(5, 4), r(2, 4), 0, 1, 5, 2)],
    "slice_scatter_clear": lambda r: [(r(5, 4), 0, 1, 5, 2)],
    "as_strided_scatter": lambda r: [(r(12), r(2, 3), (2, 3), (3, 1), 2)],
    "as_strided_clear": lambda r: [(r(12), (2, 3), (3, 1), 2)],
    "repeat": lambda r: [(r(2, 3), (2, 1, 2))],
    "flip": lambda r: [(r(3, 4), (1,))],
    "roll": lambda r: [(r(3, 4), (1, -2), (0, 1))],
    "rot90": lambda r: [(r(3, 4), 1, (0, 1))],
    "tril": lambda r: [(r(3, 4), 0)],
    "triu": lambda r: [(r(3, 4), 1)],
    "diag_embed": lambda r: [(r(2, 3), 1, -2, -1)],
    "clone": lambda r: [(r(3, 4), None)],
    "detach": lambda r: [(r(3),)],
    "cat": lambda r: [([r(2, 3), r(1, 3)], 0)],
    "stack": lambda r: [([r(2, 3), r(2, 3)], 1)],
    "block_diag": lambda r: [([r(2, 3), r(1, 2)],)],
    "split": lambda r: [(r(5, 2), 2, 0)],
    "split_with_sizes": lambda r: [(r(5, 2), (2, 3), 0)],
    "unsafe_split": lambda r: [(r(5, 2), 2, 0)],
    "unsafe_split_with_sizes": lambda r: [(r(5, 2), (2, 3), 0)],
    "unbind": lambda r: [(r(3, 2), 0)],
    # indexing
    "getitem": lambda r: [(r(3, 4), (slice(None), 1))],
    "index.one": lambda r: [(r(3, 4), _I, 0)],
    "index_backward.one": lambda r: [(r(3, 4), (3, 4), _I, 0)],
    "index": lambda r: [(r(3, 4), [_I, np.array([0, 1, 1])])],
    "index_backward": lambda r: [(r(3), (3, 4), [_I, np.array([0, 1, 1])])],
    "index_clear": lambda r: [(r(3, 4), [_I])],
    "index_put": lambda r: [(r(3, 4), [np.array([2, 0])], r(2, 4), False), (r(3, 4), [_I], r(3, 4), True)],
    # products
    "mm": lambda r: [(r(2, 3), r(3, 4))],
    "bmm": lambda r: [(r(2, 2, 3), r(2, 3, 4))],
    "mv": lambda r: [(r(2, 3), r(3))],
    "dot": lambda r: [(r(3), r(3))],
    "vdot": lambda r: [(r(3), r(3))],
    "addmm": lambda r: [(r(4), r(2, 3), r(3, 4), 0.5, 2)],
    "addmv": lambda r: [(r(2), r(2, 3), r(3), 0.5, 2)],
    "addr": lambda r: [(r(2, 3), r(2), r(3), 0.5, 2)],
    "baddbmm": lambda r: [(r(2, 1, 4), r(2, 2, 3), r(2, 3, 4), 0.5, 2)],
    "addbmm": lambda r: [(r(2, 4), r(2, 2, 3), r(2, 3, 4), 0.5, 2)],
    # reductions and scans
    "sum": lambda r: [(r(3, 4),)],
    "sum_dim": lambda r: [(r(3, 4), (1,), False)],
    "nansum": lambda r: [(r(3, 4), (1,), False)],
    "mean": lambda r: [(r(3, 4),)],
    "mean_dim": lambda r: [(r(3, 4), (1,), True)],
    "prod": lambda r: [(r(3, 4), (0, 1), False)],
    "prod_dim": lambda r: [(r(3, 4), (1,), False)],
    "var": lambda r: [(r(3, 4), (1,), 1, False)],
    "std": lambda r: [(r(3, 4), (1,), 1, True)],
    "var_mean": lambda r: [(r(3, 4), (1,), 1, False)],
    "std_mean": lambda r: [(r(3, 4), (1,), 0, False)],
    "logsumexp": lambda r: [(r(3, 4), (1,), False)],
    "amax": lambda r: [(r(3, 4), (1,), False)],
    "amin": lambda r: [(r(3, 4), (0, 1), False)],
    "max_all": lambda r: [(r(3, 4), (0, 1), False)],
    "min_all": lambda r: [(r(3, 4), (0, 1), False)],
    "max_dim": lambda r: [(r(3, 4), 1, False)],
    "min_dim": lambda r: [(r(3, 4), 1, True)],
    "argmax": lambda r: [(r(3, 4), 1, False)],
    "argmin": lambda r: [(r(3, 4), 1, False)],
    "all": lambda r: [(r(3, 4), (1,), False)],
    "any": lambda r: [(r(3, 4), (1,), False)],
    "count_nonzero": lambda r: [(r(3, 4), (1,))],
    "hash_tensor": lambda r: [(r(3, 4), (1,), False)],
    "cumsum": lambda r: [(r(3, 4), 1, None)],
    "cumprod": lambda r: [(r(3, 4), 1, None)],
    "cummax": lambda r: [(r(3, 4), 1)],
    "cummin": lambda r: [(r(3, 4), 1)],
    "logcumsumexp": lambda r: [(r(3, 4), 1)],
    "softmax": lambda r: [(r(3, 4), 1)],
    "_safe_softmax": lambda r: [(r(3, 4), 1)],
    "native_dropout_backward": lambda r: [(r(3, 4), r(3, 4) > 0, 2.0)],
    "max_pool2d_with_indices_backward": lambda r: [(r(1, 2, 2), r(1, 4, 4), np.array([[[0, 2], [9, 15]]]))],
    "segment_reduce": lambda r: (
        [(r(5, 2), reduce, np.array([2, 0, 3]), None, 0, 0.5) for reduce in ("sum", "mean", "prod", "max", "min")]
        + [(r(2, 4), "sum", None, np.array([[0, 1, 4], [0, 3, 4]]), 1, None)]
    ),
    "log_softmax": lambda r: [(r(3, 4), 0)],
    "median": lambda r: [(r(3, 3),)],
    "median_dim": lambda r: [(r(3, 3), 1, False)],
    "nanmedian": lambda r: [(r(3, 3),)],
    "nanmedian_dim": lambda r: [(r(3, 3), 1, False)],
    "linalg_vector_norm": lambda r: [(r(3, 4), p, (1,), False) for p in (2.0, 1.0, 3.0, float("inf"))],
    "dist": lambda r: [(r(3, 4), r(3, 4), 2.0)],
    # activations
    "_prelu_kernel": lambda r: [(r(3, 4), r(4, low=0.1, high=0.5))],
    "glu": lambda r: [(r(3, 4), 1)],
    "rrelu_with_noise": lambda r: [(r(3, 4), r(3, 4, low=0.1, high=0.3))],
    "rrelu_with_noise.eval": lambda r: [(r(3, 4), 0.2)],
    # gathering and scattering
    "gather": lambda r: [(r(3, 4), 1, _J, False)],
    "gather_backward": lambda r: [(r(3, 2), (3, 4), 1, _J)],
    "scatter": lambda r: [(r(3, 4), 1, _J, r(3, 2))],
    "scatter.value": lambda r: [(r(3, 4), 1, _J, 1.5)],
    "scatter_add": lambda r: [(r(3, 4), 1, np.zeros((3, 2), np.int64), r(3, 2))],
    "scatter.reduce": lambda r: [(r(3, 4), 1, np.zeros((3, 2), np.int64), r(3, 2), how) for how in ("add", "multiply")],
    "scatter.value_reduce": lambda r: [(r(3, 4), 1, _J, 1.5, how) for how in ("add", "multiply")],
    "scatter_reduce": lambda r: [
        (r(3, 4), 1, np.zeros((3, 2), np.int64), r(3, 2), how, own)
        for how in ("sum", "prod", "mean", "amax", "amin")
        for own in (True, False)
    ],  # fmt: skip
    "index_select": lambda r: [(r(3, 4), 1, _I)],
    "index_select_backward": lambda r: [(r(3, 3), (3, 4), 1, _I)],
    "index_add": lambda r: [(r(3, 4), 1, _I, r(3, 3), 0.5)],
    "index_copy": lambda r: [(r(3, 4), 1, _I[1:], r(3, 2))],
    "index_fill": lambda r: [(r(3, 4), 1, _I, 1.5)],
    "index_fill.tensor": lambda r: [(r(3, 4), 1, _I, r())],
    "index_reduce": lambda r: [
        (r(3, 4), 1, _I, r(3, 3), how, own) for how in ("prod", "mean", "amax", "amin") for own in (True, False)
    ],  # fmt: skip
    "take": lambda r: [(r(3, 4), np.array([[5, 0], [5, 11]]))],
    "take_backward": lambda r: [(r(2, 2), (3, 4), np.array([[5, 0], [5, 11]]))],
    "put": lambda r: [(r(3, 4), np.array([5, 0]), r(2), False), (r(3, 4), np.array([5, 5]), r(2), True)],
    "put_clear": lambda r: [(r(3, 4), np.array([5, 0]))],
    "masked_select": lambda r: [(r(3, 4), _mask(3, 4))],
    "masked_select_backward": lambda r: [(r(int(_mask(3, 4).sum())), (3, 4), _mask(3, 4))],
    "masked_scatter": lambda r: [(r(3, 4), _mask(3, 4), r(12))],
    "pad_vector": lambda r: [(r(3), 5)],
    "nonzero": lambda r: [(r(3, 4),)],
    # losses
    "mse_loss": lambda r: [(r(3, 4), r(3, 4), how) for how in _HOW],
    "smooth_l1_loss": lambda r: [(r(3, 4), r(3, 4), how, 0.7) for how in _HOW],
    "huber_loss": lambda r: [(r(3, 4), r(3, 4), how, 0.7) for how in _HOW],
    "binary_cross_entropy": lambda r: [
        (r(3, 4, low=0.1, high=0.9), r(3, 4, low=0.1, high=0.9), w, how) for how in _HOW for w in (None, r(4))
    ],
    "binary_cross_entropy_with_logits": lambda r: [
        (r(3, 4), r(3, 4, low=0.1, high=0.9), w, p, how) for how in _HOW for w, p in ((None, None), (r(4), r(4)))
    ],
    "_trilinear": lambda r: [(r(3, 4), r(2, 4, 5), r(3, 5))],
    # sorting and counting
    "sort": lambda r: [(r(3, 4), 1, False)],
    "sort.stable": lambda r: [(r(3, 4), 0, True)],
    "argsort": lambda r: [(r(3, 4), 1, False)],
    "topk": lambda r: [(r(3, 4), 2, 1, True, True), (r(3, 4), 2, 0, False, True)],
    "kthvalue": lambda r: [(r(3, 4), 2, 1, False)],
    "mode": lambda r: [(r(3, 4), 1, False)],
    "aminmax": lambda r: [(r(3, 4), (1,), False)],
    "searchsorted": lambda r: [(np.arange(4.0), r(3), False, False, None)],
    "bincount": lambda r: [(_I, None, 0)],
    "histc": lambda r: [(r(3, 4), 5, -2, 2)],
    "histogram": lambda r: [(r(3, 4), 5, None, None, False)],
    "histogramdd": lambda r: [(r(5, 2), [2, 3], None, None, False)],
    "_unique2": lambda r: [(r(3, 4), True)],
    "unique_dim": lambda r: [(r(3, 4), 0)],
    "unique_consecutive": lambda r: [(r(5), None, True)],
    "isin": lambda r: [(r(3), r(3), False, False)],
    "one_hot": lambda r: [(_I, 4)],
    "embedding": lambda r: [(r(4, 3), np.array([[0, 2], [2, 3]]), -1, False, False)],
    "renorm": lambda r: [(r(3, 4), 2.0, 0, 1.0)],
    # margins and likelihoods
    "soft_margin_loss": lambda r: [(r(3, 4), np.sign(r(3, 4)), how) for how in _HOW],
    "multi_margin_loss": lambda r: [(r(3, 4), _I, w, p, 0.9, how) for how in _HOW for w, p in ((None, 1), (r(4), 2))],
    "multilabel_margin_loss": lambda r: [
        (0.77 * r(3, 4), np.array([[1, 3, -1, 0], [0, -1, 1, 1], [2, 0, 1, 3]]), how) for how in _HOW
    ],
    "nll_loss": lambda r: [(r(3, 4), _I, w, how, -100) for how in _HOW for w in (None, r(4, low=0.2, high=1))],
    "nll_loss2d": lambda r: [
        (r(2, 4, 2, 2), np.array([[[0, 3], [1, 1]], [[2, 0], [3, 2]]]), w, how, -100)
        for how in _HOW
        for w in (None, r(4, low=0.2, high=1))
    ],
    # normalisation
    "native_layer_norm": lambda r: [(r(3, 4), (4,), r(4), r(4), 1e-5), (r(3, 4), (4,), None, None, 1e-5)],
    "native_batch_norm": lambda r: [
        (r(5, 3), r(3), r(3), None, None, True, 1e-5),
        (r(5, 3), r(3), r(3), r(3), r(3, low=0.5, high=2), False, 1e-5),
    ],
    "native_group_norm": lambda r: [(r(2, 4, 3), r(4), r(4), 2, 4, 3, 2, 1e-5)],
    # convolution and padding
    "convolution": lambda r: [
        (r(2, 4, 6), r(6, 2, 3), r(6), (2,), (1,), (1,), False, (0,), 2),
        (r(1, 2, 4, 5), r(3, 2, 2, 3), None, (1, 1), (0, 1), (1, 2), False, (0, 0), 1),
        (r(1, 3, 4), r(3, 2, 3), r(2), (2,), (1,), (1,), True, (1,), 1),
    ],
    "conv_tbc": lambda r: [(r(5, 2, 3), r(2, 3, 4), r(4), 1)],
    **{
        f"{mode}_pad{n}d": lambda r, n=n: [(r(2, *[3] * n), (1, 2) * n), (r(2, *[3] * n), (-1, 2) * n)]
        for mode in ("reflection", "replication")
        for n in (1, 2, 3)
    },
    "constant_pad_nd": lambda r: [(r(3, 4), (1, 2), 0.5), (r(3, 4), (-1, 1, 2, 0), 0.0)],
    "im2col": lambda r: [(r(1, 2, 4, 5), (2, 3), (1, 1), (1, 0), (2, 1))],
    "col2im": lambda r: [(r(1, 12, 9), (4, 5), (2, 3), (1, 1), (1, 0), (2, 1))],
    "pixel_shuffle": lambda r: [(r(1, 8, 2, 3), 2)],
    "pixel_unshuffle": lambda r: [(r(1, 2, 4, 6), 2)],
    "native_channel_shuffle": lambda r: [(r(1, 4, 3), 2)],
    # pooling
    **{
        f"avg_pool{n}d": lambda r, n=n: [(_image(r, n), _windows(n), (1,) * n, p, None) for p in (True, False)]
        for n in (2, 3)
    },
    **{f"max_pool{n}d": lambda r, n=n: [(_image(r, n), _windows(n))] for n in (2, 3)},
    **{f"max_pool{n}d_with_indices": lambda r, n=n: [(_image(r, n), _windows(n))] for n in (2, 3)},
    **{f"adaptive_avg_pool{n}d": lambda r, n=n: [(_image(r, n), (2, 3, 1)[:n])] for n in (2, 3)},
    **{f"adaptive_max_pool{n}d": lambda r, n=n: [(_image(r, n), (2, 3, 1)[:n])] for n in (2, 3)},
    **{
        f"fractional_max_pool{n}d": lambda r, n=n: [(_image(r, n), np.full((1, 2, n), 0.3), (2,) * n, (2,) * n)]
        for n in (2, 3)
    },
    "max_unpool2d": lambda r: [(r(1, 1, 2, 2), np.array([[[[1, 3], [8, 15]]]]), (4, 4))],
    "max_unpool3d": lambda r: [(r(1, 1, 1, 2, 2), np.array([[[[[1, 3], [8, 15]]]]]), (1, 4, 4))],
    # linear algebra
    "linalg_inv_ex": lambda r: [(r.symmetric(3, 3) + r(3, 3), False, "linalg.inv_ex")],
    "linalg_solve_ex": lambda r: [(r.symmetric(3, 3) + r(3, 3), r(3, 2), True, False, "linalg.solve_ex")],
    "linalg_det": lambda r: [(r(3, 3),), (r(2, 2, 2),)],
    "linalg_slogdet": lambda r: [(r(3, 3), "linalg.slogdet")],
    "linalg_cholesky_ex": lambda r: [(r.symmetric(3, 3), u, False, "linalg.cholesky_ex") for u in (False, True)],
    "cholesky": lambda r: [(r.symmetric(3, 3), False, True, "cholesky")],
    "cholesky_solve": lambda r: [(r(3, 2), np.tril(r(3, 3)) + 3 * np.eye(3), False)],
    "cholesky_inverse": lambda r: [(np.tril(r(3, 3)) + 3 * np.eye(3), False)],
    "linalg_solve_triangular": lambda r: [
        (np.triu(r(3, 3)) + 3 * np.eye(3), r(3, 2), True, True, False),
        (np.tril(r(3, 3)) + 3 * np.eye(3), r(2, 3), False, False, True),
    ],
    "triangular_solve": lambda r: [(r(3, 2), np.triu(r(3, 3)) + 3 * np.eye(3), True, t, False) for t in (False, True)],
    "linalg_qr": lambda r: [(r(4, 3), "reduced"), (r(3, 3), "complete")],
    "linalg_svd": lambda r: [(r(4, 3), False, True), (r(3, 4), False, True)],
    "linalg_eigh": lambda r: [(r.symmetric(3, 3), "L", True), (r.symmetric(3, 3), "U", True)],
    "linalg_eig": lambda r: [(r(3, 3), True, "linalg.eig")],
    "linalg_lu": lambda r: [(r(3, 3), True), (r(4, 3), True)],
    "linalg_lu_factor_ex": lambda r: [(r(3, 3), True, True, "linalg.lu_factor_ex")],
    "lu_unpack": lambda r: [(r(3, 3), np.array([2, 2, 3], np.int32), True, True)],
    "_permutation_of_pivots": lambda r: [(np.array([2, 2, 3], np.int32), r(3, 3))],
    "linalg_lu_solve": lambda r: [(r(3, 3) + 3 * np.eye(3), np.array([2, 2, 3], np.int32), r(3, 2), True, False)],
    "linalg_ldl_factor_ex": lambda r: [(r.symmetric(3, 3), False, False)],
    "linalg_ldl_solve": lambda r: [(r(3, 3) + 3 * np.eye(3), np.array([1, 2, 3], np.int32), r(3, 2), False)],
    "geqrf": lambda r: [(r(3, 3),)],
    "linalg_householder_product": lambda r: [(r(4, 3), r(3))],
    "ormqr": lambda r: [(r(4, 3), r(3), r(4, 2), True, False)],
    "linalg_matrix_exp": lambda r: [(r(3, 3),)],
    "linalg_cross": lambda r: [(r(2, 3), r(2, 3), -1)],
    "linalg_pinv": lambda r: [(r(4, 3), None, None, False)],
    "linalg_lstsq": lambda r: [(r(4, 3), r(4, 2), None, "gelsy")],
    "trace": lambda r: [(r(3, 4),)],
    # transforms
    "fft_c2c": lambda r: [(r(3, 4) + 1j * r(3, 4), (1,), 0, True), (r(3, 4) + 1j * r(3, 4), (0, 1), 2, False)],
    "fft_r2c": lambda r: [(r(3, 4), (1,), 0, True), (r(3, 5), (0, 1), 1, True)],
    "fft_c2r": lambda r: [(r(3, 3) + 1j * r(3, 3), (1,), 2, 4)],
    # attention, sampling, resizing
    "_scaled_dot_product_flash_attention_for_cpu": lambda r: [
        (r(1, 2, 3, 4), r(1, 2, 5, 4), r(1, 2, 5, 4), None, causal, 0.5) for causal in (False, True)
    ],
    "grid_sampler_2d": lambda r: [
        (r(1, 2, 4, 5), r(1, 3, 3, 2, low=-0.9, high=0.9), mode, 0, corners)
        for mode in (0, 2)
        for corners in (False, True)
    ],
    "grid_sampler_3d": lambda r: [(r(1, 2, 3, 4, 5), r(1, 2, 2, 2, 3, low=-0.9, high=0.9), 0, 1, False)],
    "affine_grid_generator": lambda r: [(r(1, 2, 3), (1, 2, 4, 5), False)],
    **{
        name: lambda r, n=n: [(_image(r, n), (6, 3, 4)[:n], (None,) * n, False)]
        for n, names in {
            1: "upsample_nearest1d _upsample_nearest_exact1d upsample_linear1d",
            2: "upsample_nearest2d _upsample_nearest_exact2d upsample_bilinear2d upsample_bicubic2d "
            "_upsample_bilinear2d_aa _upsample_bicubic2d_aa _upsample_lanczos2d_aa",
            3: "upsample_nearest3d _upsample_nearest_exact3d upsample_trilinear3d",
        }.items()
        for name in names.split()
    },
    "_cdist_forward": lambda r: [(r(3, 4), r(2, 4), p) for p in (2.0, 1.0, 3.0)],
    "_euclidean_dist": lambda r: [(r(3, 4), r(2, 4), 2.0)],
    "_pdist_forward": lambda r: [(r(4, 3), p) for p in (2.0, 1.0, 3.0)],
    "histogram.edges": lambda r: [(r(3, 4), np.linspace(-2.0, 2.0, 6), None, None, False)],
    "nonzero_static": lambda r: [(r(3, 4), 5, -1)],
    "to_copy": lambda r: [(r(3, 4), np.dtype(np.float64), tidu.contiguous_format)],
    "_embedding_bag": lambda r: [
        (r(4, 3), np.array([0, 2, 2, 3, 1]), np.array([0, 2]), r(5) if mode == 0 else None, False, mode, False, -1)
        for mode in (0, 1, 2)
    ],
    "_ctc_loss": lambda r: [(_LOG_PROBS, np.array([[1, 2], [3, 3]]), (5, 4), (2, 1), 0, False)],
}
