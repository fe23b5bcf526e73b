# Two commands do everything on a fresh machine with Python >= 3.11 (pip and venv) and make:
#   make demo   installs, checks a real pattern that the repository ships, and re-checks its certificate
#   make test   installs, then runs every check that continuous integration runs
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
OLDEST := .venv-oldest
WORKERS ?= auto
# Continuous integration adds the extra `test-torch` (PyTorch, entmax), pinned by a constraints file: see .ci/run.
EXTRAS ?= fast,lint,test
CONSTRAINTS ?= /dev/null

.PHONY: demo test lint unit exhaustive oldest bench clean

demo: $(VENV)/.installed
	$(BIN)/sparseuap check tests/cases/hf_bigbird_train_n24.json --certificate out/bigbird.json
	$(BIN)/sparseuap recheck out/bigbird.json
	@echo "The certificate is in out/bigbird.json."
	@echo
	@echo "A pattern that fails (exit status 1), with the sentence that says what is missing:"
	$(BIN)/sparseuap check fixed:n=23,w=5 || true
	@echo
	@echo "The proof, built and run in exact arithmetic on a small case:"
	$(BIN)/sparseuap prove strided:n=5,w=3 --d 1 --delta 1/2 --target sort
	@echo
	@echo "The same case as one page to look at, with the relaxed network and a player of its layers:"
	$(BIN)/sparseuap report strided:n=5,w=3 --d 1 --delta 1/2 --target sort --construction relay --out out/report

test: $(VENV)/.tested lint unit

lint: $(VENV)/.tested
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

unit: $(VENV)/.tested
	$(BIN)/pytest -n $(WORKERS) --cov --cov-report=term

exhaustive: $(VENV)/.tested
	$(BIN)/pytest -n $(WORKERS) -m exhaustive

oldest: $(OLDEST)/.tested
	$(OLDEST)/bin/pytest -n $(WORKERS)

bench: $(VENV)/.benched
	$(BIN)/python -m benchmarks

clean:
	rm -rf $(VENV) $(OLDEST) out .coverage .mypy_cache .pytest_cache .ruff_cache .hypothesis *.egg-info

$(VENV)/.installed: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --editable .
	mkdir -p out
	touch $@

$(VENV)/.tested: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --editable ".[$(EXTRAS)]" --constraint $(CONSTRAINTS)
	touch $@

$(OLDEST)/.tested: pyproject.toml oldest.txt
	$(PYTHON) -m venv $(OLDEST)
	$(OLDEST)/bin/pip install --quiet --editable ".[fast,test]" --constraint oldest.txt
	touch $@

$(VENV)/.benched: pyproject.toml constraints-ci.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --editable ".[bench,dask,fast,torch]" --constraint constraints-ci.txt
	touch $@
