"""A tour of autograd in seven stops: recording, detaching, .data, no_grad, matrices, accumulation, training.

Run it with `tidu run examples/autograd_tour.py`, or with PyTorch itself: the output is the same.
"""

import torch

print("1. Recording: a tensor with requires_grad=True remembers what is done with it")
x = torch.tensor([4.0], requires_grad=True)
y = 3 * x * x
z = 2 * y + 1
print("y = 3x^2   =", y)
print("z = 2y + 1 =", z)
# grad_fn is the step that made the tensor; its inputs are further steps, down to x.
print("z was made by", z.grad_fn.name(), "from the result of", z.grad_fn.next_functions[0][0].name())
z.backward()
print("dz/dx = 12x =", x.grad)

print()
print("2. detach(): the same memory, cut off from the history")
x = torch.tensor([1.0, 2.0], requires_grad=True)
d = x.detach()
print("same memory:", x.data_ptr() == d.data_ptr(), "| d.requires_grad:", d.requires_grad)
d[0] = 10.0  # writes through to x: detach() copies nothing
print("after d[0] = 10, x is", x)
# To the recorder, what is computed from d is a constant.
(x * d).sum().backward()
print("d sum(x * d) / dx = d, not 2x:", x.grad)

print()
print("3. .data: like detach(), but writes go unnoticed")
w = torch.tensor([5.0], requires_grad=True)
loss = w * w
w.data *= 100  # the product above saved w; its value has now changed under it
loss.backward()
print("gradient from .data:", w.grad, "(2 * 5 = 10 was meant)")
w = torch.tensor([5.0], requires_grad=True)
loss = w * w
w.detach().mul_(100)  # the same write through detach() is noticed, and refused at backward()
try:
    loss.backward()
except RuntimeError as error:
    print("through detach():", str(error).split(";")[0])

print()
print("4. no_grad(): compute without recording")
x = torch.tensor([3.0], requires_grad=True)
print("outside:", (x**2).requires_grad)
with torch.no_grad():
    print("inside: ", (x**2).requires_grad)


@torch.no_grad()
def predict(t):
    return t**2


print("as a decorator:", predict(x).requires_grad)

print()
print("5. Matrices: backward() starts from one number; a mean or a sum makes one")
x = torch.full((2, 2), 2.0, requires_grad=True)
z = 3 * (x**2) ** 2
z.mean().backward()
print("d mean(3x^4) / dx = 12x^3 / 4 at 2:")
print(x.grad)

print()
print("6. Gradients add up until you empty them")
x = torch.ones(2, 2, requires_grad=True)
for _ in range(3):
    x.sum().backward()
print("three backward passes of a sum:")
print(x.grad)
x.grad.zero_()  # or x.grad = None
x.sum().backward()
print("one more, after zero_():")
print(x.grad)

print()
print("7. All of it together: five steps of gradient descent on (w - 2)^2")
w = torch.tensor(10.0, requires_grad=True)
for step in range(5):
    loss = (w - 2) ** 2
    w.grad = None
    loss.backward()
    with torch.no_grad():
        w -= 0.3 * w.grad
    print(f"step {step}: loss {loss.item():8.4f}   w {w.item():.4f}")
