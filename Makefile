# Two commands: `make run` answers the default question, `make test` runs every test. Both install what is missing.
PRESET ?= release
JOBS ?= $(shell nproc)
PREFIX ?= /usr/local

.PHONY: run program install build test lint format deps fuzz attack bench python package docs-pictures clean

run: program
	@build/$(PRESET)/ridge plan examples/chat-70b.toml

# The program with its page and MPI; tests, benchmarks and Python wait until somebody asks for them.
program:
	@mkdir -p build
	@tools/install_deps.sh program
	@cmake --preset $(PRESET) -DRIDGE_TESTS=OFF > build/configure.log 2>&1 || { cat build/configure.log; exit 1; }
	@NINJA_STATUS='building ridge, about 4 min the first time on two cores: %p  ' cmake --build build/$(PRESET) -j $(JOBS) --target ridge

# Program, C library and catalogue, below PREFIX (and DESTDIR).
install: program
	@cmake --build build/$(PRESET) -j $(JOBS) --target ridgeline
	@cmake --install build/$(PRESET) --prefix $(PREFIX) > build/install.log 2>&1 || { cat build/install.log; exit 1; }
	@echo "installed: $(DESTDIR)$(PREFIX)/bin/ridge"

build: deps
	@cmake --preset $(PRESET) -DRIDGE_TESTS=ON > build/configure.log 2>&1 || { cat build/configure.log; exit 1; }
	@cmake --build build/$(PRESET) -j $(JOBS)

test: build lint
	@ctest --test-dir build/$(PRESET) --output-on-failure -j $(JOBS)

lint: build
	@tools/lint.sh build/$(PRESET)

format:
	@git ls-files '*.cpp' '*.hpp' '*.cu' | xargs clang-format-14 -i

deps:
	@mkdir -p build
	@tools/install_deps.sh

fuzz: deps
	@tools/fuzz.sh

# Half an hour of attacks on server, files and flags; figures are printed. SECONDS_OF_ATTACK=60 makes it a minute.
attack: build
	@python3 tests/attack/rows.py build/$(PRESET)/ridge
	@RIDGE_GARBAGE=100000 build/$(PRESET)/tests/test_cli --gtest_brief=1 --gtest_filter='Garbage.*'
	@/usr/bin/python3 tests/attack/ways.py build/$(PRESET)/ridge --questions 10000 --lines 10000
	@python3 tests/attack/cells.py build/$(PRESET)/ridge --seconds $(or $(SECONDS_OF_ATTACK),600) --seed $(or $(SEED),1)
	@python3 tests/attack/run.py build/$(PRESET)/ridge --seconds $(or $(SECONDS_OF_ATTACK),1800) --seed $(or $(SEED),1)

bench: build
	@build/release/ridge_bench

# The module for Debian's Python, in build/PRESET/python: PYTHONPATH=build/release/python /usr/bin/python3
python: deps
	@cmake --preset $(PRESET) -DRIDGE_TESTS=ON > build/configure.log 2>&1 || { cat build/configure.log; exit 1; }
	@cmake --build build/$(PRESET) -j $(JOBS) --target ridge_python
	@PYTHONPATH=build/$(PRESET)/python /usr/bin/python3 -c 'import ridgeline; print("ridgeline", ridgeline.__version__, "in build/$(PRESET)/python")'

# The pictures of the README, drawn by the program (needs Chromium).
docs-pictures: program
	@node tools/docs_pictures.mjs build/$(PRESET)/ridge && ls docs/images

# A Debian package of the program, the library and the catalogue, in build/PRESET/package.
package: program
	@tools/install_deps.sh package
	@cmake --build build/$(PRESET) -j $(JOBS) --target ridgeline
	@cd build/$(PRESET) && cpack -G DEB > cpack.log 2>&1 || { cat cpack.log; exit 1; }
	@ls build/$(PRESET)/package/*.deb

clean:
	rm -rf build
