# Everything happens in .venv, made with plain venv and pip. PYTHON=python3.12 make demo picks another Python.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: demo test test-oldest lint format bench bench-trees bench-shapley bench-interactions setup clean

demo: .venv/ready-demo
	$(BIN)/pellucid demo

# Two workers with a thread each: more threads than cores only wait for each other.
test: .venv/ready-test
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n 2

# The same with the earliest versions that are allowed, in an environment of its own.
test-oldest: .oldest/ready
	OMP_NUM_THREADS=1 .oldest/bin/python -m pytest -n 2 -W default

lint: .venv/ready-test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: .venv/ready-test
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: .bench/ready
	.bench/bin/python benchmarks/run.py

bench-trees: .bench-trees/ready .bench-fasttreeshap/tried
	.bench-trees/bin/python benchmarks/trees.py

bench-shapley: .bench-trees/ready
	.bench-trees/bin/python benchmarks/shapley.py

bench-interactions: .bench-interactions/ready
	.bench-interactions/bin/python benchmarks/interactions.py
	.bench-interactions/bin/python benchmarks/sobol.py
	.bench-interactions/bin/python benchmarks/sage_values.py

setup: .venv/ready-test

.venv/bin/python:
	$(PYTHON) -c "import sys; sys.exit('pellucid needs Python 3.11 or later; run: PYTHON=python3.11 make ...' if sys.version_info < (3, 11) else 0)"
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --upgrade pip

.venv/ready-demo: .venv/bin/python pyproject.toml
	$(BIN)/python -m pip install --quiet --editable .
	touch $@

.venv/ready-test: .venv/bin/python pyproject.toml
	$(BIN)/python -m pip install --quiet --editable ".[test,lint]"
	touch $@

.oldest/ready: pyproject.toml tests/oldest.txt
	$(PYTHON) -m venv .oldest
	.oldest/bin/python -m pip install --quiet --editable ".[test]" --constraint tests/oldest.txt
	touch $@

# A virtual environment of its own: the peers hold back numpy and pandas.
.bench/ready: pyproject.toml
	$(PYTHON) -m venv .bench
	.bench/bin/python -m pip install --quiet --editable ".[benchmark]"
	.bench/bin/python -m pip install --quiet --no-deps "alibi>=0.9.6" "PDPbox>=0.3" "pqdm>=0.2"
	touch $@

.bench-trees/ready: pyproject.toml
	$(PYTHON) -m venv .bench-trees
	.bench-trees/bin/python -m pip install --quiet --editable ".[benchmark-trees]"
	touch $@

# artemis asks for numpy < 2, which it does not need.
.bench-interactions/ready: pyproject.toml
	$(PYTHON) -m venv .bench-interactions
	.bench-interactions/bin/python -m pip install --quiet --editable ".[benchmark-interactions]"
	.bench-interactions/bin/python -m pip install --quiet --no-deps "pyartemis>=0.1.5"
	touch $@

# fasttreeshap needs numpy < 2 and a compiler; without it the benchmark goes on and says so.
.bench-fasttreeshap/tried:
	$(PYTHON) -m venv .bench-fasttreeshap
	-.bench-fasttreeshap/bin/python -m pip install --quiet "numpy<2" "cython<3" "setuptools<70" wheel "scikit-learn<1.6" "shap<0.47" psutil
	-.bench-fasttreeshap/bin/python -m pip install --quiet --no-build-isolation --no-deps fasttreeshap
	touch $@

clean:
	rm -rf .venv .oldest .bench .bench-trees .bench-interactions .bench-fasttreeshap build dist src/pellucid.egg-info
