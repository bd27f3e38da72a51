"""SciPy's minimisers for losses of tensors: value, gradient and Hessian-vector products come from autograd."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..autograd import grad
from ..core.modes import enable_grad, no_grad
from ..core.tensor import Tensor, tensor_of

__all__ = ["least_squares", "minimize"]

_SECOND_ORDER = ("Newton-CG", "trust-ncg", "trust-krylov", "trust-constr")
_NO_GRADIENT = ("Nelder-Mead", "Powell", "COBYLA", "COBYQA")


class _Flat:
    """Parameters as one vector of float64."""

    def __init__(self, params: Any) -> None:
        self.params = [params] if isinstance(params, Tensor) else list(params)
        if not self.params:
            raise ValueError("minimize got an empty parameter list")
        for p in self.params:
            if not p.dtype.is_floating_point:
                raise TypeError(f"minimize takes real floating-point parameters, not {p.dtype}")
        self.sizes = [p._a.size for p in self.params]

    def get(self) -> np.ndarray[Any, Any]:
        return np.concatenate([p._a.astype(np.float64).reshape(-1) for p in self.params])

    def put(self, x: np.ndarray[Any, Any]) -> None:
        for p, part in zip(self.params, self.split(x), strict=True):
            p._a[...] = part.reshape(p._a.shape)
            p._v[0] += 1

    def split(self, x: np.ndarray[Any, Any]) -> list[np.ndarray[Any, Any]]:
        return np.split(x, np.cumsum(self.sizes)[:-1])

    def join(self, parts: Sequence[Any]) -> np.ndarray[Any, Any]:
        pairs = zip(parts, self.params, strict=True)
        return np.concatenate(
            [np.zeros(p._a.size) if g is None else g._a.astype(np.float64).reshape(-1) for g, p in pairs]
        )


def minimize(
    loss: Callable[[], Any], params: Any, *, method: str = "L-BFGS-B", bounds: Any = None, constraints: Any = (),
    tol: float | None = None, options: dict[str, Any] | None = None, callback: Callable[..., Any] | None = None,
) -> Any:  # fmt: skip
    """Minimise a loss over parameters by `scipy.optimize.minimize`. They end at the minimum found.

    Args:
        loss: computes the loss (one number) from the parameters as they are.
        params: the tensors to change; leaves that want gradients.
        method: any of SciPy's. Those that use Hessians get Hessian-vector products.
        bounds, constraints, tol, options, callback: SciPy's; bounds and constraints are over all parameters as one
            vector.

    Returns:
        SciPy's result, its `x` all parameters as one vector.

    >>> import tidu as torch
    >>> x = torch.tensor([3., -1.], requires_grad=True)
    >>> minimize(lambda: ((x - torch.tensor([1., 2.])) ** 2).sum(), x).success
    True
    >>> x.data.round()
    tensor([1., 2.])
    """
    from scipy import optimize

    flat = _Flat(params)

    def value_of(x: Any) -> Any:
        flat.put(x)
        with enable_grad():
            return loss()

    def value_and_gradient(x: Any) -> tuple[float, Any]:
        out = value_of(x)
        gradients = grad(out, flat.params, allow_unused=True)
        return out.item(), flat.join(gradients)

    def hessian_times(x: Any, v: Any) -> Any:
        out = value_of(x)
        parts = [
            tensor_of(part.reshape(p._a.shape).astype(p._a.dtype))
            for part, p in zip(flat.split(np.asarray(v, np.float64).reshape(-1)), flat.params, strict=True)
        ]
        first = grad(out, flat.params, create_graph=True, allow_unused=True)
        pairs = [(g, v_) for g, v_ in zip(first, parts, strict=True) if g is not None and g.requires_grad]
        if not pairs:
            return np.zeros_like(x)
        second = grad([g for g, _ in pairs], flat.params, [v_ for _, v_ in pairs], allow_unused=True)
        return flat.join(second)

    more: dict[str, Any] = {}
    if method in _SECOND_ORDER:
        more["hessp"] = hessian_times
    by_value = method in _NO_GRADIENT
    result = optimize.minimize(
        (lambda x: float(value_of(x).detach())) if by_value else value_and_gradient, flat.get(), jac=None if by_value else True,
        method=method, bounds=bounds, constraints=constraints, tol=tol, options=options, callback=callback, **more,
    )  # fmt: skip
    with no_grad():
        flat.put(result.x)
    return result


def least_squares(residuals: Callable[[], Any], params: Any, **options: Any) -> Any:
    """Minimise the sum of squares of residuals over parameters by `scipy.optimize.least_squares`.

    Args:
        residuals: computes them, a tensor, from the parameters as they are.
        params: the tensors to change; leaves that want gradients.
        options: SciPy's: method, bounds, loss, ...

    Returns:
        SciPy's result.
    """
    from scipy import optimize

    flat = _Flat(params)

    def residuals_at(x: Any) -> Any:
        flat.put(x)
        with enable_grad():
            return residuals().reshape(-1)

    def jacobian(x: Any) -> Any:
        r = residuals_at(x)
        rows = []
        for i in range(r.numel()):
            pick = tensor_of(np.eye(1, r.numel(), i, dtype=r._a.dtype)[0])
            rows.append(flat.join(grad(r, flat.params, pick, retain_graph=True, allow_unused=True)))
        return np.array(rows)

    result = optimize.least_squares(
        lambda x: residuals_at(x).detach()._a.astype(np.float64), flat.get(), jac=jacobian, **options
    )
    with no_grad():
        flat.put(result.x)
    return result
