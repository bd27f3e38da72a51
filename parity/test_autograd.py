"""The programs of tests/behaviour, on both libraries: the text that they print must agree."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
import torch

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

from behaviour import programs, recorded, text_of  # noqa: E402

HERE = [
    "engine",
    "views",
    "hooks",
    "function",
    "functional",
    "forward_mode",
    "anomaly",
    "graph",
    "overriding",
    "corners",
    "sparse",
]


@pytest.mark.parametrize("topic, name", [(t, n) for t in HERE for n in programs(t)])
def test_prints_the_same(lib: Any, topic: str, name: str) -> None:
    program = programs(topic)[name]
    printed = text_of(program, torch)
    assert text_of(program, lib) == printed
    assert recorded(topic)[name] == printed
