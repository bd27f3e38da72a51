"""Jacobians, Hessians and products with them, of functions of tensors. Source: torch.autograd.functional."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..core.modes import enable_grad, state
from ..core.subclass import Special
from ..core.tensor import Tensor, set_requires_grad
from .backward import grad as _grad

__all__ = ["hessian", "hvp", "jacobian", "jvp", "vhp", "vjp"]


# ------------------------------------------------------------------ inputs and outputs


def _as_tuple(x: Any, arg: str, fn: str) -> tuple[bool, tuple[Any, ...]]:
    """Whether `x` was a tuple already, and it as one; TypeError for what holds no tensors."""
    single = not isinstance(x, tuple)
    t = (x,) if single else x
    for i, v in enumerate(t):
        if not isinstance(v, Tensor):
            which = f"given {arg}" if single else f"value at index {i}"
            raise TypeError(
                f"The {arg} given to {fn} must be either a Tensor or a tuple of Tensors but the {which} has type "
                f"{type(v)}."
            )
    return not single, t


def _prepare(inputs: Sequence[Tensor], create_graph: bool, need_graph: bool) -> tuple[Any, ...]:
    """Inputs that the function may be differentiated at: views of the given ones when a graph is wanted, else
    leaves."""
    if any(isinstance(x, Special) for x in inputs):
        from ..core.batch import levels_of
        from ..func.transforms import fresh, spread

        batches = levels_of(inputs)
        return tuple(fresh(spread(x, batches)) for x in inputs)
    made = []
    for x in inputs:
        own = not create_graph or (need_graph and not x.requires_grad)
        made.append(x.detach() if own else x.view_as(x))
        if own and need_graph:
            set_requires_grad(made[-1], True, method=True)
    return tuple(made)


def _finish(values: Any, create_graph: bool) -> Any:
    if isinstance(values, tuple):
        return tuple(_finish(v, create_graph) for v in values)
    return values if create_graph else values.detach()


def _unpack(was_tuple: Any, values: tuple[Any, ...]) -> Any:
    if isinstance(was_tuple, tuple):
        was_tuple, inner = was_tuple
        values = tuple(v if inner else v[0] for v in values)
    return values if was_tuple else values[0]


def _vectors(v: Any, fn: str, other: Sequence[Any], is_other_tuple: bool, create_graph: bool, which: str) -> Any:
    """The vectors to multiply with, of the sizes of what they meet; ones for a single number."""
    if v is None:
        if len(other) != 1 or other[0].nelement() != 1:
            raise RuntimeError(f"The vector v can only be None if the {which} a single Tensor with a single element.")
        return (other[0].new_ones(tuple(other[0].shape)),)
    v = _prepare(_as_tuple(v, "v", fn)[1], create_graph, False)
    if len(other) != len(v):
        if is_other_tuple:
            raise RuntimeError(f"v is a tuple of invalid length: should be {len(other)} but got {len(v)}.")
        raise RuntimeError("The given v should contain a single Tensor.")
    for i, (a, b) in enumerate(zip(v, other, strict=True)):
        if a.size() != b.size():
            what = f"Entry {i} in " if is_other_tuple else ""
            raise RuntimeError(f"{what}v has invalid size: should be {b.size()} but got {a.size()}.")
    return v


def _strict_outputs(outs: Sequence[Any], stage: str, strict: bool) -> None:
    """In strict mode everything must depend on the inputs."""
    if not strict:
        return
    for i, o in enumerate(outs):
        if o is None:
            raise RuntimeError(
                f"The output of the user-provided function is independent of input {i}. This is not allowed in "
                "strict mode."
            )
        if o.requires_grad:
            continue
        raise RuntimeError(
            {
                "outputs": f"Output {i} of the user-provided function does not require gradients. The outputs must be "
                "computed in a differentiable manner from the input when running in strict mode.",
                "grad_inputs": f"The gradient with respect to input {i} is independent of the inputs of the "
                "user-provided function. This is not allowed in strict mode.",
                "jacobian": "While computing the hessian, found that the jacobian of the user-provided function with "
                f"respect to input {i} is independent of the input. This is not allowed in strict mode. You should "
                "ensure that your function is twice differentiable and that the jacobian depends on the inputs (this "
                "would be violated by a linear function for example).",
            }[stage]
        )


def _grads(
    outputs: Sequence[Any], inputs: Sequence[Any], weights: Any = None, create_graph: bool = False, keep: Any = None
) -> tuple[Any, ...]:
    """`autograd.grad` for outputs of which some may not require grad; None where there is no way."""
    weights = (None,) * len(outputs) if weights is None else weights
    pairs = [(o, w) for o, w in zip(outputs, weights, strict=True) if o is not None and o.requires_grad]
    if not pairs:
        return (None,) * len(inputs)
    outs, ws = zip(*pairs, strict=True)
    return _grad(outs, inputs, ws, allow_unused=True, create_graph=create_graph, retain_graph=keep)


def _fill(grads: Sequence[Any], refs: Sequence[Any], strict: bool, create_graph: bool, stage: str) -> tuple[Any, ...]:
    made = []
    for i, (g, r) in enumerate(zip(grads, refs, strict=True)):
        if g is None:
            if strict:
                raise RuntimeError(
                    {
                        "back": "The output of the user-provided function is independent of input {}. This is not "
                        "allowed in strict mode.",
                        "back_trick": "The gradient with respect to the input is independent of entry {} in the "
                        "grad_outputs when using the double backward trick to compute forward mode gradients. This is "
                        "not allowed in strict mode.",
                        "double_back": "The jacobian of the user-provided function is independent of input {}. This is "
                        "not allowed in strict mode.",
                        "double_back_trick": "The hessian of the user-provided function is independent of entry {} in "
                        "the grad_jacobian. This is not allowed in strict mode as it prevents from using the double "
                        "backward trick to replace forward mode AD.",
                    }[stage].format(i)
                )
            g = r.new_zeros(tuple(r.shape))
        elif strict and create_graph and not g.requires_grad:
            which = "jacobian" if "double" not in stage else "hessian"
            raise RuntimeError(
                f"The {which} of the user-provided function is independent of input {i}. This is not allowed in strict "
                "mode when create_graph=True."
            )
        made.append(g)
    return tuple(made)


# ------------------------------------------------------------------ products


def vjp(func: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False) -> Any:
    """func(inputs), and v^T J for its Jacobian J. Source: torch.autograd.functional.vjp."""
    with enable_grad():
        is_in, ins = _as_tuple(inputs, "inputs", "vjp")
        ins = _prepare(ins, create_graph, True)
        is_out, outs = _as_tuple(func(*ins), "outputs of the user-provided function", "vjp")
        _strict_outputs(outs, "outputs", strict)
        vs = _vectors(v, "vjp", outs, is_out, create_graph, "user-provided function returns")
        on = create_graph or state.grad
        got = _grads(outs, ins, vs, create_graph=create_graph if on else False)
        got = _fill(got, ins, strict, create_graph, "back")
    return _unpack(is_out, _finish(outs, create_graph)), _unpack(is_in, _finish(got, create_graph))


def jvp(func: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False) -> Any:
    """func(inputs), and J v for its Jacobian J, by differentiating v^T J twice. Source:
    torch.autograd.functional.jvp."""
    with enable_grad():
        is_in, ins = _as_tuple(inputs, "inputs", "jvp")
        ins = _prepare(ins, create_graph, True)
        vs = _vectors(v, "jvp", ins, is_in, create_graph, "input to the user-provided function is")
        is_out, outs = _as_tuple(func(*ins), "outputs of the user-provided function", "jvp")
        _strict_outputs(outs, "outputs", strict)
        weights = tuple(o.new_zeros(tuple(o.shape)).requires_grad_() for o in outs)
        back = _grads(outs, ins, weights, create_graph=True)
        _strict_outputs(back, "grad_inputs", strict)
        got = _grads(back, weights, vs, create_graph=create_graph)
        got = _fill(got, outs, strict, create_graph, "back_trick")
    return _unpack(is_out, _finish(outs, create_graph)), _unpack(is_out, _finish(got, create_graph))


def _scalar(outs: Sequence[Any], is_out: bool, fn: str) -> None:
    if is_out or not isinstance(outs[0], Tensor):
        raise RuntimeError(f"The function given to {fn} should return a single Tensor")
    if outs[0].nelement() != 1:
        raise RuntimeError(f"The Tensor returned by the function given to {fn} should contain a single element")


def vhp(func: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False) -> Any:
    """func(inputs), and v^T H for its Hessian H. Source: torch.autograd.functional.vhp."""
    return _hessian_product("vhp", func, inputs, v, create_graph, strict)


def hvp(func: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False) -> Any:
    """func(inputs), and H v for its Hessian H. Source: torch.autograd.functional.hvp."""
    return _hessian_product("hvp", func, inputs, v, create_graph, strict)


def _hessian_product(name: str, func: Callable[..., Any], inputs: Any, v: Any, create_graph: bool, strict: bool) -> Any:
    with enable_grad():
        is_in, ins = _as_tuple(inputs, "inputs", name)
        ins = _prepare(ins, create_graph, True)
        vs = _vectors(v, name, ins, is_in, create_graph, "input to the user-provided function is")
        is_out, outs = _as_tuple(func(*ins), "outputs of the user-provided function", name)
        _scalar(outs, is_out, name)
        _strict_outputs(outs, "outputs", strict)
        jac = _grads(outs, ins, create_graph=True)
        _strict_outputs(jac, "jacobian", strict)
        if name == "vhp":
            got = _grads(jac, ins, vs, create_graph=create_graph)
            got = _fill(got, ins, strict, create_graph, "double_back")
        else:
            weights = tuple(x.new_zeros(tuple(x.shape)).requires_grad_() for x in ins)
            back = _grads(jac, ins, weights, create_graph=True)
            got = _grads(back, weights, vs, create_graph=create_graph)
            got = _fill(got, ins, strict, create_graph, "double_back_trick")
    return _unpack(is_out, _finish(outs, create_graph)), _unpack(is_in, _finish(got, create_graph))


# ------------------------------------------------------------------ matrices


def jacobian(
    func: Callable[..., Any],
    inputs: Any,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    strategy: str = "reverse-mode",
) -> Any:
    """The Jacobian of a function: for every output and input a tensor of shape output.shape + input.shape.

    `strategy` "forward-mode" (with `vectorize`) takes it by columns instead of rows. Source:
    torch.autograd.functional.jacobian.
    """
    if strategy not in ("forward-mode", "reverse-mode"):
        raise AssertionError(
            'Expected strategy to be either "forward-mode" or "reverse-mode". Hint: If your function has more outputs '
            'than inputs, "forward-mode" tends to be more performant. Otherwise, prefer to use "reverse-mode".'
        )
    if strategy == "forward-mode":
        if create_graph:
            raise NotImplementedError(
                'torch.autograd.functional.jacobian: `create_graph=True` and `strategy="forward-mode"` are not '
                'supported together (yet). Please either set `create_graph=False` or `strategy="reverse-mode"`.'
            )
        return _jacobian_forward(func, inputs, strict, vectorize)
    with enable_grad():
        is_in, ins = _as_tuple(inputs, "inputs", "jacobian")
        ins = _prepare(ins, create_graph, True)
        is_out, outs = _as_tuple(func(*ins), "outputs of the user-provided function", "jacobian")
        _strict_outputs(outs, "outputs", strict)
        if vectorize and strict:
            raise RuntimeError(
                "torch.autograd.functional.jacobian: `strict=True` and `vectorized=True` are not supported together. "
                "Please either set `strict=False` or `vectorize=False`."
            )
        if vectorize:
            jac = _rows_at_once(outs, ins, create_graph)
        else:
            jac = tuple(_rows(i, o, ins, create_graph, strict) for i, o in enumerate(outs))
    return _unpack((is_out, is_in), _finish(jac, create_graph))


def _rows(i: int, out: Any, ins: Sequence[Any], create_graph: bool, strict: bool) -> tuple[Any, ...]:
    """One output's Jacobian, a backward pass an element."""
    from ..ops.joining import stack

    columns: list[list[Any]] = [[] for _ in ins]
    flat = out.reshape((-1,))
    for j in range(out.nelement()):
        got = _grads((flat[j],), ins, create_graph=create_graph, keep=True)
        for k, (x, g) in enumerate(zip(ins, got, strict=True)):
            if g is None:
                if strict:
                    raise RuntimeError(
                        f"Output {i} of the user-provided function is independent of input {k}. This is not allowed in "
                        "strict mode."
                    )
                g = x.new_zeros(tuple(x.shape))
            elif strict and create_graph and not g.requires_grad:
                raise RuntimeError(
                    f"The jacobian of the user-provided function is independent of input {k}. This is not allowed in "
                    "strict mode when create_graph=True."
                )
            columns[k].append(g)
    made = []
    for x, rows in zip(ins, columns, strict=True):
        shape = (*out.shape, *x.shape)
        made.append(stack(rows).reshape(shape) if rows else x.new_zeros(shape))
    return tuple(made)


def _rows_at_once(outs: Sequence[Any], ins: Sequence[Any], create_graph: bool) -> tuple[Any, ...]:
    """All Jacobians by one backward pass, a batch of the one-hot cotangents of all outputs."""
    from ..func.jacobians import basis_of, split_rows

    live = [k for k, o in enumerate(outs) if o.requires_grad and o.nelement()]
    basis = basis_of([outs[k] for k in live]) if live else []
    got: Sequence[Any] = [None] * len(ins)
    if live:
        got = _grad(
            [outs[k] for k in live], ins, basis, retain_graph=True, create_graph=create_graph, allow_unused=True,
            is_grads_batched=True,
        )  # fmt: skip
    columns = [
        None if g is None else dict(zip(live, split_rows(g, [outs[k] for k in live], 0), strict=True)) for g in got
    ]
    return tuple(
        tuple(
            x.new_zeros((*o.shape, *x.shape)) if column is None or k not in column else column[k]
            for x, column in zip(ins, columns, strict=True)
        )
        for k, o in enumerate(outs)
    )


def _jacobian_forward(func: Callable[..., Any], inputs: Any, strict: bool, vectorize: bool) -> Any:
    """By columns: one forward pass, a batch of the one-hot tangents of all inputs."""
    if strict:
        raise RuntimeError(
            'torch.autograd.functional.jacobian: `strict=True` and `strategy="forward-mode"` are not supported together '
            '(yet). Please either set `strict=False` or `strategy="reverse-mode"`.'
        )
    if not vectorize:
        raise NotImplementedError(
            "Computing Jacobian using forward-AD or forward-over-reverse Hessian isonly implemented for "
            "`vectorize=True`."
        )
    from ..func.jacobians import basis_of, jvp, split_rows, vmap

    is_in, ins = _as_tuple(inputs, "inputs", "jacobian")
    is_out = False

    def push(*tangents: Any) -> Any:
        def tupled(*args: Any) -> Any:
            nonlocal is_out
            is_out, outs = _as_tuple(func(*args), "outputs of the user-provided function", "jacobian")
            return outs

        return jvp(tupled, ins, tangents)[1]

    moved = vmap(push)(*basis_of(ins))
    jac = [
        [p.permute((*range(x.ndim, p.ndim), *range(x.ndim))) for p, x in zip(split_rows(m, ins, 0), ins, strict=True)]
        for m in moved
    ]
    rows = [row if is_in else row[0] for row in jac]  # lists, as PyTorch has them here
    return (rows if is_in else tuple(rows)) if is_out else rows[0]


def hessian(
    func: Callable[..., Any],
    inputs: Any,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    outer_jacobian_strategy: str = "reverse-mode",
) -> Any:
    """The Hessian of a scalar function: the Jacobian of its gradient. Source: torch.autograd.functional.hessian."""
    is_in, _ = _as_tuple(inputs, "inputs", "hessian")
    if outer_jacobian_strategy not in ("forward-mode", "reverse-mode"):
        raise AssertionError('Expected strategy to be either "forward-mode" or "reverse-mode".')

    def ensure_single(*args: Any) -> Any:
        out = func(*args)
        is_out, outs = _as_tuple(out, "outputs of the user-provided function", "hessian")
        _strict_outputs(outs, "outputs", strict)
        _scalar(outs, is_out, "hessian")
        return out.squeeze()

    def gradient(*args: Any) -> Any:
        jac = jacobian(ensure_single, args, create_graph=True)
        _strict_outputs(jac, "jacobian", strict)
        return jac if is_in else jac[0]

    return jacobian(gradient, inputs, create_graph, strict, vectorize, outer_jacobian_strategy)
