# The tasks of this repository. `make` alone lists them.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

GO ?= go
# Test binaries run at the same time: a package with servers mostly waits, and
# five of them keep two processors busy.
PARALLEL ?= 5
# Tests of one package that run at the same time, of those that may: most of what they do is to wait.
ABREAST ?= 4
# The packages that take longest, which begin first.
LONGEST := ./tests/matrix ./tests/leases ./tests/faces ./tests/kinds ./tests/zklock ./tests/conformance ./tests/kerberos ./tests/crowd ./tests/simulation ./tests/interop ./tests/access ./tests/touches ./tests/gateway ./tests/stalls
# How long the soak lasts, how much is compared and simulated, and with how many inputs each target is fuzzed: until Go
# 1.27, a run that ends by the clock may fail for that alone (golang/go#75804).
SOAK ?= 1h
OPERATIONS ?= 1000000
SEEDS ?= 100000
FUZZTIME ?= 1500000x
# More flags for the benchmarks, such as -workload one,pair or -plot charts.
BENCH ?=
# What locks do, on an embedded server, a real one and an ensemble: a package for each subject, see tests/doc.go.
BEHAVIOUR := ./tests/actors ./tests/deadlocks ./tests/elections ./tests/faces ./tests/kinds ./tests/leases ./tests/queues ./tests/refusals ./tests/restarts ./tests/runonce ./tests/txn
# What make paths switches off, one after the other and then all at once, and the packages that it tests so.
FAST_PATHS ?= $(shell sed -n 's/^func FastPaths.*{"\(.*\)"} }/\1/p' actors/internal/coordinator/state.go | sed 's/", "/ /g')
PATHS_PACKAGES ?= ./actors ./tests/matrix ./tests/simulation ./tests/interop $(BEHAVIOUR)
# A binary with -race sleeps for a second before it ends, in case another goroutine races then. A tenth is enough: tests
# wait for their goroutines.
export GORACE ?= atexit_sleep_ms=100
# Heaps of tests are small, and collected over and over: let grow to five times what lives they take a fifth less time with
# -race. The compiler and staticcheck take a tenth less. Benchmarks are as users run Go.
test: export GOGC ?= 800
test-all test-race test-pages versions race halts lint fuzz: export GOGC ?= 400
# The versions of ZooKeeper that make versions tests on, and the packages that start servers. Debian 12 alone has 3.8.0.
# The embedded server is compared with one version only, so make test-all alone has tests/conformance.
VERSIONS ?= 3.9.5 3.8.6 3.8.0
SERVERS := ./actors ./examples/... $(BEHAVIOUR) ./tests/access ./tests/cluster ./tests/figures ./tests/gateway ./tests/interop ./tests/kerberos ./tests/matrix ./tests/rig/... ./tests/stalls ./tests/touches ./tests/zklock
# What is compiled does not depend on the folder it is in, so that tests/readme compiles its clone of the repository and
# what go install downloads once, not three times. The programs that tests build have no debugger's tables either.
test test-all: export GOFLAGS += -trimpath -ldflags=-w
# Without cgo, which -race alone needs, a test binary is linked in two thirds of the time: report sets it there. make test-all
# has it throughout, so that its parts find compiled what the others have.
test: export CGO_ENABLED ?= $(if $(filter test-all,$(MAKECMDGOALS)),1,0)
# Files of stories and replies are not printed as they are played: that was half of what tests print.
export DATADRIVEN_QUIET_LOG ?= 1
# C that comes with Go modules is compiled quickly rather than to be fast: SQLite, for a test of migrations, in 4 s, not 40.
test test-all: export CGO_CFLAGS ?= -O0
# Test binaries have no debugger's tables, which take a third of a link and a tenth of compiling: traces and profiles need
# none of them. That goes for all packages that are compiled with -race, so that other modules find ours compiled.
LINK := -ldflags=-w -gcflags=all=-dwarf=false
# Where make halts puts its program.
HALTS ?= /tmp/turnstile-halts
# Where make profile puts what it finds.
PROFILES ?= /tmp/turnstile-profiles
# Modules of their own, so that what only they need is not in the library's go.mod. make tidy keeps them in step. What
# takes longest comes first.
MODULES := tests/dashboard tests/bench tests/soak tests/adapters examples/scheduler examples/metrics locks/adapters/gocron
comma := ,
# All packages of this module but some. Packages that are named before these, too, begin first.
but = $$(comm -23 <($(GO) list ./... | sort) <($(GO) list $(1) | sort))
# What make cover counts, the packages whose tests it runs, and where it puts the profile, which go tool cover reads.
COVERED := ./actors ./actors/inspect ./actors/internal/carrier ./actors/internal/coordinator ./actors/machine ./actors/queue ./actors/sharing ./actors/turns ./locks ./messages ./zkconn ./zkconn/lease
COVER_TESTS ?= ./...
COVER ?= /tmp/turnstile-cover.out
# Where make newest puts its go.mod.
NEWEST ?= /tmp/turnstile-newest
# Packages of pure decisions and what plays them: one goroutine, in which -race finds nothing and takes most of the time.
# make test has them, and make race has all with it.
PURE := ./actors/internal/coordinator ./actors/turns ./actors/term ./actors/internal/walk ./actors/gateway/internal/relay ./actors/machine ./actors/queue ./tests/steady
# The test that carries out what the pages say, through programs that have tests of their own: likewise.
PAGES := ./tests/readme
# Modules that drive other programs, a browser, servers and libraries, through what has tests of its own: likewise.
DRIVERS := tests/dashboard tests/bench tests/adapters
# The packages with files that are built with -race only.
WITH_RACE := ./actors/internal/walk ./zkconn/lease ./tests/simulation ./tests/matrix
STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2
ACTIONLINT := github.com/rhysd/actionlint/cmd/actionlint@v1.7.12
GOVULNCHECK := golang.org/x/vuln/cmd/govulncheck@v1.9.0
APIDIFF := golang.org/x/exp/cmd/apidiff@v0.0.0-20261113113407-e3970619a1a4
# The version that make release prepares, and where it puts what the release says.
VERSION ?= v0.1.0
RELEASE ?= /tmp/turnstile-release
# Where make dist puts zklock for every system. The files in it have the time of the commit.
DIST ?= /tmp/turnstile-dist

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z][a-z-]*:.*## / { printf "  %-15s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

# What make test runs with -race, where there is a C compiler: the packages with goroutines. The tests of behaviour meet the
# same code, and have it in make test-all.
RACING := ./actors ./actors/activation ./actors/gateway ./actors/inspect ./actors/internal/carrier ./actors/internal/mailbox ./actors/sharing ./locks ./zkconn ./zkconn/told
RACE := $(if $(filter 1,$(shell $(GO) env CGO_ENABLED)),-race)
# The module of which every test needs a browser: likewise.
BROWSER := tests/dashboard
# Packages most of whose tests need a program of others, or minutes: make test-all alone has them.
REAL := ./tests/crowd ./tests/halts ./tests/interop ./tests/kerberos ./tests/rig/... ./tests/stalls ./tests/touches ./tests/zklock

.PHONY: test
test: ## gofmt, go vet, and every test that needs nothing but Go: the walk, the matrix, the simulation, the embedded server; some minutes, seconds where nothing changed
	@$(GO) vet $(REAL) # go test vets all others with the same checks: the go command takes a second to begin
	@$(GO) -C $(BROWSER) vet ./...
	@$(GO) run ./tests/report -no-skips -hermetic $(if $(CI),,-brief) -beside $(subst $() ,$(comma),$(filter-out $(BROWSER),$(MODULES))) -- \
		$(RACE) -vet=all -timeout 10m -p $(PARALLEL) $(RACING) -- -vet=all -timeout 10m -p $(PARALLEL) $(call but,$(RACING) $(REAL))
	@echo 'make test: passed, $(if $(RACE),with -race where goroutines meet,without -race: there is no C compiler). make test-all asks real servers.'

.PHONY: test-all
test-all: test ## make test, and all that needs more: installs it, lints, asks real servers, peers and a browser, most of it with -race; a skip is a failure
	@$(MAKE) --no-print-directory -j 2 test-race test-pages || \
		{ echo "make test-all has failed: lines with *** above name the parts that did"; exit 1; }

# What make test-all runs at the same time. Packages with servers mostly wait. The pages come behind lint, because their
# programs consist of packages that it compiles.
.PHONY: test-race test-pages
test-race: deps ## the part of make test-all with servers and -race
	TURNSTILE_REQUIRE_SERVERS=1 $(GO) run ./tests/report -no-skips -beside $(subst $() ,$(comma),$(MODULES)) -plain $(subst $() ,$(comma),$(DRIVERS)) -- \
		-race -count=1 -vet=off $(LINK) -timeout 20m -p $(PARALLEL) -parallel $(ABREAST) $(LONGEST) $(call but,$(PURE) $(PAGES)) # lint vets all

test-pages: deps lint ## lint, and the part with the commands of the pages
	TURNSTILE_REQUIRE_SERVERS=1 $(GO) run ./tests/report -no-skips -- -count=1 -timeout 20m $(PAGES)

.PHONY: versions
versions: deps ## the suites that start servers, on each of VERSIONS in turn (about half an hour)
	if [[ ' $(VERSIONS) ' = *' 3.8.0 '* ]]; then tests/rig/install.sh; fi
	for version in $(VERSIONS); do TURNSTILE_ZOOKEEPER=$$version $(GO) run ./tests/rig/archive; done
	failed=; for version in $(VERSIONS); do \
		TURNSTILE_ZOOKEEPER=$$version TURNSTILE_REQUIRE_SERVERS=1 $(GO) run ./tests/report -no-skips -beside $(subst $() ,$(comma),$(MODULES)) -- \
			-count=1 -vet=off -timeout 30m -p $(PARALLEL) -parallel $(ABREAST) $(SERVERS) && echo "on ZooKeeper $$version" || failed+=" $$version"; \
	done; [ -z "$$failed" ] || { echo "failed on$$failed"; exit 1; }


.PHONY: race
race: ## run the tests with -race and what is installed; tests without their servers are skipped
	TURNSTILE_RECIPES=all TURNSTILE_SIMULATION_SEEDS=300 $(GO) run ./tests/report -beside $(subst $() ,$(comma),$(MODULES)) -- \
		-race -count=1 $(LINK) -timeout 20m -p $(PARALLEL) -parallel $(ABREAST) $(LONGEST) ./...

.PHONY: cover
cover: deps ## how many blocks of the core and of package locks the tests reach, package by package (as long as make test-all)
	TURNSTILE_REQUIRE_SERVERS=1 $(GO) run ./tests/report -no-skips -- -count=1 -vet=off -timeout 20m -p $(PARALLEL) -parallel $(ABREAST) \
		-coverpkg=$(subst $() ,$(comma),$(COVERED)) -coverprofile=$(COVER) $(COVER_TESTS)
	@awk 'NR > 1 { block[$$1] = 1; if ($$3) reached[$$1] = 1 } \
		END { for (b in block) { at = b; sub("/[^/]*$$", "", at); all[at]++; hit[at] += b in reached; all["all"]++; hit["all"] += b in reached } \
			for (at in all) printf "%5d of %5d blocks  %s\n", hit[at], all[at], at }' $(COVER) | sort -k 5

.PHONY: readme
readme: deps ## carry out every command of every page in a clean clone, but for the longest targets (about two and a half hours)
	TURNSTILE_REQUIRE_SERVERS=1 TURNSTILE_README=all \
		$(GO) test -count=1 -timeout 5h -v -run 'TestEveryCommandIsKnown|TestRealCommands' ./tests/readme

.PHONY: format
format: ## that every file is as gofmt writes it
	@unformatted="$$(gofmt -l .)"; if [ -n "$$unformatted" ]; then echo "not gofmt-ed:"; echo "$$unformatted"; exit 1; fi

.PHONY: lint
lint: format ## gofmt, go vet, staticcheck, in every module, and actionlint
	for module in . $(MODULES); do (cd $$module && $(GO) vet ./... && $(GO) run $(STATICCHECK) ./...); done
	$(GO) vet -race $(LINK) $(WITH_RACE) # compiles what the tests link
	for system in windows darwin; do GOOS=$$system CGO_ENABLED=0 $(GO) vet -gcflags='all=-N -l -dwarf=false' ./examples/zklock/...; done # files for each; optimises nothing
	$(GO) run $(ACTIONLINT)

.PHONY: tidy
tidy: ## go mod tidy, in every module
	for module in . $(MODULES); do (cd $$module && $(GO) mod tidy); done

.PHONY: newest
newest: deps ## vet, and the tests but those of pure packages, with what go.mod names at its newest (about eight minutes)
	mkdir -p $(NEWEST) && cp go.mod go.sum $(NEWEST)
	$(GO) get -modfile=$(NEWEST)/go.mod $$($(GO) list -m -f '{{if not (or .Main .Indirect)}}{{.Path}}@latest{{end}}' all)
	$(GO) vet -modfile=$(NEWEST)/go.mod ./...
	TURNSTILE_REQUIRE_SERVERS=1 $(GO) run ./tests/report -no-skips -- \
		-count=1 -timeout 20m -vet=off -modfile=$(NEWEST)/go.mod -p $(PARALLEL) -parallel $(ABREAST) $(call but,$(PURE) $(PAGES))

.PHONY: oldest
oldest: ## make test with the oldest Go that go.mod names
	GOTOOLCHAIN=go$$($(GO) list -m -f '{{.GoVersion}}') $(MAKE) --no-print-directory test

.PHONY: vulnerabilities
vulnerabilities: ## what is known to be vulnerable in what every module uses (asks vuln.go.dev)
	for module in . $(MODULES); do $(GO) -C $$module run $(GOVULNCHECK) ./...; done

.PHONY: release
release: ## what remains to be done by hand before VERSION is tagged; its notes and API report go to RELEASE
	.github/release.sh $(VERSION) $(RELEASE) $(APIDIFF)

.PHONY: dist
dist: ## zklock of VERSION for linux, darwin and windows, amd64 and arm64, with checksums, into DIST (about five minutes)
	$(GO) run ./examples/zklock/dist -version $(VERSION) -out $(DIST) -time $$(git log -1 --format=%ct)
	cd $(DIST) && sha256sum --check SHA256SUMS

.PHONY: paths
paths: deps ## the invariant suites without each fast path, and without all of them (about an hour)
	for without in $(FAST_PATHS) $$(tr ' ' ',' <<<'$(FAST_PATHS)'); do \
		echo "without $$without"; \
		TURNSTILE_REQUIRE_SERVERS=1 TURNSTILE_WITHOUT=$$without \
			$(GO) run ./tests/report -no-skips -- -count=1 -timeout 20m -p 1 $(PATHS_PACKAGES); \
	done

.PHONY: mutants
mutants: ## which seeded mistakes and random changes make test finds, and of those that it misses, which make test-all does (about two hours)
	$(GO) run ./tests/mutants -all $(call but,$(REAL))

.PHONY: halts
halts: deps ## the tests in processes that are stopped at random, as by a busy machine (about twenty minutes)
	$(GO) build -o $(HALTS) ./tests/halts
	TURNSTILE_REQUIRE_SERVERS=1 $(GO) run ./tests/report -no-skips -- \
		-exec $(HALTS) -race -count=1 -vet=off $(LINK) -timeout 30m -p $(PARALLEL) -parallel $(ABREAST) $(LONGEST) $(call but,$(PURE) $(PAGES))

.PHONY: diagram
diagram: ## draw the state machine's diagram again
	$(GO) test ./actors/machine -run Diagram -rewrite

.PHONY: walk
walk: ## walk every state that up to three requests can reach, within large bounds (half an hour)
	TURNSTILE_WALK=long $(GO) test -count=1 -v -timeout 2h ./actors/internal/walk

.PHONY: lease-walk
lease-walk: ## walk the lease rule over a model of the servers, within large bounds, and millions of random histories (about twenty minutes)
	TURNSTILE_LEASE_WALK=long $(GO) test -count=1 -v -timeout 2h -run 'TestWalk|TestRandom' ./zkconn/lease

.PHONY: soak
soak: soak-faults soak-compare soak-simulate fuzz ## the long runs, one after the other (about two hours)

.PHONY: soak-faults
soak-faults: deps ## locks on an ensemble that keeps failing, for SOAK
	$(GO) -C tests/soak run . -duration $(SOAK)

.PHONY: mistakes
mistakes: deps ## seed mistakes into the code that the simulation, the matrix, the stalls, the walks and every suite with waiters must find, and rules' own tests (about forty minutes)
	TURNSTILE_REQUIRE_SERVERS=1 $(GO) test -tags mistakes -count=1 -timeout 3h -v -run 'Finds?$$' ./tests/mistakes ./actors/turns ./actors/internal/walk ./zkconn/lease

.PHONY: soak-mistakes
soak-mistakes: deps ## seed mistakes into the code, which the soak must find (about ten minutes)
	TURNSTILE_REQUIRE_SERVERS=1 $(GO) -C tests/soak test -tags mistakes -count=1 -timeout 1h -v -run 'TestSoakFinds$$' .

.PHONY: soak-compare
soak-compare: deps ## OPERATIONS random operations on the embedded server and a real one, compared
	TURNSTILE_REQUIRE_SERVERS=1 TURNSTILE_CONFORMANCE_OPERATIONS=$(OPERATIONS) \
		$(GO) test -count=1 -timeout 3h -v -run 'TestRealDifferential$$' ./tests/conformance

.PHONY: soak-simulate
soak-simulate: ## SEEDS simulated histories
	TURNSTILE_SIMULATION_SEEDS=$(SEEDS) $(GO) test -count=1 -timeout 3h -v -run 'TestSimulation$$' ./tests/simulation
	TURNSTILE_SINGLETON_SEEDS=400 TURNSTILE_ACTIVATION_SEEDS=200 $(GO) test -count=1 -timeout 1h -run 'TestRandom$$|TestStorms$$' ./tests/singleton ./tests/activation

.PHONY: fuzz
fuzz: ## fuzz what reads from the network and what neighbours write, with FUZZTIME inputs for each
	for target in FuzzDecoder FuzzFrames FuzzOperations FuzzSASL FuzzDirectives; do \
		$(GO) test -run '^$$' -fuzz "^$$target$$" -fuzztime $(FUZZTIME) ./zkconn/embedded; \
	done
	for target in FuzzStep FuzzKDC FuzzFiles; do \
		$(GO) test -run '^$$' -fuzz "^$$target$$" -fuzztime $(FUZZTIME) ./zkconn/gssapi; \
	done
	for target in FuzzSASLReplies FuzzReplies; do \
		$(GO) test -run '^$$' -fuzz "^$$target$$" -fuzztime $(FUZZTIME) ./zkconn; \
	done
	$(GO) test -run '^$$' -fuzz '^FuzzWire$$' -fuzztime $(FUZZTIME) ./actors/gateway
	$(GO) test -run '^$$' -fuzz '^FuzzNodes$$' -fuzztime $(FUZZTIME) ./actors/queue
	$(GO) test -run '^$$' -fuzz '^FuzzChallenge$$' -fuzztime $(FUZZTIME) ./zkconn/digestmd5
	$(GO) test -run '^$$' -fuzz '^FuzzKeyNames$$' -fuzztime $(FUZZTIME) ./actors/queue

.PHONY: bench
bench: deps ## Turnstile beside go-zookeeper's Lock and bare requests, on one server and on three (about 40 minutes)
	$(GO) -C tests/bench run . $(BENCH)
	$(GO) -C tests/bench run . -ensemble $(BENCH)

.PHONY: bench-peers
bench-peers: deps ## the same on one server, and Curator and kazoo, too (about 40 minutes)
	$(GO) -C tests/bench run . -peers $(BENCH)

.PHONY: profile
profile: deps ## profiles of Turnstile under the hot workloads, and of the heap of requests that wait, into PROFILES; prints the top of each
	$(GO) -C tests/bench run . -profile $(PROFILES) $(BENCH)

.PHONY: bench-go
bench-go: ## Go benchmarks of the state machine, the queue, the session actor and the transport
	$(GO) test -run '^$$' -bench 'Step|Find|Cycle|Outbox|Transport' -benchmem ./actors/machine ./actors/queue ./actors ./zkconn

.PHONY: bench-embedded
bench-embedded: deps ## create and delete on the embedded server and on a real one, side by side
	TURNSTILE_REQUIRE_SERVERS=1 $(GO) test -run '^$$' -bench BenchmarkEmbeddedAgainstReal -benchtime 1500x ./tests/conformance

.PHONY: screenshots
screenshots: deps ## pictures of the dashboard, and zklock's views at 80 columns, of the code as it is (about five minutes)
	TURNSTILE_REQUIRE_SERVERS=1 TURNSTILE_SCREENSHOTS=examples/dashboard/screenshots \
		$(GO) -C tests/dashboard test -count=1 -timeout 20m -run 'TestScreenshots$$' .
	TURNSTILE_REQUIRE_SERVERS=1 TURNSTILE_ZKLOCK_SCREENSHOTS=examples/zklock/screenshots \
		$(GO) test -count=1 -timeout 20m -run 'TestScreenshots$$' ./tests/zklock

.PHONY: deps
deps: ## fetch and install what the tests run: ZooKeeper, Java, a KDC, Curator, kazoo, Chromium, promtool, where they are missing
	tests/rig/pinned/install.sh
	$(GO) run ./tests/rig/archive
	tests/rig/kdc/install.sh
	tests/dashboard/install.sh
	examples/metrics/install.sh
