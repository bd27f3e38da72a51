"""Learn to balance a pole on a cart by REINFORCE: the gradient of the log-probability of what was done, times its return.

The cart and the pole are the equations of Barto, Sutton and Anderson (1983), with no package around them.

    tidu run examples/cart_pole.py --episodes 120 --plot cart.png     # or python, with PyTorch
"""

import argparse
import math

import torch
import torch.nn as nn
import torch.nn.functional as F
from _show import curve, progress
from torch.distributions import Categorical


class CartPole:
    """State: position, speed, angle, angular speed. An episode ends when the pole leans over or the cart leaves."""

    GRAVITY, CART, POLE, HALF, FORCE, DT = 9.8, 1.0, 0.1, 0.5, 10.0, 0.02

    def reset(self):
        self.state = torch.empty(4, dtype=torch.float64).uniform_(-0.05, 0.05).tolist()
        return self.state

    def step(self, action):
        x, speed, angle, spin = self.state
        force = self.FORCE if action == 1 else -self.FORCE
        sine, cosine, mass = math.sin(angle), math.cos(angle), self.CART + self.POLE
        push = (force + self.POLE * self.HALF * spin**2 * sine) / mass
        spun = (self.GRAVITY * sine - cosine * push) / (self.HALF * (4 / 3 - self.POLE * cosine**2 / mass))
        pushed = push - self.POLE * self.HALF * spun * cosine / mass
        x, angle = x + self.DT * speed, angle + self.DT * spin
        self.state = [x, speed + self.DT * pushed, angle, spin + self.DT * spun]
        return self.state, 1.0, abs(x) > 2.4 or abs(angle) > math.radians(12)


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.affine1 = nn.Linear(4, 64)
        self.dropout = nn.Dropout(p=0.3)
        self.affine2 = nn.Linear(64, 2)
        self.saved_log_probs, self.rewards = [], []

    def forward(self, x):
        x = F.relu(self.dropout(self.affine1(x)))
        return F.softmax(self.affine2(x), dim=1)


def select_action(policy, state):
    m = Categorical(policy(torch.tensor(state, dtype=torch.float32).unsqueeze(0)))
    action = m.sample()
    policy.saved_log_probs.append(m.log_prob(action))
    return action.item()


def finish_episode(policy, optimizer, gamma):
    R, returns = 0.0, []
    for r in reversed(policy.rewards):
        R = r + gamma * R
        returns.insert(0, R)
    returns = torch.tensor(returns)
    returns = (returns - returns.mean()) / (returns.std() + torch.finfo(torch.float32).eps)
    loss = torch.cat([-log_prob * R for log_prob, R in zip(policy.saved_log_probs, returns)]).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    policy.rewards.clear()
    policy.saved_log_probs.clear()
    return loss.item()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--episodes", type=int, default=60)
    parser.add_argument("--gamma", type=float, default=0.99)
    parser.add_argument("--every", type=int, default=10, help="print every so many episodes")
    parser.add_argument("--plot", metavar="FILE", help="draw the lengths of the episodes into a picture")
    parser.add_argument("--seed", type=int, default=543)
    args = parser.parse_args()

    torch.manual_seed(args.seed)
    environment, policy = CartPole(), Policy()
    optimizer = torch.optim.Adam(policy.parameters(), lr=1e-2)
    running, lengths, averages = 10.0, [], []
    bar = progress(range(1, args.episodes + 1), desc="learning", unit="episode")
    for episode in bar:
        state = environment.reset()
        done = False
        while not done and len(policy.rewards) < 300:
            state, reward, done = environment.step(select_action(policy, state))
            policy.rewards.append(reward)
        steps = len(policy.rewards)
        loss = finish_episode(policy, optimizer, args.gamma)
        running = 0.05 * steps + 0.95 * running
        lengths.append(steps)
        averages.append(running)
        bar.set_postfix(average=f"{running:.1f}")
        if episode % args.every == 0:
            print(f"episode {episode:3d}  length {steps:3d}  average {running:.2f}  loss {loss:.5f}")
    curve(args.plot, "Steps until the pole falls", episode_length=lengths, running_average=averages)


if __name__ == "__main__":
    main()
