# Every target sets up what it needs in .venv with plain pip; a second run reuses it.
PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check

.PHONY: help demo serve test quick check package mutate bench bench-error bench-service papers docs clean

help:            ## show this list
	@grep -E '^[a-z-]+: .*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):[^#]*## */  make \1|/' | column -t -s '|'

.venv/core.stamp: pyproject.toml
	@echo "── setting up .venv"
	test -d .venv || $(PYTHON) -m venv .venv
	$(PIP) install --progress-bar on -e '.[plots]'
	@touch $@

.venv/dev.stamp: .venv/core.stamp
	@echo "── installing the development tools"
	$(PIP) install --progress-bar on -e '.[dev]'
	@touch $@

.venv/bench.stamp: .venv/core.stamp
	@echo "── installing the peers to compare with"
	$(PIP) install --progress-bar on -e '.[bench]'
	@touch $@

demo: .venv/core.stamp  ## set up and show the main job
	$(BIN)/leastnoise demo

.venv/service.stamp: .venv/core.stamp
	@echo "── installing the service"
	$(PIP) install --progress-bar on -e '.[service]'
	@touch $@

serve: .venv/service.stamp  ## serve made-up data, with a curator's and an analyst's token
	$(BIN)/leastnoise serve --demo build/service

test: .venv/dev.stamp  ## set up and run every test
	$(BIN)/python -m pytest -n 2 --dist loadfile

quick: .venv/dev.stamp  ## the tests without Spark, Postgres and what takes long: under a minute
	$(BIN)/python -m pytest tests -n 2 --dist loadfile -m "not engine and not slow"

check: .venv/dev.stamp  ## lint, types, layers, strict documentation
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet --site-dir build/site
	@echo "── check: all clean"

package: .venv/dev.stamp  ## build wheel and sdist, and try both in an empty environment
	rm -rf build/dist build/empty
	$(BIN)/python -m build --outdir build/dist .
	$(PYTHON) -m venv build/empty
	for built in build/dist/*.whl build/dist/*.tar.gz; do \
	  build/empty/bin/python -m pip --disable-pip-version-check install --quiet --force-reinstall "$$built" \
	  && build/empty/bin/python -I tools/smoke.py && build/empty/bin/leastnoise --version || exit 1; \
	done
	@echo "── package: both install and work"

mutate: .venv/dev.stamp  ## apply wrong lines one by one; the tests must notice each (about an hour; ONLY=text for some)
	$(BIN)/python tools/mutate.py $(if $(ONLY),--only '$(ONLY)')

bench: .venv/bench.stamp  ## compare speed with peers in one run
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m benchmarks

bench-error: .venv/bench.stamp  ## compare errors with peers at equal privacy (ONLY=quantiles for a part; JOB=, BY= for rows)
	$(BIN)/python -m benchmarks.errors $(ONLY) --job '$(JOB)' --by '$(BY)'

bench-service: .venv/dev.stamp  ## the service under load: plans, releases, a race with kills, a soak (about five minutes)
	$(BIN)/python -m benchmarks.service_load

papers: .venv/core.stamp  ## recompute the claims of the source texts and draw their figures
	$(BIN)/python -m papers --out build/papers

docs: .venv/dev.stamp  ## build the documentation into site/
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict
	@echo "── open site/index.html"

clean:           ## remove everything that was made
	rm -rf .venv .venvs site build
