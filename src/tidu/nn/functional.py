"""Functions of networks, under PyTorch's names. The face of the families in ops/; nothing is defined here.

Source: torch.nn.functional.
"""

from __future__ import annotations

from ..ops.activation import (
    celu_,
    elu,
    elu_,
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
from ..ops.activation import (
    f_celu as celu,
)
from ..ops.activation import (
    f_relu as relu,
)
from ..ops.activation import (
    f_rrelu as rrelu,
)
from ..ops.activation import (
    f_selu as selu,
)
from ..ops.activation import (
    f_threshold as threshold,
)
from ..ops.adaptive import (
    adaptive_avg_pool1d,
    adaptive_avg_pool2d,
    adaptive_avg_pool3d,
    adaptive_max_pool1d_with_indices,
    adaptive_max_pool2d_with_indices,
    adaptive_max_pool3d_with_indices,
    fractional_max_pool2d,
    fractional_max_pool2d_with_indices,
    fractional_max_pool3d,
    fractional_max_pool3d_with_indices,
    lp_pool1d,
    lp_pool2d,
    lp_pool3d,
    max_unpool1d,
    max_unpool2d,
    max_unpool3d,
)
from ..ops.adaptive import (
    f_adaptive_max_pool1d as adaptive_max_pool1d,
)
from ..ops.adaptive import (
    f_adaptive_max_pool2d as adaptive_max_pool2d,
)
from ..ops.adaptive import (
    f_adaptive_max_pool3d as adaptive_max_pool3d,
)
from ..ops.attention import multi_head_attention_forward, scaled_dot_product_attention
from ..ops.bags import f_embedding_bag as embedding_bag
from ..ops.convolution import (
    conv1d,
    conv2d,
    conv3d,
    conv_tbc,
    conv_transpose1d,
    conv_transpose2d,
    conv_transpose3d,
)
from ..ops.ctc import f_ctc_loss as ctc_loss
from ..ops.distance import cosine_similarity, normalize, pairwise_distance, pdist
from ..ops.dropout import (
    dropout1d,
    dropout2d,
    dropout3d,
)
from ..ops.dropout import (
    f_alpha_dropout as alpha_dropout,
)
from ..ops.dropout import (
    f_dropout as dropout,
)
from ..ops.dropout import (
    f_feature_alpha_dropout as feature_alpha_dropout,
)
from ..ops.embedding import f_embedding as embedding
from ..ops.embedding import one_hot
from ..ops.folding import (
    channel_shuffle,
    fold,
    native_channel_shuffle,
    pixel_shuffle,
    pixel_unshuffle,
    unfold,
)
from ..ops.grid import affine_grid, grid_sample
from ..ops.linear import bilinear, linear
from ..ops.loss import (
    binary_cross_entropy,
    gaussian_nll_loss,
    huber_loss,
    l1_loss,
    mse_loss,
    smooth_l1_loss,
)
from ..ops.loss import (
    f_binary_cross_entropy_with_logits as binary_cross_entropy_with_logits,
)
from ..ops.loss import (
    f_kl_div as kl_div,
)
from ..ops.loss import (
    f_poisson_nll_loss as poisson_nll_loss,
)
from ..ops.margin import (
    f_cosine_embedding_loss as cosine_embedding_loss,
)
from ..ops.margin import (
    f_hinge_embedding_loss as hinge_embedding_loss,
)
from ..ops.margin import (
    f_margin_ranking_loss as margin_ranking_loss,
)
from ..ops.margin import (
    f_triplet_margin_loss as triplet_margin_loss,
)
from ..ops.margin import (
    multi_margin_loss,
    multilabel_margin_loss,
    multilabel_soft_margin_loss,
    soft_margin_loss,
    triplet_margin_with_distance_loss,
)
from ..ops.nll import cross_entropy, linear_cross_entropy, nll_loss
from ..ops.normalization import (
    f_batch_norm as batch_norm,
)
from ..ops.normalization import (
    f_group_norm as group_norm,
)
from ..ops.normalization import (
    f_instance_norm as instance_norm,
)
from ..ops.normalization import (
    f_layer_norm as layer_norm,
)
from ..ops.normalization import (
    local_response_norm,
    rms_norm,
)
from ..ops.padding import pad
from ..ops.pointwise import sigmoid, tanh
from ..ops.pooling import (
    avg_pool1d,
    avg_pool2d,
    avg_pool3d,
    max_pool1d,
    max_pool1d_with_indices,
    max_pool2d,
    max_pool2d_with_indices,
    max_pool3d,
    max_pool3d_with_indices,
)
from ..ops.softmax import f_log_softmax as log_softmax
from ..ops.softmax import f_softmax as softmax
from ..ops.softmax import gumbel_softmax, softmin
from ..ops.upsample import interpolate, upsample, upsample_bilinear, upsample_nearest
