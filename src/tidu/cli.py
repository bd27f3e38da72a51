"""The command line: `tidu run`, `tidu demo`, `tidu bench`, also as `python -m tidu`.

What `tidu run` runs sees what it would see if `python` had started it: sys.argv, sys.path[0], a fresh __main__ with its
__file__, its own frames alone in a traceback, its exit status. One entry is added to sys.path, after the script's folder,
by which processes that multiprocessing spawns find `torch` too.
"""

from __future__ import annotations

import io
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from importlib.machinery import BuiltinImporter, SourceFileLoader
from pathlib import Path
from types import ModuleType, TracebackType
from typing import Any

from . import version
from .aliasing import install_as_torch
from .core.errors import SUPPORT_TABLE, explain_lack

USAGE = """\
usage: tidu COMMAND ...

  run SCRIPT [ARGS...]     run a PyTorch script, with torch meaning tidu
  run -m MODULE [ARGS...]  the same for a module,
  run -c CODE [ARGS...]    for code on the command line,
  run - [ARGS...]          and for code on standard input
  demo [NAME...]           run examples that come with tidu; demo --list names all of them
  bench [ARGS...]          compare speed with PyTorch (in a checkout of the source, with PyTorch installed)
  --version                print tidu's version and the PyTorch release it follows
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Carry out one command line (`sys.argv` unless given) and return the exit status."""
    args = list(sys.argv[1:] if argv is None else argv)
    command, rest = (args[0], args[1:]) if args else ("", [])
    if command in ("-h", "--help", "help"):
        print(USAGE, end="")
        return 0
    if command in ("-V", "--version"):
        print(f"tidu {version.tidu} (PyTorch {version.pytorch})")
        return 0
    if command not in COMMANDS:
        problem = f"tidu: no command {command!r}\n" if command else ""
        print(f"{problem}{USAGE}", end="", file=sys.stderr)
        return 2
    if rest[:1] in (["-h"], ["--help"]):
        print(USAGE, end="")
        return 0
    return COMMANDS[command](rest)


def _run(args: list[str]) -> int:
    if not args or (args[0] in ("-m", "-c") and len(args) < 2):
        print(USAGE, end="", file=sys.stderr)
        return 2
    return run(args)


_HERE = Path(__file__).parent
_CHECKOUT = _HERE.parent.parent

SHORT = ("backward_gradient", "autograd_tour", "digits")  # those that run where none is named


def examples() -> list[str]:
    """The names of the examples that are here: some in an installed package, all in a checkout. What they import beyond
    `torch` is the extra tidu[examples]."""
    return sorted(path.stem for path in examples_folder().glob("[!_]*.py"))


def examples_folder() -> Path:
    """Where the examples are: inside the installed package, or beside the source in a checkout."""
    packed = _HERE / "_examples"
    return packed if packed.is_dir() else _CHECKOUT / "examples"


def demo(names: list[str]) -> int:
    """Run the named examples, or the short ones, through `tidu run`; return the first exit status that is not 0."""
    if names == ["--list"]:
        print("\n".join(examples()))
        return 0
    unknown = [name for name in names if name not in examples()]
    if unknown:
        here = ", ".join(examples())
        print(f"tidu: no example {unknown[0]!r} here; there are: {here} (the source tree has all)", file=sys.stderr)
        return 2
    statuses = []
    for name in names or SHORT:
        path = examples_folder() / f"{name}.py"
        print(f"\n=== tidu run {os.path.relpath(path)} ===\n", flush=True)
        statuses.append(subprocess.run([sys.executable, "-m", "tidu", "run", str(path)]).returncode)
    return next((s for s in statuses if s != 0), 0)


def bench(args: list[str]) -> int:
    """Run the benchmarks of a source checkout: tidu against PyTorch, so PyTorch must be installed."""
    if not (_CHECKOUT / "benchmarks" / "__main__.py").is_file():
        print("tidu: the benchmarks are in the source tree: run `make bench` there", file=sys.stderr)
        return 2
    return subprocess.run([sys.executable, "-m", "benchmarks", *args], cwd=_CHECKOUT).returncode


COMMANDS: dict[str, Callable[[list[str]], int]] = {"run": _run, "demo": demo, "bench": bench}


# ------------------------------------------------------------------ tidu run

_SHIM = str(_HERE / "_torch_shim")


def run(args: list[str]) -> int:
    """Run `args` as `python` does: SCRIPT, `-m MODULE`, `-c CODE` or `-`, and the program's arguments.

    Returns 0 when the program comes to its end, 2 when it cannot be opened. An exception that leaves the
    program is printed, then raised again with nothing more to print, so that the interpreter ends with
    the status it would have given itself (SystemExit's, 1, or the signal's for Ctrl-C).
    """
    what, rest = args[0], args[1:]
    try:
        if what == "-m":
            sys.argv = ["-m", *rest[1:]]
            execute = _module(rest[0])
        elif what == "-c":
            sys.argv = ["-c", *rest[1:]]
            execute = _text(rest[0], "<string>")
        elif what == "-":
            sys.argv = ["-", *rest]
            execute = _text(sys.stdin.read(), "<stdin>", __file__="<stdin>", __cached__=None)
        else:
            sys.argv = [what, *rest]
            execute = _folder(what) if os.path.isdir(what) else _script(what)
    except OSError as e:
        print(f"tidu: can't open file {_absolute(what)!r}: [Errno {e.errno}] {e.strerror}", file=sys.stderr)
        return 2
    install_as_torch()
    try:
        execute()
    except SystemExit:
        raise
    except BaseException as e:
        _report(e)
        raise
    return 0


def _set_path(first: str) -> None:
    """Put the program's folder where `python` puts it, and the shim for child processes after it."""
    if not sys.flags.safe_path:  # otherwise `python` puts nothing there, and neither do we
        sys.path[0] = first
    sys.path.insert(0 if sys.flags.safe_path else 1, _SHIM)


def _new_main(**attributes: Any) -> ModuleType:
    main = ModuleType("__main__")
    main.__dict__.update(__builtins__=sys.modules["builtins"], **attributes)
    sys.modules["__main__"] = main
    return main


def _absolute(name: str) -> str:
    """The path as `python` writes it into __file__: absolute, with neither `..` nor links resolved."""
    return os.path.join(os.getcwd(), name.removeprefix("./"))


def _script(name: str) -> Callable[[], None]:
    path = _absolute(name)
    with io.open_code(path) as f:
        source = f.read()
    _set_path(os.path.dirname(os.path.realpath(path)))
    loader = SourceFileLoader("__main__", path)
    return _execution(source, path, _new_main(__file__=path, __cached__=None, __loader__=loader))


def _text(source: str, filename: str, **attributes: Any) -> Callable[[], None]:
    _set_path("")
    return _execution(source, filename, _new_main(__loader__=BuiltinImporter, **attributes))


def _execution(source: str | bytes, filename: str, main: ModuleType) -> Callable[[], None]:
    def execute() -> None:
        exec(compile(source, filename, "exec", dont_inherit=True), main.__dict__)

    return execute


def _module(name: str) -> Callable[[], None]:
    import runpy

    _set_path(os.getcwd())
    _new_main()
    return lambda: runpy._run_module_as_main(name)  # type: ignore[attr-defined]


def _folder(name: str) -> Callable[[], None]:
    """A folder (`python` takes one too): its __main__.py, with the folder on sys.path."""
    import runpy

    _set_path(os.path.abspath(name))
    _new_main()
    return lambda: runpy._run_module_as_main("__main__", alter_argv=False)  # type: ignore[attr-defined]


def _report(error: BaseException) -> None:
    """Print the error as the interpreter would have printed it, and silence the interpreter.

    sys.excepthook does the printing, which the program may have replaced.
    """
    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_globals.get("__name__") == __name__:
        trace = trace.tb_next
    lack = _lack(error)
    if lack is not None:
        last = _last_frame(trace)
        # If it is tidu's own code that asked, the lack is a bug inside tidu, and the frames show where.
        if last is not None and not _is_ours(last.tb_frame.f_globals.get("__name__")):
            last.tb_next = None
            if not any(SUPPORT_TABLE in note for note in getattr(error, "__notes__", ())):
                explain_lack(error, lack)
    sys.excepthook(type(error), error.with_traceback(trace), trace)
    sys.excepthook = lambda *_: None


def _is_ours(module_name: object) -> bool:
    return isinstance(module_name, str) and module_name.split(".")[0] in (__package__, "torch")


def _lack(error: BaseException) -> str | None:
    """What tidu itself lacks, if that is what the error says."""
    if isinstance(error, AttributeError) and error.name is not None:
        owner = error.obj if isinstance(error.obj, (ModuleType, type)) else type(error.obj)
        if _is_ours(owner.__name__ if isinstance(owner, ModuleType) else owner.__module__):
            return f"{owner.__name__}.{error.name}"
    if isinstance(error, ImportError) and _is_ours(error.name):
        name = getattr(error, "name_from", None)  # since Python 3.12
        return f"{error.name}.{name}" if name else f"such name in {error.name}"
    return None


def _last_frame(trace: TracebackType | None) -> TracebackType | None:
    """The frame that asked: the last but for those in which tidu found out that it lacks a name."""
    last = None
    while trace is not None:
        code, module = trace.tb_frame.f_code, trace.tb_frame.f_globals.get("__name__")
        if not (_is_ours(module) and code.co_name in ("__getattr__", "find_spec")):
            last = trace
        trace = trace.tb_next
    return last
