# `make demo` and `make test` make their own virtual environment; nothing but Python >= 3.11, a C++20 compiler and
# the package registry is needed.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
CORE := $(wildcard cpp/*/*) CMakeLists.txt pyproject.toml

.PHONY: demo test lint test-core test-python test-slow bench sanitize docs clean

# The main job: ensembles and their rivals on a bundled table, and what pruning the best ensemble costs.
demo: $(STAMP)
	$(BIN)/conjunto compare german --protocol 3x10 --prune-best --out demo-output

test: lint test-core docs test-python

$(STAMP): $(CORE)
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade "pip>=25.1"
	$(BIN)/python -m pip install --quiet scikit-build-core nanobind cmake ninja
	$(BIN)/python -m pip install --quiet --group test --group lint --group bench
	$(BIN)/python -m pip install --quiet --no-build-isolation --editable ".[all]"
	touch $@

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# The unit tests of the core, without Python.
test-core: $(STAMP)
	$(BIN)/cmake -S . -B build/core -G Ninja -DCMAKE_MAKE_PROGRAM=$(abspath $(BIN))/ninja -DCONJUNTO_PYTHON=OFF -DCONJUNTO_TESTS=ON -DCONJUNTO_WERROR=ON >/dev/null
	$(BIN)/cmake --build build/core
	$(BIN)/ctest --test-dir build/core --output-on-failure

test-python: $(STAMP)
	$(BIN)/python -m pytest -n 2 -m "not slow"

test-slow: $(STAMP)
	$(BIN)/python -m pytest -n 2 -m slow

bench: $(STAMP)
	$(BIN)/python -m benchmarks
	$(BIN)/python -m benchmarks.everyday
	$(BIN)/python -m benchmarks.scattered
	$(BIN)/python -m benchmarks.criteria

# The whole suite with AddressSanitizer and UndefinedBehaviorSanitizer, in an environment of its own.
sanitize: $(STAMP)
	tools/sanitize.sh

docs: $(STAMP)
	$(BIN)/python tools/check_docs.py

clean:
	rm -rf build $(VENV) .venv-sanitize demo-output
