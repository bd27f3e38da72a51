"""Functions of networks, under PyTorch's names. The face of the families in ops/; nothing is defined here, and a family is
imported when one of its functions is first used.

Where torch has a function of the same name with other arguments, the family calls the one of nn.functional f_<name>.

Source: torch.nn.functional.
"""

from __future__ import annotations

from typing import Any as _Any

from ..core.subclass import FACES as _FACES
from ..methods import LATER as _LATER
from ..naming import placed as _placed
from ..naming import sourced as _sourced
from ..ops import family as _family

_FAMILIES = {
    "activation": (
        "celu celu_ elu elu_ gelu glu hardshrink hardsigmoid hardswish hardtanh hardtanh_ leaky_relu "
        "leaky_relu_ logsigmoid mish prelu relu relu6 relu_ rrelu rrelu_ selu selu_ silu softplus "
        "softshrink softsign tanhshrink threshold threshold_"
    ),
    "adaptive": (
        "adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d adaptive_max_pool1d "
        "adaptive_max_pool1d_with_indices adaptive_max_pool2d adaptive_max_pool2d_with_indices "
        "adaptive_max_pool3d adaptive_max_pool3d_with_indices fractional_max_pool2d "
        "fractional_max_pool2d_with_indices fractional_max_pool3d fractional_max_pool3d_with_indices "
        "lp_pool1d lp_pool2d lp_pool3d max_unpool1d max_unpool2d max_unpool3d"
    ),
    "attention": "_canonical_mask multi_head_attention_forward scaled_dot_product_attention",
    "contraction": "bilinear linear",
    "convolution": "conv1d conv2d conv3d conv_tbc conv_transpose1d conv_transpose2d conv_transpose3d",
    "distance": "cosine_similarity normalize pairwise_distance pdist",
    "dropout": "alpha_dropout dropout dropout1d dropout2d dropout3d feature_alpha_dropout",
    "embedding": "embedding embedding_bag one_hot",
    "loss": (
        "binary_cross_entropy binary_cross_entropy_with_logits gaussian_nll_loss huber_loss kl_div "
        "l1_loss mse_loss poisson_nll_loss smooth_l1_loss"
    ),
    "margin": (
        "cosine_embedding_loss hinge_embedding_loss margin_ranking_loss multi_margin_loss "
        "multilabel_margin_loss multilabel_soft_margin_loss soft_margin_loss triplet_margin_loss "
        "triplet_margin_with_distance_loss"
    ),
    "nll": "cross_entropy ctc_loss linear_cross_entropy nll_loss",
    "normalization": "batch_norm group_norm instance_norm local_response_norm",
    "padding": "channel_shuffle fold native_channel_shuffle pad pixel_shuffle pixel_unshuffle unfold",
    "pointwise": "sigmoid tanh",
    "pooling": (
        "avg_pool1d avg_pool2d avg_pool3d max_pool1d max_pool1d_with_indices max_pool2d "
        "max_pool2d_with_indices max_pool3d max_pool3d_with_indices"
    ),
    "softmax": "gumbel_softmax layer_norm log_softmax rms_norm softmax softmin",
    "upsample": "affine_grid grid_sample interpolate upsample upsample_bilinear upsample_nearest",
}
_HOMES = {name: family for family, names in _FAMILIES.items() for name in names.split()}
_IN_C = frozenset(
    "adaptive_avg_pool1d avg_pool1d avg_pool2d avg_pool3d bilinear channel_shuffle conv1d conv2d conv3d conv_tbc "
    "conv_transpose1d conv_transpose2d conv_transpose3d cosine_similarity hardshrink native_channel_shuffle "
    "one_hot pairwise_distance pdist pixel_shuffle pixel_unshuffle prelu scaled_dot_product_attention".split()
)  # in PyTorch
__all__ = [name for name in _HOMES if name[0] != "_"]


def __getattr__(name: str) -> _Any:
    if name not in _HOMES:
        from ..core.errors import missing_name

        raise missing_name(__name__, name)
    from ..ops._arguments import guarded
    from ..ops._public import look

    family = _family(_HOMES[name])
    fn = getattr(family, "f_" + name, None) or getattr(family, name)
    if fn.__name__ == "f_" + name:  # named as it is called
        fn.__name__ = fn.__qualname__ = name
    fn = look(guarded(fn, name) if name in _IN_C else fn, name)
    _placed({"__name__": __name__, name: fn})
    _sourced(fn, name if name in _LATER else "nn.functional." + name)
    fn = globals().setdefault(name, fn)  # several threads may ask for it at a time
    if _FACES.refresh is not None:
        _FACES.refresh()
    return fn


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})
