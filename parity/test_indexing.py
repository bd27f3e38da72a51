"""Random index expressions, read and written, with their gradients and their errors."""

from __future__ import annotations

from typing import Any

import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from .agree import TORCH, compare_or_show, outcome
from .bridge import Side

quick = settings(max_examples=400, deadline=None, suppress_health_check=list(HealthCheck))

shapes = st.lists(st.integers(0, 4), min_size=0, max_size=4).map(tuple)


@st.composite
def items(draw: Any, shape: tuple[int, ...], wrong: bool) -> list[str]:
    """Source text of the items of an index for a shape; with `wrong`, some may not fit."""
    found: list[str] = []
    dims = list(shape)
    dotted = False
    common = draw(st.sampled_from([(2,), (1,), (3,), (2, 2), ()]))
    while dims and draw(st.integers(0, 5)):
        kind = draw(st.sampled_from("slice slice int None ... list tensor bool mask scalar flag".split()))
        n = dims[0]
        reach = n + 2 if wrong else n
        if kind == "None":
            found.append("None")
        elif kind == "flag":
            found.append(draw(st.sampled_from(["True", "False", "torch.tensor(True)"])))
        elif kind == "...":
            if not dotted:
                found.append("...")
                dotted = True
                dims = dims[draw(st.integers(0, len(dims))) :]
        elif kind == "slice":
            dims.pop(0)
            bounds = [draw(st.one_of(st.none(), st.integers(-n - 1, n + 1))) for _ in range(2)]
            step = draw(st.sampled_from([None, 1, 2, 3] + ([0, -1] if wrong else [])))
            found.append(":".join("" if b is None else str(b) for b in (*bounds, step)))
        elif kind == "bool":
            dims.pop(0)
            length = n + (1 if wrong and draw(st.booleans()) else 0)
            values = draw(st.lists(st.booleans(), min_size=length, max_size=length))
            found.append(f"torch.tensor({values}, dtype=torch.bool)")
        elif kind == "mask" and len(dims) > 1:
            sizes = tuple(dims[:2])
            dims = dims[2:]
            count = sizes[0] * sizes[1]
            values = draw(st.lists(st.booleans(), min_size=count, max_size=count))
            found.append(f"torch.tensor({values}, dtype=torch.bool).view{sizes}")
        elif reach:
            dims.pop(0)
            place = st.integers(-reach, reach - 1)
            if kind == "int":
                found.append(str(draw(place)))
            elif kind == "scalar":
                found.append(f"torch.tensor({draw(place)})")
            else:
                size = draw(st.sampled_from([common, common, (1,)]))
                count = 1
                for s in size:
                    count *= s
                values = draw(st.lists(place, min_size=count, max_size=count))
                if kind == "list":
                    found.append(str(values))
                else:
                    found.append(f"torch.tensor({values}).view{size or '(())'}")
    return found


@st.composite
def indexings(draw: Any, wrong: bool = False) -> tuple[tuple[int, ...], str]:
    shape = draw(shapes)
    parts = draw(items(shape, wrong))
    return shape, ", ".join(parts) if parts else "()"


def source(shape: tuple[int, ...]) -> str:
    count = 1
    for n in shape:
        count *= n
    return f"torch.arange({float(count)}).view({shape})"


def check(side: Side, text: str) -> None:
    """Run the text; the name `result` holds what is compared."""

    def program(lib: Any) -> Any:
        scope: dict[str, Any] = {"torch": lib}
        exec(text, scope)
        return scope["result"]

    compare_or_show(text, outcome(TORCH, program), lambda: outcome(side, program), strides=False)


@quick
@given(indexings())
def test_get(side: Side, case: tuple[tuple[int, ...], str]) -> None:
    shape, index = case
    check(side, f"x = {source(shape)}\nresult = x[{index}]")


@quick
@given(indexings(wrong=True))
def test_get_errors(side: Side, case: tuple[tuple[int, ...], str]) -> None:
    shape, index = case
    check(side, f"x = {source(shape)}\nresult = x[{index}]")


@quick
@given(indexings())
def test_get_gradients(side: Side, case: tuple[tuple[int, ...], str]) -> None:
    shape, index = case
    check(
        side,
        f"x = {source(shape)}.requires_grad_()\n"
        f"y = x[{index}]\n"
        "w = torch.arange(float(y.numel())).view(y.shape) + 1\n"
        "(g,) = torch.autograd.grad((y * y * w).sum(), x, create_graph=True)\n"
        "(h,) = torch.autograd.grad((g * g).sum(), x) if g.requires_grad else (g,)\n"
        "result = [y.detach(), g.detach(), h.detach(), y.requires_grad]",
    )


VALUES = ("7.0", "torch.tensor(7.0)", "torch.ones(1)", "torch.ones(2)", "fit", "3")


@quick
@given(indexings(wrong=True), st.sampled_from(VALUES))
def test_set(side: Side, case: tuple[tuple[int, ...], str], value: str) -> None:
    """Writing, of numbers, of tensors that broadcast, of tensors that fit; indices without repetition are not asked
    for, so values that collide are all the same."""
    shape, index = case
    if value == "fit":
        value = f"torch.full(x[{index}].shape, 5.0)"
    check(side, f"x = {source(shape)}\nx[{index}] = {value}\nresult = [x, x._version > 0]")


@quick
@given(indexings())
def test_set_gradients(side: Side, case: tuple[tuple[int, ...], str]) -> None:
    shape, index = case
    check(
        side,
        f"a = {source(shape)}.requires_grad_()\n"
        "v = torch.tensor(2.0, requires_grad=True)\n"
        "x = a * 1.0\n"
        f"x[{index}] = v * v\n"
        "w = torch.arange(float(x.numel())).view(x.shape) + 1\n"
        "result = [x.detach(), *torch.autograd.grad((x * x * w).sum(), [a, v], allow_unused=True)]",
    )


@quick
@given(indexings())
def test_views_of_the_same_memory(side: Side, case: tuple[tuple[int, ...], str]) -> None:
    """A basic index is a view, any other a copy: seen by writing into the result."""
    shape, index = case
    check(side, f"x = {source(shape)}\ny = x[{index}]\nif y.dim(): y.fill_(-1.0)\nresult = x")


INDEX_OPS = {
    "gather": "x.gather(d, i)",
    "take": "x.take(i)",
    "index_select": "x.index_select(d, i.flatten())",
    "index_fill": "x.index_fill(d, i.flatten(), 9.0)",
    "take_along_dim": "torch.take_along_dim(x, i, d)",
    "scatter": "x.scatter(d, i, 5.0)",
    "scatter_add": "x.scatter_add(d, i, torch.ones(i.shape))",
    "index_add": "x.index_add(d, i.flatten(), torch.ones(i.numel(), *x.shape[1:]))",
}


@quick
@given(
    shapes.filter(len), st.sampled_from(sorted(INDEX_OPS)), st.lists(st.integers(-1, 4), max_size=4), st.integers(-2, 2)
)
def test_index_ops(side: Side, shape: tuple[int, ...], name: str, places: list[int], dim: int) -> None:
    """Index arguments of any shape, in and out of range."""
    lead = "1," * (len(shape) - 1)
    check(
        side,
        f"x, d = {source(shape)}, {dim}\ni = torch.tensor({places}, dtype=torch.int64).view({len(places)},{lead})\n"
        f"result = {INDEX_OPS[name]}",
    )


def test_the_generator_reaches_every_kind() -> None:
    """The strategy makes every kind of item, and enough that PyTorch takes."""
    seen, fine = "", 0

    @settings(max_examples=300, deadline=None, database=None)
    @given(indexings())
    def draw(case: tuple[tuple[int, ...], str]) -> None:
        nonlocal seen, fine
        seen += case[1] + ";"
        try:
            eval(f"x[{case[1]}]", {"x": torch.zeros(case[0]), "torch": torch})
            fine += 1
        except IndexError:
            pass

    draw()
    assert fine > 150
    assert all(part in seen for part in ("None", "...", ":", "torch.tensor(", "torch.bool", "view(2, 2)"))
