"""Functions of networks, under PyTorch's names. The face of the families in ops/; nothing is defined here.

Where torch has a function of the same name with other arguments, the family calls the one of nn.functional f_<name>.

Source: torch.nn.functional.
"""

from __future__ import annotations

from ..methods import LATER as _LATER
from ..naming import placed as _placed
from ..naming import sourced as _sourced
from ..ops import activation as _activation
from ..ops import adaptive as _adaptive
from ..ops import dropout as _dropout
from ..ops import embedding as _embedding
from ..ops import loss as _loss
from ..ops import margin as _margin
from ..ops import nll as _nll
from ..ops import normalization as _normalization
from ..ops import softmax as _softmax
from ..ops._arguments import guarded as _guarded
from ..ops._public import look as _look
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
from ..ops.attention import multi_head_attention_forward, scaled_dot_product_attention
from ..ops.contraction import bilinear, linear
from ..ops.convolution import conv1d, conv2d, conv3d, conv_tbc, conv_transpose1d, conv_transpose2d, conv_transpose3d
from ..ops.distance import cosine_similarity, normalize, pairwise_distance, pdist
from ..ops.dropout import dropout1d, dropout2d, dropout3d
from ..ops.embedding import one_hot
from ..ops.loss import binary_cross_entropy, gaussian_nll_loss, huber_loss, l1_loss, mse_loss, smooth_l1_loss
from ..ops.margin import (
    multi_margin_loss,
    multilabel_margin_loss,
    multilabel_soft_margin_loss,
    soft_margin_loss,
    triplet_margin_with_distance_loss,
)
from ..ops.nll import cross_entropy, linear_cross_entropy, nll_loss
from ..ops.normalization import local_response_norm
from ..ops.padding import channel_shuffle, fold, native_channel_shuffle, pad, pixel_shuffle, pixel_unshuffle, unfold
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
from ..ops.softmax import gumbel_softmax, rms_norm, softmin
from ..ops.upsample import affine_grid, grid_sample, interpolate, upsample, upsample_bilinear, upsample_nearest

celu = _activation.f_celu
relu = _activation.f_relu
rrelu = _activation.f_rrelu
selu = _activation.f_selu
threshold = _activation.f_threshold
adaptive_max_pool1d = _adaptive.f_adaptive_max_pool1d
adaptive_max_pool2d = _adaptive.f_adaptive_max_pool2d
adaptive_max_pool3d = _adaptive.f_adaptive_max_pool3d
embedding_bag = _embedding.f_embedding_bag
ctc_loss = _nll.f_ctc_loss
alpha_dropout = _dropout.f_alpha_dropout
dropout = _dropout.f_dropout
feature_alpha_dropout = _dropout.f_feature_alpha_dropout
embedding = _embedding.f_embedding
layer_norm = _softmax.f_layer_norm
binary_cross_entropy_with_logits = _loss.f_binary_cross_entropy_with_logits
kl_div = _loss.f_kl_div
poisson_nll_loss = _loss.f_poisson_nll_loss
cosine_embedding_loss = _margin.f_cosine_embedding_loss
hinge_embedding_loss = _margin.f_hinge_embedding_loss
margin_ranking_loss = _margin.f_margin_ranking_loss
triplet_margin_loss = _margin.f_triplet_margin_loss
batch_norm = _normalization.f_batch_norm
group_norm = _normalization.f_group_norm
instance_norm = _normalization.f_instance_norm
log_softmax = _softmax.f_log_softmax
softmax = _softmax.f_softmax

for _name, _fn in list(globals().items()):
    if getattr(_fn, "__name__", "") == "f_" + _name:  # named as it is called
        _fn.__name__ = _fn.__qualname__ = _name
for _name in (
    "adaptive_avg_pool1d avg_pool1d avg_pool2d avg_pool3d bilinear channel_shuffle conv1d conv2d conv3d conv_tbc "
    "conv_transpose1d conv_transpose2d conv_transpose3d cosine_similarity hardshrink native_channel_shuffle "
    "one_hot pairwise_distance pdist pixel_shuffle pixel_unshuffle prelu scaled_dot_product_attention"
).split():  # those that PyTorch has in C
    globals()[_name] = _guarded(globals()[_name], _name)
_look(globals())
_placed(globals())
for _name, _fn in list(globals().items()):
    if _name[0] != "_" and callable(_fn):
        _sourced(_fn, _name if _name in _LATER else "nn.functional." + _name)
