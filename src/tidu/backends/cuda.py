"""torch.backends.cuda: not there; the switches remember."""

from __future__ import annotations


class _Matmul:
    allow_tf32 = False
    allow_fp16_reduced_precision_reduction = True
    allow_bf16_reduced_precision_reduction = True


matmul = _Matmul()
_sdp = {"flash": True, "math": True, "mem_efficient": True, "cudnn": True}


def is_built() -> bool:
    """False. Source: torch.backends.cuda.is_built."""
    return False


def flash_sdp_enabled() -> bool:
    """Source: torch.backends.cuda.flash_sdp_enabled."""
    return _sdp["flash"]


def enable_flash_sdp(enabled: bool) -> None:
    """Source: torch.backends.cuda.enable_flash_sdp."""
    _sdp["flash"] = enabled


def math_sdp_enabled() -> bool:
    """Source: torch.backends.cuda.math_sdp_enabled."""
    return _sdp["math"]


def enable_math_sdp(enabled: bool) -> None:
    """Source: torch.backends.cuda.enable_math_sdp."""
    _sdp["math"] = enabled


def mem_efficient_sdp_enabled() -> bool:
    """Source: torch.backends.cuda.mem_efficient_sdp_enabled."""
    return _sdp["mem_efficient"]


def enable_mem_efficient_sdp(enabled: bool) -> None:
    """Source: torch.backends.cuda.enable_mem_efficient_sdp."""
    _sdp["mem_efficient"] = enabled
