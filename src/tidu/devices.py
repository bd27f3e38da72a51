"""Devices: there is one, the CPU; the type exists so that programs which name it run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .naming import Shown

_KINDS = (
    "cpu", "cuda", "ipu", "xpu", "mkldnn", "opengl", "opencl", "ideep", "hip", "ve", "fpga", "maia", "xla",
    "lazy", "vulkan", "mps", "meta", "hpu", "mtia", "privateuseone",
)  # fmt: skip

# What tells why arguments fit no signature; the family that knows puts itself here.
REFUSE: list[Callable[..., Exception]] = [lambda args, kw: TypeError("device(): wrong arguments")]


class device(metaclass=Shown):
    """A device such as `device("cpu")`. Source: torch.device.

    >>> device("cpu"), str(device("cuda", 1))
    (device(type='cpu'), 'cuda:1')
    """

    __slots__ = ("index", "type")
    torch_name = "torch.device"

    def __init__(self, *args: Any, **kw: Any) -> None:
        kind = args[0] if args else kw.get("type", kw.get("device"))
        index = args[1] if len(args) > 1 else kw.get("index")
        alone = len(args) + len(kw) == 1
        if isinstance(kind, device) and alone:
            self.type, self.index = kind.type, kind.index
            return
        if kind.__class__ is int and alone:
            raise RuntimeError(
                "Device index must not be negative"
                if kind < 0
                else "Cannot access accelerator device when none is available."
            )
        if (
            not isinstance(kind, str) or len(args) > 2 or not kw.keys() <= {"type", "index", "device"}
            or (index is not None and index.__class__ is not int)
        ):  # fmt: skip
            raise REFUSE[0](args, kw)
        name, colon, number = kind.partition(":")
        if not kind:
            raise RuntimeError("Device string must not be empty")
        if not name.isalpha():
            raise RuntimeError(f"Invalid device string: '{kind}'")
        if name not in _KINDS:
            raise RuntimeError(f"Expected one of {', '.join(_KINDS)} device type at start of device string: {name}")
        if colon:
            if not number.isdigit() or number != str(int(number)):
                raise RuntimeError(f"Invalid device string: '{kind}'")
            if index is not None:
                raise RuntimeError(
                    f"type (string) must not include an index because index was passed explicitly: {kind}"
                )
            index = int(number)
        if index is not None and index < 0:
            raise RuntimeError("Device index must not be negative")
        self.type, self.index = name, index

    def __repr__(self) -> str:
        return f"device(type='{self.type}'" + (")" if self.index is None else f", index={self.index})")

    def __str__(self) -> str:
        return self.type if self.index is None else f"{self.type}:{self.index}"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, device) and (self.type, self.index) == (other.type, other.index)

    def __hash__(self) -> int:
        return hash((self.type, self.index))

    def __enter__(self) -> device:
        check_cpu(self)
        return self

    def __exit__(self, *_: object) -> None:
        return None

    def __reduce__(self) -> Any:
        return device, (self.type, self.index)


CPU = device("cpu")


def check_cpu(where: Any) -> None:
    """Raise what PyTorch's CPU build raises when asked for another device."""
    if where is None or where is CPU:
        return
    d = where if isinstance(where, device) else device(where)
    if d.type == "cuda":
        raise AssertionError("Torch not compiled with CUDA enabled")
    if d.type == "xpu":
        raise AssertionError("Torch not compiled with XPU enabled")
    if d.type == "mps":
        raise RuntimeError("PyTorch is not linked with support for mps devices")
    if d.type != "cpu":
        raise RuntimeError(f"tidu computes on the CPU only; device '{d}' is not available")
