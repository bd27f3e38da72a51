"""Modules of another dtype: `_apply` and what is made of it."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

from ... import dtypes
from ...core.modes import no_grad
from ...devices import device as Device


class Convert:
    """What `Module` has for moving and converting its parameters and buffers."""

    _parameters: dict[str, Any]
    _buffers: dict[str, Any]
    children: Callable[[], Any]

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

        `to(device)`, `to(dtype)`, `to(tensor)`, with `non_blocking` and `memory_format` accepted. Source:
        torch.nn.Module.to.

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
        """All parameters and buffers in this dtype. Source: torch.nn.Module.type."""
        return self._apply(lambda t: t.type(dst_type))

    def _floats(self, d: dtypes.dtype) -> Any:
        return self._apply(lambda t: t.to(d) if t.dtype.is_floating_point else t)

    def float(self) -> Any:
        """Floating-point parameters and buffers as float32. Source: torch.nn.Module.float."""
        return self._floats(dtypes.float32)

    def double(self) -> Any:
        """Floating-point parameters and buffers as float64. Source: torch.nn.Module.double."""
        return self._floats(dtypes.float64)

    def half(self) -> Any:
        """Floating-point parameters and buffers as float16. Source: torch.nn.Module.half."""
        return self._floats(dtypes.float16)

    def bfloat16(self) -> Any:
        """Floating-point parameters and buffers as bfloat16. Source: torch.nn.Module.bfloat16."""
        return self._floats(dtypes.bfloat16)

    def cpu(self) -> Any:
        """The module: it is on the CPU. Source: torch.nn.Module.cpu."""
        return self._apply(lambda t: t.cpu())

    def cuda(self, device: Any = None) -> Any:
        """Raises: there is no CUDA device. Source: torch.nn.Module.cuda."""
        return self._apply(lambda t: t.cuda(device))

    def to_empty(self, *, device: Any, recurse: bool = True) -> Any:
        """Fresh memory for parameters and buffers, not initialised. Source: torch.nn.Module.to_empty."""
        from ...ops.factories import empty_like

        return self._apply(lambda t: empty_like(t, device=device), recurse=recurse)

    def share_memory(self) -> Any:
        """Move parameters and buffers to shared memory. Source: torch.nn.Module.share_memory."""
        return self._apply(lambda t: t.share_memory_())


def _target(
    *args: Any, device: Any = None, dtype: Any = None, non_blocking: bool = False, copy: bool = False,
    memory_format: Any = None, tensor: Any = None,
) -> tuple[Any, Any]:  # fmt: skip
    """The device and the dtype that arguments of `to` name, None where they name none."""
    for x in args:
        if isinstance(x, dtypes.dtype):
            dtype = x
        elif isinstance(x, (str, Device, int)) and not isinstance(x, bool):
            device = x if isinstance(x, Device) else Device(x)
        elif hasattr(x, "dtype"):
            tensor = x
    if tensor is not None:
        device, dtype = tensor.device, tensor.dtype
    if isinstance(device, str):
        device = Device(device)
    return device, dtype
