"""Instance normalisation. Source: torch.nn.modules.instancenorm."""

from __future__ import annotations

import warnings
from typing import Any

from .. import functional as F
from .batchnorm import _LazyNormBase, _NormBase

__all__ = [
    "InstanceNorm1d", "InstanceNorm2d", "InstanceNorm3d", "LazyInstanceNorm1d", "LazyInstanceNorm2d",
    "LazyInstanceNorm3d",
]  # fmt: skip


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
    """Each channel of each sample of (N, C, L) to mean 0 and variance 1. Source: torch.nn.InstanceNorm1d."""

    _unbatched = 2


class InstanceNorm2d(_InstanceNorm):
    """Each channel of each sample of (N, C, H, W) to mean 0 and variance 1. Source: torch.nn.InstanceNorm2d."""

    _unbatched = 3


class InstanceNorm3d(_InstanceNorm):
    """Each channel of each sample of (N, C, D, H, W) to mean 0 and variance 1. Source: torch.nn.InstanceNorm3d."""

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
    """An InstanceNorm1d that finds out `num_features`. Source: torch.nn.LazyInstanceNorm1d."""

    cls_to_become, _unbatched = InstanceNorm1d, 2


class LazyInstanceNorm2d(_LazyInstanceNorm):
    """An InstanceNorm2d that finds out `num_features`. Source: torch.nn.LazyInstanceNorm2d."""

    cls_to_become, _unbatched = InstanceNorm2d, 3


class LazyInstanceNorm3d(_LazyInstanceNorm):
    """An InstanceNorm3d that finds out `num_features`. Source: torch.nn.LazyInstanceNorm3d."""

    cls_to_become, _unbatched = InstanceNorm3d, 4
