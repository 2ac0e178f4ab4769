# make help lists the targets. GO, ARGS and TESTARGS may be set: make run ARGS='--listen 127.0.0.1:9090',
# make test TESTARGS='-run TestTop ./store/...'. Several targets have kinds: make test KIND=web. IN names the
# module of TESTARGS: make test IN=workshop TESTARGS=./e2e.
GO       ?= go
TESTARGS ?= ./...
IN       ?= .
# The version that the program reports; without git, as in a tarball, the toolchain's.
VERSION   = $(shell git describe --tags --always --dirty 2>/dev/null)
COMMIT    = $(shell git rev-parse HEAD 2>/dev/null)
LDFLAGS   = -X leaderboard/internal/app.version=$(VERSION) -X leaderboard/internal/app.commit=$(COMMIT)
LINT      = $(GO) tool -modfile=$(CURDIR)/workshop/tools/go.mod golangci-lint
# Packages built in one clone are used again in another: without it the go tool's cache knows sources by their folder.
export GOFLAGS := $(strip -trimpath $(GOFLAGS))
# A program with the race detector sleeps a second before it ends, unless this is set; tests run hundreds.
export GORACE ?= atexit_sleep_ms=0
.DEFAULT_GOAL := help
.PHONY: help run test nightly lint fmt generate bench house build dist released vuln rename cc FORCE

help: ## list the targets, and the kinds that test, generate and dist have
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "make %-10s %s\n", $$1, $$2} /^[a-z]+-[a-z]+:.*## / {sub("-", " KIND=", $$1); printf "make %-24s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

run: ## the service with private MySQL and Redis, a demo board and its address; Ctrl-C stops all, data stay in .leaderboard
	@echo 'Compiling bin/leaderboard: two minutes the first time, seconds after that. Then MySQL and Redis start, and the addresses are printed.'
	@$(MAKE) --no-print-directory --silent build
	@exec bin/leaderboard dev $(ARGS)

test: ## every test against real servers, the product's with the race detector; what .ci/nightly lets it leave out it names
	@$(MAKE) --no-print-directory test-$(or $(KIND),go)

.PHONY: bin/testenv
bin/testenv:
	@mkdir -p bin
	$(GO) build -o bin/testenv ./internal/testenv/run

# One set of servers for the whole run; see internal/testenv. Tests wait more than they work, so more of them run at a time
# than there are cores: the product's tests, and at the same time the workshop's. The latter run each time: Go's test cache
# does not know files outside of a module. They test programs and files, so only make nightly gives them the race detector.
PICK  = $(GO) run -C workshop ./nightly $(if $(NIGHTLY),-all)
TESTS = test -parallel 4 -timeout 60m
RACES = $(TESTS) -race
test-go: cc bin/testenv
ifeq ($(TESTARGS),./...)
	@echo "LEFT OUT: engines other than MySQL 9, MariaDB 11 and Redis 8, and a Redis that is several servers; make nightly, make test-engines"
	@set -ef; product="$$($(PICK) '$(CURDIR)')"; workshop="$$($(PICK) -in workshop '$(CURDIR)')"; set -x; \
		CGO_ENABLED=1 bin/testenv -in-memory sh -cf '(cd workshop && exec $(GO) $(if $(NIGHTLY),$(RACES),$(TESTS)) -count=1 -p 1 $$1) & $(GO) $(RACES) -p 2 $$0; status=$$?; wait $$! && exit $$status' "$$product" "$$workshop"
	bin/testenv -in-memory $(GO) test -C examples -timeout 15m ./...
else
	CGO_ENABLED=1 bin/testenv -in-memory $(GO) test -C $(IN) -race -p 3 -parallel 4 -timeout 60m $(TESTARGS)
endif

test-web: ## the pages in Chromium, which is fetched like the servers: what is built is what is committed, and it works; needs Node.js
	@workshop/tools/web.sh --check
	$(GO) test -C workshop -count=1 -timeout 15m $(WEBARGS) ./webtest

test-tools: ## deploy/ by the tools that it is for: types of Kubernetes and its rules for pods, promtool, a Prometheus that scrapes a server
	$(GO) test -C deploy -count=1 ./...

test-containers: ## clients/testcontainers; needs Docker
	$(GO) test -C clients/testcontainers -count=1 ./...

test-engines: ## the tests of what is stored on each engine of docs/engines.md, whose table it writes, in an hour or two; ARGS='-only valkey', '-for 20m', '-ubuntu ADDRESS'
	@mkdir -p bin
	$(GO) build -C workshop -o ../bin/engines ./engines
	bin/engines $(ARGS)

test-upgrade: bin/testenv ## this version and the last release on one database, on MySQL and MariaDB, under load; needs the history of the repository
	LEADERBOARD_TORTURE=1 bin/testenv $(GO) test -C workshop -count=1 -v -timeout 30m -run 'TestUpgrade$$' ./e2e

test-openapi: ## openapi.yaml in two linters and through a generator of Go clients; needs Node.js. LEADERBOARD_URL, LEADERBOARD_KEY: run them
	@GO=$(GO) workshop/tools/openapi/check.sh

test-fuzz: bin/testenv ## every fuzz target for a minute, one of them through HTTP to MySQL and Redis; FUZZTIME=5s, CHANGED=1: those of packages that have changed since .ci/green
	GO=$(GO) bin/testenv workshop/tools/fuzz.sh

test-soak: bin/testenv ## two servers under all kinds of requests and faults for ten minutes: nothing grows; SOAK=1h
	LEADERBOARD_TEST_SOAK=$(or $(SOAK),10m) bin/testenv $(GO) test -C workshop -count=1 -v -timeout 25h -run 'TestSoak$$' ./e2e

test-stress: cc bin/testenv ## each package many times beside busy cores, in slices; ARGS='-n 20 -for 30m ./cache ./store'; notes in .stress
	@mkdir -p bin
	$(GO) build -C workshop -o ../bin/stress ./stress
	CGO_ENABLED=1 bin/testenv bin/stress $(ARGS)

test-days: cc ## the tests on a leap day, at New Year, in other time zones, on one processor …; ARGS='-only leap ./store'; takes libfaketime
	@mkdir -p bin
	$(GO) build -C workshop -o ../bin/stress ./stress
	CGO_ENABLED=1 bin/stress -days $(ARGS)

test-mutants: bin/testenv ## break the lines that carry the promises, one at a time: a test must turn red for each; ARGS='-only lease'
	@mkdir -p bin
	$(GO) build -C workshop -o ../bin/mutants ./mutants
	bin/testenv bin/mutants $(ARGS)

test-torture: cc bin/testenv ## the promises at their full sizes, hours of them; IN=workshop TESTARGS='-run TestLinearizable ./e2e'
	LEADERBOARD_TORTURE=1 bin/testenv $(GO) test -C $(IN) -count=1 -v -p 1 -timeout 8h $(TESTARGS)

nightly: cc ## make test with nothing left out and servers with the race detector, what CI runs besides, the tree without each feature, and every engine
	@git diff --quiet HEAD || { echo "There are changes that are in no commit: nothing could be said of a commit." >&2; exit 1; }
	CGO_ENABLED=1 $(GO) build -race -o bin/leaderboard-race ./cmd/leaderboard
	NIGHTLY=1 LEADERBOARD_E2E_PROGRAM=$(CURDIR)/bin/leaderboard-race .ci/run
	git rev-parse HEAD >.ci/green
	$(GO) build -C workshop -o ../bin/wall ./wall
	bin/testenv -in-memory bin/wall
	$(MAKE) test-engines

lint: ## golangci-lint as .golangci.yml says, and tidy go.mod files, in every module
	@for module in . clients/testcontainers deploy examples workshop workshop/tools/openapi; do \
		echo "lint $$module"; (cd $$module && $(LINT) run ./... && $(GO) mod tidy -diff) || exit 1; done

fmt: ## format the code and sort its imports
	$(LINT) fmt

generate: ## what programs write of other files: KIND=docs, client and web, or all three; needs Node.js
	@for kind in $(or $(KIND),docs client web); do $(MAKE) --no-print-directory generate-$$kind || exit 1; done

generate-docs: ## schemas of the rules, their list for the console, what the server shows of api/openapi.yaml, after a change of that, of features/manual/web or of the table of problems
	$(GO) run -C workshop ./ruleschema ..
	UPDATE_DOCS=1 $(GO) test -count=1 -run TestDocsAreCurrent ./features/manual
	$(GO) test -run TestDocs ./features/manual

generate-client: ## clients/typescript: what is generated of api/openapi.json, and JavaScript in dist; needs Node.js
	@workshop/tools/client.sh

generate-web: ## builds the pages of web/ into features/pages/built, which is committed; needs Node.js
	@workshop/tools/web.sh

generate-screenshots: ## docs/pictures, from the demo in Chromium
	$(GO) test -C workshop -count=1 -tags screenshots -run TestScreenshots ./webtest

generate-moving: bin/testenv ## docs/pictures/moving.svg, from two servers, one of which is killed with -9
	bin/testenv $(GO) test -C workshop -count=1 -tags screenshots -run 'TestMovingPicture$$' ./e2e

bench: build ## the tables of docs/benchmarks.md, in about a quarter of an hour; ARGS='-only reads', ARGS='-only giant'
	CGO_ENABLED=0 $(GO) build -C workshop -trimpath -o ../bin/bench ./bench
	@exec bin/bench -write docs/benchmarks.md $(ARGS)

house: bin/testenv ## how much one must hold in the head, each measure with its goal; ARGS='-change HEAD -feature features/x': files a change touches
	@$(GO) build -C workshop -o ../bin/house ./house
	@bin/testenv -in-memory bin/house $(ARGS)

build: ## bin/leaderboard
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags '$(LDFLAGS)' -o bin/leaderboard ./cmd/leaderboard

dist: ## what is published, in dist: archives and packages of this commit's tag, or a snapshot without one
	@$(MAKE) --no-print-directory dist-$(or $(KIND),release)

dist-release: ## the default: archives, packages, checksums, lists of parts; SIGNING_KEY=~/.ssh/id_ed25519
	@GO=$(GO) SIGNING_KEY=$(SIGNING_KEY) workshop/tools/release.sh

dist-check: ## two releases of this commit, built at two places, are the same bytes, and the program in them works
	@GO=$(GO) workshop/tools/release.sh --check

dist-chart: ## the Helm chart in dist/chart, for the image of the same version: make image
	@$(GO) run -C deploy ./chart '$(CURDIR)/dist/chart' '$(VERSION)' "$$(git log -1 --format=%ct 2>/dev/null || date +%s)"

dist-npm: ## the TypeScript client in dist as npm publishes it; NPM_NAME=@you/leaderboard; needs Node.js
	@NPM_NAME=$(NPM_NAME) workshop/tools/client.sh --pack

dist-image: ## the container image leaderboard, and leaderboard:VERSION
	docker build --build-arg VERSION=$(VERSION) --build-arg COMMIT=$(COMMIT) -t leaderboard -t leaderboard:$(VERSION) .

released: ## notes a release, after its tag: VERSION=v0.1.1; its migrations are then fixed, and tests upgrade from it
	RELEASED=$(VERSION) COMMIT=$$(git rev-parse --verify '$(VERSION)^{commit}') $(GO) test -count=1 -run TestReleasedMigrations ./migrations

vuln: ## known vulnerabilities in what the program calls, and modules that are what go.sum says; needs the internet, GOVULNDB
	@GO=$(GO) workshop/tools/vuln.sh

rename: ## give the module another path: MODULE=github.com/you/leaderboard; as often as you like, and back
	@$(GO) run -C workshop ./rename $(CURDIR) '$(MODULE)'

cc:
	@cc=$$($(GO) env CC); command -v $${cc%% *} >/dev/null || { \
		echo "The race detector needs a C compiler, and $$cc is not there. Debian, Ubuntu: apt-get install gcc libc6-dev;" \
			"Fedora: dnf install gcc; macOS: xcode-select --install." >&2; exit 1; }

# Names from before kinds.
test-kinds     = fuzz soak stress days mutants torture openapi
generate-kinds = docs client web screenshots moving
dist-kinds     = release chart npm image
$(test-kinds):     FORCE ; @$(MAKE) --no-print-directory test-$@
$(generate-kinds): FORCE ; @$(MAKE) --no-print-directory generate-$@
$(dist-kinds):     FORCE ; @$(MAKE) --no-print-directory dist-$@
release-check:     FORCE ; @$(MAKE) --no-print-directory dist-check
FORCE:
