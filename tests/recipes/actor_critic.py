"""Actor and critic in one network learn to balance a pole on a cart."""

import math
from collections import namedtuple
from itertools import count

import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim
from torch.distributions import Categorical


class Cart:
    """A pole hinged on a cart that is pushed to the left or to the right: the equations of Barto, Sutton, Anderson."""

    def reset(self):
        self.state = (torch.rand(4, dtype=torch.double) * 0.1 - 0.05).tolist()
        return self.state

    def step(self, action):
        x, v, angle, spin = self.state
        force = 10.0 if action == 1 else -10.0
        cos, sin = math.cos(angle), math.sin(angle)
        drive = (force + 0.05 * spin**2 * sin) / 1.1
        twist = (9.8 * sin - cos * drive) / (0.5 * (4 / 3 - 0.1 * cos**2 / 1.1))
        push = drive - 0.05 * twist * cos / 1.1
        x, v, angle, spin = x + 0.02 * v, v + 0.02 * push, angle + 0.02 * spin, spin + 0.02 * twist
        self.state = [x, v, angle, spin]
        return self.state, 1.0, abs(x) > 2.4 or abs(angle) > 12 * math.pi / 180


SavedAction = namedtuple("SavedAction", ["log_prob", "value"])


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.affine = nn.Linear(4, 32)
        self.action_head = nn.Linear(32, 2)
        self.value_head = nn.Linear(32, 1)
        self.saved_actions, self.rewards = [], []

    def forward(self, x):
        x = F.relu(self.affine(x))
        return F.softmax(self.action_head(x), dim=-1), self.value_head(x)


torch.manual_seed(543)
env, model = Cart(), Policy()
optimiser = optim.Adam(model.parameters(), lr=3e-2)
eps = torch.finfo(torch.float32).eps


def select_action(state):
    probabilities, value = model(torch.tensor(state, dtype=torch.float))
    m = Categorical(probabilities)
    action = m.sample()
    model.saved_actions.append(SavedAction(m.log_prob(action), value))
    return action.item()


def finish_episode():
    R, returns = 0, []
    for r in model.rewards[::-1]:
        R = r + 0.99 * R
        returns.insert(0, R)
    returns = torch.tensor(returns)
    returns = (returns - returns.mean()) / (returns.std() + eps)
    policy_losses, value_losses = [], []
    for (log_prob, value), R in zip(model.saved_actions, returns):
        advantage = R - value.item()
        policy_losses.append(-log_prob * advantage)
        value_losses.append(F.smooth_l1_loss(value, torch.tensor([R])))
    optimiser.zero_grad()
    loss = torch.stack(policy_losses).sum() + torch.stack(value_losses).sum()
    loss.backward()
    optimiser.step()
    del model.rewards[:], model.saved_actions[:]
    return loss.item()


running = 10.0
for episode in range(20):
    state, total = env.reset(), 0.0
    for _ in count():
        state, reward, done = env.step(select_action(state))
        model.rewards.append(reward)
        total += reward
        if done or total == 200:
            break
    running = 0.05 * total + 0.95 * running
    print(f"episode {episode:2d} length {total:3.0f} average {running:.4f} loss {finish_episode():.5f}")
