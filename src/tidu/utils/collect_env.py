"""torch.utils.collect_env: what the machine is and which versions are installed, for reports.

`python -m tidu.utils.collect_env` prints it.
"""

from __future__ import annotations

import os
import platform
import sys
from importlib import metadata

__all__ = ["get_pretty_env_info", "main"]


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "not installed"


def get_pretty_env_info() -> str:
    """The report, a line each. Source: torch.utils.collect_env.get_pretty_env_info."""
    from ..version import pytorch, tidu

    rows = {
        "tidu version": tidu, "PyTorch version followed": pytorch, "Is debug build": "False",
        "CUDA used to build PyTorch": "None", "OS": platform.platform(),
        "Python version": sys.version.replace("\n", " "), "Is CUDA available": "False",
        "CPU": platform.processor() or platform.machine(), "CPU count": str(os.cpu_count()),
        **{name: _version(name) for name in ("numpy", "scipy", "llvmlite", "ml_dtypes")},
    }  # fmt: skip
    return "\n".join(f"{name}: {value}" for name, value in rows.items())


def main() -> None:
    """Print the report. Source: torch.utils.collect_env.main."""
    print("Collecting environment information...")
    print(get_pretty_env_info())


if __name__ == "__main__":
    main()
