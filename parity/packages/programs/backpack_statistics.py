"""backpack: individual gradients, variances, curvature, beside the gradient in one backward pass."""

import torch
from backpack import backpack, extend, extensions

torch.manual_seed(0)
model = extend(
    torch.nn.Sequential(
        torch.nn.Conv2d(1, 3, 3),
        torch.nn.ReLU(),
        torch.nn.MaxPool2d(2),
        torch.nn.Flatten(),
        torch.nn.Linear(27, 8),
        torch.nn.Sigmoid(),
        torch.nn.Linear(8, 4),
    )
)
lossfunc = extend(torch.nn.CrossEntropyLoss())
x, y = torch.randn(6, 1, 8, 8), torch.randint(4, (6,))
with backpack(
    extensions.BatchGrad(),
    extensions.BatchL2Grad(),
    extensions.Variance(),
    extensions.SumGradSquared(),
    extensions.DiagGGNExact(),
    extensions.KFAC(mc_samples=1),
    extensions.KFLR(),
    extensions.DiagHessian(),
):
    loss = lossfunc(model(x), y)
    loss.backward()
print("loss", round(loss.item(), 6))
for name, p in model.named_parameters():
    print(
        name,
        *(
            round(t.abs().sum().item(), 5)
            for t in (
                p.grad,
                p.grad_batch,
                p.batch_l2,
                p.variance,
                p.sum_grad_squared,
                p.diag_ggn_exact,
                p.diag_h,
            )
        ),
        [round(k.abs().sum().item(), 4) for k in p.kflr],
    )
