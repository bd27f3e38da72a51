"""Batch normalisation. Source: torch.nn.modules.batchnorm."""

from __future__ import annotations

from typing import Any

from ... import dtypes
from ...ops.factories import empty, ones, zeros
from .. import functional as F
from .. import init
from ..parameter import Parameter, UninitializedBuffer, UninitializedParameter
from .lazy import LazyModuleMixin
from .module import Module

__all__ = [
    "BatchNorm1d", "BatchNorm2d", "BatchNorm3d", "LazyBatchNorm1d", "LazyBatchNorm2d", "LazyBatchNorm3d",
    "SyncBatchNorm",
]  # fmt: skip


class _NormBase(Module):
    """What batch and instance norm have in common: weights, and running statistics."""

    _version = 2
    __constants__ = ["track_running_stats", "momentum", "eps", "num_features", "affine"]
    weight: Any
    bias: Any
    running_mean: Any
    running_var: Any
    num_batches_tracked: Any

    def __init__(
        self, num_features: int, eps: float = 1e-5, momentum: float | None = 0.1, affine: bool = True,
        track_running_stats: bool = True, device: Any = None, dtype: Any = None, *, bias: bool = True,
    ) -> None:  # fmt: skip
        super().__init__()
        self.num_features, self.eps, self.momentum = num_features, eps, momentum
        self.affine, self.track_running_stats = affine, track_running_stats
        for name, there in (("weight", affine), ("bias", affine and bias)):
            p = Parameter(empty(num_features, device=device, dtype=dtype)) if there else None
            self.register_parameter(name, p)
        if track_running_stats:
            self.register_buffer("running_mean", zeros(num_features, device=device, dtype=dtype))
            self.register_buffer("running_var", ones(num_features, device=device, dtype=dtype))
            self.register_buffer("num_batches_tracked", zeros((), dtype=dtypes.int64, device=device))
        else:
            for name in ("running_mean", "running_var", "num_batches_tracked"):
                self.register_buffer(name, None)
        self.reset_parameters()

    def reset_running_stats(self) -> None:
        if self.track_running_stats:
            self.running_mean.zero_()
            self.running_var.fill_(1)
            self.num_batches_tracked.zero_()

    def reset_parameters(self) -> None:
        self.reset_running_stats()
        if self.affine:
            init.ones_(self.weight)
            if self.bias is not None:
                init.zeros_(self.bias)

    def _check_input_dim(self, input: Any) -> None:
        raise NotImplementedError

    def extra_repr(self) -> str:
        return (
            f"{self.num_features}, eps={self.eps}, momentum={self.momentum}, affine={self.affine}, "
            f"bias={self.bias is not None}, track_running_stats={self.track_running_stats}"
        )

    def _load_from_state_dict(self, state_dict: Any, prefix: str, local_metadata: Any, *rest: Any) -> None:
        # Version 2 added num_batches_tracked.
        key = prefix + "num_batches_tracked"
        if (local_metadata.get("version") or 0) < 2 and self.track_running_stats and key not in state_dict:
            now = self.num_batches_tracked
            state_dict[key] = zeros((), dtype=dtypes.int64) if now is None else now
        super()._load_from_state_dict(state_dict, prefix, local_metadata, *rest)


class _BatchNorm(_NormBase):
    def forward(self, input: Any) -> Any:
        self._check_input_dim(input)
        buffers = self._buffers
        tracking, training = self.track_running_stats, self.training
        factor = 0.0 if self.momentum is None else self.momentum
        count = buffers["num_batches_tracked"]
        if training and tracking and count is not None:
            count.add_(1)
            if self.momentum is None:  # the mean over all batches so far
                factor = 1.0 / float(count)
        mean, var = buffers["running_mean"], buffers["running_var"]
        by_batch = training or (mean is None and var is None)
        if training and not tracking:
            mean = var = None
        return F.batch_norm(input, mean, var, self.weight, self.bias, by_batch, factor, self.eps)


class _LazyNormBase(LazyModuleMixin, _NormBase):
    weight: Any
    bias: Any

    def __init__(
        self, eps: float = 1e-5, momentum: float | None = 0.1, affine: bool = True, track_running_stats: bool = True,
        device: Any = None, dtype: Any = None, *, bias: bool = True,
    ) -> None:  # fmt: skip
        # Affine and tracking are switched on below, so that nothing of size 0 is made first.
        super().__init__(0, eps, momentum, False, False, device=device, dtype=dtype, bias=bias)
        self.affine, self.track_running_stats = affine, track_running_stats
        place = {"device": device, "dtype": dtype}
        if affine:
            self.weight = UninitializedParameter(**place)
            if bias:
                self.bias = UninitializedParameter(**place)
        if track_running_stats:
            self.running_mean = UninitializedBuffer(**place)
            self.running_var = UninitializedBuffer(**place)
            self.num_batches_tracked = zeros((), dtype=dtypes.int64)

    def reset_parameters(self) -> None:
        if not self.has_uninitialized_params() and self.num_features != 0:
            super().reset_parameters()

    def initialize_parameters(self, input: Any) -> None:
        if self.has_uninitialized_params():
            n = self.num_features = input.shape[1]
            for t in (self.weight, self.bias) if self.affine else ():
                if t is not None:
                    t.materialize((n,))
            for t in (self.running_mean, self.running_var) if self.track_running_stats else ():
                t.materialize((n,))
            self.reset_parameters()


class BatchNorm1d(_BatchNorm):
    """Batch normalisation of (N, C) or (N, C, L). Source: torch.nn.BatchNorm1d."""

    def _check_input_dim(self, input: Any) -> None:
        if input.dim() not in (2, 3):
            raise ValueError(f"expected 2D or 3D input (got {input.dim()}D input)")


class LazyBatchNorm1d(_LazyNormBase, _BatchNorm):
    """A BatchNorm1d that finds out `num_features`. Source: torch.nn.LazyBatchNorm1d."""

    cls_to_become = BatchNorm1d
    _check_input_dim = BatchNorm1d._check_input_dim


class BatchNorm2d(_BatchNorm):
    """Batch normalisation of (N, C, H, W): each channel to mean 0 and variance 1, then weight and bias. Source:
    torch.nn.BatchNorm2d.

    Args:
        num_features: C.
        eps: added to the variance.
        momentum: how far running statistics move towards those of the batch; None for their plain mean.
        affine: whether there are weight and bias.
        track_running_stats: whether there are running statistics, which evaluation uses.
    """

    def _check_input_dim(self, input: Any) -> None:
        if input.dim() != 4:
            raise ValueError(f"expected 4D input (got {input.dim()}D input)")


class LazyBatchNorm2d(_LazyNormBase, _BatchNorm):
    """A BatchNorm2d that finds out `num_features`. Source: torch.nn.LazyBatchNorm2d."""

    cls_to_become = BatchNorm2d
    _check_input_dim = BatchNorm2d._check_input_dim


class BatchNorm3d(_BatchNorm):
    """Batch normalisation of (N, C, D, H, W). Source: torch.nn.BatchNorm3d."""

    def _check_input_dim(self, input: Any) -> None:
        if input.dim() != 5:
            raise ValueError(f"expected 5D input (got {input.dim()}D input)")


class LazyBatchNorm3d(_LazyNormBase, _BatchNorm):
    """A BatchNorm3d that finds out `num_features`. Source: torch.nn.LazyBatchNorm3d."""

    cls_to_become = BatchNorm3d
    _check_input_dim = BatchNorm3d._check_input_dim


class SyncBatchNorm(_BatchNorm):
    """Batch normalisation over several processes; here there is one. Source: torch.nn.SyncBatchNorm."""

    def __init__(
        self, num_features: int, eps: float = 1e-5, momentum: float | None = 0.1, affine: bool = True,
        track_running_stats: bool = True, process_group: Any = None, device: Any = None, dtype: Any = None, *,
        bias: bool = True,
    ) -> None:  # fmt: skip
        super().__init__(num_features, eps, momentum, affine, track_running_stats, device, dtype, bias=bias)
        self.process_group = process_group

    def _check_input_dim(self, input: Any) -> None:
        if input.dim() < 2:
            raise ValueError(f"expected at least 2D input (got {input.dim()}D input)")

    @classmethod
    def convert_sync_batchnorm(cls, module: Any, process_group: Any = None) -> Any:
        """The module with its BatchNorm layers made SyncBatchNorm. Source:
        torch.nn.SyncBatchNorm.convert_sync_batchnorm."""
        out = module
        if isinstance(module, _BatchNorm):
            out = cls(
                module.num_features, module.eps, module.momentum, module.affine, module.track_running_stats,
                process_group, bias=module.bias is not None,
            )  # fmt: skip
            out.__dict__["_parameters"].update(module._parameters)
            out.__dict__["_buffers"].update(module._buffers)
            out.training = module.training
        for name, child in module.named_children():
            out.add_module(name, cls.convert_sync_batchnorm(child, process_group))
        return out
