"""torch.cuda as a build without CUDA has it: nothing is available, seeds and caches are no matter, the rest raises."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

from .elsewhere import device_names
from .naming import sourced_all, submodule

__path__: list[str] = []  # torch.cuda.amp is made when it is asked for
_RAISING = (
    "caching_allocator_alloc can_device_access_peer clock_rate cudart current_blas_handle current_device "
    "current_stream default_stream get_device_capability get_device_name get_device_properties "
    "get_per_process_memory_fraction get_rng_state get_sync_debug_mode init initial_seed ipc_collect mem_get_info "
    "memory_snapshot memory_summary memory_usage power_draw reset_accumulated_memory_stats "
    "reset_max_memory_allocated set_device set_per_process_memory_fraction set_stream set_sync_debug_mode "
    "synchronize temperature utilization"
).split()
_ABSENT = device_names("torch.cuda")
__all__ = [
    "Event", "OutOfMemoryError", "Stream", "device", "is_bf16_supported", "manual_seed_all", "max_memory_allocated",
    "max_memory_reserved", "memory_allocated", "memory_reserved", "reset_peak_memory_stats", "seed", "seed_all",
    "set_rng_state", "stream", *_ABSENT, *_RAISING,
]  # fmt: skip
globals().update(_ABSENT)


def _lacking(*args: Any, **kw: Any) -> Any:
    raise AssertionError("Torch not compiled with CUDA enabled")


def _raiser(name: str) -> Callable[..., Any]:
    def raising(*args: Any, **kw: Any) -> Any:
        _lacking()

    raising.__name__ = raising.__qualname__ = name
    raising.__doc__ = f"AssertionError: there is no CUDA. Source: torch.cuda.{name}."
    return raising


globals().update({_name: _raiser(_name) for _name in _RAISING})


def is_bf16_supported(including_emulation: bool = True) -> bool:
    """False."""
    return False


def manual_seed_all(seed: int) -> None:
    """Nothing: there is no generator to seed."""


def seed() -> None:
    """Nothing: there is no generator to seed."""


def seed_all() -> None:
    """Nothing: there is no generator to seed."""


def set_rng_state(new_state: Any, device: Any = "cuda") -> None:
    """Nothing: there is no generator."""


def reset_peak_memory_stats(device: Any = None) -> None:
    """Nothing: there are no statistics."""


def _no_bytes(device: Any = None) -> int:
    """0. There is no such memory."""
    return 0


max_memory_allocated = max_memory_reserved = memory_allocated = memory_reserved = _no_bytes


class _tensortype(type):
    """The class of the types of tensors and storages on a GPU: nothing is an instance, and none can be made."""

    def __instancecheck__(cls, x: Any) -> bool:
        return False

    def __call__(cls, *args: Any, **kw: Any) -> Any:
        raise TypeError(f"type torch.cuda.{cls.__name__} not available. Torch not compiled with CUDA enabled.")


for _d in "BFloat16 Bool Byte Char Double Float Half Int Long Short".split():
    globals()[_d + "Tensor"] = _tensortype(_d + "Tensor", (), {"__doc__": f"Source: torch.cuda.{_d}Tensor."})


class Stream:
    """RuntimeError: there is no CUDA."""

    def __new__(cls, *args: Any, **kw: Any) -> Any:
        raise RuntimeError("torch.cuda.Stream requires CUDA support")


class Event:
    """RuntimeError: there is no CUDA."""

    def __new__(cls, *args: Any, **kw: Any) -> Any:
        raise RuntimeError("Tried to instantiate dummy base class Event")


class device:
    """A context in which a device would be the current one."""

    def __init__(self, device: Any) -> None:
        self.idx = device

    def __enter__(self) -> None:
        _lacking()

    def __exit__(self, *exc: Any) -> None:
        pass


class stream:
    """A context in which a stream would be the current one; None for none."""

    def __init__(self, stream: Any) -> None:
        if stream is not None:
            _lacking()

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exc: Any) -> None:
        pass


class OutOfMemoryError(RuntimeError):
    """An accelerator ran out of memory: never raised. Source: torch.OutOfMemoryError."""


class AcceleratorError(RuntimeError):
    """An accelerator failed: never raised. Source: torch.AcceleratorError."""


def get_arch_list() -> list[str]:
    """Empty: the library was built for no GPU."""
    return []


def get_gencode_flags() -> str:
    """Empty: the library was built for no GPU."""
    return ""


def get_rng_state_all() -> list[Any]:
    """Empty: there is no generator."""
    return []


def set_rng_state_all(new_states: Any) -> None:
    """Nothing: there is no generator."""


def is_tf32_supported() -> bool:
    """False."""
    return False


def memory_stats(device: Any = None) -> OrderedDict[str, Any]:
    """Empty: there are no statistics."""
    return OrderedDict()


host_memory_stats = memory_stats
memory_cached, max_memory_cached = memory_reserved, max_memory_reserved
default_generators: tuple[Any, ...] = ()
has_half, has_magma = True, False
CudaError = OutOfMemoryError


submodule(
    globals(), "memory",
    "empty_cache max_memory_allocated max_memory_reserved mem_get_info memory_allocated memory_reserved memory_stats "
    "memory_summary reset_peak_memory_stats",
)  # fmt: skip
submodule(
    globals(), "random",
    "get_rng_state get_rng_state_all initial_seed manual_seed manual_seed_all seed seed_all set_rng_state "
    "set_rng_state_all",
)  # fmt: skip
submodule(globals(), "streams", "Event Stream")


def _no_marks(*args: Any, **kw: Any) -> Any:
    """RuntimeError: there is no profiler to mark for."""
    raise RuntimeError("NVTX functions not installed. Are you sure you have a CUDA build?")


@contextmanager
def _marked(msg: str, *args: Any, **kwargs: Any) -> Iterator[None]:
    """A marked stretch of a program. Source: torch.cuda.nvtx.range."""
    yield _no_marks()


submodule(
    globals(),
    "nvtx",
    range=_marked,
    **dict.fromkeys("mark range_end range_pop range_push range_start".split(), _no_marks),
)


def __getattr__(name: str) -> Any:
    if name == "amp":
        return import_module(f"{__name__}.amp")
    from .core.errors import missing_name

    raise missing_name(__name__, name)


sourced_all(globals())
