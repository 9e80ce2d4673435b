# edgetable: run it, test it, measure it. 'make help' lists the targets.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DELETE_ON_ERROR:
.DEFAULT_GOAL := quick

BIN := bin
CACHE := $(or $(EDGETABLE_CACHE),.cache)
FUZZTIME ?= 30s
AZURITE_VERSION := 3.37.0

# Go packages below testdata, which ./... leaves out.
TOOLS := ./testdata/attack ./testdata/bench/... ./testdata/clients/conformance ./testdata/monitoring ./testdata/postgres/... ./testdata/dynamodb/local ./testdata/lambda/... ./testdata/edge/... ./testdata/homes ./testdata/must ./testdata/proc ./testdata/remotetest
# Build tags of the tests that need DynamoDB Local and AWS's emulator, of those that need TinyGo and Node.js, of those that need
# an ACME server or Prometheus, and of those that need PostgreSQL. The last makes tests move more entities and kill more often.
TAGS := testaws,testedge,testlocal,testpostgres,testmany

export GOFLAGS ?= -trimpath

## run: serve on http://127.0.0.1:10002 from the store in ./data; SERVE='--listen …' adds flags
.PHONY: run
run: build
	$(BIN)/edgetable serve --data data $(SERVE)

## build: the binaries, static, in bin/
.PHONY: build
build:
	@mkdir -p $(BIN)
	CGO_ENABLED=0 go build -ldflags="-s -w" -o $(BIN)/ ./functions/edgetable

# vet examines every package with all tags, once.
GOTEST := go test -vet=off

# A layer is a list of steps, of which two run at a time: some wait for other programs, others need the processor.
JOBS = -j2 -O
STEPS = @$(MAKE) $(JOBS)

## quick: format, vet and every test that needs Go alone: half a minute
.PHONY: quick
quick: vet
	.ci/alone $(GOTEST) ./... ./testdata/bench/... ./testdata/clients/conformance ./testdata/monitoring

## check: quick, staticcheck, govulncheck, the race detector on core and adapters, the modules for Workers: three minutes
CHECK = race-check module module-kv static vulnerabilities
.PHONY: check
check: quick
	@.ci/prerequisites go gcc python3
	$(STEPS) $(CHECK)

## test-local: the binary: the race detector on its packages, Prometheus, and clients; those in Java only where Maven is installed
LOCAL = race-check race-functions many clients prometheus-local backup-s3 explorer-check explorer-test explorer-code
.PHONY: test-local
test-local:
	@.ci/prerequisites go gcc node npm python3 prometheus chromium
	$(STEPS) $(LOCAL)

## test-aws: the DynamoDB store and the Lambda function: tests, clients, what is deployed
AWS = race-dynamodb functions-aws prometheus-aws clients-lambda infra-aws
.PHONY: test-aws
test-aws:
	@.ci/prerequisites go gcc node npm python3 javac mvn prometheus
	$(STEPS) $(AWS)

## test-edge: the Worker with its stores, in workerd: tests, clients, what is deployed
EDGE = workers infra-cloudflare clients-edge clients-edge-kv
.PHONY: test-edge
test-edge:
	@.ci/prerequisites go node npm python3 javac mvn
	$(STEPS) $(EDGE)

## test-postgres: the store on PostgreSQL: Debian's, and 17 from Maven Central
POSTGRES = postgres postgres-17 clients-postgres
.PHONY: test-postgres
test-postgres:
	@.ci/prerequisites go node npm mvn python3
	$(STEPS) $(POSTGRES)

## test-dist: the files of 'make dist' and the examples in infra/machines: the package is installed, the image runs, proxies pass requests on
DIST = files examples
.PHONY: test-dist
test-dist:
	@.ci/prerequisites go python3
	$(STEPS) $(DIST)

## test-data: export, import, copy and verify between every pair of homes, and Azurite; the guides to migration; the explorer in each home
DATA = homes explorer-homes
.PHONY: test-data
test-data:
	@.ci/prerequisites go node npm python3 javac mvn chromium
	$(STEPS) $(DATA)

# With this make says how long the lines of each step took, and .ci/summary adds them up.
TIMED = '.SHELLFLAGS=.ci/step $$@'

# The longest steps begin first, so that none of them runs alone at the end.
LONG = workers race-dynamodb race-functions files

## test: all of these, on two cores about 20 minutes, 40 with empty caches; installs what the tests need below .cache/
.PHONY: test
test:
	@.ci/prerequisites go gcc node npm python3 javac mvn prometheus chromium
	@.ci/install $$(<.ci/tinygo/packages)
	@{ $(MAKE) $(TIMED) quick && $(MAKE) $(JOBS) $(TIMED) $(LONG) $(filter-out $(LONG),$(AWS) $(EDGE) $(POSTGRES) $(CHECK) $(filter-out $(CHECK),$(LOCAL)) $(DIST) $(DATA)); } 2>&1 | .ci/summary; echo "test: $$SECONDS seconds"

# The race detector is for packages that start goroutines or meet them.
RACE = $$(grep -rlE '"sync(/atomic)?"|\<go func|\.Go\(' --include='*.go' $(1) | xargs -n1 dirname | sort -u | sed 's|^|./|')

.PHONY: race-check race-functions many race-dynamodb
# Quick has the many crashes, kills and seeds: a race shows in a few of them. One goroutine opens hundreds of stores with damaged files,
# and one fills a disk: they take a minute with it.
race-check:
	$(GOTEST) -race -short -skip '^(TestFlippedBytes|TestDamagedAnywhere|TestDamageRun|TestReserve)$$' $(call RACE,core adapters)

# Quick has what is left out: full disks, whose stores race-check has with the detector, and tables with keys of further shapes.
race-functions:
	$(GOTEST) -race -tags testlocal -skip '^Test(Export)?FullDisk$$|^Test(Split|Measure)$$/^[^n]' $(call RACE,functions)

# With the race detector this would take minutes, and race-functions runs the same tests with fewer entities and kills.
many:
	$(GOTEST) -tags testmany -run '^TestKilled$$' ./functions/edgetable
	$(GOTEST) -tags testmany ./functions/edgetable/transfer

# In these tests one goroutine calls the store (in Scans/Snapshot two, as in Concurrency), and what the store starts by itself the
# others make it start too. With the race detector they would take three times the processor time. All other tests run with it. The
# collector runs seldom: otherwise it has a fifth of their time.
ALONE = ^TestStore.*/^(Records|Entities|Scans|Incarnations|LostReplies)$$|^Test(RebucketKilled|Pages|ReadsInVain|Filter|LongFilters|Apply|Limits|MergeBatchOverLarge|EndlessReply)$$
race-dynamodb: export GOGC = 400
race-dynamodb:
	$(GOTEST) -race -timeout 20m -tags testaws -skip '$(ALONE)' ./adapters/store/dynamodb/...
	$(GOTEST) -timeout 20m -tags testaws -run '$(ALONE)' ./adapters/store/dynamodb

## damage: 1,000 random damages of data directories; writes the table in docs/stores.md: ten minutes
.PHONY: damage
damage:
	$(GOTEST) -timeout 60m -run '^TestDamageRun$$' ./adapters/store/pebblestore -damages 1000 -damage-result $(abspath docs/stores.md)

.PHONY: static
static:
	go tool staticcheck -tags $(TAGS) ./... $(TOOLS)
	go tool -C .ci/actions actionlint -shellcheck= -pyflakes= $(abspath infra/machines/export/github.yaml examples/tests/github.yaml)
	go mod tidy -diff

.PHONY: vulnerabilities
vulnerabilities:
	@.ci/vulnerabilities ./functions/... ./wasm/...

.PHONY: module module-kv
module:
	wasm/worker/build >/dev/null

module-kv:
	wasm/worker/build kv >/dev/null

.PHONY: prometheus-local prometheus-aws
prometheus-local:
	$(GOTEST) -tags testlocal ./testdata/monitoring

prometheus-aws:
	$(GOTEST) -tags testaws -run '^TestDynamoDB' ./testdata/monitoring

# The other tests of the binary are in quick and race-functions.
.PHONY: functions-aws
functions-aws:
	$(GOTEST) -tags testaws -run '^TestDynamoDB' ./functions/edgetable
	$(GOTEST) -tags testaws ./functions/lambda

.PHONY: workers
workers:
	$(GOTEST) -timeout 20m -tags testedge ./wasm/... ./testdata/edge/...

.PHONY: postgres postgres-17
postgres:
	$(GOTEST) -timeout 15m -tags testpostgres ./adapters/store/postgres
	$(GOTEST) -tags testpostgres -run '^TestPostgres' ./functions/edgetable ./testdata/monitoring

# The newer one runs what depends on it most.
postgres-17:
	$(GOTEST) -timeout 15m -tags testpostgres -run '^(TestStore|TestLossy)$$' ./adapters/store/postgres -args -postgres 17.5.0

.PHONY: files examples
files:
	@((EUID)) || .ci/install rpm # others cannot install packages
	cd .ci/dist && go vet ./... && $(GOTEST) -count=1 -timeout 30m ./...

examples: build
	infra/machines/test/run $(BIN)/edgetable

## fresh: 'make run' and 'make test' in a clone of HEAD with empty caches; as root also without the Debian packages
.PHONY: fresh
fresh:
	.ci/fresh

.PHONY: vet
vet:
	@unformatted=$$(gofmt -l core adapters functions wasm examples testdata infra .ci); \
	  if [[ -n $$unformatted ]]; then echo "gofmt is needed on:" $$unformatted; exit 1; fi
	go vet -tags $(TAGS) ./... $(TOOLS)
	cd testdata/clients/go && go vet ./...
	cd testdata/clients/giovanni && go vet ./...
	cd testdata/backup && go vet ./...
	cd testdata/explorer && go vet -tags $(TAGS) ./...
	cd examples/microblog && go vet ./...

## clients: the Azure SDKs, the CLI, old clients and the sample application against the binary
.PHONY: clients
clients: build
	.ci/clients $(BIN)/edgetable

## conformance: the same, and docs/conformance.md is written anew; read the diff
.PHONY: conformance
conformance: build
	EDGETABLE_CONFORMANCE=write .ci/clients $(BIN)/edgetable

## explorer: bundle the page of the explorer into functions/explorer/dist, which is committed
.PHONY: explorer
explorer:
	@.ci/prerequisites go npm
	functions/explorer/page/install
	go run -C functions/explorer/build .

## explorer-check: types and tests of that page, and that what is committed is what its sources build
.PHONY: explorer-check
explorer-check:
	@.ci/prerequisites go node npm
	functions/explorer/build/check

## explorer-test: that page in Chromium, against the binary
.PHONY: explorer-test
explorer-test: build
	@.ci/prerequisites go npm chromium
	functions/explorer/page/install
	cd testdata/explorer && EDGETABLE_BINARY=$(abspath $(BIN)/edgetable) go test -count=1 -parallel 4 ./... # most of them wait most of the time

## explorer-homes: that page in Chromium, against the Lambda function, the Worker with its stores, and Azurite
.PHONY: explorer-homes
explorer-homes: build $(CACHE)/azurite-$(AZURITE_VERSION)/complete
	@.ci/prerequisites chromium
	cd testdata/explorer && EDGETABLE_BINARY=$(abspath $(BIN)/edgetable) EDGETABLE_AZURITE=$(abspath $(CACHE))/azurite-$(AZURITE_VERSION)/node_modules/.bin/azurite-table \
	  go test -count=1 -parallel 2 -tags testaws,testedge -run '^TestHomes$$' .

## explorer-code: the programs that the page writes for a query, with the SDKs that the client suites installed
.PHONY: explorer-code
explorer-code: build | clients
	functions/explorer/page/test/code/run $(abspath $(BIN)/edgetable)

## explorer-bench: first rows, frames while scrolling and memory of the page with 100,000 rows, in headless Chromium
.PHONY: explorer-bench
explorer-bench: build
	@.ci/prerequisites go node npm chromium
	functions/explorer/page/install
	node functions/explorer/page/measure.mjs $(abspath $(BIN)/edgetable)

## backup-s3: backups of the binary to a real server for S3, with faults and kills
.PHONY: backup-s3
backup-s3: build
	cd testdata/backup && EDGETABLE_BINARY=$(abspath $(BIN)/edgetable) go test -count=1 ./...

.PHONY: homes
homes: build $(CACHE)/azurite-$(AZURITE_VERSION)/complete
	EDGETABLE_BINARY=$(abspath $(BIN)/edgetable) EDGETABLE_AZURITE=$(abspath $(CACHE))/azurite-$(AZURITE_VERSION)/node_modules/.bin/azurite-table \
	  $(GOTEST) -count=1 -tags testaws,testedge ./testdata/homes

## clients-lambda: three Azure SDKs against the Lambda function under the emulator of AWS, over DynamoDB Local
.PHONY: clients-lambda
clients-lambda: build
	.ci/clients testdata/lambda/edgetable

## clients-postgres: the Azure SDKs for three languages against a server on PostgreSQL
.PHONY: clients-postgres
clients-postgres: build
	.ci/clients testdata/postgres/edgetable

## clients-edge: three Azure SDKs against the Worker and its objects in workerd
.PHONY: clients-edge
clients-edge: build
	.ci/clients testdata/edge/edgetable

## clients-edge-kv: three of them against the Worker on Workers KV alone
.PHONY: clients-edge-kv
clients-edge-kv: build
	EDGETABLE_EDGE_STORE=kv .ci/clients testdata/edge/edgetable

## clients-all: every suite but the Azure CLI, below which is the SDK for Python, in all homes; once a week and before a release
.PHONY: clients-all
clients-all: export EDGETABLE_CLIENTS_SUITES = $(filter-out cli,$(file <testdata/clients/suites))
clients-all: clients
	$(MAKE) clients-lambda clients-edge clients-edge-kv

## dist: the files of a release, in dist/: archives, .deb, .rpm, .apk, npm, wheels, an image for containers, manifests, SBOMs, checksums;
## dist: TARGETS=linux/amd64 makes those of one platform, URL=https://… is where manifests find them
.PHONY: dist
dist:
	@go run -C .ci/dist . $(if $(TARGETS),-only "$(TARGETS)") $(if $(URL),-url "$(URL)")

## replay: recorded requests of the real service against ENDPOINT; deletes all tables of the account, see CONTRIBUTING.md
.PHONY: replay
replay:
	@.ci/replay $(ENDPOINT)

## wasm: the modules for Cloudflare Workers with their shells, in bin/edge and bin/edge-kv; the explorer's page, in bin/edge-page
.PHONY: wasm
wasm:
	@folder=$$(wasm/worker/build) && rm -rf $(BIN)/edge && mkdir -p $(BIN)/edge && cp "$$folder"/* $(BIN)/edge/
	@folder=$$(wasm/worker/build kv) && rm -rf $(BIN)/edge-kv && mkdir -p $(BIN)/edge-kv && cp "$$folder"/* $(BIN)/edge-kv/
	@rm -rf $(BIN)/edge-page && mkdir -p $(BIN)/edge-page/_
	@cp infra/cloudflare/_headers $(BIN)/edge-page/ && cp functions/explorer/dist/* $(BIN)/edge-page/_/

## tinygo: the compiler of these modules, built once
.PHONY: tinygo
tinygo:
	@mkdir -p $(CACHE)
	.ci/tinygo/build -o $(CACHE)/tinygo.wasm -opt s -no-debug -scheduler none -buildmode c-shared ./wasm/worker

## infra-cloudflare: check what describes the Worker on Cloudflare, and what would be deployed
.PHONY: infra-cloudflare
infra-cloudflare: wasm
	infra/cloudflare/test/run

## deploy-cloudflare: deploy to Cloudflare, PROFILE=free, paid or kv; the first time it asks. WRANGLER_ARGS are for 'wrangler deploy'
.PHONY: deploy-cloudflare
deploy-cloudflare: wasm
	infra/cloudflare/deploy $(PROFILE) $(WRANGLER_ARGS)

## lambda: the function for AWS Lambda on arm64, bin/lambda/bootstrap, and the same in bin/lambda.zip
.PHONY: lambda
lambda:
	@mkdir -p $(BIN)/lambda
	GOOS=linux GOARCH=arm64 CGO_ENABLED=0 go build -tags lambda.norpc -ldflags="-s -w" -o $(BIN)/lambda/bootstrap ./functions/lambda
	@infra/aws/zip $(BIN)/lambda/bootstrap $(BIN)/lambda.zip

## infra-aws: check the templates and the Terraform module, deploy the stack to a simulated AWS
.PHONY: infra-aws
infra-aws: lambda
	infra/aws/test/run

## deploy-aws: deploy to AWS; the first time it asks. STACK=name REGION=region SAM_ARGS="--parameter-overrides …" do not
.PHONY: deploy-aws
deploy-aws: lambda
	infra/aws/deploy $(if $(STACK),--stack-name $(STACK)) $(if $(REGION),--region $(REGION)) $(SAM_ARGS)

## golden: rewrite the expected responses of the wire corpus; read the diff
.PHONY: golden
golden:
	go test ./core/protocol -run Wire -update
	git --no-pager diff --stat testdata/wire

## fuzz: every fuzz target for FUZZTIME (30s)
.PHONY: fuzz
fuzz:
	@grep -rn --include='*_test.go' -oE '^func Fuzz[A-Za-z0-9]+' core adapters functions | \
	  while IFS=: read -r file _ target; do \
	    echo "== $${target#func } in $$(dirname "$$file")"; \
	    go test "./$$(dirname "$$file")" -run '^$$' -fuzz "^$${target#func }$$" -fuzztime $(FUZZTIME); \
	  done

## bench: measure against Azurite and against the ceilings; 'make bench SUITE=-full' takes longer
.PHONY: bench
SUITE ?= -short
bench: build $(CACHE)/azurite-$(AZURITE_VERSION)/complete
	go test ./adapters/store/pebblestore -run '^$$' -bench FilterScan -benchtime 3x
	go run ./testdata/bench $(SUITE) -edgetable $(BIN)/edgetable \
	  -azurite $(CACHE)/azurite-$(AZURITE_VERSION)/node_modules/.bin/azurite-table \
	  -markdown $(CACHE)/bench.md -json $(CACHE)/bench.json

$(CACHE)/azurite-$(AZURITE_VERSION)/complete:
	@mkdir -p $(@D)
	.ci/again npm install --prefix $(@D) --no-audit --no-fund --loglevel error azurite@$(AZURITE_VERSION)
	@touch $@

## bench-data: rates and memory of import, export, copy, sync and verify, and of a loop with the SDK; ROWS=1000000 for the full size
.PHONY: bench-data
bench-data: build $(CACHE)/azurite-$(AZURITE_VERSION)/complete
	testdata/bench/data $(BIN)/edgetable $(CACHE)/azurite-$(AZURITE_VERSION)/node_modules/.bin/azurite-table $(ROWS)

## bench-dynamodb: processor time of the adapter beside that of the SDK alone, what pages read, and the function's size and start
.PHONY: bench-dynamodb
bench-dynamodb:
	go test -tags testaws ./adapters/store/dynamodb -run '^$$' -bench StoreCPU
	go test ./core/buckets -run Cost -v
	go test -tags testaws ./functions/lambda -run '^$$' -bench .

## failover: primaries of PostgreSQL are killed under load, KILLS times (50), with histories of clients
.PHONY: failover
KILLS ?= 50
failover:
	$(GOTEST) -timeout 60m -tags testpostgres -v -run '^TestFailover' ./adapters/store/postgres -args -kills $(KILLS)

## bench-postgres: the store on PostgreSQL beside pgx alone; fails where it misses what is asked of it
.PHONY: bench-postgres
bench-postgres:
	go test -tags testpostgres ./adapters/store/postgres -run '^$$' -bench BesideRaw -benchtime 1x

## bench-edge: the Worker, by itself and in workerd, against what is asked of it; installs workerd below .cache/
.PHONY: bench-edge
bench-edge:
	testdata/edge/bench

## microbench: Go benchmarks of every package
.PHONY: microbench
microbench:
	go test ./core/... ./adapters/... -run '^$$' -bench . -benchtime 200ms

## cover: test coverage of core and adapters in .cache/cover.html
.PHONY: cover
cover:
	@mkdir -p $(CACHE)
	go test -tags $(TAGS) -coverpkg=./core/...,./adapters/... -coverprofile=$(CACHE)/cover.out ./...
	go tool cover -html=$(CACHE)/cover.out -o $(CACHE)/cover.html
	go tool cover -func=$(CACHE)/cover.out | tail -1

## clean: remove what was built and cached, not the data
.PHONY: clean
clean:
	rm -rf $(BIN) dist .cache

## help: this list
.PHONY: help
help:
	@sed -n 's/^## //p' $(MAKEFILE_LIST)
