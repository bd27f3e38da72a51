"""Attention with several heads. Source: torch.nn.modules.activation.MultiheadAttention."""

from __future__ import annotations

from typing import Any

from ...ops.attention import canonical_mask
from ...ops.factories import empty
from .. import functional as F
from ..init import constant_, xavier_normal_, xavier_uniform_
from ..parameter import Parameter
from .linear import NonDynamicallyQuantizableLinear
from .module import Module

__all__ = ["MultiheadAttention"]


class MultiheadAttention(Module):
    """softmax(Q K^T / sqrt(d)) V for several heads side by side, between linear maps in and out. Source:
    torch.nn.MultiheadAttention.

    Args:
        embed_dim: the size of queries and outputs, shared out over `num_heads`.
        dropout: of the attention weights, in training.
        bias: whether the maps have biases.
        add_bias_kv, add_zero_attn: one more key and value, learned or zero.
        kdim, vdim: the sizes of keys and values if not embed_dim.
        batch_first: inputs are (N, L, E) instead of (L, N, E).
    """

    __constants__ = ["batch_first"]
    in_proj_weight: Any
    in_proj_bias: Any
    bias_k: Any
    bias_v: Any

    def __init__(
        self, embed_dim: int, num_heads: int, dropout: float = 0.0, bias: bool = True, add_bias_kv: bool = False,
        add_zero_attn: bool = False, kdim: int | None = None, vdim: int | None = None, batch_first: bool = False,
        device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        if embed_dim <= 0 or num_heads <= 0:
            raise ValueError(
                f"embed_dim and num_heads must be greater than 0, got embed_dim={embed_dim} and num_heads={num_heads} "
                "instead"
            )
        super().__init__()
        self.embed_dim, self.num_heads, self.dropout, self.batch_first = (embed_dim, num_heads, dropout, batch_first)
        self.kdim = embed_dim if kdim is None else kdim
        self.vdim = embed_dim if vdim is None else vdim
        self._qkv_same_embed_dim = self.kdim == embed_dim and self.vdim == embed_dim
        self.head_dim = embed_dim // num_heads
        if self.head_dim * num_heads != embed_dim:
            raise AssertionError("embed_dim must be divisible by num_heads")

        def parameter(*shape: int) -> Any:
            return Parameter(empty(shape, device=device, dtype=dtype))

        separate = {"q": embed_dim, "k": self.kdim, "v": self.vdim}
        if self._qkv_same_embed_dim:
            self.in_proj_weight = parameter(3 * embed_dim, embed_dim)
            for name in separate:
                self.register_parameter(f"{name}_proj_weight", None)
        else:
            for name, size in separate.items():
                self.register_parameter(f"{name}_proj_weight", parameter(embed_dim, size))
            self.register_parameter("in_proj_weight", None)
        self.register_parameter("in_proj_bias", parameter(3 * embed_dim) if bias else None)
        self.out_proj = NonDynamicallyQuantizableLinear(embed_dim, embed_dim, bias=bias, device=device, dtype=dtype)
        if add_bias_kv:
            self.bias_k, self.bias_v = parameter(1, 1, embed_dim), parameter(1, 1, embed_dim)
        else:
            self.bias_k = self.bias_v = None
        self.add_zero_attn = add_zero_attn
        self._reset_parameters()

    def _reset_parameters(self) -> None:
        if self._qkv_same_embed_dim:
            xavier_uniform_(self.in_proj_weight)
        else:
            for name in "qkv":
                xavier_uniform_(getattr(self, f"{name}_proj_weight"))
        if self.in_proj_bias is not None:
            constant_(self.in_proj_bias, 0.0)
            constant_(self.out_proj.bias, 0.0)
        for extra in (self.bias_k, self.bias_v):
            if extra is not None:
                xavier_normal_(extra)

    def __setstate__(self, state: Any) -> None:
        state.setdefault("_qkv_same_embed_dim", True)
        super().__setstate__(state)

    def forward(
        self, query: Any, key: Any, value: Any, key_padding_mask: Any = None, need_weights: bool = True,
        attn_mask: Any = None, average_attn_weights: bool = True, is_causal: bool = False,
    ) -> Any:  # fmt: skip
        """Attend from `query` to `key` and take `value`.

        Args:
            key_padding_mask: (N, S); True (or -inf) where a key does not count.
            need_weights: return the attention weights too, else None in their place.
            attn_mask: (L, S) or (N * num_heads, L, S); True (or -inf) where a query may not look.
            average_attn_weights: the mean of the weights over the heads instead of each.
            is_causal: says that attn_mask is the causal one.

        Returns:
            The output, and the weights.
        """
        turned = self.batch_first and query.dim() == 3
        other = None if attn_mask is None else attn_mask.dtype
        key_padding_mask = canonical_mask(key_padding_mask, "key_padding_mask", other, "attn_mask", query.dtype)
        attn_mask = canonical_mask(attn_mask, "attn_mask", None, "", query.dtype, False)
        if turned:
            # What is one tensor stays one: self-attention projects it once.
            same_key, same_value = key is query, value is key
            query = query.transpose(1, 0)
            key = query if same_key else key.transpose(1, 0)
            value = key if same_value else value.transpose(1, 0)
        more = {}
        if not self._qkv_same_embed_dim:
            more = {f"{name}_proj_weight": getattr(self, f"{name}_proj_weight") for name in "qkv"}
            more["use_separate_proj_weight"] = True
        out, weights = F.multi_head_attention_forward(
            query, key, value, self.embed_dim, self.num_heads, self.in_proj_weight, self.in_proj_bias, self.bias_k,
            self.bias_v, self.add_zero_attn, self.dropout, self.out_proj.weight, self.out_proj.bias,
            training=self.training, key_padding_mask=key_padding_mask, need_weights=need_weights, attn_mask=attn_mask,
            average_attn_weights=average_attn_weights, is_causal=is_causal, **more,
        )  # fmt: skip
        return (out.transpose(1, 0) if turned else out), weights

    def merge_masks(self, attn_mask: Any, key_padding_mask: Any, query: Any) -> tuple[Any, int | None]:
        """Both masks as one that is added to the scores, and its kind: 1 padding only, 2 otherwise."""
        merged, kind = key_padding_mask, None if key_padding_mask is None else 1
        if attn_mask is not None:
            n, length, _ = query.shape
            if attn_mask.dim() == 3:
                merged = attn_mask.view(n, -1, length, length)
            else:
                merged = attn_mask.view(1, 1, length, length).expand(n, self.num_heads, -1, -1)
            kind = 2
            if key_padding_mask is not None:
                merged = merged + key_padding_mask.view(n, 1, 1, length).expand(-1, self.num_heads, -1, -1)
        return merged, kind


# Where PyTorch has it, so that files that hold modules go both ways.
MultiheadAttention.__module__ = __name__.replace("attention", "activation")
