"""Where tensors are and how they lie: devices, layouts and memory formats.

There is one device, the CPU, and there are dense tensors in row-major order, views of them, and sparse ones. The other
names exist so that programs which mention them can be read, and fail where they would need the thing itself.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .naming import Shown

_KINDS = (
    "cpu", "cuda", "ipu", "xpu", "mkldnn", "opengl", "opencl", "ideep", "hip", "ve", "fpga", "maia", "xla",
    "lazy", "vulkan", "mps", "meta", "hpu", "mtia", "privateuseone",
)  # fmt: skip

# What tells why arguments fit no signature; who knows puts itself here.
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


class _Named:
    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return "torch." + self.name

    def __reduce__(self) -> Any:
        return self.name

    def __deepcopy__(self, memo: Any) -> Any:
        return self


class layout(_Named):
    """How the elements of a tensor are stored, such as `strided`. Source: torch.layout."""

    __slots__ = ()


class memory_format(_Named):
    """In which order the dimensions lie in memory. Source: torch.memory_format."""

    __slots__ = ()


strided = layout("strided")
sparse_coo = layout("sparse_coo")
sparse_csr = layout("sparse_csr")
sparse_csc = layout("sparse_csc")
sparse_bsr = layout("sparse_bsr")
sparse_bsc = layout("sparse_bsc")
jagged = layout("jagged")

contiguous_format = legacy_contiguous_format = memory_format("contiguous_format")
preserve_format = memory_format("preserve_format")
channels_last = memory_format("channels_last")
channels_last_3d = memory_format("channels_last_3d")

NAMES = (
    "channels_last channels_last_3d contiguous_format jagged layout legacy_contiguous_format memory_format "
    "preserve_format sparse_bsc sparse_bsr sparse_coo sparse_csc sparse_csr strided"
).split()
