# Everything a newcomer needs: each target builds .venv by itself.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: demo test test-all lint type format bench clean

demo: .venv/demo.stamp  ## run every method on a moving scene, check it, draw it
	$(BIN)/choque demo

test: .venv/test.stamp  ## every proof at a reduced count, in minutes
	$(BIN)/python -m pytest -q -n 2

test-all: .venv/test.stamp  ## every proof at the full count, in tens of minutes
	CHOQUE_FULL=1 $(BIN)/python -m pytest -q -n 2

lint: .venv/lint.stamp  ## style, types, and the order of the rooms
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: .venv/lint.stamp
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: .venv/bench.stamp  ## the figures against the other libraries, on this machine
	$(BIN)/python benchmarks/figures.py

clean:
	rm -rf .venv output .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis

.venv/pip.stamp:
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --upgrade pip
	touch $@

.venv/demo.stamp: .venv/pip.stamp pyproject.toml
	@echo "Installing Choque and what it draws with into .venv …"
	$(BIN)/python -m pip install --quiet --editable '.[lab]'
	touch $@

.venv/test.stamp: .venv/pip.stamp pyproject.toml
	@echo "Installing Choque and what it is tested with into .venv …"
	$(BIN)/python -m pip install --quiet --editable '.[test]'
	touch $@

.venv/lint.stamp: .venv/test.stamp pyproject.toml
	$(BIN)/python -m pip install --quiet --editable '.[lint]'
	touch $@

.venv/bench.stamp: .venv/test.stamp pyproject.toml
	$(BIN)/python -m pip install --quiet --editable '.[peers]'
	touch $@
