# Two commands need nothing but Python 3.11 or later, make, and the package registries: `make demo` and `make test`.

PYTHON ?= python3
# Tests wait more than they compute, so that three workers keep two processors busy.
WORKERS ?= 3
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed
MUTATION := .cache/mutation
PYTEST := $(BIN)/python -m pytest --dist worksteal --durations 25 --durations-min 1

# pytest compiles its plugins, hypothesis among them, anew in every process where nothing may be written.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help install demo test lint format unit coverage fuzz bench docs image lock clean

help: ## Say what can be made.
	@sed -n 's/^\([a-z]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 12

install: $(INSTALLED) ## Create .venv from the hash-checked pins, with the command installed in place.

$(INSTALLED): requirements/build.txt requirements/dev.txt pyproject.toml core/hedgerow/version.py
	$(PYTHON) -m venv --clear $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes \
		-r requirements/build.txt -r requirements/dev.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@

demo: install ## Show what a controller does, step by step, in memory.
	@$(BIN)/hedgerow demo

lint: install ## Check style, types, layers and banned calls.
	$(BIN)/ruff format --check --quiet .
	$(BIN)/ruff check --quiet .
	$(BIN)/mypy core adapters entrypoints tests benchmarks deploy
	$(BIN)/lint-imports

unit: install ## Run the tests that need no server.
	$(PYTEST) -n 2 tests/unit tests/golden

coverage: install ## Run the same tests, and name each branch of the core that none of them takes; about five minutes.
	$(BIN)/python -m pytest -n 2 --cov --cov-report=term-missing:skip-covered tests/unit tests/golden

fuzz: install ## Ask all webhooks a million things that came about by chance, each time others; about five minutes.
	$(BIN)/python -m tests.unit.adapters.admission.fuzz

# mutmut wants all that it imports in one folder, and an environment in which nothing else is installed in place.
mutation: ## Change the heart of the core in small ways, and say which changes no test notices; MUTANTS names some of them.
	$(PYTHON) -m venv $(MUTATION)/venv
	$(MUTATION)/venv/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes \
		-r requirements/mutation.txt
	rm -rf $(MUTATION)/copy
	mkdir $(MUTATION)/copy
	cp -R core/hedgerow adapters/hedgerow_adapters entrypoints/hedgerow_entrypoints examples tests pyproject.toml \
		$(MUTATION)/copy
	cd $(MUTATION)/copy && CI=1 ../venv/bin/python -P tests/mutation.py run $(MUTANTS)
	cd $(MUTATION)/copy && ../venv/bin/mutmut results

test: lint ## Run every test, against a real API server too, which is built first if need be.
	$(BIN)/python tests/e2e/servers/build.py
	$(BIN)/python tests/e2e/servers/build.py helm
	$(PYTEST) -n $(WORKERS)

bench: install ## Measure speed and memory; docs/performance.md explains the figures.
	$(BIN)/python -m benchmarks

docs: install ## Build the documentation into .cache/docs.
	$(BIN)/sphinx-build -W --keep-going -q -b html docs .cache/docs

# Needs a Debian machine, no builder, no daemon and no root. docs/installation.md explains what to do with the image.
image: install ## Build the image as an OCI layout in .cache/image/hedgerow, with its bill of materials beside it.
	@$(BIN)/python -m deploy.image .cache/image/hedgerow

format: install ## Put the code into shape.
	$(BIN)/ruff format --quiet .
	$(BIN)/ruff check --quiet --fix .

# uv resolves once for all supported Pythons; it is needed for this alone, so it is not among the pins.
lock: ## Pin anew what pyproject.toml and requirements/build.in ask for.
	uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header \
		--extra command --extra speed --group dev pyproject.toml -o requirements/dev.txt
	uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header \
		--extra command --extra speed -c requirements/dev.txt pyproject.toml -o requirements/image.txt
	uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header \
		--extra command --extra speed --group dev --group mutation -c requirements/dev.txt pyproject.toml \
		-o requirements/mutation.txt
	uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header \
		requirements/build.in -o requirements/build.txt
	! command -v apt-get >/dev/null || $(BIN)/python -m deploy.image --lock

clean: ## Remove everything that was made.
	rm -rf $(VENV) .cache .mypy_cache .pytest_cache .ruff_cache .hypothesis .import_linter_cache
