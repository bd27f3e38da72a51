"""Anomaly mode: NaN found where it is made, and the forward call named."""

from __future__ import annotations

import warnings
from typing import Any

from . import attempt


def _said(fn: Any) -> None:
    """Print what is warned, without the traceback, and what is raised."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        attempt(fn)
    for w in caught:
        text = str(w.message)
        print(w.category.__name__, text.splitlines()[0], "| here" if "_the_culprit" in text else "")


def _the_culprit(x: Any) -> Any:
    return x.sqrt() * 0


def nan_in_backward(torch: Any) -> None:
    x = torch.zeros(2, requires_grad=True)
    y = _the_culprit(x)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        mode = torch.autograd.detect_anomaly()
    with mode:
        _said(y.sum().backward)
        y = _the_culprit(x)
        _said(y.sum().backward)
        _said(lambda: torch.autograd.grad(_the_culprit(x).sum(), x))


def switched(torch: Any) -> None:
    x = torch.zeros(2, requires_grad=True)
    print(torch.is_anomaly_enabled(), torch.is_anomaly_check_nan_enabled())
    with torch.autograd.set_detect_anomaly(True):
        print(torch.is_anomaly_enabled(), torch.is_anomaly_check_nan_enabled())
        y = _the_culprit(x)
        _said(y.sum().backward)
    with torch.autograd.set_detect_anomaly(True, check_nan=False):
        print(torch.is_anomaly_enabled(), torch.is_anomaly_check_nan_enabled())
        y = _the_culprit(x)
        _said(y.sum().backward)
    print(x.grad, torch.is_anomaly_enabled())
    with torch.autograd.detect_anomaly(check_nan=False):
        print(torch.is_anomaly_check_nan_enabled())
    torch.autograd.set_detect_anomaly(True)
    print(torch.is_anomaly_enabled())
    torch.autograd.set_detect_anomaly(False)
    print(torch.is_anomaly_enabled())


def modified(torch: Any) -> None:
    x = torch.ones(2, requires_grad=True)
    with torch.autograd.set_detect_anomaly(True):
        y = x * 1
        z = y * y
        y.add_(1)
        _said(z.sum().backward)


def error_in_function(torch: Any) -> None:
    class Bad(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x.clone()

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            raise RuntimeError("some error in backward")

    x = torch.ones(2, requires_grad=True)
    with torch.autograd.set_detect_anomaly(True):
        _said(lambda: Bad.apply(x).sum().backward())

    class Nan(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any, y: Any) -> Any:
            return x * 1, y * 1

        @staticmethod
        def backward(ctx: Any, g: Any, h: Any) -> Any:
            return g, h * float("nan")

    with torch.autograd.set_detect_anomaly(True):
        a, b = Nan.apply(x, x)
        _said((a + b).sum().backward)


def parents(torch: Any) -> None:
    """The node that made a failing double backward, and the one that made that."""
    x = torch.zeros(2, requires_grad=True)
    with torch.autograd.set_detect_anomaly(True):
        (g,) = torch.autograd.grad((x**1.5).sum(), x, create_graph=True)
        _said(lambda: torch.autograd.grad((g * 0).sum(), x))
        print(x.grad)


def metadata(torch: Any) -> None:
    x = torch.ones(2, requires_grad=True)
    with torch.autograd.set_detect_anomaly(True):
        y = x * 2
    print(sorted(y.grad_fn.metadata), any("in metadata" in line for line in y.grad_fn.metadata["traceback_"]))


def nothing_found(torch: Any) -> None:
    x = torch.tensor([1.0, float("nan")], requires_grad=True)
    with torch.autograd.set_detect_anomaly(True):
        (x * 2).sum().backward()
        print(x.grad)
        (x * float("inf")).sum().backward()
        print(x.grad)
