"""torch.amp: computing in a narrower type where that is safe, and scaling losses for it.

Autocast computes products in bfloat16 or float16, losses and the like in float32."""

from __future__ import annotations

import functools
import threading
import warnings
from collections.abc import Callable, Iterable, Mapping
from types import FunctionType
from typing import Any

import numpy as np

from .. import dtypes
from ..core.modes import state as recording
from ..core.parameters import hand_over, twin
from ..core.subclass import FACES
from ..core.tensor import Tensor
from ..devices import device
from ..naming import submodule


def is_autocast_available(device_type: str) -> bool:
    """Whether there can be autocast on a kind of device. Source: torch.amp.is_autocast_available."""
    device(device_type)
    return device_type in ("cpu", "cuda", "xpu", "mps")


def is_autocast_enabled(device_type: str = "cuda") -> bool:
    """Whether autocast is on. Source: torch.is_autocast_enabled."""
    return state.enabled if device_type == "cpu" else False


def set_autocast_enabled(device_type: str, enabled: bool) -> None:
    """Turn autocast on or off. Source: torch.set_autocast_enabled."""
    if device_type == "cpu":
        if enabled:
            install()
        state.enabled = enabled


def get_autocast_dtype(device_type: str) -> dtypes.dtype:
    """The type that autocast computes in. Source: torch.get_autocast_dtype."""
    return state.dtype if device_type == "cpu" else state.cuda_dtype


def set_autocast_dtype(device_type: str, dtype: dtypes.dtype) -> None:
    """Set the type that autocast computes in. Source: torch.set_autocast_dtype."""
    if not isinstance(dtype, dtypes.dtype):
        raise TypeError(
            f"set_autocast_dtype(): argument 'dtype' (position 2) must be torch.dtype, not {type(dtype).__name__}"
        )
    setattr(state, "dtype" if device_type == "cpu" else "cuda_dtype", dtype)


def get_autocast_cpu_dtype() -> dtypes.dtype:
    """`get_autocast_dtype("cpu")`, deprecated. Source: torch.get_autocast_cpu_dtype."""
    return get_autocast_dtype("cpu")


def get_autocast_gpu_dtype() -> dtypes.dtype:
    """`get_autocast_dtype("cuda")`, deprecated. Source: torch.get_autocast_gpu_dtype."""
    return get_autocast_dtype("cuda")


def is_autocast_cpu_enabled() -> bool:
    """`is_autocast_enabled("cpu")`, deprecated. Source: torch.is_autocast_cpu_enabled."""
    return is_autocast_enabled("cpu")


def set_autocast_cpu_dtype(dtype: dtypes.dtype) -> None:
    """`set_autocast_dtype("cpu", dtype)`, deprecated. Source: torch.set_autocast_cpu_dtype."""
    set_autocast_dtype("cpu", dtype)


def set_autocast_gpu_dtype(dtype: dtypes.dtype) -> None:
    """`set_autocast_dtype("cuda", dtype)`, deprecated. Source: torch.set_autocast_gpu_dtype."""
    set_autocast_dtype("cuda", dtype)


def set_autocast_cpu_enabled(enabled: bool) -> None:
    """`set_autocast_enabled("cpu", enabled)`, deprecated. Source: torch.set_autocast_cpu_enabled."""
    set_autocast_enabled("cpu", enabled)


def is_autocast_cache_enabled() -> bool:
    """Whether parameters are cast once within the outermost autocast. Source: torch.is_autocast_cache_enabled."""
    return state.cache


def clear_autocast_cache() -> None:
    """Forget the parameters that were cast. Source: torch.clear_autocast_cache."""
    state.casts.clear()


def autocast_increment_nesting() -> int:
    """Note that an autocast is entered; how many are. Source: torch.autocast_increment_nesting."""
    state.depth += 1
    return state.depth


def autocast_decrement_nesting() -> int:
    """Note that an autocast is left; how many are entered still. Source: torch.autocast_decrement_nesting."""
    state.depth -= 1
    return state.depth


def set_autocast_cache_enabled(enabled: bool) -> None:
    """Say whether parameters are cast once within the outermost autocast. Source:
    torch.set_autocast_cache_enabled."""
    state.cache = enabled


class autocast:
    """Within it products are computed in a narrower type, losses in float32. Source: torch.amp.autocast.

    Args:
        device_type: "cpu"; for others it does nothing, with a warning.
        dtype: bfloat16 (the default) or float16.
        enabled: False to switch it off within another one.
        cache_enabled: cast each parameter once within the outermost autocast (the default), and not at each use.

    >>> import tidu as torch
    >>> with torch.autocast("cpu"):
    ...     (torch.ones(2, 2) @ torch.ones(2, 2)).dtype
    torch.bfloat16
    """

    def __init__(
        self, device_type: str, dtype: Any = None, enabled: bool = True, cache_enabled: bool | None = None
    ) -> None:
        if not isinstance(device_type, str):
            raise ValueError(f"Expected `device_type` of type `str`, got: `{type(device_type)}`")
        if not is_autocast_available(device_type):
            raise RuntimeError(f"User specified an unsupported autocast device_type '{device_type}'")
        self.device = device_type
        self.fast_dtype = get_autocast_dtype(device_type) if dtype is None else dtype
        if enabled and device_type == "cuda":
            warnings.warn("CUDA is not available or torch_xla is imported. Disabling autocast.", stacklevel=2)
            enabled = False
        elif enabled and self.fast_dtype not in (dtypes.bfloat16, dtypes.float16):
            warnings.warn(
                f"In {device_type.upper()} autocast, but the target dtype is not supported. Disabling autocast.\n"
                f"{device_type.upper()} Autocast only supports dtypes of torch.bfloat16, torch.float16 currently.",
                stacklevel=2,
            )
            enabled = False
        self._enabled = enabled
        self._cache_enabled = is_autocast_cache_enabled() if cache_enabled is None else cache_enabled
        self._before: list[Any] = []

    def __enter__(self) -> autocast:
        before = (is_autocast_enabled(self.device), get_autocast_dtype(self.device), is_autocast_cache_enabled())
        self._before.append(before)
        set_autocast_dtype(self.device, self.fast_dtype)
        set_autocast_enabled(self.device, self._enabled)
        autocast_increment_nesting()
        set_autocast_cache_enabled(self._cache_enabled)
        return self

    def __exit__(self, *exc: Any) -> bool:  # type: ignore[exit-return]
        enabled, dtype, cached = self._before.pop()
        if autocast_decrement_nesting() == 0:
            clear_autocast_cache()
        set_autocast_enabled(self.device, enabled)
        set_autocast_dtype(self.device, dtype)
        set_autocast_cache_enabled(cached)
        return False

    def __call__(self, func: Callable[..., Any]) -> Callable[..., Any]:
        if not callable(func):
            raise TypeError(
                f"autocast()(func) requires a callable, but got {type(func).__name__}. Did you mean to use autocast as "
                "a context manager? For example:\n    with torch.autocast(device_type=...):\n        output = "
                "model(input)"
            )

        @functools.wraps(func)
        def within(*args: Any, **kwargs: Any) -> Any:
            with self:
                return func(*args, **kwargs)

        return within


def _enter_autocast(*vals: Any) -> autocast:
    return autocast(*vals).__enter__()


def _exit_autocast(mode: autocast) -> None:
    mode.__exit__(None, None, None)


def custom_fwd(fwd: Any = None, *, device_type: str, cast_inputs: Any = None) -> Any:
    """For a Function's forward: cast its inputs, or note for backward how it was called. Source:
    torch.amp.custom_fwd."""
    if not isinstance(device_type, str):
        raise ValueError(f"Expected `device_type` of type `str`, got: `{type(device_type)}`")
    if fwd is None:
        return functools.partial(custom_fwd, device_type=device_type, cast_inputs=cast_inputs)

    @functools.wraps(fwd)
    def decorated(*args: Any, **kwargs: Any) -> Any:
        ctx, on = args[0], is_autocast_enabled(device_type)
        ctx._dtype = get_autocast_dtype(device_type)
        ctx._fwd_used_autocast = on and cast_inputs is None
        if cast_inputs is None or not on:
            return fwd(*args, **kwargs)
        with autocast(device_type=device_type, enabled=False):
            return fwd(*cast(args, cast_inputs), **cast(kwargs, cast_inputs))

    return decorated


def custom_bwd(bwd: Any = None, *, device_type: str) -> Any:
    """For a Function's backward: autocast as in its forward. Source: torch.amp.custom_bwd."""
    if not isinstance(device_type, str):
        raise ValueError(f"Expected `device_type` of type `str`, got: `{type(device_type)}`")
    if bwd is None:
        return functools.partial(custom_bwd, device_type=device_type)

    @functools.wraps(bwd)
    def decorated(*args: Any, **kwargs: Any) -> Any:
        ctx = args[0]
        with autocast(device_type=device_type, enabled=ctx._fwd_used_autocast, dtype=ctx._dtype):
            return bwd(*args, **kwargs)

    return decorated


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


_NAMES = (
    "_enter_autocast _exit_autocast autocast autocast_decrement_nesting autocast_increment_nesting "
    "clear_autocast_cache custom_bwd custom_fwd get_autocast_cpu_dtype get_autocast_dtype get_autocast_gpu_dtype "
    "is_autocast_available is_autocast_cache_enabled is_autocast_cpu_enabled is_autocast_enabled "
    "set_autocast_cache_enabled set_autocast_cpu_dtype set_autocast_cpu_enabled set_autocast_dtype "
    "set_autocast_enabled set_autocast_gpu_dtype"
)
submodule(globals(), "autocast_mode", _NAMES)
__all__ = ["GradScaler", *_NAMES.split()]
from .grad_scaler import GradScaler  # noqa: E402
