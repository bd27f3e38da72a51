"""Published recipes that sample: policy gradients, a VAE, a Gaussian process, a mixture, a flow, PPO."""
# ruff: noqa: B023, E741

import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim
from torch.distributions import Categorical, Independent, MultivariateNormal, Normal, kl_divergence

# REINFORCE with baseline on a random walk
torch.manual_seed(1)


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.affine1 = nn.Linear(4, 32)
        self.dropout = nn.Dropout(p=0.6)
        self.action = nn.Linear(32, 2)
        self.value = nn.Linear(32, 1)

    def forward(self, x):
        x = F.relu(self.dropout(self.affine1(x)))
        return F.softmax(self.action(x), dim=-1), self.value(x)


p = Policy()
opt = optim.Adam(p.parameters(), lr=3e-2)
eps = torch.finfo(torch.float32).eps
for ep in range(12):
    s = torch.randn(4)
    logs = []
    vals = []
    rew = []
    for _ in range(20):
        probs, v = p(s)
        m = Categorical(probs)
        a = m.sample()
        logs.append(m.log_prob(a))
        vals.append(v)
        s = 0.9 * s + torch.randn(4) * 0.1 + (a.item() - 0.5) * 0.3
        rew.append(-s.abs().sum().item())
    R = 0
    ret = []
    for r in rew[::-1]:
        R = r + 0.99 * R
        ret.insert(0, R)
    ret = torch.tensor(ret)
    ret = (ret - ret.mean()) / (ret.std() + eps)
    loss = (
        torch.stack([-l * (R - v.item()) for l, R, v in zip(logs, ret, vals)]).sum()
        + torch.stack([F.smooth_l1_loss(v, torch.tensor([R])) for v, R in zip(vals, ret)]).sum()
    )
    opt.zero_grad()
    loss.backward()
    opt.step()
    print("pg", ep, f"{loss.item():.5f}")
# VAE with distributions
torch.manual_seed(2)
X = torch.rand(64, 20)
enc = nn.Sequential(nn.Linear(20, 32), nn.Tanh(), nn.Linear(32, 8))
dec = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 20))
opt = optim.RMSprop([*enc.parameters(), *dec.parameters()], 1e-3)
for i in range(20):
    mu, ls = enc(X).chunk(2, -1)
    q = Independent(Normal(mu, F.softplus(ls) + 1e-3), 1)
    z = q.rsample()
    px = Independent(torch.distributions.Bernoulli(logits=dec(z), validate_args=False), 1)
    loss = (kl_divergence(q, Independent(Normal(torch.zeros(4), torch.ones(4)), 1)) - px.log_prob(X)).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    print("vae", i, f"{loss.item():.5f}")
# GP
torch.manual_seed(3)
x = torch.linspace(0, 1, 30, dtype=torch.float64)
y = torch.sin(6 * x) + 0.1 * torch.randn(30, dtype=torch.float64)
raw = nn.Parameter(torch.zeros(3, dtype=torch.float64))
opt = optim.LBFGS([raw], lr=0.3, max_iter=5)
for i in range(12):

    def closure():
        opt.zero_grad()
        l, s, n = raw.exp()
        K = s * torch.exp(-0.5 * (x[:, None] - x[None]) ** 2 / l**2) + (n * 0.1 + 1e-5) * torch.eye(
            30, dtype=torch.float64
        )
        loss = -MultivariateNormal(torch.zeros(30, dtype=torch.float64), K).log_prob(y)
        loss.backward()
        return loss

    print("gp", i, f"{opt.step(closure).item():.6f}")
# mixture fit & flow
torch.manual_seed(4)
data = torch.cat([torch.randn(100) - 2, torch.randn(100) * 0.5 + 1])
w = nn.Parameter(torch.zeros(3))
m = nn.Parameter(torch.tensor([-1.0, 0.0, 1.0]))
ls = nn.Parameter(torch.zeros(3))
opt = optim.NAdam([w, m, ls], 0.05)
for i in range(15):
    d = torch.distributions.MixtureSameFamily(Categorical(logits=w), Normal(m, ls.exp()))
    loss = -d.log_prob(data).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    print("mix", i, f"{loss.item():.5f}")
a = nn.Parameter(torch.tensor(0.5))
b = nn.Parameter(torch.tensor(0.1))
opt = optim.Adam([a, b], 0.05)
pos = data.exp()
for i in range(10):
    d = torch.distributions.TransformedDistribution(
        Normal(0.0, 1.0), [torch.distributions.AffineTransform(b, a.exp()), torch.distributions.ExpTransform()]
    )
    loss = -d.log_prob(pos).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    print("flow", i, f"{loss.item():.5f}")
# Dirichlet/Beta/Gamma reparametrised
torch.manual_seed(5)
c = nn.Parameter(torch.tensor([0.5, 1.0, 2.0]))
opt = optim.SGD([c], 0.05)
for i in range(12):
    z = torch.distributions.Dirichlet(F.softplus(c) + 0.1).rsample((64,))
    g = torch.distributions.Gamma(F.softplus(c) + 0.1, 1.0).rsample((64,))
    loss = ((z - torch.tensor([0.2, 0.3, 0.5])) ** 2).sum(-1).mean() + (g.mean() - 2) ** 2
    opt.zero_grad()
    loss.backward()
    opt.step()
    print("dir", i, f"{loss.item():.4f}")
# PPO-ish
torch.manual_seed(6)
net = nn.Sequential(nn.Linear(3, 16), nn.Tanh(), nn.Linear(16, 2))
std = nn.Parameter(torch.zeros(1))
opt = optim.AdamW([*net.parameters(), std], 1e-2)
s = torch.randn(128, 3)
with torch.no_grad():
    old = Normal(net(s), std.exp())
    act = old.sample()
    lp = old.log_prob(act).sum(-1)
    adv = -(act - s[:, :2]).pow(2).sum(-1)
    adv = (adv - adv.mean()) / adv.std()
for i in range(15):
    d = Normal(net(s), std.exp())
    r = (d.log_prob(act).sum(-1) - lp).exp()
    loss = -torch.min(r * adv, r.clamp(0.8, 1.2) * adv).mean() - 0.01 * d.entropy().mean()
    opt.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(net.parameters(), 0.5)
    opt.step()
    print("ppo", i, f"{loss.item():.5f}")
