"""torch.ao, to be imported: there is no quantization."""

from . import quantization

__all__ = ["quantization"]
