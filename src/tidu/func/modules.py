"""Modules as functions of their parameters. Source: torch.func.functional_call, stack_module_state."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..core.tensor import Tensor


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
