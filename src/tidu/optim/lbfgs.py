"""L-BFGS. Source: torch.optim.LBFGS. And SciPy's minimisers for losses of tensors: value, gradient and Hessian-vector products
come from autograd."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..autograd import grad
from ..core.modes import enable_grad, no_grad, set_record
from ..core.tensor import Tensor, tensor_of
from ._arrays import number
from .optimizer import Optimizer, ParamsT

__all__ = ["LBFGS", "least_squares", "minimize"]

Array = np.ndarray[Any, Any]


def _cubic(x1: Any, f1: Any, g1: Any, x2: Any, f2: Any, g2: Any, bounds: Any = None) -> Any:
    """Where the cubic through two points with these values and slopes is least, within bounds."""
    low, high = bounds if bounds is not None else ((x1, x2) if x1 <= x2 else (x2, x1))
    d1 = g1 + g2 - 3 * (f1 - f2) / (x1 - x2)
    square = d1**2 - g1 * g2
    if not square >= 0:
        return (low + high) / 2.0
    d2 = square**0.5
    if x1 <= x2:
        at = x2 - (x2 - x1) * ((g2 + d2 - d1) / (g2 - g1 + 2 * d2))
    else:
        at = x1 - (x1 - x2) * ((g1 + d2 - d1) / (g1 - g2 + 2 * d2))
    return min(max(at, low), high)


def _strong_wolfe(
    evaluate: Callable[[Any], tuple[float, Array]], t: Any, d: Array, f: float, g: Array, slope: Any,
    c1: float = 1e-4, c2: float = 0.9, tolerance: float = 1e-9, max_ls: int = 25,
) -> tuple[float, Array, Any, int]:  # fmt: skip
    """A step along `d` that lowers the value and flattens the slope enough.

    Args:
        evaluate: value and gradient at a step.
        t: the first step to try.
        f, g, slope: value, gradient, and slope along d at step 0.
    """
    d_norm = np.abs(d).max()
    # First find an interval that holds such a step: (step, value, gradient, slope) at both ends.
    f_new, g_new = evaluate(t)
    evals = 1
    s_new = g_new @ d
    last: Any = (0, f, g, slope)
    done, at = False, 0
    bracket: list[Any] = []
    while at < max_ls:
        now = (t, f_new, g_new, s_new)
        if f_new > (f + c1 * t * slope) or (at > 1 and f_new >= last[1]):
            bracket = [last, now]
            break
        if abs(s_new) <= -c2 * slope:
            bracket, done = [now], True
            break
        if s_new >= 0:
            bracket = [last, now]
            break
        nearest, farthest = t + 0.01 * (t - last[0]), t * 10
        t_next = _cubic(last[0], last[1], last[3], t, f_new, s_new, bounds=(nearest, farthest))
        last = (t, f_new, g_new.copy(), s_new)
        t = t_next
        f_new, g_new = evaluate(t)
        evals += 1
        s_new = g_new @ d
        at += 1
    if at == max_ls:
        bracket = [(0, f, g, slope), (t, f_new, g_new, s_new)]
    # Then narrow it.
    stuck = False
    low, high = (0, 1) if bracket[0][1] <= bracket[-1][1] else (1, 0)
    while not done and at < max_ls:
        (t0, f0, _, s0), (t1, f1, _, s1) = bracket
        if abs(t1 - t0) * d_norm < tolerance:
            break
        t = _cubic(t0, f0, s0, t1, f1, s1)
        lower, upper = min(t0, t1), max(t0, t1)
        edge = 0.1 * (upper - lower)
        if min(upper - t, t - lower) < edge:
            if stuck or t >= upper or t <= lower:
                t = upper - edge if abs(t - upper) < abs(t - lower) else lower + edge
                stuck = False
            else:
                stuck = True
        else:
            stuck = False
        f_new, g_new = evaluate(t)
        evals += 1
        s_new = g_new @ d
        at += 1
        now = (t, f_new, g_new.copy(), s_new)
        if f_new > (f + c1 * t * slope) or f_new >= bracket[low][1]:
            bracket[high] = now
            low, high = (0, 1) if bracket[0][1] <= bracket[1][1] else (1, 0)
        else:
            if abs(s_new) <= -c2 * slope:
                done = True
            elif s_new * (bracket[high][0] - bracket[low][0]) >= 0:
                bracket[high] = bracket[low]
            bracket[low] = now
    t, f_new, g_new, _ = bracket[low if len(bracket) > 1 else 0]
    return f_new, g_new, t, evals


class LBFGS(Optimizer):
    """A quasi-Newton method: the inverse Hessian from the last `history_size` changes of gradient and parameters.

    `step` needs a closure, which it calls several times.

    Args:
        params: the parameters, in one group.
        lr: the step size.
        max_iter, max_eval: the most iterations and evaluations a step.
        tolerance_grad, tolerance_change: stop when gradient or change is smaller.
        history_size: how many changes to remember.
        line_search_fn: None or "strong_wolfe".
    """

    def __init__(
        self, params: ParamsT, lr: Any = 1, max_iter: int = 20, max_eval: int | None = None,
        tolerance_grad: float = 1e-7, tolerance_change: float = 1e-9, history_size: int = 100,
        line_search_fn: str | None = None,
    ) -> None:  # fmt: skip
        if isinstance(lr, Tensor) and lr.numel() != 1:
            raise ValueError("Tensor lr must be 1-element")
        if not 0.0 <= lr:
            raise ValueError(f"Invalid learning rate: {lr}")
        if max_eval is None:
            max_eval = max_iter * 5 // 4
        super().__init__(
            params,
            {
                "lr": lr, "max_iter": max_iter, "max_eval": max_eval, "tolerance_grad": tolerance_grad,
                "tolerance_change": tolerance_change, "history_size": history_size, "line_search_fn": line_search_fn,
            },
        )  # fmt: skip
        if len(self.param_groups) != 1:
            raise ValueError("LBFGS doesn't support per-parameter options (parameter groups)")
        self._params = self.param_groups[0]["params"]

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self._params = self.param_groups[0]["params"]

    # ---------------------------------------------------------------- parameters as one vector

    def _gradient(self) -> Array:
        parts = [
            np.zeros(p._a.size, p._a.dtype) if p._grad is None else p._grad.to_dense()._a.reshape(-1)
            for p in self._params
        ]
        flat = np.concatenate([_real(a) for a in parts])
        return flat

    def _move(self, t: Any, d: Array) -> None:
        at = 0
        for p in self._params:
            real = p._a.real.dtype if p._a.dtype.kind == "c" else p._a.dtype
            n = p._a.size * (2 if p._a.dtype.kind == "c" else 1)
            part = (d[at : at + n] * t).astype(real, copy=False)
            p._a += part.view(p._a.dtype).reshape(p._a.shape)
            p._v[0] += 1
            at += n

    def _put(self, values: list[Array]) -> None:
        for p, a in zip(self._params, values, strict=True):
            p._a[...] = a
            p._v[0] += 1

    # ---------------------------------------------------------------- the step

    def step(self, closure: Callable[[], Any]) -> Any:  # type: ignore[override]
        """Iterate until a tolerance or a limit is met.

        Args:
            closure: computes the loss and its gradients, and returns the loss.
        """
        was = set_record(False)
        try:
            return self._step(closure)
        finally:
            set_record(was)

    def _step(self, closure: Callable[[], Any]) -> Any:
        group = self.param_groups[0]
        lr, tolerance_change = number(group["lr"]), group["tolerance_change"]
        entry = self.state[self._params[0]]
        entry.setdefault("func_evals", 0)
        entry.setdefault("n_iter", 0)

        def loss_of() -> Any:
            with enable_grad():
                return closure()

        first = loss_of()
        loss = float(first)
        evals = 1
        entry["func_evals"] += 1
        g = self._gradient()
        flat = np.abs(g).max() <= group["tolerance_grad"]
        if flat:
            return first
        d, t = _array(entry.get("d")), entry.get("t")
        ys = [_array(y) for y in entry.get("old_dirs") or []]
        ss = [_array(s) for s in entry.get("old_stps") or []]
        ro = [_array(r) for r in entry.get("ro") or []]
        h: Any = _array(entry.get("H_diag"))
        before, loss_before = _array(entry.get("prev_flat_grad")), entry.get("prev_loss")
        t = _array(t)
        n = 0
        while n < group["max_iter"]:
            n += 1
            entry["n_iter"] += 1
            if entry["n_iter"] == 1:
                d, ys, ss, ro, h = -g, [], [], [], 1
            else:
                y, s = g - before, d * t
                product = y @ s
                if product > 1e-10:
                    if len(ys) == group["history_size"]:
                        for old in (ys, ss, ro):
                            old.pop(0)
                    ys.append(y)
                    ss.append(s)
                    ro.append(1.0 / product)
                    h = product / (y @ y)
                d, al = _direction(g, ys, ss, ro, h)
                kept = entry.setdefault("al", [None] * group["history_size"])
                kept[: len(al)] = map(_tensor, al)
            before, loss_before = g.copy(), loss
            t = min(1.0, 1.0 / np.abs(g).sum()) * lr if entry["n_iter"] == 1 else lr
            slope = g @ d
            if slope > -tolerance_change:
                break
            spent = 0
            if group["line_search_fn"] is not None:
                if group["line_search_fn"] != "strong_wolfe":
                    raise RuntimeError("only 'strong_wolfe' is supported")
                here = [p._a.copy() for p in self._params]

                def evaluate(step: Any, here: Any = here, d: Array = d) -> tuple[float, Array]:
                    self._move(step, d)
                    value = float(loss_of())
                    gradient = self._gradient()
                    self._put(here)
                    return value, gradient

                loss, g, t, spent = _strong_wolfe(evaluate, t, d, loss, g, slope, max_ls=group["max_eval"] - evals)
                self._move(t, d)
                flat = np.abs(g).max() <= group["tolerance_grad"]
            else:
                self._move(t, d)
                if n != group["max_iter"]:
                    loss = float(loss_of())
                    g = self._gradient()
                    flat = np.abs(g).max() <= group["tolerance_grad"]
                    spent = 1
            evals += spent
            entry["func_evals"] += spent
            if (
                n == group["max_iter"] or evals >= group["max_eval"] or flat
                or np.abs(d * t).max() <= tolerance_change or abs(loss - loss_before) < tolerance_change
            ):  # fmt: skip
                break
        entry.update(
            d=_tensor(d), t=_tensor(t), old_dirs=[_tensor(y) for y in ys], old_stps=[_tensor(s) for s in ss],
            ro=[_tensor(r) for r in ro], H_diag=_tensor(h), prev_flat_grad=_tensor(before), prev_loss=loss_before,
        )  # fmt: skip
        return first


def _direction(g: Array, ys: list[Any], ss: list[Any], ro: list[Any], h: Any) -> tuple[Array, list[Any]]:
    q = -g
    al: list[Any] = [None] * len(ys)
    for i in range(len(ys) - 1, -1, -1):
        al[i] = (ss[i] @ q) * ro[i]
        q = q - al[i] * ys[i]
    r = q * h
    for i in range(len(ys)):
        r = r + (al[i] - (ys[i] @ r) * ro[i]) * ss[i]
    return r, al


def _real(a: Array) -> Array:
    if a.dtype.kind != "c":
        return a
    return np.ascontiguousarray(a).view(np.float32 if a.dtype == np.complex64 else np.float64)


def _array(x: Any) -> Any:
    return x._a[()] if isinstance(x, Tensor) else x


def _tensor(x: Any) -> Any:
    return tensor_of(np.asarray(x)) if isinstance(x, (np.ndarray, np.generic)) else x


_SECOND_ORDER = ("Newton-CG", "trust-ncg", "trust-krylov", "trust-constr")
_NO_GRADIENT = ("Nelder-Mead", "Powell", "COBYLA", "COBYQA")


class _Flat:
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
