"""vmap: a function of one sample, applied to a batch of them at once; and modules as functions of their parameters."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from ..core import levels
from ..core.batch import CannotBatch, CannotWrite, is_batched, wrap
from ..core.levels import maps
from ..core.tensor import Tensor
from ..naming import warn
from ..random import get_rng_state, set_rng_state
from ..utils._pytree import broadcast_to_and_flatten, tree_flatten, tree_unflatten


def vmap(
    func: Callable[..., Any],
    in_dims: Any = 0,
    out_dims: Any = 0,
    randomness: str = "error",
    *,
    chunk_size: int | None = None,
) -> Callable[..., Any]:
    """`func` over slices of its arguments, all at once.

    **Arguments** in_dims: for every argument the dimension to slice along, None to pass it whole, or a tree of these;
    out_dims: where the batch dimension goes in the results; randomness: "error", "same" or "different" numbers for the
    slices; chunk_size: how many slices at a time. Returns a function of the batched arguments.

    Where an op has no way for batches (`.item()`, a branch on a value, a result as long as the values say), the slices
    run one by one, with one warning.

    >>> import tidu as torch
    >>> torch.vmap(torch.dot)(torch.ones(2, 3), torch.ones(2, 3))
    tensor([3., 3.])
    """
    if randomness not in ("error", "different", "same"):
        raise RuntimeError(f"Only allowed values for randomness are 'error', 'different', or 'same'. Got {randomness}")
    if not (chunk_size is None or chunk_size > 0):
        raise ValueError(f"vmap: chunk_size should be None or greater than 0. (got {chunk_size})")

    @functools.wraps(func)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        flat, dims, spec, n = _process(in_dims, args, func)
        kw_leaves, kw_spec = tree_flatten(kwargs)
        kw_dims: list[Any] = [None] * len(kw_leaves)  # keyword arguments are passed whole
        call = functools.partial(_run, func, out_dims, randomness, spec, kw_spec)
        if chunk_size is None or chunk_size >= n:
            return call(flat, dims, kw_leaves, kw_dims, n)
        return _in_chunks(call, flat, dims, kw_leaves, kw_dims, n, chunk_size, out_dims)

    return wrapped


def mapped(func: Callable[..., Any], rows: Sequence[Tensor], randomness: str) -> Any:
    """vmap(func, randomness=randomness)(*rows), of tensors that need no checks."""
    flat, spec = tree_flatten(tuple(rows))
    return _run(func, 0, randomness, spec, _NO_WORDS, flat, [0] * len(flat), [], [], flat[0].shape[0])


_NO_WORDS = tree_flatten({})[1]


def _name(func: Any) -> str:
    return getattr(func, "__name__", repr(func))


def _process(in_dims: Any, args: tuple[Any, ...], func: Any) -> tuple[list[Any], list[Any], Any, int]:
    """The leaves of the arguments, the dimension each is sliced along, and how many slices there are."""
    name = _name(func)
    if not isinstance(in_dims, (int, tuple)):
        raise ValueError(
            f"vmap({name}, in_dims={in_dims}, ...)(<inputs>): expected `in_dims` to be int or a (potentially "
            "nested) tuple "
            f"matching the structure of inputs, got: {type(in_dims)}."
        )
    if not args:
        raise ValueError(
            f"vmap({name})(<inputs>): got no inputs. Maybe you forgot to add inputs, or you are trying to vmap over a "
            f"function with no inputs. The latter is unsupported."
        )
    leaves, spec = tree_flatten(args)
    dims = broadcast_to_and_flatten(in_dims, spec)
    if dims is None:
        raise ValueError(
            f"vmap({name}, in_dims={in_dims}, ...)(<inputs>): in_dims is not compatible with the structure of "
            "`inputs`. "
            f"in_dims has structure {tree_flatten(in_dims)[1]} but inputs has structure {spec}."
        )
    sizes = []
    for i, (x, d) in enumerate(zip(leaves, dims, strict=True)):
        if not isinstance(d, int) and d is not None:
            raise ValueError(
                f"vmap({name}, in_dims={in_dims}, ...)(<inputs>): Got in_dim={d} for an input but in_dim must be "
                "either an "
                f"integer dimension or None."
            )
        if d is None:
            continue
        if not isinstance(x, Tensor):
            raise ValueError(
                f"vmap({name}, in_dims={in_dims}, ...)(<inputs>): Got in_dim={d} for an input but the input is of type "
                f"{type(x)}. We cannot vmap over non-Tensor arguments, please use None as the respective in_dim"
            )
        if not -x.ndim <= d < x.ndim:
            raise ValueError(
                f"vmap({name}, in_dims={in_dims}, ...)(<inputs>): Got in_dim={d} for some input, but that input is "
                "a Tensor "
                f"of dimensionality {x.ndim} so expected in_dim to satisfy -{x.ndim} <= in_dim < {x.ndim}."
            )
        dims[i] = d % x.ndim
        sizes.append(x.shape[dims[i]])
    if not sizes:
        raise ValueError("vmap: Expected at least one Tensor to vmap over")
    if any(s != sizes[0] for s in sizes):
        raise ValueError(
            f"vmap: Expected all tensors to have the same size in the mapped dimension, got sizes {sizes} for the "
            "mapped "
            "dimension"
        )
    return leaves, dims, spec, sizes[0]


def _run(
    func: Any, out_dims: Any, randomness: str, spec: Any, kw_spec: Any, flat: list[Any], dims: list[Any],
    kw_leaves: list[Any], kw_dims: list[Any], n: int,
) -> Any:  # fmt: skip
    level = levels.enter()
    maps.stack.append((level, n, randomness))
    versions = [x._v[0] for x in flat if x.__class__ is Tensor]
    drawn = None if randomness == "error" else get_rng_state()
    try:
        values = [_batched(x, d, level) for x, d in zip(flat, dims, strict=True)]
        kws = [_batched(x, d, level) for x, d in zip(kw_leaves, kw_dims, strict=True)]
        out = func(*tree_unflatten(values, spec), **tree_unflatten(kws, kw_spec))
        leaves, out_spec = tree_flatten(out)
        made = _unwrapped(leaves, out_spec, out_dims, level, n, func)
        return tree_unflatten(made, out_spec)
    except CannotBatch as stop:
        why = f"`{stop}` needs the value of one sample"
        written = (str(stop), stop.memory) if isinstance(stop, CannotWrite) else None
    finally:
        levels.leave(level)
        maps.stack.pop()
    if written is not None:
        why = "a sample is written into a tensor that all share (x.new_zeros(...) makes one for each)"
        if written[1]() is not None:  # others than the function see that memory
            raise RuntimeError(written[0])
    if versions != [x._v[0] for x in flat if x.__class__ is Tensor]:
        raise RuntimeError(
            f"vmap({_name(func)}): {why}, but the samples can't be run one by one from the start: an argument was written "
            "into. Write into a copy"
        )
    return _one_by_one(func, out_dims, spec, kw_spec, flat, dims, kw_leaves, kw_dims, n, why, randomness, drawn)


def _batched(x: Any, d: int | None, level: int) -> Any:
    if d is None:
        return x
    return wrap(x if d == 0 else x.movedim(d, 0), level)


def _unwrapped(leaves: list[Any], spec: Any, out_dims: Any, level: int, n: int, func: Any) -> list[Any]:
    """The results with the batch dimension where `out_dims` says."""
    if not all(d is None or isinstance(d, int) for d in tree_flatten(out_dims)[0]):
        raise ValueError(
            f"vmap({_name(func)}, ..., out_dims={out_dims}): `out_dims` must be an int, None or a python collection "
            "of ints "
            "representing where in the outputs the vmapped dimension should appear."
        )
    flat_dims = broadcast_to_and_flatten(out_dims, spec)
    if flat_dims is None and isinstance(out_dims, tuple) and spec.is_leaf() and len(out_dims) == 1:
        flat_dims = list(out_dims)
    if flat_dims is None:
        raise ValueError(
            f"vmap({_name(func)}, ..., out_dims={out_dims})(<inputs>): out_dims is not compatible with the "
            "structure of "
            f"`outputs`. out_dims has structure {tree_flatten(out_dims)[1]} but outputs has structure {spec}."
        )
    made = []
    for x, d in zip(leaves, flat_dims, strict=True):
        if d is None:
            if is_batched(x, level):
                raise ValueError(
                    f"vmap({_name(func)}, ...): `{_name(func)}` can not return a BatchedTensor when out_dim is None"
                )
            made.append(x)
        elif not isinstance(x, Tensor):
            raise ValueError(
                f"vmap({_name(func)}, ...): `{_name(func)}` must only return Tensors, got type {type(x)}. Did you "
                "mean to set out_dims= to None for output?"
            )
        elif is_batched(x, level):
            made.append(x.value if d == 0 else x.value.movedim(0, d))
        else:
            wide = x.unsqueeze(0).expand((n, *tuple(x.shape)))
            made.append(wide if d == 0 else wide.movedim(0, d))
    return made


def _one_by_one(
    func: Any, out_dims: Any, spec: Any, kw_spec: Any, flat: list[Any], dims: list[Any], kw_leaves: list[Any],
    kw_dims: list[Any], n: int, why: str, randomness: str, drawn: Any,
) -> Any:  # fmt: skip
    """The slices in turn, where a function asks a batch for one value; they draw random numbers as if together."""
    from ..ops.joining import stack

    if n == 0:
        raise RuntimeError(f"vmap({_name(func)}): {why}, and there is none")
    if not maps.told:
        warn(f"vmap({_name(func)}): {why}, so the samples are run one by one")
    rows, out_spec = [], None
    told, maps.told = maps.told, True
    forbidden = [(-1, n, randomness)] if randomness == "error" else []
    maps.stack.extend(forbidden)
    try:
        for i in range(n):
            if drawn is not None and (i == 0 or randomness == "same"):
                set_rng_state(drawn)
            args = [x if d is None else x.select(d, i) for x, d in zip(flat, dims, strict=True)]
            kws = [x if d is None else x.select(d, i) for x, d in zip(kw_leaves, kw_dims, strict=True)]
            leaves, out_spec = tree_flatten(func(*tree_unflatten(args, spec), **tree_unflatten(kws, kw_spec)))
            if not all(isinstance(x, Tensor) for x in leaves):
                raise RuntimeError(
                    "vmap: It looks like you're calling .item() on a Tensor. We don't support vmap over calling .item() "
                    "on a Tensor, please try to rewrite what you're doing with other operations. If error is occurring "
                    "somewhere inside PyTorch internals, please file a bug report."
                )
            rows.append(leaves)
    finally:
        maps.told = told
        del maps.stack[len(maps.stack) - len(forbidden) :]
    flat_dims = broadcast_to_and_flatten(out_dims, out_spec)  # type: ignore[arg-type]
    assert flat_dims is not None, "flat_out_dims must not be None"
    made = [
        column[0] if d is None else stack(column, d)
        for column, d in zip(map(list, zip(*rows, strict=True)), flat_dims, strict=True)
    ]
    return tree_unflatten(made, out_spec)  # type: ignore[arg-type]


def _in_chunks(
    call: Any,
    flat: list[Any],
    dims: list[Any],
    kw_leaves: list[Any],
    kw_dims: list[Any],
    n: int,
    size: int,
    out_dims: Any,
) -> Any:
    from ..ops.joining import cat

    parts, spec = [], None
    for start in range(0, n, size):
        k = min(size, n - start)
        piece = [x if d is None else x.narrow(d, start, k) for x, d in zip(flat, dims, strict=True)]
        kws = [x if d is None else x.narrow(d, start, k) for x, d in zip(kw_leaves, kw_dims, strict=True)]
        leaves, spec = tree_flatten(call(piece, dims, kws, kw_dims, k))
        parts.append(leaves)
    flat_dims = broadcast_to_and_flatten(out_dims, spec)  # type: ignore[arg-type]
    assert flat_dims is not None, "flat_out_dims must not be None"
    made = [
        column[0] if d is None else cat(column, d)
        for column, d in zip(map(list, zip(*parts, strict=True)), flat_dims, strict=True)
    ]
    return tree_unflatten(made, spec)  # type: ignore[arg-type]


def functional_call(
    module: Any,
    parameter_and_buffer_dicts: Any,
    args: Any = None,
    kwargs: dict[str, Any] | None = None,
    *,
    tie_weights: bool = True,
    strict: bool = False,
) -> Any:
    """module(*args, **kwargs) with the given tensors in place of its parameters and buffers.

    **Arguments** parameter_and_buffer_dicts: {name: tensor}, or several of these; tie_weights: a tensor given for
    one name
    of a shared parameter serves all its names; strict: every name must be given, and known. Source:
    torch.func.functional_call.
    """
    if isinstance(parameter_and_buffer_dicts, dict):
        given = parameter_and_buffer_dicts
    elif isinstance(parameter_and_buffer_dicts, Sequence):
        if not all(isinstance(d, dict) for d in parameter_and_buffer_dicts):
            raise ValueError("Expected all elements of parameter_and_buffer_dicts to be dictionaries")
        names = [k for d in parameter_and_buffer_dicts for k in d]
        repeated = [k for k in dict.fromkeys(names) if names.count(k) > 1]
        if repeated:
            raise ValueError(f"{repeated} appeared in multiple dictionaries; behavior of functional call is ambiguous")
        given = {k: v for d in parameter_and_buffer_dicts for k, v in d.items()}
    else:
        raise ValueError(
            "Expected parameter_and_buffer_dicts to be a dict, or a list/tuple of dicts, but got "
            f"{type(parameter_and_buffer_dicts)}"
        )
    args = () if args is None else args if isinstance(args, tuple) else (args,)
    with _swapped(module, given, tie_weights, strict):
        return module(*args, **(kwargs or {}))


class _swapped:
    """Within it the module holds other tensors."""

    def __init__(self, module: Any, given: dict[str, Any], tie: bool, strict: bool) -> None:
        known = {
            **dict(module.named_parameters(remove_duplicate=False)),
            **dict(module.named_buffers(remove_duplicate=False)),
        }
        if strict:
            missing, unexpected = sorted(set(known) - set(given)), sorted(set(given) - set(known))
            if missing or unexpected:
                text = f"Error(s) in reparametrizing for {type(module).__name__}:"
                if unexpected:
                    text += "\n\tUnexpected key(s): " + ", ".join(map(repr, unexpected)) + "."
                if missing:
                    text += "\n\tMissing key(s): " + ", ".join(map(repr, missing)) + "."
                raise RuntimeError(text)
        full = dict(given)
        if tie:
            tied: dict[int, list[str]] = {}
            for name, t in known.items():
                tied.setdefault(id(t), []).append(name)
            for names in tied.values():
                named = sorted(n for n in names if n in given)
                if any(given[n] is not given[named[0]] for n in named):
                    raise ValueError(
                        f"functional_call got multiple values for keys {named}, which are tied. Consider using "
                        "tie_weights=False"
                    )
                if named:
                    full.update((n, given[named[0]]) for n in names)
        self.places = []
        for name, t in full.items():
            path, _, leaf = name.rpartition(".")
            owner = module
            for part in path.split(".") if path else ():
                owner = getattr(owner, part, None)
            if t is not None and not isinstance(t, Tensor):
                raise TypeError(f"{t} is not an instance of torch.Tensor")
            if name in known:
                self.places.append((owner, leaf, t))

    def __enter__(self) -> None:
        self.had: list[Any] = []
        for owner, leaf, t in self.places:
            for table in (owner._parameters, owner._buffers):
                if leaf in table:
                    self.had.append((table, leaf, table[leaf]))
                    table[leaf] = t
                    break

    def __exit__(self, *exc: Any) -> None:
        for table, leaf, old in reversed(self.had):
            table[leaf] = old


def stack_module_state(models: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """The parameters and the buffers of several models of one kind, stacked, for `vmap` over an ensemble. Source:
    torch.func.stack_module_state."""
    from ..ops.joining import stack

    models = list(models)
    if not models:
        raise RuntimeError("stack_module_state: Expected at least one model, got 0.")
    if not (all(m.training for m in models) or all(not m.training for m in models)):
        raise RuntimeError("stack_module_state: Expected all models to have the same training/eval mode.")
    if not all(type(m) is type(models[0]) for m in models):
        raise RuntimeError("stack_module_state: Expected all models to be of the same class.")
    params, buffers = {}, {}
    for name, p in models[0].named_parameters():
        column = [dict(m.named_parameters())[name] for m in models]
        if not all(q.requires_grad == p.requires_grad for q in column):
            raise RuntimeError(f"Expected {name} to have the same .requires_grad state for all models")
        params[name] = stack([q.detach() for q in column]).requires_grad_(p.requires_grad)
    for name, _ in models[0].named_buffers():
        buffers[name] = stack([dict(m.named_buffers())[name] for m in models])
    return params, buffers


def replace_all_batch_norm_modules_(root: Any) -> Any:
    """Make every batch norm of a module forget its running statistics, so that it works under `vmap`; in place.

    Source: torch.func.replace_all_batch_norm_modules_.
    """
    for module in root.modules():
        if hasattr(module, "track_running_stats") and type(module).__name__.startswith("BatchNorm"):
            module.track_running_stats = False
            module.running_mean = module.running_var = module.num_batches_tracked = None
    return root
