"""Packages written for PyTorch, run on tidu as they are on the index: `python -m parity.packages`.

`packages.toml` lists them, `programs/` are programs that use them, `docs/packages.md` says what came out.
"""
