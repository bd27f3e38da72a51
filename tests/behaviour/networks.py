"""nn.functional: values, gradients at kinks, the nodes that are recorded, refusals."""

from __future__ import annotations

from typing import Any

from . import attempt


def nodes(fn: Any) -> str:
    """The graph behind a result, in one line: B for Backward, L for a leaf, - for nothing."""
    if fn is None:
        return "-"
    name = fn.name().split("::")[-1]
    for long, short in (("Backward", "B"), ("AccumulateGrad", "L"), ("ReshapeAlias", "View")):
        name = name.replace(long, short)
    return name + (f"({','.join(nodes(f) for f, _ in fn.next_functions)})" if fn.next_functions else "")


def shown(name: str, fn: Any) -> None:
    """Print the shape of a result, and its graph."""
    try:
        got = fn()
    except Exception as error:
        print(f"{name}: {type(error).__name__}: {error}")
        return
    for r in got if isinstance(got, tuple) else (got,):
        print(f"{name}: {r if r is None else (tuple(r.shape), str(r.dtype), nodes(r.grad_fn))}")


def result_dtype(name: str, fn: Any, x: Any) -> Any:
    return name, fn(x).dtype


def leaves(torch: Any) -> Any:
    return lambda *shape: torch.randn(*shape, requires_grad=True)


def activations(torch: Any) -> None:
    F = torch.nn.functional
    kinks = [-5.0, -3.0, -1.0, -0.5, 0.0, 0.5, 1.0, 3.0, 6.0, 25.0]
    one = torch.tensor([0.25], dtype=torch.float64)
    names = (
        "relu relu6 leaky_relu elu celu selu gelu silu mish hardtanh hardswish hardsigmoid softplus softshrink "
        "hardshrink tanhshrink softsign logsigmoid sigmoid tanh"
    ).split()
    fns = {n: getattr(F, n) for n in names}
    fns["gelu tanh"] = lambda x: F.gelu(x, approximate="tanh")
    fns["prelu"] = lambda x: F.prelu(x, one)
    fns["threshold"] = lambda x: F.threshold(x, 0.5, 2.0)
    fns["rrelu"] = F.rrelu
    fns["elu alpha"] = lambda x: F.elu(x, 0.5)
    fns["softplus beta"] = lambda x: F.softplus(x, 2.0, 5.0)
    for name, fn in fns.items():
        x = torch.tensor(kinks, dtype=torch.float64, requires_grad=True)
        y = fn(x)
        y.sum().backward()
        print(name, nodes(y.grad_fn))
        print(y.detach(), x.grad, sep="\n")


def activation_dtypes(torch: Any) -> None:
    F = torch.nn.functional
    for name in "relu hardtanh leaky_relu elu gelu silu softplus logsigmoid hardswish softshrink mish glu".split():
        for dtype in (torch.int64, torch.bool, torch.complex64, torch.float16, torch.bfloat16):
            attempt(result_dtype, name, getattr(F, name), torch.zeros(4, 2).to(dtype))
    attempt(F.softshrink, torch.ones(2), -1.0)
    attempt(F.hardtanh, torch.ones(2), 2.0, 1.0)
    attempt(F.celu, torch.ones(2), 0.0)
    attempt(F.glu, torch.ones(3))
    attempt(F.prelu, torch.ones(2, 3), torch.ones(4))
    attempt(F.gelu, torch.ones(2), approximate="foo")


def in_place(torch: Any) -> None:
    F = torch.nn.functional
    for name in "relu relu6 leaky_relu elu selu celu silu mish hardtanh hardswish hardsigmoid".split():
        x = torch.tensor([-2.0, 0.5], requires_grad=True)
        y = x.clone()
        z = getattr(F, name)(y, inplace=True)
        print(name, z is y, nodes(y.grad_fn), y)
        y.sum().backward()
        print(x.grad)
    x = torch.tensor([-2.0, 0.5])
    print(F.threshold_(x, 0.0, 9.0), x, torch.relu_(torch.tensor([-1.0, 1.0])))


def softmaxes(torch: Any) -> None:
    F = torch.nn.functional
    x = torch.tensor([[0.0, 1.0, 2.0], [1e4, -1e4, 0.0]], requires_grad=True)
    for fn in (F.softmax, F.log_softmax, F.softmin):
        y = fn(x, dim=1)
        print(y, nodes(y.grad_fn))
        (g,) = torch.autograd.grad(y[:, 0].sum(), x)
        print(g)
    F.softmax(x)
    print(F.softmax(torch.tensor(3.0), 0), F.softmax(torch.ones(2).int(), 0, dtype=torch.float64))
    attempt(F.softmax, torch.ones(2, 2).int(), 0)
    attempt(torch.softmax, torch.ones(2), 3)
    print(F.gumbel_softmax(torch.zeros(2, 3), hard=True).sum(1))


def losses(torch: Any) -> None:
    F, leaf = torch.nn.functional, leaves(torch)
    x, y, z = leaf(3, 4), torch.randn(3, 4), torch.rand(3, 4)
    sign, signs = torch.sign(torch.randn(3, 4)), torch.tensor([1.0, -1.0, 1.0])
    target = torch.tensor([0, 2, 1])
    for how in ("mean", "sum", "none"):
        print(how)
        for name, fn in {
            "cross_entropy": lambda **k: F.cross_entropy(x, target, **k),
            "smoothed": lambda **k: F.cross_entropy(x, target, label_smoothing=0.1, **k),
            "smoothed and weighted": lambda **k: F.cross_entropy(x, target, z[0], label_smoothing=0.1, **k),
            "of probabilities": lambda **k: F.cross_entropy(x, z, **k),
            "of a sequence": lambda **k: F.cross_entropy(leaf(2, 4, 5), torch.zeros(2, 5).long(), **k),
            "of an image": lambda **k: F.cross_entropy(leaf(2, 4, 5, 6), torch.zeros(2, 5, 6).long(), **k),
            "mse": lambda **k: F.mse_loss(x, y, **k),
            "mse, weighted": lambda **k: F.mse_loss(x, y, weight=z, **k),
            "l1": lambda **k: F.l1_loss(x, y, **k),
            "smooth_l1": lambda **k: F.smooth_l1_loss(x, y, **k),
            "huber": lambda **k: F.huber_loss(x, y, **k),
            "bce": lambda **k: F.binary_cross_entropy(torch.sigmoid(x), z, **k),
            "bce with logits": lambda **k: F.binary_cross_entropy_with_logits(x, z, pos_weight=z[0], **k),
            "kl_div": lambda **k: F.kl_div(x, z, **k),
            "hinge": lambda **k: F.hinge_embedding_loss(x, sign, **k),
            "soft_margin": lambda **k: F.soft_margin_loss(x, sign, **k),
            "multilabel_soft": lambda **k: F.multilabel_soft_margin_loss(x, z, **k),
            "multilabel": lambda **k: F.multilabel_margin_loss(x, torch.tensor([[0, 1, -1, 2]] * 3), **k),
            "multi_margin": lambda **k: F.multi_margin_loss(x, target, p=2, **k),
            "cosine": lambda **k: F.cosine_embedding_loss(x, leaf(3, 4), signs, **k),
            "ranking": lambda **k: F.margin_ranking_loss(x, leaf(3, 4), sign, 0.1, **k),
            "triplet": lambda **k: F.triplet_margin_loss(x, leaf(3, 4), leaf(3, 4), swap=True, **k),
            "gaussian": lambda **k: F.gaussian_nll_loss(x, y, z, full=True, **k),
            "poisson": lambda **k: F.poisson_nll_loss(x, z, full=True, **k),
            "ctc": lambda **k: F.ctc_loss(
                leaf(5, 2, 4).log_softmax(2), torch.tensor([[1, 2], [1, 3]]), torch.tensor([5, 5]),
                torch.tensor([2, 2]), **k
            ),
        }.items():
            r = fn(reduction=how)
            print(name, nodes(r.grad_fn), f"{r.sum().item():.4g}")
            if x.grad is not None:
                x.grad = None
            r.sum().backward()
            if x.grad is not None:
                print(f"  {x.grad.square().sum().item():.4g}")


def loss_refusals(torch: Any) -> None:
    F = torch.nn.functional
    x, target = torch.randn(3, 4), torch.tensor([0, 1, 2])
    ints = torch.zeros(3, 4).long()
    attempt(F.nll_loss, x, torch.tensor([0, 1, 4]))
    attempt(F.nll_loss, x, torch.tensor([0, 1]))
    attempt(F.nll_loss, x, target.float())
    attempt(F.nll_loss, x, ints)
    attempt(F.nll_loss, torch.randn(2, 3, 4), torch.zeros(2, 5).long())
    attempt(F.nll_loss, x, target, torch.rand(3))
    attempt(F.nll_loss, x, target, reduction="foo")
    attempt(F.nll_loss, x, torch.tensor([-100] * 3))
    attempt(F.cross_entropy, x, ints)
    attempt(F.cross_entropy, x, target, label_smoothing=1.5)
    attempt(F.mse_loss, ints, ints)
    attempt(F.mse_loss, x, torch.zeros(4))
    attempt(F.smooth_l1_loss, x, x, beta=-1.0)
    attempt(F.huber_loss, x, x, delta=0.0)
    attempt(F.binary_cross_entropy, x * 0 + 2, x * 0)
    attempt(F.binary_cross_entropy, x * 0, x[0])
    attempt(F.binary_cross_entropy_with_logits, x, x[0])
    attempt(F.multi_margin_loss, x, target, p=3)
    attempt(F.cosine_embedding_loss, x, x, torch.ones(3, 4))
    attempt(F.triplet_margin_loss, x, x, x[0])
    attempt(F.triplet_margin_loss, x, x, x, margin=0)
    attempt(F.kl_div, x, ints)
    attempt(F.mse_loss, x, x, size_average=False)
    attempt(F.gaussian_nll_loss, x, x, -torch.ones(3, 4))


def embeddings(torch: Any) -> None:
    F = torch.nn.functional
    table = torch.arange(12.0).reshape(4, 3).requires_grad_()
    y = F.embedding(torch.tensor([[0, 2], [2, 1]]), table, padding_idx=1)
    print(y, nodes(y.grad_fn))
    y.sum().backward()
    print(table.grad)
    table.grad = None
    F.embedding(torch.tensor([0, 2, 2]), table, scale_grad_by_freq=True).sum().backward()
    print(table.grad)
    with torch.no_grad():
        F.embedding(torch.tensor([3]), table, max_norm=1.0)
    print(table)
    attempt(F.embedding, torch.tensor([4]), table)
    attempt(F.embedding, torch.tensor([0.5]), table)
    attempt(F.embedding, torch.tensor([0]), table, padding_idx=7)
    print(F.one_hot(torch.tensor([0, 2]), 4))
    attempt(F.one_hot, torch.tensor([0, 2]), 2)
    attempt(F.one_hot, torch.tensor([0, -2]))
    index, offsets = torch.tensor([1, 2, 0, 3, 3]), torch.tensor([0, 2, 2])
    for mode in ("sum", "mean", "max"):
        table.grad = None
        y = F.embedding_bag(index, table, offsets, mode=mode)
        y.sum().backward()
        print(mode, nodes(y.grad_fn), y.tolist(), table.grad.tolist())
    attempt(F.embedding_bag, index, table, torch.tensor([1, 3]))
    attempt(F.embedding_bag, index, table)
    attempt(F.embedding_bag, index, table, offsets, mode="mean", per_sample_weights=torch.rand(5))


def normalisations(torch: Any) -> None:
    F, leaf = torch.nn.functional, leaves(torch)
    w, b = leaf(3), leaf(3)
    zeros, ones = torch.zeros(3), torch.ones(3)
    shown("layer", lambda: F.layer_norm(leaf(2, 3), (3,), w, b))
    shown("layer", lambda: F.layer_norm(leaf(2, 3), (2,), w, b))
    shown("layer", lambda: F.layer_norm(leaf(2, 3), 3, w, b))
    shown("layer", lambda: F.layer_norm(torch.zeros(2, 3).long(), (3,)))
    shown("layer", lambda: F.layer_norm(leaf(2, 3).double(), (3,), w, b))
    shown("native", lambda: torch.native_layer_norm(leaf(2, 3), (3,), w, b, 1e-5))
    shown("batch", lambda: F.batch_norm(leaf(4, 3, 5), zeros.clone(), ones.clone(), w, b, True))
    shown("batch", lambda: F.batch_norm(leaf(4, 3), None, None))
    shown("batch", lambda: F.batch_norm(leaf(1, 3), zeros, ones, training=True))
    shown("batch", lambda: F.batch_norm(leaf(4, 3), torch.zeros(2), ones))
    shown("group", lambda: F.group_norm(leaf(4, 6, 5), 3, leaf(6), leaf(6)))
    shown("group", lambda: F.group_norm(leaf(4, 6, 5), 4))
    shown("instance", lambda: F.instance_norm(leaf(4, 3, 5), weight=w, bias=b))
    shown("instance", lambda: F.instance_norm(leaf(4, 3, 1)))
    shown("response", lambda: F.local_response_norm(leaf(4, 3, 5, 5), 2))
    shown("rms", lambda: F.rms_norm(leaf(4, 3), (3,), w))
    mean, var = torch.zeros(2), torch.ones(2)
    x = torch.arange(12.0).reshape(3, 2, 2).requires_grad_()
    y = F.batch_norm(x, mean, var, training=True, momentum=0.5)
    print(y, mean, var, sep="\n")
    (y * torch.arange(12.0).reshape(3, 2, 2) ** 2).sum().backward()
    print(x.grad)
    print(F.normalize(torch.tensor([[3.0, 4.0], [0.0, 0.0]])), F.cosine_similarity(torch.ones(2, 2), torch.eye(2)))


def padding(torch: Any) -> None:
    F = torch.nn.functional
    x = torch.arange(6.0).reshape(1, 2, 3).requires_grad_()
    for mode in ("constant", "reflect", "replicate", "circular"):
        x.grad = None
        y = F.pad(x, (1, 2), mode)
        (y * torch.arange(y.numel()).reshape(y.shape)).sum().backward()
        print(mode, y.tolist(), x.grad.tolist())
    print(F.pad(x, (-1, 0, 0, 1), value=9.0))
    attempt(F.pad, x, (3, 0), "reflect")
    attempt(F.pad, x, (4, 0), "circular")
    attempt(F.pad, x, (1, 1), "reflect", 1.0)
    attempt(F.pad, x, (1, 1), "foo")
    attempt(F.pad, x, (1,))
    attempt(F.pad, x, (-4, 0))
    attempt(F.pad, torch.ones(3), (1, 1), "reflect")


def convolutions(torch: Any) -> None:
    F, leaf = torch.nn.functional, leaves(torch)

    def run(name: str, fn: Any, *args: Any, **kw: Any) -> None:
        made = [torch.arange(float(torch.Size(s).numel())).reshape(s).sub(5).requires_grad_() for s in args]
        y = fn(*made, **kw)
        grads = torch.autograd.grad((y * torch.arange(y.numel()).reshape(y.shape)).sum(), made)
        print(name, tuple(y.shape), nodes(y.grad_fn), y.sum().item(), [g.sum().item() for g in grads])

    run("1d", F.conv1d, (2, 3, 8), (4, 3, 3), (4,))
    run("1d, no batch", F.conv1d, (3, 8), (4, 3, 3))
    run("2d", F.conv2d, (2, 2, 6, 5), (4, 2, 3, 2), (4,), stride=2, padding=1, dilation=(1, 2))
    run("2d, groups", F.conv2d, (2, 4, 5, 5), (4, 2, 3, 3), groups=2)
    run("2d, depthwise", F.conv2d, (2, 3, 5, 5), (3, 1, 3, 3), groups=3, padding=1)
    run("2d, one by one", F.conv2d, (2, 3, 5, 5), (4, 3, 1, 1))
    run("3d", F.conv3d, (1, 2, 4, 4, 4), (3, 2, 2, 2, 2))
    run("same", F.conv1d, (1, 2, 6), (2, 2, 4), padding="same")
    run("valid", F.conv1d, (1, 2, 6), (2, 2, 4), padding="valid")
    run("transposed 1d", F.conv_transpose1d, (2, 3, 5), (3, 4, 3), (4,), stride=2, output_padding=1)
    run("transposed 2d", F.conv_transpose2d, (2, 4, 3, 3), (4, 2, 3, 3), stride=2, padding=1, groups=2)
    run("transposed 3d", F.conv_transpose3d, (1, 2, 3, 3, 3), (2, 2, 2, 2, 2), dilation=2)
    x, w = leaf(2, 3, 8, 8), leaf(4, 3, 3, 3)
    shown("channels", lambda: F.conv2d(x, leaf(4, 2, 3, 3)))
    shown("groups", lambda: F.conv2d(leaf(2, 4, 8, 8), leaf(4, 2, 3, 3), groups=3))
    shown("rank", lambda: F.conv2d(leaf(3, 8), w))
    shown("too small", lambda: F.conv2d(leaf(2, 3, 2, 2), w))
    shown("bias", lambda: F.conv2d(x, w, leaf(3)))
    shown("stride", lambda: F.conv2d(x, w, stride=0))
    shown("padding", lambda: F.conv2d(x, w, padding=-1))
    shown("dtype", lambda: F.conv2d(x, w.double()))
    shown("word", lambda: F.conv2d(x, w, padding="foo"))
    shown("same", lambda: F.conv2d(x, w, padding="same", stride=2))
    shown("output_padding", lambda: F.conv_transpose2d(x, leaf(3, 4, 3, 3), output_padding=1))
    shown("complex", lambda: F.conv1d(leaf(1, 2, 4).to(torch.complex64), leaf(1, 2, 2).to(torch.complex64)).abs())


def pools(torch: Any) -> None:
    F, leaf = torch.nn.functional, leaves(torch)

    def run(name: str, fn: Any, shape: Any, *args: Any, **kw: Any) -> None:
        n = torch.Size(shape).numel()
        x = ((torch.arange(n) * 7) % 11).float().reshape(shape).requires_grad_()
        got = fn(x, *args, **kw)
        y = got[0] if isinstance(got, tuple) else got
        (y * torch.arange(y.numel()).reshape(y.shape)).sum().backward()
        print(name, nodes(y.grad_fn), [round(v, 4) for v in y.flatten().tolist()])
        print([round(v, 4) for v in x.grad.flatten().tolist()])
        if isinstance(got, tuple):
            print(got[1].flatten().tolist())

    run("max 1d", F.max_pool1d, (1, 8), 3, 2, 1)
    run("max 2d", F.max_pool2d, (1, 1, 5, 5), 2, return_indices=True)
    run("max 2d, ties and padding", F.max_pool2d, (1, 1, 5, 5), 3, 2, 1, ceil_mode=True)
    run("max 2d, dilated", F.max_pool2d, (1, 1, 6, 6), 2, 1, dilation=2, return_indices=True)
    run("max 3d", F.max_pool3d, (1, 1, 4, 4, 4), 2)
    run("avg 1d", F.avg_pool1d, (1, 8), 3, 2, 1)
    run("avg 2d", F.avg_pool2d, (1, 1, 5, 5), 2, 2, 1, count_include_pad=False)
    run("avg 2d, ceil", F.avg_pool2d, (1, 1, 5, 5), 2, ceil_mode=True)
    run("avg 3d", F.avg_pool3d, (1, 1, 4, 4, 4), 2, divisor_override=3)
    run("adaptive avg", F.adaptive_avg_pool2d, (1, 5, 7), (3, None))
    run("adaptive max", F.adaptive_max_pool2d, (1, 5, 7), 3, return_indices=True)
    run("lp", F.lp_pool2d, (1, 1, 4, 4), 2, 2)
    run("fractional", F.fractional_max_pool2d, (1, 1, 6, 6), 2, output_size=3, return_indices=True)
    y, index = F.max_pool2d(leaf(1, 1, 4, 4), 2, return_indices=True)
    shown("unpool", lambda: F.max_unpool2d(y, index, 2))
    shown("unpool", lambda: F.max_unpool2d(y, index, 2, output_size=(9, 9)))
    shown("pad", lambda: F.max_pool2d(leaf(1, 1, 4, 4), 2, padding=2))
    shown("rank", lambda: F.max_pool2d(leaf(4, 4), 2))
    shown("stride", lambda: F.avg_pool2d(leaf(1, 1, 4, 4), 2, stride=0))
    shown("too small", lambda: F.max_pool2d(leaf(1, 1, 4, 4), 5))
    shown("dtype", lambda: F.max_pool2d(torch.zeros(1, 1, 4, 4).bool(), 2))
    shown("size", lambda: F.adaptive_avg_pool2d(leaf(1, 4, 4), (2, 2, 2)))


def images(torch: Any) -> None:
    F, leaf = torch.nn.functional, leaves(torch)
    x = torch.arange(16.0).reshape(1, 1, 4, 4)
    for mode, more in (
        ("nearest", {}), ("nearest-exact", {}), ("bilinear", {}), ("bilinear", {"align_corners": True}),
        ("bicubic", {}),
        ("area", {}), ("bilinear", {"antialias": True}), ("bicubic", {"antialias": True}),
    ):  # fmt: skip
        y = F.interpolate(x.clone().requires_grad_(), size=(3, 6), mode=mode, **more)
        print(mode, more, nodes(y.grad_fn))
        print([round(v, 3) for v in y.flatten().tolist()])
    shown("scale", lambda: F.interpolate(leaf(1, 1, 4, 4), scale_factor=1.7))
    shown("both", lambda: F.interpolate(leaf(1, 1, 4, 4), size=2, scale_factor=2))
    shown("corners", lambda: F.interpolate(leaf(1, 1, 4, 4), size=2, align_corners=True))
    shown("rank", lambda: F.interpolate(leaf(1, 4, 4), size=2, mode="bilinear"))
    grid = torch.tensor([[[[-1.0, -1.0], [0.3, -0.2], [2.0, 0.5]]]])
    for mode in ("bilinear", "nearest", "bicubic"):
        for pad in ("zeros", "border", "reflection"):
            y = F.grid_sample(x.clone().requires_grad_(), grid, mode, pad, align_corners=False)
            print(mode, pad, nodes(y.grad_fn), [round(v, 3) for v in y.flatten().tolist()])
    theta = torch.tensor([[[1.0, 0.0, 0.1], [0.0, 1.0, 0.0]]], requires_grad=True)
    print(F.affine_grid(theta, (1, 1, 2, 2), align_corners=False))
    u = F.unfold(x, 2, stride=2)
    print(u, F.fold(u, (4, 4), 2, stride=2).equal(x))
    print(F.pixel_shuffle(torch.arange(8.0).reshape(1, 4, 1, 2), 2).tolist(), F.pixel_unshuffle(x, 2).shape)
    print(F.channel_shuffle(torch.arange(4.0).reshape(1, 4, 1), 2).flatten().tolist())


def attention(torch: Any) -> None:
    F, leaf = torch.nn.functional, leaves(torch)
    q, k, v = (torch.randn(1, 2, n, 4, dtype=torch.float64, requires_grad=True) for n in (3, 5, 5))
    mask = torch.ones(3, 5).bool().tril()
    mask[0] = False
    for kw in ({}, {"attn_mask": mask}, {"is_causal": True}, {"scale": 0.1}, {"attn_mask": mask.double()}):
        y = F.scaled_dot_product_attention(q, k, v, **kw)
        grads = torch.autograd.grad(y.square().sum(), (q, k, v))
        print(nodes(y.grad_fn), f"{y.sum().item():.3f}", [f"{g.square().sum().item():.3f}" for g in grads])
    shown("dropout", lambda: F.scaled_dot_product_attention(leaf(2, 3, 4), leaf(2, 3, 4), leaf(2, 3, 4), dropout_p=0.5))
    shown("gqa", lambda: F.scaled_dot_product_attention(leaf(1, 4, 3, 4).double(), k, v, enable_gqa=True))
    shown("dtype", lambda: F.scaled_dot_product_attention(q.float(), k, v))
    shown("mask", lambda: F.scaled_dot_product_attention(q, k, v, attn_mask=torch.ones(3, 5).long()))
    e, h = 8, 2
    x, w, b, out, bias = leaf(5, 2, e), leaf(3 * e, e), leaf(3 * e), leaf(e, e), leaf(e)
    for kw in ({}, {"need_weights": False}, {"key_padding_mask": torch.eye(2, 5).bool()}):
        shown("heads", lambda kw=kw: F.multi_head_attention_forward(
            x, x, x, e, h, w, b, None, None, False, 0.0, out, bias, **kw
        ))  # fmt: skip
    shown("heads", lambda: F.multi_head_attention_forward(
        x, x, x, 9, h, w, b, None, None, False, 0.0, out, bias
    ))  # fmt: skip


def distances(torch: Any) -> None:
    F, leaf = torch.nn.functional, leaves(torch)
    x = torch.tensor([[0.0, 0.0], [3.0, 4.0], [3.0, 4.0]], requires_grad=True)
    for p in (0.0, 0.5, 1.0, 2.0, 3.0, float("inf")):
        y = torch.cdist(x, x.detach() + 0.0, p)
        (g,) = torch.autograd.grad(y.sum(), x)
        print(p, y.tolist(), [round(v, 4) for v in g.flatten().tolist()])
        print(F.pdist(x, p).tolist())
    shown("few", lambda: torch.cdist(leaf(4, 3), leaf(5, 3)))
    shown("many", lambda: torch.cdist(leaf(30, 3), leaf(5, 3)))
    shown("pairs", lambda: F.pdist(leaf(4, 3)))
    shown("columns", lambda: torch.cdist(leaf(4, 3), leaf(5, 2)))
    shown("negative", lambda: torch.cdist(leaf(4, 3), leaf(5, 3), -1.0))
    print(F.pairwise_distance(torch.ones(2, 2), torch.zeros(2, 2), keepdim=True))
    w, bias = leaf(4, 5, 2), leaf(4)
    shown("bilinear", lambda: F.bilinear(leaf(3, 5), leaf(3, 2), w, bias))
    for shape in ((5,), (3, 5), (2, 3, 5), (2, 2, 3, 5)):
        shown("linear", lambda s=shape: F.linear(leaf(*s), leaf(4, 5), bias))
    shown("linear", lambda: F.linear(leaf(3, 5), leaf(4, 6), bias))
    shown("linear", lambda: F.linear(leaf(3, 5), leaf(4, 5), leaf(3)))
