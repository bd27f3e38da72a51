"""Floor 1: fast routes over NumPy arrays. Nothing here knows about tensors or gradients.

Every function takes and returns `numpy.ndarray` (0-d results too, never a NumPy scalar, unless it
says so), never writes to its inputs unless it says so, and gives the same bits on every run at a
given number of threads. Dtypes are those of the inputs; promotion is the caller's business.
bfloat16 (from ml_dtypes) and float16 are computed in float32 and rounded once.

numpy_.py     memory policy and layout
    keep_memory() -> bool                       called once by this import; TIDU_MALLOC=0 switches it off
    as_strided(a, size, stride, offset=None) -> view         in elements; the offset counts from the owner's start
    owner_of(a) -> array   storage_offset(a) -> int          whose memory it is; where in it `a` starts

pool.py       a few threads that share one call (its names can be had from threads.py too)
    get_num_threads() -> int;  set_num_threads(n)             BLAS is told too
    parallel(fn, n)                              fn(0) ... fn(n-1), shared out; errors propagate
    quiet()                                      context: no NumPy warnings, in half a microsecond
    one_blas_thread()                            context: BLAS calls inside use one thread each

threads.py    cutting large calls into pieces
    BIG                                          from this many elements on, two threads beat one
    big_ufunc(ufunc, a, b=None) -> array         == ufunc(a) or ufunc(a, b), cut over the threads
    blocked(kernel, rows, out, scratch=0)        kernel(*blocks, out_block, *scratch_blocks)
    rows_of(*arrays) -> rows, back               contiguous rows in the first one's order, and the way back

elementwise.py    functions of one array and their derivatives: few passes, blocks that stay in cache
    erf(a)  sigmoid(a)  gelu(a, approximate="none")  silu(a)  softplus(a, beta=1.0, threshold=20.0)
    log1p(a)  expm1(a)  tanh(a)
    *_backward(g, a_or_out, ...) -> cotangent of the input: of the result for sigmoid, tanh, expm1, else of the input
    run(kernel, scratch, *ins)                   the machinery, for kernels of your own

select.py     choosing by a mask, without branches; rows by index
    where(mask, x, y)  keep_where(mask, a) (0 elsewhere)  relu(a)  relu_backward(g, out)
    extremum(np.maximum or np.minimum, a, number)            for clamp
    take_rows(a, index) -> a[index]             index: integer array of any shape, along axis 0
    add_rows(n, index, g) -> array (n, ...)     its adjoint: zeros, then out[index[i]] += g[i]
    take_along(a, dim, index) -> array          torch.gather
    add_along(a, dim, index, values)            its adjoint, into `a`
    add_at(flat, places, values)                flat[places[i]] += values[i]

rows.py       softmax and normalisation along an axis
    softmax(a, axis)  log_softmax(a, axis)  logsumexp(a, axis, keepdims=False)  (axis: one int)
    softmax_backward(g, out, axis)  log_softmax_backward(g, out, axis)
    layer_norm(a, n_axes, weight=None, bias=None, eps=1e-5) -> out, mean, rstd
    layer_norm_backward(g, a, mean, rstd, n_axes, weight=None, need=(True, True, True))

attention.py  softmax(q k^T * scale + mask) v without keeping the scores: forward, backward
recurrent.py  LSTM, GRU and plain recurrent layers over whole sequences: each forward and backward

native.py     the same as one native loop for large float32 arrays, where llvmlite is (TIDU_NATIVE=0: nowhere);
              elementwise.py and rows.py go there by themselves; native_kernels.py has the formulas,
              native_loops.py the compiler

matmul.py     products
    mm(a, b) -> array                           any ranks, as torch.matmul
    linear(x, w, b=None)                        x @ w.T + b
    linear_backward(g, x, w, need=(True, True, True)) -> (gx, gw, gb)
    addmm(c, a, b, beta=1, alpha=1)

reduce.py     sums
    sum_all(a) -> 0-d array                     sum_axes(a, axes, keepdims=False)
    mean_all(a) -> 0-d array                    mean_axes(a, axes, keepdims=False)
    cumsum(a, axis, reverse=False) -> array     of floating or complex numbers; reverse: from the end
"""

from tidu.arrays.numpy_ import keep_memory

keep_memory()
