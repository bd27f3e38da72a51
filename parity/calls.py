"""Calls with arguments drawn at random, valid and not: `call(seed)` gives one as text, with the tensors it takes.

A call is text over tensors t0, t1, ... whose shapes, dtypes and layouts are drawn too; a name stands for the way its
arguments are drawn.
"""

from __future__ import annotations

import random
from typing import NamedTuple

SHAPES = (
    (), (1,), (3,), (2, 3), (3, 3), (3, 2), (2, 3, 4), (1, 3), (0,), (2, 0), (4, 4), (1, 1, 5), (2, 2, 3, 3),
)  # fmt: skip
DTYPES = (
    *["float32"] * 8, "float64", "int64", "int64", "bool", "float16", "complex64", "int32", "uint8",
)  # fmt: skip


class Given(NamedTuple):
    """One tensor of a call."""

    shape: tuple[int, ...]
    dtype: str
    grad: bool
    turned: bool  # stored with the last two dimensions swapped


class Draw:
    """A source of arguments; `given` are the tensors drawn so far."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.given: list[Given] = []

    def __call__(self, word: str) -> str:
        """An argument of the kind that a word of a template names; any other word stands for itself."""
        drawn = getattr(self, "_" + word.rstrip("0123456789"), None)
        return word if drawn is None else drawn()

    def one(self, *options: str) -> str:
        return self.rng.choice(options)

    def tensor(self, shape: tuple[int, ...] | None = None, dtype: str | None = None, grad: float = 0.5) -> str:
        self.given.append(
            Given(
                self.rng.choice(SHAPES) if shape is None else shape,
                dtype or self.rng.choice(DTYPES),
                self.rng.random() < grad,
                self.rng.random() < 0.2,
            )
        )
        return f"t{len(self.given) - 1}"

    def _T(self) -> str:
        return self.tensor()

    def _P(self) -> str:  # plain: a tensor without a gradient
        return self.tensor(grad=0)

    def _S(self) -> str:  # like the first tensor, mostly
        if not self.given or self.rng.random() > 0.75:
            return self.tensor()
        first = self.given[0]
        return self.tensor(first.shape, first.dtype if self.rng.random() < 0.8 else None)

    def _O(self) -> str:  # another operand
        return self._S() if self.rng.random() < 0.7 else self._A()

    def _D(self) -> str:
        return self.one("0", "1", "-1", "-2", "2", "0", "1", "-1", "3", "-4")

    def _Ds(self) -> str:
        return self.one("0", "1", "-1", "(0, 1)", "[0]", "(-1,)", "()", "(0, 0)", "None", "(0, 2)")

    def _N(self) -> str:
        return self.one("0", "1", "2", "3", "-1", "5", "2", "1")

    def _A(self) -> str:  # a number
        return self.one("0.5", "2", "-1.5", "0", "1", "float('inf')", "True", "3")

    def _B(self) -> str:
        return self.one("True", "False")

    def _W(self) -> str:  # what fits nowhere
        return self.one("'x'", "None", "[1.0]", "{}", "(1, 'a')", "np.ones(2)", "object")

    def _X(self) -> str:  # indices
        return self.tensor(self.rng.choice([(2,), (3,), (2, 3), (1,), (), (2, 2)]), "int64", 0)

    def _M(self) -> str:  # a mask
        return self.tensor(self.given[0].shape if self.given and self.rng.random() < 0.8 else None, "bool", 0)

    def _Z(self) -> str:  # sizes
        return self.one("(2, 3)", "(3, 2)", "(-1,)", "6", "(6,)", "(3, -1)", "(1, 2, 3)", "(0,)", "(4, 4)", "[2, 3]")

    def _K(self) -> str:  # dtypes
        return "torch." + self.one("float64", "int64", "float32", "bool", "float16", "uint8")

    def _I(self) -> str:  # indices between brackets
        return ", ".join(self.one(*_INDICES) for _ in range(self.rng.choice([1, 1, 2, 2, 3])))


_INDICES = (
    "0", "-1", "1", "5", ":", "...", "None", "1:", "::2", "[0, 1]", "[0, 0, -1]", "True", "slice(None)",
    "torch.tensor(0)", "torch.tensor([1, 0])", "torch.tensor([True, False])", "torch.tensor([[0, 1], [1, 0]])",
    "torch.tensor([0, 5])", "1:0", "-2:",
)  # fmt: skip

# Words in braces are drawn from WORDS, capital letters by the methods of Draw.
TEMPLATES = """
torch.{UNARY}(T)
torch.{BINARY}(T, O)
torch.{REDUCED}(T)
torch.{REDUCED}(T, D)
torch.{REDUCED}(T, Ds)
torch.{REDUCED}(T, dim=D, keepdim=B)
torch.{PRODUCT}(T, S)
torch.{ADDED}(T, S, S)
torch.where(M, T, S)
T.{SIZED}(Z)
torch.{TURNED}(T, D, D)
torch.flatten(T, D, D)
T.narrow(D, N, N)
T.select(D, N)
torch.{PARTS}(T, N, D)
torch.{JOINED}([T, S], D)
torch.gather(T, D, X)
T.{PUT}(D, X, S)
torch.index_select(T, D, X)
torch.masked_fill(T, M, A)
torch.masked_select(T, M)
torch.clamp(T, min=A, max=A)
torch.topk(T, N, D)[0]
torch.{BANDS}(T, N)
torch.roll(T, N, D)
T.unfold(D, N, N)
torch.linalg.{FACTORED}(T)
torch.linalg.solve(T, S)
F.{ACTIVATION}(T)
F.{LOSS}(T, S, reduction=R)
F.linear(T, S)
F.normalize(T, dim=D)
F.pad(T, (1, 1))
T[I]
T[M]
P.{WRITTEN}(O)
torch.{UNARY}(P, out=S)
torch.{BINARY}(P, S, out=S)
torch.full(Z, A, dtype=K)
torch.arange(A, A, 2, dtype=K)
T.to(K)
T {SIGN} O
torch.{UNARY}(W)
torch.{BINARY}(T)
torch.{BINARY}(T, W)
torch.{BINARY}(T, other=W)
torch.{REDUCED}(T, W)
T.{METHOD}(W)
T.{METHOD}()
T.{METHOD}(T, T, T)
repr(T)
"""
WORDS = {
    "UNARY": "sin exp log sqrt abs neg sigmoid tanh floor ceil round trunc sign sgn reciprocal square expm1 log1p erf "
    "isnan logical_not angle real asin atanh nan_to_num relu",
    "BINARY": "add sub mul div maximum minimum fmax atan2 eq lt ge logical_and bitwise_and bitwise_or hypot logaddexp "
    "xlogy copysign lcm gcd true_divide dist",
    "REDUCED": "sum mean prod std var amax amin all any nansum count_nonzero cumsum cumprod logcumsumexp argmax argmin "
    "softmax unbind",
    "PRODUCT": "matmul mm bmm mv dot vdot inner outer",
    "ADDED": "addmm baddbmm addmv addcmul lerp",
    "SIZED": "reshape view expand repeat tile broadcast_to",
    "TURNED": "transpose swapaxes movedim",
    "PARTS": "split chunk tensor_split",
    "JOINED": "cat stack",
    "PUT": "scatter scatter_add index_add index_copy",
    "BANDS": "tril triu diagonal diag diag_embed",
    "FACTORED": "cholesky inv det slogdet matrix_norm vector_norm svdvals",
    "ACTIVATION": "relu6 elu selu celu gelu silu mish softplus softsign leaky_relu hardtanh hardswish logsigmoid",
    "LOSS": "mse_loss l1_loss smooth_l1_loss binary_cross_entropy_with_logits kl_div soft_margin_loss",
    "WRITTEN": "add_ mul_ sub_ div_ copy_ pow_ eq_ lt_ fmod_ logical_and_ clamp_min_",
    "METHOD": "add sub mul div pow matmul mm maximum eq add_ mul_ div_ float view reshape transpose squeeze unsqueeze flip sum "
    "softmax clamp masked_fill gather topk fill_ repeat split expand_as type_as dot outer",
    "SIGN": "+ - * / // % @ & | == < >=",
    "R": "'mean' 'sum' 'none' 'foo'",
}
_LINES = TEMPLATES.strip().splitlines()


def call(seed: int) -> tuple[str, list[Given]]:
    """The call of a seed, and its tensors."""
    draw = Draw(seed)
    parts, word = [], ""
    for c in draw.rng.choice(_LINES) + "\0":
        if c.isalnum() or c == "_":
            word += c
            continue
        if word in WORDS:
            word = draw.one(*WORDS[word].split())
        elif word:
            word = draw(word)
        parts += [word, c if c not in "{}\0" else ""]
        word = ""
    return "".join(parts), draw.given
