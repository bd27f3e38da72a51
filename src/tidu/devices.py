"""Devices: there is one, the CPU; the type exists so that programs which name it run."""

from __future__ import annotations

from typing import Any

from .naming import Shown

_KINDS = (
    "cpu", "cuda", "ipu", "xpu", "mkldnn", "opengl", "opencl", "ideep", "hip", "ve", "fpga", "maia", "xla",
    "lazy", "vulkan", "mps", "meta", "hpu", "mtia", "privateuseone",
)  # fmt: skip


class device(metaclass=Shown):
    """A device such as `device("cpu")`. Source: torch.device.

    >>> device("cpu"), str(device("cuda", 1))
    (device(type='cpu'), 'cuda:1')
    """

    __slots__ = ("index", "type")
    torch_name = "torch.device"

    def __init__(self, type: Any = None, index: int | None = None) -> None:
        if isinstance(type, device):
            self.type, self.index = type.type, type.index
            return
        if isinstance(type, int):
            raise RuntimeError("Cannot access accelerator device when none is available.")
        name, _, number = str(type).partition(":")
        if not name.isalpha():
            raise RuntimeError(f"Invalid device string: '{type}'")
        if name not in _KINDS:
            raise RuntimeError(
                f"Expected one of {', '.join(_KINDS)} device type at start of device string: {name}"
            )
        if number:
            if not number.isdigit():
                raise RuntimeError(f"Invalid device string: '{type}'")
            index = int(number)
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
    if d.type != "cpu":
        raise RuntimeError(f"tidu computes on the CPU only; device '{d}' is not available")
