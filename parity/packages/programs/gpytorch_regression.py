"""gpytorch: an exact Gaussian process fitted by its marginal likelihood, and a sparse variational one."""

import math

import gpytorch
import torch

torch.manual_seed(0)
x = torch.linspace(0, 1, 40)
y = torch.sin(x * 2 * math.pi) + 0.2 * torch.randn(40)


class ExactGPModel(gpytorch.models.ExactGP):
    def __init__(self, x, y, likelihood):
        super().__init__(x, y, likelihood)
        self.mean_module = gpytorch.means.ConstantMean()
        self.covar_module = gpytorch.kernels.ScaleKernel(
            gpytorch.kernels.RBFKernel() + gpytorch.kernels.MaternKernel(nu=2.5)
        )

    def forward(self, x):
        return gpytorch.distributions.MultivariateNormal(self.mean_module(x), self.covar_module(x))


likelihood = gpytorch.likelihoods.GaussianLikelihood()
model = ExactGPModel(x, y, likelihood)
model.train()
likelihood.train()
optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
mll = gpytorch.mlls.ExactMarginalLogLikelihood(likelihood, model)
for step in range(20):
    optimizer.zero_grad()
    loss = -mll(model(x), y)
    loss.backward()
    optimizer.step()
    print(f"exact {step:2d} loss {loss.item():.6f} noise {likelihood.noise.item():.6f}")
model.eval()
likelihood.eval()
with torch.no_grad(), gpytorch.settings.fast_pred_var():
    prediction = likelihood(model(torch.linspace(0.05, 1.1, 6)))
    print("mean", [round(v, 4) for v in prediction.mean.tolist()])
    print("deviation", [round(v, 4) for v in prediction.stddev.tolist()])


class SparseModel(gpytorch.models.ApproximateGP):
    def __init__(self, inducing):
        distribution = gpytorch.variational.CholeskyVariationalDistribution(inducing.size(0))
        strategy = gpytorch.variational.VariationalStrategy(
            self, inducing, distribution, learn_inducing_locations=True
        )
        super().__init__(strategy)
        self.mean_module = gpytorch.means.ConstantMean()
        self.covar_module = gpytorch.kernels.ScaleKernel(gpytorch.kernels.RBFKernel())

    def forward(self, x):
        return gpytorch.distributions.MultivariateNormal(self.mean_module(x), self.covar_module(x))


torch.manual_seed(1)
model = SparseModel(torch.linspace(0, 1, 10)[:, None])
likelihood = gpytorch.likelihoods.GaussianLikelihood()
optimizer = torch.optim.Adam([*model.parameters(), *likelihood.parameters()], lr=0.05)
mll = gpytorch.mlls.VariationalELBO(likelihood, model, num_data=len(y))
model.train()
for step in range(15):
    optimizer.zero_grad()
    loss = -mll(model(x[:, None]), y)
    loss.backward()
    optimizer.step()
    print(f"sparse {step:2d} loss {loss.item():.6f}")
