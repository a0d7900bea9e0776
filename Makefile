# Everything that is built goes to build/; `make help` lists the targets.

SHELL := /bin/sh
.DELETE_ON_ERROR:
.SUFFIXES:
.DEFAULT_GOAL := help

CXX ?= g++
gotorch := github.com/wangkuiyi/gotorch
# gotorch's takes longest to compile, so it comes first.
library := build/lib/libcgotorch.so build/lib/libiwtorch.so
shim := $(patsubst torch/csrc/%.cc,build/shim/%.o,$(wildcard torch/csrc/*.cc))
shim_headers := $(wildcard torch/csrc/*.h)
# No errors where the shim is built: newer compilers warn of libtorch's own headers. What they
# say lies beside the object, and `make lint` reads it there.
warnings := -Wall -Wextra
cxx_flags = $$(sh tools/cxx-flags.sh $<)
# gotorch's C++ sources, by name: they lie in the module cache. They are one translation
# unit, because each reads all of torch's headers, which takes most of the time.
gotorch_parts := cuda device functional init memory optim pickle tensor torch
# As many files at once as there are cores, unless -j says otherwise.
ifeq ($(MAKELEVEL),0)
MAKEFLAGS += --jobs=$(shell nproc 2>/dev/null || echo 2)
endif
# What is known of libtorch, if anything is, whose flags stand on lines of their own: its folder may have any name.
# So may this one, and nothing in either name is carried out.
libtorch = [ ! -e build/libtorch.env ] || . build/libtorch.env; set -f; IFS="$$(printf '\n.')"; IFS="$${IFS%.}";
here := $(subst ','\'',$(CURDIR))
# A step of the build prints one line: what, and how long it took.
timed = @start=$$(date +%s); $(libtorch) { $(2); } && printf '  %-44s %3d s\n' '$(1)' "$$(($$(date +%s) - start))"

# What `go` needs to know about the two libraries. The program (build/bin/iwrun-torch) looks for
# them beside its folder (build/lib), then where they were built.
go_flags = CGO_LDFLAGS="$$(sh tools/go-flags.sh build/lib)"
with_flags = export $(go_flags);

.PHONY: help setup build iwrun dist release wheel demo test test-python test-wheel test-dist test-container test-reach test-busy test-browser test-onnx test-slurm torture fuzz sanitize lint docs bench bench-growth bench-coverage bench-outcomes bench-suite published cuda-kit clean env force

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/\1\t\2/p' $(MAKEFILE_LIST) | expand -t 15

setup: ## install what is missing (a C++ compiler, libtorch); on a terminal it asks before sudo
	@sh tools/setup.sh

build: setup ## build the programs build/iwrun and build/bin/iwrun-torch, which it starts for what takes libtorch
	@$(MAKE) --no-print-directory build/iwrun build/bin/iwrun-torch

iwrun: build/iwrun ## build build/iwrun alone, from nothing but Go: one file that runs wherever it is copied

dist: setup ## pack what runs where there is that libtorch: build/dist/iwda-VERSION-linux-ARCH-libtorchX.tar.gz
	@sh tools/setup.sh patchelf:patchelf
	@$(MAKE) --no-print-directory $(library)
	@$(call timed,pack,export $(go_flags); sh tools/dist.sh)

release: ## pack iwrun for Linux, macOS and Windows: build/release/iwda-VERSION-SYSTEM-PROCESSOR.tar.gz, and SHA256SUMS
	@sh tools/release.sh

wheel: setup ## pack the Python package for Linux, macOS and Windows: build/dist/iwda-VERSION-py3-none-SYSTEM.whl
	@sh tools/setup.sh patchelf:patchelf python3:python3
	@$(MAKE) --no-print-directory $(library)
	@$(call timed,pack,export $(go_flags); sh tools/wheel.sh)

# Half of the file's twenty epochs, with schedules to match, show the methods in the same
# order, at lower accuracies that depend more on the seed; a first build and these take five
# minutes together.
demo = -c configs/demo.yaml -o build/results --set train.epochs=10 --set train.schedule.every=4 --set discriminator.reversal.iterations=1000
demo: ## train on embedded data, print the table, draw the figure
	@echo 'demo: builds iwrun (C++ and Go: some two and a half minutes the first time), trains four methods on drawn digits,'
	@echo '      each with three seeds (as long again on two cores), prints a table and draws curves into build/results/demo/figures'
	@$(MAKE) --no-print-directory build
	build/iwrun $(demo) -j 2
	build/iwrun figure $(demo)
	@echo 'demo: that was half of the epochs of configs/demo.yaml; after all of them, build/iwrun -c configs/demo.yaml, the weighted methods are better'

# The packages with benchmarks, each of which the tests run once, in a small size.
benchmarks = $$(grep -rl --include='*_test.go' --exclude-dir=build '^func Benchmark' . | xargs -n 1 dirname | sort -u)

# A package's tests may take that long: training makes them slow on a busy machine.
test_timeout := 30m

test: setup ## run all tests, every benchmark once, the concurrent packages with the race detector too
	@sh tools/setup.sh bash:bash python3:python3 node:nodejs
	@$(MAKE) --no-print-directory $(library)
	$(with_flags) go test -timeout $(test_timeout) ./...
	CGO_ENABLED=0 go test -timeout $(test_timeout) -tags reach ./tools/reach
	$(with_flags) go test -timeout $(test_timeout) -race -skip 'PublicDigits|CompressedBombs' $(race_packages)
	$(with_flags) go test -timeout $(test_timeout) -short -run '^$$' -bench . -benchtime 1x $(benchmarks)
	$(with_flags) go test -timeout $(test_timeout) -race -run 'Signal|AtOnce' ./cmd/iwrun ./datasets/table ./adaptation/predict

# No test may depend on speed. PACKAGES narrows the choice.
PACKAGES ?= ./...
test-busy: setup ## all tests with four busy loops beside them
	@$(MAKE) --no-print-directory $(library)
	@$(with_flags) for loop in 1 2 3 4; do (while :; do :; done) & loops="$$loops $$!"; done; trap "kill $$loops" EXIT; trap 'exit 130' INT TERM; \
	echo "go test $(PACKAGES) beside four busy loops"; go test -count=1 -timeout 60m $(PACKAGES)

test-browser: setup ## the HTML reports in a real browser, and by axe-core: Chromium and npm are installed where they are missing
	@sh tools/setup.sh chromium:chromium node:nodejs npm:npm
	@$(MAKE) --no-print-directory $(library)
	@mkdir -p build/axe
	npm install --prefix build/axe --ignore-scripts --no-audit --no-fund --loglevel=error axe-core@4.14.1
	rm -rf build/pages
	$(with_flags) export IWDA_PAGES='$(here)'/build/pages IWDA_AXE='$(here)'/build/axe/node_modules/axe-core/axe.min.js; \
	go test -count=1 -tags browser ./adaptation/adapt -run '^TestBrowser' && \
	go test -count=1 -tags browser ./experiments/report/page -run '^TestBrowser'

# Debian's packages are for its own Python.
python := $$(for p in python3 /usr/bin/python3; do $$p -c 'import numpy, pytest, mypy' 2>/dev/null && echo $$p && break; done)
test-python: ## the Python package: types, and tests with the programs of build/
	@sh tools/setup.sh numpy.py:python3-numpy pytest.py:python3-pytest mypy.py:mypy sklearn.py:python3-sklearn pandas.py:python3-pandas \
		nbclient.py:python3-nbclient nbformat.py:python3-nbformat ipykernel.py:python3-ipykernel torch.py:python3-torch torchvision.py:python3-torchvision xdist.py:python3-pytest-xdist
	@$(MAKE) --no-print-directory build
	cd python && python="$(python)" && for system in linux win32 darwin; do $$python -m mypy --strict --platform $$system --cache-dir ../build/mypy/$$system -p iwda || exit 1; done && \
		IWDA_PROGRAMS='$(here)/build' $$python -B -m pytest -q -p no:cacheprovider -n 2 tests

test-wheel: wheel ## the wheel in virtual environments: of NumPy alone, and compiled against the torch that is here
	@sh tools/setup.sh numpy.py:python3-numpy /usr/share/doc/python3-venv:python3-venv
	@sh tools/test-wheel.sh

test-dist: dist ## the packed folder elsewhere, with libtorch and without
	@sh tools/test-dist.sh "$$(ls -t build/dist/*.tar.gz | head -n 1)"

test-container: ## build the Containerfile on a bare Debian 13 without a daemon, and run it (as root)
	@sh tools/setup.sh buildah:buildah debootstrap:debootstrap
	@sh tools/test-container.sh

test-reach: ## iwrun alone in an empty folder, for Linux on amd64 and ARM and for Windows, by qemu and Wine (as root), and parts in WebAssembly, by Node
	@sh tools/setup.sh qemu-aarch64-static:qemu-user-static proot:proot wine:wine /usr/lib/wine/wine64:wine64 x86_64-w64-mingw32-ld:binutils-mingw-w64-x86-64 node:nodejs
	CGO_ENABLED=0 go test -v -count=1 -tags reach ./tools/reach
	@sh tools/test-reach.sh

# The package's own installer would fetch a variant for GPUs; the one for CPUs is in it.
test-onnx: ## model folders in ONNX Runtime and PyTorch, which are installed where they are missing
	@sh tools/setup.sh node:nodejs npm:npm torch.py:python3-torch torchvision.py:python3-torchvision
	@$(MAKE) --no-print-directory $(library)
	@mkdir -p build/onnx
	npm install --prefix build/onnx --ignore-scripts --no-audit --no-fund --loglevel=error onnxruntime-node@1.30.0
	$(with_flags) IWDA_NODE_MODULES='$(here)/build/onnx' go test -tags onnx -run '^Test(ONNXRuntime|PyTorch)$$' ./experiments/model

test-slurm: ## arrays on a real Slurm of this machine, which is installed where it is missing
	@sh tools/setup.sh slurmctld:slurm-wlm shellcheck:shellcheck
	@$(MAKE) --no-print-directory $(library)
	shellcheck --severity=warning experiments/cluster/testdata/*.sh
	$(with_flags) go test -tags slurm -timeout 30m -run '^TestSlurm' ./cmd/iwrun

# On a disk in memory, as /dev/shm: a kill takes nothing of what was written, so flushing only takes time.
TORTURE ?= build/torture
TORTURE_MINUTES ?= 60
torture: build ## every call failing, every power cut, every byte damaged, 1,400 kills; continues where it stopped (TORTURE=/dev/shm/torture)
	$(with_flags) IWDA_TORTURE=yes go test -timeout 60m -run 'FailingDisk|EveryCall|EveryByte|Corrupted' -v ./internal/wholefile ./datasets/table ./experiments/model ./experiments/train
	$(with_flags) go run ./research/torture -iwrun build/iwrun -o $(TORTURE) -minutes $(TORTURE_MINUTES)

# The packages in which goroutines meet. Tests that unpack large files in one of them take minutes with the
# detector, and show it nothing.
race_packages := ./datasets ./datasets/catalogue ./datasets/images ./experiments/schedule/... ./torch/...

FUZZTIME ?= 1m
fuzz: setup ## every fuzz target for FUZZTIME (default 1m) each
	@$(MAKE) --no-print-directory $(library)
	$(with_flags) FUZZTIME='$(FUZZTIME)' sh tools/fuzz.sh $(FUZZ)

# Freed blocks are kept for a while to find later uses of them; by default so many that
# a test takes them for a leak. With -o the tests keep the names that leaks.supp needs.
sanitize: setup ## the C++ parts under AddressSanitizer and UndefinedBehaviorSanitizer
	@$(MAKE) --no-print-directory $(sanitized_library)
	@mkdir -p build/sanitize/tests
	$(with_sanitizers) $(sanitizer_options) go test -asan -o build/sanitize/tests/ -timeout 60m ./torch/... ./losses/... ./nets/... ./experiments/train

lint: setup ## gofmt, go vet, staticcheck, the shim's warnings as errors, the pages' words and links
	@$(MAKE) --no-print-directory $(library)
	@unformatted=$$(gofmt -l $$(find . -path ./build -prune -o -name '*.go' -print)); if [ -n "$$unformatted" ]; then echo "not gofmt-ed: $$unformatted"; exit 1; fi
	$(with_flags) go vet -tags 'browser onnx reach slurm' ./...
	$(with_flags) go tool staticcheck ./...
	@if cat $(shim:=.log) | grep .; then echo 'the compiler warned of the shim'; exit 1; fi
	CGO_ENABLED=0 go test -count=1 ./tools/docs

docs: build ## write the reference pages that follow from the code
	{ printf '# Commands\n\n<!-- Written by make docs. -->\n\n'; build/iwrun manual --markdown; } >docs/reference/cli.md
	CGO_ENABLED=0 go test -count=1 ./tools/docs -write

bench: build ## speed against PyTorch, cvxopt and SciPy on this machine; fails where a goal is missed
	@sh tools/setup.sh torch.py:python3-torch torchvision.py:python3-torchvision cvxopt.py:python3-cvxopt scipy.py:python3-scipy sklearn.py:python3-sklearn
	$(with_flags) go run ./research/bench

bench-growth: build ## time and memory against classes, batch and data
	$(with_flags) go run ./research/bench/growth

bench-coverage: ## how often intervals of class shares and of accuracies by labels hold and tests of shift reject (hours; continues where it stopped)
	for grid in rows groups rare many zeros; do CGO_ENABLED=0 go run ./research/bench/coverage -grid $$grid || exit 1; done
	CGO_ENABLED=0 go run ./research/bench/evaluation

bench-outcomes: build ## how twenty runs of the demo end, here and in PyTorch (an hour and a half)
	@sh tools/setup.sh torch.py:python3-torch cvxopt.py:python3-cvxopt
	CGO_ENABLED=0 go run ./research/bench/outcomes
	CGO_ENABLED=0 go run ./research/bench/outcomes -normalise

# The system's own files are its data; the list of applications comes with the next update of
# apt's lists after appstream is there. Nothing else runs beside adapt, whose time is taken.
suite_fonts := freefont-ttf dejavu-extra lato ebgaramond liberation2 crosextra-caladea crosextra-carlito junicode linuxlibertine texgyre oldstandard sil-gentium cabin cantarell open-sans roboto-unhinted averia-serif-gwf averia-sans-gwf aenigma
# The later halves take what packages carry as data: some 400 MB, and 150 MB of npm's, if they are asked for.
suite_data := r-base-core r-cran-mlbench r-cran-kernlab r-cran-modeldata r-cran-dslabs r-cran-palmerpenguins r-cran-cardata r-cran-aer r-cran-survival r-cran-mass kstars-data hydrogen-drumkits \
	freepats timgm6mb-soundfont iso-codes wamerican wdanish wdutch wfrench witalian wngerman wportuguese wspanish wswedish \
	r-cran-hsaur3 r-cran-janeaustenr r-cran-mclust r-cran-psychtools r-cran-ggplot2 r-cran-dplyr r-cran-rpart bodr fortunes klettres-data \
	r-cran-lme4 r-cran-nlme r-cran-sp r-cran-mlmrev \
	r-cran-ddalpha r-cran-discriminer r-cran-epicalc r-cran-ggally r-cran-ggridges r-cran-gss r-cran-mice r-cran-pscl r-cran-rrcov r-cran-sampling r-cran-sm r-cran-spatstat.data r-cran-th.data \
	r-cran-vcd r-cran-vim
suite_files := libwacom-common locales shared-mime-info vim-runtime x11-common # the seventh half reads these, and unpacks some more into build/deb
HALF ?= $(filter-out redrawn,$(shell sed -n 's/^HALVES = \[\([^]]*\)\].*/\1/p' research/suite/tasks.py | tr -d '",'))
bench-suite: build ## iwrun adapt on real tasks beside sixteen baselines and a peer (HALF=choosing: on one half of them; more than ten hours)
	@sh tools/setup.sh torch.py:python3-torch sklearn.py:python3-sklearn PIL.py:python3-pil appstreamcli:appstream $(foreach font,$(suite_fonts),/usr/share/doc/fonts-$(font):fonts-$(font)) soundfile.py:python3-soundfile $(if $(filter-out choosing judging fresh sixth redrawn ninth thirteenth,$(HALF)),npm:npm) $(if $(filter eighth,$(HALF)),gpg:gnupg) \
		$(if $(filter-out choosing judging redrawn,$(HALF)),$(foreach package,$(suite_data) $(if $(filter seventh,$(HALF)),$(suite_files)),/usr/share/doc/$(package):$(package)))
	@ls /var/lib/apt/lists/*_dep11_Components-* >/dev/null 2>&1 || apt-get update -qq
	for half in $(HALF); do python=/usr/bin/python3; suite=research/suite; \
		$$python $$suite/tasks.py --half $$half && $$python $$suite/run.py --half $$half --parts baselines,mcc -j 2 && \
		$$python $$suite/run.py --half $$half --parts adapt && $$python $$suite/report.py --half $$half || exit 1; done

published: setup ## published experiments on label shift once more, on the MNIST of $IWDA_DATA (a quarter of an hour)
	@$(MAKE) --no-print-directory $(library)
	$(with_flags) go run ./research/published -c research/published/labelshift-mnist.yaml
	$(with_flags) go run ./research/published -c research/published/labelshift-mnist-bbse.yaml

cuda-kit: build ## pack build/cuda-kit.tar.gz, whose script proves the CUDA path on a machine with a GPU, without Go
	$(with_flags) sh tools/cuda-kit.sh

clean: ## remove build/
	rm -rf build

env: setup ## print the variables with which plain go commands work: eval "$(make env)"
	@$(MAKE) --no-print-directory $(library) >&2
	@$(with_flags) printf "export CGO_LDFLAGS='%s'\n" "$$(printf %s "$$CGO_LDFLAGS" | sed "s/'/'\\\\''/g")"

force:

build/libtorch.env: force
	@mkdir -p build && sh tools/find-libtorch.sh $@

# Where gotorch lies in the module cache; the file changes with its version alone.
build/gotorch.env: force
	@mkdir -p build; go mod download $(gotorch) && go list -m -f '{{.Dir}}' $(gotorch) | sed "s/'/'\\\\''/g; s/.*/gotorch_folder='&'/" >$@.new && \
	if cmp -s $@.new $@; then rm $@.new; else mv $@.new $@; fi

build/gotorch.cc: force
	@mkdir -p build; for part in $(gotorch_parts); do echo "#include \"cgotorch/$$part.cc\""; done >$@.new; \
	if cmp -s $@.new $@; then rm $@.new; else mv $@.new $@; fi

build/gotorch.o: build/gotorch.cc build/gotorch.env build/libtorch.env tools/cxx-flags.sh
	$(call timed,compile gotorch,. build/gotorch.env; $(CXX) $(cxx_flags) -I"$$gotorch_folder" $$libtorch_flags -c $< -o $@)

build/shim/%.o: torch/csrc/%.cc $(shim_headers) build/libtorch.env tools/cxx-flags.sh
	@mkdir -p $(@D)
	$(call timed,compile $<,$(CXX) $(cxx_flags) $(warnings) $$libtorch_flags -c $< -o $@ 2>$@.log || { cat $@.log >&2; exit 1; }; cat $@.log >&2)

build/lib/libcgotorch.so: build/gotorch.o
	@mkdir -p $(@D)
	$(call timed,link $@,$(CXX) -shared $^ -o $@ $$libtorch_link)

build/lib/libiwtorch.so: $(shim)
	@mkdir -p $(@D)
	$(call timed,link $@,$(CXX) -shared $^ -o $@ $$libtorch_link)

# What both are linked from; `go build` would fetch it too, without a word.
build/modules: go.mod go.sum
	@mkdir -p build
	$(call timed,fetch Go modules,go list -deps ./cmd/iwrun ./cmd/iwrun-torch >/dev/null && touch $@)

# Whether there is something to do, Go knows.
build/bin/iwrun-torch: build/modules $(library) force
	$(call timed,build $@,export $(go_flags); go build -ldflags=-w -o $@ ./cmd/iwrun-torch)

# Version 0.4 had a script of this name, over which go does not write.
build/iwrun: build/modules force
	@mkdir -p build; case $$(head -c 2 $@ 2>/dev/null) in '#!') rm $@ ;; esac; CGO_ENABLED=0 go build -ldflags=-w -o $@ ./cmd/iwrun

# What `make sanitize` builds and how it runs: the same C++, instrumented, in a folder of its own. What nobody can allocate
# is an error of libtorch, as without it: a test asks for that.
with_sanitizers = export CGO_LDFLAGS="$$(sh tools/go-flags.sh build/sanitize)";
sanitizer_options = ASAN_OPTIONS=quarantine_size_mb=8:allocator_may_return_null=1 UBSAN_OPTIONS=print_stacktrace=1 LSAN_OPTIONS=suppressions='$(here)/tools/leaks.supp':print_suppressions=0
sanitizers := -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer -g -O1
sanitized_library := build/sanitize/libiwtorch.so build/sanitize/libcgotorch.so
sanitized_shim := $(shim:build/shim/%=build/sanitize/shim/%)

build/sanitize/gotorch.o: build/gotorch.cc build/gotorch.env build/libtorch.env
	@mkdir -p $(@D)
	$(call timed,compile gotorch with sanitizers,. build/gotorch.env; $(CXX) $(cxx_flags) $(sanitizers) -I"$$gotorch_folder" $$libtorch_flags -c $< -o $@)

build/sanitize/shim/%.o: torch/csrc/%.cc $(shim_headers) build/libtorch.env
	@mkdir -p $(@D)
	$(call timed,compile $< with sanitizers,$(CXX) $(cxx_flags) $(sanitizers) $(warnings) $$libtorch_flags -c $< -o $@)

build/sanitize/libcgotorch.so: build/sanitize/gotorch.o
	$(call timed,link $@,$(CXX) -shared $(sanitizers) $^ -o $@ $$libtorch_link)

build/sanitize/libiwtorch.so: $(sanitized_shim)
	$(call timed,link $@,$(CXX) -shared $(sanitizers) $^ -o $@ $$libtorch_link)
