"""Functions of networks, under PyTorch's names. The face of the families in ops/; nothing is defined here.

Source: torch.nn.functional.
"""

from __future__ import annotations

from ..ops.activation import (
    celu_,
    elu,
    elu_,
    f_celu as celu,
    f_relu as relu,
    f_rrelu as rrelu,
    f_selu as selu,
    f_threshold as threshold,
    gelu,
    glu,
    hardshrink,
    hardsigmoid,
    hardswish,
    hardtanh,
    hardtanh_,
    leaky_relu,
    leaky_relu_,
    logsigmoid,
    mish,
    prelu,
    relu6,
    relu_,
    rrelu_,
    selu_,
    silu,
    softplus,
    softshrink,
    softsign,
    tanhshrink,
    threshold_,
)
from ..ops.dropout import (
    dropout1d,
    dropout2d,
    dropout3d,
    f_alpha_dropout as alpha_dropout,
    f_dropout as dropout,
    f_feature_alpha_dropout as feature_alpha_dropout,
)
from ..ops.linear import bilinear, linear
from ..ops.pointwise import sigmoid, tanh
from ..ops.softmax import f_log_softmax as log_softmax, f_softmax as softmax, gumbel_softmax, softmin
