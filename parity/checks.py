"""The checks of one entry: which samples, which program, how it is compared, and what the outcome is called."""

from __future__ import annotations

import contextlib
import dataclasses
import re
import signal
import time
import traceback
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch

from . import programs, scope, vmapping
from .bridge import MISSING, Missing, Side, tensors_in
from .compare import TOLERANCES, Mismatch, Raised, SequenceSnap, TensorSnap, compare, snapshot
from .programs import Bench, raised
from .referee import referee
from .samples import fits, samples, seed_all, spread, strided, summary, turned
from .transplant import Transplant

OK, FAIL, TORCH, SCOPE = "ok", "fail", "torch", "scope"

CHECKS = ("value", "dtype", "grad", "grad2", "forward", "vmap", "inplace", "out", "errors")
EXTRA = ("narrow", "messages", "refused", "layout", "graph", "memory")  # reported too; an entry is whole without them

SMALL_DTYPES = ("float32", "int64", "bool", "float16", "bfloat16", "complex64", "int32", "uint8", "int8", "int16")
NARROW_DTYPES = ("float32", "complex64", "bfloat16", "float16")
COUNTS = {
    "value": 24,
    "dtype": 3,
    "grad": 12,
    "narrow": 2,
    "grad2": 8,
    "forward": 8,
    "vmap": 4,
    "inplace": 8,
    "out": 3,
    "layout": 8,
    "graph": 3,
    "memory": 4,
}
SECONDS = 20  # for one check of one entry


class TooSlow(Exception):
    """A check ran out of its time."""


@dataclasses.dataclass
class Outcome:
    status: str
    reason: str = ""
    tried: int = 0
    failed: int = 0
    details: list[str] = dataclasses.field(default_factory=list)
    seconds: float = 0.0


class Checker:
    """Runs the checks of entries of the op database for one library."""

    def __init__(self, lib: str = "tidu", factor: float = 1.0) -> None:
        self.torch, self.side = Side("torch"), Side(lib)
        self.moves = Transplant(self.torch), Transplant(self.side)
        self.factor = factor

    def run(self, entry: Any, names: tuple[str, ...] = CHECKS + EXTRA) -> dict[str, Outcome]:
        """The outcome of each named check."""
        reason = scope.not_in_scope(entry)
        if reason:
            return {name: Outcome(SCOPE, reason) for name in names}
        found = {}
        for name in names:
            started = time.perf_counter()
            reason = scope.CHECK_NOT_IN_SCOPE.get((entry.full_name, name), "")
            found[name] = Outcome(SCOPE, reason) if reason else self.check(entry, name)
            found[name].seconds = time.perf_counter() - started
        return found

    def check(self, entry: Any, name: str) -> Outcome:
        benches = Bench(self.torch, self.moves[0], entry), Bench(self.side, self.moves[1], entry)
        cases = Cases(entry, name, benches, self.factor)
        outcome = Outcome(OK)
        unsupported = ""
        try:
            with time_limit(SECONDS), warnings.catch_warnings(), np.errstate(all="ignore"):
                warnings.simplefilter("ignore")
                for case in cases:
                    result = self._one(case)
                    if result.status == TORCH:
                        unsupported = unsupported or result.reason
                        continue
                    outcome.tried += 1
                    if result.status == FAIL:
                        outcome.failed += 1
                        outcome.reason = outcome.reason or result.reason
                        outcome.details.append(f"{case.label}\n    {result.reason}")
                        outcome.details.extend(result.details)
        except TooSlow:
            outcome.failed += 1
            outcome.reason = outcome.reason or f"took more than {SECONDS} s"
        if outcome.failed:
            outcome.status = FAIL
        elif not outcome.tried:
            return Outcome(TORCH, unsupported or cases.empty)
        return outcome

    def _one(self, case: Case) -> Outcome:
        """Run one case on both sides and compare."""
        try:
            expected = self._taken(case.benches[0], case.on_torch, case)
        except TooSlow:
            raise
        except Exception as error:
            if not case.errors:
                return Outcome(TORCH, _line(f"torch: {type(error).__name__}: {error}"))
            expected = raised(error)
        if isinstance(expected, Raised) and scope.UNTELLABLE in expected.message:
            return Outcome(TORCH, "an out= whose storage PyTorch may not resize: NumPy's arrays do not say so")
        if case.errors == "only" and not isinstance(expected, Raised):
            return Outcome(TORCH, "torch raises nothing")
        try:
            got = self._taken(case.benches[1], case.on_lib, case)
        except TooSlow:
            raise
        except Exception as error:
            missing = missing_name(error)
            if missing or not isinstance(expected, Raised):
                text = missing or f"{type(error).__name__}: {error}"
                return Outcome(FAIL, _line(text), details=[] if missing else [_trace(error)])
            got = raised(error)
        try:
            case.judge(expected, got)
        except Mismatch as error:
            if case.referee is None or not self._settled(case, got):
                return Outcome(FAIL, str(error).lstrip(": "))
        return Outcome(OK)

    def _settled(self, case: Case, got: Any) -> bool:
        """Whether the library agrees with what stands in for PyTorch's op where that is wrong."""
        try:
            case.judge(self._taken(case.referee, case.on_torch, case), got)
        except TooSlow:
            raise
        except Exception:
            return False
        return True

    def _taken(self, bench: Bench, program: Any, case: Case) -> Any:
        value, tensors = program(bench, case.sample)
        return snapshot(bench.side, value, tensors, values=case.numbers)


@dataclasses.dataclass
class Case:
    label: str
    sample: Any
    benches: tuple[Bench, Bench]
    on_torch: Callable[[Bench, Any], Any]
    on_lib: Callable[[Bench, Any], Any]
    judge: Callable[[Any, Any], None]
    errors: str = ""  # "": an error of PyTorch's means no case; "too": it is to be matched; "only": nothing else is
    numbers: bool = True
    referee: Bench | None = None


class Cases:
    """The cases of one check of one entry."""

    def __init__(self, entry: Any, check: str, benches: tuple[Bench, Bench], factor: float) -> None:
        self.entry, self.check, self.benches = entry, check, benches
        self.count = max(1, round(COUNTS.get(check, 1) * factor))
        scales = scope.TOLERANCE_SCALE
        self.scale = scales.get((entry.full_name, check), scales.get(entry.full_name, 1.0))
        self.empty = ""
        _, instead = referee(entry.full_name, check)
        self.referee = instead and Bench(benches[0].side, benches[0].move, entry, instead(entry.op))

    def __iter__(self) -> Iterator[Case]:
        return getattr(self, f"_{self.check}")()

    def _case(self, label: str, sample: Any, program: Any, on_lib: Any = None, judge: Any = None, **more: Any) -> Case:
        judge = judge or self.judge()
        more.setdefault("numbers", self.entry.name not in scope.NO_VALUES)
        return Case(
            f"{label} {summary(sample)}",
            sample,
            self.benches,
            program,
            on_lib or program,
            judge,
            referee=self.referee,
            **more,
        )

    def judge(self, widen: float = 1.0, strides: bool = False) -> Callable[[Any, Any], None]:
        return lambda e, g: compare(e, g, scale=self.scale * widen, strides=strides)

    def main_dtypes(self, grad: bool = False) -> list[torch.dtype]:
        known = self.entry.backward_dtypes if grad else self.entry.dtypes
        known = self.entry.dtypes & set(known or ())
        wide = [d for d in (torch.float64, torch.complex128) if d in known]
        if grad or wide:
            return wide or [d for d in (torch.float32,) if d in known]
        return [d for d in (torch.int64, torch.bool, torch.float32) if d in known][:1]

    # ------------------------------------------------------------------ the checks

    def _value(self) -> Iterator[Case]:
        program = programs.value
        for dtype in self.main_dtypes():
            chosen = samples(self.entry, dtype, self.count)
            if self.entry.reference_inputs_func is not None:
                chosen += samples(self.entry, dtype, self.count // 2, reference=True)
            for sample in chosen:
                yield self._case("value", sample, program)
            for sample in strided(chosen):
                yield self._case("value, not contiguous", sample, program)
            yield from self._spellings(chosen)
        self.empty = "no sample"

    def _spellings(self, chosen: list[Any]) -> Iterator[Case]:
        """The method and the aliases, on the first sample that PyTorch takes that way."""
        if self.entry.full_name in scope.GAUGE:
            return
        variants = [("method", self.entry.method_variant)]
        for alias in self.entry.aliases:
            variants += [(f"alias {alias.name}", alias.op), (f"alias .{alias.name}", alias.method_variant)]
        for label, variant in variants:
            for sample in chosen[:1] if variant is not None else ():
                if isinstance(sample.input, torch.Tensor):
                    yield self._case(label, sample, programs.called_as(variant))

    def _dtype(self) -> Iterator[Case]:
        main = self.main_dtypes()
        for name in SMALL_DTYPES:
            dtype = getattr(torch, name)
            if dtype in self.entry.dtypes and dtype not in main:
                for sample in samples(self.entry, dtype, self.count):
                    program = programs.value
                    if self.entry.full_name in scope.PICKS and not sample.kwargs.get("stable"):
                        program = programs.value_of_picks
                    yield self._case(name, sample, program, judge=self.judge(widen=8.0))
        self.empty = "no other dtype"

    def _differentiable(self, program: Any) -> Iterator[Case]:
        self.empty = "not differentiable in torch"
        if not self.entry.supports_autograd:
            return
        for dtype in self.main_dtypes(grad=True):
            chosen = samples(self.entry, dtype, self.count, grad=True)
            for sample in chosen + (strided(chosen) if program is programs.grad else []):
                yield self._case(str(dtype), sample, program)

    def _grad(self) -> Iterator[Case]:
        return _nonempty(self._differentiable(programs.grad))

    def _narrow(self) -> Iterator[Case]:
        """Gradients in the narrower dtypes: PyTorch's own, or those of its double precision."""
        self.empty = "not differentiable in torch in other dtypes"
        if not self.entry.supports_autograd or self.entry.full_name in scope.PICKS | {"msort"}:
            return
        main = self.main_dtypes(grad=True)
        for name in NARROW_DTYPES:
            dtype = getattr(torch, name)
            if dtype in self.entry.dtypes & set(self.entry.backward_dtypes or ()) and dtype not in main:
                for sample in samples(self.entry, dtype, self.count, grad=True):
                    yield from _nonempty(iter([self._case(name, sample, programs.grad, judge=self.judge(widen=8.0))]))

    def _grad2(self) -> Iterator[Case]:
        self.empty = "no second derivative in torch"
        if self.entry.supports_gradgrad:
            yield from _nonempty(self._differentiable(programs.grad2))

    def _forward(self) -> Iterator[Case]:
        for case in self._differentiable(programs.forward):
            if not self.entry.supports_forward_ad:
                if self.benches[1].lib is torch:  # the harness tested on PyTorch itself
                    continue
                case.on_torch, case.on_lib = programs.pairing_by_reverse, programs.pairing_by_forward
                case.judge = _pairings
            yield case

    def _vmap(self) -> Iterator[Case]:
        for dtype in self.main_dtypes()[:1]:
            for sample in samples(self.entry, dtype, self.count, grad=self.entry.supports_autograd):
                for pattern in vmapping.PATTERNS:
                    yield self._case(
                        f"vmap {pattern}",
                        sample,
                        lambda b, s, p=pattern: vmapping.looped(b, s, p),
                        lambda b, s, p=pattern: vmapping.mapped(b, s, p),
                        judge=lambda e, g: compare(_bare(e), _bare(g), scale=self.scale * 4),
                    )

    def _inplace(self) -> Iterator[Case]:
        self.empty = "no in-place variant in torch"
        if self.entry.inplace_variant is None:
            return
        grad = bool(self.entry.supports_inplace_autograd)
        for dtype in self.main_dtypes(grad=grad) or self.main_dtypes():
            for sample in samples(self.entry, dtype, self.count, grad=grad and dtype.is_floating_point):
                if isinstance(sample.input, torch.Tensor):
                    yield self._case(str(dtype), sample, programs.inplace, errors="too", judge=self._or_same_error())

    def _out(self) -> Iterator[Case]:
        self.empty = "no out= in torch"
        if not self.entry.supports_out:
            return
        for dtype in self.main_dtypes()[:1]:
            for sample in samples(self.entry, dtype, self.count):
                for kind in programs.OUT_KINDS:
                    if kind == "strided" and self.entry.full_name in scope.CRASHES_STRIDED:
                        continue
                    label = f"out= {kind}"
                    judge = self._or_same_error()
                    if kind == "wrong shape":  # PyTorch warns of some out= of the right shape too
                        judge = _warned_too(judge)
                    else:
                        judge = _warned_or_not(judge)
                    # that ops refuse a wider dtype, or a strided out= of the right shape, is an accident in PyTorch
                    errors = "" if kind in ("wider dtype", "strided") else "too"
                    program = programs.must_return(kind) if not errors else programs.out_variant(kind)
                    yield self._case(label, sample, program, judge=judge, errors=errors)

    def _or_same_error(self) -> Callable[[Any, Any], None]:
        """Compare results, or the classes of errors (their messages are another check's)."""
        return lambda e, g: compare(_class_only(e, g), _class_only(g, e), scale=self.scale)

    def _graph(self) -> Iterator[Case]:
        return _nonempty(self._differentiable(programs.graph))

    def _memory(self) -> Iterator[Case]:
        """At most as many bytes as PyTorch retains."""

        def judge(expected: Any, got: Any) -> None:
            if got > expected:
                raise Mismatch(f"retains {got} bytes, torch {expected}")

        for case in _nonempty(self._differentiable(programs.memory)):
            if case.benches[1].lib is not torch:
                case.judge = judge
            yield case

    def _error_inputs(self) -> list[Any]:
        self.empty = "no error inputs in the database"
        if self.entry.error_inputs_func is None:
            return []
        seed_all()
        return spread(list(self.entry.error_inputs_func(self.entry, "cpu")), 12)

    def _errors(self) -> Iterator[Case]:
        for error in self._error_inputs():
            if not _carried(error.sample_input):
                continue

            def judge(e: Any, g: Any, regex: str = error.error_regex) -> None:
                compare(_class_only(e, g), _class_only(g, e))
                if not re.search(regex, g.message, re.DOTALL) and g.message != e.message:
                    raise Mismatch(f"message does not match: torch says {e.message!r}; here {g.message!r}")

            yield self._case("error", error.sample_input, programs.value, judge=judge, errors="only")

    def _messages(self) -> Iterator[Case]:
        for error in self._error_inputs():
            if _carried(error.sample_input):
                yield self._case("error", error.sample_input, programs.value, errors="only")

    def _refused(self) -> Iterator[Case]:
        """Dtypes that PyTorch refuses: the same class and message."""
        self.empty = "torch takes every dtype"
        for dtype in self.main_dtypes()[:1]:
            for sample in samples(self.entry, dtype, 1):
                for name in ("bool", "int64", "float16", "float64", "complex128"):
                    if getattr(torch, name) not in self.entry.dtypes:
                        moved = programs.in_dtype(sample, dtype, getattr(torch, name))
                        yield self._case(name, moved, programs.value, errors="only")

    def _layout(self) -> Iterator[Case]:
        """Strides of fresh results."""
        for dtype in self.main_dtypes()[:1]:
            chosen = samples(self.entry, dtype, self.count)
            for label, sample in [("layout", s) for s in chosen] + [("turned", s) for s in turned(chosen)]:
                yield self._case(label, sample, programs.value, judge=self.judge(strides=True), numbers=False)


def missing_name(error: Exception) -> str:
    """What the library lacks, if that is what the error is about."""
    if isinstance(error, Missing):
        return str(error)
    found = re.match(r"(?:module '(?:tidu|torch)(\.\S+)?'|'(Tensor)' object) has no attribute '(\w+)'", str(error))
    if not found or not isinstance(error, AttributeError):
        return ""
    return MISSING + ".".join(filter(None, ((found[1] or "").lstrip("."), found[2], found[3])))


def _nonempty(cases: Iterator[Case]) -> Iterator[Case]:
    """A sample without anything to differentiate in PyTorch is not a case."""

    def real(program: Any) -> Any:
        def run(bench: Bench, sample: Any) -> Any:
            result = program(bench, sample)
            if result[0] is None:
                raise RuntimeError("nothing to differentiate")
            return result

        return run

    for case in cases:
        case.on_torch = real(case.on_torch)
        yield case


def _warned_too(judge: Callable[[Any, Any], None]) -> Callable[[Any, Any], None]:
    """Where PyTorch warns that out= was resized, so must the library (PyTorch itself forgets it in places)."""

    def warned(expected: Any, got: Any) -> None:
        if isinstance(expected, SequenceSnap) and isinstance(got, SequenceSnap):
            expected.items, got.items = expected.items[:4], got.items[:4]
            if expected.items[0] and not got.items[0]:
                raise Mismatch("no warning that out= was resized")
            got.items[0] = expected.items[0]
        judge(expected, got)

    return warned


def _warned_or_not(judge: Callable[[Any, Any], None]) -> Callable[[Any, Any], None]:
    """Where PyTorch resizes an out= of the right shape, to strides of its own, or writes other numbers into a strided
    one than it returns without it (some kernels overlook the strides), that is its accident."""

    def either(expected: Any, got: Any) -> None:
        if isinstance(expected, SequenceSnap) and isinstance(got, SequenceSnap):
            plain = expected.items[4:]
            expected.items, got.items = expected.items[:4], got.items[:4]
            try:
                judge(expected, got)
                return
            except Mismatch:
                if plain and not _differ(plain[0], got.items[2]) and _differ(plain[0], expected.items[2]):
                    return
            if expected.items[0]:
                got.items[3] = expected.items[3]
            got.items[0] = expected.items[0]
        judge(expected, got)

    return either


def _differ(expected: Any, got: Any) -> bool:
    try:
        compare(_bare(expected), _bare(got))
    except Mismatch:
        return True
    return False


def _pairings(expected: Any, got: Any) -> None:
    """Two ways to one number, each rounded to the precision of the outputs."""
    compare(expected.items[1], got.items[1])
    rtol = max(TOLERANCES.get(expected.items[1], (0.0, 0.0))[0], 1e-7)
    e, g = expected.items[0], got.items[0]
    if not np.isclose(g, e, rtol, rtol, equal_nan=True):
        raise Mismatch(f"torch gives {e}, not {g}")


def _carried(sample: Any) -> bool:
    """Whether the library can be given the sample: NumPy's arrays have 64 dimensions at most."""
    try:
        tensors = tensors_in((sample.input, sample.args, sample.kwargs), torch.is_tensor)
        return fits(sample) and all(t.ndim <= 64 for t in tensors)
    except Exception:
        return False


def _class_only(mine: Any, other: Any) -> Any:
    if isinstance(mine, Raised) and isinstance(other, Raised) and mine.kind == other.kind:
        return Raised(mine.kind, "")
    return mine


def _bare(value: Any) -> Any:
    """Without requires_grad and aliasing, which a loop does not tell."""
    if isinstance(value, TensorSnap):
        return dataclasses.replace(value, requires_grad=False, same_as=None, aliases=())
    if isinstance(value, SequenceSnap):
        return SequenceSnap("", (), [_bare(v) for v in value.items])
    return value


def _line(text: str) -> str:
    return " ".join(text.split())[:400]


def _trace(error: BaseException) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    inside = [f for f in frames if "/parity/" not in f.filename][-6:]
    return "".join(f"      {f.filename}:{f.lineno} {f.name}: {f.line}\n" for f in inside).rstrip()


@contextlib.contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raise `TooSlow` in the main thread after so many seconds."""

    def ring(*_: Any) -> None:
        raise TooSlow

    old = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, old)
