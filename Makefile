# The tasks of this repository. `make` alone lists them.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

GO ?= go
# Test binaries run at the same time: a package with servers keeps two
# processors busy on its own.
PARALLEL ?= 2
# How much the soak compares, and how long it fuzzes each target.
OPERATIONS ?= 1000000
FUZZTIME ?= 3m
STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z][a-z-]*:.*## / { printf "  %-15s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: test
test: deps lint ## install what is needed, lint, and run every test with -race; a skip is a failure
	TURNSTILE_REQUIRE_SERVERS=1 $(GO) run ./tests/report -no-skips -- -race -count=1 -timeout 10m -p $(PARALLEL) ./...

.PHONY: race
race: ## run the tests with -race and what is installed; tests without their servers are skipped
	$(GO) run ./tests/report -- -race -count=1 -timeout 10m -p $(PARALLEL) ./...

.PHONY: lint
lint: ## gofmt, go vet, staticcheck
	@unformatted="$$(gofmt -l .)"; if [ -n "$$unformatted" ]; then echo "not gofmt-ed:"; echo "$$unformatted"; exit 1; fi
	$(GO) vet ./...
	$(GO) run $(STATICCHECK) ./...

.PHONY: diagram
diagram: ## draw the state machine's diagram again
	$(GO) generate ./actors/machine

.PHONY: soak
soak: deps ## the long runs: a million operations compared with a real server, and fuzzing (about half an hour)
	TURNSTILE_REQUIRE_SERVERS=1 TURNSTILE_CONFORMANCE_OPERATIONS=$(OPERATIONS) \
		$(GO) test -count=1 -timeout 2h -v -run TestDifferential ./tests/conformance
	$(MAKE) fuzz

.PHONY: fuzz
fuzz: ## fuzz what reads from the network, FUZZTIME for each
	for target in FuzzDecoder FuzzFrames FuzzOperations; do \
		$(GO) test -run '^$$' -fuzz "^$$target$$" -fuzztime $(FUZZTIME) ./zkconn/embedded; \
	done

.PHONY: bench-embedded
bench-embedded: deps ## create and delete on the embedded server and on a real one, side by side
	TURNSTILE_REQUIRE_SERVERS=1 $(GO) test -run '^$$' -bench BenchmarkEmbeddedAgainstReal -benchtime 1x -v ./tests

.PHONY: deps
deps: ## install what the tests run: ZooKeeper, Java, Curator, kazoo, where they are missing
	tests/rig/install.sh
	tests/interop/install.sh
