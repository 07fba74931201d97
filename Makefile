# Everything a newcomer needs: each target builds .venv by itself.
PYTHON ?= $(shell $(FASTER_PYTHON))
# A Python that was built without its optimisations, as version managers do, takes a third more time than the system's.
FASTER_PYTHON = python3 -c 'import sysconfig as s; exit("--enable-optimizations" in str(s.get_config_var("CONFIG_ARGS")))' && \
	/usr/bin/python3 -c 'import ensurepip, pip, sys, venv; exit(not (3, 11) <= sys.version_info < (3, 15))' 2>/dev/null && \
	echo /usr/bin/python3 || echo python3
BIN := .venv/bin
# What is imported is compiled then; most of what is installed never is.
export PIP_NO_COMPILE = 1
export PIP_DISABLE_PIP_VERSION_CHECK = 1
export UV_SYSTEM_CERTS = 1
# uv installs in seconds what takes pip a minute or two; pip is asked where uv fails, as behind a mirror that only pip knows.
UV = $(BIN)/uv pip install --quiet --python $(BIN)/python
INSTALL = install() { $(UV) "$$@" || { \
	echo "uv cannot install this here; pip is asked, which may take minutes …"; \
	$(BIN)/python -m pip install --quiet "$$@"; }; }; install

.PHONY: demo test test-all kernels coverage coverage-kernels lint type format bench docs wheel-test wheel release floors attack clean

demo: .venv/demo.stamp  ## everything in a minute, with films and a report
	$(BIN)/choque demo

# Kernels compile in half the time when they are optimised less; those have a place of their own, for they are slower.
test kernels coverage: export NUMBA_OPT = 1
test kernels coverage: export NUMBA_CACHE_DIR = $(CURDIR)/.venv/kernels
test: .venv/test.stamp  ## every test at a reduced count, in minutes; test-all takes the kernels as they are installed
	$(BIN)/python -m pytest -q -n 2 --dist loadfile

test-all: .venv/test.stamp  ## every test at the full count, in tens of minutes
	CHOQUE_FULL=1 $(BIN)/python -m pytest -q -n 2 --dist loadfile

kernels: .venv/core.stamp  ## those that the tests use, compiled beforehand; what is done when it is stopped is kept
	$(BIN)/choque doctor --warm-up

coverage: .venv/test.stamp  ## the same, with the lines that are reached; compiled kernels are left out
	$(BIN)/python -m pytest -q -n 2 --dist loadfile --cov --cov-report=term:skip-covered --cov-fail-under=95

coverage-kernels: .venv/test.stamp  ## the lines of kernels that are reached when they run as plain Python, in minutes
	$(BIN)/python .ci/kernel_coverage.py

lint: .venv/lint.stamp  ## style, types, the order of the packages, names in ARCHITECTURE.md, and the figures of .ci/figures.py
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	PYTHONPATH=.ci $(BIN)/lint-imports
	$(BIN)/python .ci/named_files.py
	$(BIN)/python .ci/figures.py

type: .venv/lint.stamp  ## the types alone
	$(BIN)/mypy

format: .venv/lint.stamp
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: .venv/bench.stamp  ## every comparison with other libraries, on this machine; BENCH=--small to see that all of it runs
	$(BIN)/python benchmarks/whole.py $(BENCH)

docs: .venv/docs.stamp  ## the documentation, into output/docs; a warning is an error
	$(BIN)/sphinx-build --fail-on-warning --keep-going --quiet --jobs 2 $(DOCS_OPTIONS) -d output/docs.cache docs output/docs
	@echo "Open output/docs/index.html"

wheel-test: .venv/build.stamp  ## a wheel and an sdist, each installed and tried in an environment of its own
	$(BIN)/python .ci/wheel_test.py

wheel: .venv/build.stamp .venv/core.stamp  ## a wheel with compiled kernels for this system and Python, tried in an empty environment
	$(BIN)/python .ci/kernels_wheel.py

release: .venv/build.stamp .venv/core.stamp  ## the sdist, the pure wheel and a wheel with kernels, each tried in an empty environment
	$(BIN)/python .ci/wheel_test.py output/dist
	$(BIN)/python .ci/kernels_wheel.py --folder output/dist
	@cd output/dist && sha256sum choque-*

floors: .venv/pip.stamp  ## the oldest dependencies that are allowed, installed and used, in minutes
	$(BIN)/python .ci/floors.py

ATTACK ?= --seconds 120
attack: .venv/test.stamp  ## adversarial boxes, mutated files, interruptions, kills, full disks, threads; seeds are printed
	$(BIN)/python .ci/attack.py $(ATTACK)

clean:
	rm -rf .venv output .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis

# Python's own pip gets uv, and uv gets pip, in half the time in which an environment unpacks a pip of its own.
.venv/pip.stamp:
	@echo "Making .venv with $(PYTHON); make PYTHON=... takes another."
	$(PYTHON) -m venv --without-pip .venv
	@{ $(PYTHON) -m pip --python $(BIN)/python install --quiet uv && $(UV) pip; } 2>/dev/null || \
	{ $(PYTHON) -m venv .venv && { $(BIN)/python -m pip install --quiet uv || echo "uv is not to be had; pip does its work."; }; }
	touch $@

.venv/core.stamp: .venv/pip.stamp pyproject.toml
	@echo "Installing Choque into .venv …"
	@$(INSTALL) --editable .
	touch $@

.venv/demo.stamp: .venv/pip.stamp pyproject.toml
	@echo "Installing Choque and what it draws with into .venv …"
	@$(INSTALL) --editable '.[lab,video]'
	touch $@

.venv/test.stamp: .venv/pip.stamp pyproject.toml
	@echo "Installing Choque and what it is tested with into .venv …"
	@$(INSTALL) --editable '.[test]'
	touch $@

.venv/lint.stamp: .venv/test.stamp pyproject.toml
	@echo "Installing the linters into .venv …"
	@$(INSTALL) --editable '.[lint]'
	touch $@

.venv/docs.stamp: .venv/pip.stamp pyproject.toml
	@echo "Installing Choque and what its documentation is made with into .venv …"
	@$(INSTALL) --editable '.[docs]'
	touch $@

.venv/ci.stamp: .venv/pip.stamp pyproject.toml
	@echo "Installing Choque and all it is tested, typed and documented with into .venv …"
	@$(INSTALL) --editable '.[test,lint,docs]'
	touch .venv/test.stamp .venv/lint.stamp .venv/docs.stamp $@

.venv/build.stamp: .venv/pip.stamp pyproject.toml
	@echo "Installing what builds wheels into .venv …"
	@$(INSTALL) 'build>=1.2' 'wheel>=0.44'
	touch $@

.venv/bench.stamp: .venv/test.stamp pyproject.toml
	@echo "Installing the libraries to compare with into .venv …"
	@$(INSTALL) --editable '.[peers]'
	touch $@
