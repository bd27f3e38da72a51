"""A module's tree: its parts by name, what is done to all of them, and converting them."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any

from ... import dtypes
from ...core.modes import no_grad
from ...devices import device as Device
from ..parameter import Parameter


class Walk:
    """What `Module` has for its tree."""

    _parameters: dict[str, Any]
    _buffers: dict[str, Any]
    _modules: dict[str, Any]
    training: bool

    def _get_name(self) -> str:
        return type(self).__name__

    # ---------------------------------------------------------------- all parts

    def _named_members(
        self, get: Callable[[Any], Any], prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Any]]:
        seen = set()
        owners = self.named_modules(prefix=prefix, remove_duplicate=remove_duplicate) if recurse else [(prefix, self)]
        for owner, module in owners:
            for name, t in get(module):
                if t is None or t in seen:
                    continue
                if remove_duplicate:
                    seen.add(t)
                yield owner + ("." if owner else "") + name, t

    def parameters(self, recurse: bool = True) -> Iterator[Any]:
        """The parameters, each once."""
        for _, p in self.named_parameters(recurse=recurse):
            yield p

    def named_parameters(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Any]]:
        """(full name, parameter) of each parameter."""
        yield from self._named_members(lambda m: m._parameters.items(), prefix, recurse, remove_duplicate)

    def buffers(self, recurse: bool = True) -> Iterator[Any]:
        """The buffers, each once."""
        for _, b in self.named_buffers(recurse=recurse):
            yield b

    def named_buffers(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Any]]:
        """(full name, buffer) of each buffer."""
        yield from self._named_members(lambda m: m._buffers.items(), prefix, recurse, remove_duplicate)

    def children(self) -> Iterator[Any]:
        """The modules right below, each once."""
        for _, module in self.named_children():
            yield module

    def named_children(self) -> Iterator[tuple[str, Any]]:
        """(name, module) of each module right below."""
        seen = set()
        for name, module in self._modules.items():
            if module is not None and module not in seen:
                seen.add(module)
                yield name, module

    def modules(self, remove_duplicate: bool = True) -> Iterator[Any]:
        """The module itself and all below it."""
        for _, module in self.named_modules(remove_duplicate=remove_duplicate):
            yield module

    def named_modules(
        self, memo: set[Any] | None = None, prefix: str = "", remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Any]]:
        """(full name, module) of the module itself and all below it."""
        memo = set() if memo is None else memo
        if self in memo:
            return
        if remove_duplicate:
            memo.add(self)
        yield prefix, self
        for name, module in self._modules.items():
            if module is not None:
                yield from module.named_modules(memo, f"{prefix}.{name}" if prefix else name, remove_duplicate)

    # ---------------------------------------------------------------- one part by name

    def get_submodule(self, target: str) -> Any:
        """The module below with this full name."""
        from .module import Module

        at: Any = self
        for name in target.split(".") if target else ():
            at = _part(at, name)
            if not isinstance(at, Module):
                raise AttributeError(f"`{name}` is not an nn.Module")
        return at

    def set_submodule(self, target: str, module: Any, strict: bool = False) -> None:
        """Put a module in the place with this full name."""
        from .module import Module

        if target == "":
            raise ValueError("Cannot set the submodule without a target name!")
        path, _, name = target.rpartition(".")
        if not isinstance(module, Module):
            raise ValueError(f"`module` is not an nn.Module, found {type(module)}")
        parent = self.get_submodule(path)
        if strict or hasattr(parent, name):
            if not isinstance(_part(parent, name), Module):
                raise AttributeError(f"`{name}` is not an nn.Module")
        setattr(parent, name, module)

    def get_parameter(self, target: str) -> Any:
        """The parameter with this full name."""
        path, _, name = target.rpartition(".")
        p = _part(self.get_submodule(path), name)
        if not isinstance(p, Parameter):
            raise AttributeError(f"`{name}` is not an nn.Parameter")
        return p

    def get_buffer(self, target: str) -> Any:
        """The buffer with this full name."""
        path, _, name = target.rpartition(".")
        module = self.get_submodule(path)
        b = _part(module, name)
        if name not in module._buffers:
            raise AttributeError(f"`{name}` is not a buffer")
        return b

    # ---------------------------------------------------------------- doing something to all

    def apply(self, fn: Callable[[Any], Any]) -> Any:
        """Call `fn` on every module, children first, and return the module."""
        for module in self.children():
            module.apply(fn)
        fn(self)
        return self

    def train(self, mode: bool = True) -> Any:
        """Set training mode for the module and all below."""
        if not isinstance(mode, bool):
            raise ValueError("training mode is expected to be boolean")
        self.training = mode
        for module in self.children():
            module.train(mode)
        return self

    def eval(self) -> Any:
        """Set evaluation mode: `train(False)`."""
        return self.train(False)

    def requires_grad_(self, requires_grad: bool = True) -> Any:
        """Mark all parameters as ones that want gradients, or not."""
        for p in self.parameters():
            p.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Drop the gradients of all parameters, or fill them with zeros."""
        if getattr(self, "_is_replica", False):
            warnings.warn(
                "Calling .zero_grad() from a module created with nn.DataParallel() has no effect. The parameters are "
                "copied (in a differentiable manner) from the original module. This means they are not leaf nodes in "
                "autograd and so don't accumulate gradients. If you need gradients in your forward method, consider "
                "using autograd.grad instead.",
                stacklevel=2,
            )
        for p in self.parameters():
            if p._grad is None:
                continue
            if set_to_none:
                p._grad = None
                continue
            if p._grad.grad_fn is not None:
                p._grad.detach_()
            else:
                p._grad.requires_grad_(False)
            p._grad.zero_()

    # ---------------------------------------------------------------- converting all

    def _apply(self, fn: Callable[[Any], Any], recurse: bool = True) -> Any:
        """Put `fn(t)` in the place of every parameter, its gradient, and every buffer."""
        if recurse:
            for module in self.children():
                module._apply(fn)
        for p in self._parameters.values():
            if p is None:
                continue
            with no_grad():
                p.data = fn(p)
            g = p._grad
            if g is not None:
                with no_grad():
                    new = fn(g)
                p._grad = new if new is g else new.requires_grad_(g.requires_grad)
        for name, b in self._buffers.items():
            if b is not None:
                self._buffers[name] = fn(b)
        return self

    def to(self, *args: Any, **kwargs: Any) -> Any:
        """Convert floating-point and complex parameters and buffers to a dtype, in place; the device is the CPU.

        `to(device)`, `to(dtype)`, `to(tensor)`, with `non_blocking` and `memory_format` accepted.

        Raises:
            TypeError: a dtype that is neither floating point nor complex.
        """
        device, dtype = _target(*args, **kwargs)
        order = kwargs.get("memory_format")
        if dtype is not None:
            if not (dtype.is_floating_point or dtype.is_complex):
                raise TypeError(
                    f"nn.Module.to only accepts floating point or complex dtypes, but got desired dtype={dtype}"
                )
            if dtype.is_complex:
                warnings.warn(
                    "Complex modules are a new feature under active development whose design may change, and some "
                    "modules might not work as expected when using complex tensors as parameters or buffers. Please "
                    "file an issue at https://github.com/pytorch/pytorch/issues/new?template=bug-report.yml if a "
                    "complex module does not work as expected.",
                    stacklevel=2,
                )

        def convert(t: Any) -> Any:
            d = dtype if t.dtype.is_floating_point or t.dtype.is_complex else None
            kw: dict[str, Any] = {} if d is None else {"dtype": d}
            if order is not None and t.dim() in (4, 5):
                kw["memory_format"] = order
            return t.to(device, **kw) if device is not None else t.to(**kw) if kw else t

        return self._apply(convert)

    def type(self, dst_type: Any) -> Any:
        """All parameters and buffers in this dtype."""
        return self._apply(lambda t: t.type(dst_type))

    def _floats(self, d: dtypes.dtype) -> Any:
        return self._apply(lambda t: t.to(d) if t.dtype.is_floating_point else t)

    def float(self) -> Any:
        """Floating-point parameters and buffers as float32."""
        return self._floats(dtypes.float32)

    def double(self) -> Any:
        """Floating-point parameters and buffers as float64."""
        return self._floats(dtypes.float64)

    def half(self) -> Any:
        """Floating-point parameters and buffers as float16."""
        return self._floats(dtypes.float16)

    def bfloat16(self) -> Any:
        """Floating-point parameters and buffers as bfloat16."""
        return self._floats(dtypes.bfloat16)

    def cpu(self) -> Any:
        """The module: it is on the CPU."""
        return self._apply(lambda t: t.cpu())

    def cuda(self, device: Any = None) -> Any:
        """Raises: there is no CUDA device."""
        return self._apply(lambda t: t.cuda(device))

    def to_empty(self, *, device: Any, recurse: bool = True) -> Any:
        """Fresh memory for parameters and buffers, not initialised."""
        from ...ops.factories import empty_like

        return self._apply(lambda t: empty_like(t, device=device), recurse=recurse)

    def share_memory(self) -> Any:
        """Move parameters and buffers to shared memory."""
        return self._apply(lambda t: t.share_memory_())


def _part(module: Any, name: str) -> Any:
    if not hasattr(module, name):
        raise AttributeError(f"{module._get_name()} has no attribute `{name}`")
    return getattr(module, name)


def _target(
    *args: Any, device: Any = None, dtype: Any = None, non_blocking: bool = False, copy: bool = False,
    memory_format: Any = None, tensor: Any = None,
) -> tuple[Any, Any]:  # fmt: skip
    for x in args:
        if isinstance(x, dtypes.dtype):
            dtype = x
        elif isinstance(x, (str, Device, int)) and not isinstance(x, bool):
            device = x if isinstance(x, Device) else Device(x)
        elif hasattr(x, "dtype"):
            tensor = x
    if copy:
        raise RuntimeError(".to() does not accept copy argument")
    if tensor is not None:
        device, dtype = tensor.device, tensor.dtype
    if isinstance(device, str):
        device = Device(device)
    return device, dtype
