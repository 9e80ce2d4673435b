# edgetable: run it, test it, measure it. 'make help' lists the targets.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DELETE_ON_ERROR:
.DEFAULT_GOAL := check

BIN := bin
CACHE := .cache
FUZZTIME ?= 30s
AZURITE_VERSION := 3.37.0

# Programs of the tests, which ./... leaves out.
TOOLS := ./testdata/clients/conformance ./testdata/dynamodb/local ./testdata/lambda/... ./testdata/edge/...

export GOFLAGS ?= -trimpath

## run: serve on http://127.0.0.1:10002 from the store in ./data
.PHONY: run
run: build
	$(BIN)/edgetable serve -data data

## build: the binaries, static, in bin/
.PHONY: build
build:
	@mkdir -p $(BIN)
	CGO_ENABLED=0 go build -ldflags="-s -w" -o $(BIN)/ ./functions/edgetable ./functions/tablebench

## test: all of it; installs what the tests need below .cache/
.PHONY: test
test: prerequisites check race clients clients-lambda clients-edge clients-edge-kv infra-aws infra-cloudflare

## check: the static part: format, vet, staticcheck, modules
.PHONY: check
check:
	@unformatted=$$(gofmt -l core adapters functions wasm examples testdata); \
	  if [[ -n $$unformatted ]]; then echo "gofmt is needed on:" $$unformatted; exit 1; fi
	go vet ./... $(TOOLS)
	go tool staticcheck ./... $(TOOLS)
	go mod tidy -diff
	cd testdata/clients/go && go vet ./...
	cd examples/microblog && go vet ./...

## race: every Go test with the race detector
.PHONY: race
race:
	go test -race -timeout 20m ./... ./testdata/clients/conformance ./testdata/lambda/... ./testdata/edge/...

## clients: the Azure SDKs, the CLI, old clients and the sample application against the binary
.PHONY: clients
clients: build
	.ci/clients $(BIN)/edgetable

## conformance: the same, and docs/conformance.md is written anew; read the diff
.PHONY: conformance
conformance: build
	EDGETABLE_CONFORMANCE=write .ci/clients $(BIN)/edgetable

## clients-lambda: the Azure SDKs against the Lambda function under the emulator of AWS, over DynamoDB Local
.PHONY: clients-lambda
clients-lambda: build
	.ci/clients testdata/lambda/edgetable

## clients-edge: the Azure SDKs against the Worker and its objects in workerd
.PHONY: clients-edge
clients-edge: build
	.ci/clients testdata/edge/edgetable

## clients-edge-kv: three of them against the Worker on Workers KV alone
.PHONY: clients-edge-kv
clients-edge-kv: build
	EDGETABLE_EDGE_STORE=kv .ci/clients testdata/edge/edgetable

## wasm: the modules for Cloudflare Workers with their shells, in bin/edge and bin/edge-kv
.PHONY: wasm
wasm:
	@folder=$$(wasm/worker/build) && rm -rf $(BIN)/edge && mkdir -p $(BIN)/edge && cp "$$folder"/* $(BIN)/edge/
	@folder=$$(wasm/worker/build kv) && rm -rf $(BIN)/edge-kv && mkdir -p $(BIN)/edge-kv && cp "$$folder"/* $(BIN)/edge-kv/

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
	$(BIN)/tablebench suite $(SUITE) -edgetable $(BIN)/edgetable \
	  -azurite $(CACHE)/azurite-$(AZURITE_VERSION)/node_modules/.bin/azurite-table \
	  -markdown $(CACHE)/bench.md -json $(CACHE)/bench.json

$(CACHE)/azurite-$(AZURITE_VERSION)/complete:
	@mkdir -p $(@D)
	npm install --prefix $(@D) --no-audit --no-fund --silent azurite@$(AZURITE_VERSION)
	@touch $@

## bench-dynamodb: processor time of the adapter beside that of the SDK alone, what pages read, and the function's size and start
.PHONY: bench-dynamodb
bench-dynamodb:
	go test ./adapters/store/dynamodb -run '^$$' -bench StoreCPU
	go test ./core/buckets -run Cost -v
	go test ./functions/lambda -run '^$$' -bench .

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
	go test -coverpkg=./core/...,./adapters/... -coverprofile=$(CACHE)/cover.out ./...
	go tool cover -html=$(CACHE)/cover.out -o $(CACHE)/cover.html
	go tool cover -func=$(CACHE)/cover.out | tail -1

## clean: remove what was built and cached, not the data
.PHONY: clean
clean:
	rm -rf $(BIN) $(CACHE)

## help: this list
.PHONY: help
help:
	@sed -n 's/^## //p' $(MAKEFILE_LIST)

.PHONY: prerequisites
prerequisites:
	@.ci/prerequisites
