"""What PyTorch's torch.func has not: Hessian-vector products, Taylor coefficients, implicit differentiation."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from ..core.batch import Batched, CannotBatch
from ..core.forward import Dual
from ..core.modes import no_grad
from ..core.tensor import Tensor, tensor_of
from .jacobians import jacrev
from .transforms import grad, jvp

__all__ = ["hvp", "implicit", "taylor"]


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
