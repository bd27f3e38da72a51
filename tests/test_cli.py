"""`tidu run` against `python` itself: a program must not be able to tell, but for what `torch` is."""

import os
import re
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import tidu
from tidu import cli, version

TIDU = [sys.executable, "-m", "tidu"]
SOURCE = str(Path(tidu.__file__).parent.parent)


@pytest.fixture
def call(tmp_path):
    """Run a command line in a folder of its own; the process finds tidu wherever the tests found it."""

    def call(*command, stdin=None, **environment):
        path = os.pathsep.join(filter(None, [SOURCE, environment.pop("PYTHONPATH", None)]))
        env = {**os.environ, "PYTHONPATH": path, "PYTHONSAFEPATH": "", **environment}
        command = [str(c) for c in command]
        return subprocess.run(command, cwd=tmp_path, env=env, input=stdin, capture_output=True, text=True, timeout=120)

    return call


@pytest.fixture
def script(tmp_path):
    def script(text, name="program.py"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text))
        return path

    return script


INTROSPECTION = """
    import sys, os
    def facts():
        names = sorted(set(globals()) - {"__annotations__", "facts"})
        shim = [p for p in sys.path if p.endswith("_torch_shim")]
        path = [p for p in sys.path if p not in shim]
        main = sys.modules["__main__"]
        return {
            "argv": sys.argv, "path0": path[0], "file": globals().get("__file__"), "name": __name__,
            "names": names, "package": __package__, "spec": getattr(__spec__, "name", None),
            "loader": str(__loader__).split(" object")[0], "main": main.__dict__ is globals(),
            "doc": __doc__, "here": facts.__code__.co_filename,
        }
    print(facts())
"""


@pytest.mark.parametrize("how", ["script", "relative", "symlink", "folder", "module", "package", "code", "stdin"])
def test_a_program_sees_what_python_shows_it(call, script, tmp_path, how):
    path = script(INTROSPECTION, "sub/program.py")
    script(INTROSPECTION, "sub/__main__.py")
    script("", "sub/__init__.py")
    (tmp_path / "link.py").symlink_to(path)
    stdin = path.read_text() if how == "stdin" else None
    arguments = {
        "script": [path, "a", "--b"],
        "relative": ["sub/../sub/program.py", "-m", "x"],
        "symlink": ["link.py"],
        "folder": ["sub", "1"],
        "module": ["-m", "sub.program", "1"],
        "package": ["-m", "sub", "1", "2"],
        "code": ["-c", path.read_text(), "-c", "x"],
        "stdin": ["-", "x"],
    }[how]
    want = call(sys.executable, *arguments, stdin=stdin)
    got = call(*TIDU, "run", *arguments, stdin=stdin)
    assert want.returncode == 0 and want.stdout
    assert (got.stdout, got.stderr, got.returncode) == (want.stdout, want.stderr, want.returncode)


ENDINGS = {
    "falls off the end": "x = 1",
    "exit status": "import sys; sys.exit(7)",
    "exit message": "import sys; sys.exit('gone')",
    "exit without finally": "import os; os._exit(3)",
    "error in a function": """
        def f(n):
            return 1 / n

        def g():
            f(0)

        g()
        """,
    "chained error": """
        try:
            {}["x"]
        except KeyError as e:
            raise ValueError("second") from e
        """,
    "error with notes": """
        e = RuntimeError("said")
        e.add_note("and noted")
        raise e
        """,
    "error group": "raise ExceptionGroup('several', [ValueError(1), TypeError(2)])",
    "syntax error": "x = (1,\ny = 2",
    "error in an import": "import helper_that_fails",
    "program's own excepthook": """
        import sys
        sys.excepthook = lambda kind, error, trace: print("hook:", kind, trace.tb_frame.f_code.co_name)
        1 / 0
        """,
    "exit handlers": """
        import atexit, sys
        atexit.register(print, "at exit")
        raise OSError("first this")
        """,
    "error in a thread": """
        import threading
        def work():
            raise ValueError("in a thread")
        t = threading.Thread(target=work, name="T")
        t.start()
        t.join()
        """,
    "warning": "import warnings; warnings.warn('careful', DeprecationWarning)",
    "AttributeError of its own": "class C: pass\nC().x",
    "ImportError of its own": "import no_such_module_anywhere",
}


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_program_ends_as_under_python(call, script, ending):
    path = script(ENDINGS[ending])
    script("def f():\n    raise ValueError('in a module')\n\nf()\n", "helper_that_fails.py")
    want, got = call(sys.executable, path), call(*TIDU, "run", path)
    assert (got.stdout, got.stderr, got.returncode) == (want.stdout, want.stderr, want.returncode)


@pytest.mark.skipif(os.name == "nt", reason="POSIX signals")
def test_the_forward_call_of_an_error_is_told_from_the_programs_first_line(call, script):
    path = script("""
        import torch
        def root(x): return torch.sqrt(x)
        with torch.autograd.detect_anomaly():
            y = root(torch.tensor(-1.0, requires_grad=True))
            y.backward()
    """)
    told = call(sys.executable, "-m", "tidu", "run", path).stderr
    first = told.partition("Traceback of forward call that caused the error:\n")[2].splitlines()[:4]
    assert [line.split(", line")[0] for line in first[::2]] == [f'  File "{path}"'] * 2, told


def test_ctrl_c_ends_a_program_by_the_signal(call, script):
    path = script("import os, signal\nos.kill(os.getpid(), signal.SIGINT)\nimport time; time.sleep(60)\n")
    want, got = call(sys.executable, path), call(*TIDU, "run", path)
    assert got.returncode == want.returncode == -signal.SIGINT
    assert got.stderr == want.stderr


def test_a_script_that_is_not_there(call):
    got = call(*TIDU, "run", "nowhere.py")
    assert got.returncode == 2
    message = r"tidu: can't open file '.*nowhere\.py': \[Errno 2\] No such file or directory\n"
    assert re.fullmatch(message, got.stderr)


def test_torch_is_tidu_under_every_way_of_importing(call, script):
    path = script(
        """
        import torch, tidu, sys, importlib
        import torch.version
        import torch.version as v
        from torch import version as w, __version__
        from torch.torch_version import TorchVersion
        assert torch is tidu
        assert torch.version is v is w is sys.modules["tidu.version"]
        assert v is importlib.import_module("torch.version")
        assert v.__name__ == v.__spec__.name == "tidu.version"
        assert __version__ == torch.__version__ == f"2.13.0+tidu.{v.tidu}", __version__
        assert isinstance(__version__, TorchVersion) and __version__ >= (2, 13) and __version__ < "2.14"
        import importlib.metadata, importlib.util
        assert importlib.metadata.version("torch") == torch.__version__
        assert importlib.util.find_spec("torch") is not None
        assert importlib.util.find_spec("torch.version") is not None
        assert importlib.util.find_spec("torch.no_such_module") is None
        print("fine")
        """
    )
    got = call(*TIDU, "run", path)
    assert (got.stdout, got.stderr) == ("fine\n", "")


FAKE_PYTORCH = "raise SystemExit('the installed PyTorch was imported')"


def test_an_installed_pytorch_does_not_matter(call, script, tmp_path):
    script(FAKE_PYTORCH, "site/torch/__init__.py")
    script(FAKE_PYTORCH, "site/torch/version.py")
    script(FAKE_PYTORCH, "site/torch/only_there.py")
    script("Name: torch\nVersion: 9.9\n", "site/torch-9.9.dist-info/METADATA")
    path = script(
        """
        import importlib.metadata
        import torch
        import torch.version
        print(torch.__version__, importlib.metadata.version("torch"))
        try:
            import torch.only_there
        except ModuleNotFoundError as e:
            print(e)
        """
    )
    got = call(*TIDU, "run", path, PYTHONPATH=str(tmp_path / "site"))
    expected = f"{version.__version__} {version.__version__}\nNo module named 'torch.only_there'\n"
    assert (got.stdout, got.stderr) == (expected, "")


MISSING = {
    "import torch\n\ntorch.no_such_op(1)": "AttributeError: module 'torch' has no attribute 'no_such_op'",
    "import torch.version\n\ntorch.version.x": "AttributeError: module 'torch.version' has no attribute 'x'",
    "import torch\n\ntorch.Tensor.no_such": "AttributeError: type object 'Tensor' has no attribute 'no_such'",
    "import torch\n\ntorch.ones(2).no_such()": "AttributeError: 'Tensor' object has no attribute 'no_such'",
    "import sys\n\nimport torch.no.such": "ModuleNotFoundError: No module named 'torch.no'",
}


@pytest.mark.parametrize("text", MISSING)
def test_what_tidu_lacks_is_said_to_be_lacking_in_tidu(call, script, text):
    path = script(text)
    got = call(*TIDU, "run", path)
    assert got.returncode == 1
    lines = got.stderr.splitlines()
    # The program's own frame alone, then the error in PyTorch's words, then ours.
    assert lines[0].startswith("Traceback")
    assert len(re.findall("(?m)^  File ", got.stderr)) == 1, got.stderr
    assert lines[-2].startswith(MISSING[text]), got.stderr
    note = lines[-1]
    assert note.startswith("  note: ") and "docs/ops.md" in note and f"tidu {version.tidu}" in note


def test_a_name_that_cannot_be_imported_from_torch(call, script):
    got = call(*TIDU, "run", script("from torch import no_such_op"))
    error, note = got.stderr.splitlines()[-2:]
    assert error.startswith("ImportError: cannot import name 'no_such_op' from ")
    assert "docs/ops.md" in note


@pytest.mark.parametrize("method", ["spawn", "fork", "forkserver"])
def test_processes_that_the_program_starts_find_torch(call, script, method):
    path = script(
        f"""
        import multiprocessing as mp
        import helper

        def work(x):
            return helper.answer(x), __name__

        if __name__ == "__main__":
            with mp.get_context({method!r}).Pool(1) as pool:
                print(pool.map(work, [1, 2]))
        """
    )
    script("import torch.version\n\ndef answer(x):\n    return x, torch.version.pytorch\n", "helper.py")
    got = call(*TIDU, "run", path)
    name = "__main__" if method == "fork" else "__mp_main__"
    assert (got.stdout, got.stderr) == (f"[((1, '2.13.0'), {name!r}), ((2, '2.13.0'), {name!r})]\n", "")


def test_functions_of_the_program_can_be_pickled(call, script):
    text = "import pickle\ndef f(): return 5\nprint(pickle.loads(pickle.dumps(f))())"
    got = call(*TIDU, "run", script(text))
    assert (got.stdout, got.stderr) == ("5\n", "")


def test_classes_say_that_they_are_pytorchs(call, script):
    text = """
        import pickle
        import torch
        from torch import nn
        model = nn.Sequential(nn.Linear(1, 1), nn.Dropout())
        print([type(m) for m in model.modules()], type(torch.optim.SGD(model.parameters())))
        x = torch.ones(2, requires_grad=True)
        print(type(x.max(0)), type((x * 2).grad_fn), torch.no_grad, type(torch.Generator()))
        print(pickle.loads(pickle.dumps([model, x.max(0), torch.distributions.Normal(0.0, 1.0), x.shape])))
        print({c.__module__ for c in (torch.Tensor, torch.Size, torch.dtype, torch.device, torch.layout)})
        print(type(nn.utils.parametrizations.weight_norm(model[0])))
        from torch.autograd.gradcheck import GradcheckError
        raise GradcheckError("told")
        """
    got = call(*TIDU, "run", script(text))
    assert got.stdout == (
        "[<class 'torch.nn.modules.container.Sequential'>, <class 'torch.nn.modules.linear.Linear'>, "
        "<class 'torch.nn.modules.dropout.Dropout'>] <class 'torch.optim.sgd.SGD'>\n"
        "<class 'torch.return_types.max'> <class 'MulBackward0'> <class 'torch.autograd.grad_mode.no_grad'> "
        "<class 'torch._C.Generator'>\n"
        "[Sequential(\n  (0): Linear(in_features=1, out_features=1, bias=True)\n  (1): Dropout(p=0.5, inplace=False)\n"
        "), torch.return_types.max(\nvalues=tensor(1., requires_grad=True),\nindices=tensor(0)), "
        "Normal(loc: 0.0, scale: 1.0), torch.Size([2])]\n{'torch'}\n<class 'torch.nn.utils.parametrize.ParametrizedLinear'>\n"
    )
    assert got.stderr.splitlines()[-1] == "torch.autograd.gradcheck.GradcheckError: told"


def test_install_as_torch_in_process(call, script):
    path = script(
        """
        import tidu
        assert not tidu.is_installed_as_torch()
        tidu.install_as_torch()
        assert tidu.is_installed_as_torch()
        tidu.install_as_torch()  # again: nothing changes
        import torch, sys
        assert torch is tidu and sum(type(f).__name__ == "TorchFinder" for f in sys.meta_path) == 1
        import torch.version
        try:
            torch.no_such_op
        except AttributeError as e:
            print(e, "|", *e.__notes__)
        """
    )
    got = call(sys.executable, path)
    assert got.stderr == ""
    error = "module 'torch' has no attribute 'no_such_op'"
    assert re.fullmatch(error + " \\|   note: .*docs/ops.md.*\n", got.stdout)


def test_install_as_torch_comes_before_pytorch(call, script, tmp_path):
    script("", "site/torch/__init__.py")
    text = "import torch, tidu; tidu.install_as_torch()"
    got = call(sys.executable, "-c", text, PYTHONPATH=str(tmp_path / "site"))
    assert got.returncode == 1
    assert "RuntimeError: PyTorch is already imported, from " in got.stderr
    assert "before the first `import torch`" in got.stderr


def test_tidu_alone_leaves_torch_alone(call, script, tmp_path):
    script("mine = True", "site/torch/__init__.py")
    text = "import tidu, torch; print(torch.mine)"
    got = call(sys.executable, "-c", text, PYTHONPATH=str(tmp_path / "site"))
    assert (got.stdout, got.stderr) == ("True\n", "")


def test_command_line_itself(capsys):
    assert cli.main(["--version"]) == 0
    assert capsys.readouterr().out == f"tidu {version.tidu} (PyTorch {version.pytorch})\n"
    assert cli.main(["--help"]) == 0 and cli.main(["run", "--help"]) == 0
    assert "usage: tidu" in capsys.readouterr().out
    for wrong in ([], ["no-such-command"], ["run"], ["run", "-m"], ["demo", "no-such-example"]):
        assert cli.main(wrong) == 2, wrong
        out, err = capsys.readouterr()
        assert out == "" and err
    assert cli.main(["demo", "--list"]) == 0
    examples = Path(__file__).parent.parent / "examples"
    assert sorted(capsys.readouterr().out.split()) == sorted(p.stem for p in examples.glob("[!_]*.py"))
