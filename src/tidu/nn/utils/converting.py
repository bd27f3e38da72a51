"""Modules and their parameters in other forms, and with weight and spectral norm."""

from __future__ import annotations

import copy
import inspect
import math
import types
import warnings
from collections.abc import Iterable
from typing import Any

import numpy as np

from ...core.modes import no_grad
from ...core.tensor import Tensor, raw, tensor_of
from ...ops.factories import ones_like, zeros_like
from ...ops.joining import cat
from .. import functional as F
from ..modules.conv import Conv2d, Conv3d, ConvTranspose2d, ConvTranspose3d
from ..modules.module import Module
from ..parameter import Parameter, UninitializedParameter


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
        weight: Any = module.weight
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
    from ...func.vmapping import _swapped

    return _swapped(module, parameters_and_buffers, tie_weights, strict)


def _grads(parameters: Any) -> list[Any]:
    if isinstance(parameters, Tensor):
        parameters = [parameters]
    return [p._grad for p in parameters if p._grad is not None]


def _norm(a: Any, order: float) -> Any:
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
    "clip_grad": "clip_grad_norm clip_grad_norm_ clip_grad_value_ _get_total_norm _clip_grads_with_norm_",
    "convert_parameters": "parameters_to_vector vector_to_parameters",
    "fusion": "fuse_conv_bn_eval fuse_conv_bn_weights fuse_linear_bn_eval fuse_linear_bn_weights",
    "init": "skip_init",
    "memory_format": "convert_conv2d_weight_memory_format convert_conv3d_weight_memory_format",
    "stateless": "functional_call _reparametrize_module",
    "weight_norm": "WeightNorm _weight_norm norm_except_dim remove_weight_norm weight_norm",
    "spectral_norm": "SpectralNorm remove_spectral_norm spectral_norm",
}


# ------------------------------------------------------------------ norms the old way: recomputed by a hook before each call


def norm_except_dim(v: Any, pow: int = 2, dim: int = 0) -> Any:
    """The norms of the slices along a dimension, shaped to broadcast with `v`; dim=-1: the norm of all. Source:
    torch.norm_except_dim."""
    if dim == -1:
        return v.norm(pow)
    others = [d for d in range(v.dim()) if d != dim % v.dim()]
    return v.norm(pow, others, keepdim=True) if others else v.abs()


def _weight_norm(v: Any, g: Any, dim: int = 0) -> Any:
    return v * (g / norm_except_dim(v, 2, dim))


def _only_one(kind: Any, what: str, module: Any, name: str) -> None:
    if any(isinstance(hook, kind) and hook.name == name for hook in module._forward_pre_hooks.values()):
        raise RuntimeError(f"Cannot register two {what} hooks on the same parameter {name}")


def _removed(kind: Any, what: str, module: Any, name: str) -> Any:
    for key, hook in module._forward_pre_hooks.items():
        if isinstance(hook, kind) and hook.name == name:
            hook.remove(module)
            del module._forward_pre_hooks[key]
            return module
    raise ValueError(f"{what} of '{name}' not found in {module}")


class WeightNorm:
    """The hook: weight = g v / |v|."""

    def __init__(self, name: str, dim: int | None) -> None:
        self.name, self.dim = name, -1 if dim is None else dim

    def compute_weight(self, module: Any) -> Any:
        return _weight_norm(getattr(module, self.name + "_v"), getattr(module, self.name + "_g"), self.dim)

    @staticmethod
    def apply(module: Any, name: str, dim: int | None) -> WeightNorm:
        _only_one(WeightNorm, "weight_norm", module, name)
        fn = WeightNorm(name, dim)
        weight = getattr(module, name)
        if isinstance(weight, UninitializedParameter):
            raise ValueError(
                "The module passed to `WeightNorm` can't have uninitialized parameters. Make sure to run the dummy "
                "forward before applying weight normalization"
            )
        del module._parameters[name]
        module.register_parameter(name + "_g", Parameter(norm_except_dim(weight, 2, fn.dim).data))
        module.register_parameter(name + "_v", Parameter(weight.data))
        setattr(module, name, fn.compute_weight(module))
        module.register_forward_pre_hook(fn)
        return fn

    def remove(self, module: Any) -> None:
        weight = self.compute_weight(module)
        delattr(module, self.name)
        del module._parameters[self.name + "_g"]
        del module._parameters[self.name + "_v"]
        setattr(module, self.name, Parameter(weight.data))

    def __call__(self, module: Any, inputs: Any) -> None:
        setattr(module, self.name, self.compute_weight(module))


def weight_norm(module: Any, name: str = "weight", dim: int | None = 0) -> Any:
    """Let a parameter be length times direction, each learned.

    Args:
        name: the parameter.
        dim: the dimension along which slices have lengths of their own; None for one length.
    """
    warnings.warn(
        "`torch.nn.utils.weight_norm` is deprecated in favor of `torch.nn.utils.parametrizations.weight_norm`.",
        FutureWarning,
        stacklevel=2,
    )
    WeightNorm.apply(module, name, dim)
    return module


def remove_weight_norm(module: Any, name: str = "weight") -> Any:
    """Make the parameter a plain one again."""
    return _removed(WeightNorm, "weight_norm", module, name)


def default_dim(module: Any) -> int:
    """The dimension of a layer's weight that belongs to its outputs."""
    return 1 if type(module).__name__.startswith("ConvTranspose") else 0


def as_matrix(weight: Any, dim: int) -> Any:
    """A weight with one dimension against all others."""
    if dim != 0:
        weight = weight.permute(dim, *[d for d in range(weight.dim()) if d != dim])
    return weight.reshape(weight.size(0), -1)


class SpectralNorm:
    """The hook: weight / sigma, sigma by power iteration."""

    _version = 1

    def __init__(self, name: str = "weight", n_power_iterations: int = 1, dim: int = 0, eps: float = 1e-12) -> None:
        self.name, self.dim, self.eps = name, dim, eps
        if n_power_iterations <= 0:
            raise ValueError(
                f"Expected n_power_iterations to be positive, but got n_power_iterations={n_power_iterations}"
            )
        self.n_power_iterations = n_power_iterations

    def compute_weight(self, module: Any, do_power_iteration: bool) -> Any:
        weight = getattr(module, self.name + "_orig")
        u, v = getattr(module, self.name + "_u"), getattr(module, self.name + "_v")
        matrix = as_matrix(weight, self.dim)
        if do_power_iteration:
            with no_grad():
                for _ in range(self.n_power_iterations):
                    v.copy_(F.normalize(matrix.t().mv(u), dim=0, eps=self.eps))
                    u.copy_(F.normalize(matrix.mv(v), dim=0, eps=self.eps))
                u, v = u.clone(), v.clone()  # later iterations write the buffers, backward needs these
        return weight / u.dot(matrix.mv(v))

    def remove(self, module: Any) -> None:
        with no_grad():
            weight = self.compute_weight(module, do_power_iteration=False)
        for suffix in ("", "_u", "_v", "_orig"):
            delattr(module, self.name + suffix)
        module.register_parameter(self.name, Parameter(weight.detach()))

    def __call__(self, module: Any, inputs: Any) -> None:
        setattr(module, self.name, self.compute_weight(module, do_power_iteration=module.training))

    @staticmethod
    def apply(module: Any, name: str, n_power_iterations: int, dim: int, eps: float) -> SpectralNorm:
        _only_one(SpectralNorm, "spectral_norm", module, name)
        fn = SpectralNorm(name, n_power_iterations, dim, eps)
        weight = module._parameters[name]
        if weight is None:
            raise ValueError(f"`SpectralNorm` cannot be applied as parameter `{name}` is None")
        if isinstance(weight, UninitializedParameter):
            raise ValueError(
                "The module passed to `SpectralNorm` can't have uninitialized parameters. Make sure to run the dummy "
                "forward before applying spectral normalization"
            )
        with no_grad():
            h, w = as_matrix(weight, dim).size()
            u = F.normalize(weight.new_empty(h).normal_(0, 1), dim=0, eps=eps)
            v = F.normalize(weight.new_empty(w).normal_(0, 1), dim=0, eps=eps)
        delattr(module, name)
        module.register_parameter(name + "_orig", weight)
        setattr(module, name, weight.data)
        module.register_buffer(name + "_u", u)
        module.register_buffer(name + "_v", v)
        module.register_forward_pre_hook(fn)
        module._register_state_dict_hook(_StateHook(fn))
        return fn


class _StateHook:
    """Notes in the metadata that the state has this form."""

    def __init__(self, fn: SpectralNorm) -> None:
        self.fn = fn

    def __call__(self, module: Any, state_dict: Any, prefix: str, local_metadata: Any) -> None:
        notes = local_metadata.setdefault("spectral_norm", {})
        key = self.fn.name + ".version"
        if key in notes:
            raise RuntimeError(f"Unexpected key in metadata['spectral_norm']: {key}")
        notes[key] = self.fn._version


def spectral_norm(
    module: Any, name: str = "weight", n_power_iterations: int = 1, eps: float = 1e-12, dim: int | None = None
) -> Any:
    """Let a parameter be divided by its largest singular value.

    Args:
        name: the parameter.
        n_power_iterations: how many iterations each call in training makes towards the singular value.
        eps: for normalisation.
        dim: the dimension of the outputs.
    """
    SpectralNorm.apply(module, name, n_power_iterations, default_dim(module) if dim is None else dim, eps)
    return module


def remove_spectral_norm(module: Any, name: str = "weight") -> Any:
    """Make the parameter a plain one again."""
    _removed(SpectralNorm, "spectral_norm", module, name)
    for key, hook in module._state_dict_hooks.items():
        if isinstance(hook, _StateHook) and hook.fn.name == name:
            del module._state_dict_hooks[key]
            break
    return module
