"""Imports point down: a module imports from its own floor or a lower one.

The picture is in docs/architecture.md. Imports inside functions count too: a lazy import upwards is still a
dependence upwards. What stands under `if TYPE_CHECKING:` does not count, since it is never carried out.
"""

import ast
from pathlib import Path

import pytest

import tidu

PACKAGE = Path(tidu.__file__).parent

# From the ground up. A folder or top-level module that is not named is one of torch's namespaces, floor 5.
FLOORS = [
    "version dtypes shapes devices naming waiting",
    "arrays",
    "core",
    "ops",
    "methods printing settings",
    "autograd func compiler linalg nn optim utils",
    "explain",
    "cli aliasing __main__ _torch_shim __init__",
]
FLOOR = {name: floor for floor, names in enumerate(FLOORS) for name in names.split()}
NAMESPACES = FLOOR["autograd"]

MODULES = sorted(p for p in PACKAGE.rglob("*.py") if "_examples" not in p.parts)


def place(parts):
    """The floor's name for a path inside the package: its first folder, or the module itself."""
    return parts[0].removesuffix(".py")


def imported(path):
    """(line, dotted path inside tidu) of every import of tidu's own modules in a file."""
    package = path.relative_to(PACKAGE).parent.parts

    class Visitor(ast.NodeVisitor):
        def __init__(self):
            self.found = []

        def visit_If(self, node):
            if ast.unparse(node.test) not in ("TYPE_CHECKING", "typing.TYPE_CHECKING"):
                self.generic_visit(node)
            else:
                for statement in node.orelse:
                    self.visit(statement)

        def visit_Import(self, node):
            for alias in node.names:
                root, *rest = alias.name.split(".")
                if root == "tidu":
                    self.found.append((node.lineno, tuple(rest)))

        def visit_ImportFrom(self, node):
            where = tuple((node.module or "").split(".")) if node.module else ()
            if node.level:
                where = package[: len(package) - node.level + 1] + where
            elif where[:1] == ("tidu",):
                where = where[1:]
            else:
                return
            for alias in node.names:
                # `from . import x` at the top of the package brings the module x, or a name of the face.
                self.found.append((node.lineno, where or (alias.name,)))

    visitor = Visitor()
    visitor.visit(ast.parse(path.read_text(), str(path)))
    return visitor.found


def floor(target):
    """The floor of a module, by its path inside the package; a name of the face itself is the top."""
    if not target or not ((PACKAGE / target[0]).is_dir() or (PACKAGE / f"{target[0]}.py").is_file()):
        return FLOOR["__init__"]
    return FLOOR.get(target[0], NAMESPACES)


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(PACKAGE)))
def test_imports_point_down(path):
    mine = place(path.relative_to(PACKAGE).parts)
    upwards = [
        f"line {line}: {mine} imports {'.'.join(target) or 'tidu itself'}"
        for line, target in imported(path)
        if floor(target) > floor((mine,))
    ]
    assert not upwards


def test_the_test_sees_imports(tmp_path):
    # A test of imports that overlooked them would pass for ever.
    assert (PACKAGE / "cli.py") in MODULES
    assert {target for _, target in imported(PACKAGE / "cli.py")} >= {("version",), ("aliasing",)}
    assert ("version",) in {target for _, target in imported(PACKAGE / "aliasing.py")}
