# Everything happens in environments made with plain venv and pip. PYTHON=python3.12 make test picks another Python;
# an environment that another Python has made is made anew.

# Benchmarks, readers and the newest libraries take the newest Python at hand, everything else takes python3.
ifneq ($(filter bench% test-newest test-readers,$(MAKECMDGOALS)),)
PYTHON ?= $(shell .ci/pythons --highest)
endif
PYTHON ?= python3
VERSION := $(shell $(PYTHON) -c "import sys; print('%d.%d.%d' % sys.version_info[:3])")
BIN := .venv/bin

# The versions of all libraries that were tested with this Python, if it is one that we test; pip reads them from here.
PINS := $(wildcard constraints/$(basename $(VERSION)).txt)
pinned = PIP_CONSTRAINT=$(PINS) PIP_BUILD_CONSTRAINT=$(PINS) $(1) -m pip install --quiet
unpinned = $(1) -m pip install --quiet

# Two workers with a thread each: more threads than cores only wait for each other. Bytecode is kept, for the second worker and for
# the commands that tests start.
tested = $(1) tests/versions.py && PYTHONDONTWRITEBYTECODE= OMP_NUM_THREADS=1 $(1) -m pytest -n 2

.PHONY: demo measure test test-newest test-oldest test-readers golden lint format setup constraints clean
.PHONY: bench bench-checks bench-trees bench-shapley bench-interactions bench-local bench-counterfactuals bench-examples

demo: .venv/ready-demo
	$(BIN)/pellucid demo

test: .venv/ready-test
	$(call tested,$(BIN)/python)

# The same with the latest release of every library.
test-newest: .newest/python-$(VERSION)
	$(call unpinned,.newest/bin/python) --upgrade --upgrade-strategy eager --editable ".[test]"
	$(call tested,.newest/bin/python)

# The same with the earliest that pyproject.toml allows.
test-oldest: .oldest/ready
	$(call tested,.oldest/bin/python)

# Models of several releases of each library, read by each other's.
test-readers:
	$(PYTHON) tests/readers/run.py

# The sentences in tests/golden as they are said today; look at the diff.
golden: .venv/ready-test
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest --rewrite-golden

lint: .venv/ready-test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# How much code there is and how it hangs together.
measure:
	$(PYTHON) tests/project/measure.py

format: .venv/ready-test
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: .bench/ready
	.bench/bin/python benchmarks/run.py

bench-local: .bench/ready
	.bench/bin/python benchmarks/lime_surrogates.py
	.bench/bin/python benchmarks/anchors.py

bench-trees: .bench-trees/ready .bench-fasttreeshap/tried
	.bench-trees/bin/python benchmarks/trees.py
	.bench-trees/bin/python benchmarks/probabilities.py

bench-checks: .bench-trees/ready
	.bench-trees/bin/python benchmarks/checks.py

bench-shapley: .bench-trees/ready
	.bench-trees/bin/python benchmarks/shapley.py

bench-interactions: .bench-interactions/ready
	.bench-interactions/bin/python benchmarks/interactions.py
	.bench-interactions/bin/python benchmarks/sobol.py
	.bench-interactions/bin/python benchmarks/sage_values.py

bench-examples: .bench-examples/ready
	.bench-examples/bin/python benchmarks/examples.py
	.bench-examples/bin/python benchmarks/influence.py

bench-counterfactuals: .bench-counterfactuals/ready .bench-alibi/tried
	.bench-counterfactuals/bin/python benchmarks/counterfactuals.py
	.bench-counterfactuals/bin/python benchmarks/counterfactuals_sizes.py

setup: .venv/ready-test

# What is installed from now on: the latest versions of today, for each Python that has such a file. Test them before you commit.
# PyTorch is left out: which of its builds is wanted depends on the machine.
EXTRAS := test lint polars arrow xgboost lightgbm catboost onnx skops images
constraints: .constraints/ready
	for file in constraints/3.*.txt; do \
		version=$$(basename $$file .txt); \
		.constraints/bin/uv pip compile pyproject.toml --upgrade --universal --python-version $$version \
			$(EXTRAS:%=--extra %) --no-annotate --no-emit-index-url --quiet \
			--custom-compile-command "make constraints" --output-file $$file; \
	done

# An empty environment, marked with the Python that made it.
%/python-$(VERSION):
	$(PYTHON) -c "import sys; sys.exit('pellucid needs Python 3.11 or later; run: PYTHON=python3.11 make ...' if sys.version_info < (3, 11) else 0)"
	rm -rf $*
	$(PYTHON) -m venv $*
	touch $@

.venv/ready-demo: .venv/python-$(VERSION) pyproject.toml $(PINS)
	$(if $(PINS),,@echo "no tested versions for Python $(VERSION) in constraints/: the latest are installed")
	$(call pinned,$(BIN)/python) --editable .
	touch $@

.venv/ready-test: .venv/python-$(VERSION) pyproject.toml $(PINS)
	$(if $(PINS),,@echo "no tested versions for Python $(VERSION) in constraints/: the latest are installed")
	$(call pinned,$(BIN)/python) --editable ".[test,lint]"
	touch $@

.oldest/ready: .oldest/python-$(VERSION) pyproject.toml constraints/oldest.txt
	$(call unpinned,.oldest/bin/python) --editable ".[test]" --constraint constraints/oldest.txt
	touch $@

.constraints/ready: .constraints/python-$(VERSION)
	$(call unpinned,.constraints/bin/python) uv
	touch $@

# Environments of their own: the peers hold back numpy and pandas.
.bench/ready: .bench/python-$(VERSION) pyproject.toml
	$(call unpinned,.bench/bin/python) --editable ".[benchmark]"
	$(call unpinned,.bench/bin/python) --no-deps "alibi>=0.9.6" "PDPbox>=0.3" "pqdm>=0.2" "anchor-exp>=0.0.2"
	touch $@

.bench-trees/ready: .bench-trees/python-$(VERSION) pyproject.toml
	$(call unpinned,.bench-trees/bin/python) --editable ".[benchmark-trees]"
	touch $@

# artemis asks for numpy < 2, which it does not need.
.bench-interactions/ready: .bench-interactions/python-$(VERSION) pyproject.toml
	$(call unpinned,.bench-interactions/bin/python) --editable ".[benchmark-interactions]"
	$(call unpinned,.bench-interactions/bin/python) --no-deps "pyartemis>=0.1.5"
	touch $@

# dice-ml asks for the xgboost that brings the libraries of graphics cards, NICE for numpy < 2, cfnow for opencv with windows.
.bench-counterfactuals/ready: .bench-counterfactuals/python-$(VERSION) pyproject.toml
	$(call unpinned,.bench-counterfactuals/bin/python) --editable ".[benchmark-counterfactuals]"
	$(call unpinned,.bench-counterfactuals/bin/python) --no-deps "dice-ml>=0.12" "raiutils>=0.4" "NICEx>=0.2.3" "cfnow>=0.0.6" "counterplots>=0.0.7"
	touch $@

# ProtoDash (aix360) does not work with numpy 2.4 or later; the rest of aix360 asks for much more than it needs.
.bench-examples/ready: .bench-examples/python-$(VERSION) pyproject.toml
	$(call unpinned,.bench-examples/bin/python) --editable ".[benchmark-examples]"
	$(call unpinned,.bench-examples/bin/python) --no-deps "aix360>=0.3" "mmd-critic>=0.1.2"
	touch $@

# alibi's counterfactuals need TensorFlow < 2.15, so Python 3.11 and numpy < 2; without it the benchmark goes on and says so.
.bench-alibi/tried:
	$$(.ci/pythons 2>/dev/null | head -n 1 | cut -f 2) -m venv --clear .bench-alibi
	-$(call unpinned,.bench-alibi/bin/python) "tensorflow-cpu<2.15" "numpy<2" "pandas<3" scikit-learn xgboost-cpu lightgbm "spacy<3.8" click "transformers<5" "dill<0.4" attrs scikit-image matplotlib
	-$(call unpinned,.bench-alibi/bin/python) --no-deps "alibi>=0.9.6"
	touch $@

# fasttreeshap needs numpy < 2, a compiler and an early Python; without it the benchmark goes on and says so.
.bench-fasttreeshap/tried:
	$$(.ci/pythons 2>/dev/null | head -n 1 | cut -f 2) -m venv --clear .bench-fasttreeshap
	-$(call unpinned,.bench-fasttreeshap/bin/python) "numpy<2" "cython<3" "setuptools<70" wheel "scikit-learn<1.6" "shap<0.47" psutil
	-$(call unpinned,.bench-fasttreeshap/bin/python) --no-build-isolation --no-deps fasttreeshap
	touch $@

clean:
	rm -rf .venv .newest .oldest .readers .constraints .bench .bench-trees .bench-interactions .bench-fasttreeshap \
		.bench-counterfactuals .bench-examples .bench-alibi build dist src/pellucid.egg-info
