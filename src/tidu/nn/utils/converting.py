"""Modules and their parameters in other forms. Source: torch.nn.utils.convert_parameters, .fusion, .init, .memory_format, .stateless."""

from __future__ import annotations

import copy
import inspect
import warnings
from collections.abc import Iterable
from typing import Any

from ...core.tensor import Tensor
from ...naming import submodule
from ...ops.factories import ones_like, zeros_like
from ...ops.joining import cat
from ..modules.conv import Conv2d, Conv3d, ConvTranspose2d, ConvTranspose3d
from ..modules.module import Module
from ..parameter import Parameter

__all__ = [
    "convert_conv2d_weight_memory_format", "convert_conv3d_weight_memory_format", "functional_call",
    "fuse_conv_bn_eval", "fuse_conv_bn_weights", "fuse_linear_bn_eval", "fuse_linear_bn_weights",
    "parameters_to_vector", "skip_init", "vector_to_parameters",
]  # fmt: skip


def parameters_to_vector(parameters: Iterable[Any]) -> Tensor:
    """All parameters, flattened, one after the other. Source: torch.nn.utils.parameters_to_vector."""
    return cat([p.view(-1) for p in parameters])


def vector_to_parameters(vec: Tensor, parameters: Iterable[Any]) -> None:
    """Take the parameters' values from a vector; they become views of it. Source:
    torch.nn.utils.vector_to_parameters."""
    if not isinstance(vec, Tensor):
        from ...legacy import typename

        raise TypeError(f"expected torch.Tensor, but got: {typename(vec)}")
    at = 0
    for p in parameters:
        n = p.numel()
        p.data = vec[at : at + n].view_as(p).data
        at += n


def _check(layer: Any, bn: Any) -> None:
    if layer.training or bn.training:
        raise AssertionError("Fusion only for eval!")
    if bn.running_mean is None or bn.running_var is None:
        raise AssertionError("bn.running_mean and bn.running_var must not be None")


def fuse_conv_bn_eval(conv: Any, bn: Any, transpose: bool = False) -> Any:
    """One convolution that does what `conv` and then `bn` do. Source: torch.nn.utils.fuse_conv_bn_eval."""
    _check(conv, bn)
    fused = copy.deepcopy(conv)
    fused.weight, fused.bias = fuse_conv_bn_weights(
        fused.weight, fused.bias, bn.running_mean, bn.running_var, bn.eps, bn.weight, bn.bias, transpose
    )
    return fused


def fuse_conv_bn_weights(
    conv_w: Any, conv_b: Any, bn_rm: Any, bn_rv: Any, bn_eps: float, bn_w: Any, bn_b: Any, transpose: bool = False
) -> tuple[Any, Any]:
    """The weight and bias of the fused convolution. Source: torch.nn.utils.fuse_conv_bn_weights."""
    bias = zeros_like(bn_rm) if conv_b is None else conv_b
    bn_w = ones_like(bn_rm) if bn_w is None else bn_w
    bn_b = zeros_like(bn_rm) if bn_b is None else bn_b
    scale = bn_w * (bn_rv + bn_eps).rsqrt()
    lead = [1, -1] if transpose else [-1, 1]
    w = (conv_w * scale.reshape(lead + [1] * (conv_w.dim() - 2))).to(conv_w.dtype)
    b = ((bias - bn_rm) * (bn_rv + bn_eps).rsqrt() * bn_w + bn_b).to(bias.dtype)
    return Parameter(w.detach(), conv_w.requires_grad), Parameter(b.detach(), bias.requires_grad)


def fuse_linear_bn_eval(linear: Any, bn: Any) -> Any:
    """One linear map that does what `linear` and then `bn` do. Source: torch.nn.utils.fuse_linear_bn_eval."""
    if linear.out_features != bn.num_features and bn.num_features != 1:
        raise AssertionError(
            "To fuse, linear.out_features == bn.num_features or bn.num_features == 1, got linear.out_features="
            f"{linear.out_features} and bn.num_features={bn.num_features}"
        )
    _check(linear, bn)
    fused = copy.deepcopy(linear)
    fused.weight, fused.bias = fuse_linear_bn_weights(
        fused.weight, fused.bias, bn.running_mean, bn.running_var, bn.eps, bn.weight, bn.bias
    )
    return fused


def fuse_linear_bn_weights(
    linear_w: Any, linear_b: Any, bn_rm: Any, bn_rv: Any, bn_eps: float, bn_w: Any, bn_b: Any
) -> tuple[Any, Any]:
    """The weight and bias of the fused linear map. Source: torch.nn.utils.fuse_linear_bn_weights."""
    bias = zeros_like(bn_rm) if linear_b is None else linear_b
    scale = bn_w * (bn_rv + bn_eps).rsqrt()
    w = linear_w * scale.unsqueeze(-1).to(linear_w.dtype)
    b = ((bias - bn_rm) * scale + bn_b).to(bias.dtype)
    return Parameter(w.detach(), linear_w.requires_grad), Parameter(b.detach(), bias.requires_grad)


def skip_init(module_cls: Any, *args: Any, **kwargs: Any) -> Any:
    """A module of this class; its parameters are not to be relied on. Source: torch.nn.utils.skip_init."""
    if not issubclass(module_cls, Module):
        raise RuntimeError(f"Expected a Module; got {module_cls}")
    if "device" not in inspect.signature(module_cls).parameters:
        raise RuntimeError("Module must support a 'device' arg to skip initialization")
    from ...random import fork_rng

    with fork_rng():  # no random numbers are used up
        return module_cls(*args, **kwargs)


def _convert(module: Any, memory_format: Any, kinds: tuple[type, ...]) -> Any:
    if isinstance(module, kinds):
        weight: Any = module.weight  # type: ignore[attr-defined]
        weight.data = weight.detach().clone(memory_format=memory_format)
    for child in module.children():
        _convert(child, memory_format, kinds)
    return module


def convert_conv2d_weight_memory_format(module: Any, memory_format: Any) -> Any:
    """The same module, with the weights of 2d convolutions in this memory format. Source: torch.nn.utils."""
    return _convert(module, memory_format, (Conv2d, ConvTranspose2d))


def convert_conv3d_weight_memory_format(module: Any, memory_format: Any) -> Any:
    """The same module, with the weights of 3d convolutions in this memory format. Source: torch.nn.utils."""
    return _convert(module, memory_format, (Conv3d, ConvTranspose3d))


def functional_call(
    module: Any, parameters_and_buffers: dict[str, Any], args: Any = None, kwargs: Any = None, *,
    tie_weights: bool = True, strict: bool = False,
) -> Any:  # fmt: skip
    """module(*args, **kwargs) with the given tensors in place of its own; now `torch.func.functional_call`. Source:
    torch.nn.utils.stateless.functional_call."""
    from ...func import functional_call as call

    warnings.warn(
        "`torch.nn.utils.stateless.functional_call` is deprecated as of PyTorch 2.0 and will be removed in a future "
        "version of PyTorch. Please use `torch.func.functional_call` instead which is a drop-in replacement.",
        FutureWarning,
        stacklevel=2,
    )
    return call(module, parameters_and_buffers, args, kwargs, tie_weights=tie_weights, strict=strict)


def _reparametrize_module(
    module: Any, parameters_and_buffers: dict[str, Any], *, tie_weights: bool = False, strict: bool = False,
    stack_weights: bool = False,
) -> Any:  # fmt: skip
    """A context in which a module holds other tensors; packages use it for what `functional_call` is for one call."""
    from ...func.modules import _swapped

    return _swapped(module, parameters_and_buffers, tie_weights, strict)


# PyTorch has them in files of their own.
_FILES = {
    "convert_parameters": "parameters_to_vector vector_to_parameters",
    "fusion": "fuse_conv_bn_eval fuse_conv_bn_weights fuse_linear_bn_eval fuse_linear_bn_weights",
    "init": "skip_init",
    "memory_format": "convert_conv2d_weight_memory_format convert_conv3d_weight_memory_format",
    "stateless": "functional_call _reparametrize_module",
}


def place_files(package: dict[str, Any]) -> None:
    """Enter those files in the package."""
    for file, names in _FILES.items():
        submodule(package, file, **{name: globals()[name] for name in names.split()})
