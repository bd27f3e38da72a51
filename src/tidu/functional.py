"""torch.functional: functions of torch by the name of the module that PyTorch has them in."""

from __future__ import annotations

from typing import Any

__all__ = (
    "atleast_1d atleast_2d atleast_3d block_diag broadcast_shapes broadcast_tensors cartesian_prod cdist "
    "chain_matmul einsum istft lu meshgrid norm pca_lowrank split stft svd_lowrank tensordot unique "
    "unique_consecutive unravel_index"
).split()


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name in __all__:
        return getattr(import_module(__package__), name)
    if name == "F":
        return import_module(f"{__package__}.nn.functional")
    from .missing import missing_name

    raise missing_name(__name__, name)
