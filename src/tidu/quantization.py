"""torch.quantization: the older name of torch.ao.quantization."""

from .ao import quantization as _home

__all__ = _home.__all__
globals().update({name: getattr(_home, name) for name in __all__})
