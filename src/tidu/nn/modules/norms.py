"""Normalisation: over a batch, and within a sample. Source: torch.nn.modules.batchnorm, .instancenorm, .normalization."""

from __future__ import annotations

import numbers
import warnings
from typing import Any

from ... import dtypes
from ...ops.factories import empty, ones, zeros
from .. import functional as F
from .. import init
from ..parameter import Parameter, UninitializedBuffer, UninitializedParameter
from .module import Module
from .utils import LazyModuleMixin

# The files of their own that PyTorch has them in, by which saved modules know the classes.
FILES = {
    "batchnorm": (
        "BatchNorm1d BatchNorm2d BatchNorm3d LazyBatchNorm1d LazyBatchNorm2d LazyBatchNorm3d SyncBatchNorm _BatchNorm "
        "_LazyNormBase _NormBase"
    ),
    "instancenorm": (
        "InstanceNorm1d InstanceNorm2d InstanceNorm3d LazyInstanceNorm1d LazyInstanceNorm2d LazyInstanceNorm3d "
        "_InstanceNorm"
    ),
    "normalization": "CrossMapLRN2d GroupNorm LayerNorm LocalResponseNorm RMSNorm",
}


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
    """Batch normalisation of (N, C) or (N, C, L)."""

    def _check_input_dim(self, input: Any) -> None:
        if input.dim() not in (2, 3):
            raise ValueError(f"expected 2D or 3D input (got {input.dim()}D input)")


class LazyBatchNorm1d(_LazyNormBase, _BatchNorm):
    """A BatchNorm1d that finds out `num_features`."""

    cls_to_become = BatchNorm1d
    _check_input_dim = BatchNorm1d._check_input_dim


class BatchNorm2d(_BatchNorm):
    """Batch normalisation of (N, C, H, W): each channel to mean 0 and variance 1, then weight and bias.

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
    """A BatchNorm2d that finds out `num_features`."""

    cls_to_become = BatchNorm2d
    _check_input_dim = BatchNorm2d._check_input_dim


class BatchNorm3d(_BatchNorm):
    """Batch normalisation of (N, C, D, H, W)."""

    def _check_input_dim(self, input: Any) -> None:
        if input.dim() != 5:
            raise ValueError(f"expected 5D input (got {input.dim()}D input)")


class LazyBatchNorm3d(_LazyNormBase, _BatchNorm):
    """A BatchNorm3d that finds out `num_features`."""

    cls_to_become = BatchNorm3d
    _check_input_dim = BatchNorm3d._check_input_dim


class SyncBatchNorm(_BatchNorm):
    """Batch normalisation over several processes; here there is one."""

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
        """The module with its BatchNorm layers made SyncBatchNorm."""
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


class _InstanceNorm(_NormBase):
    _unbatched = 0  # how many dimensions an input without a batch has

    def __init__(
        self, num_features: int, eps: float = 1e-5, momentum: float | None = 0.1, affine: bool = False,
        track_running_stats: bool = False, device: Any = None, dtype: Any = None, *, bias: bool = True,
    ) -> None:  # fmt: skip
        super().__init__(num_features, eps, momentum, affine, track_running_stats, device, dtype, bias=bias)

    def _check_input_dim(self, input: Any) -> None:
        n = self._unbatched
        if input.dim() not in (n, n + 1):
            raise ValueError(f"expected {n}D or {n + 1}D input (got {input.dim()}D input)")

    def _load_from_state_dict(
        self, state_dict: Any, prefix: str, local_metadata: Any, strict: bool, missing_keys: Any,
        unexpected_keys: Any, error_msgs: Any,
    ) -> None:  # fmt: skip
        if local_metadata.get("version") is None and not self.track_running_stats:
            old = [k for k in (prefix + "running_mean", prefix + "running_var") if k in state_dict]
            if old:
                kind = type(self).__name__
                names = " and ".join(f'"{k}"' for k in old)
                error_msgs.append(
                    f"Unexpected running stats buffer(s) {names} for {kind} with track_running_stats=False. If "
                    "state_dict is a checkpoint saved before 0.4.0, this may be expected because "
                    f"{kind} does not track running stats by default since 0.4.0. Please remove these keys from "
                    "state_dict. If the running stats are actually needed, instead set track_running_stats=True in "
                    f"{kind} to enable them. See the documentation of {kind} for details."
                )
                for k in old:
                    state_dict.pop(k)
        super()._load_from_state_dict(
            state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs
        )

    def forward(self, input: Any) -> Any:
        self._check_input_dim(input)
        batched = input.dim() > self._unbatched
        dim = input.dim() - self._unbatched
        if input.size(dim) != self.num_features:
            if self.affine:
                raise ValueError(
                    f"expected input's size at dim={dim} to match num_features ({self.num_features}), but got: "
                    f"{input.size(dim)}."
                )
            warnings.warn(
                f"input's size at dim={dim} does not match num_features. You can silence this warning by not passing "
                "in num_features, which is not used because affine=False",
                stacklevel=2,
            )
        out = F.instance_norm(
            input if batched else input.unsqueeze(0), self.running_mean, self.running_var, self.weight, self.bias,
            self.training or not self.track_running_stats, 0.0 if self.momentum is None else self.momentum, self.eps,
        )  # fmt: skip
        return out if batched else out.squeeze(0)


class InstanceNorm1d(_InstanceNorm):
    """Each channel of each sample of (N, C, L) to mean 0 and variance 1."""

    _unbatched = 2


class InstanceNorm2d(_InstanceNorm):
    """Each channel of each sample of (N, C, H, W) to mean 0 and variance 1."""

    _unbatched = 3


class InstanceNorm3d(_InstanceNorm):
    """Each channel of each sample of (N, C, D, H, W) to mean 0 and variance 1."""

    _unbatched = 4


class _LazyInstanceNorm(_LazyNormBase, _InstanceNorm):
    def initialize_parameters(self, input: Any) -> None:
        if self.has_uninitialized_params():
            channels = input.shape[input.dim() - self._unbatched]
            n = self.num_features = channels
            for t in (*self._parameters.values(), self._buffers["running_mean"], self._buffers["running_var"]):
                if t is not None:
                    t.materialize((n,))
            self.reset_parameters()


class LazyInstanceNorm1d(_LazyInstanceNorm):
    """An InstanceNorm1d that finds out `num_features`."""

    cls_to_become, _unbatched = InstanceNorm1d, 2


class LazyInstanceNorm2d(_LazyInstanceNorm):
    """An InstanceNorm2d that finds out `num_features`."""

    cls_to_become, _unbatched = InstanceNorm2d, 3


class LazyInstanceNorm3d(_LazyInstanceNorm):
    """An InstanceNorm3d that finds out `num_features`."""

    cls_to_become, _unbatched = InstanceNorm3d, 4


class LocalResponseNorm(Module):
    """x / (k + alpha mean(x^2 over `size` neighbouring channels))^beta."""

    __constants__ = ["size", "alpha", "beta", "k"]

    def __init__(self, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0) -> None:
        super().__init__()
        self.size, self.alpha, self.beta, self.k = size, alpha, beta, k

    def forward(self, input: Any) -> Any:
        return F.local_response_norm(input, self.size, self.alpha, self.beta, self.k)

    def extra_repr(self) -> str:
        return f"{self.size}, alpha={self.alpha}, beta={self.beta}, k={self.k}"


class CrossMapLRN2d(LocalResponseNorm):
    """LocalResponseNorm by its old name."""

    def __init__(self, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1) -> None:
        super().__init__(size, alpha, beta, k)

    def forward(self, input: Any) -> Any:
        if input.dim() != 4:
            raise ValueError(f"CrossMapLRN2d: Expected input to be 4D, got {input.dim()}D instead.")
        return super().forward(input)


def _scales(module: Any, shape: Any, names: dict[str, bool], device: Any, dtype: Any) -> None:
    """Register weight and bias, or None where there is none."""
    for name, there in names.items():
        module.register_parameter(name, Parameter(empty(shape, device=device, dtype=dtype)) if there else None)


class _Shaped(Module):
    normalized_shape: tuple[int, ...]

    def _take_shape(self, shape: Any) -> None:
        self.normalized_shape = (shape,) if isinstance(shape, numbers.Integral) else tuple(shape)  # type: ignore[assignment]


class LayerNorm(_Shaped):
    """Each sample to mean 0 and variance 1 over its last dimensions, then weight and bias.

    Args:
        normalized_shape: the sizes of the dimensions that are normalised together.
        eps: added to the variance.
        elementwise_affine, bias: whether there is a weight, and with it a bias.
    """

    __constants__ = ["normalized_shape", "eps", "elementwise_affine"]
    weight: Any
    bias: Any

    def __init__(
        self, normalized_shape: Any, eps: float = 1e-5, elementwise_affine: bool = True, bias: bool = True,
        device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        self._take_shape(normalized_shape)
        self.eps, self.elementwise_affine = eps, elementwise_affine
        names = {"weight": elementwise_affine, "bias": elementwise_affine and bias}
        _scales(self, self.normalized_shape, names, device, dtype)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        if self.elementwise_affine:
            init.ones_(self.weight)
            if self.bias is not None:
                init.zeros_(self.bias)

    def forward(self, input: Any) -> Any:
        return F.layer_norm(input, self.normalized_shape, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        return (
            f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}, "
            f"bias={self.bias is not None}"
        )


class GroupNorm(Module):
    """Each group of channels of each sample to mean 0 and variance 1, then weight and bias."""

    __constants__ = ["num_groups", "num_channels", "eps", "affine"]
    weight: Any
    bias: Any

    def __init__(
        self, num_groups: int, num_channels: int, eps: float = 1e-5, affine: bool = True, device: Any = None,
        dtype: Any = None, *, bias: bool = True,
    ) -> None:  # fmt: skip
        super().__init__()
        if num_channels % num_groups != 0:
            raise ValueError(f"num_channels ({num_channels}) must be divisible by num_groups ({num_groups})")
        self.num_groups, self.num_channels, self.eps, self.affine = num_groups, num_channels, eps, affine
        _scales(self, num_channels, {"weight": affine, "bias": affine and bias}, device, dtype)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        if self.affine:
            init.ones_(self.weight)
            if self.bias is not None:
                init.zeros_(self.bias)

    def forward(self, input: Any) -> Any:
        return F.group_norm(input, self.num_groups, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        return (
            f"{self.num_groups}, {self.num_channels}, eps={self.eps}, affine={self.affine}, "
            f"bias={self.bias is not None}"
        )


class RMSNorm(_Shaped):
    """x / sqrt(mean(x^2) + eps) over the last dimensions, then a weight."""

    __constants__ = ["normalized_shape", "eps", "elementwise_affine"]
    weight: Any

    def __init__(
        self, normalized_shape: Any, eps: float | None = None, elementwise_affine: bool = True, device: Any = None,
        dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        self._take_shape(normalized_shape)
        self.eps, self.elementwise_affine = eps, elementwise_affine
        _scales(self, self.normalized_shape, {"weight": elementwise_affine}, device, dtype)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        if self.elementwise_affine:
            init.ones_(self.weight)

    def forward(self, x: Any) -> Any:
        return F.rms_norm(x, self.normalized_shape, self.weight, self.eps)

    def extra_repr(self) -> str:
        return f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}"
