# `make help` lists what there is.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
SERVERS ?= .venv-servers
SETUP := $(VENV)/.set-up
RUNS := $(VENV)/.runs
INSTALL = scripts/install $(VENV) -c constraints.txt -e
SOURCES := $(shell find optimizer metrics search_spaces -name '*.py' -o -name '*.toml' -o -name '*.label' -o -name '*.jsonl' -o -name '*.json' -o -name '*.html' -o -name 'SKILL.md')

.DEFAULT_GOAL := help
.PHONY: help setup smollm2 run test test-servers lint types wheel docs docs-commands notebook check constraints bench-metrics bench-models bench-estimates bench-rephrasings bench-workers bench-serving bench-coverage promise experiments evidence debian clean

help:  ## List the commands
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

# The editable install is a tree of links: it is made again whenever a file has come or gone.
$(VENV)/.files: FORCE
	@mkdir -p $(VENV)
	@printf '%s\n' $(sort $(SOURCES)) | cmp -s - $@ || printf '%s\n' $(sort $(SOURCES)) > $@
FORCE:

$(SETUP): pyproject.toml setup.cfg constraints.txt $(VENV)/.files
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(INSTALL) '.[local,gguf,dspy,figures,parquet,postgres,mlflow,hub,serve,docs,dev]'
	@touch $@ $(RUNS)

# What the main job needs, and no more: 71 packages in place of 207.
$(RUNS): pyproject.toml setup.cfg constraints.txt $(VENV)/.files
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(INSTALL) '.[local]'
	@touch $@

# A real language model for the tests: those that need it are skipped where it can't be had. To fetch it anew would
# remove its faster copy.
smollm2: | $(SETUP)
	@$(BIN)/psopt models list | grep -q ', fetched: ' || $(BIN)/psopt models fetch smollm2 >/dev/null || echo "SmolLM2 is not here: tests that need it will be skipped"

setup: $(SETUP) smollm2  ## Make the virtual environment with everything in it

run: $(RUNS)  ## Optimize a prompt for TREC with the embedded model: the main job
	$(BIN)/psopt optimize --dataset trec

debian:
	@scripts/debian-packages

test: $(SETUP) smollm2 debian  ## Run the tests; SYSTEM_PACKAGES=no installs no Debian packages
	$(BIN)/pytest -n 4 --dist loadscope --no-loadscope-reorder

$(SERVERS)/.set-up: tests/servers/requirements.txt scripts/server-packages | $(SETUP)
	scripts/server-packages $(VENV) $(SERVERS)
	@touch $@

test-servers: $(SERVERS)/.set-up  ## Run every verb against real servers: transformers serve, llama.cpp, LiteLLM's proxy
	PSOPT_TEST_SERVERS=$(SERVERS) $(BIN)/pytest tests/servers

lint: $(SETUP)  ## Check format and style, and that what is imported is declared
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/deptry optimizer metrics search_spaces
	$(BIN)/python scripts/check-words

types: $(SETUP)  ## Check types, strictly
	$(BIN)/mypy -p psopt -p tests

wheel: $(SETUP)  ## Build the wheel, install it elsewhere, and use it there
	scripts/check-wheel

docs: $(SETUP)  ## Build the pages into build/site, strictly and without a network
	$(BIN)/zensical build --clean --strict

check: lint types test wheel docs  ## Everything CI checks

notebook: $(SETUP)  ## Execute examples/notebook.ipynb anew and keep its outputs
	$(BIN)/python scripts/run-notebook

docs-commands: $(SETUP)  ## Write docs/commands anew, a page a command
	scripts/write-commands

constraints: $(SETUP)  ## Write constraints.txt anew from what is installed
	scripts/write-constraints

bench-metrics: $(SETUP)  ## Time the metrics
	$(BIN)/python benchmarks/metrics.py

bench-models: $(SETUP)  ## Time the engine around language models beside other clients, and local models
	$(BIN)/python benchmarks/models.py
	$(BIN)/python benchmarks/hf.py
	$(BIN)/python benchmarks/gguf_files.py

bench-estimates: $(SETUP)  ## Compare what runs take with what --dry-run has said of them
	$(BIN)/python benchmarks/estimates.py

bench-rephrasings: $(SETUP)  ## Measure how much rephrasings differ, and what S they show
	$(BIN)/python benchmarks/rephrasings.py

bench-workers: $(SETUP)  ## Time 1, 2 and 4 workers on one study
	$(BIN)/python benchmarks/workers.py

bench-serving: $(SETUP)  ## Measure how much of the engine's rate `psopt serve` keeps
	$(BIN)/python benchmarks/serving.py

bench-coverage: $(SETUP)  ## Count how often intervals hold the truth and tests err: benchmarks/coverage.md
	$(BIN)/python benchmarks/coverage.py
	$(BIN)/python benchmarks/coverage_ordered.py
	$(BIN)/python benchmarks/coverage_open.py
	$(BIN)/python benchmarks/coverage_macro.py

promise: $(SETUP)  ## Count how often a worse prompt is handed back, and what of the gain is kept; takes half an hour
	$(BIN)/python experiments/promise.py
	$(BIN)/python experiments/write_results.py

EXPERIMENTS := table1 appendix_a appendix_b appendix_c how_many_rephrasings prosa prosa_free what_shakes transfer ablation racing groups_on_trec dspy_equal_calls

experiments: $(SETUP)  ## Run the experiments that need no key (TREC's files in PSOPT_DATA_DIR); takes about an hour
	@for name in $(EXPERIMENTS); do \
		start=$$(date +%s); $(BIN)/python experiments/$$name.py || exit 1; \
		echo "$$name took $$(($$(date +%s) - start)) s"; \
	done
	$(BIN)/python experiments/write_results.py

# Messages to a shop come from PyPI; TREC and people's wordings of it where PSOPT_DATA_DIR says they are.
EVIDENCE := build/evidence
EVIDENCE_SETS := messages $(if $(PSOPT_DATA_DIR),trec)
ON_SMOLLM2 = $(BIN)/python experiments/lm_$(1).py smollm2 --results $(EVIDENCE)

evidence: $(SETUP) smollm2  ## Measure SmolLM2 in short, on one seed: build/evidence/RESULTS.md; takes under an hour on two cores
	@echo "a table of strategies, whole runs, racing and the promise on $(EVIDENCE_SETS): under an hour on two cores; resumed where it stopped"
	$(call ON_SMOLLM2,table1) --sets $(EVIDENCE_SETS)
	$(BIN)/python experiments/shipping.py smollm2 --results $(EVIDENCE) --sets $(EVIDENCE_SETS) --seeds 0
	$(call ON_SMOLLM2,racing) --sets messages --seeds 0
	$(if $(PSOPT_DATA_DIR),$(call ON_SMOLLM2,promise) --seeds 3)
	$(BIN)/python experiments/write_results.py --results $(EVIDENCE) --page $(EVIDENCE)/RESULTS.md

clean:  ## Remove what was built, but for the virtual environment and the editable install's links
	rm -rf dist .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find build -mindepth 1 -maxdepth 1 -not -name '__editable__*' -exec rm -rf {} + 2>/dev/null || true
