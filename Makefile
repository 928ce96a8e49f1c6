# What people and continuous integration run. `make` alone lists it.
SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

PREFIX ?= /usr/local
DESTDIR ?=
FUZZ_SECONDS ?= 300
COMMANDS := notes handoff shopping contacts
# The directories that `make install` writes to, under PREFIX.
INSTALLED := bin share/man/man1 share/bash-completion/completions share/zsh/site-functions \
    share/fish/vendor_completions.d

# The Swift runtime is linked in, so that the commands run on machines without the toolchain.
RELEASE := -c release --static-swift-stdlib
UNIT := --skip LANTests
# All at once, they starve each other on a machine with few cores, and the library's own time limits end them.
export SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH ?= 4
# Hosts share this machine's cores and the tests watch time limits: one LAN test at a time.
LAN := --filter LANTests --no-parallel
# Debian's own llvm-cov, if it is installed, cannot read what this toolchain writes.
TOOLCHAIN = $(dir $(realpath $(shell command -v swift)))

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "%-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: deps
deps: ## install the Debian packages that building and testing need
	@.ci/packages

.PHONY: build
build: ## build the commands for release
	swift build $(RELEASE)

.PHONY: demo
demo: deps build ## hand a note from one host to another, in a network on this machine
	Tests/lan/demo

.PHONY: test
test: ## run all tests: units first, then on hosts in a network on this machine
	swift build --build-tests
	certs/selftest
	swift test --skip-build $(UNIT)
	Tests/lan/lab-selftest
	swift test --skip-build $(LAN)

.PHONY: test-long
test-long: ## run the tests that take minutes
	swift build --build-tests
	HANDOFF_LONG_TESTS=1 swift test --skip-build --filter '/long' --no-parallel
	Tests/fuzz/fuzz 60

.PHONY: fuzz
fuzz: ## run the decoders of peer input under a fuzzer for FUZZ_SECONDS, 300 if not told
	Tests/fuzz/fuzz $(FUZZ_SECONDS)

.PHONY: bench
bench: ## compare the speed of streams and attachments with other tools, on hosts in a network on this machine
	swift build $(RELEASE) --product handoff-bench
	swift build $(RELEASE) --product notes
	Tests/lan/bench

.PHONY: lint
lint: ## check format, imports, scripts, forbidden words and the checklist of tests
	swift format lint --strict --recursive --parallel Sources Tests Package.swift
	Tests/lint/imports
	Tests/lint/words
	Tests/lint/shell
	Tests/lint/checklist

.PHONY: docs
docs: ## build the documentation of the library into .build/docs, and check that it is whole
	Tests/lint/documentation

.PHONY: format
format: ## format the Swift sources
	swift format --in-place --recursive --parallel Sources Tests Package.swift

.PHONY: tsan
tsan: ## run the unit tests under the thread sanitizer
	swift test --sanitize thread --scratch-path .build-tsan $(UNIT) --no-parallel

.PHONY: asan
asan: ## run the unit tests under the address sanitizer
	ASAN_OPTIONS=detect_leaks=0 swift test --sanitize address --scratch-path .build-asan $(UNIT) --no-parallel

.PHONY: coverage
coverage: ## run the unit tests and show what they cover
	swift test --enable-code-coverage --scratch-path .build-coverage $(UNIT)
	$(TOOLCHAIN)llvm-cov report .build-coverage/debug/handoffPackageTests.xctest \
	    -instr-profile .build-coverage/debug/codecov/default.profdata \
	    -ignore-filename-regex '(^|/)(Tests|\.build[^/]*)/'

.PHONY: install
install: ## install what `make build` built, under DESTDIR and PREFIX
	@for command in $(COMMANDS); do \
	    [[ -x .build/release/$$command ]] || { echo "nothing to install; run: make build" >&2; exit 1; }; \
	done
	install -d $(INSTALLED:%="$(DESTDIR)$(PREFIX)/%")
	install -m 0755 $(COMMANDS:%=.build/release/%) "$(DESTDIR)$(PREFIX)/bin/"
	@# The commands themselves know their verbs, so pages and completions cannot be out of date.
	@umask 022; for command in $(COMMANDS); do \
	    program=.build/release/$$command share="$(DESTDIR)$(PREFIX)/share"; \
	    $$program --dump-man >"$$share/man/man1/$$command.1"; \
	    $$program completion bash >"$$share/bash-completion/completions/$$command"; \
	    $$program completion zsh >"$$share/zsh/site-functions/_$$command"; \
	    $$program completion fish >"$$share/fish/vendor_completions.d/$$command.fish"; \
	done

.PHONY: uninstall
uninstall: ## remove what `make install` installed
	@for command in $(COMMANDS); do \
	    rm -f "$(DESTDIR)$(PREFIX)/bin/$$command"; \
	    share="$(DESTDIR)$(PREFIX)/share"; \
	    rm -f "$$share/man/man1/$$command.1" "$$share/bash-completion/completions/$$command" \
	        "$$share/zsh/site-functions/_$$command" "$$share/fish/vendor_completions.d/$$command.fish"; \
	done

.PHONY: clean
clean: ## remove everything that was built
	rm -rf .build .build-*
