"""Modules and their parameters in other forms. Source: torch.nn.utils.convert_parameters, .fusion, .init, .memory_format, .stateless."""

from __future__ import annotations

import copy
import inspect
import math
import types
import warnings
from collections.abc import Iterable
from typing import Any

import numpy as np

from ...core.tensor import Tensor, raw, tensor_of
from ...ops.factories import ones_like, zeros_like
from ...ops.joining import cat
from ..modules.conv import Conv2d, Conv3d, ConvTranspose2d, ConvTranspose3d
from ..modules.module import Module
from ..parameter import Parameter


def parameters_to_vector(parameters: Iterable[Any]) -> Tensor:
    """All parameters, flattened, one after the other."""
    return cat([p.view(-1) for p in parameters])


def vector_to_parameters(vec: Tensor, parameters: Iterable[Any]) -> None:
    """Take the parameters' values from a vector; they become views of it."""
    if not isinstance(vec, Tensor):
        from ...elsewhere import typename

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
    """One convolution that does what `conv` and then `bn` do."""
    _check(conv, bn)
    fused = copy.deepcopy(conv)
    fused.weight, fused.bias = fuse_conv_bn_weights(
        fused.weight, fused.bias, bn.running_mean, bn.running_var, bn.eps, bn.weight, bn.bias, transpose
    )
    return fused


def fuse_conv_bn_weights(
    conv_w: Any, conv_b: Any, bn_rm: Any, bn_rv: Any, bn_eps: float, bn_w: Any, bn_b: Any, transpose: bool = False
) -> tuple[Any, Any]:
    """The weight and bias of the fused convolution."""
    bias = zeros_like(bn_rm) if conv_b is None else conv_b
    bn_w = ones_like(bn_rm) if bn_w is None else bn_w
    bn_b = zeros_like(bn_rm) if bn_b is None else bn_b
    scale = bn_w * (bn_rv + bn_eps).rsqrt()
    lead = [1, -1] if transpose else [-1, 1]
    w = (conv_w * scale.reshape(lead + [1] * (conv_w.dim() - 2))).to(conv_w.dtype)
    b = ((bias - bn_rm) * (bn_rv + bn_eps).rsqrt() * bn_w + bn_b).to(bias.dtype)
    return Parameter(w.detach(), conv_w.requires_grad), Parameter(b.detach(), bias.requires_grad)


def fuse_linear_bn_eval(linear: Any, bn: Any) -> Any:
    """One linear map that does what `linear` and then `bn` do."""
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
    """The weight and bias of the fused linear map."""
    bias = zeros_like(bn_rm) if linear_b is None else linear_b
    scale = bn_w * (bn_rv + bn_eps).rsqrt()
    w = linear_w * scale.unsqueeze(-1).to(linear_w.dtype)
    b = ((bias - bn_rm) * scale + bn_b).to(bias.dtype)
    return Parameter(w.detach(), linear_w.requires_grad), Parameter(b.detach(), bias.requires_grad)


def skip_init(module_cls: Any, *args: Any, **kwargs: Any) -> Any:
    """A module of this class; its parameters are not to be relied on."""
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


def _grads(parameters: Any) -> list[Any]:
    if isinstance(parameters, Tensor):
        parameters = [parameters]
    return [p._grad for p in parameters if p._grad is not None]


def _norm(a: Any, order: float) -> Any:
    """The norm of an array's elements, in its own precision."""
    if order == 2 and a.dtype.kind == "f" and a.dtype.itemsize >= 4 and a.size:
        flat = a.reshape(-1) if a.flags.forc else np.ascontiguousarray(a).reshape(-1)
        return np.sqrt(flat @ flat)
    size = np.abs(a if a.dtype.itemsize >= 4 and a.dtype.kind != "V" else a.astype(np.float32))
    if not size.size:
        return size.dtype.type(0)
    if order == math.inf:
        return size.max()
    if order == -math.inf:
        return size.min()
    if order == 0:
        return size.dtype.type(np.count_nonzero(size))
    return (size**order).sum() ** (1.0 / order)


def get_total_norm(
    tensors: Any, norm_type: float = 2.0, error_if_nonfinite: bool = False, foreach: bool | None = None
) -> Tensor:
    """The norm of all the tensors' elements together."""
    tensors = [tensors] if isinstance(tensors, Tensor) else list(tensors)
    order = float(norm_type)
    if not tensors:
        return tensor_of(np.zeros((), np.float32))
    norms = np.array([_norm(raw(t), order) for t in tensors])
    total = _norm(norms, order)
    if error_if_nonfinite and not np.isfinite(total):
        raise RuntimeError(
            f"The total norm of order {order} for gradients from `parameters` is non-finite, so it cannot be clipped. "
            "To disable this error and scale the gradients by the non-finite norm anyway, set "
            "`error_if_nonfinite=False`"
        )
    return tensor_of(np.asarray(total))


def clip_grads_with_norm_(parameters: Any, max_norm: float, total_norm: Tensor, foreach: bool | None = None) -> None:
    """Scale the gradients as if their norm were `total_norm`, to at most `max_norm`."""
    total = raw(total_norm)
    factor = np.minimum(total.dtype.type(float(max_norm)) / (total + total.dtype.type(1e-6)), 1.0)
    for g in _grads(parameters):
        a = raw(g)
        a *= a.dtype.type(factor)
        g._v[0] += 1


def clip_grad_norm_(
    parameters: Any, max_norm: float, norm_type: float = 2.0, error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Tensor:  # fmt: skip
    """Scale the gradients in place so that the norm of all of them together is at most `max_norm`.

    Args:
        parameters: tensors with gradients.
        norm_type: the order of the norm; inf is the largest element.
        error_if_nonfinite: raise if the norm is not a finite number.
        foreach: accepted.

    Returns:
        The norm before.

    >>> import tidu as torch
    >>> w = torch.ones(4, requires_grad=True)
    >>> (w * 2).sum().backward()
    >>> torch.nn.utils.clip_grad_norm_([w], 1.0)
    tensor(4.)
    >>> w.grad
    tensor([0.5000, 0.5000, 0.5000, 0.5000])
    """
    if isinstance(parameters, Tensor):
        parameters = [parameters]
    else:
        lazily = isinstance(parameters, types.GeneratorType)
        parameters = list(parameters)
        if lazily and not parameters:
            warnings.warn("`parameters` is an empty generator, no gradient clipping will occur.", stacklevel=2)
    total = get_total_norm(_grads(parameters), norm_type, error_if_nonfinite)
    clip_grads_with_norm_(parameters, max_norm, total)
    return total


def clip_grad_norm(parameters: Any, max_norm: float, norm_type: float = 2.0, *rest: Any) -> Tensor:
    """The old name of `clip_grad_norm_`."""
    warnings.warn(
        "`torch.nn.utils.clip_grad_norm` is now deprecated in favor of `torch.nn.utils.clip_grad_norm_`.",
        FutureWarning,
        stacklevel=2,
    )
    return clip_grad_norm_(parameters, max_norm, norm_type, *rest)


def clip_grad_value_(parameters: Iterable[Any] | Any, clip_value: float, foreach: bool | None = None) -> None:
    """Clamp each element of the gradients to ±clip_value, in place."""
    limit = float(clip_value)
    for g in _grads(parameters):
        a = raw(g)
        np.minimum(np.maximum(a, -limit, out=a), limit, out=a)
        g._v[0] += 1


_get_total_norm, _clip_grads_with_norm_ = get_total_norm, clip_grads_with_norm_

# PyTorch has them in files of their own.
FILES = {
    "clip_grad": ("clip_grad_norm clip_grad_norm_ clip_grad_value_ _get_total_norm _clip_grads_with_norm_"),
    "convert_parameters": "parameters_to_vector vector_to_parameters",
    "fusion": "fuse_conv_bn_eval fuse_conv_bn_weights fuse_linear_bn_eval fuse_linear_bn_weights",
    "init": "skip_init",
    "memory_format": "convert_conv2d_weight_memory_format convert_conv3d_weight_memory_format",
    "stateless": "functional_call _reparametrize_module",
}
