"""torch.utils: what belongs nowhere else."""

from __future__ import annotations

import weakref
from typing import Any as _Any

from ..elsewhere import unbuilt_names as _unbuilt_names
from ..naming import submodule as _submodule

_MODULES = frozenset("_pytree benchmark checkpoint data hooks tensorboard".split())


def __getattr__(name: str) -> _Any:
    if name in _MODULES:
        from importlib import import_module

        try:
            return import_module("." + name, __name__)
        except ModuleNotFoundError as error:
            if error.name is None or not error.name.startswith(__name__):
                raise
    from ..core.errors import missing_name

    raise missing_name(__name__, name)


def swap_tensors(t1: _Any, t2: _Any) -> None:
    """Let two tensors change places: each becomes what the other was, to all who hold it.

    Source: torch.utils.swap_tensors.

    Raises:
        RuntimeError: somebody has a weak reference to one of them.
    """
    from ..core.tensor import Tensor

    for name, t in (("t1", t1), ("t2", t2)):
        if weakref.getweakrefs(t):
            raise RuntimeError(f"Cannot swap {name} because it has weakref associated with it")

    cls1, cls2 = type(t1), type(t2)
    t1.__class__, t2.__class__ = cls2, cls1
    names = [name for name in Tensor.__slots__ if name not in ("__dict__", "__weakref__")]
    slots = [Tensor.__dict__[name] for name in names]
    for slot in slots:
        a, b = slot.__get__(t1), slot.__get__(t2)
        slot.__set__(t1, b)
        slot.__set__(t2, a)
    t1.__dict__, t2.__dict__ = t2.__dict__, t1.__dict__


def set_module(obj: _Any, mod: str) -> None:
    """Say which module an object is shown as part of. Source: torch.utils.set_module."""
    if not isinstance(mod, str):
        raise TypeError("The mod argument should be a string")
    obj.__module__ = mod


def _group_tensors_by_device_and_dtype(
    tensorlistlist: list[list[_Any]], with_indices: bool = False
) -> dict[tuple[_Any, _Any], tuple[list[list[_Any]], list[int]]]:
    """Lists of tensors that belong together, one group for each device and dtype of the first list."""
    groups: dict[tuple[_Any, _Any], tuple[list[list[_Any]], list[int]]] = {}
    for i, first in enumerate(tensorlistlist[0]):
        lists, indices = groups.setdefault((first.device, first.dtype), ([[] for _ in tensorlistlist], []))
        for into, tensors in zip(lists, tensorlistlist):
            if tensors:
                into.append(tensors[i])
        if with_indices:
            indices.append(i)
    return groups


def _load_url(*args: _Any, **kwargs: _Any) -> _Any:
    """torch.hub.load_state_dict_from_url, by its old name. Source: torch.utils.model_zoo.load_url."""
    from ..hub import load_state_dict_from_url

    return load_state_dict_from_url(*args, **kwargs)


def from_dlpack(ext_tensor: _Any, **how: _Any) -> _Any:
    """A tensor over the memory of an object that speaks DLPack. Source: torch.utils.dlpack.from_dlpack."""
    from ..ops import creation

    return creation.from_dlpack(ext_tensor, **how)


def to_dlpack(tensor: _Any) -> _Any:
    """A DLPack capsule of a tensor. Source: torch.utils.dlpack.to_dlpack."""
    return tensor.__dlpack__()


_submodule(globals(), "dlpack", "from_dlpack to_dlpack")
_submodule(globals(), "_foreach_utils", "_group_tensors_by_device_and_dtype")
_submodule(globals(), "deterministic", fill_uninitialized_memory=True)
_submodule(globals(), "model_zoo", load_url=_load_url)
_submodule(
    globals(), "cpp_extension", CUDA_HOME=None, ROCM_HOME=None,
    **_unbuilt_names(
        "torch.utils.cpp_extension", "BuildExtension CUDAExtension CppExtension include_paths load load_inline",
        "PyTorch's C++ library",
    ),
)  # fmt: skip

__all__ = ["set_module", "swap_tensors"]
