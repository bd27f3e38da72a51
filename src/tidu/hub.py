"""torch.hub: models from the network are not fetched. Source: torch.hub."""

from __future__ import annotations

import importlib.util
import os
import sys
from typing import Any

__all__ = [
    "download_url_to_file", "get_dir", "help", "list", "load", "load_state_dict_from_url", "set_dir",
]  # fmt: skip

_dir: str | None = None


def get_dir() -> str:
    """The folder that models would be kept in. Source: torch.hub.get_dir."""
    if _dir is not None:
        return _dir
    home = os.getenv("TORCH_HOME") or os.path.join(os.getenv("XDG_CACHE_HOME", "~/.cache"), "torch")
    return os.path.join(os.path.expanduser(home), "hub")


def set_dir(d: Any) -> None:
    """Set the folder that models would be kept in. Source: torch.hub.set_dir."""
    global _dir
    _dir = os.path.expanduser(d)


def _absent(what: str) -> RuntimeError:
    return RuntimeError(
        f"torch.hub.{what} is not available: it would run code from the network. Fetch the file yourself, and load it "
        "with torch.load(path)."
    )


def _hubconf(repo: Any, source: str, what: str) -> Any:
    if source.lower() not in ("github", "local"):
        raise ValueError(f'Unknown source: "{source}". Allowed values: "github" | "local".')
    if source.lower() == "github":
        raise _absent(what)
    folder = os.fspath(repo)
    spec = importlib.util.spec_from_file_location("hubconf", os.path.join(folder, "hubconf.py"))
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.path.insert(0, folder)
    try:
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(folder)
    missing = [name for name in getattr(module, "dependencies", ()) if importlib.util.find_spec(name) is None]
    if missing:
        raise RuntimeError(f"Missing dependencies: {', '.join(missing)}")
    return module


def _entry(module: Any, model: Any) -> Any:
    if not isinstance(model, str):
        raise ValueError("Invalid input: model should be a string of function name")
    found = getattr(module, model, None)
    if not callable(found):
        raise RuntimeError(f"Cannot find callable {model} in hubconf")
    return found


def load(
    repo_or_dir: Any, model: Any, *args: Any, source: str = "github", trust_repo: Any = "check",
    force_reload: bool = False, verbose: bool = True, skip_validation: bool = False, **kwargs: Any,
) -> Any:  # fmt: skip
    """What a function of a folder's hubconf.py makes, with `source="local"`; nothing is fetched.

    Args:
        repo_or_dir: the folder.
        model: the name of the function, which is called with the other arguments.

    Raises:
        RuntimeError: it is to come from GitHub.

    Source: torch.hub.load.
    """
    return _entry(_hubconf(repo_or_dir, source, "load"), model)(*args, **kwargs)


def list(
    github: Any, force_reload: bool = False, skip_validation: bool = False, trust_repo: Any = "check",
    verbose: bool = True,
) -> Any:  # fmt: skip
    """Raises: nothing is fetched. Source: torch.hub.list."""
    raise _absent("list")


def help(
    github: Any, model: Any, force_reload: bool = False, skip_validation: bool = False, trust_repo: Any = "check"
) -> Any:
    """Raises: nothing is fetched. Source: torch.hub.help."""
    raise _absent("help")


def download_url_to_file(url: str, dst: Any, hash_prefix: str | None = None, progress: bool = True) -> None:
    """Raises: nothing is fetched. Source: torch.hub.download_url_to_file."""
    raise _absent("download_url_to_file")


def load_state_dict_from_url(
    url: str, model_dir: Any = None, map_location: Any = None, progress: bool = True, check_hash: bool = False,
    file_name: str | None = None, weights_only: bool = False,
) -> Any:  # fmt: skip
    """The state in a file that has been fetched before, into `get_dir()/checkpoints`; nothing is fetched. Source:
    torch.hub.load_state_dict_from_url.

    Raises:
        RuntimeError: it is not there.
    """
    from urllib.parse import urlparse

    from .serialization import load as load_file

    folder = os.path.join(get_dir(), "checkpoints") if model_dir is None else os.fspath(model_dir)
    path = os.path.join(folder, file_name or os.path.basename(urlparse(url).path))
    if not os.path.exists(path):
        raise _absent("load_state_dict_from_url")
    return load_file(path, map_location=map_location, weights_only=weights_only)
