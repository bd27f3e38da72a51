"""Sine waves continued by two LSTM cells in double precision, fitted with L-BFGS."""

import numpy as np
import torch
import torch.nn as nn
import torch.optim as optim

np.random.seed(2)
torch.manual_seed(0)
torch.set_default_dtype(torch.double)

PERIOD, LENGTH, WAVES = 20, 60, 12
phases = np.random.randint(-4 * PERIOD, 4 * PERIOD, WAVES).reshape(WAVES, 1)
data = np.sin((np.arange(LENGTH) + phases) / 1.0 / PERIOD).astype("float64")


class Sequence(nn.Module):
    def __init__(self, width=24):
        super().__init__()
        self.width = width
        self.lstm1 = nn.LSTMCell(1, width)
        self.lstm2 = nn.LSTMCell(width, width)
        self.linear = nn.Linear(width, 1)

    def forward(self, input, future=0):
        outputs = []
        h1 = c1 = h2 = c2 = torch.zeros(input.size(0), self.width, dtype=torch.double)
        for value in input.split(1, dim=1):
            h1, c1 = self.lstm1(value, (h1, c1))
            h2, c2 = self.lstm2(h1, (h2, c2))
            output = self.linear(h2)
            outputs.append(output)
        for _ in range(future):
            h1, c1 = self.lstm1(output, (h1, c1))
            h2, c2 = self.lstm2(h1, (h2, c2))
            output = self.linear(h2)
            outputs.append(output)
        return torch.cat(outputs, dim=1)


input, target = torch.from_numpy(data[3:, :-1]), torch.from_numpy(data[3:, 1:])
test_input, test_target = torch.from_numpy(data[:3, :-1]), torch.from_numpy(data[:3, 1:])
model = Sequence()
criterion = nn.MSELoss()
optimiser = optim.LBFGS(model.parameters(), lr=0.8, max_iter=12)

for step in range(2):
    print("step", step)

    def closure():
        optimiser.zero_grad()
        loss = criterion(model(input), target)
        print(f"  loss {loss.item():.7f}")
        loss.backward()
        return loss

    optimiser.step(closure)
    with torch.no_grad():
        future = 10
        prediction = model(test_input, future=future)
        loss = criterion(prediction[:, :-future], test_target)
        print(f"  test loss {loss.item():.7f}")
        print("  continued", [round(v, 5) for v in prediction[0, -future:].tolist()])
