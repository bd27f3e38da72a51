"""Derivatives checked against finite differences. Source: torch.autograd.gradcheck.

The numerical Jacobian comes from central differences, (f(x + eps e) - f(x - eps e)) / (2 eps), one element at a
time; the analytical one from a backward pass for each element of the output. A complex input counts as two real ones:
its Jacobian has one more axis, for the derivatives along the real and the imaginary direction.
"""

from __future__ import annotations

import sys
import types
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..core import forward, levels
from ..core.tensor import Tensor, tensor_of
from ..devices import strided
from ..utils._pytree import tree_leaves, tree_map
from .backward import grad as _grad
from .function import Function

__all__ = ["GradcheckError", "gradcheck", "gradgradcheck"]


class GradcheckError(RuntimeError):
    """Raised by `gradcheck` and `gradgradcheck`."""


def _differentiable(x: Any) -> bool:
    return isinstance(x, Tensor) and x.requires_grad


def _outputs(out: Any) -> tuple[Any, ...]:
    outs = out if isinstance(out, (tuple, list)) else (out,)
    for o in outs:
        if not isinstance(o, Tensor):
            raise AttributeError(f"'{type(o).__name__}' object has no attribute 'requires_grad'")
    return tuple(o for o in outs if o.dtype.category >= 2)


def _check_inputs(inputs: Sequence[Any]) -> None:
    for i, x in enumerate(inputs):
        if not _differentiable(x):
            continue
        if x.dtype.name not in ("float64", "complex128"):
            warnings.warn(
                f"Input #{i} requires gradient and is not a double precision floating point or complex. This check "
                "will likely fail if all the inputs are not of double precision floating point or complex. ",
                UserWarning,
                stacklevel=4,
            )
        if any(s == 0 and d > 1 for s, d in zip(x.stride(), x.size(), strict=True)):
            raise RuntimeError(
                f"The {i}th input has a dimension with stride 0. gradcheck only supports inputs that are "
                "non-overlapping to be able to compute the numerical gradients correctly. You should call .contiguous on the input before "
                "passing it to gradcheck."
            )
    if not any(map(_differentiable, inputs)):
        raise ValueError(
            "gradcheck expects at least one input tensor to require gradient, but none of them have requires_grad=True."
        )


# ------------------------------------------------------------------ Jacobians


def _numerical(
    fn: Callable[..., Any], inputs: Sequence[Any], outs: Sequence[Any], eps: float
) -> list[list[np.ndarray[Any, Any]]]:
    """For every differentiable input and output the Jacobian (input elements, output elements) by central
    differences."""
    per_input = []
    for x in tree_leaves(inputs):
        if not _differentiable(x):
            continue
        a = x._a
        columns: list[list[np.ndarray[Any, Any]]] = []
        for index in np.ndindex(a.shape):
            real = _difference(fn, inputs, a, index, eps)
            if a.dtype.kind == "c":
                imag = _difference(fn, inputs, a, index, eps * 1j)
                columns.append([np.stack([r, m], -1) / (2 * eps) for r, m in zip(real, imag, strict=True)])
            else:
                columns.append([r / (2 * eps) for r in real])
        per_input.append(
            [np.stack([c[k] for c in columns]) if columns else np.zeros((0, o.numel())) for k, o in enumerate(outs)]
        )
    return per_input


def _difference(fn: Any, inputs: Sequence[Any], a: Any, at: Any, d: Any) -> list[Any]:
    """f(x + d) - f(x - d), flat, of every output, where d is added to the input's array at these places."""

    def outputs(d: Any) -> list[Any]:
        a[at] = had + d
        return [np.array(o.detach()._a).reshape(-1) for o in _outputs(fn(*inputs))]

    had = np.array(a[at])
    try:
        return [h - w for h, w in zip(outputs(d), outputs(-d), strict=True)]
    finally:
        a[at] = had


def _analytical(outs: Sequence[Any], ins: Sequence[Any], k: int, nondet_tol: float) -> list[np.ndarray[Any, Any]]:
    """For one output the Jacobian with respect to every input, by a backward pass an element; in the layout of
    `_numerical`."""
    out = outs[k]
    n = out.numel()
    complex_out = out.dtype.is_complex
    rows = [
        np.zeros((x.numel(), n) + ((2,) if x.dtype.is_complex else ()), complex if complex_out else float) for x in ins
    ]
    units = [(j, unit) for j in range(n) for unit in ((1, 1j) if complex_out else (1,))]

    def pulled() -> list[Any]:
        got = []
        for j, unit in units:
            v = np.zeros(n, out._a.dtype)
            v[j] = unit
            got.append(_grad(out, ins, tensor_of(v.reshape(out._a.shape)), retain_graph=True, allow_unused=True))
        return got

    first = pulled()
    _check_reentrant(first, pulled(), nondet_tol)
    for (j, unit), got in zip(units, first, strict=True):
        for r, g, x in zip(rows, got, ins, strict=True):
            if g is None:
                continue
            flat = np.asarray(g._a).reshape(-1)
            # <cot, J v> = <J^T cot, v>: with cot = unit at j the gradient holds Re(conj(unit) dout_j/dv).
            factor = 1 if unit == 1 else 1j
            if x.dtype.is_complex:
                r[:, j, 0] += factor * flat.real
                r[:, j, 1] += factor * flat.imag
            elif complex_out:
                r[:, j] += factor * flat.real
            else:
                r[:, j] = flat.real
    return rows


def _check_reentrant(first: Sequence[Any], second: Sequence[Any], tolerance: float) -> None:
    """Raise where two backward passes gave different values."""
    for got, again in zip(first, second, strict=True):
        for g, h in zip(got, again, strict=True):
            if g is not None and not _close(g._a, h._a, 0, tolerance):
                raise GradcheckError(
                    "Backward is not reentrant, i.e., running backward with same input and grad_output multiple times "
                    "gives different values, although analytical gradient matches numerical gradient."
                    f"The tolerance for nondeterminism was {tolerance}.{_NONDETERMINISTIC}"
                )


_NONDETERMINISTIC = """\n
NOTE: If your op relies on non-deterministic operations i.e., it is listed here:
https://pytorch.org/docs/stable/generated/torch.use_deterministic_algorithms.html
this failure might be expected.

If you are adding a new operator, please file an issue and then use one of the
workarounds. The workaround depends on how your test invokes gradcheck/gradgradcheck.
If the test
- manually invokes gradcheck/gradgradcheck, then call gradcheck/gradgradcheck
  with `nondet_tol=<tol>` as a keyword argument.
- is OpInfo-based (e.g., in test_ops_gradients.py), then modify the OpInfo for the test
  to have `gradcheck_nondet_tol=<tol>`.
- is a Module test (e.g., in common_nn.py), then modify the corresponding
  module_test entry to have `gradcheck_nondet_tol=<tol>`
"""


def _forward_jacobian(fn: Any, inputs: Sequence[Any], k: int) -> list[np.ndarray[Any, Any]]:
    """For one output the Jacobian by forward mode, a pass for each element of each input."""
    made = []
    for x in tree_leaves(inputs):
        if not _differentiable(x):
            continue
        columns = []
        for index in np.ndindex(x._a.shape):
            parts = []
            for unit in (1, 1j) if x.dtype.is_complex else (1,):
                t = np.zeros(x._a.shape, x._a.dtype)
                t[index] = unit
                parts.append(_pushed(fn, inputs, x, tensor_of(t))[k]._a.reshape(-1))
            columns.append(np.stack(parts, -1) if x.dtype.is_complex else parts[0])
        n = _outputs(fn(*inputs))[k].numel()
        made.append(np.stack(columns) if columns else np.zeros((0, n)))
    return made


def _close(a: Any, b: Any, rtol: float, atol: float) -> bool:
    return bool(np.allclose(a, b, rtol, atol, equal_nan=True))


def _mismatch(kind: str, i: int, k: int, analytical: Any, numerical: Any) -> str:
    return (
        f"{kind} for output {k} with respect to input {i},\n"
        f"numerical:{tensor_of(np.asarray(numerical))!r}\nanalytical:{tensor_of(np.asarray(analytical))!r}\n"
    )


# ------------------------------------------------------------------ the checks


def gradcheck(
    func: Callable[..., Any],
    inputs: Any,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    check_batched_grad: bool = False,
    check_batched_forward_grad: bool = False,
    check_forward_ad: bool = False,
    check_backward_ad: bool = True,
    fast_mode: bool = False,
    masked: bool | None = None,
) -> bool:
    """Whether the derivatives of `func` at `inputs` agree with finite differences.

    **Arguments** func: returns a tensor or several; inputs: tensors, of which those that require grad (float64 or
    complex128) are varied; eps, atol, rtol: step and tolerances; nondet_tol: how far two backward passes may differ;
    check_undefined_grad: backward must take missing gradients; check_batched_grad, check_batched_forward_grad: under
    vmap; check_forward_ad, check_backward_ad: the modes to check; fast_mode: one random direction of each input against one
    random weighting of each output, instead of the whole Jacobians (of real inputs and outputs).
    Returns True, or raises GradcheckError (or returns False where `raise_exception` is off). Source:
    torch.autograd.gradcheck.
    """
    if not (check_forward_ad or check_backward_ad):
        raise AssertionError("Expected at least one of check_forward_ad or check_backward_ad to be True")
    if check_batched_grad and not check_backward_ad:
        raise AssertionError("Setting check_batched_grad=True requires check_backward_ad to be True")
    if check_batched_forward_grad and not check_forward_ad:
        raise AssertionError("Setting check_batched_forward_grad=True requires check_forward_ad to be True")
    if any(isinstance(x, Tensor) and x.layout is not strided for x in tree_leaves(inputs)):
        func, inputs = _densely(func, inputs, bool(masked))
    args = dict(
        eps=eps, atol=atol, rtol=rtol, nondet_tol=nondet_tol, undefined=check_undefined_grad,
        batched=check_batched_grad,
        batched_forward=check_batched_forward_grad, forward_ad=check_forward_ad, backward_ad=check_backward_ad,
        dtypes=check_grad_dtypes, fast=fast_mode,
    )  # fmt: skip
    if not raise_exception:
        try:
            return _gradcheck(func, inputs, **args)  # type: ignore[arg-type]
        except GradcheckError:
            return False
    return _gradcheck(func, inputs, **args)  # type: ignore[arg-type]


def _densely(func: Any, inputs: Any, masked: bool) -> tuple[Any, Any]:
    """The function of dense tensors in the place of sparse ones: of the values that are there, if `masked`."""
    from ..ops.coo import sparse_coo_tensor

    given = tuple(inputs) if isinstance(inputs, (tuple, list)) else (inputs,)
    sparse = [isinstance(x, Tensor) and x.layout is not strided for x in given]

    def dense(x: Any) -> Any:
        x = x.detach().to_sparse_coo()
        return (x.coalesce().values().clone() if masked else x.to_dense()).requires_grad_()

    def again(v: Any, x: Any) -> Any:
        if not masked:
            return v.to_sparse(layout=x.layout)
        c = x.detach().to_sparse_coo().coalesce()
        made = sparse_coo_tensor(c.indices(), v, c.shape, is_coalesced=True)
        return made.to_sparse(layout=x.layout)

    def call(*args: Any) -> Any:
        outs = func(*[again(v, x) if s else v for v, x, s in zip(args, given, sparse, strict=True)])
        return tuple(o.to_dense() for o in _outputs(outs))

    return call, tuple(dense(x) if s and x.requires_grad else x for x, s in zip(given, sparse, strict=True))


def _gradcheck(
    func: Any, inputs: Any, *, eps: float, atol: float, rtol: float, nondet_tol: float, undefined: bool, batched: bool,
    batched_forward: bool, forward_ad: bool, backward_ad: bool, dtypes: bool, fast: bool,
) -> bool:  # fmt: skip
    inputs = inputs if isinstance(inputs, (tuple, list)) else (inputs,)
    inputs = tuple(inputs)
    leaves = tree_leaves(inputs)
    _check_inputs(leaves)
    ins = [x for x in leaves if _differentiable(x)]
    for x in ins:
        if x.is_leaf:
            x.retain_grad()
    outs = _outputs(func(*inputs))
    if not any(o.requires_grad for o in outs):
        _no_output_depends(func, inputs, outs, eps)
        return True
    if fast and not any(v.dtype.is_complex for v in (*ins, *outs)):
        _check_directions(func, inputs, outs, ins, eps, rtol, atol, nondet_tol, forward_ad, backward_ad)
    else:
        if backward_ad:
            _check_backward(func, inputs, outs, ins, eps, rtol, atol, nondet_tol)
        if forward_ad:
            numerical = _numerical(func, inputs, outs, eps)
            for k in [k for k, o in enumerate(outs) if o.requires_grad]:
                for i, a in enumerate(_forward_jacobian(func, inputs, k)):
                    if not _close(a, numerical[i][k], rtol, atol):
                        kind = "Jacobian computed with forward mode mismatch"
                        raise GradcheckError(_mismatch(kind, i, k, a, numerical[i][k]))
    if batched:
        _check_batched(outs, ins)
    if batched_forward:
        _check_batched_forward(func, inputs)
    if backward_ad:
        _check_multiplied(outs, ins)
    if undefined and backward_ad:
        _check_undefined(func, inputs, outs, ins)
    return True


def _check_backward(
    func: Any, inputs: Any, outs: Sequence[Any], ins: Sequence[Any], eps: float, rtol: float, atol: float,
    nondet_tol: float,
) -> None:  # fmt: skip
    """The Jacobians by backward passes: of complex outputs first the imaginary parts, then the real ones."""
    complexes = [o.dtype.is_complex for o in outs]
    for part in ("imag", "real") if any(complexes) else ("",):

        def parts(*args: Any, part: str = part) -> Any:
            return tuple(getattr(o, part) if o.dtype.is_complex else o for o in _outputs(func(*args)))

        f = parts if part else func
        results = _outputs(f(*inputs)) if part else outs
        numerical = _numerical(f, inputs, results, eps)
        for k, o in enumerate(results):
            if not o.requires_grad:
                continue
            for i, a in enumerate(_analytical(results, ins, k, nondet_tol)):
                n = numerical[i][k]
                if a.ndim == 3:
                    a, n = a[..., 0] + 1j * a[..., 1], n[..., 0] + 1j * n[..., 1]
                if not _close(a, n, rtol, atol):
                    part = "imaginary" if part == "imag" else part
                    kind = f"While considering the {part} part of complex outputs only, " * complexes[k]
                    like = ins[i].dtype.np if ins[i].dtype.is_complex else o.dtype.np
                    raise GradcheckError(
                        _mismatch(kind + "Jacobian mismatch", i, k, a.astype(ins[i].dtype.np), n.astype(like))
                    )


def _no_output_depends(func: Any, inputs: Any, outs: Sequence[Any], eps: float) -> None:
    for per_output in _numerical(func, inputs, outs, eps):
        for j in per_output:
            if np.any(j != 0):
                raise GradcheckError("Numerical gradient for function expected to be zero")


def _check_directions(
    func: Any, inputs: Any, outs: Sequence[Any], ins: Sequence[Any], eps: float, rtol: float, atol: float,
    nondet_tol: float, forward_ad: bool, backward_ad: bool,
) -> None:  # fmt: skip
    """<u, J v> for random unit vectors u of each output and v of each input, three ways."""
    from ..ops.random import rand
    from ..random import Generator

    generator = Generator()  # PyTorch's numbers, so that a failure reads the same

    def unit(t: Any) -> Any:
        r = rand(t.numel(), generator=generator).to(t.dtype)
        return (r / r.norm())._a.reshape(t._a.shape)

    vs = [unit(x) for x in ins]
    us = [unit(o) for o in outs]
    for i, (x, v) in enumerate(zip(ins, vs, strict=True)):
        moved = _difference(func, inputs, x._a, ..., eps * v)
        for k, (o, u) in enumerate(zip(outs, us, strict=True)):
            numerical = float(np.dot(u.reshape(-1), moved[k] / (2 * eps)))
            near = atol * float(v.sum()) * float(u.sum())
            if not o.requires_grad:
                continue
            if backward_ad:
                (g,), *again = [_grad(o, x, tensor_of(u), retain_graph=True, allow_unused=True) for _ in range(2)]
                _check_reentrant([(g,)], again, nondet_tol)
                product = 0.0 if g is None else float(np.dot(g._a.reshape(-1), v.reshape(-1)))
                if not _close(product, numerical, rtol, near):
                    whole = _analytical(outs, ins, k, np.inf)[i], _numerical(func, inputs, outs, eps)[i][k]
                    raise GradcheckError(_fast_mismatch("Jacobian mismatch", i, k, product, numerical, *whole))
            if forward_ad:
                t = _pushed(func, inputs, x, tensor_of(v))[k]
                product = float(np.dot(t._a.reshape(-1), u.reshape(-1)))
                if not _close(product, numerical, rtol, near):
                    whole = _forward_jacobian(func, inputs, k)[i], _numerical(func, inputs, outs, eps)[i][k]
                    kind = "Jacobian computed with forward mode mismatch"
                    raise GradcheckError(_fast_mismatch(kind, i, k, product, numerical, *whole))


def _fast_mismatch(
    kind: str, i: int, k: int, analytical: float, numerical: float, whole_analytical: Any, whole_numerical: Any
) -> str:
    """What is said of two products that differ: they, and the Jacobians whole."""
    a, b = np.asarray(whole_analytical), np.asarray(whole_numerical)
    return (
        f"{kind} for output {k} with respect to input {i},\nnumerical:{numerical}\nanalytical:{analytical}\n"
        "\nThe above quantities relating the numerical and analytical jacobians are computed \n"
        "in fast mode. See: https://github.com/pytorch/pytorch/issues/53876 for more background \n"
        "about fast mode. Below, we recompute numerical and analytical jacobians in slow mode:\n\n"
        f"Numerical:\n {tensor_of(b)!r}\nAnalytical:\n{tensor_of(a)!r}\n\n"
        f"The max per-element difference (slow mode) is: {float(np.abs(a - b).max()) if a.size else 0.0}.\n"
    )


def _pushed(func: Any, inputs: Any, x: Any, v: Any) -> list[Any]:
    """The tangents of the outputs for a tangent of one input."""
    level = levels.enter(True)
    try:
        args = tree_map(lambda t: forward.make_dual(t, v, level) if t is x else t, inputs)
        return [
            o.tangent.detach() if isinstance(o, forward.Dual) and o.level == level else o.new_zeros(tuple(o.shape))
            for o in _outputs(func(*args))
        ]
    finally:
        levels.leave(level)


def _check_batched_forward(func: Any, inputs: Any) -> None:
    """A batch of tangents must give what they give one by one."""
    from ..func.vmapping import vmap

    rng = np.random.default_rng(0)
    for x in tree_leaves(inputs):
        if not _differentiable(x):
            continue
        v = tensor_of(rng.standard_normal((2, *x._a.shape)).astype(x._a.dtype))
        together = vmap(lambda t, x=x: tuple(_pushed(func, inputs, x, t)))(v)
        for i in range(2):
            for a, b in zip(together, _pushed(func, inputs, x, v[i]), strict=True):
                if not _close(a._a[i], b._a, 1e-7, 1e-8):
                    raise GradcheckError("gradcheck failed while testing batched forward-mode gradient computation.")


def _check_batched(outs: Sequence[Any], ins: Sequence[Any]) -> None:
    """A batch of cotangents must give what they give one by one."""
    rng = np.random.default_rng(0)
    for o in outs:
        if not o.requires_grad:
            continue
        v = tensor_of(rng.standard_normal((2, *o._a.shape)).astype(o._a.dtype))
        together = _grad(o, ins, v, retain_graph=True, allow_unused=True, is_grads_batched=True)
        for i in range(2):
            alone = _grad(o, ins, v[i], retain_graph=True, allow_unused=True)
            for g, h in zip(together, alone, strict=True):
                if (g is None) != (h is None) or (g is not None and not _close(g._a[i], h._a, 1e-7, 1e-8)):
                    raise GradcheckError(
                        "gradcheck or gradgradcheck failed while testing batched gradient computation."
                    )


def _check_multiplied(outs: Sequence[Any], ins: Sequence[Any]) -> None:
    """Of cotangents that are zero nothing may come."""
    live = [o for o in outs if o.requires_grad]
    zeros = [tensor_of(np.zeros(o._a.shape, o._a.dtype)) for o in live]
    for g, x in zip(_grad(live, ins, zeros, allow_unused=True), ins, strict=True):
        if g is not None and g._a.any():
            raise GradcheckError("backward not multiplied by grad_output")
        if g is not None and g.dtype is not x.dtype:
            raise GradcheckError("grad is incorrect type")


def _check_undefined(func: Any, inputs: Any, outs: Sequence[Any], ins: Sequence[Any]) -> None:
    """Backward must take gradients that never come: what is left must not depend on them."""
    n = sum(o.requires_grad for o in outs)
    for missing in [range(n), *([k] for k in range(n) if n > 1)]:
        live = [o for o in _outputs(func(*inputs)) if o.requires_grad]
        live = [_Unasked.apply(o) if k in missing else o for k, o in enumerate(live)]
        zeros = [tensor_of(np.zeros(o._a.shape, o._a.dtype)) for o in live]
        try:
            got = _grad(live, ins, zeros, allow_unused=True)
        except RuntimeError as e:
            raise _undefined(
                "Expected backward function to handle undefined output grads. Please look at "
                '"Notes about undefined output gradients" in "tools/autograd/derivatives.yaml"'
            ) from e
        if any(g is not None and g._a.any() for g in got):
            raise _undefined(
                "Expected all input grads to be undefined or zero when all output grads are undefined or zero. Please "
                'look at "Notes about undefined output gradients" in "tools/autograd/derivatives.yaml"'
            )


def _undefined(text: str) -> GradcheckError:
    warnings.warn(
        "Backwards compatibility: New undefined gradient support checking feature is enabled by default, but it may "
        "break existing callers of this function. If this is true for you, you can call this function with "
        '"check_undefined_grad=False" to disable the feature',
        UserWarning,
        stacklevel=6,
    )
    return GradcheckError(text)


class _Unasked(Function):
    """What hands on no cotangent."""

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        return x.view_as(x)

    @staticmethod
    def backward(ctx: Any, g: Any) -> None:
        return None


def gradgradcheck(
    func: Callable[..., Any],
    inputs: Any,
    grad_outputs: Any = None,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    gen_non_contig_grad_outputs: bool = False,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    check_batched_grad: bool = False,
    check_fwd_over_rev: bool = False,
    check_rev_over_rev: bool = True,
    fast_mode: bool = False,
    masked: bool = False,
) -> bool:
    """Whether the second derivatives of `func` at `inputs` agree with finite differences of the first.

    `grad_outputs` are the weights of the first backward pass, random ones unless given. Source:
    torch.autograd.gradgradcheck.
    """
    if not (check_fwd_over_rev or check_rev_over_rev):
        raise AssertionError("Expected at least one of check_fwd_over_rev or check_rev_over_rev to be True")
    for name, asked in (("undefined", check_undefined_grad), ("batched", check_batched_grad)):
        if asked and not check_rev_over_rev:
            raise AssertionError(f"Setting check_{name}_grad=True requires check_rev_over_rev to be True")
    inputs = tuple(inputs) if isinstance(inputs, (tuple, list)) else (inputs,)
    if grad_outputs is None:
        from ..testing import make_tensor

        weights = [
            make_tensor(
                o.shape, dtype=o.dtype, device="cpu", low=-1, high=1, requires_grad=True,
                noncontiguous=gen_non_contig_grad_outputs,
            )
            for o in _outputs(func(*inputs)) if o.requires_grad
        ]  # fmt: skip
    else:
        weights = list(grad_outputs) if isinstance(grad_outputs, (tuple, list)) else [grad_outputs]
    n = len(weights)

    def first(*args: Any) -> Any:
        xs, ws = args[:-n] if n else args, args[-n:] if n else ()
        outs = [o for o in _outputs(func(*xs)) if o.requires_grad]
        ins = [x for x in tree_leaves(xs) if _differentiable(x)]
        pairs = list(zip(outs, ws, strict=True))
        got = _grad([o for o, _ in pairs], ins, [w for _, w in pairs], create_graph=True, allow_unused=True)
        return tuple(g for g in got if g is not None)

    return gradcheck(
        first, (*inputs, *weights), eps=eps, atol=atol, rtol=rtol, raise_exception=raise_exception,
        nondet_tol=nondet_tol, check_undefined_grad=check_undefined_grad, check_grad_dtypes=check_grad_dtypes,
        check_batched_grad=check_batched_grad, check_forward_ad=check_fwd_over_rev,
        check_backward_ad=check_rev_over_rev, fast_mode=fast_mode,
    )  # fmt: skip


class _Callable(types.ModuleType):
    """This module: importing it puts it in the place of the function of its name, whose work it therefore does."""

    def __call__(self, *args: Any, **kwargs: Any) -> bool:
        return gradcheck(*args, **kwargs)


sys.modules[__name__].__class__ = _Callable
