"""Matrices of derivatives, by rows or by columns: jacrev, jacfwd, jacobian, hessian. And what PyTorch's torch.func has not:
Hessian-vector products, Taylor coefficients, implicit differentiation. Source: torch.func."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..core import levels
from ..core.batch import Batched, CannotBatch, materialize, wrap
from ..core.forward import Dual
from ..core.levels import maps
from ..core.modes import no_grad, state
from ..core.tensor import Tensor, tensor_of
from ..utils._pytree import tree_flatten, tree_map, tree_unflatten
from .transforms import _pick, _put, check_differentiable, grad, jvp, vjp
from .vmapping import mapped, vmap


def _real(leaves: Sequence[Any], fn: str, what: str) -> None:
    for i, x in enumerate(leaves):
        if isinstance(x, Tensor) and x.dtype.is_complex:
            raise RuntimeError(
                f"{fn}: Expected all {what} to be real but received complex tensor at flattened input idx: {i}"
            )


def basis_of(leaves: Sequence[Any]) -> list[Any]:
    """For every leaf the one-hot tangents of all elements of all leaves, along a leading dimension."""
    total = sum(x.numel() for x in leaves)
    rows, at = [], 0
    for x in leaves:
        n = x.numel()
        rows.append(tensor_of(np.eye(total, n, -at, x.dtype.np).reshape((total, *tuple(x.shape)))))
        at += n
    return rows


def split_rows(rows: Any, leaves: Sequence[Any], dim: int) -> list[Any]:
    """A dimension over all elements of all leaves, cut into the leaves and given their shapes."""
    made, at = [], 0
    shape = tuple(rows.shape)
    for x in leaves:
        n = x.numel()
        part = rows if n == shape[dim] else rows.narrow(dim, at, n)
        made.append(part if x.ndim == 1 else part.reshape((*shape[:dim], *tuple(x.shape), *shape[dim + 1 :])))
        at += n
    return made


def _all_rows(pull: Callable[..., list[Any]], basis: Sequence[Any], total: int) -> Sequence[Any]:
    if total == 1:  # a gradient: no batch, and a graph of plain values for what differentiates it in turn
        return [g.unsqueeze(0) for g in pull([tensor_of(r._a.reshape(r._a.shape[1:])) for r in basis])]
    level = levels.enter()
    try:
        return [materialize(g, level, total) for g in pull([wrap(rows, level) for rows in basis])]
    except CannotBatch:
        pass
    finally:
        levels.leave(level)
    return vmap(lambda *rows: tuple(pull(rows)))(*basis)  # which runs the rows one by one, and says so


def jacrev(
    func: Callable[..., Any],
    argnums: int | tuple[int, ...] = 0,
    *,
    has_aux: bool = False,
    chunk_size: int | None = None,
    _preallocate_and_copy: bool = False,
) -> Callable[..., Any]:
    """The Jacobian by rows: one batched backward pass, a cotangent for every element of the output. Source:
    torch.func.jacrev."""
    if not (chunk_size is None or chunk_size > 0):
        raise ValueError("jacrev: `chunk_size` should be greater than 0.")

    @functools.wraps(func)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        picked = _pick(args, argnums)

        def partial(value: Any) -> Any:
            return func(*_put(args, argnums, value), **kwargs)

        got = vjp(partial, picked, has_aux=has_aux)
        out, vjp_fn = got[0], got[1]
        outs, out_spec = tree_flatten(out)
        ins, in_spec = tree_flatten(picked)
        _real(ins, "jacrev", "inputs")
        _real(outs, "jacrev", "outputs")
        basis = basis_of(outs)
        total = basis[0].shape[0] if basis else 0

        if total == 0:
            columns: Any = [x.new_zeros((0, *tuple(x.shape))) for x in ins]
        elif chunk_size is None or chunk_size >= total:
            columns = _all_rows(vjp_fn.pull, basis, total)
        else:
            columns = vmap(lambda *rows: tuple(vjp_fn.pull(rows)), chunk_size=chunk_size)(*basis)
        per_in = [split_rows(c, outs, 0) for c in columns]  # in -> out -> (*out, *in)
        result = tree_unflatten(
            [tree_unflatten([per_in[k][i] for k in range(len(ins))], in_spec) for i in range(len(outs))], out_spec
        )
        return (result, got[2]) if has_aux else result

    return wrapped


def jacfwd(
    func: Callable[..., Any], argnums: int | tuple[int, ...] = 0, has_aux: bool = False, *, randomness: str = "error"
) -> Callable[..., Any]:
    """The Jacobian by columns: one batched forward pass, a tangent for every element of the input. Source:
    torch.func.jacfwd."""

    @functools.wraps(func)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        picked = _pick(args, argnums)
        ins, in_spec = tree_flatten(picked)
        _real(ins, "jacfwd", "inputs")
        assert ins, "tensors must have at least one element"
        basis = basis_of(ins)
        spec_box: list[Any] = []

        def push(*rows: Any) -> Any:
            def partial(*values: Any) -> Any:
                return func(*_put(args, argnums, tree_unflatten(values, in_spec)), **kwargs)

            got = jvp(partial, tuple(ins), tuple(rows), has_aux=has_aux)
            leaves, spec = tree_flatten(got[1])
            _real(leaves, "jacfwd", "outputs")
            spec_box[:] = [spec, got[2] if has_aux else None]
            return tuple(leaves)

        moved = mapped(push, basis, randomness)
        jac = []
        for m in moved:
            parts = split_rows(m, ins, 0)  # (*in, *out) for every input
            jac.append(
                tree_unflatten(
                    [p.permute((*range(x.ndim, p.ndim), *range(x.ndim))) for p, x in zip(parts, ins, strict=True)],
                    in_spec,
                )
            )
        result = tree_unflatten(jac, spec_box[0])
        if has_aux:
            from ..core.batch import Batched as B

            aux = tree_map(lambda a: a.value[0] if isinstance(a, B) else a, spec_box[1])
            return result, aux
        return result

    return wrapped


def jacobian(
    func: Callable[..., Any], argnums: int | tuple[int, ...] = 0, *, sparse: bool = False
) -> Callable[..., Any]:  # fmt: skip
    """The Jacobian of a function, dense as by `jacrev`, or as a `scipy.sparse` array.

    Args:
        func: the function; for a sparse Jacobian from one tensor (and whatever else) to one tensor.
        argnums: with respect to which arguments; one, if sparse.
        sparse: find out which elements depend on which, and take as many derivatives as that needs: two instead of n
        for
            a chain of n elements of which each meets its neighbour. The result is (elements of the output, elements of
            the input).

    Not in PyTorch.

    >>> import tidu as torch
    >>> jac = torch.func.jacobian(lambda x: x[1:] * x[:-1], sparse=True)(torch.arange(4.))
    >>> jac.nnz, jac.shape
    (6, (3, 4))
    """
    return _sparse(func, argnums, "sparse_jacobian") if sparse else jacrev(func, argnums)


def _sparse(func: Callable[..., Any], argnums: int | tuple[int, ...], which: str) -> Callable[..., Any]:
    if not isinstance(argnums, int):
        raise ValueError("sparse derivatives are with respect to one argument: argnums must be an int")

    @functools.wraps(func)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        from . import sparsity

        return getattr(sparsity, which)(lambda x: func(*_put(args, argnums, x), **kwargs), _pick(args, argnums))

    return wrapped


def hessian(
    func: Callable[..., Any], argnums: int | tuple[int, ...] = 0, *, sparse: bool = False
) -> Callable[..., Any]:  # fmt: skip
    """The Hessian of a function: the Jacobian of its Jacobian. Source: torch.func.hessian.

    Reverse over reverse: the gradient is computed once, and one batched backward pass goes through it. Where the function
    turns recording off, which tangents pass through, it is forward over reverse, as PyTorch's always is. With `sparse`
    (not in PyTorch) a `scipy.sparse` array, by as many Hessian-vector products as there are colours; see `jacobian`.
    """
    if sparse:
        return _sparse(func, argnums, "sparse_hessian")

    @functools.wraps(func)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        ins = tree_flatten(_pick(args, argnums))[0]
        _real(ins, "jacfwd", "inputs")
        check_differentiable(ins, "primal")
        before = state.switched

        def recording(*a: Any, **k: Any) -> Any:
            maps.stack.append((-1, 1, "error"))  # PyTorch's vmap over the tangents
            try:
                out = func(*a, **k)
            finally:
                maps.stack.pop()
            if state.switched != before:
                raise _Switched
            return out

        try:
            return jacrev(jacrev(recording, argnums), argnums)(*args, **kwargs)
        except _Switched:
            return jacfwd(jacrev(func, argnums), argnums)(*args, **kwargs)

    return wrapped


class _Switched(Exception):
    """The function turned recording off."""


def hvp(func: Callable[..., Any], primals: Any, tangents: Any) -> Any:
    """The Hessian of a scalar function times a vector: forward mode over one backward pass.

    H v = d/dt grad f(x + t v) at t = 0.

    Args:
        func: a function of tensors that returns a scalar.
        primals: where, a tensor or a tuple of them (the function's arguments).
        tangents: the vector, in the structure of `primals`.

    Returns:
        H v in that structure. Not in PyTorch.

    >>> import tidu as torch
    >>> torch.func.hvp(lambda x: (x ** 3).sum(), torch.tensor([1., 2.]), torch.tensor([1., 1.]))
    tensor([ 6., 12.])
    """
    if not isinstance(primals, tuple):
        return jvp(grad(func), (primals,), (tangents,))[1]
    return jvp(grad(func, tuple(range(len(primals)))), primals, tangents)[1]


def taylor(func: Callable[[Any], Any], x: Any, v: Any, order: int) -> list[Any]:
    """The coefficients c_0 ... c_order of f(x + t v) = sum_k c_k t^k: c_k is the k-th directional derivative over k!.

    Forward mode nested `order` deep. Not in PyTorch.

    Args:
        func: a function of one tensor.
        x, v: the point and the direction.
        order: how many terms after the constant one.

    >>> import tidu as torch
    >>> torch.func.taylor(torch.exp, torch.tensor(0., dtype=torch.float64), torch.tensor(1., dtype=torch.float64), 3)[3]
    tensor(0.1667, dtype=torch.float64)
    """
    if order < 0:
        raise ValueError(f"taylor: expected order >= 0, got {order}")
    zero = x.new_zeros(())
    one = x.new_ones(())

    def line(t: Any) -> Any:
        return func(x + t * v)

    derivative, factorial, made = line, 1.0, [func(x)]
    for k in range(1, order + 1):
        derivative = _along(derivative, one)  # type: ignore[assignment]
        factorial *= k
        made.append(derivative(zero) / factorial)
    return made


def _along(f: Callable[[Any], Any], one: Any) -> Callable[[Any], Any]:
    return lambda t: jvp(f, (t,), (one,))[1]


def implicit(
    solver: Callable[..., Any], residual: Callable[..., Any], *, order: int = 2
) -> Callable[..., Any]:  # fmt: skip
    """A solver made differentiable: the function of `params` whose value x solves residual(x, *params) = 0.

    The derivatives are those of the equation, not of the solver's steps: dx = -(dF/dx)^-1 dF/dparams. They come from
    Newton steps at the solution, of which k give all derivatives up to order 2^k - 1. So roots, fixed points
    (residual g(x) - x), minima (residual grad of the objective) and linear systems are all the same to it.

    Args:
        solver: from the values of `params` (tensors without a graph) to x, a tensor or array; SciPy's will do.
        residual: from x and `params` to a tensor of x's shape, differentiable.
        order: how often the result is to be differentiated.

    Returns:
        A function of `params`, to be used under backward, forward mode and every transform. Not in PyTorch.

    >>> import tidu as torch
    >>> root = torch.func.implicit(lambda a: a.sqrt(), lambda x, a: x * x - a)
    >>> a = torch.tensor([4., 9.], dtype=torch.float64)
    >>> torch.func.grad(lambda a: root(a).sum())(a)
    tensor([0.2500, 0.1667], dtype=torch.float64)
    """
    steps = max(1, int(np.ceil(np.log2(order + 1))))

    @functools.wraps(solver)
    def solve(*params: Any) -> Any:
        with no_grad():
            x = solver(*[_numbers(p) for p in params])
        x = x.detach() if isinstance(x, Tensor) else tensor_of(np.asarray(x))
        for _ in range(steps):
            x = x - _newton(residual, x, params)
        return x

    return solve


def _newton(residual: Callable[..., Any], x: Any, params: tuple[Any, ...]) -> Any:
    """The step J^-1 F(x) of a system of as many equations as unknowns."""
    shape, n = tuple(x.shape), x.numel()
    value = residual(x, *params)
    if tuple(value.shape) != shape:
        raise ValueError(
            f"implicit: the residual must have the shape of the solution, {shape}, but has {tuple(value.shape)}"
        )
    jac = jacrev(residual)(x, *params).reshape((n, n))
    from ..linalg import solve

    return solve(jac, value.reshape((n,))).reshape(shape)


def _numbers(p: Any) -> Any:
    """A parameter as the solver sees it: a value, without graph or tangents."""
    while isinstance(p, Dual):
        p = p.primal
    if isinstance(p, Batched):
        raise CannotBatch("the solver of func.implicit")
    return p.detach() if isinstance(p, Tensor) else p
