# Every target sets up what it needs by itself, on a machine with Rust (rustup), CPython 3.11 or newer, pip, make and a C
# compiler. The work is done by the small programs in tools/.
#
#   make PYTHON=/path/to/python test     use that interpreter and not the newest one found

SECONDS ?= 60

export PATH := $(PATH):$(if $(CARGO_HOME),$(CARGO_HOME),$(HOME)/.cargo)/bin
ifdef PYTHON
export PYTHON
endif

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help demo test ci long asan valgrind bench attacks fuzz soak docs clean

help: ## show this list
	@sed -n 's/^\([a-z]*\):.*## /\1\t/p' Makefile | while IFS='	' read -r target text; do \
		printf '  make %-8s %s\n' "$$target" "$$text"; done

demo: ## run honest and hostile scripts in child processes and see what arrives, without pickle
	@tools/python.sh tools/venvs.py demo -- examples/demo.py

test: ## formatting, lints, types, Rust tests, Python tests; under ten minutes on two cores
	@tools/python.sh tools/check.py

ci: ## all of test, the Rust documentation, and every supported Python and NumPy
	@tools/python.sh tools/ci.py

long: ## round trips of every kind of value, 10 000 examples each, in Rust and in Python; a million bent frames
	@tools/python.sh tools/long.py

asan: ## the Python tests with the extension under AddressSanitizer; a step of ci too
	@tools/python.sh tools/asan.py

valgrind: ## a core of the Python tests under valgrind; many minutes
	@tools/python.sh tools/valgrind.py

bench: ## measure everything against pickle and peers, half an hour at most (ARGS=--quick: does it run?)
	@tools/python.sh --prefer 3.11 tools/venvs.py --venv .venv-bench bench bench-peers -- \
		benches/python/whole.py $(ARGS)

attacks: ## try each attack of tests/attacks on pickle or a peer, and then on hookless (ARGS="3 17" for some)
	@tools/python.sh tools/venvs.py test pandas peers peers-numpy -- tests/attacks/run.py $(ARGS)

fuzz: ## run the fuzz targets for SECONDS=60 in all; TARGETS="value stream" runs these
	@tools/python.sh tools/fuzz.py --seconds $(SECONDS) $(TARGETS)

soak: ## 100 000 calls with random faults, of which none may be lost (ARGS="--calls 5000" for fewer)
	@tools/python.sh tools/venvs.py test numpy -- tests/soak/soak.py $(ARGS)

docs: ## the Rust documentation, into target/doc; a broken link is an error
	RUSTDOCFLAGS="-D warnings" PYO3_PYTHON="$$(tools/python.sh --find)" \
		cargo doc --locked --workspace --no-deps

clean: ## remove everything that was built or measured, and the virtual environments
	rm -rf target out .venv .venv-* .hypothesis bindings/python/.hypothesis
	find . \( -name __pycache__ -o -name .pytest_cache -o -name .mypy_cache -o -name .ruff_cache \) -prune \
		-exec rm -rf {} +
