# Everything that is built goes to build/; `make help` lists the targets.

SHELL := /bin/sh
.DELETE_ON_ERROR:
.SUFFIXES:
.DEFAULT_GOAL := help

CXX ?= g++
gotorch := github.com/wangkuiyi/gotorch
library := build/lib/libiwtorch.so build/lib/libcgotorch.so
shim := $(patsubst torch/csrc/%.cc,build/shim/%.o,$(wildcard torch/csrc/*.cc))
# gotorch's C++ sources, by name: they lie in the module cache.
gotorch_parts := cuda device functional init memory optim pickle tensor torch
gotorch_objects := $(gotorch_parts:%=build/gotorch/%.o)
go_sources := $(wildcard $(shell git ls-files -co --exclude-standard '*.go' '*.yaml' '*.html' '*.css' '*.js' go.mod go.sum 2>/dev/null))

# What `go` needs to know about the two libraries. The program looks for them beside
# itself (build/lib), then where they were built.
go_flags = CGO_LDFLAGS='-L$(CURDIR)/build/lib -Wl,--as-needed -liwtorch -lcgotorch -Wl,-rpath,$$ORIGIN/lib -Wl,-rpath,$(CURDIR)/build/lib '"-L$$libtorch_lib"
with_flags = . build/libtorch.env; export $(go_flags);

.PHONY: help setup build demo test test-browser lint bench clean env force

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/\1\t\2/p' $(MAKEFILE_LIST) | expand -t 15

setup: ## install what is missing (a C++ compiler, libtorch)
	@sh tools/setup.sh

build: setup ## build the program build/iwrun
	@$(MAKE) --no-print-directory build/iwrun

demo: build ## train on embedded data, print the table, draw the figure
	build/iwrun -c configs/demo.yaml -o build/results -j 2
	build/iwrun figure -c configs/demo.yaml -o build/results

test: setup ## run all tests, the concurrent packages with the race detector too
	@$(MAKE) --no-print-directory $(library)
	$(with_flags) go test ./...
	$(with_flags) go test -race $(race_packages)

test-browser: setup ## the HTML report in a real browser (Debian: apt-get install chromium)
	@$(MAKE) --no-print-directory $(library)
	$(with_flags) go test -tags browser ./experiments/report/page

# The packages in which goroutines meet.
race_packages := ./cmd/... ./datasets/... ./experiments/progress/... ./experiments/schedule/... ./torch/...

lint: setup ## gofmt, go vet, staticcheck, the shim's warnings as errors
	@$(MAKE) --no-print-directory $(library)
	@unformatted=$$(gofmt -l $$(git ls-files -co --exclude-standard '*.go')); if [ -n "$$unformatted" ]; then echo "not gofmt-ed: $$unformatted"; exit 1; fi
	$(with_flags) go vet ./...
	$(with_flags) go tool staticcheck ./...

bench: build ## speed against PyTorch on this machine
	$(with_flags) go run ./bench

clean: ## remove build/
	rm -rf build

env: setup ## print the variables with which plain go commands work: eval "$(make env)"
	@$(MAKE) --no-print-directory $(library) >&2
	@. build/libtorch.env; printf 'export %s\n' "CGO_LDFLAGS='-L$(CURDIR)/build/lib -Wl,--as-needed -liwtorch -lcgotorch -Wl,-rpath,\$$ORIGIN/lib -Wl,-rpath,$(CURDIR)/build/lib -L$$libtorch_lib'"

force:

build/libtorch.env: force
	@mkdir -p build && sh tools/find-libtorch.sh $@

build/gotorch/%.o: build/libtorch.env go.mod
	@mkdir -p $(@D)
	. build/libtorch.env; source=$$(go mod download -json $(gotorch) | sed -n 's/^.*"Dir": "\(.*\)".*/\1/p') && \
	$(CXX) -std=c++17 -O2 -fPIC -w -I"$$source" $$libtorch_flags -c "$$source/cgotorch/$*.cc" -o $@

build/shim/%.o: torch/csrc/%.cc torch/csrc/iwtorch.h torch/csrc/guard.h build/libtorch.env
	@mkdir -p $(@D)
	. build/libtorch.env; $(CXX) -std=c++17 -O3 -fPIC -Wall -Wextra -Werror $$libtorch_flags -c $< -o $@

build/lib/libcgotorch.so: $(gotorch_objects)
	@mkdir -p $(@D)
	. build/libtorch.env; $(CXX) -shared $^ -o $@ $$libtorch_link

build/lib/libiwtorch.so: $(shim)
	@mkdir -p $(@D)
	. build/libtorch.env; $(CXX) -shared $^ -o $@ $$libtorch_link

build/iwrun: $(library) $(go_sources)
	$(with_flags) go build -o $@ ./cmd/iwrun
