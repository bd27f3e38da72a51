"""torch.nested, to be imported: there are no nested tensors."""

from __future__ import annotations

from .unbuilt import unbuilt_names

_NAMES = "as_nested_tensor masked_select narrow nested_tensor nested_tensor_from_jagged to_padded_tensor"
__all__ = _NAMES.split()

globals().update(unbuilt_names("torch.nested", _NAMES, "nested tensors"))
