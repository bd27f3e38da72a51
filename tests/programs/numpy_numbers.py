"""NumPy's numbers where PyTorch expects Python's: dimensions, sizes, bounds, fills, factors."""

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

zero, one, two = np.int64(0), np.int64(1), np.int32(2)
half, quarter = np.float32(0.5), np.float64(0.25)
x = (torch.arange(6.0).view(2, 3) / 7 + 0.1).requires_grad_()

for name, call in {
    "dimensions": lambda: (x.sum(zero), x.mean(one), x.std(zero), x.amax(zero), x.logsumexp(one), x.argmax(zero)),
    "more": lambda: (x.all(zero), x.count_nonzero(one), x.movedim(zero, one), torch.quantile(x, 0.5, dim=zero)),
    "pairs": lambda: (*x.sort(zero), *x.max(one), *torch.std_mean(x, zero)),
    "several": lambda: (x.sum((zero, one)), x.mean([one]), torch.flip(x, (zero,))),
    "norms": lambda: (x.norm(two), x.norm(two, zero), torch.norm(x, half + 2), F.normalize(x, dim=zero)),
    "linalg": lambda: (torch.linalg.norm(x, dim=zero), torch.linalg.norm(x, two), torch.linalg.vector_norm(x, two)),
    "sizes": lambda: (x.view(two, 3), x.reshape(-1, two), x.expand(two, np.int64(3)), torch.zeros(two)),
    "bounds": lambda: (x.clamp(quarter, half), x.clamp(min=half), x.clamp(max=zero), torch.clamp(x, quarter, half)),
    "chosen": lambda: (torch.where(x > 0.5, half, 0), torch.where(x > 0.5, x, half), x.masked_fill(x > 0.5, half)),
    "mixed": lambda: (torch.lerp(x, x + 1, half), torch.lerp(x, x + 1, quarter), torch.logit(x, quarter)),
    "filled": lambda: (torch.zeros(2).fill_(half), torch.full((two,), half), torch.zeros(2).fill_(two)),
    "scaled": lambda: (torch.add(x, x, alpha=quarter), torch.addcmul(x, x, x, value=half), half * x, x / quarter),
    "layers": lambda: (nn.LeakyReLU(quarter)(x - 1), nn.Softplus(half)(x), F.hardtanh(x, quarter, half)),
}.items():
    print(name)
    for out in call():
        print(out.dtype, out)
        if out.requires_grad and out.is_floating_point():
            print(*torch.autograd.grad(out.sum(), x, retain_graph=True))
