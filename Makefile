# SPDX-License-Identifier: MIT
# make run     open the bundled recording (without a display: build/demo.png, build/demo.csv)
# make check   what needs neither root, network, a guest nor minutes: before each commit
# make test    everything: lint, types, unit tests, the window, a kernel in a virtual machine
# make test-bounds  tests of readers, matching and analysis, with all indices of compiled loops checked
# make coverage  which lines of readers, matching and analysis their tests run
# make lab     record afresh in a virtual machine, into build/lab
# make lab-long  the recorder's tests with more functions, cycles and hostile writes: an hour
# make lab-instrumented  build a kernel with probes in its source, boot it and record
# make check-instrumented  compile all of net/ with probes, with Debian's configuration (an hour)
# make bench    how fast and right large recordings are read, next to tshark, tcpdump, trace-cmd
# make bench-kmod   what recording costs, in a virtual machine that counts instructions (an hour)
# make bench-source  what probes in the source cost, likewise
# make bench-scanner  how right and fast skbscan is on Debian's kernels (downloads 290 MB once)
# make bench-scanner-sources  skbscan on other programs' sources, against ctags and Coccinelle
# make interop  read exports and datasets with Spark, Polars and speedscope (downloads Java, PySpark, Chromium: 1 GB)
# make bench-gui  how fast the window is on 20 million calls (SCALE=0.05 for a twentieth)
# make bench-fleet  datasets of many recordings (PAIRS=10 for a small one; 200 take 20 GB)
# make checkpatch   the kernel's style checker over kmod/ (downloads 140 MB once)
# make truth    judge matches of hostile traffic by a witness in the guest's kernel (two hours)
# make sample  record the bundled recordings anew
# make slow-table   measure which test files are too slow for make check: tests/slow.txt
# make causes  provoke causes in virtual machines, compare diagnoses with them (35 min)
# make clean   remove what these made

# Set, it makes each of the thousands of processes of the tests compile every module again.
unexport PYTHONDONTWRITEBYTECODE

VENV := .venv
PYTHON := $(VENV)/bin/python
SKBVIEWER := $(PYTHON) -m skbviewer
SAMPLE := resources/samples/handshake/handshake
DEMO := build/demo
# Debian's python3 comes without the part of venv that installs pip.
VENV_PACKAGE := $(shell python3 -c 'import ensurepip, venv' 2>/dev/null || echo python3-venv)
RUN_PACKAGES := $(VENV_PACKAGE) resources/qt-packages.txt
CHECK_PACKAGES := $(VENV_PACKAGE) tests/check-packages.txt resources/qt-packages.txt
CHECK := not lab and not net and not root
TEST_PACKAGES := $(RUN_PACKAGES) tests/packages.txt tests/lab/packages.txt

.PHONY: check check-packages check-format check-lint check-contracts check-types check-tests
.PHONY: slow-table test-bounds coverage
.PHONY: causes interop bench-scanner-sources lab-instrumented check-instrumented bench-source truth
.PHONY: help run demo test lab bench bench-kmod bench-scanner bench-gui checkpatch sample clean run-packages test-packages test-plan

help:
	@sed -n 's/^# make/make/p' Makefile

run: run-packages $(VENV)/run.stamp
	@if [ -n "$$DISPLAY$$WAYLAND_DISPLAY" ]; then \
	    exec $(SKBVIEWER) $(SAMPLE).kbl $(SAMPLE).pcap; \
	else \
	    exec $(MAKE) --no-print-directory demo; \
	fi

# What the window shows, for a machine without one.
demo: export QT_QPA_PLATFORM := offscreen
demo: run-packages $(VENV)/run.stamp
	@mkdir -p build && rm -f $(DEMO).skbv
	@$(SKBVIEWER) import -o $(DEMO).skbv $(SAMPLE).kbl $(SAMPLE).pcap
	@$(SKBVIEWER) packets $(DEMO).skbv
	@set -e; \
	syn=$$($(SKBVIEWER) packets $(DEMO).skbv --json | $(PYTHON) -c \
	    'import json, sys; packets = map(json.loads, sys.stdin); \
	    print(next(p["number"] for p in packets if "[SYN]" in p["info"]))'); \
	printf '\nKernel path of packet %s, the SYN:\n\n' $$syn; \
	$(SKBVIEWER) path $(DEMO).skbv --packet $$syn --tree; \
	$(SKBVIEWER) export $(DEMO).skbv --packet $$syn --png $(DEMO).png; \
	$(SKBVIEWER) export $(DEMO).skbv --packet $$syn --csv $(DEMO).csv
	@printf '\nThere is no display here.  The view of the SYN as a picture: %s, as a table: %s,\n' \
	    $(DEMO).png $(DEMO).csv
	@printf 'the session: %s.  With a display, make run opens the window.\n' $(DEMO).skbv

# The parts share nothing, so they run beside each other, the longest first.
check: check-packages $(VENV)/test.stamp
	@$(MAKE) --no-print-directory -j2 -O -k \
	    check-tests check-types check-contracts check-lint check-format

# One worker more than there are CPUs, because some tests wait: for a guest, or for a recorder.
WORKERS = $$(( $$(nproc) + 1 ))
check-tests:
	@QT_QPA_PLATFORM=offscreen $(PYTHON) -m pytest -q -n $(WORKERS) --max-worker-restart 0 \
	    -m '$(CHECK) and not slow' --deselect tests/project/test_lint.py

check-types:
	@$(VENV)/bin/mypy

check-contracts:
	@$(VENV)/bin/lint-imports

check-lint:
	@$(VENV)/bin/ruff check

check-format:
	@$(VENV)/bin/ruff format --check

slow-table: check-packages $(VENV)/test.stamp
	@QT_QPA_PLATFORM=offscreen $(PYTHON) -m pytest -q -n 0 -p tests.cpu_seconds -m '$(CHECK)'

# numba takes code from its cache without asking whether that checks indices, hence a cache apart.
BOUNDS := NUMBA_BOUNDSCHECK=1 NUMBA_CACHE_DIR=build/numba-bounds
COMPILED_TESTS := tests/records tests/readers tests/matching tests/analysis
test-bounds: check-packages $(VENV)/test.stamp
	@$(BOUNDS) QT_QPA_PLATFORM=offscreen $(PYTHON) -m pytest -q -n auto --max-worker-restart 0 \
	    --timeout 0 -m '$(CHECK)' $(COMPILED_TESTS)

# Without the tests of compiling itself.  Tests in which numbers must wrap around fail (hence the -).
COVERAGE := NUMBA_DISABLE_JIT=1 QT_QPA_PLATFORM=offscreen $(PYTHON) -m coverage
coverage: check-packages $(VENV)/test.stamp
	-@$(COVERAGE) run -m pytest -q -n 0 --tb=no --timeout 0 -W ignore::RuntimeWarning \
	    -m '$(CHECK) and not slow' $(COMPILED_TESTS) \
	    --ignore tests/records/test_compiled.py --ignore tests/records/test_bounds.py
	@$(COVERAGE) json -q -o build/coverage.json
	@$(PYTHON) -m tests.project.coverage_table build/coverage.json

test: test-plan test-packages $(VENV)/test.stamp
	@QT_QPA_PLATFORM=offscreen $(PYTHON) -m pytest -n $(WORKERS) --max-worker-restart 0 --durations 25

lab: test-packages $(VENV)/test.stamp
	$(PYTHON) -m tests.lab --out build/lab

lab-instrumented: test-packages $(VENV)/test.stamp
	$(PYTHON) -m pytest tests/lab/test_instrumented.py

check-instrumented: test-packages $(VENV)/test.stamp
	$(PYTHON) -m tests.lab.check_instrumented --out build/check-instrumented

bench: test-packages $(VENV)/test.stamp
	@.ci/debian-packages.sh tests/bench/load-packages.txt
	$(PYTHON) -m tests.bench.load --scale $(SCALE)

bench-kmod: test-packages $(VENV)/test.stamp
	@.ci/debian-packages.sh tests/bench/packages.txt
	$(PYTHON) -m tests.bench.kmod --out build/bench

bench-source: test-packages $(VENV)/test.stamp
	@.ci/debian-packages.sh tests/bench/packages.txt
	$(PYTHON) -m tests.bench.source --out build/bench/source

bench-scanner: test-packages $(VENV)/test.stamp
	@.ci/debian-packages.sh tests/bench/scanner-packages.txt
	$(PYTHON) -m tests.bench.scanner --out build/scanner

bench-scanner-sources: test-packages $(VENV)/test.stamp
	@.ci/debian-packages.sh tests/bench/scanner-packages.txt
	$(PYTHON) -m tests.bench.scanner_sources --out build/scanner-sources

# Java and PySpark are large, so this is no part of make test.  Debian's npm conflicts with a Node.js
# from elsewhere, which has its own.
interop: test-packages $(VENV)/test.stamp
	@.ci/debian-packages.sh tests/interop/packages.txt
	@command -v npm >/dev/null || .ci/debian-packages.sh npm
	@$(PYTHON) -m pip install --quiet --disable-pip-version-check -r tests/interop/requirements.txt
	@npm install --silent --no-audit --no-fund --prefix build/npm speedscope@1
	$(PYTHON) -m pytest -q -n 0 tests/interop/check_*.py

SCALE := 1
bench-gui: test-packages $(VENV)/test.stamp
	$(PYTHON) -m tests.bench.gui --scale $(SCALE)

PAIRS := 200
bench-fleet: test-packages $(VENV)/test.stamp
	$(PYTHON) -m tests.bench.fleet --pairs $(PAIRS)

# The kernel's own checker; its package is large, so it is no part of make test.
checkpatch: test-packages $(VENV)/test.stamp
	$(PYTHON) -m tests.kmod.checkpatch build/checkpatch

lab-long: test-packages $(VENV)/test.stamp
	LAB_LONG=1 $(PYTHON) -m pytest tests/lab tests/e2e/test_scenarios.py

causes: test-packages $(VENV)/test.stamp
	@$(PYTHON) -m tests.causes.record
	@$(PYTHON) -m tests.causes

truth: test-packages $(VENV)/test.stamp
	$(PYTHON) -m tests.truth.record
	$(PYTHON) -m tests.truth --recordings build/truth/recordings

# The tables of docs/remade.md; PARTS names some of them.
remade: $(VENV)/test.stamp
	$(PYTHON) -m tests.remade $(PARTS)

sample: test-packages $(VENV)/test.stamp
	$(PYTHON) -m tests.lab --out build/lab --samples
	$(PYTHON) -m tests.e2e.samples

clean:
	rm -rf build $(VENV) dist .mypy_cache .ruff_cache .pytest_cache .import_linter_cache
	find . -name __pycache__ -prune -exec rm -rf {} +

test-plan:
	@echo 'make test: installs what is missing of'
	@echo '  Debian packages, as root through apt: those in'
	@echo '    $(TEST_PACKAGES)'
	@echo '  Python packages, into $(VENV): those in pyproject.toml with the extra "test" (500 MB)'
	@echo 'and downloads Debian kernels, headers and a source (240 MB), for virtual machines and builds.'
	@echo 'On two cores it takes half an hour to an hour.'

# Installs nothing, not even as root.
check-packages:
	@.ci/debian-packages.sh -n $(CHECK_PACKAGES)

run-packages:
	@.ci/debian-packages.sh $(RUN_PACKAGES)

test-packages:
	@.ci/debian-packages.sh $(TEST_PACKAGES)

$(VENV)/made.stamp: | run-packages
	@python3 -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or later is needed")'
	python3 -m venv $(VENV)
	@touch $@

$(VENV)/run.stamp: pyproject.toml $(VENV)/made.stamp
	@echo 'Installing skbviewer and what it needs into $(VENV) (about 400 MB) ...'
	$(PYTHON) -m pip install --quiet --disable-pip-version-check --editable .
	@echo 'Compiling what reads recordings for this machine ...'
	@$(SKBVIEWER) import -o $(VENV)/first.skbv $(SAMPLE).kbl $(SAMPLE).pcap >/dev/null
	@touch $@

$(VENV)/test.stamp: pyproject.toml $(VENV)/made.stamp
	@echo 'Installing skbviewer, what it needs and its test tools into $(VENV) (about 500 MB) ...'
	$(PYTHON) -m pip install --quiet --disable-pip-version-check --editable '.[test]'
	@touch $@ $(VENV)/run.stamp
