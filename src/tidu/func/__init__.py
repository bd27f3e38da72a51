"""torch.func: transforms of functions, which nest in any order."""

from __future__ import annotations

from typing import Any

from .jacobians import hessian, hvp, implicit, jacfwd, jacobian, jacrev, taylor
from .rearranging import rearrange
from .transforms import grad, grad_and_value, jvp, linearize, vjp
from .vmapping import functional_call, replace_all_batch_norm_modules_, stack_module_state, vmap

__all__ = [
    "debug_unwrap", "functional_call", "functionalize", "grad", "grad_and_value", "hessian", "hvp", "implicit",
    "jacfwd", "jacobian", "jacrev", "jvp",
    "linearize", "rearrange", "replace_all_batch_norm_modules_", "stack_module_state", "taylor", "vjp", "vmap",
]  # fmt: skip


def functionalize(func: Any, *, remove: str = "mutations") -> Any:
    """`func` itself: what it writes in place is recorded as it is. Source: torch.func.functionalize."""
    if remove not in ("mutations", "mutations_and_views"):
        raise RuntimeError(
            f"functionalize(f, remove='mutations'): received invalid argument for remove={remove}. Valid options are:\n"
            "     remove='mutations': all inplace and out= operators will be removed from the program, and replaced "
            "with "
            "their out-of-place equivalents.\n     remove='mutations_and_views': In addition to the above, all "
            "aliasing "
            "operators {view} will be replaced with their non-aliasing counterparts, {view}_copy.\n"
        )
    return func


def debug_unwrap(tensor: Any, *, recurse: bool = True) -> Any:
    """The tensor beneath what a transform put in its place. Source: torch.func.debug_unwrap."""
    from .transforms import _plain

    return _plain(tensor)
