"""Comparisons of tidu with a live PyTorch: `python -m parity.sweep` and `pytest parity`."""
