"""torch.cpu.amp.grad_scaler: where PyTorch has GradScaler."""

from . import GradScaler

__all__ = ["GradScaler"]
