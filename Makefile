# The commands of a fresh clone. Each sets up what it needs; CMake and Ninja do
# the work in build/ (see CONTRIBUTING.md to drive them by hand).
PRESET ?= dev
PREFIX ?= /usr/local
JOBS ?= $(shell nproc)
NINJA = ninja -C build -j$(JOBS)

.PHONY: all demo test check-quick soak bench zoo install conformance test-gpu gpu-bundle test-python wheel test-wheel docs site package \
  format configure clean

all: configure
	@$(NINJA)

configure:
	@scripts/setup.sh
	@[ -f build/build.ninja ] || cmake --preset $(PRESET) >build-configure.log 2>&1 || { cat build-configure.log; exit 1; }
	@rm -f build-configure.log

# Compiles the shipped, trained model and runs it on the held-out samples, by an
# unoptimized build of the compiler in build-demo/ if there is no build/.
demo:
	@JOBS=$(JOBS) scripts/demo.sh

# Everything: lit, GoogleTest, C programs, models, ONNX conformance, sanitizers.
test:
	@JOBS=$(JOBS) PRESET=$(PRESET) scripts/run-tests.sh all

# What a developer runs before a commit: lit and the unit tests.
check-quick:
	@JOBS=$(JOBS) PRESET=$(PRESET) scripts/run-tests.sh quick

conformance:
	@JOBS=$(JOBS) PRESET=$(PRESET) scripts/run-tests.sh conformance

# Hours of mutated, random and starved inputs (docs/soak.md).
soak:
	@JOBS=$(JOBS) PRESET=$(PRESET) scripts/soak.sh

# Tests and benchmark for a machine with a GPU and its driver: build/gpu-bundle.
gpu-bundle:
	@JOBS=$(JOBS) PRESET=$(PRESET) scripts/gpu-bundle.sh

test-gpu:
	@JOBS=$(JOBS) PRESET=$(PRESET) scripts/run-tests.sh gpu

# The Python package with the build's libraries, and as a wheel that carries the
# compiler: build/wheel/adze-*.whl.
test-python: configure
	@$(NINJA) adze_compiler adze_rt_shared adze_generate adze_onnxruntime_ep atranslate arun aopt
	@scripts/test-python.sh $(PYTEST_FLAGS)

wheel: configure
	@JOBS=$(JOBS) scripts/make-wheel.sh

test-wheel: wheel
	@scripts/test-python.sh --wheel $(PYTEST_FLAGS)

bench:
	@JOBS=$(JOBS) PRESET=$(PRESET) benchmarks/bench.sh $(BENCH_FLAGS)

# Some 230 real files against ONNX Runtime; not part of the tests.
zoo:
	@JOBS=$(JOBS) PRESET=$(PRESET) benchmarks/zoo/zoo.sh $(ZOO_FLAGS)

install: configure
	@$(NINJA) adze-install-targets
	@cmake --install build --prefix $(PREFIX)

docs: configure
	@$(NINJA) adze-docs

# A .deb, a .tar.zst and the wheel, in build/packages.
package:
	@JOBS=$(JOBS) scripts/package.sh

# The pages as a site with search, in build/site.
site: docs
	@scripts/site.sh

format:
	@git ls-files '*.cpp' '*.h' '*.c' | xargs clang-format-22 -i

clean:
	@rm -rf build build-demo build-asan build-tsan
