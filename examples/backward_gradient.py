"""What `gradient` means in `z.backward(gradient=G)`: three products, and a choice of which output to follow.

backward() walks from one number back to everything that made it. When the result is a matrix there is
no such number yet, so PyTorch asks for weights: G has the shape of z, and z.backward(G) computes the
gradient of the weighted sum (G * z).sum(). A G that is 1 in one place and 0 elsewhere ("one-hot")
therefore asks: how does this one element of z depend on the inputs?

Run it with `tidu run examples/backward_gradient.py`, or with PyTorch itself: the output is the same.
"""

import torch


def one_hot(like, *place):
    """Weights that pick the element of `like` at `place`."""
    weights = torch.zeros_like(like)
    weights[place] = 1
    return weights


print("1. The matrix product, (1, 2) @ (2, 3) -> (1, 3)")
row = torch.tensor([[3.0, 5.0]], requires_grad=True)
table = torch.tensor([[2.0, 4.0, 6.0], [1.0, 3.0, 7.0]], requires_grad=True)
z = row @ table
print("z =", z)

# Without weights there is nothing to differentiate: z holds three numbers, not one.
try:
    z.backward()
except RuntimeError as error:
    print("backward() says:", error)

# Weights of the wrong shape are no help: they must match z, the output, not the inputs.
try:
    z.backward(torch.ones_like(row))
except RuntimeError as error:
    print("backward(ones_like(row)) says:", error)

# Follow z[0, 1] = 3*4 + 5*3. It reads the second column of the table and nothing else, so the table's
# gradient is zero outside that column. In the column it holds the row, and in the row's gradient
# stands the column.
z.backward(gradient=one_hot(z, 0, 1))
print("d z[0,1] / d row   =", row.grad)
print("d z[0,1] / d table =", table.grad)

print()
print("2. The element-wise (Hadamard) product, (1, 3) * (2, 3) -> (2, 3)")
scale = torch.tensor([[2.0, 3.0, 4.0]], requires_grad=True)
values = torch.tensor([[1.0, 5.0, 6.0], [7.0, 8.0, 9.0]], requires_grad=True)
z = scale * values  # `scale` is broadcast: its one row meets both rows of `values`
print("z =", z)

# z[1, 2] = scale[0, 2] * values[1, 2]: one element of each input, and each one's derivative is the other.
z.backward(gradient=one_hot(z, 1, 2), retain_graph=True)
print("d z[1,2] / d scale  =", scale.grad)
print("d z[1,2] / d values =", values.grad)

# With all weights 1 we follow the plain sum. `scale` was used in both rows, so its gradient adds up
# over them. (.grad accumulates from call to call: empty it first. retain_graph above let us come back.)
scale.grad = values.grad = None
z.backward(torch.ones_like(z))
print("d sum(z) / d scale  =", scale.grad)
print("d sum(z) / d values =", values.grad)

print()
print("3. torch.mm, (2, 2) x (2, 3) -> (2, 3), and the whole Jacobian from one-hot weights")
left = torch.tensor([[0.5, 1.0], [2.0, 4.0]], requires_grad=True)
right = torch.tensor([[1.0, 2.0, 3.0], [10.0, 20.0, 30.0]], requires_grad=True)
z = torch.mm(left, right)
print("z =", z)

z.backward(one_hot(z, 1, 0), retain_graph=True)
print("d z[1,0] / d left  =", left.grad)
print("d z[1,0] / d right =", right.grad)

# One backward pass for each of the six outputs gives the six rows of the Jacobian with respect to `left`.
rows = []
for i in range(2):
    for j in range(3):
        (row_of_jacobian,) = torch.autograd.grad(z, left, one_hot(z, i, j), retain_graph=True)
        rows.append(row_of_jacobian.flatten())
print("Jacobian of z with respect to left, six outputs by four inputs:")
print(torch.stack(rows))
