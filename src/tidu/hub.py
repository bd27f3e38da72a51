"""torch.hub: models from the network are not fetched. Source: torch.hub."""

from __future__ import annotations

import os
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


def load(repo_or_dir: Any, model: Any, *args: Any, **kwargs: Any) -> Any:
    """Raises: nothing is fetched. Source: torch.hub.load."""
    raise _absent("load")


def list(github: Any, *args: Any, **kwargs: Any) -> Any:
    """Raises: nothing is fetched. Source: torch.hub.list."""
    raise _absent("list")


def help(github: Any, model: Any, *args: Any, **kwargs: Any) -> Any:
    """Raises: nothing is fetched. Source: torch.hub.help."""
    raise _absent("help")


def download_url_to_file(url: str, dst: Any, *args: Any, **kwargs: Any) -> None:
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
    return load_file(path, map_location=map_location)
