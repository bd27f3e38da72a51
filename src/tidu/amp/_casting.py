"""What autocast does to functions: the code of those it is about is changed when it is first used.

Each such function asks from then on whether autocast is on in its thread, casts its arguments if so, and runs the code
that it had. The functions remain the objects that they were, so that references taken before are cast too, and all
others, and programs without autocast, pay nothing.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping
from types import FunctionType
from typing import Any

import numpy as np

from .. import dtypes
from ..core.modes import state as recording
from ..core.subclass import FACES
from ..core.swapped import hand_over, twin
from ..core.tensor import Tensor

__all__ = ["cast", "install", "state"]

_LOWER = (
    "addbmm addmm baddbmm bmm chain_matmul conv1d conv2d conv3d conv_tbc conv_transpose1d conv_transpose2d "
    "conv_transpose3d matmul mm prelu nn.functional.linear nn.functional.scaled_dot_product_attention "
    "linalg.multi_dot linalg.vecdot"
)
_FLOAT32 = (
    "cdist cholesky cholesky_inverse cholesky_solve geqrf grid_sampler inverse kl_div lu_solve nanquantile orgqr ormqr "
    "pinverse polar prod qr quantile stft svd trace triangular_solve view_as_complex "
    "binary_cross_entropy_with_logits "
    + " ".join(
        "nn.functional." + name
        for name in (
            "adaptive_avg_pool3d adaptive_max_pool3d avg_pool3d binary_cross_entropy binary_cross_entropy_with_logits "
            "cosine_embedding_loss cross_entropy ctc_loss fractional_max_pool2d fractional_max_pool3d grid_sample "
            "hinge_embedding_loss huber_loss kl_div l1_loss margin_ranking_loss max_pool3d max_unpool2d max_unpool3d "
            "mse_loss multi_margin_loss multilabel_margin_loss nll_loss poisson_nll_loss smooth_l1_loss "
            "soft_margin_loss triplet_margin_loss"
        ).split()
    )
    + " "
    + " ".join(
        "linalg." + name
        for name in (
            "cholesky cholesky_ex cond eig eigh eigvals eigvalsh householder_product inv inv_ex lstsq lu_solve "
            "matrix_exp matrix_rank qr solve svd svdvals tensorinv tensorsolve"
        ).split()
    )
    + " "
    + " ".join(
        "fft." + name
        for name in ("fft fft2 fftn hfft ifft ifft2 ifftn ihfft irfft irfft2 irfftn rfft rfft2 rfftn").split()
    )
)
_WIDEST = "cat index_copy stack"


class _State(threading.local):
    enabled = False
    dtype: Any = dtypes.bfloat16
    cuda_dtype: Any = dtypes.float16
    cache = True
    depth = 0  # how many autocasts are entered

    def __init__(self) -> None:
        self.casts: dict[Any, tuple[Any, int, Any]] = {}  # parameters that were cast within the outermost of them


state = _State()


# ------------------------------------------------------------------ casting


def _narrow(t: Tensor, dtype: Any) -> Tensor:
    """A tensor in another type; that of a parameter is kept until the outermost autocast ends."""
    node = t._node
    if node is not True or not state.cache or not state.depth or t.dtype is not dtypes.float32:
        return t.to(dtype)
    key = id(t), dtype, recording.record is not False
    found = state.casts.get(key)
    if found is None or found[0] is not t or found[1] != t._v[0]:
        found = state.casts[key] = t, t._v[0], t.to(dtype)
    return found[2]


def cast(value: Any, dtype: Any, to: Callable[[Any, Any], Any] = lambda t, dtype: t.to(dtype)) -> Any:
    """Floating tensors but float64 ones in another type, whatever holds them."""
    if isinstance(value, Tensor):
        d = value.dtype
        return value if d is dtype or d is dtypes.float64 or not d.is_floating_point else to(value, dtype)
    if isinstance(value, (str, bytes, np.ndarray)):
        return value
    if isinstance(value, Mapping):
        return {k: cast(v, dtype, to) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        made = [cast(v, dtype, to) for v in value]
        return type(value)(*made) if hasattr(value, "_fields") else type(value)(made)
    return value


def _tensors(x: Any) -> Iterable[Any]:
    if isinstance(x, Tensor):
        yield x
    elif isinstance(x, (list, tuple)):
        for v in x:
            yield from _tensors(v)


def _lower(args: Any, kw: Any) -> Any:
    return cast(args, state.dtype, _narrow), cast(kw, state.dtype, _narrow) if kw else kw


def _single(args: Any, kw: Any) -> Any:
    return cast(args, dtypes.float32), cast(kw, dtypes.float32) if kw else kw


def _widest(args: Any, kw: Any) -> Any:
    """float32 if any is; otherwise all are to be of autocast's own type."""
    found = state.dtype
    for t in (*_tensors(args), *_tensors(list(kw.values()))):
        d = t.dtype
        if d.is_floating_point and d is not dtypes.float64:
            if d is dtypes.float32:
                found = d
            elif found is not dtypes.float32 and d is not found:
                raise RuntimeError("Unexpected floating ScalarType in at::autocast::prioritize")
    return cast(args, found), cast(kw, found) if kw else kw


def _padding(args: Any, kw: Any) -> Any:
    """float32 where the edge is repeated or mirrored, but in three dimensions mirrored."""
    given = dict(zip(("input", "pad", "mode"), args, strict=False), **kw)
    mode = given.get("mode", "constant")
    single = mode == "replicate" or (mode == "reflect" and len(given.get("pad", ())) < 6)
    return _single(args, kw) if single else (args, kw)


def _recurrent(args: Any, kw: Any) -> Any:
    """A layer or step of a recurrent network: mode, what goes in, the states, the weights.

    The gates are computed in the narrow type; what becomes of the states depends on theirs, in gated networks.
    """
    mode, x, hidden, *rest = args
    narrow = mode.startswith("RNN") or all(h.dtype is state.dtype for h in hidden)
    if mode == "LSTM" and not _is_step(rest):
        narrow = True
    return (_lower if narrow else _single)(args, kw)


def _is_step(rest: list[Any]) -> bool:
    return not isinstance(rest[0], list)


# ------------------------------------------------------------------ functions


class _Casting:
    """A function that casts: the code that it had, and how its arguments are cast."""

    __slots__ = ("plain", "rule")

    def __init__(self, fn: Any, rule: Callable[[Any, Any], Any]) -> None:
        self.rule = rule
        self.plain = twin(fn)
        if "__wrapped__" not in fn.__dict__:  # where inspect finds the signature
            fn.__wrapped__ = self.plain
        hand_over(fn, self)

    def __call__(self, args: tuple[Any, ...], kw: dict[str, Any]) -> Any:
        if not state.enabled or kw.get("out") is not None:
            return self.plain(*args, **kw)
        args, kw = self.rule(args, kw)
        state.enabled = False  # as in PyTorch: what a function calls is not cast again
        try:
            return self.plain(*args, **kw)
        finally:
            state.enabled = True


def _found(path: str) -> Any:
    """The function itself behind a public name: within what checks its arguments."""
    from importlib import import_module

    where, _, name = path.rpartition(".")
    root = __package__.partition(".")[0]
    fn = getattr(import_module(f"{root}.{where}" if where else root), name, None)
    while fn is not None and hasattr(fn, "__wrapped__"):
        fn = fn.__wrapped__
    return fn


_installed = False


def install() -> None:
    """Change the functions that autocast is about. Once and for all."""
    global _installed
    if _installed:
        return
    _installed = True
    FACES.between(_install)


def _install() -> None:
    from ..nn import _recurrent as recurrent

    seen: set[Any] = set()

    def change(fn: Any, rule: Any) -> None:
        for f in (fn, *getattr(fn, "copies", ())):
            if isinstance(f, FunctionType) and f not in seen:
                seen.add(f)
                _Casting(f, rule)

    for paths, rule in ((_LOWER, _lower), (_FLOAT32, _single), (_WIDEST, _widest)):
        for path in paths.split():
            change(_found(path), rule)
    for name in ("__matmul__", "__rmatmul__"):
        change(getattr(Tensor, name), _lower)
    change(_found("nn.functional.pad"), _padding)
    change(recurrent.layer, _recurrent)
    change(recurrent.step, _recurrent)
