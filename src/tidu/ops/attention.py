"""Attention: scaled dot products, and the heads around them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..arrays import attention as kernels
from ..arrays import rows
from ..core.op import Op
from ..core.subclass import Special
from ..core.tensor import Tensor, dtype_word, tensor_of, type_name
from ..naming import warn
from ._dtypes import refusal
from .contraction import linear
from .dropout import dropout, f_dropout
from .joining import cat
from .loss import mul_number
from .matmul import baddbmm, bmm, matmul
from .padding import pad
from .reduction import mean, sum
from .selection import where
from .softmax import f_softmax

__all__: list[str] = []

Value = Any
ndarray = np.ndarray

# ------------------------------------------------------------------ the fused op


def _wide(x: Any) -> Any:
    return x.astype(np.float32) if x.dtype.itemsize == 2 else x


def _prepared(query: Any, key: Any, value: Any, mask: Any) -> tuple[Any, Any, Any, Any]:
    """Queries, keys and values in a type to compute in, as many heads of each, and the mask."""
    q, k, v = _wide(query), _wide(key), _wide(value)
    rep = _times(q, k)
    if rep > 1:
        k, v = np.repeat(k, rep, 1), np.repeat(v, rep, 1)
    return q, k, v, None if mask is None else kernels.Mask(mask, q.dtype)


def _times(query: Any, key: Any) -> int:
    """How many heads of queries each head of keys is for."""
    return query.shape[1] // key.shape[1] if key.shape[1] else 1


def _fused_forward(query: Any, key: Any, value: Any, attn_mask: Any, is_causal: bool, scale: float) -> Any:
    q, k, v, mask = _prepared(query, key, value, attn_mask)
    # laid out as the queries are, so that joining the heads mostly costs no copy
    out = np.empty_like(q) if q.strides[3] == q.itemsize else np.empty(q.shape, q.dtype)
    lse = kernels.forward(q, k, v, scale, mask, is_causal, out)
    return out.astype(query.dtype, copy=False), lse[..., 0]


def _fused_rule(
    g0: Value, query: Value, key: Value, value: Value, attn_mask: Value, out0: Value, out1: Value, is_causal: bool,
    scale: float,
) -> Any:  # fmt: skip
    if g0.__class__ is not ndarray:
        return _recorded_rule(g0, query, key, value, attn_mask, is_causal, scale)
    q, k, v, mask = _prepared(query, key, value, attn_mask)
    gq, gk, gv = kernels.backward(_wide(g0), q, k, v, _wide(out0), out1[..., None], scale, mask, is_causal)
    rep = _times(query, key)

    def back(c: Any, like: Any) -> Any:
        if rep > 1 and like is not query:
            b, h = like.shape[:2]
            c = c.reshape(b, h, rep, *like.shape[2:]).sum(2)
        return c.astype(like.dtype, copy=False)

    return back(gq, query), back(gk, key), back(gv, value)


def _repeated(x: Value, rep: int) -> Value:
    return x if rep == 1 else x.repeat_interleave(rep, 1)


def _summed(x: Value, rep: int) -> Value:
    if rep == 1:
        return x
    b, h, *rest = x.shape
    return sum(x.reshape((b, h // rep, rep, *rest)), 2)


def _probabilities(q: Value, k: Value, mask: Value, is_causal: bool, scale: float) -> Value:
    s = matmul(q, k.mT) * scale
    if is_causal:
        s = where(_triangle(q.shape[-2], k.shape[-2]), s, -math.inf)
    if mask is not None:
        s = where(mask, s, -math.inf) if mask.dtype.name == "bool" else s + mask
    return _safe_softmax(s, s.ndim - 1)


def _triangle(length: int, other: int) -> Tensor:
    return tensor_of(np.tri(length, other, dtype=bool))


def _recorded_rule(g: Value, q: Value, key: Value, value: Value, mask: Value, is_causal: bool, scale: float) -> Any:
    rep = _times(q, key)
    k, v = _repeated(key, rep), _repeated(value, rep)
    p = _probabilities(q, k, mask, is_causal, scale)
    gv = matmul(p.mT, g)
    gp = matmul(g, v.mT)
    gs = (gp - sum(gp * p, 3, True)) * p * scale
    return matmul(gs, k), _summed(matmul(gs.mT, q), rep), _summed(gv, rep)


_fused = Op(
    "_scaled_dot_product_flash_attention_for_cpu",
    _fused_forward,
    _fused_rule,
    tensors=("query", "key", "value", "attn_mask"),
    outputs=2,
    nondiff=(1,),
    node="ScaledDotProductFlashAttentionForCpuBackward0",
    out_arg=False,
)
_fused.graded = _fused.positions[:3]  # the mask has no gradient


# ------------------------------------------------------------------ step by step


def _safe_forward(input: Any, dim: int) -> Any:
    """Softmax, with zeros for rows of minus infinities."""
    refusal("bic", "softmax_lastdim_kernel_impl")("", tensor_of(input).dtype)
    out = rows.softmax(input, dim)
    none = np.isneginf(input).all(dim, keepdims=True)
    return np.where(none, input.dtype.type(0), out) if none.any() else out


_safe_softmax = Op(
    "_safe_softmax",
    _safe_forward,
    {"input": lambda g, out, dim: (g - sum(g * out, dim, True)) * out},
    {"input": lambda t, out, dim: (t - sum(t * out, dim, True)) * out},
    out_arg=False,
).call


def _by_steps(
    q: Value, k: Value, v: Value, mask: Value, dropout_p: float, is_causal: bool, scale: float | None
) -> Value:
    root = math.sqrt(1 / math.sqrt(q.shape[-1]) if scale is None else scale)
    if is_causal:
        if mask is not None:
            raise RuntimeError(
                "_scaled_dot_product_attention: Explicit attn_mask should not be set when is_causal=True"
            )
        mask = _triangle(q.shape[-2], k.shape[-2])
    if mask is not None and mask.dtype.name == "bool":
        mask = where(mask, 0.0, -math.inf).to(q.dtype)
    scores = matmul(mul_number(q, root), mul_number(k.transpose(-2, -1), root))
    if mask is not None:
        scores = scores + mask
    p = _safe_softmax(scores, scores.ndim - 1)
    if dropout_p > 0:
        p = dropout(p, dropout_p, True)
    return matmul(p, v)


def _check(query: Value, key: Value, value: Value, mask: Value) -> None:
    for i, (name, x) in enumerate((("query", query), ("key", key), ("value", value)), 1):
        if not isinstance(x, Tensor):
            raise TypeError(
                f"scaled_dot_product_attention(): argument '{name}' (position {i}) must be Tensor, not {type_name(x)}"
            )
    if not query.dtype == key.dtype == value.dtype:
        raise RuntimeError(
            "Expected query, key, and value to have the same dtype, but got query.dtype: "
            f"{dtype_word(query.dtype)} key.dtype: {dtype_word(key.dtype)} and value.dtype: {dtype_word(value.dtype)} instead."
        )
    if min(query.ndim, key.ndim, value.ndim) < 2:
        raise RuntimeError(
            "Expected query, key, and value to all be  at least 2 dimensional, but got query.dim: "
            f"{query.ndim} key.dim: {key.ndim} and value.dim: {value.ndim} instead."
        )
    if mask is not None and mask.dtype.name not in ("bool", "float32") and mask.dtype != query.dtype:
        raise RuntimeError(
            "Expected attn_mask dtype to be bool or float or to match query dtype, but got attn_mask.dtype: "
            f"{dtype_word(mask.dtype)} and  query.dtype: {dtype_word(query.dtype)} instead."
        )


def _fits(q: Value, k: Value, v: Value, mask: Value, dropout_p: float, gqa: bool) -> bool:
    """Whether the fused op takes it."""
    if q.ndim != 4 or k.ndim != 4 or v.ndim != 4 or dropout_p or q.dtype.category != 2:
        return False
    if not q.shape[-1] == k.shape[-1] == v.shape[-1] or q.shape[0] != k.shape[0] or k.shape[:3] != v.shape[:3]:
        return False
    if q.shape[1] != k.shape[1] and not (gqa and k.shape[1] and q.shape[1] % k.shape[1] == 0):
        return False
    if 0 in (q.shape[2], k.shape[2]):
        return False
    if mask is not None:
        if mask.requires_grad or isinstance(mask, Special) or mask.ndim not in (2, 4):
            return False
        full = (q.shape[0], q.shape[1], q.shape[2], k.shape[2])
        return all(m in (1, n) for m, n in zip(reversed(mask.shape), reversed(full), strict=False)) and (
            mask.shape[-1] == full[-1] and mask.shape[-2] == full[-2]
        )
    return True


def scaled_dot_product_attention(
    query: Value, key: Value, value: Value, attn_mask: Value = None, dropout_p: float = 0.0, is_causal: bool = False,
    scale: float | None = None, enable_gqa: bool = False,
) -> Value:  # fmt: skip
    """softmax(query key^T * scale + attn_mask) value, for (..., length, width).

    **Arguments** attn_mask: added to the scores, or, if boolean, True where a query may see a key; dropout_p: the
    chance
    of a weight to be dropped; is_causal: queries see the keys up to their own place; scale: 1 / sqrt(width) if None;
    enable_gqa: fewer heads of keys and values than of queries, each for several. Rows that see nothing give zeros.
    """
    _check(query, key, value, attn_mask)
    if _fits(query, key, value, attn_mask, dropout_p, enable_gqa):
        used = 1 / math.sqrt(query.shape[-1]) if scale is None else scale
        return _fused.call(query, key, value, attn_mask, is_causal, used)[0]
    if enable_gqa and query.ndim >= 3:
        h = query.shape[-3]
        if any(x.shape[-3] == 0 or h % x.shape[-3] for x in (key, value)):
            raise RuntimeError("Number of heads in key and value must divide the number of heads in ")
        key = key.repeat_interleave(h // key.shape[-3], -3)
        value = value.repeat_interleave(h // value.shape[-3], -3)
    return _by_steps(query, key, value, attn_mask, dropout_p, is_causal, scale)


# ------------------------------------------------------------------ several heads


def _turned(x: Value) -> bool:
    return not x.is_contiguous() and x.transpose(0, 1).is_contiguous()


def _linear(x: Value, w: Value, b: Value) -> Value:
    return linear(x.transpose(0, 1), w, b).transpose(0, 1) if _turned(x) else linear(x, w, b)


def _project(q: Value, k: Value, v: Value, w: Value, b: Value) -> tuple[Value, Value, Value]:
    """The three projections by one matrix of weights, in as few products as may be."""
    e = q.size(-1)
    if k is v:
        if q is k:
            return _parts(_linear(q, w, b), 3)
        wq, wkv = w.split([e, e * 2])
        bq, bkv = (None, None) if b is None else b.split([e, e * 2])
        return _linear(q, wq, bq), *_parts(_linear(k, wkv, bkv), 2)
    wq, wk, wv = w.chunk(3)
    bq, bk, bv = (None,) * 3 if b is None else b.chunk(3)
    return _linear(q, wq, bq), _linear(k, wk, bk), _linear(v, wv, bv)


def _parts(x: Value, n: int) -> tuple[Value, ...]:
    if _turned(x):
        return x.chunk(n, -1)
    x = x.unflatten(-1, (n, x.shape[-1] // n)).unsqueeze(0).transpose(0, -2).squeeze(-2).contiguous()
    return tuple(x[i] for i in range(n))


def _project_apart(
    q: Value, k: Value, v: Value, wq: Value, wk: Value, wv: Value, bq: Value, bk: Value, bv: Value
) -> tuple[Value, Value, Value]:
    eq, ek, ev = q.size(-1), k.size(-1), v.size(-1)
    for name, w, shape in (("query", wq, (eq, eq)), ("key", wk, (eq, ek)), ("value", wv, (eq, ev))):
        _must(tuple(w.shape) == shape, f"expecting {name} weights shape of {shape}, but got {w.shape}")
    for name, b in (("query", bq), ("key", bk), ("value", bv)):
        if b is not None:
            _must(tuple(b.shape) == (eq,), f"expecting {name} bias shape of {(eq,)}, but got {b.shape}")
    return _linear(q, wq, bq), _linear(k, wk, bk), _linear(v, wv, bv)


def _must(good: bool, message: str) -> None:
    if not good:
        raise AssertionError(message)


def _check_shapes(q: Value, k: Value, v: Value, padding: Value, mask: Value, num_heads: int) -> bool:
    """Whether there is a batch."""
    if q.ndim == 3:
        _must(
            k.ndim == 3 and v.ndim == 3,
            f"For batched (3-D) `query`, expected `key` and `value` to be 3-D but found {k.dim()}-D and {v.dim()}-D "
            "tensors respectively",
        )
        if padding is not None:
            _must(
                padding.ndim == 2,
                "For batched (3-D) `query`, expected `key_padding_mask` to be `None` or 2-D but found "
                f"{padding.dim()}-D tensor instead",
            )
        if mask is not None:
            _must(
                mask.ndim in (2, 3),
                "For batched (3-D) `query`, expected `attn_mask` to be `None`, 2-D or 3-D but found "
                f"{mask.dim()}-D tensor instead",
            )
        return True
    _must(q.ndim == 2, f"query should be unbatched 2D or batched 3D tensor but received {q.dim()}-D query tensor")
    _must(
        k.ndim == 2 and v.ndim == 2,
        f"For unbatched (2-D) `query`, expected `key` and `value` to be 2-D but found {k.dim()}-D and {v.dim()}-D "
        "tensors respectively",
    )
    if padding is not None:
        _must(
            padding.ndim == 1,
            "For unbatched (2-D) `query`, expected `key_padding_mask` to be `None` or 1-D but found "
            f"{padding.dim()}-D tensor instead",
        )
    if mask is not None:
        _must(
            mask.ndim in (2, 3),
            "For unbatched (2-D) `query`, expected `attn_mask` to be `None`, 2-D or 3-D but found "
            f"{mask.dim()}-D tensor instead",
        )
        if mask.ndim == 3:
            want = (num_heads, q.shape[0], k.shape[0])
            _must(tuple(mask.shape) == want, f"Expected `attn_mask` shape to be {want} but got {mask.shape}")
    return False


def _canonical_mask(
    mask: Value, mask_name: str, other_type: Any, other_name: str, target_type: Any, check_other: bool = True
) -> Value:
    """A mask as what is added to scores: minus infinity where a boolean one is True."""
    if mask is None:
        return None
    floating = mask.dtype.category == 2
    _must(mask.dtype.name == "bool" or floating, f"only bool and floating types of {mask_name} are supported")
    if check_other and other_type is not None and mask.dtype != other_type:
        warn(f"Support for mismatched {mask_name} and {other_name} is deprecated. Use same type for both instead.")
    if floating:
        return mask
    zeros = tensor_of(np.zeros(tuple(mask.shape), target_type.np))
    return zeros.masked_fill_(mask, -math.inf)


def multi_head_attention_forward(
    query: Value, key: Value, value: Value, embed_dim_to_check: int, num_heads: int, in_proj_weight: Value,
    in_proj_bias: Value, bias_k: Value, bias_v: Value, add_zero_attn: bool, dropout_p: float, out_proj_weight: Value,
    out_proj_bias: Value, training: bool = True, key_padding_mask: Value = None, need_weights: bool = True,
    attn_mask: Value = None, use_separate_proj_weight: bool = False, q_proj_weight: Value = None,
    k_proj_weight: Value = None, v_proj_weight: Value = None, static_k: Value = None, static_v: Value = None,
    average_attn_weights: bool = True, is_causal: bool = False,
) -> tuple[Value, Value]:  # fmt: skip
    """Attention in `num_heads` heads of (length, batch, width), between linear projections: the result, and
    the weights.

    **Arguments** in_proj_weight, in_proj_bias: the three projections' weights, one above the other (or apart, with
    `use_separate_proj_weight`); bias_k, bias_v: one more key and value; add_zero_attn: one more, of zeros;
    key_padding_mask: True for keys that nobody sees; need_weights: return the weights, averaged over the heads unless
    `average_attn_weights` is False.
    """
    batched = _check_shapes(query, key, value, key_padding_mask, attn_mask, num_heads)
    if not batched:
        same_kv, same_qk = key is value, query is key
        query = query.unsqueeze(1)
        key = query if same_qk else key.unsqueeze(1)
        value = key if same_kv else value.unsqueeze(1)
        if key_padding_mask is not None:
            key_padding_mask = key_padding_mask.unsqueeze(0)
    length, b, width = query.shape
    others = key.shape[0]
    mask_type = None if attn_mask is None else attn_mask.dtype
    key_padding_mask = _canonical_mask(key_padding_mask, "key_padding_mask", mask_type, "attn_mask", query.dtype)
    if is_causal and attn_mask is None:
        raise RuntimeError(
            "Need attn_mask if specifying the is_causal hint. You may use the Transformer module method "
            "`generate_square_subsequent_mask` to create this mask."
        )
    if is_causal and key_padding_mask is None and not need_weights:
        attn_mask = None
    else:
        attn_mask = _canonical_mask(attn_mask, "attn_mask", None, "", query.dtype, False)
        if key_padding_mask is not None:
            is_causal = False
    _must(width == embed_dim_to_check, f"was expecting embedding dimension of {embed_dim_to_check}, but got {width}")
    head = width // num_heads
    _must(head * num_heads == width, f"embed_dim {width} not divisible by num_heads {num_heads}")
    if use_separate_proj_weight:
        _must(
            key.shape[:2] == value.shape[:2],
            f"key's sequence and batch dims {key.shape[:2]} do not match value's {value.shape[:2]}",
        )
        for name, w in (("q", q_proj_weight), ("k", k_proj_weight), ("v", v_proj_weight)):
            _must(w is not None, f"use_separate_proj_weight is True but {name}_proj_weight is None")
        bq, bk, bv = (None,) * 3 if in_proj_bias is None else in_proj_bias.chunk(3)
        q, k, v = _project_apart(query, key, value, q_proj_weight, k_proj_weight, v_proj_weight, bq, bk, bv)
    else:
        _must(key.shape == value.shape, f"key shape {key.shape} does not match value shape {value.shape}")
        _must(in_proj_weight is not None, "use_separate_proj_weight is False but in_proj_weight is None")
        q, k, v = _project(query, key, value, in_proj_weight, in_proj_bias)
    if attn_mask is not None:
        attn_mask = _with_heads(attn_mask, length, others, b * num_heads)
    if bias_k is not None and bias_v is not None:
        _must(static_k is None, "bias cannot be added to static key.")
        _must(static_v is None, "bias cannot be added to static value.")
        k, v = cat([k, bias_k.repeat(1, b, 1)]), cat([v, bias_v.repeat(1, b, 1)])
        attn_mask, key_padding_mask = _one_more(attn_mask), _one_more(key_padding_mask)
    else:
        _must(bias_k is None, "bias_k is set but bias_v is None")
        _must(bias_v is None, "bias_v is set but bias_k is None")
    q = _split_heads("", None, q, b, num_heads)
    k = _split_heads("static_k", static_k, k, b, num_heads)
    v = _split_heads("static_v", static_v, v, b, num_heads)
    if need_weights or add_zero_attn:
        q, k, v = (x.flatten(0, 1) if x.ndim == 4 else x for x in (q, k, v))
    if add_zero_attn:
        zeros = tensor_of(np.zeros((b * num_heads, 1, head), k.dtype.np))
        k, v = cat([k, zeros], 1), cat([v, zeros.to(v.dtype)], 1)
        attn_mask, key_padding_mask = _one_more(attn_mask), _one_more(key_padding_mask)
    others = k.size(-2)
    if key_padding_mask is not None:
        for i, want in enumerate((b, others)):
            got = key_padding_mask.shape[i]
            if got != want:
                raise AssertionError(f"Expected key_padded_mask.shape[{i}] to be {want}, but got {got}")
        spread = key_padding_mask.view(b, 1, 1, others).expand(-1, num_heads, -1, -1)
        spread = spread.reshape((b * num_heads, 1, others))
        attn_mask = spread if attn_mask is None else attn_mask + spread
    if not training:
        dropout_p = 0.0
    if need_weights:
        q = q * math.sqrt(1.0 / float(q.shape[2]))
        _must(not (is_causal and attn_mask is None), "FIXME: is_causal not implemented for need_weights")
        if attn_mask is not None:
            weights = baddbmm(attn_mask, q, k.transpose(-2, -1))
        else:
            weights = bmm(q, k.transpose(-2, -1))
        weights = f_softmax(weights, -1)
        if dropout_p > 0.0:
            weights = f_dropout(weights, dropout_p)
        out = bmm(weights, v).transpose(0, 1).reshape((length * b, width))
        out = linear(out, out_proj_weight, out_proj_bias).view(length, b, -1)
        weights = weights.view(b, num_heads, length, others)
        if average_attn_weights:
            weights = mean(weights, 1)
        return (out, weights) if batched else (out.squeeze(1), weights.squeeze(0))
    if attn_mask is not None:
        if attn_mask.size(0) == 1 and attn_mask.ndim == 3:
            attn_mask = attn_mask.unsqueeze(0)
        else:
            attn_mask = attn_mask.view(b, num_heads, -1, others)
    q, k, v = (
        q.view(b, num_heads, length, head),
        k.view(b, num_heads, others, head),
        v.view(b, num_heads, others, head),
    )
    out = scaled_dot_product_attention(q, k, v, attn_mask, dropout_p, is_causal)
    out = out.permute(2, 0, 1, 3).contiguous().view(b * length, width)
    out = linear(out, out_proj_weight, out_proj_bias).view(length, b, -1)
    return (out, None) if batched else (out.squeeze(1), None)


def _one_more(mask: Value) -> Value:
    return None if mask is None else pad(mask, (0, 1))


def _with_heads(mask: Value, length: int, others: int, heads: int) -> Value:
    """A mask with a dimension for the heads."""
    if mask.ndim == 2:
        want = (length, others)
        if tuple(mask.shape) != want:
            raise RuntimeError(f"The shape of the 2D attn_mask is {mask.shape}, but should be {want}.")
        return mask.unsqueeze(0)
    if mask.ndim == 3:
        want3 = (heads, length, others)
        if tuple(mask.shape) != want3:
            raise RuntimeError(f"The shape of the 3D attn_mask is {mask.shape}, but should be {want3}.")
        return mask
    raise RuntimeError(f"attn_mask's dimension {mask.dim()} is not supported")


def _split_heads(name: str, given: Value, x: Value, batch: int, heads: int) -> Value:
    """(length, batch, width) as (batch * heads, length, width of a head), in four dims where that takes no copy."""
    length, n, width = x.shape
    width //= heads
    if given is None:
        if x.is_contiguous() or n != batch:
            return x.view(length, batch * heads, width).transpose(0, 1)
        return x.unflatten(2, (heads, width)).permute(1, 2, 0, 3)
    heads *= batch
    _must(given.size(0) == heads, f"expecting {name}.size(0) of {heads}, but got {given.size(0)}")
    _must(given.size(2) == width, f"expecting {name}.size(2) of {width}, but got {given.size(2)}")
    return given
