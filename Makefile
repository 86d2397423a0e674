# What you can do here. Every target installs what it needs into .venv by itself.
PYTHON ?= python3
BIN := .venv/bin
# One more than there are processors: some tests wait for locks, for disks, or for the next attempt.
WORKERS := $(shell $(PYTHON) -c "import os; print((os.cpu_count() or 1) + 1)")
PIP := $(BIN)/python -m pip --disable-pip-version-check

CLUSTER_TESTS := tests/clusters tests/http/test_shared_store.py tests/sources/test_buckets.py \
	$(patsubst %,tests/storage/test_%.py,shared_home shared_catalog postgres_database object_store_faults) \
	$(patsubst %,tests/contracts/test_%.py,object_store evidence_store map_store ledger node_index text_index ranking_index)

.PHONY: help demo test test-long test-all cluster test-browser lint format bench performance structure library retrieval agents clients faults viewer sweep live docs lock bundle dist clean
.DEFAULT_GOAL := help

help:
	@echo 'make demo    map and cut the sample files, and ask a small library'
	@echo 'make test    run the tests that are quick by themselves (6 minutes or less on 2 processors)'
	@echo 'make test-long run the tests that take half a second or more each (continuous integration runs both)'
	@echo 'make test-all run all tests, the slow ones too'
	@echo 'make cluster try a cluster on this machine: SeaweedFS, PostgreSQL, and two Dask workers of which some are killed (12 minutes)'
	@echo 'make test-browser run the tests of the page in a real browser; needs a Chromium'
	@echo 'make lint    ruff, mypy, import-linter, and the words of the glossary'
	@echo 'make bench   measure, and write the tables to benchmarks/results (some minutes)'
	@echo 'make performance write what make bench measured into docs/explanation/performance.md'
	@echo 'make structure measure what structure is found: make structure CORPUS=DIR'
	@echo 'make library measure a library: make library LIBRARY=DIR'
	@echo 'make retrieval measure what is found: make retrieval CORPUS=DIR'
	@echo 'make agents  measure what agents pay for an answer: make agents QUESTIONS=FILE CORPUS="DIR..." [MANUALS=DIR]'
	@echo 'make clients ask the server with the TypeScript SDK and the inspector; needs node, and downloads npm packages'
	@echo 'make faults  try faults of all kinds and write what came of it into docs/reference/promises.md; or make faults AREAS=kills'
	@echo 'make viewer  measure the viewer in a real browser: make viewer [PDF=FILE]'
	@echo 'make sweep   map and cut every file of a folder: make sweep CORPUS=DIR'
	@echo 'make live    ask the real services whose keys are set; says first what that costs'
	@echo 'make docs    write the generated reference pages anew'
	@echo 'make lock    write requirements.lock and requirements.hashes anew from what pyproject.toml allows'
	@echo 'make bundle  write the bundle for clients that install MCP servers by a double click to dist'
	@echo 'make dist    build and check all parts of a release in dist: make dist [MCP_NAME=io.github.OWNER/citekit]'

.venv/base: pyproject.toml requirements.lock
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(PIP) install --quiet --upgrade 'pip>=25.1'
	$(PIP) install --quiet --constraint requirements.lock --editable .
	$(BIN)/python -m compileall -q src  # children that parse may not write compiled copies
	touch $@

.venv/library: .venv/base
	$(PIP) install --quiet --constraint requirements.lock --editable '.[library,media]'
	touch $@

.venv/test: .venv/library
	$(PIP) install --quiet --constraint requirements.lock --editable '.[library,multilingual,media,speech,code,gemini,openai,scale,heic]' --group test
	touch $@

.venv/browser: .venv/test
	$(PIP) install --quiet --constraint requirements.lock --group browser
	touch $@

.venv/cluster: .venv/test
	$(PIP) install --quiet --constraint requirements.lock --group cluster
	touch $@

.venv/bench: .venv/test
	$(PIP) install --quiet --constraint requirements.lock --group bench
	touch $@

.venv/lint: .venv/test
	$(PIP) install --quiet --constraint requirements.lock --group lint
	touch $@

.venv/release: pyproject.toml .venv/base  # an environment of its own: its packages are not locked
	$(PYTHON) -m venv .venv/tools
	.venv/tools/bin/python -m pip install --quiet --upgrade 'pip>=25.1'
	.venv/tools/bin/python -m pip install --quiet --group release
	touch $@

demo: .venv/library
	$(BIN)/citekit demo

test: .venv/test
	$(BIN)/python -m pytest -m 'not slow and not long and not browser' --numprocesses=$(WORKERS) --dist=loadfile --no-loadscope-reorder

test-long: .venv/test
	$(BIN)/python -m pytest -m 'long and not slow and not browser' --numprocesses=$(WORKERS) --dist=loadfile --no-loadscope-reorder

test-all: .venv/test
	$(BIN)/python -m pytest --numprocesses=$(WORKERS) --dist=loadfile --no-loadscope-reorder

cluster: .venv/cluster  # SeaweedFS, PostgreSQL, and Dask on this machine
	$(BIN)/python -m pytest -rs --numprocesses=2 --dist=loadfile $(CLUSTER_TESTS)

test-browser: .venv/browser
	CITEKIT_BROWSER_TESTS=1 $(BIN)/python -m pytest tests/web/test_browser.py tests/web/test_marks_on_the_screen.py tests/mcp/test_evidence_card.py

lint: .venv/lint
	$(BIN)/ruff format --check .
	$(BIN)/ruff check --no-cache .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python docs/check_language.py

format: .venv/lint
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: .venv/bench
	$(BIN)/python -m benchmarks $(QUESTIONS)

performance: .venv/bench
	$(BIN)/python -m benchmarks.page

structure: .venv/bench
	$(BIN)/python -m benchmarks.structure $(CORPUS) $(AREAS)

library: .venv/test
	$(BIN)/python -m benchmarks.library $(LIBRARY)

retrieval: .venv/test
	$(BIN)/python -m benchmarks.retrieval $(CORPUS)

clients: .venv/test
	cd tests/mcp/typescript && npm ci --no-audit --no-fund --ignore-scripts && cp package-lock.json node_modules/fetched.json
	$(BIN)/python -m pytest tests/mcp/test_typescript_client.py tests/http/test_typescript_client.py

agents: .venv/test
	$(BIN)/python -m benchmarks.agents $(QUESTIONS) $(CORPUS) $(if $(MANUALS),--manuals $(MANUALS))

faults: .venv/test
	$(BIN)/python -m tests.faults $(AREAS)

viewer: .venv/browser
	$(BIN)/python -m benchmarks.viewer $(PDF)

sweep: .venv/test
	$(BIN)/python -m benchmarks.sweep $(CORPUS)

live: .venv/test
	$(BIN)/python -m tests.live

docs: .venv/test
	$(BIN)/python docs/generate_cli.py
	$(BIN)/python docs/generate_mcp.py
	$(BIN)/python docs/generate_settings.py
	$(BIN)/python docs/generate_faults.py

lock: .venv/lint .venv/release
	$(PIP) freeze --exclude-editable | LC_ALL=C sort -f > requirements.lock
	.venv/tools/bin/uv pip compile --quiet --generate-hashes --no-deps --no-annotate --no-header --no-emit-index-url \
		--no-emit-find-links --output-file requirements.hashes requirements.lock

bundle:
	$(PYTHON) -m release --bundle

dist: .venv/release
	.venv/tools/bin/python -m release $(MCP_NAME)

clean:
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache build dist
