"""Unary math: exponentials, logarithms, trigonometry, rounding."""

from __future__ import annotations

import numpy as np

from ..core.elementwise import unary

__all__ = ["cos", "exp", "log", "sin", "sqrt", "tanh"]
METHODS = INPLACE = " ".join(__all__)

exp = unary("exp", np.exp, lambda out: out)
log = unary("log", np.log, lambda x: 1 / x)
sin = unary("sin", np.sin, lambda x: cos(x))
cos = unary("cos", np.cos, lambda x: -sin(x))
tanh = unary("tanh", np.tanh, lambda out: 1 - out * out)
sqrt = unary("sqrt", np.sqrt, lambda out: 0.5 / out)
