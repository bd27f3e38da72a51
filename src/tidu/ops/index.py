"""Written by `python -m tidu.ops`: what the families imported on first use give."""

# family: (names of the face, methods, ops with an in-place variant)
LAZY = {
    "activation": (
        "celu celu_ hardshrink prelu relu relu_ rrelu rrelu_ selu selu_ threshold threshold_",
        "hardshrink prelu relu relu_",
        "",
    ),
    "adaptive": ("adaptive_avg_pool1d adaptive_max_pool1d", "", ""),
    "attention": ("", "", ""),
    "contraction": ("bilinear einsum inner kron tensordot", "inner kron", ""),
    "convolution": (
        "conv1d conv2d conv3d conv_tbc conv_transpose1d conv_transpose2d conv_transpose3d convolution",
        "",
        "",
    ),
    "coo": (
        "smm sparse_bsc_tensor sparse_bsr_tensor sparse_compressed_tensor sparse_coo_tensor sparse_csc_tensor "
        "sparse_csr_tensor",
        "_coalesced_ _indices _nnz _values coalesce col_indices crow_indices indices is_coalesced sparse_mask "
        "to_sparse smm to_sparse_bsc to_sparse_bsr to_sparse_coo to_sparse_csc to_sparse_csr values",
        "",
    ),
    "decompositions": ("qr svd", "*", ""),
    "distance": ("cdist cosine_similarity pairwise_distance pdist", "", ""),
    "draws": (
        "_sample_dirichlet _standard_gamma _standard_gamma_grad bernoulli binomial multinomial normal poisson",
        "bernoulli bernoulli_ multinomial",
        "",
    ),
    "dropout": (
        "alpha_dropout alpha_dropout_ dropout dropout_ feature_alpha_dropout feature_alpha_dropout_ "
        "feature_dropout feature_dropout_ native_dropout",
        "",
        "",
    ),
    "embedding": ("embedding embedding_bag embedding_renorm_", "", ""),
    "extremes": ("all amax amin aminmax any argmax argmin count_nonzero max min", "*", ""),
    "fourier": ("", "", ""),
    "gather": ("gather scatter scatter_add take_along_dim", "* scatter_ scatter_add_", ""),
    "histograms": ("bincount bucketize histc histogram histogramdd searchsorted", "bincount histc histogram", ""),
    "index_dim": (
        "index_add index_copy index_fill index_reduce index_select",
        "* index_add_ index_copy_ index_fill_ index_reduce_",
        "",
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
        "",
    ),
    "loss": ("binary_cross_entropy_with_logits kl_div poisson_nll_loss", "", ""),
    "lu": ("lu lu_solve lu_unpack", "lu lu_solve", ""),
    "margin": ("cosine_embedding_loss hinge_embedding_loss margin_ranking_loss triplet_margin_loss", "", ""),
    "matrix_functions": ("cross geqrf matrix_exp matrix_power orgqr ormqr trace", "*", ""),
    "nll": ("ctc_loss", "", ""),
    "normalization": ("batch_norm group_norm instance_norm native_batch_norm native_group_norm", "", ""),
    "padding": ("channel_shuffle constant_pad_nd native_channel_shuffle pixel_shuffle pixel_unshuffle", "", ""),
    "piecewise": (
        "masked_fill nan_to_num heaviside copysign hypot atan2 arctan2 xlogy xlogy_ ldexp frexp",
        "* copysign_ masked_fill_",
        "nan_to_num heaviside hypot atan2 arctan2 ldexp",
    ),
    "places": (
        "argwhere masked_scatter masked_select nonzero nonzero_static put scatter_reduce segment_reduce take "
        "unravel_index",
        "* masked_scatter_ put_ scatter_reduce_ -segment_reduce -unravel_index",
        "",
    ),
    "pooling": ("avg_pool1d max_pool1d max_pool1d_with_indices max_pool2d max_pool3d", "", ""),
    "pseudoinverse": ("lobpcg pca_lowrank pinverse svd_lowrank", "pinverse", ""),
    "random": (
        "Generator default_generator get_rng_state initial_seed manual_seed rand rand_like randint "
        "randint_like randn randn_like randperm seed set_rng_state",
        "cauchy_ exponential_ geometric_ log_normal_ normal_ random_ uniform_",
        "",
    ),
    "ranges": (
        "arange cartesian_prod combinations eye linspace logspace meshgrid range tril_indices triu_indices vander",
        "",
        "",
    ),
    "rearrange": (
        "chunk diag diag_embed diagflat diagonal_copy dsplit flip fliplr flipud hsplit repeat_interleave roll "
        "rot90 split split_with_sizes tensor_split tile tril triu unbind unsafe_chunk unsafe_split "
        "unsafe_split_with_sizes vsplit",
        "* fill_diagonal_ repeat tril_ triu_ -diagonal_copy",
        "",
    ),
    "scan": ("cummax cummin cumprod cumsum logcumsumexp", "*", "cumprod cumsum"),
    "sharing": ("", "is_shared share_memory_", ""),
    "softmax": ("layer_norm log_softmax native_layer_norm rms_norm softmax", "log_softmax softmax", ""),
    "solvers": ("det inverse logdet slogdet", "*", ""),
    "sorting": ("argsort isin kthvalue mode msort sort topk unique unique_consecutive", "* -isin", ""),
    "special_functions": (
        "digamma erf erfc erfinv i0 igamma igammac lgamma logit logit_ mvlgamma polygamma sinc",
        "* polygamma_ mvlgamma_",
        "erf erfc erfinv lgamma digamma i0 sinc igamma igammac",
    ),
    "spectrogram": (
        "bartlett_window blackman_window hamming_window hann_window istft kaiser_window stft",
        "istft stft",
        "",
    ),
    "statistics": (
        "corrcoef cov cumulative_trapezoid diff dist gradient median nanmedian nanquantile norm quantile "
        "renorm trapezoid trapz",
        "* renorm_ -cumulative_trapezoid -gradient -trapezoid -trapz",
        "",
    ),
    "triangular": ("cholesky cholesky_inverse cholesky_solve triangular_solve", "*", ""),
    "upsample": ("affine_grid_generator grid_sampler grid_sampler_2d grid_sampler_3d", "", ""),
}
