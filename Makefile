# Two commands on a fresh machine: `make demo` and `make test`. The rest: check, index, docs, docs-check, site, gallery, wheels, validate, price, bound, bench, speed, ns3, clean.
# The first build needs the Python and Rust package registries; afterwards nothing here touches the network.

PYTHON ?= python3
CARGO  ?= cargo
VENV   := .venv
BIN    := $(VENV)/bin

.DEFAULT_GOAL := build
.DELETE_ON_ERROR:
.PHONY: doctor doctor-test build built core demo test test-rust test-python check lint lint-python lint-rust index docs docs-check site gallery wheels validate price bound bench speed ns3 clean

# ------------------------------------------------------------------------------------------------------------ doctor
# One line with the remedy for whatever is missing. It asks the tools alone: no network, nothing written.

MISSING = { echo "doctor: $(1)" >&2; exit 1; }
comma := ,
RUST_1_88 = $(PYTHON) -c 'import subprocess as s, sys; v = s.run(["$(1)", "--version"], capture_output=True).stdout.split(); \
  sys.exit(not v or tuple(map(int, v[1].split(b".")[:2])) < (1, 88))'

doctor:
	@command -v $(PYTHON) >/dev/null || $(call MISSING,no $(PYTHON). Install Python 3.11 or newer$(comma) or name one: make PYTHON=/path/to/python3)
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || $(call MISSING,$(PYTHON) is $$($(PYTHON) -V 2>&1); needs 3.11 or newer. Name another: make PYTHON=/path/to/python3)
	@$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null \
	  || $(call MISSING,$(PYTHON) has no venv module. On Debian or Ubuntu: apt-get install python3-venv)
	@command -v $(CARGO) >/dev/null || $(call MISSING,no $(CARGO). Install Rust 1.88 or newer with rustup$(comma) and put cargo on the PATH)
	@$(call RUST_1_88,$(CARGO)) || $(call MISSING,needs cargo 1.88 or newer (rustup update stable); $(CARGO) says: $$($(CARGO) --version 2>&1 | head -n 1))
	@command -v rustc >/dev/null || $(call MISSING,no rustc. Install Rust 1.88 or newer with rustup$(comma) and put rustc on the PATH)
	@$(call RUST_1_88,rustc) || $(call MISSING,needs rustc 1.88 or newer (rustup update stable); rustc says: $$(rustc --version 2>&1 | head -n 1))
	@command -v cc >/dev/null \
	  || $(call MISSING,no C compiler to link with. On Debian or Ubuntu: apt-get install gcc libc6-dev)

doctor-test: doctor
	@$(CARGO) fmt --version >/dev/null 2>&1 || $(call MISSING,cargo has no fmt: rustup component add rustfmt)
	@$(CARGO) clippy --version >/dev/null 2>&1 || $(call MISSING,cargo has no clippy: rustup component add clippy)

# ------------------------------------------------------------------------------------------------------------- build
# The package is installed editable: Python changes need no build, Rust changes need `make build`. The first time pip fetches
# the pins while the core is compiled, by the command that pip gives to maturin: pip then finds the core as it has to be.

SOURCES := Cargo.toml Cargo.lock pyproject.toml $(wildcard $(foreach d,* */* */*/* */*/*/*,crates/$(d)/*.rs)) $(wildcard crates/*/Cargo.toml)

build:
	@$(MAKE) --no-print-directory $(if $(filter -j% --jobserver%,$(MAKEFLAGS)),,-j2) built

built: $(VENV)/.built
	@:

PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
WITH_TOOLS = PATH="$(CURDIR)/$(BIN):$$PATH" CARGO="$$(command -v $(CARGO))"
NO_PINS = $(call MISSING,pip could not install the pins. "No matching distribution" means that the Python package registry cannot be reached: check the network or proxy$(comma) then make build)
NOT_BUILT = $(call MISSING,the build failed$(comma) see above. If cargo could not download: the Rust package registry cannot be reached; check the network or proxy$(comma) then make build)

$(VENV)/.maturin: python/requirements.lock | doctor
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(PIP) $$(grep '^maturin==' python/requirements.lock) || $(NO_PINS)
	@touch $@

$(VENV)/.pins: $(VENV)/.maturin
	@$(PIP) -r python/requirements.lock || $(NO_PINS)
	@touch $@

# The driver of a browser, for tests of pages where these must run.
$(VENV)/.browser: python/requirements-browser.lock $(VENV)/.pins
	@$(PIP) -r python/requirements-browser.lock || $(NO_PINS)
	@touch $@

$(VENV)/.compiled: $(VENV)/.maturin $(SOURCES)
	@mkdir -p target
	@$(WITH_TOOLS) $(BIN)/maturin pep517 build-wheel -i "$(CURDIR)/$(BIN)/python" --compatibility off --editable \
	  >target/compiled.log 2>&1 || { cat target/compiled.log >&2; $(NOT_BUILT); }
	@touch $@

$(VENV)/.built: $(VENV)/.pins $(VENV)/.compiled
	@$(WITH_TOOLS) $(PIP) --no-build-isolation --no-deps --editable . || $(NOT_BUILT)
	@$(BIN)/interlayer --version
	@touch $@

# ------------------------------------------------------------------------------------------------------ what it does

demo: build
	$(BIN)/interlayer reproduce lle-fig-3.7a lle-fig-3.7b --out demo
	@echo
	@echo "Figure and page: demo/index.html. How to read it: docs/reading-a-verdict.md"
	@echo "Next:            docs/first-hour.md, or one of"
	@echo "  $(BIN)/interlayer run examples/lecture-hall.toml --series --out results"
	@echo "  $(BIN)/interlayer compare examples/bursty-link.toml --schemes none,lle-tcp"
	@echo "  $(BIN)/interlayer sweep examples/single-hop.toml --over scheme=none,lle-tcp --quick"

# The same random cases every time: a failure here is a change. `make validate` draws new ones, and more.
SEED ?= 802

# Python's tests run over a core compiled with the profile of the Rust tests and together with them: the workspace is compiled
# for clippy and for tests, and not a third time. It stands beside the installed package, which keeps its own.
SITE := target/site
# Processes that share the Python tests: a test of the simulator is one thread for the most part.
WORKERS ?= 2
# A live run takes up to half a processor: it looks at the clock before something is due. Of six beside each other on two
# processors one in two runs of these tests missed a tolerance, of three none in six; both take half a minute.
LIVE_WORKERS ?= 3
TESTED := PYTHONPATH="$(CURDIR)/$(SITE)"
export PYO3_BUILD_EXTENSION_MODULE := 1
export PYO3_PYTHON := $(CURDIR)/$(BIN)/python

core: $(VENV)/.pins
	@$(CARGO) build --profile test -p interlayer-module --locked --quiet
	@rm -rf $(SITE)/interlayer && mkdir -p $(SITE)/interlayer
	@ln -s $(CURDIR)/python/interlayer/* $(SITE)/interlayer/
	@rm -f $(SITE)/interlayer/_core*.so && cp target/debug/lib_core.so $(SITE)/interlayer/_core.abi3.so

# What uses one processor runs beside what else there is to do. Live runs have the machine to themselves.
test: doctor-test $(VENV)/.pins $(if $(INTERLAYER_REQUIRE_BROWSER),$(VENV)/.browser)
	@tools/stage --begin
	@tools/stage "formatting and lints, clippy's compilation included" $(MAKE) --no-print-directory -j2 lint
	@tools/stage "compiling the Rust tests and the core" $(CARGO) build --profile test --workspace --lib --tests --locked --quiet
	@$(MAKE) --no-print-directory core
	@tools/stage "live runs" env $(TESTED) $(BIN)/python -m pytest tests/live -n $(LIVE_WORKERS) --dist worksteal
	@$(MAKE) --no-print-directory -j2 test-python test-rust
	@echo && echo "make test: passed; downloads apart," && tools/stage

# Its log is shown when it is over: Python's tests write at the same time.
test-rust:
	@tools/stage "Rust tests" env PROPTEST_RNG_SEED=$(SEED) $(CARGO) test --workspace --locked --quiet >target/rust-tests.log 2>&1 \
	  || { cat target/rust-tests.log; exit 1; }

test-python:
	@tools/stage "Python tests" env $(TESTED) $(BIN)/python -m pytest tests/python -n $(WORKERS) --dist worksteal -m "not papers and not whole"

# After a change: what it touched. `make check BASE=main` for a branch. Python is checked if the change touched it.
BASE ?= HEAD
CHANGED = $(shell tools/changed $(BASE))

check: doctor-test $(VENV)/.pins
	@tools/stage --begin
	@$(CARGO) fmt --all --check
	@if test -n "$(CHANGED)"; then \
	  tools/stage "clippy:$(CHANGED)" $(CARGO) clippy $(CHANGED) --all-targets --locked --quiet -- -D warnings && \
	  tools/stage "tests:$(CHANGED)" env PROPTEST_RNG_SEED=$(SEED) $(CARGO) test $(CHANGED) --locked --quiet; fi
	@if ! git diff --quiet $(BASE) -- $(PYTHON_SOURCES); then \
	  tools/stage "lints of Python" $(MAKE) --no-print-directory lint-python && \
	  tools/stage "the core for Python's tests" $(MAKE) --no-print-directory core && \
	  tools/stage "Python tests, the slow ones apart" env $(TESTED) $(BIN)/python -m pytest -q -n $(WORKERS) -m "not slow and not papers and not whole"; fi
	@tools/stage

PYTHON_SOURCES := python tests/python tests/live examples docs validation tools

lint: lint-python lint-rust

lint-rust:
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets --locked --quiet -- -D warnings

lint-python: $(VENV)/.pins
	$(BIN)/ruff format --check --quiet $(PYTHON_SOURCES)
	$(BIN)/ruff check --quiet $(PYTHON_SOURCES)
	$(BIN)/mypy

# What `interlayer list experiments` shows, read from their files. `make docs` does it too.
index: build
	$(BIN)/python tools/index_experiments.py

# What is generated: the index of the experiments, the scenario reference, outputs shown in README and docs, the notebooks, the examples' answers, the figures. Look at the difference before you commit it.
# Of the tables of experiments those that are stale; all with `make docs ALL=1`, which takes hours.
docs: index
	$(BIN)/python docs/scenario_reference.py
	$(BIN)/python docs/speed.py
	$(BIN)/python docs/renew.py $(if $(ALL),--all)
	$(BIN)/python docs/notebook.py --figures
	$(BIN)/interlayer reproduce lle-fig-3.7a base-station-league --out target/figures
	cp target/figures/lle-fig-3.7a.png target/figures/beyond-base-station-league.png docs/figures/
	$(BIN)/interlayer run examples/lecture-hall.toml --series --window "2.004 s..2.009 s" --out target/figures/run
	cp target/figures/run/timeline.png docs/figures/

# The tables on pages that are older than what they show (docs/design/tables.md). It runs nothing, and needs no core.
docs-check: $(VENV)/.pins
	@PYTHONPATH=python $(BIN)/python docs/renew.py --check

# The documentation as a site in target/guide. Its links are checked. After the first time no network is needed.
site: $(VENV)/.docs
	$(BIN)/python docs/make_site.py

# Every figure with its verdicts, then the site with them in its gallery. It takes hours; what `make validate` has run is taken from
# its runs. What is finished stays on Ctrl-C. Some of them: make gallery FIGURES="'lle-*' ftca-fig-7.1".
FIGURES ?=
gallery: export INTERLAYER_STORE = $(CURDIR)/target/validate.db
gallery: build
	@mkdir -p target
	$(BIN)/python docs/site_gallery.py $(FIGURES)
	$(MAKE) --no-print-directory site

$(VENV)/.docs: python/requirements-docs.lock $(VENV)/.pins
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -r python/requirements-docs.lock \
	  || $(call MISSING,pip could not install what the site needs. "No matching distribution" means that the Python package registry cannot be reached: check the network or proxy$(comma) then make site)
	@touch $@

# Wheels in dist/ for what this machine can build for, each looked at: size, policy, content, and a figure from an empty environment.
wheels: build $(VENV)/.wheels
	PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/python tools/wheels.py
	INTERLAYER_WHEELS="$(CURDIR)/dist" $(BIN)/python -m pytest tests/python/test_wheels.py

$(VENV)/.wheels: python/requirements-wheels.lock $(VENV)/.pins
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -r python/requirements-wheels.lock \
	  || $(call MISSING,pip could not install what the wheels need. "No matching distribution" means that the Python package registry cannot be reached: check the network or proxy$(comma) then make wheels)
	@touch $@

# Its tests and `reproduce` share their runs, so that an hour of experiments is paid for once for each core.
RUNS := $(CURDIR)/target/validate.db
validate: export INTERLAYER_STORE = $(RUNS)

# The long truths: closed forms and independent simulations, and every claim of the papers measured. A part that has passed for this tree is
# not run again: what was interrupted goes on.
validate: build
	@test ! -e $(RUNS) || $(BIN)/interlayer store prune
	@cp Cargo.lock tests/outside/four/
	@tools/part outside $(CARGO) test --offline --quiet --manifest-path tests/outside/four/Cargo.toml --target-dir target/outside
	@tools/part delivery env PROPTEST_CASES=20000 $(CARGO) test --locked --release --quiet --test world -- lle_delivery conservation
	@tools/part connections env PROPTEST_CASES=20000 $(CARGO) test --locked --release --quiet --test tcp pipe
	@tools/part schemes env PROPTEST_CASES=4000 $(CARGO) test --locked --release --quiet --test schemes every_scheme
	@tools/part histories env PROPTEST_CASES=100000 $(CARGO) test --locked --release --quiet --test mac block_ack_histories
	@tools/part routes env PROPTEST_CASES=10000 $(CARGO) test --locked --release --quiet --test net _loops
	@tools/part routes-of-worlds env PROPTEST_CASES=10000 $(CARGO) test --locked --release --quiet --test world aodv_worlds
	@tools/part workspace $(CARGO) test --workspace --locked --release --quiet -- --include-ignored
	@for part in $(sort $(dir $(wildcard validation/*/test_*.py))); do tools/part $$part $(BIN)/python -m pytest $$part || exit 1; done
	@tools/part moments env INTERLAYER_MOMENTS=20 $(BIN)/python -m pytest tests/live/test_live.py
	@tools/part whole $(BIN)/python -m pytest tests/python -m whole
	@tools/part papers $(BIN)/python -m pytest -m papers
	@tools/part reproduce $(BIN)/interlayer reproduce --all --out target/validate

# Instructions an exchange of every case of `interlayer bench`, held against bench/price.json. Needs valgrind (apt-get install valgrind).
price: build
	@command -v valgrind >/dev/null || $(call MISSING,no valgrind. On Debian or Ubuntu: apt-get install valgrind)
	$(BIN)/python tools/price.py $(if $(RENEW),--renew) $(foreach case,$(CASES),--case $(case))

# What the same grants, starts and ends cost without stations, queues and TCP, in instructions an exchange: bench/bound.rs.
bound: EXCHANGES := 100000
bound:
	@command -v valgrind >/dev/null || $(call MISSING,no valgrind. On Debian or Ubuntu: apt-get install valgrind)
	@$(CARGO) build --locked --quiet --profile profiling -p interlayer-world --bench bound
	@program=$$(ls -t target/profiling/deps/bound-* | grep -v '\.d$$' | head -n 1); for stations in 6 50 200 1000; do \
	  counted=$$(valgrind --tool=callgrind --callgrind-out-file=/dev/null $$program $$stations $(EXCHANGES) 2>&1 >/dev/null \
	    | sed -n 's/.*Collected : //p'); echo "$$stations stations: $$((counted / $(EXCHANGES))) instructions an exchange"; done

bench: build
	$(CARGO) bench --workspace --locked
	$(BIN)/interlayer bench

# The speed beside ns-3, into bench/ns3.json and the pages that state it: ten minutes of a machine that does nothing else.
speed: build ns3
	$(BIN)/interlayer bench --against ns3 --json bench/ns3.json
	$(BIN)/python docs/speed.py

# The optional peer, against Debian's packages (3.37 in bookworm), for cross-checks and `interlayer bench --against ns3`.
NS3 := bench/ns3/build/wlan_tcp bench/ns3/build/wlan_cell bench/ns3/build/wlan_today bench/ns3/build/wlan_rates bench/ns3/build/wlan_aodv bench/ns3/build/wired_cc bench/ns3/build/wired_queue
NS3_MODULES := $(addprefix ns3-,core network internet wifi mobility applications point-to-point propagation traffic-control aodv)

ns3:
	@pkg-config --exists $(NS3_MODULES) 2>/dev/null && command -v g++ >/dev/null \
	  || { echo "ns3: no ns-3 to build against. On Debian: apt-get install libns3-dev libgsl-dev g++ pkg-config" >&2; exit 1; }
	@$(MAKE) --no-print-directory $(NS3)

bench/ns3/build/wlan_cell bench/ns3/build/wlan_aodv: bench/ns3/peer.h

$(NS3): bench/ns3/build/%: bench/ns3/%.cc
	@mkdir -p $(@D)
	g++ -O2 -std=c++17 -DNS3_VERSION="\"$$(pkg-config --modversion ns3-core)\"" $< -o $@ \
	  $$(pkg-config --cflags --libs $(NS3_MODULES))

clean:
	rm -rf $(VENV) target demo dist bench/ns3/build python/interlayer/_core*.so .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find python tests/python tests/live -name __pycache__ -prune -exec rm -rf {} +
