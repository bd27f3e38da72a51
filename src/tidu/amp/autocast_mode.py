"""Autocast: products in bfloat16 or float16, losses and the like in float32. Source: torch.amp.autocast."""

from __future__ import annotations

import functools
import threading
import warnings
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from .. import dtypes
from ..core.subclass import pop_mode, push_mode
from ..core.tensor import Tensor

__all__ = ["autocast", "custom_bwd", "custom_fwd", "is_autocast_available"]

_LOWER = frozenset(
    "conv1d conv2d conv3d conv_transpose1d conv_transpose2d conv_transpose3d conv_tbc bmm mm baddbmm addmm "
    "addbmm linear "
    "matmul _convolution convolution scaled_dot_product_attention vecdot chain_matmul multi_dot".split()
)
_FLOAT32 = frozenset(
    "avg_pool3d binary_cross_entropy grid_sampler polar prod quantile nanquantile stft cdist trace view_as_complex "
    "cholesky cholesky_inverse cholesky_solve inverse lu_solve orgqr ormqr pinverse max_pool3d max_unpool2d "
    "max_unpool3d "
    "adaptive_avg_pool3d reflection_pad1d reflection_pad2d replication_pad1d replication_pad2d replication_pad3d "
    "mse_loss cosine_embedding_loss nll_loss nll_loss2d hinge_embedding_loss poisson_nll_loss smooth_l1_loss "
    "cross_entropy_loss cross_entropy l1_loss huber_loss margin_ranking_loss soft_margin_loss triplet_margin_loss "
    "multi_margin_loss ctc_loss kl_div multilabel_margin_loss binary_cross_entropy_with_logits matrix_rank qr svd "
    "geqrf cond matrix_exp eigh eigvalsh eig eigvals slogdet det logdet".split()
)
_WIDEST = frozenset("stack cat index_copy".split())


class _State(threading.local):
    enabled = False
    dtype: Any = dtypes.bfloat16
    cuda_dtype: Any = dtypes.float16
    cache = True
    pushed = 0


_state = _State()


def is_autocast_available(device_type: str) -> bool:
    """Whether there can be autocast on a kind of device. Source: torch.amp.is_autocast_available."""
    return device_type in ("cpu", "cuda", "xpu", "mps")


def is_autocast_enabled(device_type: str = "cuda") -> bool:
    """Whether autocast is on. Source: torch.is_autocast_enabled."""
    return _state.enabled if device_type == "cpu" else False


def set_autocast_enabled(device_type: str, enabled: bool) -> None:
    """Turn autocast on or off. Source: torch.set_autocast_enabled."""
    if device_type == "cpu":
        _state.enabled = enabled
        _keep_mode()


def get_autocast_dtype(device_type: str) -> dtypes.dtype:
    """The type that autocast computes in. Source: torch.get_autocast_dtype."""
    return _state.dtype if device_type == "cpu" else _state.cuda_dtype  # type: ignore[no-any-return]


def set_autocast_dtype(device_type: str, dtype: dtypes.dtype) -> None:
    """Set the type that autocast computes in. Source: torch.set_autocast_dtype."""
    setattr(_state, "dtype" if device_type == "cpu" else "cuda_dtype", dtype)


def is_autocast_cache_enabled() -> bool:
    """Accepted setting. Source: torch.is_autocast_cache_enabled."""
    return _state.cache


def set_autocast_cache_enabled(enabled: bool) -> None:
    """Accepted setting. Source: torch.set_autocast_cache_enabled."""
    _state.cache = enabled


# ------------------------------------------------------------------ what it does


class _Mode:
    """Sees every op while autocast is on."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        name = func.__name__
        if _state.enabled:
            if name in _LOWER:
                args, kwargs = _cast(args, _state.dtype), _cast(kwargs, _state.dtype)
            elif name in _FLOAT32:
                args, kwargs = _cast(args, dtypes.float32), _cast(kwargs, dtypes.float32)
            elif name in _WIDEST:
                kinds = [t.dtype for t in _tensors(args) if t.dtype.is_floating_point]
                if len(set(kinds)) > 1:
                    widest = functools.reduce(dtypes.promote_types, kinds)
                    args = _cast(args, widest)
        return func(*args, **kwargs)


def _keep_mode() -> None:
    """Let the mode see ops while autocast is on."""
    if _state.enabled and not _state.pushed:
        push_mode(_Mode())
        _state.pushed = 1
    elif not _state.enabled and _state.pushed:
        pop_mode()
        _state.pushed = 0


def _tensors(x: Any) -> Iterable[Any]:
    if isinstance(x, Tensor):
        yield x
    elif isinstance(x, (list, tuple)):
        for v in x:
            yield from _tensors(v)


def _cast(value: Any, dtype: Any) -> Any:
    """Floating tensors but float64 ones in another type, whatever holds them."""
    if isinstance(value, Tensor):
        narrow = value.dtype.is_floating_point and value.dtype is not dtypes.float64 and value.dtype is not dtype
        return value.to(dtype) if narrow else value  # type: ignore[attr-defined]
    if isinstance(value, (str, bytes, np.ndarray)):
        return value
    if isinstance(value, Mapping):
        return {k: _cast(v, dtype) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        made = [_cast(v, dtype) for v in value]
        return type(value)(*made) if hasattr(value, "_fields") else type(value)(made)
    return value


class autocast:
    """Within it products are computed in a narrower type, losses in float32. Source: torch.amp.autocast.

    Args:
        device_type: "cpu"; for others it does nothing, with a warning.
        dtype: bfloat16 (the default) or float16.
        enabled: False to switch it off within another one.
        cache_enabled: accepted.

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
            warnings.warn(
                "CUDA is not available or torch_xla is imported. Disabling autocast.", stacklevel=2
            )
            enabled = False
        elif enabled and self.fast_dtype not in (dtypes.bfloat16, dtypes.float16):
            warnings.warn(
                f"In {device_type.upper()} autocast, but the target dtype is not supported. Disabling autocast.\n"
                f"{device_type.upper()} Autocast only supports dtypes of torch.bfloat16, torch.float16 currently.",
                stacklevel=2,
            )
            enabled = False
        self._enabled = enabled
        self._before: list[Any] = []

    def __enter__(self) -> autocast:
        self._before.append((is_autocast_enabled(self.device), get_autocast_dtype(self.device)))
        set_autocast_dtype(self.device, self.fast_dtype)
        set_autocast_enabled(self.device, self._enabled)
        return self

    def __exit__(self, *exc: Any) -> bool:  # type: ignore[exit-return]
        enabled, dtype = self._before.pop()
        set_autocast_enabled(self.device, enabled)
        set_autocast_dtype(self.device, dtype)
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
            return fwd(*_cast(args, cast_inputs), **_cast(kwargs, cast_inputs))

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
