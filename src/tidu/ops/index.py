"""Written by `python -m tidu.ops`: what the families give."""

# fmt: off
# family: (names of the face, methods, ops with an in-place variant, operators, properties)
FAMILIES = {
    "activation": (
        "celu celu_ hardshrink prelu relu relu_ rrelu rrelu_ selu selu_ threshold threshold_",
        "hardshrink prelu relu relu_",
    ),
    "adaptive": (
        "adaptive_avg_pool1d adaptive_max_pool1d",
    ),
    "arithmetic": (
        "add sub subtract rsub mul multiply div divide true_divide floor_divide remainder fmod neg negative "
        "positive gcd lcm",
        "* add_ sub_ subtract_ div_ divide_ true_divide_ floor_divide_ remainder_ fmod_ -rsub",
        "mul multiply neg negative gcd lcm",
        "__add__ __radd__ __iadd__ __sub__ __rsub__ __isub__ __mul__ __rmul__ __imul__ __truediv__ __div__ "
        "__rtruediv__ __rdiv__ __itruediv__ __idiv__ __floordiv__ __rfloordiv__ __ifloordiv__ __mod__ "
        "__rmod__ __imod__ __neg__ __pos__",
    ),
    "attention": (
    ),
    "comparison": (
        "allclose angle bitwise_and bitwise_left_shift bitwise_not bitwise_or bitwise_right_shift bitwise_xor "
        "complex conj conj_physical eq equal fmax fmin ge greater greater_equal gt imag is_conj is_neg "
        "isclose isfinite isinf isnan isneginf isposinf isreal le less less_equal logical_and logical_not "
        "logical_or logical_xor lt maximum minimum ne not_equal polar real resolve_conj resolve_neg signbit "
        "view_as_complex view_as_real",
        "* -complex -imag -polar -real -view_as_complex -view_as_real",
        "eq ne lt le gt ge not_equal less less_equal greater greater_equal logical_and logical_or logical_xor "
        "logical_not bitwise_and bitwise_or bitwise_xor bitwise_not bitwise_left_shift bitwise_right_shift "
        "conj_physical",
        "__eq__ __ne__ __lt__ __le__ __gt__ __ge__ __invert__ __and__ __rand__ __iand__ __or__ __ror__ "
        "__ior__ __xor__ __rxor__ __ixor__ __lshift__ __rlshift__ __ilshift__ __rshift__ __rrshift__ "
        "__irshift__",
        "real imag",
    ),
    "contraction": (
        "bilinear einsum inner kron tensordot",
        "inner kron",
    ),
    "conversion": (
        "clone detach detach_",
        "* bfloat16 bool byte cdouble cfloat char contiguous cpu cuda double float half int is_pinned long "
        "pin_memory short to type type_as xpu",
        "",
        "",
        "data",
    ),
    "convolution": (
        "conv1d conv2d conv3d conv_tbc conv_transpose1d conv_transpose2d conv_transpose3d convolution",
    ),
    "coo": (
        "smm sparse_bsc_tensor sparse_bsr_tensor sparse_compressed_tensor sparse_coo_tensor sparse_csc_tensor "
        "sparse_csr_tensor",
        "_coalesced_ _indices _nnz _values coalesce col_indices crow_indices indices is_coalesced sparse_mask "
        "to_sparse smm to_sparse_bsc to_sparse_bsr to_sparse_coo to_sparse_csc to_sparse_csr values",
    ),
    "creation": (
        "as_tensor asarray from_dlpack from_numpy frombuffer scalar_tensor tensor",
        "new_tensor as_subclass new",
        "",
        "__new__ _make_subclass",
    ),
    "decompositions": (
        "qr svd",
        "*",
    ),
    "distance": (
        "cdist cosine_similarity pairwise_distance pdist",
    ),
    "draws": (
        "_sample_dirichlet _standard_gamma _standard_gamma_grad bernoulli binomial multinomial normal poisson",
        "bernoulli bernoulli_ multinomial",
    ),
    "dropout": (
        "alpha_dropout alpha_dropout_ dropout dropout_ feature_alpha_dropout feature_alpha_dropout_ "
        "feature_dropout feature_dropout_ native_dropout",
    ),
    "embedding": (
        "embedding embedding_bag embedding_renorm_",
    ),
    "export": (
        "",
        "item numpy tolist",
        "",
        "__array__ __array_priority__ __bool__ __complex__ __copy__ __deepcopy__ __dlpack__ __dlpack_device__ "
        "__float__ __index__ __int__ __reduce_ex__ __array_function__ __array_ufunc__ __array_wrap__",
    ),
    "extremes": (
        "all amax amin aminmax any argmax argmin count_nonzero max min",
        "*",
    ),
    "factories": (
        "empty empty_like empty_permuted empty_strided full full_like ones ones_like zeros zeros_like",
        "new_empty new_empty_strided new_full new_ones new_zeros",
    ),
    "fourier": (
    ),
    "gather": (
        "gather scatter scatter_add take_along_dim",
        "* scatter_ scatter_add_",
    ),
    "histograms": (
        "bincount bucketize histc histogram histogramdd searchsorted",
        "bincount histc histogram",
    ),
    "index_dim": (
        "index_add index_copy index_fill index_reduce index_select",
        "* index_add_ index_copy_ index_fill_ index_reduce_",
    ),
    "indexing": (
        "fill fill_ index_put index_put_ zero_",
        "* copy_ -fill",
        "",
        "__getitem__ __setitem__ __delitem__",
    ),
    "internal": (
        "_foreach_clone _foreach_copy_ _foreach_max _foreach_mm _foreach_norm _foreach_zero_ "
        "_native_batch_norm_legit _safe_softmax _softmax_backward_data _unsafe_masked_index "
        "_unsafe_masked_index_put_accumulate alias_copy as_strided_copy detach_copy expand_copy hash_tensor "
        "permute_copy select_copy slice_copy split_copy split_with_sizes_copy squeeze_copy t_copy "
        "transpose_copy unbind_copy unfold_copy unsqueeze_copy view_as_complex_copy view_as_real_copy "
        "view_copy _foreach_abs _foreach_abs_ _foreach_acos _foreach_acos_ _foreach_asin _foreach_asin_ "
        "_foreach_atan _foreach_atan_ _foreach_ceil _foreach_ceil_ _foreach_cos _foreach_cos_ _foreach_cosh "
        "_foreach_cosh_ _foreach_erf _foreach_erf_ _foreach_erfc _foreach_erfc_ _foreach_exp _foreach_exp_ "
        "_foreach_expm1 _foreach_expm1_ _foreach_floor _foreach_floor_ _foreach_frac _foreach_frac_ "
        "_foreach_lgamma _foreach_lgamma_ _foreach_log _foreach_log_ _foreach_log10 _foreach_log10_ "
        "_foreach_log1p _foreach_log1p_ _foreach_log2 _foreach_log2_ _foreach_neg _foreach_neg_ "
        "_foreach_reciprocal _foreach_reciprocal_ _foreach_round _foreach_round_ _foreach_rsqrt "
        "_foreach_rsqrt_ _foreach_sigmoid _foreach_sigmoid_ _foreach_sign _foreach_sign_ _foreach_sin "
        "_foreach_sin_ _foreach_sinh _foreach_sinh_ _foreach_sqrt _foreach_sqrt_ _foreach_tan _foreach_tan_ "
        "_foreach_tanh _foreach_tanh_ _foreach_trunc _foreach_trunc_ _foreach_add _foreach_add_ "
        "_foreach_clamp_max _foreach_clamp_max_ _foreach_clamp_min _foreach_clamp_min_ _foreach_div "
        "_foreach_div_ _foreach_maximum _foreach_maximum_ _foreach_minimum _foreach_minimum_ _foreach_mul "
        "_foreach_mul_ _foreach_pow _foreach_pow_ _foreach_sub _foreach_sub_ _foreach_addcdiv "
        "_foreach_addcdiv_ _foreach_addcmul _foreach_addcmul_ _foreach_lerp _foreach_lerp_",
        "hash_tensor",
    ),
    "joining": (
        "block_diag cat column_stack concat concatenate dstack hstack row_stack stack vstack",
    ),
    "loss": (
        "binary_cross_entropy_with_logits kl_div poisson_nll_loss",
    ),
    "lu": (
        "lu lu_solve lu_unpack",
        "lu lu_solve",
    ),
    "margin": (
        "cosine_embedding_loss hinge_embedding_loss margin_ranking_loss triplet_margin_loss",
    ),
    "matmul": (
        "addbmm addmm addmv addr baddbmm bmm chain_matmul dot ger matmul mm mv outer vdot",
        "* addbmm_ -chain_matmul",
        "addmm addmv addr baddbmm",
        "__matmul__ __rmatmul__",
    ),
    "matrix_functions": (
        "cross geqrf matrix_exp matrix_power orgqr ormqr trace",
        "*",
    ),
    "nll": (
        "ctc_loss",
    ),
    "normalization": (
        "batch_norm group_norm instance_norm native_batch_norm native_group_norm",
    ),
    "padding": (
        "channel_shuffle constant_pad_nd native_channel_shuffle pixel_shuffle pixel_unshuffle",
    ),
    "piecewise": (
        "masked_fill nan_to_num heaviside copysign hypot atan2 arctan2 xlogy xlogy_ ldexp frexp",
        "* copysign_ masked_fill_",
        "nan_to_num heaviside hypot atan2 arctan2 ldexp",
    ),
    "places": (
        "argwhere masked_scatter masked_select nonzero nonzero_static put scatter_reduce segment_reduce take "
        "unravel_index",
        "* masked_scatter_ put_ scatter_reduce_ -segment_reduce -unravel_index",
    ),
    "pointwise": (
        "exp exp2 expm1 log log2 log10 log1p logaddexp logaddexp2 sin cos tan asin acos atan arcsin arccos "
        "arctan sinh cosh tanh asinh acosh atanh arcsinh arccosh arctanh sigmoid floor ceil trunc fix frac "
        "round deg2rad rad2deg abs absolute abs_ absolute_ sign sgn nextafter round_",
        "*",
        "exp exp2 expm1 log log2 log10 log1p sin cos tan asin acos atan arcsin arccos arctan sinh cosh tanh "
        "asinh acosh atanh arcsinh arccosh arctanh sigmoid floor ceil trunc fix frac deg2rad rad2deg sign sgn "
        "nextafter",
        "__abs__",
    ),
    "pooling": (
        "avg_pool1d max_pool1d max_pool1d_with_indices max_pool2d max_pool3d",
    ),
    "powers": (
        "pow float_power square reciprocal sqrt rsqrt",
        "* pow_ float_power_ square_",
        "reciprocal sqrt rsqrt",
        "__pow__ __rpow__ __ipow__",
    ),
    "properties": (
        "broadcast_shapes get_device is_complex is_conj is_distributed is_floating_point is_inference is_neg "
        "is_nonzero is_same_size is_signed is_tensor numel result_type sym_float sym_int sym_ite sym_max "
        "sym_min sym_not sym_sqrt sym_sum",
        "apply_ data_ptr dense_dim dim dim_order element_size get_device is_complex is_conj is_contiguous "
        "is_distributed is_floating_point is_neg is_nonzero is_same_size is_set_to is_signed map2_ map_ "
        "ndimension nelement numel size sparse_dim storage_offset stride const_data_ptr dequantize resize "
        "resize_as sum_to_size to_dense",
        "",
        "__contains__ __dir__ __iter__ __len__ __reversed__",
        "is_cpu itemsize layout nbytes is_cuda is_ipu is_maia is_meta is_mkldnn is_mps is_mtia is_nested "
        "is_quantized is_sparse is_sparse_csr is_vulkan is_xla is_xpu _cdata grad_dtype volatile",
    ),
    "pseudoinverse": (
        "lobpcg pca_lowrank pinverse svd_lowrank",
        "pinverse",
    ),
    "random": (
        "Generator default_generator get_rng_state initial_seed manual_seed rand rand_like randint "
        "randint_like randn randn_like randperm seed set_rng_state",
        "cauchy_ exponential_ geometric_ log_normal_ normal_ random_ uniform_",
    ),
    "ranges": (
        "arange cartesian_prod combinations eye linspace logspace meshgrid range tril_indices triu_indices "
        "vander",
    ),
    "rearrange": (
        "chunk diag diag_embed diagflat diagonal_copy dsplit flip fliplr flipud hsplit repeat_interleave roll "
        "rot90 split split_with_sizes tensor_split tile tril triu unbind unsafe_chunk unsafe_split "
        "unsafe_split_with_sizes vsplit",
        "* fill_diagonal_ repeat tril_ triu_ -diagonal_copy",
    ),
    "reduction": (
        "logsumexp mean nanmean nansum prod std std_mean sum var var_mean",
        "* -std_mean -var_mean",
    ),
    "scan": (
        "cummax cummin cumprod cumsum logcumsumexp",
        "*",
        "cumprod cumsum",
    ),
    "selection": (
        "addcdiv addcmul clamp clamp_ clamp_max clamp_max_ clamp_min clamp_min_ clip clip_ lerp where",
        "* lerp_ addcmul_ addcdiv_",
    ),
    "shape": (
        "adjoint flatten moveaxis movedim permute ravel reshape swapaxes swapdims t transpose unflatten",
        "* reshape_as swapaxes_ swapdims_ t_ transpose_ view view_as",
        "",
        "",
        "H T mH mT",
    ),
    "sharing": (
        "",
        "is_shared share_memory_",
    ),
    "softmax": (
        "layer_norm log_softmax native_layer_norm rms_norm softmax",
        "log_softmax softmax",
    ),
    "solvers": (
        "det inverse logdet slogdet",
        "*",
    ),
    "sorting": (
        "argsort isin kthvalue mode msort sort topk unique unique_consecutive",
        "* -isin",
    ),
    "special_functions": (
        "digamma erf erfc erfinv i0 igamma igammac lgamma logit logit_ mvlgamma polygamma sinc",
        "* polygamma_ mvlgamma_",
        "erf erfc erfinv lgamma digamma i0 sinc igamma igammac",
    ),
    "spectrogram": (
        "bartlett_window blackman_window hamming_window hann_window istft kaiser_window stft",
        "istft stft",
    ),
    "statistics": (
        "corrcoef cov cumulative_trapezoid diff dist gradient median nanmedian nanquantile norm quantile "
        "renorm trapezoid trapz",
        "* renorm_ -cumulative_trapezoid -gradient -trapezoid -trapz",
    ),
    "storage": (
        "resize_as_",
        "resize_ resize_as_ set_ storage storage_type untyped_storage",
    ),
    "triangular": (
        "cholesky cholesky_inverse cholesky_solve triangular_solve",
        "*",
    ),
    "upsample": (
        "affine_grid_generator grid_sampler grid_sampler_2d grid_sampler_3d",
    ),
    "windows": (
        "as_strided as_strided_ as_strided_scatter atleast_1d atleast_2d atleast_3d broadcast_tensors "
        "broadcast_to diagonal diagonal_scatter narrow narrow_copy select select_scatter slice_scatter "
        "squeeze unsqueeze",
        "* unfold expand expand_as squeeze_ unsqueeze_ -atleast_1d -atleast_2d -atleast_3d -broadcast_tensors",
    ),
}
