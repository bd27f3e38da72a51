"""autograd.functional: products and matrices, strict, vectorized, with a graph."""

from __future__ import annotations

from typing import Any

from . import attempt


def products(torch: Any) -> None:
    F = torch.autograd.functional
    x, v = torch.tensor([1.0, 2.0]), torch.tensor([1.0, 10.0])
    print(F.vjp(lambda x: x.exp(), x, v))
    print(F.jvp(lambda x: x.exp(), x, v))
    print(F.vhp(lambda x: (x**3).sum(), x, v))
    print(F.hvp(lambda x: (x**3).sum(), x, v))
    print(F.vjp(lambda x: x.sum(), x))
    print(F.jvp(lambda x: x.exp(), torch.tensor(1.0)))
    f = lambda x, y: (x * y, x.sum())  # noqa: E731
    print(F.vjp(f, (x, v), (v, torch.tensor(2.0))))
    print(F.jvp(f, (x, v), (v, x)))
    g = lambda x, y: (x * y * y).sum()  # noqa: E731
    print(F.vhp(g, (x, v), (v, x)))
    print(F.hvp(g, (x, v), (v, x)))


def matrices(torch: Any) -> None:
    F = torch.autograd.functional
    x, y = torch.tensor([1.0, 2.0]), torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    print(F.jacobian(torch.exp, x))
    print(F.jacobian(lambda x, y: y @ x, (x, y)))
    print(F.jacobian(lambda x: (x.sum(), x * 2), x))
    print(F.hessian(lambda x: (x**3).sum(), x))
    print(F.hessian(lambda x, y: (x @ y @ x), (x, y)))
    for kw in ({"vectorize": True}, {"vectorize": True, "strategy": "forward-mode"}):
        print(F.jacobian(lambda x, y: (y @ x, x.sum()), (x, y), **kw))
    print(F.hessian(lambda x: (x**3).sum(), x, vectorize=True))
    print(F.hessian(lambda x: (x**3).sum(), x, vectorize=True, outer_jacobian_strategy="forward-mode").detach())


def graphs(torch: Any) -> None:
    F = torch.autograd.functional
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    v = torch.tensor([1.0, 10.0], requires_grad=True)
    for got in (
        F.vjp(torch.exp, x, v, create_graph=True),
        F.jvp(torch.exp, x, v, create_graph=True),
        F.hvp(lambda x: (x**3).sum(), x, v, create_graph=True),
        F.vhp(lambda x: (x**3).sum(), x, v, create_graph=True),
    ):
        print([t.requires_grad for t in got])
        print(torch.autograd.grad(got[1].sum(), (x, v)))
    j = F.jacobian(lambda x: x**3, x, create_graph=True)
    print(torch.autograd.grad(j.sum(), x))
    j = F.jacobian(lambda x: x**3, x, create_graph=True, vectorize=True)
    print(torch.autograd.grad(j.sum(), x))
    h = F.hessian(lambda x: (x**4).sum(), x, create_graph=True)
    print(torch.autograd.grad(h.sum(), x))
    print(F.jacobian(lambda x: x**3, x).requires_grad)
    with torch.no_grad():
        print(F.jacobian(lambda x: x**3, x), torch.is_grad_enabled())


def strict(torch: Any) -> None:
    F = torch.autograd.functional
    x, v = torch.tensor([1.0, 2.0]), torch.tensor([1.0, 10.0])
    constant = lambda x: torch.ones(2)  # noqa: E731
    one = lambda x, y: x * 2  # noqa: E731
    linear = lambda x: x * 2  # noqa: E731
    for on in (False, True):
        attempt(F.vjp, constant, x, v, strict=on)
        attempt(F.jvp, constant, x, v, strict=on)
        attempt(F.jacobian, constant, x, strict=on)
        attempt(F.vjp, one, (x, v), v, strict=on)
        attempt(F.jvp, one, (x, v), (v, v), strict=on)
        attempt(F.jacobian, one, (x, v), strict=on)
        attempt(F.jacobian, linear, x, strict=on, create_graph=True)
        attempt(F.hessian, lambda x: x.sum(), x, strict=on)
        attempt(F.hvp, lambda x: x.sum(), x, v, strict=on)
        attempt(F.vhp, lambda x: x.sum(), x, v, strict=on)
        attempt(F.vhp, lambda x: torch.ones(()), x, v, strict=on)
        attempt(F.hvp, lambda x: torch.ones(()), x, v, strict=on)
        attempt(F.hvp, lambda x, y: (x**3).sum(), (x, v), (v, v), strict=on)
        attempt(F.vhp, lambda x, y: (x**3).sum(), (x, v), (v, v), strict=on)
        attempt(F.hessian, lambda x, y: (x**3).sum(), (x, v), strict=on)
        attempt(F.vjp, linear, x, v, strict=on, create_graph=True)
        attempt(F.jvp, linear, x, v, strict=on, create_graph=True)


def misuse(torch: Any) -> None:
    F = torch.autograd.functional
    x, v = torch.tensor([1.0, 2.0]), torch.tensor([1.0, 10.0])
    attempt(F.vjp, torch.exp, x)
    attempt(F.jvp, torch.exp, x)
    attempt(F.hvp, lambda x: x.sum(), x)
    attempt(F.vjp, torch.exp, x, torch.ones(3))
    attempt(F.vjp, torch.exp, x, (v, v))
    attempt(F.jvp, torch.exp, (x,), (torch.ones(3),))
    attempt(F.vjp, torch.exp, 3.0, v)
    attempt(F.vjp, torch.exp, (x, 3.0), v)
    attempt(F.vjp, lambda x: 3.0, x, v)
    attempt(F.vjp, lambda x: (x, 3.0), x, v)
    attempt(F.vjp, torch.exp, [x], v)
    attempt(F.vjp, torch.exp, x, 3)
    attempt(F.hessian, torch.exp, x)
    attempt(F.hessian, lambda x: (x.sum(),), x)
    attempt(F.hessian, lambda x: (x.sum(), x.sum()), x)
    attempt(F.hvp, torch.exp, x, v)
    attempt(F.hvp, lambda x: (x.sum(), x.sum()), x, v)
    attempt(F.jacobian, torch.exp, x, strategy="sideways")
    attempt(F.jacobian, torch.exp, x, strategy="forward-mode")
    attempt(F.jacobian, torch.exp, x, vectorize=True, strict=True)
    attempt(F.jacobian, torch.exp, x, vectorize=True, strategy="forward-mode", create_graph=True)
    attempt(F.jacobian, torch.exp, x, vectorize=True, strategy="forward-mode", strict=True)
    attempt(F.hessian, lambda x: x.sum(), x, outer_jacobian_strategy="sideways")
    attempt(F.hessian, lambda x: x.sum(), x, outer_jacobian_strategy="forward-mode")


def complex_matrices(torch: Any) -> None:
    F = torch.autograd.functional
    z = torch.tensor([1 + 2j, 3 - 1j])
    print(F.jacobian(lambda z: z**2, z))
    print(F.jacobian(lambda z: z.abs(), z))
    print(F.vjp(lambda z: z**2, z, torch.tensor([1j, 1 + 0j])))


def checks(torch: Any) -> None:
    A = torch.autograd
    x = torch.tensor([0.5, 1.5], dtype=torch.float64, requires_grad=True)
    w = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
    f = lambda x: (x**3).exp()  # noqa: E731
    for kw in (
        {},
        {"fast_mode": True},
        {"check_forward_ad": True},
        {"check_batched_grad": True},
        {"check_forward_ad": True, "check_batched_forward_grad": True},
        {"check_grad_dtypes": True},
        {"check_undefined_grad": False},
        {"masked": True},
    ):
        print(A.gradcheck(f, x, **kw))
    print(A.gradcheck(lambda x, w: (x * w, x.sum()), (x, w)))
    for kw in ({}, {"fast_mode": True}, {"check_fwd_over_rev": True}, {"gen_non_contig_grad_outputs": True}):
        print(A.gradgradcheck(f, x, **kw))
    print(A.gradgradcheck(f, x, torch.ones(2, dtype=torch.float64, requires_grad=True)))
    z = torch.tensor([1 + 2j], dtype=torch.complex128, requires_grad=True)
    print(A.gradcheck(lambda z: z.abs() * z, z), A.gradgradcheck(lambda z: (z * z).real, z))




def _wrong(torch: Any) -> Any:
    class Wrong(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 2

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g * 3

    return Wrong.apply


def failing_checks(torch: Any) -> None:
    A = torch.autograd
    x = torch.tensor([0.5, 1.5], dtype=torch.float64, requires_grad=True)
    wrong = _wrong(torch)
    attempt(A.gradcheck, wrong, x)
    print(A.gradcheck(wrong, x, raise_exception=False))
    attempt(A.gradcheck, lambda x: x.float().double() * 2, x)
    attempt(A.gradcheck, lambda x: x * 2, x.detach())
    attempt(A.gradcheck, lambda x: x * 2, x.detach().float().requires_grad_())
    attempt(A.gradcheck, lambda x: x * 2, x.expand(2, 2))
    attempt(A.gradcheck, lambda x: x * 2, x, check_forward_ad=False, check_backward_ad=False)
    attempt(A.gradcheck, lambda x: x * 2, x, check_batched_forward_grad=True)
    attempt(A.gradcheck, lambda x: x * 2, x, check_batched_grad=True, check_backward_ad=False, check_forward_ad=True)
    attempt(A.gradcheck, lambda x: x.detach() * 2, x)
    attempt(A.gradcheck, lambda x: torch.ones(2, dtype=torch.float64), x)
    attempt(A.gradcheck, wrong, x, check_forward_ad=True)
    attempt(A.gradcheck, lambda x: (x * 2, wrong(x)), x)
