"""The two ways to start a backward pass: `backward` accumulates into leaves, `grad` hands the gradients over."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

from ..core import engine, levels
from ..core.errors import explain
from ..core.hooks import as_edge, retain_grad
from ..core.modes import state
from ..core.subclass import Special
from ..core.tensor import Tensor, tensor_of, type_name
from ..core.views import live_node


def _as_tuple(x: Any) -> tuple[Any, ...]:
    return (x,) if isinstance(x, Tensor) or _is_gradient_edge(x) else tuple(x)


def _weights(x: Any, n: int) -> tuple[Any, ...]:
    """The cotangents given for `n` outputs, None for each where none are."""
    return (None,) * n if x is None else _as_tuple(x)


def _as_targets(x: Any) -> tuple[Any, ...]:
    targets = _as_tuple(x.values() if type(x) is dict else x)
    for t in targets:
        if not isinstance(t, Tensor) and not _is_gradient_edge(t):
            raise RuntimeError(f"all inputs have to be Tensors or GradientEdges, but got {type_name(t)}")
    return targets


def _is_gradient_edge(x: Any) -> bool:
    return isinstance(x, tuple) and hasattr(x, "node") and hasattr(x, "output_nr")


def _identity(t: Tensor) -> Tensor:
    import numpy as np

    return tensor_of(np.eye(t.shape[0], dtype=t.dtype.np))


def _ones_like(t: Tensor) -> Tensor:
    import numpy as np

    a = getattr(t, "_a", None)
    if a is not None:
        return tensor_of(np.ones(a.shape, a.dtype))
    from ..ops.factories import ones_like

    return ones_like(t)


def _make_grads(
    outputs: Sequence[Any], grads: Sequence[Any], create_graph: bool, batched: bool = False
) -> list[Tensor]:
    """The cotangents of the outputs: as given and checked, or 1 for a scalar."""
    if len(grads) < len(outputs):
        raise _miscounted(outputs, grads)
    made = []
    for i, (out, g) in enumerate(zip(outputs, grads, strict=False)):  # more cotangents than outputs: no matter
        if not isinstance(out, Tensor) and not _is_gradient_edge(out):
            raise AssertionError("Expected output to be a torch.Tensor")
        edge = not isinstance(out, Tensor)
        if edge:
            out = getattr(out, "like", None)
        if isinstance(g, Tensor):
            plain = out.__class__ is Tensor is g.__class__ and not batched
            if out is not None and not (plain and out._a.dtype is g._a.dtype and out._a.shape == g._a.shape):
                _check_grad(i, out, g, batched)
            made.append(g)
        elif g is None:
            if out is None:
                raise RuntimeError("grad can be implicitly created only for scalar outputs")
            if not edge and not isinstance(out, Special) and live_node(out) is None:
                made.append(None)  # type: ignore[arg-type]  # the error about it comes from the caller
                continue
            if out.numel() != 1:
                raise _not_scalar(out)
            if not out.dtype.is_floating_point:
                raise RuntimeError(
                    "grad can be implicitly created only for real scalar outputs but got " + repr(out.dtype)
                )
            made.append(_ones_like(out))
        else:
            raise _not_gradient(g)
    return made


def _not_gradient(g: Any) -> TypeError:
    return TypeError("gradients can be either Tensors or None, but got " + type(g).__name__)


def _miscounted(outputs: Sequence[Any], grads: Sequence[Any]) -> Exception:
    """The error for more or fewer gradients than outputs: what is no gradient at all is said first."""
    for g in grads[: len(outputs)]:
        if g is not None and not isinstance(g, Tensor):
            return _not_gradient(g)
    return RuntimeError(f"got {len(outputs)} tensors and {len(grads)} gradients")


def _not_scalar(out: Tensor) -> RuntimeError:
    shape = tuple(out.shape)
    return explain(
        RuntimeError("grad can be implicitly created only for scalar outputs"),
        f"the output has shape {shape}: backward() needs gradient=, a tensor of that shape. It holds the weights of a "
        "sum: backward(G) computes d(sum(G * output)) / d(inputs). For the gradient of the plain sum write "
        "output.sum().backward(); for one output's, a one-hot G; for the whole Jacobian, func.jacrev.",
    )


def _check_grad(i: int, out: Tensor, g: Tensor, batched: bool) -> None:
    shape = g.shape[1:] if batched else g.shape
    if tuple(shape) != tuple(out.shape):
        if batched:  # the shape that PyTorch names lacks a dimension more
            raise RuntimeError(
                "If `is_grads_batched=True`, we interpret the first dimension of each grad_output as the batch dimension. "
                "The sizes of the remaining dimensions are expected to match the shape of corresponding output, but a "
                f"mismatch was detected: grad_output[{i}] has a shape of {shape[1:]} and output[{i}] has a shape of "
                f"{out.shape}. If you only want some tensors in `grad_output` to be considered batched, consider using "
                "vmap."
            )
        raise explain(
            RuntimeError(
                f"Mismatch in shape: grad_output[{i}] has a shape of {g.shape} and output[{i}] has a shape of "
                f"{out.shape}."
            ),
            f"gradient= holds one weight for each element of the output, so it must have the output's shape "
            f"{tuple(out.shape)}, not the shape of an input.",
        )
    if out.dtype.is_complex != g.dtype.is_complex:
        raise RuntimeError(
            "For complex Tensors, both grad_output and output are required to have the same dtype. Mismatch in dtype: "
            f"grad_output[{i}] has a dtype of {g.dtype} and output[{i}] has a dtype of {out.dtype}."
        )


def _roots(outputs: Sequence[Any], grads: Sequence[Any]) -> list[tuple[Any, Tensor]]:
    roots = []
    for i, (out, g) in enumerate(zip(outputs, grads, strict=True)):
        edge = as_edge(out)
        if edge is None:
            raise explain(
                RuntimeError(f"element {i} of tensors does not require grad and does not have a grad_fn"),
                "nothing that it was computed from had requires_grad=True (or it was detached, or computed under "
                "no_grad), so there is no graph to go back through.",
            )
        roots.append((edge, g))
    return roots


def backward(
    tensors: Any,
    grad_tensors: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    grad_variables: Any = None,
    inputs: Any = None,
) -> None:
    """Compute the gradient of `tensors` and add it to the `.grad` of the leaves that it depends on.

    With outputs y_k and weights `grad_tensors` g_k it computes d(sum_k <g_k, y_k>) / d(leaf).

    **Arguments**
        tensors: a tensor or a sequence of them; grad_tensors: tensors of the same shapes, None for scalars;
        retain_graph: keep what the graph saved, for another backward (default: `create_graph`);
        create_graph: record the backward pass itself, for higher derivatives;
        inputs: accumulate into these alone.

    **Raises** RuntimeError as PyTorch does. Source: torch.autograd.backward.
    """
    if grad_variables is not None:
        warnings.warn("`grad_variables` is deprecated. Use `grad_tensors` instead.", FutureWarning, stacklevel=2)
        if grad_tensors is None:
            grad_tensors = grad_variables
        else:
            raise RuntimeError(
                "`grad_tensors` and `grad_variables` (deprecated) arguments both passed to `backward()`. Please only "
                "use `grad_tensors`."
            )
    targets = () if inputs is None else _as_targets(inputs)
    if inputs is not None and not targets:
        raise RuntimeError("`inputs` argument to `backward()` cannot be empty.")
    outputs = _as_tuple(tensors)
    given = _weights(grad_tensors, len(outputs))
    keep = create_graph if retain_graph is None else retain_graph
    grads = _make_grads(outputs, given, create_graph)
    roots = _roots(outputs, grads)
    if create_graph:
        _warn_of_the_cycle()
    if inputs is None:
        engine.run_backward(roots, keep=keep, create_graph=create_graph)
        return
    for t in targets:
        if isinstance(t, Tensor):
            retain_grad(t)  # so that a non-leaf gets its gradient too
    engine.run_backward(roots, keep=keep, create_graph=create_graph, targets=[as_edge(t) for t in targets])


@functools.cache
def _warn_of_the_cycle() -> None:
    warnings.warn(
        "Using backward() with create_graph=True will create a reference cycle between the parameter and its gradient "
        "which can cause a memory leak. We recommend using autograd.grad when creating the graph to avoid this. If you "
        "have to use this function, make sure to reset the .grad fields of your parameters to None after use to break "
        "the cycle and avoid the leak.",
        UserWarning,
        stacklevel=4,
    )


def grad(
    outputs: Any,
    inputs: Any,
    grad_outputs: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    only_inputs: bool = True,
    allow_unused: bool | None = None,
    is_grads_batched: bool = False,
    materialize_grads: bool = False,
    *,
    per_sample: bool = False,
) -> Any:
    """The gradients of `outputs` with respect to `inputs`, as a tuple; `.grad` is left alone.

    **Arguments**
        outputs, inputs: a tensor or a sequence of them, inputs also a dict, which gives a dict; grad_outputs: the weights, see `backward`;
        allow_unused: give None for an input that the outputs do not depend on, instead of an error;
        is_grads_batched: the weights have a leading batch dimension, and so has what is returned;
        materialize_grads: zeros instead of None;
        per_sample: the one output is a vector of losses, and what is returned has a leading dimension along it: the
        gradient of each loss, by one backward pass. Not in PyTorch.

    >>> import tidu as torch
    >>> x, w = torch.tensor([[1., 2.], [3., 4.]]), torch.ones(2, requires_grad=True)
    >>> torch.autograd.grad((x @ w) ** 2, w, per_sample=True)
    (tensor([[ 6., 12.],
            [42., 56.]]),)

    Source: torch.autograd.grad.
    """
    if isinstance(inputs, Mapping) and type(inputs) is not dict:
        raise TypeError(
            f"`inputs` argument to `grad()` must be a dict, not {type(inputs).__name__}. Other Mapping types are not "
            "supported."
        )
    if per_sample:
        if not isinstance(outputs, Tensor) or outputs.ndim != 1 or grad_outputs is not None or is_grads_batched:
            raise ValueError("per_sample=True is for one output, a vector of losses, without grad_outputs")
        grad_outputs, is_grads_batched = _identity(outputs), True
    if materialize_grads and allow_unused is False:
        raise ValueError(
            "Expected allow_unused to be True or not passed when materialize_grads=True, but got: allow_unused=False."
        )
    if allow_unused is None:
        allow_unused = materialize_grads
    outs, ins = _as_tuple(outputs), _as_targets(inputs)
    if not ins:
        raise RuntimeError("`inputs` argument to `grad()` cannot be empty.")
    if not only_inputs:
        warnings.warn(
            "only_inputs argument is deprecated and is ignored now (defaults to True). To accumulate gradient for "
            "other parts of the graph, please use torch.autograd.backward.",
            FutureWarning,
            stacklevel=2,
        )
    given = _weights(grad_outputs, len(outs))
    keep = create_graph if retain_graph is None else retain_graph
    grads = _make_grads(outs, given, create_graph, is_grads_batched)

    def named(got: tuple[Any, ...]) -> Any:
        return dict(zip(inputs, got, strict=True)) if type(inputs) is dict else got

    if any([v.__class__ is not Tensor and isinstance(v, Special) for v in (*outs, *ins, *grads)]):
        return named(_of_special(outs, ins, grads, create_graph, allow_unused, materialize_grads))
    roots = _roots(outs, grads)
    edges = []
    for t in ins:
        edge = as_edge(t)
        if edge is None:
            raise explain(
                RuntimeError("One of the differentiated Tensors does not require grad"),
                "every input of grad() must have requires_grad=True when the outputs are computed from it.",
            )
        edges.append(edge)
    if is_grads_batched:
        return named(_batched(roots, edges, ins, allow_unused, materialize_grads, keep, create_graph))
    got = engine.run_backward(roots, keep=keep, create_graph=create_graph, targets=edges, accumulate=False)
    return named(_collect(got, edges, ins, allow_unused, materialize_grads, create_graph))


def _of_special(
    outs: Sequence[Any],
    ins: Sequence[Any],
    grads: Sequence[Any],
    create_graph: bool,
    allow_unused: bool,
    materialize: bool,
) -> tuple[Any, ...]:
    """Gradients of values of a transform."""
    from ..func.transforms import pull_back

    got = pull_back(outs, ins, grads, create_graph)
    result = []
    for i, (g, x) in enumerate(zip(got, ins, strict=True)):
        if g is None and not allow_unused:
            raise _unused(i)
        result.append(x.new_zeros(tuple(x.shape)) if g is None and materialize else g)
    return tuple(result)


def _unused(i: int) -> RuntimeError:
    return explain(
        RuntimeError(
            f"The differentiated Tensor at index {i} appears to not have been used in the graph. Set "
            "allow_unused=True if "
            "this is the desired behavior."
        ),
        "the outputs do not depend on it: allow_unused=True gives None for it, materialize_grads=True zeros.",
    )


def _collect(
    got: dict[Any, Any],
    edges: Sequence[Any],
    ins: Sequence[Any],
    allow_unused: bool,
    materialize: bool,
    create_graph: bool = False,
) -> tuple[Any, ...]:
    result = []
    for i, (edge, t) in enumerate(zip(edges, ins, strict=True)):
        g = engine.captured_for(got, edge)
        if g is None:
            if not allow_unused:
                raise _unused(i)
            if materialize:
                if not isinstance(t, Tensor):
                    raise RuntimeError("materialize_grads cannot be used when the given input is a GradientEdge")
                g = t.new_zeros(tuple(t.shape), requires_grad=create_graph)
        result.append(g)
    return tuple(result)


def _batched(
    roots: Sequence[tuple[Any, Tensor]],
    edges: Sequence[Any],
    ins: Sequence[Any],
    allow_unused: bool,
    materialize: bool,
    keep: bool,
    create_graph: bool,
) -> tuple[Any, ...]:
    """One backward pass for all rows of the weights, as a batch; where a rule needs numbers, one for each, stacked."""
    from ..core.batch import CannotBatch, wrap
    from ..core.batch import materialize as values_of

    for _, g in roots:
        if not g.ndim:
            raise ValueError(
                "vmap(vjp, in_dims=0, ...)(<inputs>): Got in_dim=0 for some input, but that input is a Tensor of "
                "dimensionality 0 so expected in_dim to satisfy 0 <= in_dim < 0."
            )
    n = roots[0][1].shape[0]
    level = levels.enter(True)
    try:
        run = engine.Run(True, create_graph, edges, False, raw=False)
        run.run([(e, wrap(g, level)) for e, g in roots])
        got = _collect(run.captured, edges, ins, allow_unused, materialize)
        made = tuple(g if g is None else values_of(g, level, n) for g in got)
        if not keep:
            for node in run.order:
                node.release()
        return made
    except CannotBatch:
        pass
    finally:
        levels.leave(level)
    rows = []
    for i in range(n):
        got = engine.run_backward(  # type: ignore[assignment]
            [(e, g[i]) for e, g in roots],
            keep=keep or i < n - 1,
            create_graph=create_graph,
            targets=edges,
            accumulate=False,
        )
        rows.append(_collect(got, edges, ins, allow_unused, materialize))  # type: ignore[arg-type]
    from ..ops.joining import stack

    return tuple(None if col[0] is None else stack(col) for col in zip(*rows, strict=True))


def tensor_backward(
    self: Tensor, gradient: Any = None, retain_graph: bool | None = None, create_graph: bool = False, inputs: Any = None
) -> None:
    """Compute the gradient of this tensor and add it to the `.grad` of the leaves that it depends on.

    `gradient` is needed unless the tensor has one element: the weights of the sum that is differentiated.
    Source: torch.Tensor.backward.
    """
    backward(self, gradient, retain_graph, create_graph, inputs=inputs)


__all__ = ["backward", "grad", "state", "tensor_backward"]
