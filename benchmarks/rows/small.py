"""Single ops on 4x4 float32: what one call costs."""

from __future__ import annotations

from types import ModuleType

from benchmarks.row import ROWS, Inline, Inputs, Row
from benchmarks.rows.groups import RECORDED, UNRECORDED

OPS = {
    "mul": "x * y",
    "add": "x + y",
    "matmul": "x @ y",
    "exp": "x.exp()",
    "sum": "x.sum()",
    "x[0]": "x[0]",
    "view": "x.view(16)",
    "transpose": "x.transpose(0, 1)",
    "x * 2.0": "x * 2.0",
}


def declare(name: str, code: str, grad: bool) -> None:
    """Declares the row that times `code`, recorded or not."""

    def build(torch: ModuleType) -> Inline:
        inputs = Inputs(torch)
        return Inline(code, {"x": inputs.normal(4, 4, grad=grad), "y": inputs.normal(4, 4, grad=grad)})

    full_name = name if grad else f"{name}, no gradient"
    ROWS[full_name] = Row(full_name, RECORDED if grad else UNRECORDED, build)


for with_grad in (True, False):
    for op, statement in OPS.items():
        declare(op, statement, with_grad)
