"""torch.cuda.streams: where PyTorch has what torch.cuda gives out."""

from . import (
    Event,
    Stream,
)

__all__ = ["Event", "Stream"]
