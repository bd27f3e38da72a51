"""Generators: where samplers take their random numbers from, and the one they take by default."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..arrays.generator import DEFAULT_SEED, STATE_BYTES, WordStream
from ..core.levels import check_random, maps
from ..core.tensor import Tensor, tensor_of
from ..devices import CPU
from ..devices import device as Device


class Generator:
    """A source of random numbers with a state of its own: the Mersenne twister, as in PyTorch on the CPU.

    The same seed gives PyTorch's numbers, and a state saved by either library can be set in the other.
    Source: torch.Generator.

    Args:
        device: the CPU.

    >>> import tidu as torch
    >>> g = torch.Generator().manual_seed(0)
    >>> torch.rand(2, generator=g)
    tensor([0.4963, 0.7682])
    """

    __slots__ = ("__weakref__", "stream")

    def __init__(self, device: Any = "cpu") -> None:
        kind = device if isinstance(device, Device) else Device("cpu" if device is None else device)
        if kind.type == "cuda":
            raise RuntimeError(
                "Cannot get CUDA generator without ATen_cuda library. PyTorch splits its backend into two shared "
                "libraries: a CPU library and a CUDA library; this error has occurred because you are trying to use "
                "some CUDA functionality, but the CUDA library has not been loaded by the dynamic linker for some "
                "reason.  The CUDA library MUST be loaded, EVEN IF you don't directly use any symbols from the CUDA "
                "library! One common culprit is a lack of -Wl,--no-as-needed in your link arguments; many dynamic "
                "linkers will delete dynamic library dependencies if you don't depend on any of their symbols.  You "
                "can check if this has occurred by using ldd on your binary to see if there is a dependency on "
                "*_cuda.so library."
            )
        if kind.type != "cpu":
            raise RuntimeError(f"Device type {kind.type.upper()} is not supported for torch.Generator() api.")
        self.stream = WordStream(DEFAULT_SEED)

    @property
    def device(self) -> Device:
        """Where it draws: the CPU."""
        return CPU

    def manual_seed(self, seed: int) -> Generator:
        """Start afresh from a seed of at most 64 bits (negative ones stand for seed + 2**64); return itself.

        Source: torch.Generator.manual_seed.
        """
        if not isinstance(seed, (int, np.integer)) or isinstance(seed, bool):
            raise RuntimeError(f"manual_seed expected a long, but got {type(seed).__name__}")
        if not -(1 << 63) <= seed < 1 << 64:
            raise ValueError("Overflow when unpacking long long")
        self.stream.restart(int(seed))
        return self

    def seed(self) -> int:
        """Start afresh from a seed of the operating system's choice, and return it. Source: torch.Generator.seed."""
        return self.stream.restart_at_random()

    def initial_seed(self) -> int:
        """The seed it last started from. Source: torch.Generator.initial_seed."""
        return self.stream.seed

    def get_state(self) -> Tensor:
        """The state as a tensor of 5056 bytes, byte for byte PyTorch's. Source: torch.Generator.get_state."""
        return tensor_of(self.stream.save())

    def set_state(self, new_state: Tensor) -> Generator:
        """Go on from a state that `get_state` gave. Source: torch.Generator.set_state.

        Raises:
            TypeError: not a tensor of bytes.
            RuntimeError: not of the right size, or not a state.
        """
        if not isinstance(new_state, Tensor):
            raise TypeError(f"expected a torch.ByteTensor, but got {type(new_state).__name__}")
        a = new_state._a
        if a.dtype != np.uint8:
            raise TypeError("RNG state must be a torch.ByteTensor")
        if a.size != STATE_BYTES:
            raise RuntimeError(
                f"Expected a CPUGeneratorImplState of size {STATE_BYTES} but found the input RNG state size to be "
                f"{a.size}"
            )
        self.stream.load(a)
        return self

    def clone_state(self) -> Generator:
        """A new generator in the same state. Source: torch.Generator.clone_state."""
        return Generator().set_state(self.get_state())

    def get_offset(self) -> int:
        """Not for CPU generators. Source: torch.Generator.get_offset."""
        raise RuntimeError("CPU Generator does not use offset")

    def set_offset(self, offset: int) -> Generator:
        """Not for CPU generators. Source: torch.Generator.set_offset."""
        raise RuntimeError("CPU Generator does not use offset")

    def __getstate__(self) -> bytes:
        return self.stream.save().tobytes()

    def __setstate__(self, state: bytes) -> None:
        self.stream.load(np.frombuffer(state, np.uint8))

    def __reduce__(self) -> Any:
        return Generator, ("cpu",), self.__getstate__()

    def __repr__(self) -> str:
        return f"<torch._C.Generator object at {id(self):#x}>"


default_generator = Generator()
default_generator.seed()


def stream_of(generator: Any, fn: str) -> WordStream:
    """The words of a generator, or of the default one for None; RuntimeError in a vmap that forbids drawing."""
    if maps.stack:
        check_random()
    if generator is None:
        return default_generator.stream
    if not isinstance(generator, Generator):
        kind = type(generator).__name__
        raise TypeError(f"{fn}(): argument 'generator' must be torch.Generator, not {kind}")
    return generator.stream


def manual_seed(seed: int) -> Generator:
    """Start the default generator afresh from a seed, and return it. Source: torch.manual_seed.

    >>> import tidu as torch
    >>> _ = torch.manual_seed(0)
    >>> torch.randn(3)
    tensor([ 1.5410, -0.2934, -2.1788])
    """
    return default_generator.manual_seed(int(seed))


def seed() -> int:
    """Start the default generator from a seed of the operating system's choice; return it. Source: torch.seed."""
    return default_generator.seed()


def initial_seed() -> int:
    """The seed that the default generator last started from. Source: torch.initial_seed."""
    return default_generator.initial_seed()


def get_rng_state() -> Tensor:
    """The default generator's state, a tensor of bytes. Source: torch.get_rng_state."""
    return default_generator.get_state()


def set_rng_state(new_state: Tensor) -> None:
    """Put the default generator in a state that `get_rng_state` gave. Source: torch.set_rng_state."""
    default_generator.set_state(new_state)
