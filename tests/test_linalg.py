"""Linear algebra: what the factorizations are, derivatives with the freedom taken out, errors, degenerate cases."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tidu as torch
from tidu.autograd import gradcheck, gradgradcheck

L = torch.linalg
KINDS = [torch.float64, torch.complex128]


def random(*shape: int, dtype: Any = torch.float64, seed: int = 0, grad: bool = False) -> Any:
    rng = np.random.default_rng(seed + 31 * len(shape) + sum(shape))
    a = rng.standard_normal(shape)
    if dtype.is_complex:
        a = a + 1j * rng.standard_normal(shape)
    return torch.tensor(a, dtype=dtype).requires_grad_(grad)


def regular(*shape: int, **kw: Any) -> Any:
    """Matrices far from singular."""
    grad = kw.pop("grad", False)
    a = random(*shape, **kw)
    return (a + 2 * shape[-1] ** 0.5 * torch.eye(shape[-2], shape[-1], dtype=a.dtype)).requires_grad_(grad)


def hermitian(a: Any) -> Any:
    return a + a.mH


def definite(a: Any) -> Any:
    return a @ a.mH + torch.eye(a.shape[-1], dtype=a.dtype)


def close(a: Any, b: Any) -> bool:
    return torch.allclose(a, b, atol=1e-8)


def turn(v: Any) -> Any:
    """Vectors up to sign or phase: what of them a loss may depend on."""
    return v.abs()


# ------------------------------------------------------------------ what they are


@pytest.mark.parametrize("dtype", KINDS)
@pytest.mark.parametrize("shape", [(3, 3), (4, 3), (3, 4), (2, 3, 3), (2, 1, 3, 4), (0, 3, 3), (3, 0)])
def test_factors_multiply_to_the_matrix(shape: tuple[int, ...], dtype: Any) -> None:
    a = random(*shape, dtype=dtype)
    q, r = L.qr(a)
    assert close(q @ r, a) and close(q.mH @ q, torch.eye(q.shape[-1], dtype=dtype).expand_as(q.mH @ q))
    u, s, vh = L.svd(a, full_matrices=False)
    assert close((u * s.unsqueeze(-2)) @ vh, a)
    assert close(L.svdvals(a), s)
    p, low, up = L.lu(a)
    assert close(p @ low @ up, a)
    lu, pivots = L.lu_factor(a) if min(shape[-2:]) else L.lu_factor_ex(a)[:2]
    assert all(close(x, y) for x, y in zip(torch.lu_unpack(lu, pivots), (p, low, up), strict=True))
    assert close(L.pinv(a), torch.pinverse(a)) and close(a @ L.pinv(a) @ a, a)


@pytest.mark.parametrize("dtype", KINDS)
@pytest.mark.parametrize("lead", [(), (2,), (40,)])
def test_square_matrices(lead: tuple[int, ...], dtype: Any) -> None:
    a, b = regular(*lead, 4, 4, dtype=dtype), random(*lead, 4, 2, dtype=dtype)
    eye = torch.eye(4, dtype=dtype)
    assert close(a @ L.inv(a), eye.expand(*lead, 4, 4))
    assert close(a @ L.solve(a, b), b) and close(L.solve(a, b.mT, left=False) @ a, b.mT)
    w, v = L.eig(a)
    assert close(a.to(w.dtype) @ v, v * w.unsqueeze(-2))
    h = hermitian(a)
    w, v = L.eigh(h)
    assert close(h @ v, v * w.unsqueeze(-2)) and close(L.eigvalsh(h, UPLO="U"), w)
    s = definite(a)
    low = L.cholesky(s)
    assert close(low @ low.mH, s) and close(L.cholesky(s, upper=True), low.mH)
    assert close(s @ torch.cholesky_solve(b, low), b) and close(torch.cholesky_inverse(low), L.inv(s))
    for upper in (False, True):
        t = a.triu() if upper else a.tril()
        assert close(t @ L.solve_triangular(a, b, upper=upper), b)
        assert close(L.solve_triangular(a, b.mT, upper=upper, left=False) @ t, b.mT)
    for kw in ({}, {"left": False}, {"adjoint": True}, {"left": False, "adjoint": True}):
        lu, pivots = L.lu_factor(a)
        m = a.mH if "adjoint" in kw else a
        x = L.lu_solve(lu, pivots, b if "left" not in kw else b.mT, **kw)
        assert close(m @ x, b) if "left" not in kw else close(x @ m, b.mT)
    ld, pivots = L.ldl_factor(h, hermitian=True)
    assert close(h @ L.ldl_solve(ld, pivots, b, hermitian=True), b)
    sign, log = L.slogdet(a)
    assert close(sign * log.exp(), L.det(a))
    assert close(L.matrix_exp(a * 0.1) @ L.matrix_exp(a * -0.1), eye.expand(*lead, 4, 4))
    assert close(L.matrix_power(a, -3) @ L.matrix_power(a, 3), eye.expand(*lead, 4, 4))
    reflectors, tau = torch.geqrf(a)
    q = L.householder_product(reflectors, tau)
    assert close(q @ reflectors.triu(), a) and close(torch.ormqr(reflectors, tau, b), q @ b)
    assert close(torch.ormqr(reflectors, tau, b.mT.contiguous(), False, True), b.mT @ q.mH)


def test_cholesky_of_a_nan_is_an_error() -> None:
    for upper in (False, True):
        bad = torch.eye(3).repeat(2, 1, 1)
        bad[1, 1, 1] = float("nan")
        with pytest.raises(L.LinAlgError, match="leading minor of order 2 is not positive-definite"):
            L.cholesky(bad, upper=upper)
        assert L.cholesky_ex(bad, upper=upper).info.tolist() == [0, 2]


def test_ldl_with_blocks_of_two() -> None:
    a = torch.tensor([[0.0, 1, 2], [1, 0, 3], [2, 3, 1]], dtype=torch.float64)
    ld, pivots = L.ldl_factor(a)
    assert pivots.tolist() == [-3, -3, 3]
    assert close(a @ L.ldl_solve(ld, pivots, torch.eye(3, dtype=torch.float64)), torch.eye(3, dtype=torch.float64))


def test_least_squares_and_tensors() -> None:
    a, b = random(5, 3), random(5, 2)
    solution, residuals, rank, values = L.lstsq(a, b, driver="gelsd")
    assert close(a.mT @ (a @ solution), a.mT @ b) and int(rank) == 3
    assert close(residuals, ((a @ solution - b) ** 2).sum(0)) and close(values, L.svdvals(a))
    assert L.lstsq(a, b).residuals.shape == (0,)
    t = random(2, 3, 6)
    assert close(torch.tensordot(L.tensorinv(t, 2), random(2, 3), 2), L.tensorsolve(t, random(2, 3)))


@pytest.mark.parametrize("order", ["fro", "nuc", 1, -1, 2, -2, float("inf"), float("-inf")])
def test_matrix_norms_agree_with_numpy(order: Any) -> None:
    a = random(2, 4, 3)
    assert np.allclose(L.matrix_norm(a, order).numpy(), np.linalg.norm(a.numpy(), order, (1, 2)))
    moved = L.matrix_norm(a.permute(1, 2, 0), order, dim=(0, 1), keepdim=True)
    assert moved.shape == (1, 1, 2) and np.allclose(moved.numpy()[0, 0], np.linalg.norm(a.numpy(), order, (1, 2)))
    assert np.allclose(L.cond(a[:, :3], order).numpy(), [np.linalg.cond(m, order) for m in a[:, :3].numpy()])


# ------------------------------------------------------------------ derivatives

SQUARE: dict[str, Any] = {
    "inv": L.inv,
    "det": L.det,
    "slogdet": lambda a: L.slogdet(a),
    "matrix_exp": lambda a: L.matrix_exp(a * 0.3),
    "matrix_power": lambda a: L.matrix_power(a, -2),
    "eigvals": lambda a: L.eigvals(a).abs(),
    "eig": lambda a: turn(L.eig(a)[1]),
    "lu": lambda a: L.lu(a)[1:],
    "lu_factor": lambda a: L.lu_factor(a)[0],
    "lu_solve": lambda a: L.lu_solve(*L.lu_factor(a), a.mH, adjoint=True),
    "solve": lambda a: L.solve(a, a.mH + 1),
    "solve_left": lambda a: L.solve(a, a.mH + 1, left=False),
    "solve_triangular": lambda a: L.solve_triangular(a, a.mH, upper=True, left=False),
    "cholesky": lambda a: L.cholesky(definite(a)),
    "cholesky_upper": lambda a: L.cholesky(definite(a), upper=True),
    "cholesky_inverse": lambda a: torch.cholesky_inverse(a.tril()),
    "cholesky_solve": lambda a: torch.cholesky_solve(a, a.triu(), upper=True),
    "eigh": lambda a: (L.eigh(hermitian(a))[0], turn(L.eigh(hermitian(a))[1])),
    "cond": lambda a: L.cond(a, "fro"),
}
ANY: dict[str, Any] = {
    "qr": lambda a: L.qr(a),
    "svd": lambda a: tuple(turn(v) for v in L.svd(a, full_matrices=False)),
    "svdvals": L.svdvals,
    "pinv": L.pinv,
    "nuc": lambda a: L.matrix_norm(a, "nuc"),
    "householder": lambda a: L.householder_product(a[..., :2], a[..., 0, :2] * 0.3),
    "ormqr": lambda a: torch.ormqr(a, a[..., 0, : min(a.shape[-2:])] * 0.3, a.mT.conj().mT + 1, True, True),
    "lstsq": lambda a: L.lstsq(a, a + 1, driver="gels")[0],
    "lu": lambda a: L.lu(a)[1:],
}  # fmt: skip


@pytest.mark.parametrize("dtype", KINDS, ids=str)
@pytest.mark.parametrize("name", SQUARE)
def test_derivatives_of_square_matrices(name: str, dtype: Any) -> None:
    a = regular(3, 3, dtype=dtype, grad=True)
    assert gradcheck(SQUARE[name], (a,), check_forward_ad=True)
    assert gradgradcheck(SQUARE[name], (a,))


@pytest.mark.parametrize("shape", [(3, 3), (4, 2), (2, 4), (2, 3, 2)])
@pytest.mark.parametrize("name", ANY)
def test_derivatives_of_any_matrices(name: str, shape: tuple[int, ...]) -> None:
    a = regular(*shape, grad=True)
    assert gradcheck(ANY[name], (a,), check_forward_ad=True)
    assert gradgradcheck(ANY[name], (a,))


def test_det_of_singular_matrices() -> None:
    a = torch.tensor([[1.0, 2, 3], [2, 4, 6], [1, 0, 1]], dtype=torch.float64, requires_grad=True)
    (g,) = torch.autograd.grad(L.det(a), a)
    minors = [[(-1) ** (i + j) * np.linalg.det(np.delete(np.delete(a.detach().numpy(), i, 0), j, 1)) for j in range(3)]
              for i in range(3)]  # fmt: skip
    assert np.allclose(g.numpy(), minors, atol=1e-12)


def test_values_alone_allow_repetition() -> None:
    # The gaps between repeated values divide what vectors contribute: nothing where only values count.
    a = torch.eye(3, dtype=torch.float64, requires_grad=True)
    for f in (lambda m: L.eigvalsh(m).sum(), lambda m: L.svdvals(m).sum(), lambda m: L.eigh(m)[0].sum()):
        (g,) = torch.autograd.grad(f(a), a)
        assert close(g, torch.eye(3, dtype=torch.float64))


def test_nodes_are_named_as_in_pytorch() -> None:
    a = regular(3, 3, grad=True)
    names = {
        "LinalgInvExBackward0": L.inv(a),
        "LinalgSolveExBackward0": L.solve(a, a),
        "LinalgDetBackward0": torch.det(a),
        "LinalgSvdBackward0": L.svdvals(a),
        "LinalgEighBackward0": L.eigvalsh(a),
        "LinalgEigBackward0": L.eigvals(a),
        "LinalgCholeskyExBackward0": L.cholesky(definite(a)),
        "LinalgLuFactorExBackward0": L.lu_factor(a)[0],
        "LinalgPinvBackward0": torch.pinverse(a),
        "WhereBackward0": torch.logdet(a),
    }
    assert {n: v.grad_fn.name() for n, v in names.items()} == {n: n for n in names}
    assert type(torch.linalg.eigh(a)).__name__ == "linalg_eigh"
    assert type(torch.slogdet(a)).__name__ == "slogdet" and close(torch.svd(a).V, L.svd(a).Vh.mH)


def test_vmap_is_the_batched_call() -> None:
    a, b = regular(5, 3, 3), random(5, 3)
    assert close(torch.func.vmap(L.solve)(a, b), L.solve(a, b.unsqueeze(-1)).squeeze(-1))
    assert close(torch.func.vmap(L.inv)(a), L.inv(a))
    assert close(torch.func.vmap(L.det, in_dims=2)(a.movedim(0, 2)), L.det(a))
    assert close(torch.func.vmap(lambda m: L.qr(m)[1])(a), L.qr(a)[1])
    assert close(torch.func.vmap(L.solve, in_dims=(None, 0))(a[0], b), L.solve(a[0], b.mT).mT)
    jacobians = torch.func.vmap(torch.func.jacrev(L.det))(a)
    assert close(jacobians, L.det(a)[:, None, None] * L.inv(a).mT)


# ------------------------------------------------------------------ errors


def test_singular_matrices_are_named() -> None:
    batch = torch.stack([torch.eye(2), torch.zeros(2, 2), torch.eye(2)])
    with pytest.raises(L.LinAlgError, match=r"linalg\.inv: \(Batch element 1\): The diagonal element 1 is zero, the"):
        L.inv(batch)
    with pytest.raises(L.LinAlgError, match=r"torch\.linalg\.solve: The solver failed because the input"):
        L.solve(batch[1], batch[0])
    with pytest.raises(L.LinAlgError, match=r"\(Batch element 1\): .* \(the leading minor of order 1 is not"):
        L.cholesky(batch)
    assert L.inv_ex(batch).info.tolist() == [0, 1, 0] and L.cholesky_ex(batch).info.tolist() == [0, 1, 0]
    assert issubclass(L.LinAlgError, RuntimeError)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda a: L.inv(a[0]), "linalg.inv: The input tensor A must have at least 2 dimensions."),
        (lambda a: L.det(a[:2]), "linalg.det: A must be batches of square matrices, but they are 2 by 3 matrices"),
        (lambda a: L.inv(a.long()), "linalg.inv: Expected a floating point or complex tensor as input. Got Long"),
        (lambda a: L.inv(a.half()), "linalg.inv: Low precision dtypes not supported. Got Half"),
        (lambda a: L.solve(a, a[:2]), "Incompatible shapes of A and B for the equation AX = B (3x3 and 2x3)"),
        (lambda a: L.solve(a, a.double()), "Expected A and B to have the same dtype, but found A of type Float"),
        (lambda a: L.qr(a, "all"), "qr received unrecognized mode 'all' but expected one of 'reduced'"),
        (lambda a: L.eigh(a, "X"), "Expected UPLO argument to be 'L' or 'U', but got X"),
        (lambda a: L.matrix_norm(a, 3), "linalg.matrix_norm: Order 3 not supported."),
        (lambda a: L.norm(a, "fro", dim=0), "linalg.matrix_norm: dim must be a 2-tuple. Got 0"),
        (lambda a: L.cross(a[:, :2], a[:, :2]), "inputs dimension -1 must have length 3. Got 2 and 2"),
        (lambda a: L.multi_dot([a]), "multi_dot(): expected at least 2 tensors but got 1"),
        (lambda a: L.tensorinv(a, 0), "Expected a strictly positive integer for 'ind', but got 0"),
        (lambda a: torch.trace(a[0]), "trace: expected a matrix, but got tensor with dim 1"),
    ],
)  # fmt: skip
def test_errors(call: Any, words: str) -> None:
    with pytest.raises(RuntimeError) as caught:
        call(torch.eye(3))
    assert words in str(caught.value)


def test_losses_that_depend_on_phases_are_refused() -> None:
    a = random(3, 3, dtype=torch.complex128, grad=True)
    for name, vectors in (
        ("linalg_eigh_backward", lambda: L.eigh(a)[1]),
        ("svd_backward", lambda: L.svd(a)[0]),
        ("linalg_eig_backward", lambda: L.eig(a)[1]),
    ):
        with pytest.raises(RuntimeError, match=name + ".*ill-defined"):
            vectors().real.sum().backward()
    with pytest.raises(RuntimeError, match="not differentiable when mode='complete' and nrows > ncols"):
        L.qr(random(4, 3, grad=True), "complete")[1].sum().backward()
    with pytest.raises(NotImplementedError, match="the derivative for 'geqrf' is not implemented"):
        torch.geqrf(a)[0].real.sum().backward()


def test_the_error_survives_a_pickle() -> None:
    import pickle

    with pytest.raises(L.LinAlgError) as caught:
        L.inv(torch.zeros(2, 2))
    again = pickle.loads(pickle.dumps(caught.value))
    assert type(again) is L.LinAlgError and str(again) == str(caught.value) and type(again).__name__ == "_LinAlgError"


def test_arguments_go_by_pytorchs_names() -> None:
    a = torch.eye(3)
    assert close(L.cholesky(input=a), a) and close(L.lstsq(input=a, b=a).solution, a) and L.norm(input=a, ord=1) == 1
    for call, words in (
        (lambda: L.inv(), 'linalg_inv() missing 1 required positional arguments: "A"'),
        (lambda: L.eigh(a, 1), "linalg_eigh(): argument 'UPLO' (position 2) must be str, not int"),
        (lambda: L.det([1.0]), "linalg_det(): argument 'A' (position 1) must be Tensor, not list"),
        (lambda: L.svd(a, foo=1), "linalg_svd() got an unexpected keyword argument 'foo'"),
        (lambda: torch.fft.fft(a, "a"), "fft_fft(): argument 'n' (position 2) must be int, not str"),
    ):
        with pytest.raises(TypeError) as caught:
            call()
        assert str(caught.value) == words


def test_subclasses_see_the_functions() -> None:
    seen = []

    class Watched(torch.Tensor):
        @classmethod
        def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            seen.append(func.__name__)
            return super().__torch_function__(func, types, args, kwargs or {})

    a = torch.eye(3).as_subclass(Watched)
    assert type(L.inv(a)) is Watched and type(torch.fft.rfft2(a)) is Watched
    assert type(L.solve(torch.eye(3), a)) is Watched
    assert seen == ["linalg_inv", "fft_rfft2", "linalg_solve"]


def test_results_nobody_asked_for_are_empty_under_vmap_too() -> None:
    a = random(4, 5, 3)
    vmap = torch.func.vmap
    assert vmap(lambda m: L.qr(m, "r")[1])(a).shape == (4, 3, 3) and vmap(lambda m: L.qr(m, "r")[0])(a).shape == (4, 0)
    assert close(vmap(L.svdvals)(a), L.svdvals(a))
    got, want = vmap(lambda m: tuple(L.lstsq(m, m)))(a), L.lstsq(a, a)
    assert close(got[0], want[0]) and got[1].shape == (4, 0) and got[2].tolist() == want[2].tolist()


def test_extreme_eigenpairs() -> None:
    a, b = hermitian(random(9, 9)), definite(random(9, 9))
    values, vectors = torch.lobpcg(a, 2)
    assert close(values, L.eigvalsh(a).flip(0)[:2]) and close(a @ vectors, vectors * values)
    values, vectors = torch.lobpcg(a, 2, b, largest=False)
    assert close(a @ vectors, b @ vectors * values)
    assert close(vectors.mT @ b @ vectors, torch.eye(2, dtype=torch.float64))
    assert values[0] < values[1]
    f = lambda m, n: torch.lobpcg(hermitian(m), 1, definite(n))[0]  # noqa: E731
    assert gradcheck(f, (a.requires_grad_(), b.requires_grad_()))
    with pytest.raises(ValueError, match="smaller than 3 x the number of requested eigenpairs"):
        torch.lobpcg(a, 4)


@pytest.mark.parametrize("center", [True, False])
def test_low_rank_approximations_find_the_rank(center: bool) -> None:
    torch.manual_seed(0)
    a = random(8, 2) @ random(2, 6)
    u, s, v = torch.pca_lowrank(a, 3, center=center)
    assert close((u * s) @ v.mT, a - a.mean(0) if center else a) and float(s[2]) < 1e-8
    u, s, v = torch.svd_lowrank(a.mT, 3, M=a.mT.mean(0))
    assert close((u * s) @ v.mT, a.mT - a.mT.mean(0))


@pytest.mark.parametrize("upper", [False, True])
@pytest.mark.parametrize("left", [False, True])
@pytest.mark.parametrize("n", [1, 5, 33])
def test_triangular_systems_leave_their_inputs_alone(upper: bool, left: bool, n: int) -> None:
    torch.manual_seed(0)
    for lead in ((), (3,), (2, 2)):
        for a in (torch.randn(*lead, n, n), torch.randn(*lead, n, n).mT):
            a = a + 2 * n * torch.eye(n)
            for b in (torch.randn(*lead, n, n), torch.randn(*lead, n, n).mT):
                before = b.clone()
                x = torch.linalg.solve_triangular(a, b, upper=upper, left=left)
                half = a.triu() if upper else a.tril()
                assert torch.allclose(half @ x if left else x @ half, b, atol=1e-4)
                assert torch.equal(b, before)
    shared = torch.eye(n) * 2
    b = torch.randn(4, 2, n, 3)
    assert torch.equal(torch.linalg.solve_triangular(shared, b, upper=upper), b / 2)


def test_a_batch_shared_out_between_the_threads_gives_the_same_bits() -> None:
    torch.manual_seed(0)
    a = torch.randn(2, 120, 9, 9, dtype=torch.float64)
    h = a @ a.mT + torch.eye(9)
    calls = (
        torch.linalg.inv, torch.linalg.eigh, torch.linalg.svd, torch.linalg.qr, lambda x: torch.linalg.solve(x, a)
    )  # fmt: skip
    threads = torch.get_num_threads()
    try:
        results = []
        for n in (1, 2, 3):
            torch.set_num_threads(n)
            results.append([call(h) for call in calls])
    finally:
        torch.set_num_threads(threads)
    for other in results[1:]:
        for x, y in zip(results[0], other, strict=True):
            pairs = zip(x, y, strict=True) if isinstance(x, tuple) else [(x, y)]
            assert all(torch.equal(u, v) for u, v in pairs)
    h[1, 100] = 0
    with pytest.raises(torch.linalg.LinAlgError, match="Batch element 220"):
        torch.linalg.inv(h)
