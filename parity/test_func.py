"""The programs about torch.func, on both libraries: the text that they print must agree."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from .test_autograd import programs, recorded, text_of


@pytest.mark.parametrize("name", programs("func"))
def test_prints_the_same(lib: Any, name: str) -> None:
    program = programs("func")[name]
    printed = text_of(program, torch)
    assert text_of(program, lib) == printed
    assert recorded("func")[name] == printed
