# Two commands from a fresh clone: `make demo`, `make test`. Needs Python 3.11+ with venv and pip, and make.
#
#   make demo     an unmodified PyTorch script on tidu, then the examples       (.venv, no PyTorch)
#   make test     the test suite                                                (.venv, no PyTorch)
#   make lint     ruff and mypy                                                 (.venv)
#   make parity   compare with a live PyTorch                                   (.venv-parity)
#   make bench    one table: tidu's speed against PyTorch's and JAX's           (.venv-parity)
#   make wheel    build dist/tidu-*.whl                                         (.venv)
#   make clean    remove what the above made
#
# PYTHON is the interpreter to build on; ARGS goes to pytest or to the benchmarks, as in
#   make test ARGS='-k chain -x'

PYTHON ?= python3
ARGS ?=
PIP = -m pip install --quiet --disable-pip-version-check
JOBS ?= 2

.PHONY: demo test lint format parity bench wheel clean
.DELETE_ON_ERROR:

# A stamp tells that a venv holds what pyproject.toml asks for.
.venv/demo.stamp: pyproject.toml
	$(PYTHON) -m venv .venv
	.venv/bin/python $(PIP) -e '.[examples]'
	touch $@

.venv/dev.stamp: pyproject.toml
	$(PYTHON) -m venv .venv
	.venv/bin/python $(PIP) -e '.[dev]'
	touch $@

.venv-parity/parity.stamp: pyproject.toml
	$(PYTHON) -m venv .venv-parity
	.venv-parity/bin/python $(PIP) -e '.[parity]'
	touch $@

.venv-parity/bench.stamp: .venv-parity/parity.stamp
	.venv-parity/bin/python $(PIP) -e '.[bench]'
	touch $@

demo: .venv/demo.stamp
	@.venv/bin/python -c "import importlib.util as u; print('PyTorch here:', 'installed, and not used' if u.find_spec('torch') else 'not installed')"
	@echo; echo '=== an unmodified PyTorch script: tidu run examples/fit_curve.py --steps 300 ==='; echo
	@.venv/bin/tidu run examples/fit_curve.py --steps 300
	@.venv/bin/tidu demo

test: .venv/dev.stamp
	.venv/bin/python -m pytest -n $(JOBS) tests $(ARGS)

lint: .venv/dev.stamp
	.venv/bin/ruff check .
	.venv/bin/ruff format --check --quiet .
	.venv/bin/mypy

format: .venv/dev.stamp
	.venv/bin/ruff format .
	.venv/bin/ruff check --fix .

parity: .venv-parity/parity.stamp
	.venv-parity/bin/python -m parity.support
	.venv-parity/bin/python -m pytest -n $(JOBS) parity $(ARGS)

bench: .venv-parity/bench.stamp
	.venv-parity/bin/python -m benchmarks $(ARGS)

wheel: .venv/dev.stamp
	.venv/bin/python -m hatchling build -t wheel

clean:
	rm -rf .venv .venv-parity dist build .pytest_cache .hypothesis .mypy_cache .ruff_cache
