"""Averages of a model's parameters along the way. Source: torch.optim.swa_utils."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable
from copy import deepcopy
from typing import Any

from .. import dtypes
from ..core.modes import no_grad
from ..nn.modules.module import Module
from ..nn.modules.norms import _BatchNorm
from ..ops.factories import zeros
from .lr_scheduler import LRScheduler, _asked_by_step, _format_param

__all__ = [
    "SWALR", "AveragedModel", "get_ema_avg_fn", "get_ema_multi_avg_fn", "get_swa_avg_fn", "get_swa_multi_avg_fn",
    "update_bn",
]  # fmt: skip


def _check_decay(decay: float) -> None:
    if decay < 0.0 or decay > 1.0:
        raise ValueError(f"Invalid decay value {decay} provided. Please provide a value in [0,1] range.")


def get_ema_avg_fn(decay: float = 0.999) -> Callable[..., Any]:
    """decay * average + (1 - decay) * current. Source: torch.optim.swa_utils.get_ema_avg_fn."""
    _check_decay(decay)

    def update(average: Any, current: Any, num_averaged: Any) -> Any:
        with no_grad():
            return decay * average + (1 - decay) * current

    return update


def get_swa_avg_fn() -> Callable[..., Any]:
    """average + (current - average) / (n + 1). Source: torch.optim.swa_utils.get_swa_avg_fn."""

    def update(average: Any, current: Any, num_averaged: Any) -> Any:
        with no_grad():
            return average + (current - average) / (num_averaged + 1)

    return update


def get_ema_multi_avg_fn(decay: float = 0.999) -> Callable[..., Any]:
    """`get_ema_avg_fn` for lists, in place. Source: torch.optim.swa_utils.get_ema_multi_avg_fn."""
    _check_decay(decay)

    def update(averages: Any, currents: Any, _: Any) -> None:
        with no_grad():
            for average, current in zip(averages, currents, strict=True):
                if average.dtype.is_floating_point or average.dtype.is_complex:
                    average.lerp_(current, 1 - decay)
                else:
                    average.copy_(average * decay + current * (1 - decay))

    return update


def get_swa_multi_avg_fn() -> Callable[..., Any]:
    """`get_swa_avg_fn` for lists, in place. Source: torch.optim.swa_utils.get_swa_multi_avg_fn."""

    def update(averages: Any, currents: Any, num_averaged: Any) -> None:
        n = int(num_averaged)
        with no_grad():
            for average, current in zip(averages, currents, strict=True):
                if average.dtype.is_floating_point or average.dtype.is_complex:
                    average.lerp_(current, 1 / (n + 1))
                else:
                    average.copy_(average + (current - average) / (n + 1))

    return update


class AveragedModel(Module):
    """A copy of a model whose parameters are averages: `update_parameters` takes those of the model in.

    Args:
        model: the model.
        device: where to put the copy.
        avg_fn: from average, current and count to the new average; by default the plain mean.
        multi_avg_fn: the same in place, for lists of all parameters.
        use_buffers: average buffers too.

    Source: torch.optim.swa_utils.AveragedModel.
    """

    n_averaged: Any

    def __init__(
        self, model: Any, device: Any = None, avg_fn: Any = None, multi_avg_fn: Any = None, use_buffers: bool = False
    ) -> None:
        super().__init__()
        if avg_fn is not None and multi_avg_fn is not None:
            raise AssertionError("Only one of avg_fn and multi_avg_fn should be provided")
        self.module = deepcopy(model)
        if device is not None:
            self.module = self.module.to(device)
        self.register_buffer("n_averaged", zeros((), dtype=dtypes.int64))
        self.avg_fn, self.multi_avg_fn, self.use_buffers = avg_fn, multi_avg_fn, use_buffers

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        return self.module(*args, **kwargs)

    def update_parameters(self, model: Any) -> None:
        """Take the model's parameters into the averages. Source:
        torch.optim.swa_utils.AveragedModel.update_parameters."""

        def values(m: Any) -> list[Any]:
            parts = itertools.chain(m.parameters(), m.buffers()) if self.use_buffers else m.parameters()
            return [p.detach() for p in parts]

        averages, currents = values(self.module), values(model)
        if self.n_averaged == 0:
            for average, current in zip(averages, currents, strict=False):
                average.copy_(current)
        elif self.avg_fn is not None:
            for average, current in zip(averages, currents, strict=False):
                average.copy_(self.avg_fn(average, current, self.n_averaged))
        else:
            update = get_swa_multi_avg_fn() if self.multi_avg_fn is None else self.multi_avg_fn
            update(averages, currents, self.n_averaged)
        if not self.use_buffers:
            for mine, theirs in zip(self.module.buffers(), model.buffers(), strict=True):
                mine.detach().copy_(theirs.detach())
        self.n_averaged += 1


def update_bn(loader: Iterable[Any], model: Any, device: Any = None) -> None:
    """Compute the running statistics of a model's batch norms anew, over all of a loader's batches. Source:
    torch.optim.swa_utils.update_bn."""
    norms = {m: m.momentum for m in model.modules() if isinstance(m, _BatchNorm)}
    if not norms:
        return
    was = model.training
    model.train()
    for m in norms:
        m.reset_running_stats()
        m.momentum = None
    with no_grad():
        for batch in loader:
            x = batch[0] if isinstance(batch, (list, tuple)) else batch
            model(x if device is None else x.to(device))
    for m, momentum in norms.items():
        m.momentum = momentum
    model.train(was)


class SWALR(LRScheduler):
    """From the present learning rate to `swa_lr` in `anneal_epochs`, then constant. Source:
    torch.optim.swa_utils.SWALR."""

    def __init__(
        self, optimizer: Any, swa_lr: Any, anneal_epochs: int = 10, anneal_strategy: str = "cos", last_epoch: int = -1
    ) -> None:
        for lr, group in zip(_format_param("swa_lr", optimizer, swa_lr), optimizer.param_groups, strict=True):
            group["swa_lr"] = lr
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(f"anneal_strategy must be one of 'cos' or 'linear', instead got {anneal_strategy}")
        self._anneal_strategy = anneal_strategy
        if not isinstance(anneal_epochs, int) or anneal_epochs < 0:
            raise ValueError(f"anneal_epochs must be equal or greater than 0, got {anneal_epochs}")
        self.anneal_epochs = anneal_epochs
        super().__init__(optimizer, last_epoch)

    def _part(self, step: int) -> float:
        t = max(0, min(1, step / max(1, self.anneal_epochs)))
        return t if self._anneal_strategy == "linear" else (1 - math.cos(math.pi * t)) / 2

    def get_lr(self) -> list[Any]:
        _asked_by_step(self)
        step = self._step_count - 1
        if self.anneal_epochs == 0:
            step = max(1, step)
        before, now = self._part(step - 1), self._part(step)
        out = []
        for group in self.optimizer.param_groups:
            end = group["swa_lr"]
            start = end if before == 1 else (group["lr"] - before * end) / (1 - before)
            out.append(end * now + start * (1 - now))
        return out
