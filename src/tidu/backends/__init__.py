"""torch.backends: switches between implementations, as a CPU build has them. They remember what they are told, and
every library that is asked for is absent. Source: torch.backends.

>>> import tidu as torch
>>> torch.backends.cudnn.is_available(), torch.backends.cudnn.benchmark
(False, False)
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from types import SimpleNamespace
from typing import Any

from ..naming import submodule

__all__ = ["cpu", "cuda", "cudnn", "mkl", "mkldnn", "mps", "openmp", "opt_einsum", "quantized"]


def _answer(value: Any) -> Callable[..., Any]:
    def answer() -> Any:
        return value

    answer.__doc__ = f"{value!r}."
    return answer


def _is_acceptable(tensor: object) -> bool:
    """False: no tensor is on a GPU. Source: torch.backends.cudnn.is_acceptable."""
    return False


def _cpu_capability() -> str:
    """The vector instructions that are put to use: NumPy and the compiler choose theirs, so the plainest answer."""
    return "DEFAULT"


def _set_flags(
    _enabled: bool | None = None, _benchmark: bool | None = None, _benchmark_limit: int | None = None,
    _deterministic: bool | None = None, _allow_tf32: bool | None = None,
) -> tuple[object, ...]:  # fmt: skip
    """Set several switches; returns what they were. Source: torch.backends.cudnn.set_flags."""
    given = {
        "enabled": _enabled, "benchmark": _benchmark, "benchmark_limit": _benchmark_limit,
        "deterministic": _deterministic, "allow_tf32": _allow_tf32,
    }  # fmt: skip
    switches = vars(cudnn)
    was = tuple(switches[name] for name in given)
    switches.update({name: value for name, value in given.items() if value is not None})
    return was


@contextmanager
def _flags(
    enabled: bool = False, benchmark: bool = False, benchmark_limit: int = 10, deterministic: bool = False,
    allow_tf32: bool = True,
) -> Iterator[None]:  # fmt: skip
    """Set the switches for the length of a `with` block. Source: torch.backends.cudnn.flags."""
    was = _set_flags(enabled, benchmark, benchmark_limit, deterministic, allow_tf32)
    try:
        yield
    finally:
        _set_flags(*was)  # type: ignore[arg-type]


def _attention_switches() -> dict[str, Any]:
    """The pairs `flash_sdp_enabled`, `enable_flash_sdp`, ... of torch.backends.cuda."""

    def switch(kind: str) -> dict[str, Any]:
        on = [True]

        def enable(enabled: bool) -> None:
            on[0] = enabled

        return {f"{kind}_sdp_enabled": lambda: on[0], f"enable_{kind}_sdp": enable}

    return switch("flash") | switch("math") | switch("mem_efficient") | switch("cudnn")


@contextmanager
def _sdp_kernel(
    enable_flash: bool = True, enable_math: bool = True, enable_mem_efficient: bool = True, enable_cudnn: bool = True
) -> Iterator[dict[str, bool]]:
    """Accepted: attention is computed in one way. Deprecated. Source: torch.backends.cuda.sdp_kernel."""
    warnings.warn(
        "`torch.backends.cuda.sdp_kernel()` is deprecated. In the future, this context manager will be removed. Please "
        "see `torch.nn.attention.sdpa_kernel()` for the new context manager, with updated signature.",
        FutureWarning,
        stacklevel=3,
    )
    yield {}


_here = partial(submodule, globals())
cpu = _here("cpu", get_cpu_capability=_cpu_capability)
cuda = _here(
    "cuda",
    is_built=_answer(False),
    matmul=SimpleNamespace(
        allow_tf32=False, allow_fp16_reduced_precision_reduction=True, allow_bf16_reduced_precision_reduction=True
    ),
    sdp_kernel=_sdp_kernel,
    **_attention_switches(),
)
cudnn = _here(
    "cudnn",
    is_available=_answer(False), version=_answer(None), is_acceptable=_is_acceptable, set_flags=_set_flags, flags=_flags,
    enabled=True, benchmark=False, benchmark_limit=10, deterministic=False, allow_tf32=True,
)  # fmt: skip
mkl = _here("mkl", is_available=_answer(False))
mkldnn = _here("mkldnn", is_available=_answer(False), enabled=True, deterministic=False, allow_tf32=True)
mps = _here("mps", is_available=_answer(False), is_built=_answer(False))
openmp = _here("openmp", is_available=_answer(False))
opt_einsum = _here("opt_einsum", is_available=_answer(False), enabled=False, strategy=None)
quantized = _here("quantized", engine="none", supported_engines=["none"])
