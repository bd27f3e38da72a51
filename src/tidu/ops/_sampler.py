"""Where samplers take their random numbers from; the order in which a tensor is filled, arguments, and the op of a sampler."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .. import dtypes
from ..arrays.generator import DEFAULT_SEED, STATE_BYTES, WordStream
from ..core.broadcast import sum_to
from ..core.levels import check_random, different, maps
from ..core.linear import linear
from ..core.op import Op, named
from ..core.tensor import Tensor, tensor_of
from ..devices import CPU
from ..devices import device as Device
from ._make import as_dtype, finish, made, np_dtype, refuse_grad


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


Array = np.ndarray[Any, Any]
Draw = Callable[[Sequence[int]], Array]


def fill(a: Array, draw: Draw) -> Array:
    """Numbers for the places of `a` in the order in which they lie in memory, which is PyTorch's order."""
    if a.flags.c_contiguous:
        return draw(a.shape)
    from .storage import empty_as

    strides = empty_as(a).strides
    order = sorted(range(a.ndim), key=lambda k: -strides[k])
    back = sorted(range(a.ndim), key=order.__getitem__)
    return draw([a.shape[k] for k in order]).transpose(back)


def factory(
    shape: tuple[int, ...], d: Any, draw: Callable[..., Array], out: Any, requires_grad: Any, fn: str
) -> Tensor:
    """The tensor that a factory returns; draw(shape, dtype, contiguous) gives its numbers."""
    if out is None:
        if maps.stack:
            return over_maps(shape, lambda s: draw(s, d, True), requires_grad)
        return made(draw(shape, d, True), requires_grad)
    refuse_grad(out, "aten::" + fn)
    a = out._a
    place = a if a.shape == shape else np.empty(shape, a.dtype)
    contiguous = place.flags.c_contiguous
    return finish(fill(place, lambda s: draw(s, a.dtype, contiguous)), out, requires_grad)


def over_maps(shape: tuple[int, ...], draw: Callable[[tuple[int, ...]], Array], requires_grad: Any) -> Any:
    """Numbers drawn under vmap: where the samples differ, for all of them together, a batch."""
    from ..core.batch import wrap

    levels = different()
    t = made(draw((*[n for _, n in levels], *shape)), requires_grad)
    for level, _ in levels:
        t = wrap(t, level)
    return t


def like(input: Any, a: Array, draw: Callable[[Array], Array], requires_grad: Any) -> Any:
    """Numbers drawn in the shape, dtype and layout of `a`, which is like `input`."""
    if maps.stack:
        from ..core.batch import wrap

        whole: Any = getattr(input, "value", None)
        if hasattr(whole, "_a") and [level for level, _ in different()] == [input.level]:  # as the batch lies
            return wrap(made(draw(np.empty_like(whole._a, a.dtype, "K", False)), requires_grad), input.level)
        return over_maps(a.shape, lambda s: draw(np.empty(s, a.dtype)), requires_grad)
    return made(draw(a), requires_grad)


def dtype_for(dtype: Any, out: Any, fn: str, default: Any = None) -> Any:
    """The NumPy dtype of a factory's result; that of `out` must not contradict."""
    if out is None:
        return default if dtype is None and default is not None else np_dtype(dtype, fn)
    if dtype is not None and as_dtype(dtype, fn) is not out.dtype:
        want = as_dtype(dtype, fn)
        raise RuntimeError(f"dtype {want.legacy} does not match dtype of out parameter ({out.dtype.legacy})")
    return out._a.dtype


def float_arg(value: Any, fn: str, name: str, position: int) -> float:
    if isinstance(value, (float, int, np.number)):
        return float(value)
    if isinstance(value, Tensor) and not value.ndim:
        return float(value._a)
    raise TypeError(f"{fn}(): argument '{name}' (position {position}) must be float, not {type(value).__name__}")


def int_arg(value: Any, fn: str, name: str, position: int) -> int:
    try:
        n = int(value._a) if isinstance(value, Tensor) and value._a.dtype.kind in "iu" else operator.index(value)
    except TypeError:
        kind = type(value).__name__
        raise TypeError(f"{fn}(): argument '{name}' (position {position}) must be int, not {kind}") from None
    if not -(1 << 63) <= n < 1 << 63:
        raise ValueError("Overflow when unpacking long long")
    return n


def unsupported(kernel: str, d: dtypes.dtype) -> NotImplementedError:
    return NotImplementedError(f"\"{kernel}\" not implemented for '{d.legacy}'")


def floating(a: Array, kernel: str, complex_too: bool = False) -> dtypes.dtype:
    """The dtype of `a`, which must be a floating one; the error names the kernel."""
    d = dtypes.from_numpy(a.dtype)
    if d.category != dtypes.FLOATING and not (complex_too and d.category == dtypes.COMPLEX):
        raise unsupported(kernel, d)
    return d


def _zeros(input: Any) -> Any:
    return np.zeros_like(input)


_zero: Any = linear("zero_cotangent", _zeros, lambda g: _zero(g), register=False)


def sampler(
    name: str, forward: Callable[..., Any], node: str | None, *tensors: str, rule: Callable[..., Any] | None = None
) -> Op:
    """An op that draws: `random`, so neither to be computed once for several calls nor ahead of time.

    It passes zeros on to its tensor arguments, unless `rule` says otherwise; without a node it is not
    differentiable at all.
    """
    rules = {t: rule or _zero_rule(t) for t in tensors or ("input",)} if node else None
    return drawing(Op(name, forward, rules, node=node, register=False))


def drawing(op: Op) -> Op:
    """Mark an op as one that draws. Where the samples of a vmap draw numbers of their own, what they share they get
    each for themselves first."""
    drawn = op.drawn = op.call

    def call(*args: Any) -> Any:
        if maps.stack:
            from ..core.batch import levels_of, wrap

            full = list(args)
            tensors = [i for i, v in enumerate(args) if isinstance(v, Tensor)]
            known = levels_of([args[i] for i in tensors])
            for level, n in different():
                if level not in known:
                    x = full[tensors[0]]
                    full[tensors[0]] = wrap(x.expand((n, *tuple(x.shape))), level)
            return drawn(*full)
        return drawn(*args)

    op.random, op.call, call.op = True, call, op
    return op


def _zero_rule(tensor: str) -> Callable[..., Any]:
    def rule(g: Any, shape: Any) -> Any:
        if g.__class__ is Tensor:
            return tensor_of(np.zeros(shape, g._a.dtype))  # with no history: nothing leads back from it
        return sum_to(_zero(g), shape)

    return named(rule, ["g", tensor + "_shape"])
