"""Numbers, types, arrays of NumPy's, and how it all prints: what lies beneath autograd."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import attempt


def complex_powers(torch: Any) -> None:
    z = torch.tensor([complex(a, b) for a in (0.0, -0.0, 1.0, -2.0, 0.5) for b in (0.0, -0.0, 1.0, -3.0)])
    for w in (2, 3, 0.5, -1, -2, 0, 1, 1j, 1 - 2j, -1j):
        print(w, z**w, z.to(torch.complex128) ** w)
    for w in z:
        print(w, z**w, w.item() ** z)
    print(z.reciprocal(), z.rsqrt(), 1 / z, z.sigmoid())


def signs_of_zeros(torch: Any) -> None:
    x = torch.tensor([0.0, -0.0, 4.0, -4.0, 2.0, -2.0])
    print(
        x % 2,
        x % -2,
        -4 % x[2:],
        torch.remainder(x, torch.tensor(2.0)),
        x.clone().remainder_(2),
        x.double() % 2,
    )
    print(
        x.relu(), x.clamp(0), x.clamp(max=0), x.clamp(0, 3), torch.nn.functional.relu6(x), (x * 0).cumsum(0)
    )
    zero = torch.tensor([-0.0])
    print(
        zero.sum(),
        zero.mean(),
        zero.cumsum(0),
        (-torch.zeros(2, 3)).sum(0),
        torch.nn.functional.softshrink(x),
    )


def limits(torch: Any) -> None:
    for name in "float16 bfloat16 float32 float64 complex64".split():
        f = torch.finfo(getattr(torch, name))
        print(f, f.resolution, f.eps, f.bits, f.dtype)
    for name in "uint8 int8 int16 int32 int64".split():
        print(torch.iinfo(getattr(torch, name)))
    print(torch.finfo() == torch.finfo(torch.float32), torch.iinfo(torch.int8) == torch.iinfo(torch.int16))
    attempt(torch.int32.to_complex)
    attempt(torch.promote_types, 1, 2)
    attempt(torch.can_cast, torch.int32, "float")


def arrays_beside_tensors(torch: Any) -> None:
    t = torch.tensor([1.0, 2.0])
    for a in (
        np.ones(2),
        np.arange(2),
        np.array(2.0),
        np.array(2),
        np.ones(2, np.float32),
        np.array([True, False]),
    ):
        print(t + a, t - 1 * a, t * a, t / a, t**a)
    i = torch.tensor([1, 2])
    print(i + np.ones(2), i / np.array([1, 2]), i * np.array(2), t @ np.ones(2), i * np.float64(2))
    t += np.ones(2)
    print(t)


def functions_of_numpy(torch: Any) -> None:
    t, square = torch.arange(6.0).view(2, 3), torch.tensor([[2.0, 1.0], [1.0, 3.0]])
    print(np.isnan(t), np.sqrt(torch.tensor([1, 4])), np.cumsum(t), np.cumsum(t, axis=1), np.round(t, 1))
    print(np.transpose(t), np.reshape(t, (3, 2)), np.squeeze(t[None]), np.split(t, 2), np.repeat(t, 2))
    print(
        np.nonzero(t), np.searchsorted(t[1], 4), np.linspace(t[0, 0], t[0, 2], 3), np.argsort(t), np.shape(t)
    )
    print(np.linalg.inv(square), np.linalg.eigh(square), np.linalg.solve(square, square))
    print(type(np.concatenate([t, t])), type(np.where(t > 2, t, 0)), type(np.asarray(t)))


def parts_lost(torch: Any) -> None:
    x = torch.zeros(2)
    x[0] = torch.tensor(1 + 2j)
    print(x.copy_(torch.tensor([1j, 2j])))


def determinants(torch: Any) -> None:
    for seed in range(6):
        torch.manual_seed(seed)
        n = 2 + seed // 2
        m = torch.randint(-4, 5, (n, n)).double()
        print(m.det(), m.float().det(), torch.slogdet(m).sign, torch.linalg.lu_factor_ex(m))
    print(torch.linalg.det(torch.tensor([[1.0, 2.0], [2.0, 4.0]])), torch.zeros(2, 2).det())
    print(torch.tensor([[1.0, 2.0], [3.0, 4.0]], dtype=torch.float64).det())


def boundaries(torch: Any) -> None:
    flags = torch.tensor([False, True])
    print(torch.bucketize(torch.tensor([0.5, 2.0]), flags), torch.searchsorted(torch.tensor([0, 1]), flags))
    attempt(torch.bucketize, flags, flags)
    attempt(torch.bucketize, torch.tensor([1j]), torch.tensor([1.0]))
    attempt(torch.gradient, torch.tensor([1, 2, 0], dtype=torch.uint8))
    attempt(torch.trapezoid, flags)
    attempt(torch.trapezoid, torch.tensor(1.0))
    attempt(torch.cumulative_trapezoid, flags)
    attempt(lambda: torch.trapezoid(torch.ones(3), dx=True))


def settings(torch: Any) -> None:
    print(torch.frexp(torch.tensor([8.0, -0.5])), torch.set_grad_enabled(True))
    attempt(torch.set_deterministic_debug_mode, "loud")
    attempt(torch.set_num_threads, "two")
    torch.set_float32_matmul_precision("some")
    print(torch._tensor_str.PRINT_OPTS)


def half_precision_log_softmax(torch: Any) -> None:
    for d in (torch.float16, torch.bfloat16):
        x = torch.arange(12.0).view(3, 4).to(d) / 7
        print(x.log_softmax(1), x.log_softmax(0), x.softmax(1))
