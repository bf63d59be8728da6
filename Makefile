# The front door. Every target says what it does and how long it took; `make` alone lists them.
SHELL := /bin/bash
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory
.PHONY: help root-or-sudo setup build demo test accept bench fuzz gpu gpu-kit gpu-results nightly compile-times tidy lint fmt p4 reference clean undo-setup

PYTHON := .venv/bin/python
# Namespaces, TUN devices and hugepages need root; a user goes through sudo.
SUDO := $(if $(filter 0,$(shell id -u)),,sudo --preserve-env=PYTHONDONTWRITEBYTECODE)
export PYTHONDONTWRITEBYTECODE := 1
PRESET ?= release

help:
	@echo 'make demo               the gNB between a UPF and a UE, with real TCP, in network namespaces'
	@echo 'make test               lint, unit tests (ASan + UBSan, TSan), fuzz targets, oracle and end-to-end tests'
	@echo '                        ONLY=lint,release,asan,tsan,fuzz,gpu,python runs some; WHOLE=1 the unit tests at -O3 and the long tests too'
	@echo 'make accept PART=...    host, nic, operate, power, rlc, gpu, mended, house, pdcp, p4, baas, placement, full, guard or watts: one line a requirement: measured, target, verdict'
	@echo 'make bench              cycles per packet, JSON and a table in out/; ARGS="--repeats 3 --no-micro"'
	@echo 'make build              the program, build/release/splitplane; PRESET=debug, asan, tsan; WHAT=all: tests and benches too'
	@echo 'make fuzz TARGET=...    the fuzz targets (docs/design/fuzz.md), all or some with commas; SECONDS_EACH=60; goes on where it ended'
	@echo 'make gpu                the CUDA programs for sm_75, sm_80, sm_90 into build/gpu; needs no GPU (docs/design/gpu.md)'
	@echo 'make gpu-kit            what a machine with a GPU but without network and packages needs, in build/gpu-kit (docs/design/gpu.md)'
	@echo 'make gpu-results        the page of docs/results made anew, on a quiet machine, about 15 minutes; goes on where it was cut off'
	@echo 'make compile-times      a cold build, and a table of what each room took; PRESET=asan; WHAT=all: tests and benches too'
	@echo 'make lint, make fmt     check and repair style; make tidy: clang-tidy with a short list, about ten minutes'
	@echo 'make p4                 p4/generated from the P4 programs, with p4c-dpdk on PATH, and what the other P4 compilers say (docs/design/p4.md)'
	@echo 'make reference          config/schema.json and the tables of docs/reference/configuration.md from the rows of keys'
	@echo 'make nightly            test, accept, bench, and each fuzz target for FUZZ_SECONDS=3600, one after another'
	@echo 'make setup, undo-setup  install what is missing (the others call it); take it back'
	@echo 'make clean              remove build/ and out/'

# Said before a build of minutes, not after it.
root-or-sudo:
	@[ "$$(id -u)" = 0 ] || command -v sudo >/dev/null || \
	  { echo 'this needs root (network namespaces, hugepages): run it as root, or install sudo' >&2; exit 1; }

setup:
	@setup/install.sh

WHAT ?= splitplane
build: setup
	@setup/build.sh $(PRESET) $(WHAT)

demo: root-or-sudo setup
	@setup/build.sh release splitplane
	@$(SUDO) $(PYTHON) tests/demo/demo.py

test: setup
	@$(PYTHON) tests/run_all.py $(if $(ONLY),--only $(ONLY)) $(if $(WHOLE),--whole)

# Where a GPU is lent there is often no network and no package: that part takes what is there.
ifeq ($(PART),gpu)
accept:
	@setup/accept_gpu.sh
else
accept: root-or-sudo setup
	@$(PYTHON) tests/accept/run.py --known $(PART)
	@setup/build.sh release
	@$(SUDO) $(PYTHON) tests/accept/run.py $(PART)
endif

bench: root-or-sudo setup
	@setup/build.sh release
	@$(SUDO) $(PYTHON) bench/run.py $(ARGS)

SECONDS_EACH ?= 60
fuzz: setup
	@setup/build.sh asan fuzz_targets
	@$(PYTHON) fuzz/run.py --keep --seconds $(SECONDS_EACH) $(if $(TARGET),--target $(TARGET)) $(ARGS)

gpu: setup
	@setup/gpu.sh

gpu-kit: setup
	@setup/gpu_kit.sh

# On a quiet machine, about 15 minutes; goes on where it was cut off. ARGS="--scale 0.1" for a trial, with RESULTS elsewhere.
RESULTS ?= docs/results/gpu-cpu-threads
gpu-results: build
	@mkdir -p out; touch out/gpu-results.begun
	@build/release/splitplane gpu bench --matrix --cpu --resume --json out/gpu-results.json $(ARGS); code=$$?; \
	  [ $$code -ne 2 ] || echo 'gpu-results: no page; rm out/gpu-results.json.rows gives up rows of another build' >&2; \
	  [ $$code -le 1 ] || exit $$code; \
	  [ -e out/gpu-results.json ] && [ ! out/gpu-results.json -ot out/gpu-results.begun ] || { echo 'gpu-results: no rows were written' >&2; exit 1; }; \
	  [ $$code -eq 0 ] || echo 'gpu-results: not every row is whole and sound; the page says which' >&2
	@$(PYTHON) bench/gpu_figures.py out/gpu-results.json $(RESULTS)

FUZZ_SECONDS ?= 3600
nightly:
	@failed=0; for target in 'test WHOLE=1' 'accept PART=host' 'accept PART=nic' 'accept PART=operate' 'accept PART=rlc' 'accept PART=power' 'accept PART=gpu' 'accept PART=mended' 'accept PART=house' 'accept PART=pdcp' 'accept PART=p4' 'accept PART=baas' 'accept PART=placement' 'accept PART=full' 'accept PART=guard' 'accept PART=watts' tidy bench; do \
	  echo "nightly: make $$target"; $(MAKE) $$target || failed=1; done; \
	  echo 'nightly: make fuzz'; $(MAKE) fuzz SECONDS_EACH=$(FUZZ_SECONDS) || failed=1; exit $$failed

compile-times: setup
	@$(PYTHON) setup/compile_times.py --preset $(PRESET) $(WHAT)

lint: setup
	@tests/lint/lint.sh

tidy: setup
	@setup/tidy.sh $(FILES)

fmt: setup
	@git ls-files -co --exclude-standard 'src/*.h' 'src/*.cpp' 'bench/*.h' 'bench/*.cpp' 'fuzz/*.h' 'fuzz/*.cpp' | xargs -r .venv/bin/clang-format -i
	@.venv/bin/ruff format --quiet .
	@.venv/bin/ruff check --quiet --fix .
	@echo 'fmt: done'

p4:
	@python3 p4/specs.py
	@python3 p4/targets.py

reference: build
	@$(PYTHON) config/generate.py

clean:
	@rm -rf build out
	@echo 'clean: build/ and out/ removed'

undo-setup:
	@setup/undo.sh
