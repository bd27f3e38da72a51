"""torch.version: which PyTorch this library stands in for, and which tidu it is.

`tidu.version.tidu` is the release of this library, the number on the package index. `__version__` is what
`torch.__version__` reads, so that version checks in other packages hold: the release of PyTorch whose
behaviour is followed, with tidu's own release behind the plus.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterable
from typing import Any

from .naming import FACE, submodule

_PEP440 = (
    r"v?(?:(?P<epoch>\d+)!)?(?P<release>\d+(?:\.\d+)*)"
    r"(?:[-_.]?(?P<pre>alpha|beta|preview|pre|rc|a|b|c)[-_.]?(?P<pre_n>\d*))?"
    r"(?:-(?P<post_bare>\d+)|[-_.]?(?P<post>post|rev|r)[-_.]?(?P<post_n>\d*))?"
    r"(?:[-_.]?(?P<dev>dev)[-_.]?(?P<dev_n>\d*))?"
    r"(?:\+(?P<local>[a-z0-9]+(?:[-_.][a-z0-9]+)*))?"
)
_PRE = {"alpha": 0, "a": 0, "beta": 1, "b": 1, "c": 2, "rc": 2, "pre": 2, "preview": 2}
_LOWEST, _HIGHEST = (-1,), (9,)


def _sort_key(version: str) -> tuple | None:
    """What orders a version among others, as PEP 440 has it; None for what is no version."""
    m = re.fullmatch(_PEP440, version.strip().lower())
    if m is None:
        return None
    release = tuple(map(int, m["release"].split(".")))
    while release and release[-1] == 0:  # 2.13 and 2.13.0 are one version
        release = release[:-1]
    is_post = m["post"] or m["post_bare"]
    pre: tuple = (_PRE[m["pre"]], int(m["pre_n"] or 0)) if m["pre"] else _HIGHEST
    if m["dev"] and not m["pre"] and not is_post:
        pre = _LOWEST  # 1.0.dev1 comes before 1.0a1
    post = int(m["post_bare"] or m["post_n"] or 0) if is_post else -1
    dev = (int(m["dev_n"] or 0),) if m["dev"] else (float("inf"),)
    # In the local part, numbers come after words, and any local part after none.
    parts = re.split(r"[-_.]", m["local"]) if m["local"] else []
    local = tuple((1, int(p), "") if p.isdigit() else (0, 0, p) for p in parts)
    return int(m["epoch"] or 0), release, pre, post, dev, local


def _keys(a: str, b: object) -> tuple | None:
    """Comparable keys of both sides: versions if both are versions, else text; None if `b` is neither."""
    if not isinstance(b, (str, Iterable)):
        return None
    texts = str.__str__(a), str.__str__(b) if isinstance(b, str) else ".".join(map(str, b))
    keys = _sort_key(texts[0]), _sort_key(texts[1])
    return texts if None in keys else keys


def _comparison(relation: Callable[[Any, Any], bool]) -> Any:
    def compare(self: str, other: object) -> bool:
        keys = _keys(self, other)
        return NotImplemented if keys is None else relation(*keys)

    return compare


class TorchVersion(str):
    """A string that compares with versions as versions do: `torch.__version__ >= (2, 1)` or `> "1.9"`.

    Source: torch.torch_version.TorchVersion.

    >>> TorchVersion("2.13.0") > "2.9"
    True
    >>> TorchVersion("2.13.0") >= (2, 13)
    True
    >>> TorchVersion("2.13.0").split(".")
    ['2', '13', '0']
    """

    __slots__ = ()
    __hash__ = str.__hash__

    __eq__ = _comparison(operator.eq)
    __ne__ = _comparison(operator.ne)
    __lt__ = _comparison(operator.lt)
    __le__ = _comparison(operator.le)
    __gt__ = _comparison(operator.gt)
    __ge__ = _comparison(operator.ge)


submodule(FACE, "torch_version", TorchVersion=TorchVersion)

tidu: str = "0.1.0"
pytorch: str = "2.13.0"
__version__ = TorchVersion(f"{pytorch}+tidu.{tidu}")

# PyTorch's build facts, as a CPU build states them.
debug: bool = False
git_version: str | None = None
cuda: str | None = None
hip: str | None = None
rocm: str | None = None
xpu: str | None = None
