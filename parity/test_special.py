"""Special functions that PyTorch computes to six digits only, against mpmath, which comes with PyTorch."""

from __future__ import annotations

from typing import Any

import mpmath
import numpy as np
import pytest

REFERENCES = {
    "airy_ai": mpmath.airyai,
    "bessel_j0": mpmath.j0,
    "bessel_j1": mpmath.j1,
    "bessel_y0": lambda x: mpmath.bessely(0, x),
    "bessel_y1": lambda x: mpmath.bessely(1, x),
}


@pytest.mark.parametrize("name", REFERENCES)
def test_all_digits(lib: Any, name: str) -> None:
    if lib.__name__ == "torch":
        pytest.skip("PyTorch is right to six digits")
    at = np.concatenate([np.linspace(0.05, 10, 60), np.linspace(10, 60, 40)])
    if name[-2] != "y":
        at = np.concatenate([-at, at])
    expected = np.array([float(REFERENCES[name](x)) for x in at.tolist()])
    got = getattr(lib.special, name)(lib.from_numpy(at)).numpy()
    np.testing.assert_allclose(got, expected, rtol=1e-13, atol=1e-13)
