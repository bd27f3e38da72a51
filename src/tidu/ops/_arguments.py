"""What is wrong with the arguments of a call, in PyTorch's words; other names and forms that calls may have.

A call that fails is looked at again, by the signatures of `_signatures.py`, as PyTorch's argument parser would: the
message names the argument, or lists the signatures where several could have been meant. A call that succeeds is not
looked at.

In the first years a number stood before the tensors that it scales, `p.add_(-rate, gradient)`. PyTorch still takes that,
and says once that it is deprecated.
"""

from __future__ import annotations

import dis
import functools
import re
import sys
from collections.abc import Callable, Sequence
from types import CellType, CodeType, FunctionType
from typing import Any, NamedTuple

import numpy as np

from ..core.modes import state
from ..core.parameters import REQUIRED, missing
from ..core.subclass import FACES, newly_overridden, overrides
from ..core.tensor import Tensor
from ..devices import device
from ..dtypes import INTEGRAL, dtype
from ..naming import warn
from ._make import word
from ._signatures import ATEN, METHODS, NUMBERS, QUICK, SIGNATURES, WRITES

ndarray = np.ndarray
NAMES = {"axis": "dim", "keepdims": "keepdim", "x": "input", "a": "input", "x1": "input", "x2": "other"}


def numpy_names(fn: Callable[..., Any]) -> Callable[..., Any]:
    """Let a plain function take its arguments by NumPy's names too (an op's `bind` does so itself)."""

    @functools.wraps(fn)
    def call(*args: Any, **kw: Any) -> Any:
        if kw:
            kw = {NAMES.get(k, k): v for k, v in kw.items()}
        return fn(*args, **kw)

    return call


# By function: how many tensors it takes, and the keywords that the numbers before them have become.
OLDER: dict[str, tuple[Any, ...]] = {
    **dict.fromkeys(("add", "sub"), (2, "alpha")),
    **dict.fromkeys(("addcmul", "addcdiv"), (3, "value")),
    **dict.fromkeys(("addmm", "addmv", "addr", "baddbmm", "addbmm"), (3, "beta", "alpha")),
}
_FORMS = {
    "add": ("Tensor input, Number alpha, Tensor other", "Tensor input, Tensor other, *, Number alpha = 1"),
    "add_": ("Number alpha, Tensor other", "Tensor other, *, Number alpha = 1"),
    "addcmul_": ("Number value, Tensor tensor1, Tensor tensor2", "Tensor tensor1, Tensor tensor2, *, Number value = 1"),
}
_FORMS |= {"sub": _FORMS["add"], "sub_": _FORMS["add_"], "addcdiv_": _FORMS["addcmul_"]}
_warned: set[str] = set()


def older(fn: Callable[..., Any], name: str, args: tuple[Any, ...], kw: dict[str, Any]) -> Any:
    """fn, called as today, for arguments in an older order; NotImplemented where they are in none."""
    count, *keywords = OLDER.get(name.rstrip("_"), (0,))
    if not args or not isinstance(args[-1], (Tensor, int, float, complex)):
        return NotImplemented
    numbers = [a for a in args[:-1] if isinstance(a, (int, float, complex))]
    tensors = [a for a in args[:-1] if isinstance(a, Tensor)] + [args[-1]]
    if len(tensors) != count or not 1 <= len(numbers) <= len(keywords) or len(tensors) + len(numbers) != len(args):
        return NotImplemented
    if not _warned:  # once, whichever it is
        _warned.add(name)
        was, now = _FORMS.get(name, ("", ""))
        text = f":\n\t{name}({was})\nConsider using one of the following signatures instead:\n\t{name}({now})"
        warn(f"This overload of {name} is deprecated{text if was else '.'}")
    return fn(*tensors, **dict(zip(keywords, numbers, strict=False)), **kw)


def strayed(fn: Callable[..., Any], name: str, args: tuple[Any, ...], kw: dict[str, Any]) -> Any:
    """`older`, for a function whose signature leaves no other place for so many arguments."""
    out = older(fn, name, args, kw)
    if out is NotImplemented:
        raise TypeError
    return out


def describe(family: dict[str, Any], text: str, source: str = "torch") -> None:
    """Give functions of a family their docstrings, from lines `name: what it gives`."""
    for line in text.strip().splitlines():
        name, _, words = line.strip().partition(": ")
        family[name].__doc__ = f"{words} Source: {source}.{name}."


class Parameter(NamedTuple):
    kind: str
    name: str
    required: bool
    by_name: bool  # only
    none: bool  # whether None may be given
    single: bool  # whether, for several ints, one may be given


def guarded(fn: Callable[..., Any], name: str, method: bool = False) -> Callable[..., Any]:
    """The function with PyTorch's messages for wrong arguments, and with NumPy's names for right ones."""
    forms = getattr(fn, "forms", None)
    if forms is not None:
        return forms[method]
    if signatures(name, method) is None:
        name = getattr(fn, "__name__", "")  # an alias is the function that it stands for
    if signatures(name, method) is None or not isinstance(fn, FunctionType):
        return fn
    known = _guarded.get((fn, name, method))
    if known is not None:
        return known
    if name in QUICK:
        if "spoken" not in fn.__code__.co_names or not (method or fn.__code__.co_name != name):
            return fn
        code = fn.__code__.replace(co_name=name, co_qualname="Tensor." * method + name)
        call = _guarded[fn, name, method] = _copied(fn, code, fn.__closure__)
        return call
    free = fn.__code__.co_freevars
    if "general" in free and "self" not in free and ".core." in fn.__globals__["__name__"]:
        call = _behind(fn, name, method)
    else:
        call = _around(fn, name, method)
    call.__module__ = __package__.partition(".")[0]  # where pickle finds it
    _guarded[fn, name, method] = call
    return call


class _Odd(TypeError):
    """What PyTorch refuses and functions here do not: arrays, which are for rules, and out= in methods."""


def _around(fn: Callable[..., Any], name: str, method: bool, arrays: Any = ndarray) -> Callable[..., Any]:
    @functools.wraps(fn)
    def call(*args: Any, **kw: Any) -> Any:
        try:
            if kw:
                kw = renamed(name, method, kw)
                if (method and kw.get("out") is not None) or kw.get("keepdim").__class__ is int:
                    raise _Odd
            for v in args:
                if v.__class__ is arrays:
                    break
            else:
                return fn(*args, **kw)
            raise _Odd
        except Exception as error:
            ours = isinstance(error, (TypeError, AttributeError, ValueError))
            if ours and FACES.refresh is None and newly_overridden((*args, *kw.values())):
                return call(*args, **kw)
            better = wrong(name, method, args, kw)
            if better is None:
                if error.__class__ is _Odd:
                    return fn(*args, **kw)
                if ours and any(
                    isinstance(v, np.generic) for v in (*args, *kw.values())
                ):  # NumPy's numbers are as good
                    return fn(*map(_plain, args), **{k: _plain(v) for k, v in kw.items()})
                raise
            again = older(fn, name, args, kw)
            if again is not NotImplemented:
                return again
            raise better from None

    return call


def _behind(fn: Any, name: str, method: bool) -> Callable[..., Any]:
    """The same function, but for what it leaves to `general`: that is looked at again where it fails."""
    general = fn.__closure__[fn.__code__.co_freevars.index("general")].cell_contents
    ops = hasattr(general, "__self__")  # an op's takes the arguments as a tuple, and out=

    def looked(*args: Any, **kw: Any) -> Any:
        given = (args[0], kw.get("out", args[1] if len(args) > 1 else None)) if ops else (args, kw.get("out"))
        odd = any([v.__class__ is ndarray for v in given[0]]) or (method and given[1] is not None)
        try:
            if odd:
                raise _Odd
            return general(*args, **kw)
        except Exception:
            whole = args, kw
            if ops:
                args, kw = given[0], {} if given[1] is None else {"out": given[1]}
            args, kw = _as_named(sys._getframe(2), fn.__code__.co_varnames, args, kw)
            args = args[: next((i for i, v in enumerate(args) if v is REQUIRED), len(args))]
            better = wrong(name, method, args, kw)
            if better is None:
                if odd:
                    return general(*whole[0], **whole[1])
                raise
            raise better from None

    def bound(args: Any, kw: Any) -> Any:
        if any([v.__class__ is not int for v in kw.values()]):
            better = wrong(name, method, args, kw)
            if better is not None:
                raise better
        try:
            return general.__self__.bind(args, dict(kw))
        except TypeError:
            better = wrong(name, method, args, kw)
            if better is None:
                raise
            raise better from None

    ours = {"general": looked, "bind": bound, "arrays": None}
    cells = [
        CellType(ours[free]) if free in ours else cell
        for free, cell in zip(fn.__code__.co_freevars, fn.__closure__, strict=True)
    ]
    return _copied(fn, fn.__code__, tuple(cells))


def _copied(fn: Any, code: CodeType, cells: Any) -> Any:
    call = FunctionType(code, fn.__globals__, fn.__name__, fn.__defaults__, cells)
    call.__kwdefaults__ = fn.__kwdefaults__
    functools.update_wrapper(call, fn)
    fn.copies = [*getattr(fn, "copies", ()), call]  # who changes one changes all
    return call


def spoken(error: Exception, *args: Any, out: Any = None, **given: Any) -> Exception:
    """What PyTorch says of its caller's call, which failed; the error itself where the arguments fit."""
    frame = sys._getframe(1)
    code = frame.f_code
    args, kw = _as_named(frame.f_back, code.co_varnames[: code.co_argcount], args, given)
    if kw is given:  # which of them were given cannot be read off the call
        kw = {k: v for k, v in given.items() if v.__class__ is not object and v.__class__ is not int}
    if out is not None:
        kw["out"] = out
    args = args[: next((i for i, v in enumerate(args) if v is REQUIRED), len(args))]
    return wrong(code.co_name, code.co_qualname[:7] == "Tensor.", args, kw) or error


def _as_named(
    frame: Any, params: Sequence[str], args: tuple[Any, ...], kw: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments of the call that a frame is in, by name those that its code gives so."""
    code = frame.f_code
    before = [i for i in dis.get_instructions(code) if i.offset <= frame.f_lasti and i.opname != "PRECALL"]
    names: Any = ()
    if before[-1].opname == "CALL_FUNCTION_EX":  # a wrapper, which has them in a dict
        dicts = [d for d in frame.f_locals.values() if d.__class__ is dict]
        names = [p for p, v in zip(params, args, strict=False) if any(p in d and d[p] is v for d in dicts)]
    elif len(before) < 2 or before[-1].opname not in ("CALL", "CALL_KW"):
        return args, kw
    elif before[-2].opname == "KW_NAMES" or before[-1].opname == "CALL_KW":
        names = code.co_consts[before[-2].arg]
    places = {name: k for k, name in enumerate(params[: len(args)]) if name in names}
    kw = {name: args[places[name]] if name in places else kw.get(name) for name in names}
    return tuple([v for k, v in enumerate(args) if k not in places.values()]), kw


def _plain(v: Any) -> Any:
    return v.item() if isinstance(v, np.generic) else v


_guarded: dict[tuple[Callable[..., Any], str, bool], Callable[..., Any]] = {}


def quick(fn: Callable[..., Any], name: str, plain: Callable[[Any], Any]) -> Callable[..., Any]:
    """`guarded` for a function whose call with a tensor alone goes to `plain`, without a detour; rules call it too."""

    def made(method: bool) -> Callable[..., Any]:
        general = _around(fn, name, method, None)

        @functools.wraps(general)
        def call(*args: Any, **kw: Any) -> Any:
            if kw or len(args) != 1:
                return general(*args, **kw)
            return plain(args[0])

        call.__name__ = call.__qualname__ = name
        return call

    function = made(False)
    function.forms = function, made(True)
    return function


def renamed(name: str, method: bool, kw: dict[str, Any]) -> dict[str, Any]:
    """Keywords by PyTorch's names: axis is dim, unless the function has an axis."""
    if NAMES.keys().isdisjoint(kw):
        return kw
    own = {p.name for s in signatures(name, method) or () for p in parsed(s)}
    return {k if k in own or NAMES.get(k) not in own else NAMES[k]: v for k, v in kw.items()}


def wrong(name: str, method: bool, args: tuple[Any, ...], kw: dict[str, Any]) -> Exception | None:
    """What PyTorch says of a failed call before it looks at values; None where the values are wrong."""
    better = refusal(name, method, args, kw)
    if better is not None or not state.grad:
        return better
    out = kw.get("out")
    if out is not None and name not in WRITES:
        outs = out if isinstance(out, (tuple, list)) else (out,)
        given = [v for a in args for v in (a if isinstance(a, (tuple, list)) else (a,))]
        if any([isinstance(v, Tensor) and v.requires_grad for v in (*given, *outs, *kw.values())]):
            called = _CALLED.get(name, name)
            return RuntimeError(
                f"{'aten::' * (name in ATEN)}{called}(): functions with out=... arguments don't support automatic "
                "differentiation, but one of the arguments requires grad."
            )
    if (
        name[-1] == "_"
        and method
        and isinstance(args[0], Tensor)
        and args[0]._node is True
        and args[0]._view is None
        and name not in _LATE
    ):
        return RuntimeError("a leaf Variable that requires grad is being used in an in-place operation.")
    return None


# What those words call a function by another name than its own.
_CALLED = {
    name: called
    for called, names in (
        line.split(": ")
        for line in (
            "abs: absolute|acos: arccos|acosh: arccosh|asin: arcsin|asinh: arcsinh|atan: arctan|atanh: arctanh|atan2: arctan2|"
            "trunc: fix|sort: msort|neg: negative|pow: square|clamp: clip|mul: multiply kron|sub: subtract diff|div: divide true_divide|"
            "cat: concat concatenate column_stack hstack vstack dstack row_stack|nansum: nanmean|gather: take_along_dim|"
            "linalg_vector_norm: norm|linalg_inv_ex: inverse linalg_inv|linalg_qr: qr|linalg_lu_solve: lu_solve|"
            "linalg_householder_product: orgqr|_linalg_slogdet: slogdet linalg_slogdet|_linalg_det: linalg_det|"
            "_linalg_svd: svd linalg_svd linalg_svdvals|_linalg_eigh: linalg_eigh linalg_eigvalsh|matmul: linalg_matmul|"
            "linalg_cholesky_ex: linalg_cholesky|linalg_lu_factor_ex: linalg_lu_factor|sum: linalg_vecdot|"
            "_linalg_solve_ex: linalg_solve linalg_solve_ex|sigmoid: special_expit|lgamma: special_gammaln|"
            "digamma: special_psi|igamma: special_gammainc|igammac: special_gammaincc|mvlgamma: special_multigammaln|"
            "_fft_c2r: fft_irfft fft_hfft fft_irfft2 fft_hfft2 fft_irfftn fft_hfftn"
        ).split("|")
    )
    for name in names.split()
}
_CALLED |= {
    "special_" + name: name
    for name in "digamma erf erfc erfinv exp2 expm1 i0 log1p sinc xlogy logit logsumexp polygamma round".split()
}
_LATE = frozenset(
    "__and__ __or__ __xor__ requires_grad_ resize_ set_ logical_not_ float_power_ detach_ true_divide_ t_ squeeze_ "
    "unsqueeze_ transpose_ swapaxes_ swapdims_ index_put_ clip_".split()
)


def refusal(name: str, method: bool, args: tuple[Any, ...], kw: dict[str, Any]) -> Exception | None:
    """The error that PyTorch raises for such arguments; None if they fit a signature."""
    shown = signatures(name, method) or ("",)
    if method:
        args = args[1:]
        if shown == ("",) and (args or kw):
            what = "keyword arguments" if kw else f"arguments ({len(args)} given)"
            return TypeError(f"TensorBase.{name}() takes no {what}")
    numbers = name in NUMBERS
    problems = [problem(name, parsed(s), args, kw, numbers) for s in shown]
    if not all(problems):
        big = [v for v in (*args, *kw.values()) if v.__class__ is int and not -(2**63) <= v < 2**63]
        kinds = {p.kind for p in parsed(shown[problems.index("")])}
        return ValueError("Overflow when unpacking long long") if big and kinds <= _COUNTS else None
    for k, v in enumerate((*args, *kw.values())):  # said as soon as it is met
        wants = [p.kind for p in parsed(shown[0])]
        if k < len(wants) and wants[k] == "tuple of Tensors" and isinstance(v, (tuple, list)):
            for i, x in enumerate(v):
                if not isinstance(x, Tensor) and not (x is None and "index" in name):
                    return TypeError(f"expected Tensor as element {i} in argument {k}, but got {word(x)}")
    broken = [p for p in problems if "failed to unpack" in p]
    if broken:
        return TypeError(broken[0])
    many = len(shown) > 1 or name.rstrip("_") in OLDER  # some have one more, which is not shown
    if not many:
        return TypeError(problems[0])
    given = len(args) + len(kw)
    plausible = [p for p, s in zip(problems, shown, strict=True) if _least(s) <= given <= len(parsed(s))]
    if len(plausible) == 1:
        return TypeError(plausible[0])
    return misfit(name, shown, args, kw)


def misfit(name: str, shown: Sequence[str], args: tuple[Any, ...], kw: dict[str, Any]) -> TypeError:
    """The error of arguments that fit none of the signatures."""
    what = f"({_given(args, kw)})"
    if len(shown) == 1:
        what = _unlike(shown[0], args, kw, True) or what
    got = f"{name}() received an invalid combination of arguments - got "
    if what[0] != "(":
        return TypeError(f"{got}unrecognized {what}")
    got += f"{what}, but expected "
    if len(shown) == 1:
        return TypeError(f"{got}({shown[0]})")
    return TypeError(got + "one of:\n" + "".join(f" * ({s})\n{_mismatch(s, args, kw)}" for s in shown))


_COUNTS = {"Tensor", "int", "bool", "torch.dtype", "tuple of Tensors"}


def said(name: str, method: bool, params: Sequence[str], args: tuple[Any, ...]) -> Exception | None:
    """The error of the call of its caller, whose arguments by position and by name are read off the code before it."""
    args, kw = _as_named(sys._getframe(2), params, args, {})
    return refusal(name, method, args, kw)


def _least(signature: str) -> int:
    return sum(p.required for p in parsed(signature))


@functools.cache
def signatures(name: str, method: bool) -> tuple[str, ...] | None:
    found = METHODS.get(name) if method else None
    if found is None:
        found = SIGNATURES.get(name)
        if found is not None:
            return tuple(map(_of_method, found)) if method else found
        if name[-1:] == "_" and name[-2:] != "__":  # in place as otherwise
            return signatures(name[:-1], True) if method else None
    return found


def _of_method(signature: str) -> str:
    rest = re.sub(r"^Tensor \w+(, |$)", "", signature)
    rest = re.sub(r"(, )?(Tensor|tuple of Tensors) out = None", "", rest)
    return re.sub(r"(, )?\*$", "", rest)


@functools.cache
def parsed(signature: str) -> tuple[Parameter, ...]:
    found: list[Parameter] = []
    by_name = False
    for part in signature.split(", ") if signature else ():
        if part == "*":
            by_name = True
            continue
        kind_and_name, _, default = part.partition(" = ")
        kind, _, name = kind_and_name.rpartition(" ")
        single = name not in _SIZES or (name == "dims" and default == "[]")
        single &= default != "{-2,-1}" or "keepdim" not in signature
        none = default in ("None", "[]") or (
            kind == "tuple of ints" and name == "dim" and ("dtype dtype" in signature or "unbiased" in signature)
        )
        none |= name == "to" and not default and "int from" in signature
        found.append(Parameter(kind, name, not default, by_name, none, single))
    return tuple(found)


def problem(
    name: str, parameters: Sequence[Parameter], args: tuple[Any, ...], kw: dict[str, Any], numbers: bool = False
) -> str:
    """Why the arguments do not fit one signature; an empty string if they do."""
    positional = [p for p in parameters if not p.by_name]
    spread = len(positional) == 1 and positional[0].kind == "tuple of ints"
    if len(args) > len(positional) and not (spread and (_is_int(args[0]) or isinstance(args[0], str))):
        least = sum(p.required for p in parameters)
        if least != len(positional):
            return f"{name}() takes from {least} to {len(positional)} positional arguments but {len(args)} were given"
        plural, were = "s" * (least != 1), "was" if len(args) == 1 else "were"
        return f"{name}() takes {least} positional argument{plural} but {len(args)} {were} given"
    broken = ""
    for i, p in enumerate(parameters):
        by_place = i < len(args) and not p.by_name
        if not by_place and p.name not in kw:
            if p.required:
                return str(missing(name, [q.name for q in parameters[i:] if q.required]))
            continue
        value = args[i] if by_place else kw[p.name]
        if spread and by_place and _is_int(value):  # sizes one by one
            value = args
        if fits(p, value) or (numbers and p.kind == "Tensor" and _is_number(value)):
            if p.kind == "tuple of ints" and isinstance(value, (tuple, list)):
                bad = next((k for k, x in enumerate(value) if not _is_int(x)), None)
                if bad is not None:
                    broken = (
                        f"{name}(): argument '{p.name}' failed to unpack the object at pos {bad + 1} with error "
                        f'"type must be tuple of ints,but got {word(value[bad])}"'
                    )
            continue
        place = f" (position {i + 1})" if by_place else ""
        found = f"not {word(value)}"
        if p.kind[:9] == "tuple of " and p.kind != "tuple of Tensors" and isinstance(value, (tuple, list)):
            found = f"but found element of type {word(value[0])} at pos 0"
        return f"{name}(): argument '{p.name}'{place} must be {p.kind}, {found}"
    names = {p.name for p in parameters}
    for k in kw:
        if k not in names:
            return f"{name}() got an unexpected keyword argument '{k}'"
    twice = [p.name for p in positional[: len(args)] if p.name in kw]
    return f"{name}() got multiple values for argument '{twice[0]}'" if twice else broken


_SIZES = frozenset(
    "size sizes shape dims repeats normalized_shape source destination indices split_sizes input_lengths "
    "target_lengths".split()
)
_PYTHON: dict[str, Any] = {"bool": bool, "str": str, "torch.device": (device, str, int), "torch.Storage": ()}


def fits(p: Parameter, v: Any) -> bool:
    """Whether a value may be given for a parameter."""
    if v is None:
        return p.none
    kind = p.kind
    if kind == "Tensor":
        return isinstance(v, Tensor) or overrides(v.__class__)
    if kind == "int":
        return _is_int(v)
    if kind in ("Number", "float"):
        if isinstance(v, Tensor):
            return not v.ndim and not v.requires_grad and (kind == "Number" or not v.is_complex())
        return _is_number(v) and (kind == "Number" or not isinstance(v, (complex, np.complexfloating)))
    if kind == "tuple of ints":
        if _is_int(v):
            return p.single
        return isinstance(v, (tuple, list)) and all(_is_int(x) for x in v[:1])
    if kind == "tuple of floats":
        return isinstance(v, (tuple, list)) and all(_is_number(x) for x in v[:1])
    if kind == "tuple of Tensors":
        return isinstance(v, (tuple, list)) and all(isinstance(x, Tensor) or x is None for x in v)
    if kind == "torch.dtype":
        return isinstance(v, dtype) or v in (float, int, bool, complex)
    if kind in ("torch.Generator", "torch.layout", "torch.memory_format"):
        return type(v).__name__ == kind[6:]
    return isinstance(v, _PYTHON.get(kind, object))


def _is_number(v: Any) -> bool:
    return isinstance(v, (int, float, complex, np.generic)) and not isinstance(v, (str, bytes))


def _is_int(v: Any) -> bool:
    if isinstance(v, Tensor):
        return not v.ndim and v.dtype.category == INTEGRAL and not v.requires_grad
    return (
        hasattr(v, "__index__")
        and not isinstance(v, (bool, np.bool_))
        and (not isinstance(v, np.ndarray) or not v.ndim)
    )


# ------------------------------------------------------------------ the list of signatures


def _given(args: tuple[Any, ...], kw: dict[str, Any]) -> str:
    text = ", ".join([*map(word, args), *(f"{k}={word(v)}" for k, v in reversed(kw.items()))])
    return text + ", " if kw and not args else text


def _unlike(signature: str, args: tuple[Any, ...], kw: dict[str, Any], alone: bool = False) -> str:
    """What PyTorch finds unlike a signature with as many parts as there are arguments; it reads no defaults."""
    parts = signature.split(", ") if signature else [""]
    fitting = len(args) + len(kw) == len(parts)
    if not (fitting or alone):
        return ""
    kinds = {name: kind for kind, _, name in (part.rpartition(" ") for part in parts)}
    unknown = [k for k in reversed(kw) if k not in kinds]
    if unknown:
        return "keyword arguments: " + ", ".join(unknown)
    if not fitting:
        return ""
    shown = [_marked(part.rpartition(" ")[0], v) for part, v in zip(parts, args, strict=False)]
    shown += [_marked(kinds[k], kw[k], k + "=") for k in kinds if k in kw]
    return "(" + ", ".join(shown) + ", " * bool(kw and not args) + ")"


def _mismatch(signature: str, args: tuple[Any, ...], kw: dict[str, Any]) -> str:
    """The line that PyTorch adds under a signature with as many parts as there are arguments."""
    unlike = _unlike(signature, args, kw)
    if unlike[:1] == "(":
        return f"      didn't match because some of the arguments have invalid types: {unlike}\n"
    return unlike and f"      didn't match because some of the keywords were incorrect: {unlike[19:]}\n"


def _marked(kind: str, v: Any, name: str = "") -> str:
    """A value's type, between exclamation marks unless it is plainly the one asked for."""
    plain = {"Tensor": Tensor, "int": int, "bool": bool, "float": float, "str": str}.get(kind)
    if plain is not None and word(v) == plain.__name__:
        return name + word(v)
    of = ""
    if isinstance(v, (tuple, list)):
        inner = ", ".join(map(word, v))
        of = f" of [{inner}]" if isinstance(v, list) else f" of ({inner}{',' * (len(v) == 1)})"
    return f"!{name}{word(v)}{of}!"
