# make report     the pretrained observers: evaluate, draw, write report/index.html
# make test       everything the CI runs
# make exhaustive the slow tests too, which rarely tell more: a phone, trials of benchmarks, the paper from nothing (a quarter of an hour)
# make torture    hundreds of kills, thousands of damaged files: an hour, and a table of what came of them
# make reproduce  the paper from nothing, hardly trained: populations, observers, evaluations, report
# make mesh       several processes with several devices each, some of them lost: ten minutes
# make check      style, types, and what no code may do
# make docs       the API reference, build/api/index.html, and docs/observers.md
# make bench      throughput on this machine
# make lock       resolve requirements.lock again (needs uv), and write its bill of materials

PYTHON ?= python3
# several files at a time: most of the time goes into compiling, one program after the other; in the order of tests/conftest.py
PYTEST_ARGS ?= -n auto --maxprocesses 4 --dist loadfile --no-loadscope-reorder

# requirements.lock holds the CPU build of JAX. On a GPU: pip install '.[cuda]', then make … JAX_PLATFORMS=cuda
export JAX_PLATFORMS ?= cpu
export TF_CPP_MIN_LOG_LEVEL ?= 2
# some machines forbid Python to keep what it compiled: every test that starts a process would compile all of tomnet anew
export PYTHONDONTWRITEBYTECODE =

BIN := .venv/bin
STAMP := .venv/installed

.PHONY: report test exhaustive torture reproduce mesh check docs bench setup chromium lock sbom clean

report: setup
	$(BIN)/tomnet report --out report

test: setup chromium
	$(BIN)/pytest $(PYTEST_ARGS)

exhaustive: setup chromium
	$(BIN)/pytest $(PYTEST_ARGS) --slow

# of each trainer, 200 processes are killed; make KILLS=20 torture for a shorter hour
KILLS ?= 200

torture: setup
	$(BIN)/pytest -n 0 tests/faults --torture --kills $(KILLS)

reproduce: setup
	$(BIN)/tomnet reproduce --preset smoke --seeds 1 --out build/reproduce

mesh: setup
	$(BIN)/pytest -n 0 tests/mesh --mesh

# the tests of the page drive it in a real browser: one without windows takes less than half as long
INSTALL := apt-get install -y -qq --no-install-recommends

chromium:
	@command -v chromium-headless-shell >/dev/null || command -v chromium >/dev/null || { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && \
		echo 'installing Chromium, for the tests of the page' && apt-get update -qq && \
		{ $(INSTALL) chromium-headless-shell fonts-liberation >/dev/null 2>&1 || $(INSTALL) chromium fonts-liberation >/dev/null; }; } || \
		echo 'no Chromium: the tests of the page are skipped (on Debian, apt-get install chromium-headless-shell or chromium brings it)'

check: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pyright
	$(BIN)/python tools/forbidden.py tomnet

docs: setup
	$(BIN)/python -m tomnet.cards.overview docs/observers.md
	# pdoc shows what is loaded already
	$(BIN)/python -c 'from tomnet import *; from pdoc.__main__ import cli; cli()' \
		tomnet '!tomnet.experiments.' --docformat markdown --no-show-source --output-directory build/api

bench: setup
	$(BIN)/tomnet bench

setup: $(STAMP)

$(STAMP): requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || \
		{ echo 'tomnet needs Python 3.11 or newer, and $(PYTHON) is not: make PYTHON=/path/to/python3.11' >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || \
		{ echo '$(PYTHON) has no venv module: install it (on Debian and Ubuntu, the package python3-venv)' >&2; exit 1; }
	@echo 'installing into .venv (about a minute)'
	@$(PYTHON) -m venv .venv
	@$(BIN)/python -m pip install -qq --disable-pip-version-check --require-hashes -r requirements.lock
	@$(BIN)/python -m pip install -qq --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@

lock:
	uv pip compile pyproject.toml --extra dev --extra docs --universal --python-version 3.11 --generate-hashes \
		--no-header --annotation-style line --quiet -o requirements.lock
	$(MAKE) sbom

sbom:
	$(PYTHON) tools/sbom.py requirements.lock sbom.cdx.json

clean:
	rm -rf .venv .cache .hypothesis .pytest_cache .ruff_cache build dist report
