"""torch.utils.tensorboard: logs for TensorBoard, through the tensorboard package if it is installed."""

from __future__ import annotations

import os
import time
from typing import Any

__all__ = ["SummaryWriter"]

_NEEDED = "torch.utils.tensorboard needs the tensorboard package: pip install tensorboard"


class SummaryWriter:
    """Writes scalars, texts, histograms and pictures for TensorBoard. Source: torch.utils.tensorboard.SummaryWriter.

    Args:
        log_dir: the folder; by default runs/ and the time.
        comment: put after the time.

    Raises:
        ImportError: the tensorboard package is not installed.
    """

    def __init__(self, log_dir: Any = None, comment: str = "", *args: Any, **kwargs: Any) -> None:
        try:
            from tensorboard.summary import Writer  # type: ignore[import-not-found]
        except ImportError as error:
            raise ImportError(_NEEDED) from error
        self.log_dir = os.fspath(log_dir) if log_dir else f"runs/{time.strftime('%b%d_%H-%M-%S')}{comment}"
        self._writer = Writer(self.log_dir)

    def add_scalar(
        self,
        tag: str,
        scalar_value: Any,
        global_step: int = 0,
        walltime: float | None = None,
        *args: Any,
        **kwargs: Any,
    ) -> None:
        """One number of a curve. Source: torch.utils.tensorboard.SummaryWriter.add_scalar."""
        self._writer.add_scalar(tag, float(scalar_value), int(global_step or 0), wall_time=walltime)

    def add_scalars(self, main_tag: str, tag_scalar_dict: dict[str, Any], global_step: int = 0, *args: Any) -> None:
        """Several numbers under one tag. Source: torch.utils.tensorboard.SummaryWriter.add_scalars."""
        for tag, value in tag_scalar_dict.items():
            self.add_scalar(f"{main_tag}/{tag}", value, global_step)

    def flush(self) -> None:
        """Write what has been collected. Source: torch.utils.tensorboard.SummaryWriter.flush."""
        self._writer.flush()

    def close(self) -> None:
        """Write what has been collected, and end. Source: torch.utils.tensorboard.SummaryWriter.close."""
        self._writer.close()

    def __enter__(self) -> SummaryWriter:
        return self

    def __exit__(self, *exc: Any) -> None:
        self.close()
