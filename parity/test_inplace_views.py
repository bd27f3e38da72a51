"""Random programs of views and in-place writes: values, gradients, versions, names in the graph, and errors."""

from __future__ import annotations

import warnings
from typing import Any

import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from .agree import TORCH, compare_or_show, outcome, snapshot
from .bridge import Side
from .programs import raised

STARTS = (
    "x = a * 1.0",
    "x = a + b",
    "x = a.exp()",
    "x = torch.arange(12.0).view(3, 4)",
    "x = a.detach().clone()",
    "x = a.t()",
    "x = a",
    "x = a.clone().t()",
)

VIEWS = (
    *("{v}[0]", "{v}[:, 1:]", "{v}[..., ::2]", "{v}[None]", "{v}.t()", "{v}.view(-1)", "{v}.reshape(-1)"),
    *("{v}.unsqueeze(0)", "{v}.squeeze()", "{v}.transpose(0, -1)", "{v}.diagonal()", "{v}.narrow(0, 0, 1)"),
    *("{v}.select(-1, 0)", "{v}.detach()", "{v}.data", "{v}.view_as({v})", "{v}.expand(2, *{v}.shape)"),
    *("{v}.unbind(0)[0]", "{v}.split(2)[0]", "{v}.chunk(2)[1]", "{v}.flatten()", "{v}.movedim(0, -1)"),
    *("{v}.as_strided((2, 2), (1, 2))", "{v}.unfold(0, 2, 1)", "{v}.alias_copy()", "{v}.permute(*range({v}.dim()))"),
)
FRESH = ("{v} * 2", "{v} * {w}", "{v}.sin()", "{v} + {w}", "{v}.clone()", "{v} * {v}", "{v}.sum(0)", "{v}.exp()")
WRITES = (
    *("{v}.mul_(2)", "{v}.add_(1)", "{v}.mul_({w})", "{v}.add_({w})", "{v}.copy_({w})", "{v}.zero_()", "{v}.sin_()"),
    *("{v}.fill_(3)", "{v}.sigmoid_()", "{v}.neg_()", "{v}.clamp_(0, 1)", "{v}.masked_fill_({v} > 1, 0.5)"),
    *("operator.setitem({v}, 0, 3.0)", "operator.setitem({v}, slice(1, None), {w})", "operator.iadd({v}, 1)"),
    *("operator.setitem({v}, 0, {w}.sum())", "operator.setitem({v}, {v} > 0, 0.5)", "operator.imul({v}, {w})"),
    *("operator.setitem({v}, (Ellipsis, 0), c)", "{v}.mul_(c)", "{v}.div_(2)", "{v}.sub_({w}, alpha=2)"),
    *("{v}.detach_()", "{v}.requires_grad_()", "{v}.squeeze_()", "{v}.unsqueeze_(0)", "{v}.t_()", "{v}.exp_()"),
    *("{v}.index_fill_(0, torch.tensor([0]), 2.0)", "{v}.index_add_(0, torch.tensor([0]), {v}[:1].detach())"),
    *("{v}.transpose_(0, -1)", "{v}.set_({w})", "{v}.addcmul_({w}, {w})", "{v}.lerp_({w}, 0.5)"),
)

SETUP = """
a = (torch.arange(12.0).view(3, 4) / 6 - 0.7).requires_grad_()
b = torch.full((3, 4), 0.5, requires_grad=True)
c = torch.tensor(1.5, requires_grad=True)
"""


def scope_of(lib: Any) -> dict[str, Any]:
    import operator

    return {"torch": lib, "operator": operator}


@st.composite
def programs(draw: Any) -> list[str]:
    """Lines of a program. Lines that PyTorch refuses are mostly left out; if one is kept, it is the last."""
    lines = [draw(st.sampled_from(STARTS))]
    scope = scope_of(torch)
    exec(SETUP + lines[0], scope)
    names = ["x"]
    for i in range(draw(st.integers(1, 9))):
        v, w = draw(st.sampled_from(names)), draw(st.sampled_from([*names, "b"]))
        kind = draw(st.sampled_from(["view", "view", "write", "write", "write", "fresh"]))
        name = f"v{i}"
        text = draw(st.sampled_from({"view": VIEWS, "write": WRITES, "fresh": FRESH}[kind])).format(v=v, w=w)
        line = text if kind == "write" else f"{name} = {text}"
        if not draw(st.integers(0, 5)):
            mode = draw(st.sampled_from(["no_grad", "no_grad", "enable_grad", "inference_mode"]))
            line = f"with torch.{mode}(): {line}"
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                exec(line, scope)
        except Exception:
            if draw(st.integers(0, 3)):
                continue
            return [*lines, line]
        lines.append(line)
        if kind != "write":
            names.append(name)
    return lines


def observe(lib: Any, lines: list[str]) -> Any:
    """Run the program; what can be seen of its tensors, and the gradients of a sum over them."""
    scope = scope_of(lib)
    exec(SETUP, scope)
    for number, line in enumerate(lines):
        try:
            exec(line, scope)
        except Exception as error:
            return [number, raised(error)]
    names = [n for n in scope if n == "x" or n[0] == "v" and n[1:].isdigit()]
    tensors = [scope[n] for n in names]
    seen: list[Any] = []
    for name, t in zip(names, tensors, strict=True):
        try:
            seen.append([name, *look(t, {n: scope[n] for n in (*names, "a")})])
        except Exception as error:
            return [*seen, name, raised(error)]
    live = [t for t in tensors if t.requires_grad and not t.is_inference()]
    if live:
        weights = [lib.arange(float(t.numel())).view(t.shape) + 1 for t in live]
        try:
            loss = sum(((t * t * 0.1 + t) * w).sum() for t, w in zip(live, weights, strict=True))
            leaves = [scope["a"], scope["b"], scope["c"]]
            seen.append(list(lib.autograd.grad(loss, leaves, allow_unused=True)))
        except Exception as error:
            seen.append(raised(error))
    return seen


def look(t: Any, others: dict[str, Any]) -> list[Any]:
    """Everything that can be asked of a tensor's place in the graph."""
    base, grad_fn = t._base, t.grad_fn
    return [
        t.detach().clone(),
        t.requires_grad,
        t.is_leaf,
        t._is_view(),
        "none" if base is None else next((n for n, other in others.items() if other is base), "other"),
        "inference" if t.is_inference() else t._version,
        "none" if grad_fn is None else type(grad_fn).__name__,
        t.output_nr,
    ]


quick = settings(max_examples=800, deadline=None, suppress_health_check=list(HealthCheck))


@quick
@given(programs())
def test_program(side: Side, lines: list[str]) -> None:
    def program(lib: Any) -> Any:
        return observe(lib, lines)

    compare_or_show(SETUP + "\n".join(lines), outcome(TORCH, program), lambda: outcome(side, program))


def test_the_generator_is_not_idle() -> None:
    """Of the programs it makes, enough run through, with gradients, and some end in an error."""
    count = {"error": 0, "fine": 0, "grads": 0}

    @settings(max_examples=200, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    @given(programs())
    def draw(lines: list[str]) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            seen = snapshot(TORCH, observe(torch, lines))
        ended = isinstance(seen.items[0], int)
        count["error" if ended else "fine"] += 1
        count["grads"] += not ended and getattr(seen.items[-1], "items", [""])[0] not in ("x", "v")

    draw()
    assert count["error"] > 3 and count["fine"] > 100 and count["grads"] > 50, count
