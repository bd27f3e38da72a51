"""torch.cuda.amp.autocast_mode: where PyTorch has autocast."""

from . import autocast

__all__ = ["autocast"]
