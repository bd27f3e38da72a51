"""Write docs/ops.md, the support table: of each of PyTorch's namespaces, the public names that tidu has and lacks.

`python -m parity.support` (part of `make parity`). A name counts as there if tidu has it; how far its
behaviour agrees is what docs/parity.md tells, op by op.
"""

from __future__ import annotations

import importlib
import sys
import textwrap
import types
from pathlib import Path

TABLE = Path(__file__).parent.parent / "docs" / "ops.md"

NAMESPACES = (
    "torch torch.Tensor torch.autograd torch.autograd.functional torch.autograd.forward_ad torch.autograd.graph "
    "torch.func torch.linalg torch.fft torch.special torch.nn torch.nn.functional torch.nn.init torch.nn.utils "
    "torch.optim torch.optim.lr_scheduler torch.utils.data torch.utils.checkpoint torch.distributions torch.random "
    "torch.testing"
).split()

# What belongs to other devices, other compilers or quantised storage: no part of tidu, so not counted.
OUT_OF_SCOPE = (
    "cudnn_ miopen_ mkldnn_ fbgemm_ quantize quantized_ q_ fake_quantize fused_moving dequantize int_repr "
    "choose_qparams cuda cudnn xpu hpu ipu mtia is_vulkan vulkan nnpack _ sym_ to_mkldnn is_mkldnn is_xla is_mps "
    "is_maia is_hpu is_ipu is_xpu Script jit"
).split()

HEAD = """\
# What tidu has

Written by `make parity` from the names of PyTorch {torch}; edited by nobody. A name under *has* is there under
the same name in tidu; op by op, parity.md tells how far it agrees with PyTorch. Names of other
devices, of the TorchScript compiler and of quantised storage are left out, and PyTorch's internal classes.

"""


def look_up(path: str) -> object:
    """The module, or class, of a dotted path."""
    try:
        return importlib.import_module(path)
    except ModuleNotFoundError:
        parent, _, name = path.rpartition(".")
        return getattr(importlib.import_module(parent), name)


def public_names(namespace: object) -> list[str]:
    """The names a user would call or read: without modules, flags, and what PyTorch itself imported there."""
    return sorted(
        name
        for name in getattr(namespace, "__all__", None) or dir(namespace)
        if not name.startswith(tuple(OUT_OF_SCOPE)) and not hasattr(object, name)
        if isinstance(namespace, type) or belongs(name, getattr(namespace, name, None))
    )


def belongs(name: str, value: object) -> bool:
    if isinstance(value, (types.ModuleType, bool, str, tuple)):
        return False
    home = getattr(value, "__module__", None) or "torch"
    # torch shows hundreds of the C++ side's own classes (AliasDb, IntType, ...), most of them undocumented.
    internal = isinstance(value, type) and home in ("torch", "torch._C") and name[0].isupper()
    return home.split(".")[0] == "torch" and (not internal or name in ("Generator", "Size", "Tensor"))


def has_name(namespace: object, name: str) -> bool:
    try:
        getattr(namespace, name)
    except (AttributeError, ImportError):
        return False
    return True


def support() -> dict[str, tuple[list[str], list[str]]]:
    """Of each namespace, the names that tidu has, and those that it lacks."""
    table = {}
    for path in NAMESPACES:
        names = public_names(look_up(path))
        try:
            ours: object = look_up("tidu" + path.removeprefix("torch"))
        except (ImportError, AttributeError):
            ours = None
        has = [n for n in names if has_name(ours, n)]
        table[path] = has, [n for n in names if n not in set(has)]
    return table


def page(table: dict[str, tuple[list[str], list[str]]]) -> str:
    import torch

    def paragraph(word: str, names: list[str]) -> str:
        return textwrap.fill(f"*{word}*: " + ", ".join(f"`{n}`" for n in names), 110, break_on_hyphens=False)

    parts = [HEAD.format(torch=str(torch.__version__).split("+")[0])]
    parts.append("| namespace | names in PyTorch | in tidu |\n| --- | --- | --- |\n")
    parts += [f"| `{path}` | {len(has) + len(lacks)} | {len(has)} |\n" for path, (has, lacks) in table.items()]
    for path, (has, lacks) in table.items():
        parts.append(f"\n## {path}\n")
        parts += [f"\n{paragraph(word, names)}\n" for word, names in (("has", has), ("lacks", lacks)) if names]
    return "".join(parts)


def main() -> int:
    table = support()
    TABLE.write_text(page(table))
    has, lacks = (sum(len(row[i]) for row in table.values()) for i in (0, 1))
    print(f"wrote {TABLE}: {has} of {has + lacks} names")
    return 0


if __name__ == "__main__":
    sys.exit(main())
