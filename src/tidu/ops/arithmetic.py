"""Arithmetic: the four operations, powers, remainders, and unary math of the everyday kind."""

from __future__ import annotations

import numpy as np

from ..core.elementwise import NEG, ONE, binary, unary
from ..core.promote import FLOATS, SAME

mul = binary("mul", np.multiply, lambda y: y, lambda x: x)
div = binary("div", np.true_divide, lambda y: 1 / y, lambda y, out: -out / y, policy=FLOATS)

exp = unary("exp", np.exp, lambda out: out)
log = unary("log", np.log, lambda x: 1 / x)
sin = unary("sin", np.sin, lambda x: cos(x))
cos = unary("cos", np.cos, lambda x: -sin(x))
tanh = unary("tanh", np.tanh, lambda out: 1 - out * out)
sqrt = unary("sqrt", np.sqrt, lambda out: 0.5 / out)
neg = unary("neg", np.negative, NEG, policy=SAME)
add = binary("add", np.add, ONE, ONE)
sub = binary("sub", np.subtract, ONE, NEG)
