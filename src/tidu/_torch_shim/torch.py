"""`torch` for the child processes of a program that `tidu run` runs.

A process that multiprocessing spawns is a fresh interpreter that runs the main script again, and gets
sys.path from its parent, nothing else. `tidu run` puts this folder on sys.path, so that the child's
first `import torch` lands here, sets up the alias, and brings tidu.
"""

import sys

del sys.modules[__name__]

from tidu.aliasing import install_as_torch  # noqa: E402

install_as_torch()
