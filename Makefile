# What a clone can do. `make lab` is the one that a learner needs.

GO     ?= go
# As the program is built: other targets that use this find its packages compiled.
FLAGS  := -trimpath -buildvcs=false
PYTHON ?= python3
VENV   := .venv
PROGRAM := build/warpbook

.PHONY: help lab build test test-go test-python lint bench clean

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## /\1|/p' $(MAKEFILE_LIST) | while IFS='|' read -r name text; do printf '  make %-12s %s\n' "$$name" "$$text"; done

lab: ## open JupyterLab with the Go kernel and the first lesson (ARGS=--headless runs it without a browser)
	$(GO) run $(FLAGS) . lab $(ARGS)

build: ## build the program and what it needs to compile cells into build/
	$(GO) build $(FLAGS) -o $(PROGRAM).new .
	@if cmp -s $(PROGRAM).new $(PROGRAM) && [ -f build/warpbook.json ]; then rm $(PROGRAM).new; \
	else mv $(PROGRAM).new $(PROGRAM) && $(PROGRAM) record .; fi

test: lint test-go test-python ## run every test

lint: ## gofmt and go vet
	@unformatted=$$(gofmt -l $$($(GO) list -f '{{.Dir}}' ./...)); \
	if [ -n "$$unformatted" ]; then echo "gofmt would change:"; echo "$$unformatted"; exit 1; fi
	$(GO) vet $(FLAGS) ./...

# The race detector watches everything once; the long comparisons of cells with
# Go itself (corpus, GOROOT/test, random programs) run without it.
LONG := TestCorpus|TestGOROOT|TestDifferential|TestLongCell|TestManyCells|TestKernel.*|TestUnreadableKernels|TestGPUStarters

# So do the workshops' checks, on some hundred solutions, right and wrong, and what
# computes without goroutines.
SLOW := /kernel/session|/cuda/sim/(arith|internal/.*)|/workshops/(softmax|backward|gemm|split|attention|portfolio)$$

test-go: build $(VENV)/ready ## the Go tests, with the race detector
	$(GO) test -race -timeout 10m -skip '^($(LONG))$$' $(GOTESTFLAGS) $$($(GO) list ./... | grep -vE '$(SLOW)')
	GOROOT=$$($(GO) env GOROOT) $(GO) test $(FLAGS) -timeout 10m $(GOTESTFLAGS) $$($(GO) list ./workshops/... ./cuda/sim/...)
	$(GO) test -race -timeout 10m -skip '^($(LONG))$$' $(GOTESTFLAGS) ./kernel/session
	GOROOT=$$($(GO) env GOROOT) $(GO) test $(FLAGS) -timeout 15m -run '^($(LONG))$$' $(GOTESTFLAGS) ./kernel/session

test-python: build $(VENV)/ready ## Jupyter's own clients and JupyterLab in a browser (needs chromium)
	cd tests && ../$(VENV)/bin/python -m pytest $(PYTESTFLAGS) . ../python/papermill_warpbook

$(VENV)/ready: install/requirements.txt install/constraints.txt tests/requirements.txt $(wildcard python/papermill_warpbook/*.py python/papermill_warpbook/pyproject.toml)
	$(PYTHON) -m venv $(VENV)
	$(VENV)/bin/python -m pip install --quiet --disable-pip-version-check -r install/requirements.txt -r tests/requirements.txt -c install/constraints.txt
	$(VENV)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --force-reinstall ./python/papermill_warpbook
	touch $@

bench: build $(VENV)/ready ## measure the kernel against ipykernel (ARGS="--kernel NAME" adds another)
	$(VENV)/bin/python tests/bench_kernel.py $(ARGS)

clean: ## remove what make made
	rm -rf build $(VENV) test-artifacts
