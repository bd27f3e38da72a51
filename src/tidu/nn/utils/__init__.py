"""torch.nn.utils: what is done to modules and their gradients from outside."""

from __future__ import annotations

from ...naming import sourced_all, submodules
from . import converting, parametrize, rnn
from .converting import (
    clip_grad_norm,
    clip_grad_norm_,
    clip_grad_value_,
    clip_grads_with_norm_,
    convert_conv2d_weight_memory_format,
    convert_conv3d_weight_memory_format,
    fuse_conv_bn_eval,
    fuse_conv_bn_weights,
    fuse_linear_bn_eval,
    fuse_linear_bn_weights,
    get_total_norm,
    parameters_to_vector,
    remove_spectral_norm,
    remove_weight_norm,
    skip_init,
    spectral_norm,
    vector_to_parameters,
    weight_norm,
)

__all__ = [
    "clip_grad_norm", "clip_grad_norm_", "clip_grad_value_", "clip_grads_with_norm_", "fuse_conv_bn_eval",
    "fuse_conv_bn_weights", "fuse_linear_bn_eval", "fuse_linear_bn_weights", "get_total_norm", "parameters_to_vector",
    "parametrizations", "parametrize", "remove_spectral_norm", "remove_weight_norm", "rnn", "skip_init",
    "spectral_norm", "stateless", "vector_to_parameters", "weight_norm",
]  # fmt: skip

for _home in (converting, parametrize):
    submodules(globals(), vars(_home), _home.FILES)
sourced_all(globals())


def __getattr__(name: str) -> object:
    if name == "prune":
        from importlib import import_module

        return import_module("." + name, __name__)
    from ...core.errors import missing_name

    raise missing_name(__name__, name)
