# The tasks of this repository. `make` alone lists them.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

GO ?= go
# Test binaries run at the same time: a package with servers keeps two
# processors busy on its own.
PARALLEL ?= 2
STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z][a-z-]*:.*## / { printf "  %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

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

.PHONY: deps
deps: ## install Java and ZooKeeper for the tests, if they are missing
	tests/rig/install.sh
