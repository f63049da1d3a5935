# `make run` starts Etui, `make test` proves it. Both need Python 3.11 or newer and make, and nothing else.

PYTHON ?= python3
PORT ?=
VENV := .venv
TOOLS := .venv-tools
export PYTHON

.PHONY: run test test-fast lint format lock bench clean

run: $(VENV)/.host $(TOOLS)/.made
	@ETUI_TOOLS_ENV="$(CURDIR)/$(TOOLS)" $(if $(PORT),ETUI_PORT="$(PORT)") exec $(VENV)/bin/etui serve

test: $(VENV)/.test
	@$(MAKE) --no-print-directory -j 2 $(TOOLS)/.made lint
	@scripts/chromium
	@scripts/kotoba-wheel $(VENV)/kotoba-wheel $(VENV)/bin/python
	@$(VENV)/bin/python -m pytest -n 3 --dist loadfile

test-fast: $(VENV)/.test $(TOOLS)/.made
	@scripts/kotoba-wheel $(VENV)/kotoba-wheel $(VENV)/bin/python
	@$(VENV)/bin/python -m pytest -n 2 -m "not slow and not browser"

lint: $(VENV)/.test
	@$(VENV)/bin/ruff check
	@$(VENV)/bin/ruff format --check
	@$(VENV)/bin/mypy --num-workers 2

format: $(VENV)/.test
	@$(VENV)/bin/ruff format
	@$(VENV)/bin/ruff check --fix

lock: $(VENV)/.test
	@$(PYTHON) scripts/lock

bench: $(VENV)/.test $(TOOLS)/.made
	@for one in bench/*.py; do echo "== $$one"; $(VENV)/bin/python $$one; done

clean:
	rm -rf $(VENV) $(TOOLS)

$(VENV)/.host: requirements/host.txt pyproject.toml scripts/venv
	@echo "Preparing Etui (once, about a minute) ..."
	@scripts/venv $(VENV) requirements/host.txt .
	@touch $@

$(VENV)/.test: requirements/test.txt $(VENV)/.host
	@echo "Preparing the tests (once) ..."
	@scripts/venv $(VENV) requirements/test.txt
	@touch $@

$(TOOLS)/.made: requirements/tools.txt scripts/venv
	@echo "Preparing the environment that tools run in (once, half a minute) ..."
	@scripts/venv $(TOOLS) requirements/tools.txt
	@touch $@
