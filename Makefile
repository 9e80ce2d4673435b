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
TOOLS := ./testdata/attack ./testdata/bench/... ./testdata/clients/conformance ./testdata/monitoring ./testdata/postgres/... ./testdata/dynamodb/local ./testdata/lambda/... ./testdata/edge/... ./testdata/homes ./testdata/laws ./testdata/memstore ./testdata/must ./testdata/mutants ./testdata/needs ./testdata/proc ./testdata/prove/... ./testdata/remotetest ./testdata/rowstest
# Go packages below testdata whose tests need Go alone.
PLAIN := ./testdata/attack ./testdata/bench/... ./testdata/clients/conformance ./testdata/laws ./testdata/memstore ./testdata/monitoring ./testdata/mutants ./testdata/postgres/local ./testdata/prove/ttl

export GOFLAGS ?= -trimpath
# Tests are built without C, as the binaries are, so that all share what is compiled, and link fast. The race detector needs C.
export CGO_ENABLED ?= 0

## run: serve on http://127.0.0.1:10002 from the store in ./data; SERVE='--listen …' adds flags
.PHONY: run
run: build
	$(BIN)/edgetable serve --data data $(SERVE)

## build: the binaries, static, in bin/
.PHONY: build
build: export GOGC = 400
build:
	@mkdir -p $(BIN)
	CGO_ENABLED=0 go build -ldflags="-s -w" -o $(BIN)/ ./functions/edgetable

# The step vet examines every package. The limit is for a test that hangs: it is far above what a busy machine needs.
GOTEST := go test -vet=off -timeout 60m
# Steps that compile and compute export GOGC=400: the collector runs seldom, which saves a fifth of the time of compilers and of such tests. A server
# that has a process of its own does not inherit it.
GORACE = CGO_ENABLED=1 $(GOTEST) -race

# A layer is a list of steps, of which two run at a time.
STEPS = @$(MAKE) -j2 -O

# Tests of the binary that take half a second of a processor and more, mostly under a load of their own. With -short, tests play few
# of their seeds, crashes and kills.
# Servers in tests wait for disks and for ends of connections: six of them keep two processors busy.
LONGEST := SecondaryKilled|PromoteStopped|Stopped|FullPlace|PlaceGoesAway|BackupLog(CatchesUp)?|(Copy|Export)OfDeletedTable|WritesTo(Remade|Deleted)Table|Killed
LONGEST := $(LONGEST)|Counts|Loadtest|Advise|(Export|Import|Copy)Interrupted|ExportPieceLost|CopyVerify|Split|Measure
LONGEST := $(LONGEST)|(Export)?FullDisk|UnreadAnswers|RoundTrips|ManifestForged|ParquetDamaged|Remade|ExportAgain
## quick: format, vet and the tests that need Go alone, without the longest: half a minute
.PHONY: quick
quick: vet
	.ci/alone $(GOTEST) -short -parallel 6 -skip '^Test($(LONGEST))$$' ./... $(PLAIN)

## check: quick, seeds and kills, staticcheck, govulncheck, the race detector, the modules for Workers
CHECK = seeds race-check race-functions module module-kv static vulnerabilities commits
.PHONY: check
check: quick
	@.ci/prerequisites go gcc python3
	$(STEPS) $(CHECK)

## test-local: the binary: the race detector on its packages, Prometheus, and clients; those in Java only where Maven is installed
LOCAL = race-check race-functions programs clients prometheus-local backup-s3 explorer-check explorer-test explorer-code
.PHONY: test-local
test-local:
	@.ci/prerequisites go gcc node npm python3 prometheus chromium-headless-shell
	$(STEPS) $(LOCAL)

## test-aws: the DynamoDB store and the Lambda function: tests, clients, what is deployed
AWS = race-dynamodb functions-aws prometheus-aws clients-lambda infra-aws-all prove-aws-local
.PHONY: test-aws
test-aws:
	@.ci/prerequisites go gcc node npm python3 javac mvn prometheus
	$(STEPS) $(AWS)

## test-edge: the Worker with its stores, in workerd: tests, clients, what is deployed
EDGE = workers infra-cloudflare clients-edge clients-edge-kv prove-cloudflare-local
.PHONY: test-edge
test-edge:
	@.ci/prerequisites go node npm python3 javac mvn
	$(STEPS) $(EDGE)

## test-postgres: the store on PostgreSQL: Debian's, and 17 from Maven Central, with failovers under Patroni
.PHONY: test-postgres
test-postgres:
	@.ci/prerequisites go node npm mvn python3
	$(STEPS) postgres postgres-17 patroni clients-postgres

## test-dist: the files of 'make dist' and the examples in infra/machines: the package is installed, the image runs, proxies pass requests on
DIST = files examples
.PHONY: test-dist
test-dist:
	@.ci/prerequisites go python3
	$(STEPS) $(DIST)

## test-data: export, import, copy and verify from each home to the next, and Azurite; the guides to migration; the explorer in each home
DATA = homes explorer-homes
.PHONY: test-data
test-data:
	@.ci/prerequisites go node npm python3 javac mvn chromium
	$(STEPS) $(DATA)

# Steps that compute, steps with what is deployed (Workers, packages), steps with databases and processes, steps that mostly wait for browsers and
# clients, and steps that mostly wait for DynamoDB Local and Prometheus: of each kind one runs at a time.
COMPUTE = vet seeds race-check static race-functions workers-module explorer-check vulnerabilities infra-aws infra-cloudflare
DEPLOYED = workers examples files
SERVERS = postgres programs backup-s3
WAITING = explorer-code explorer-test homes
EMULATED = race-dynamodb functions-aws prometheus-local

## test: everything that proves a law with least work; CONTRIBUTING.md says how long it takes; installs what the tests need below .cache/
.PHONY: test
test:
	@.ci/prerequisites go
	@.ci/modules & modules=$$!; { .ci/prerequisites gcc node npm python3 javac mvn prometheus chromium-headless-shell && .ci/install $$(<.ci/tinygo/packages); } || \
	  { kill $$modules; exit 1; }; wait $$modules # what Go and what Debian downloads takes minutes on a new machine
	@$(MAKE) --no-print-directory build
	@testdata/dynamodb/start .ci/steps $(COMPUTE) -- $(DEPLOYED) -- $(SERVERS) -- $(WAITING) -- $(EMULATED); echo "test: $$SECONDS seconds"

# The race detector is for packages that start goroutines or meet them; in tests of the packages of ONE_GOROUTINE neither happens. Race-dynamodb has the
# packages of the store on DynamoDB.
ONE_GOROUTINE := core/settings|adapters/store/(pebblestore/(logship|internal/recordcopy)|postgres/slot)
RACE = $$(grep -rlE '"sync(/atomic)?"|\<go func|\.Go\(' --include='*.go' $(1) | xargs -n1 dirname | grep -vE '^($(ONE_GOROUTINE)|adapters/store/dynamodb.*)$$' | sort -u | sed 's|^|./|')
# Other packages with tests. Workers has those of the Worker, and prometheus-local testdata/monitoring.
WITHOUT_RACE = $$(comm -23 <(find core adapters functions -name '*_test.go' -not -path 'functions/explorer/*/*' -not -path 'adapters/store/dynamodb/*' -printf './%h\n' | sort -u) \
  <(printf '%s\n' $(call RACE,core adapters) $(RACED_IN) | sed 's|/\.$$||' | sort))

# What 'make test' leaves out, and why:
#   clients-all     every suite in all homes; the core is the same, and three suites have HTTP stacks of their own. Over DynamoDB, PostgreSQL
#                   and Workers KV the suite of stores shows the same, and on Lambda the wire corpus
#   postgres-17     another version of PostgreSQL; 15 shows the same of the store. Both play the wire corpus here: its answers come from core
#   patroni         leases in wall time: failover_test.go shows the same of the store without them, by pg_promote
#   explorer-homes  the explorer in each home, and the page with every component; its tests of the binary show the same, and 'homes' the answers
#   infra-aws-all   the Terraform module, by tflint, which has to be compiled; it is written by hand beside the templates that 'make test' deploys
#   prometheus      pages and alerts of DynamoDB and PostgreSQL; 'make test' has those of the embedded store, and the rules of all
#   loads           90 days of load of tables that split, in place of one; more requests of all sizes to objects that share a memory
#   clients-declared  the same answers with all options on; 'make test' plays the wire corpus so (TestRuledCorpus)
#   prove-*-local   the programs of 'make prove-*' against stand-ins; their parts (wire corpus, clients, templates) are steps of their own
#   many, variants, files-all, image-limits, homes-all, secondary-kills, faulty-place, restores, failover, fuzz: the same with more
#   steady          each package ten times
#   mutants         is about the tests, not the program
## weekly: what 'make test' leaves out, since it proves the same with less: once a week and before a release, some hours
WEEKLY = clients-all clients-declared explorer-homes prove-aws-local prove-cloudflare-local postgres-17 patroni prometheus infra-aws-all many variants loads files-all image-limits homes-all secondary-kills faulty-place restores failover fuzz mutants steady
.PHONY: weekly
weekly:
	$(MAKE) $(WEEKLY)

## mutants: change the rules of core in small ways, and print what no test notices; it fails for the packages of signatures and settings.
## mutants: MUTANTS=core/sas does one package, in ten minutes; a run that was stopped is resumed; '-survivors core/sas' plays survivors again
.PHONY: mutants
mutants:
	go run ./testdata/mutants $(MUTANTS)

## steady: each package ten times in its short form, in another order each time, with 1, 2 and 8 threads, three times on a busy machine;
## steady: STEADY=core does those whose path has core in it; a run that ended is resumed
.PHONY: steady
steady:
	.ci/steady '$(STEADY)' ./... $(PLAIN)

# Simulated objects play the suite of stores whole as they are, while they split, and while messages get lost. Of their other forms these laws are weekly:
# they are about one object, which does the same in each form.
VARIED := ^Test(Buckets|ReplicaStore|Evicted|StaleWorkers)$$/^(Records|Entities|Timestamps|Incarnations|LostReplies)$$
VARIED := $(VARIED)|^Test(Splitting|Lossy)$$/^3$$/^(Records|Entities|Timestamps|Incarnations|LostReplies)$$
VARIED := $(VARIED)|^Test(Buckets|ReplicaStore|Evicted)$$/^(Changes|Expiry)$$/^(Random|Weeks)$$|^Test(Splitting|Lossy)$$/^3$$/^Changes$$/^(Random|Weeks)$$
# Crashes, kills, faults, models and sequences of an operator's steps with seeds that are the same each time: 'make test' has a tenth of them, 'make many' all.
SEEDED := ^Test(PowerLoss|FullAtEachWrite|DropIsExact|NoDescriptor|Together|VerifyLog|Kill|PrunePointInTime|FaultyPlace|RestoreSplits|Splits|Scenarios)$$
SEEDED := $(SEEDED)|^Test(FlippedBytes|DamagedAnywhere|FullByItself|FewDescriptors|Latest|ReadLog|SettledAnyhow|SettledRace|FeedOfSplits|ReplicaConverges)$$
SEEDED := $(SEEDED)|^Test(Model|PagingUnderWrites)$$
SEEDS := ./core/buckets ./adapters/store/pebblestore ./adapters/store/durableobject ./adapters/backup/repository ./functions/edgetable/secondary
## seeds: the tests that need Go alone, but for those that the race detector plays
.PHONY: seeds variants
seeds: export GOGC = 400
seeds:
	.ci/alone $(GOTEST) -parallel 6 $(WITHOUT_RACE) $(filter-out ./testdata/memstore ./testdata/monitoring,$(PLAIN))
	.ci/alone $(GOTEST) -parallel 6 -short -run '$(ONE)' -skip '$(VARIED)' $(ONE_IN)
	.ci/alone $(GOTEST) -parallel 6 -short -skip '^Test($(RACED))$$' $(RACED_IN)

## variants: the whole suite of stores over each store in its other forms: buckets, splits, a replica, lost replies, restarts, without leases
variants:
	$(GOTEST) -run '^Test(Buckets|ReplicaStore|Evicted|StaleWorkers|Splitting|Lossy)$$' ./adapters/store/durableobject
	EDGETABLE_NEEDS=edge $(GOTEST) -run '^Test(Buckets|Splitting|Lossy|Store|KVStore|LargeEntitiesMerged|WireKV)$$' ./testdata/edge/workerd ./wasm/worker
	EDGETABLE_NEEDS=aws $(GOTEST) -run '^Test(StoreWithoutLeases|StoreOverFaults|LastSyncTime|Apply|RebucketKilled)$$' ./adapters/store/dynamodb
	EDGETABLE_NEEDS=postgres $(GOTEST) -run '^Test(StoreRestarts|Wire)$$' ./adapters/store/postgres

## loads: 90 days of loads under which tables split and join again, 1,000 seeds of splits with faults, and tables of 200 ranges and of 90 with long keys in
## loads: workerd, killed 20 times each under requests of all kinds; 500 requests of up to 4 MB to objects that share a memory
.PHONY: loads
loads:
	$(GOTEST) -timeout 60m -run '^TestRangesStayBounded$$' ./adapters/store/durableobject -load-days 90
	$(GOTEST) -timeout 60m -run '^Test(Splits|RestoreSplits)$$' ./adapters/store/durableobject -splits 1000 -splits-after 1000 -restores 1000
	EDGETABLE_NEEDS=edge $(GOTEST) -timeout 60m -run '^TestManyRanges$$' ./testdata/edge/workerd -ranges 200 -kills 20 -operations 500
	EDGETABLE_NEEDS=edge $(GOTEST) -timeout 60m -run '^TestManyRanges$$' ./testdata/edge/workerd -ranges 90 -keys 1000 -kills 20 -operations 500
	EDGETABLE_NEEDS=edge $(GOTEST) -timeout 60m -run '^TestMessagesAtRest$$' ./testdata/edge/workerd -ranges 200
	EDGETABLE_NEEDS=edge $(GOTEST) -timeout 60m -run '^TestMessagesAtRest$$' ./testdata/edge/workerd -ranges 90 -keys 900
	EDGETABLE_NEEDS=edge $(GOTEST) -timeout 60m -run '^TestObjectsShareMemory$$' ./testdata/edge/workerd -requests 500

.PHONY: race-check race-functions many race-dynamodb
# A race shows in a few crashes, kills and seeds. In the tests that are left out here one goroutine acts: it opens hundreds of stores with
# damaged files, fills a disk, counts, reads what fuzzers found, plays the wire corpus with options, reads long pages and manifests, writes
# large batches, or plays a story of backups. Simulated objects and KV start no goroutine: of their suite, in one form, and of that of Pebble
# and the reference, the laws are left that are about several clients.
ONE := ^Test(FlippedBytes|DamagedAnywhere|DamageRun|Reserve|LogInTheMiddle|Salvage|SalvageBetween|MissingFiles|CostOfAPage|CheckSizeAgreesWithTheFormula)$$
ONE := $(ONE)|^Test(LongProjection|EscapedPage|ManifestForged|VerifyLog|FaultyPlace|PrunePointInTime|Continue|Kill|Keep|EndlessReply)$$|^Fuzz(Manifest|Handle|Name|Cell|Position|Query|Request|BatchRequest|Shown)$$
ONE := $(ONE)|^Test(FewObjects|Reread|Unreadable|DamagedBlock|FirstLogGone|LastCommitOfLog|NewestLogCut)$$
ONE := $(ONE)|^Test(Overload|Greedy|Unlimited|Splits|RangesStayBounded|RestoreSplits|Full|LongScan|StaleWorkers|Filters|SuiteNoticesBrokenStores)$$
ONE := $(ONE)|^Test(Prices|FullAtEachWrite|NoDescriptor|FewDescriptors|FullByItself|StartOnFullDisk|ReadLog|SettledAnyhow)$$
ONE := $(ONE)|^Test(Buckets|ReplicaStore|Evicted|Splitting|Lossy|MessagesAtRest|FeedOfSplits|FeedControls|FeedMakesRoom|BestEffort|ReplicaConverges)$$
ONE := $(ONE)|^Test(RuledCorpus|ExtendedCorpus|EmptyChunks|RangesLearn|Spread|Windows|WrongWays|SuitePassesWeakerStores)$$
ONE := $(ONE)|^Test(TablesThatRest|Merge|TallyIsSmall|HeavyBounds|Sampling|HoursAreBounded)$$
ONE := $(ONE)|^Test(Feed(PartsInWindows|MovedParts|OfMany|Costs)|RefusedSplitsRest|DeclaredInEveryRange|WritesToTheWrongRange|MapsAreBounded)$$
ONE := $(ONE)|^Test(EmptyRangeLooksAgain|BusyRangesStay|LargeBatch|LargeBatchesShareAMemtable|NewestLogGone|Join|Requests|ReadsInVain|ReadFails)$$
ONE := $(ONE)|^TestStore$$/^(Records|Entities|Scans|Incarnations|Memory|Filters|RowsAndBytes|DescendingPages)$$|^TestStore$$/^(Changes|Expiry)$$/^(Random|Weeks|Large)$$
ONE := $(ONE)|^TestStore$$/^Directory$$/^(Records|Entities|Scans|Incarnations|LostReplies|Order)$$|^TestStore$$/^Directory$$/^(Changes|Expiry)$$/^(Random|Weeks|Large)$$
# The packages of these tests.
ONE_IN := ./testdata/memstore $$(printf './core/%s ' buckets changefeed protocol storetest table traffic) \
  $$(printf './adapters/%s ' backup/repository guard/admission replicate/{follow,ship} store/{durableobject,pebblestore,postgres/feed,workerskv})
race-check: export GOGC = 400
race-check:
	$(GORACE) -short -skip '$(ONE)' $(call RACE,core adapters) ./testdata/memstore

# Tests with several goroutines of ours: in the client, the server or the shipped log. Seeds has the others, which would only be slower, and not these.
RACED := Export|Import|Copy|Sync|CopyInterrupted|Sorter|Hold|Loadtest|Drive|ConnectAgain
RACED := $(RACED)|BackupLog|ScheduledBackups|CheckpointsTogether|Pack|Pause|Secondary|UnreadPiece|NeverQuiet
RACED := $(RACED)|AccountsTogether|CertificateReload|AccessLogReopens|Hangup|Drain|Statistics|Readiness(Full)?|OneClient|IdleFirst|AllBusy|Share
RACED := $(RACED)|Forward|OneTime|Rotation
# Of these tests seeds has all forms: the others differ in what they write, not in who meets whom.
RACED_ONCE := (Export|Import)Interrupted|ProbeCost|RunAgainstServer
NOT_RACED := ^TestExportInterrupted$$/^(gzip|none)$$|^TestImportInterrupted$$/true|^TestRunAgainstServer$$/(token|atom)|^TestProbeCost$$/(far|jitter)
RACED_IN = ./functions/lambda ./functions/explorer $$(printf './functions/edgetable/%s ' . backup bounded descriptors load{,/wire} secondary server transfer{,/export,/scan,/sorter})
race-functions: export GOGC = 400
race-functions:
	$(GORACE) -short -run '^Test($(RACED)|$(RACED_ONCE))$$' -skip '$(NOT_RACED)' $(RACED_IN)

# More entities and kills in tests that seeds has with fewer. More find rarer cases, and take minutes.
many: export EDGETABLE_MANY = 1
many:
	EDGETABLE_KILL_SEED=$${EDGETABLE_KILL_SEED:-$$RANDOM} $(GOTEST) -v -run '^TestKilled$$' ./functions/edgetable
	$(GOTEST) ./functions/edgetable/transfer
	$(GOTEST) -run '$(SEEDED)' $(SEEDS)

# In these tests one goroutine calls the store (in Scans/Snapshot two, as in Concurrency), and what the store starts by itself the
# others make it start too. With the race detector they would take three times the processor time. All other tests run with it. The
# collector runs seldom: otherwise it has a fifth of their time.
#
# TestStore runs every law of the suite. The laws that leases and faults do not concern are weekly in the other two, and so are more seeds.
# A run of rebucketing that dies once a write was carried out, or at a read, leaves the items that it leaves when the next write is refused: this is weekly too.
VARIED_AWS = ^TestRebucketKilled$$/^(write_carried_out|read)$$|^TestStoreWithoutLeases$$|^TestStoreOverFaults$$/^(Records|Timestamps|Scans)$$|^TestStoreOverFaults$$/^Entities$$/^(Values|Apart)$$|^TestLastSyncTime$$/^1$$|^TestApply$$/^[23]$$
ALONE = ^TestStore.*/^(Records|Entities|Scans|Incarnations|LostReplies)$$|^Test(RebucketKilled|Pages|ReadsInVain|Filter|LongFilters|Apply|Limits|MergeBatchOverLarge|EndlessReply|LastSyncTime)$$
race-dynamodb: export GOGC = 400
race-dynamodb:
	EDGETABLE_NEEDS=aws $(GORACE) -skip '$(ALONE)|$(VARIED_AWS)' ./adapters/store/dynamodb/...
	EDGETABLE_NEEDS=aws $(GOTEST) -run '$(ALONE)' -skip '$(VARIED_AWS)' ./adapters/store/dynamodb

## secondary-kills: primaries, secondaries and promotions are killed under load, KILLS times (50); then SCENARIOS (1,000) sequences of what operators do
.PHONY: secondary-kills
secondary-kills:
	EDGETABLE_KILLS=$(KILLS) EDGETABLE_KILL_SEED=$${EDGETABLE_KILL_SEED:-$$RANDOM} $(GOTEST) -v -run '^TestSecondaryKilled$$' ./functions/edgetable
	$(GOTEST) -run '^TestScenarios$$' ./functions/edgetable/secondary -args -scenarios $(or $(SCENARIOS),1000)

## restores: a shipped log is restored to MOMENTS random moments (200)
.PHONY: restores
restores:
	EDGETABLE_MOMENTS=$(or $(MOMENTS),200) $(GOTEST) -v -run '^TestBackupLog$$' ./functions/edgetable

## damage: 1,000 random damages of data directories; writes the table in docs/stores.md: ten minutes
.PHONY: damage
damage:
	$(GOTEST) -run '^TestDamageRun$$' ./adapters/store/pebblestore -damages 1000 -damage-result $(abspath docs/stores.md)

.PHONY: static
static: export GOGC = 400
static:
	EDGETABLE_NEEDS=make $(GOTEST) -skip '^TestTargets$$' ./testdata/laws # seeds has it
	go tool staticcheck ./... $(TOOLS)
	go tool -C .ci/actions actionlint -shellcheck= -pyflakes= $(abspath infra/machines/export/github.yaml examples/tests/github.yaml $(wildcard .github/workflows/*.yaml))
	sed -n '/^## GitHub Actions/,/^## Kub/{/^```yaml/,/^```$$/{/^```/!p}}' docs/start/containers.md | go tool -C .ci/actions actionlint -shellcheck= -pyflakes= -stdin-filename docs/start/containers.md -
	go mod tidy -diff

# Commits are small enough to be read.
.PHONY: commits
commits:
	@.ci/commits

.PHONY: vulnerabilities
vulnerabilities:
	@.ci/vulnerabilities ./functions/... ./wasm/...

.PHONY: module module-kv workers-module
module:
	wasm/worker/build >/dev/null

module-kv:
	wasm/worker/build kv >/dev/null

workers-module: module module-kv

# The page and the alerts of each store, under a real Prometheus; prometheus-local has those of the embedded one.
.PHONY: prometheus prometheus-local prometheus-aws
prometheus prometheus-local prometheus-aws: export EDGETABLE_BINARY = $(abspath $(BIN)/edgetable)
prometheus: build
	EDGETABLE_NEEDS=aws,postgres,prometheus $(GOTEST) ./testdata/monitoring

prometheus-local: build
	EDGETABLE_NEEDS=prometheus $(GOTEST) ./testdata/monitoring

prometheus-aws: build
	EDGETABLE_NEEDS=aws,prometheus $(GOTEST) -run '^TestDynamoDB' ./testdata/monitoring

# The tests of the binary that need other programs. Seeds and race-functions have the others.
.PHONY: programs functions-aws
programs:
	EDGETABLE_NEEDS=acme,aws,make,postgres $(GOTEST) -run '^Test(ACME|DynamoDB|Followers|Postgres)' ./functions/edgetable

functions-aws:
	EDGETABLE_NEEDS=aws $(GOTEST) -run '^Test(Size|Emulator|Troubles)$$' ./functions/lambda

# Workerd plays the suite of stores over objects, and over KV.
VARIED_EDGE := ^TestBuckets$$|^TestSplitting$$|^TestLossy$$/^Entities$$
# Lost replies, long histories and the laws of pages meet simulated objects and KV in seeds, and the wire corpus pages in workerd.
VARIED_EDGE := $(VARIED_EDGE)|^TestStore$$/^LostReplies$$|^TestLargeEntitiesMerged$$/^Whole$$|^TestStore$$/^(Changes|Expiry)$$/^(Random|Weeks|Skewed)$$
VARIED_EDGE := $(VARIED_EDGE)|^TestStore$$/^(Records|Scans|Order)$$/^(LongList|Filters|RowsAndBytes|DescendingPages)$$
# Tables of 90 and 200 ranges are killed in 'loads'; here splits, joins and kills are tests of their own.
VARIED_EDGE := $(VARIED_EDGE)|^TestManyRanges$$
# The module for KV is built, restarted and asked for what it refuses; the suite over it is weekly, for 'seeds' plays it over the same code.
VARIED_EDGE := $(VARIED_EDGE)|^Test(KVStore|WireKV)$$
.PHONY: workers
workers: build
	EDGETABLE_NEEDS=edge EDGETABLE_BINARY=$(abspath $(BIN)/edgetable) $(GOTEST) -parallel 4 -skip '$(VARIED_EDGE)' ./wasm/... ./testdata/edge/... # most of them wait most of the time

.PHONY: postgres postgres-17 patroni
postgres:
	EDGETABLE_NEEDS=postgres $(GOTEST) -parallel 8 -skip '^Test(StoreRestarts|Wire)$$' ./adapters/store/postgres # most of them wait most of the time

# The newer one runs what depends on it most.
postgres-17:
	EDGETABLE_NEEDS=postgres $(GOTEST) -run '^(TestStore|TestStoreRestarts|TestLossy|TestCutWires|TestSilentWire|TestSlowWire|TestLeave|TestFullDisk|TestWire|TestEndings|TestLongCommit|TestFrozenServer)$$' ./adapters/store/postgres -args -postgres 17.5.0

## patroni: failovers of PostgreSQL under Patroni, which has leases in wall time
patroni:
	EDGETABLE_NEEDS=postgres,patroni $(GOTEST) -run '^TestPatroni' ./adapters/store/postgres

# The files for this machine, compressed fast; those of all platforms, as in a release, once a week. That the program compiles for others, TestTargets
# shows in 'make test'.
ENGINES := docker.io podman runc curl iproute2 iptables
.PHONY: files files-all examples
files:
	@((EUID)) || .ci/install $(ENGINES) # others cannot run containers of their own
	cd .ci/dist && go vet ./... && $(GOTEST) -count=1 -skip '^TestSameBytes$$' ./... # files-all makes the files again

files-all:
	@((EUID)) || .ci/install rpm $(ENGINES)
	@.ci/prerequisites node npm
	cd .ci/dist && $(GOTEST) -count=1 ./... -all

examples: build
	infra/machines/test/run $(BIN)/edgetable

## image-limits: servers in containers of 128, 256 and 512 MiB under a load of TIME (60s) each, on a directory, in memory, over PostgreSQL; rates at 256 MiB
.PHONY: image-limits
image-limits:
	EDGETABLE_NEEDS=postgres EDGETABLE_LIMITS_TIME=$(or $(TIME),60s) $(GOTEST) -v -run '^Test(Postgres)?(MemoryOfContainer|RateInSmallContainer|DirectoryInMemory)$$' ./functions/edgetable

## fresh: 'make run' and 'make test' in a clone of HEAD with empty caches; as root also without the Debian packages
.PHONY: fresh
fresh:
	.ci/fresh

.PHONY: vet
vet: export GOGC = 400
vet:
	@unformatted=$$(gofmt -l core adapters functions wasm examples testdata infra .ci); \
	  if [[ -n $$unformatted ]]; then echo "gofmt is needed on:" $$unformatted; exit 1; fi
	go vet ./... $(TOOLS)
	cd testdata/clients/go && go vet ./...
	cd testdata/clients/giovanni && go vet ./...
	cd testdata/backup && go vet ./...
	cd testdata/explorer && go vet ./...
	cd examples/microblog && go vet ./...
	$(LAWS)

# A test that no step runs proves nothing.
LAWS = go run ./testdata/laws -test '$(COMPUTE) $(DEPLOYED) $(SERVERS) $(WAITING) $(EMULATED) clients-few' -weekly '$(WEEKLY)'
## laws: every test, and every law of the suite of stores, with the steps that prove it
.PHONY: laws
laws:
	@$(LAWS) -list

## clients: the Azure SDKs, the CLI, old clients and the sample application against the binary
.PHONY: clients
clients: build
	.ci/clients $(BIN)/edgetable

## clients-few: the Azure SDKs for three languages against the binary
.PHONY: clients-few
clients-few: export EDGETABLE_CLIENTS_SUITES = go js python
clients-few: build
	.ci/clients $(BIN)/edgetable

## conformance: the suites of clients, and docs/conformance.md is written anew; read the diff
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

## explorer-test: that page in the headless shell of Chromium, against the binary
.PHONY: explorer-test
explorer-test: build
	@.ci/prerequisites go npm chromium-headless-shell
	functions/explorer/page/install
	cd testdata/explorer && EDGETABLE_BINARY=$(abspath $(BIN)/edgetable) go test -count=1 -timeout 30m -parallel 4 -skip '^Test(Homes|Gallery)' ./... # most of them wait most of the time

## explorer-homes: that page in Chromium, against the Lambda function, the Worker with its stores, PostgreSQL, and Azurite; every component of it
.PHONY: explorer-homes
explorer-homes: build $(CACHE)/azurite-$(AZURITE_VERSION)/complete
	@.ci/prerequisites chromium
	cd testdata/explorer && EDGETABLE_CHROMIUM=chromium EDGETABLE_BINARY=$(abspath $(BIN)/edgetable) EDGETABLE_AZURITE=$(abspath $(CACHE))/azurite-$(AZURITE_VERSION)/node_modules/.bin/azurite-table \
	  go test -count=1 -parallel 2 -run '^Test(Homes|Gallery)' .

## explorer-code: the programs that the page writes for a query, with the SDKs that clients-few installs, which runs before
.PHONY: explorer-code
explorer-code: build | clients-few
	functions/explorer/page/test/code/run $(abspath $(BIN)/edgetable)

## explorer-bench: first rows, frames while scrolling and memory of the page with 100,000 rows, in headless Chromium
.PHONY: explorer-bench
explorer-bench: build
	@.ci/prerequisites go node npm chromium
	functions/explorer/page/install
	node testdata/explorer/measure.mjs $(abspath $(BIN)/edgetable)

## gallery: every component of that page in one, on http://127.0.0.1:10010/, to look at in light and in dark
.PHONY: gallery
gallery:
	@.ci/prerequisites go npm python3
	functions/explorer/page/install
	go run -C functions/explorer/build . -gallery -out $(abspath $(BIN))/gallery
	python3 -m http.server --bind 127.0.0.1 --directory $(BIN)/gallery 10010

## screenshots: the pictures of README.md and docs/explorer.md, in docs/images, of made-up tables
.PHONY: screenshots
screenshots: build
	@.ci/prerequisites go node npm chromium
	functions/explorer/page/install
	node testdata/explorer/screenshots.mjs $(abspath $(BIN)/edgetable) docs/images

## backup-s3: backups of the binary to a real server for S3, with faults and kills
.PHONY: backup-s3
backup-s3: build
	cd testdata/backup && go tool -n versitygw >/dev/null && EDGETABLE_BINARY=$(abspath $(BIN)/edgetable) $(GOTEST) -count=1 -parallel 6 ./...

## faulty-place: primaries, secondaries and promotions over a place that loses, delays, repeats and reorders requests, with EDGETABLE_SEEDS (100)
.PHONY: faulty-place
faulty-place: export EDGETABLE_SEEDS ?= 100
faulty-place: build
	cd testdata/backup && go tool -n versitygw >/dev/null && EDGETABLE_BINARY=$(abspath $(BIN)/edgetable) $(GOTEST) -count=1 -parallel 6 -run '^TestFaultyPlace$$' ./...

## homes, homes-all: data goes from each home to the next one; to every other one
.PHONY: homes homes-all
homes-all: export EDGETABLE_MANY = 1
homes homes-all: build $(CACHE)/azurite-$(AZURITE_VERSION)/complete
	EDGETABLE_BINARY=$(abspath $(BIN)/edgetable) EDGETABLE_AZURITE=$(abspath $(CACHE))/azurite-$(AZURITE_VERSION)/node_modules/.bin/azurite-table \
	  $(GOTEST) -count=1 ./testdata/homes

## clients-lambda: the Azure SDKs for two languages against the Lambda function under the emulator of AWS, over DynamoDB Local
.PHONY: clients-lambda
clients-lambda: build
	.ci/clients testdata/lambda/edgetable

## clients-postgres: the Azure SDKs for two languages against a server on PostgreSQL
.PHONY: clients-postgres
clients-postgres: build
	.ci/clients testdata/postgres/edgetable

## clients-edge: three Azure SDKs against the Worker and its objects in workerd
.PHONY: clients-edge
clients-edge: build
	.ci/clients testdata/edge/edgetable

## clients-edge-split: the same with bounds so small that tables split all the time
.PHONY: clients-edge-split
clients-edge-split: export EDGETABLE_SPLIT_BYTES = 1
clients-edge-split: export EDGETABLE_SPLIT_RATE = 5
clients-edge-split: build
	.ci/clients testdata/edge/edgetable

## clients-edge-kv: two of them against the Worker on Workers KV alone
.PHONY: clients-edge-kv
clients-edge-kv: build
	EDGETABLE_EDGE_STORE=kv .ci/clients testdata/edge/edgetable

## clients-declared: the Azure SDKs against tables that declare every option, for a rule that concerns no entity: the same answers
.PHONY: clients-declared
clients-declared: export EDGETABLE_CLIENTS_SUITES ?= go python js java
clients-declared: build
	.ci/clients testdata/declared/edgetable

## clients-all: every suite but the Azure CLI, below which is the SDK for Python, in all homes; once a week and before a release
.PHONY: clients-all
clients-all: export EDGETABLE_CLIENTS_SUITES = $(filter-out cli,$(file <testdata/clients/suites))
clients-all: clients
	$(MAKE) clients-lambda clients-edge clients-edge-split clients-edge-kv clients-postgres

## dist: the files of a release, in dist/: archives, .deb, .rpm, .apk, npm, wheels, an image for containers, manifests, SBOMs, checksums;
## dist: TARGETS=linux/amd64 makes those of one platform; URL=https://… is where manifests find them, SOURCE=https://… the repository
.PHONY: dist
dist:
	@go run -C .ci/dist . $(if $(TARGETS),-only "$(TARGETS)") $(if $(URL),-url "$(URL)") $(if $(SOURCE),-source "$(SOURCE)")

## replay: recorded requests of the real service against ENDPOINT; deletes all tables of the account, see CONTRIBUTING.md
.PHONY: replay
replay:
	@.ci/replay $(ENDPOINT)

## wasm: the modules for Cloudflare Workers with their shells, in bin/edge and bin/edge-kv; the explorer's page, in bin/edge-page
.PHONY: wasm
wasm: build
	@folder=$$(wasm/worker/build) && rm -rf $(BIN)/edge && mkdir -p $(BIN)/edge && cp "$$folder"/* $(BIN)/edge/
	@folder=$$(wasm/worker/build kv) && rm -rf $(BIN)/edge-kv && mkdir -p $(BIN)/edge-kv && cp "$$folder"/* $(BIN)/edge-kv/
	@rm -rf $(BIN)/edge-page && mkdir -p $(BIN)/edge-page/_
	@cp infra/cloudflare/_headers $(BIN)/edge-page/ && cp functions/explorer/dist/* $(BIN)/edge-page/_/
	@$(BIN)/edgetable version --json 2>/dev/null >$(BIN)/edge-page/_/session # which the page asks who serves it

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
deploy-cloudflare:
	@infra/cloudflare/ready $(PROFILE)
	@$(MAKE) wasm
	infra/cloudflare/deploy $(PROFILE) $(WRANGLER_ARGS)

## prove-aws, prove-cloudflare: deploy under a name of its own, play the wire corpus, run three client suites and a load, tear down, and
## prove-aws, prove-cloudflare: write a report to send back, in bin/prove; they state the price and ask. Cloudflare's takes PROFILE=free or paid
.PHONY: prove-aws prove-cloudflare
prove-aws prove-cloudflare: prove-%:
	@PROFILE=$(PROFILE) infra/prove $*

## prove-aws-ttl: asks DynamoDB whether its expiry (TTL) looks at an item again before it deletes it: in a table of its own, for four days and
## prove-aws-ttl: about 0.20 dollars. It can be interrupted and run again. Until somebody did, the store on DynamoDB removes by itself what has ended
.PHONY: prove-aws-ttl
prove-aws-ttl:
	@mkdir -p bin/prove
	go run ./testdata/prove/ttl

# The same programs against what stands for these clouds on this machine.
.PHONY: prove-aws-local prove-cloudflare-local
prove-aws-local prove-cloudflare-local: prove-%-local: build
	testdata/prove/run $*

## lambda: the function for AWS Lambda on arm64, bin/lambda/bootstrap, and the same in bin/lambda.zip
.PHONY: lambda
lambda:
	@mkdir -p $(BIN)/lambda
	GOOS=linux GOARCH=arm64 CGO_ENABLED=0 go build -tags lambda.norpc -ldflags="-s -w" -o $(BIN)/lambda/bootstrap ./functions/lambda
	@infra/aws/zip $(BIN)/lambda/bootstrap $(BIN)/lambda.zip

## infra-aws: check the templates, deploy the stack to a simulated AWS; infra-aws-all: check the Terraform module too
.PHONY: infra-aws infra-aws-all
infra-aws: lambda
	infra/aws/test/run ready_test template_test domain_test stack_test

infra-aws-all: lambda
	infra/aws/test/run

## deploy-aws: deploy to AWS; the first time it asks. STACK=name REGION=region SAM_ARGS="--parameter-overrides …" do not
.PHONY: deploy-aws
deploy-aws: ARGS = $(if $(STACK),--stack-name $(STACK)) $(if $(REGION),--region $(REGION)) $(SAM_ARGS)
deploy-aws:
	@infra/aws/ready $(ARGS)
	@$(MAKE) lambda
	infra/aws/deploy $(ARGS)

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

## attack: every attack of docs/internet.md at once on a server with little memory and few descriptors, for DURATION (5m); ATTACK='-tls' adds flags
.PHONY: attack
DURATION ?= 5m
attack: build
	@ulimit -n "$$(ulimit -Hn)"; go run ./testdata/attack -edgetable $(BIN)/edgetable -duration $(DURATION) $(ATTACK)

## bench: measure against Azurite and against the ceilings; 'make bench SUITE=-full' takes longer
.PHONY: bench
SUITE ?= -short
bench: build $(CACHE)/azurite-$(AZURITE_VERSION)/complete
	go run ./testdata/bench start -edgetable $(BIN)/edgetable
	go test ./adapters/store/pebblestore -run '^$$' -bench FilterScan -benchtime 3x
	go run ./testdata/bench $(SUITE) -edgetable $(BIN)/edgetable \
	  -azurite $(CACHE)/azurite-$(AZURITE_VERSION)/node_modules/.bin/azurite-table \
	  -markdown $(CACHE)/bench.md -json $(CACHE)/bench.json

$(CACHE)/azurite-$(AZURITE_VERSION)/complete:
	@mkdir -p $(@D)
	flock $(@D).lock bash -c '[[ -e $@ ]] || .ci/again bash -c "rm -rf $(@D)/*; npm install --prefix $(@D) --no-audit --no-fund --loglevel error azurite@$(AZURITE_VERSION)" && touch $@'

## bench-data: rates and memory of import, export, copy, sync and verify, and of a loop with the SDK; ROWS=1000000 for the full size
.PHONY: bench-data
bench-data: build $(CACHE)/azurite-$(AZURITE_VERSION)/complete
	testdata/bench/data $(BIN)/edgetable $(CACHE)/azurite-$(AZURITE_VERSION)/node_modules/.bin/azurite-table $(ROWS)

## bench-secondary: what a primary pays for shipping its log, how far a secondary is behind under full load, and the time to promote it
.PHONY: bench-secondary
bench-secondary: build
	testdata/bench/secondary $(BIN)/edgetable $(ENTITIES)

## bench-dynamodb: processor time of the adapter beside that of the SDK alone, what pages read, and the function's size and start
.PHONY: bench-dynamodb
bench-dynamodb:
	EDGETABLE_NEEDS=aws go test ./adapters/store/dynamodb -run '^$$' -bench StoreCPU
	go test ./core/buckets -run Cost -v
	EDGETABLE_NEEDS=aws go test ./functions/lambda -run '^$$' -bench .

## failover: primaries of PostgreSQL under Patroni are killed under load, KILLS times (50), with histories of clients
.PHONY: failover
KILLS ?= 50
failover:
	EDGETABLE_NEEDS=postgres,patroni $(GOTEST) -v -run '^TestPatroni' ./adapters/store/postgres -args -kills $(KILLS)

## bench-postgres: the store on PostgreSQL beside pgx alone; fails where it misses what is asked of it
.PHONY: bench-postgres
bench-postgres:
	EDGETABLE_NEEDS=postgres go test ./adapters/store/postgres -run '^$$' -bench 'BesideRaw|BesideRules|BesideFeed|ReadFeed|FeedDelay|Neighbours' -benchtime 1x

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
	EDGETABLE_NEEDS=acme,aws,edge,postgres,prometheus go test -coverpkg=./core/...,./adapters/... -coverprofile=$(CACHE)/cover.out ./...
	go tool cover -html=$(CACHE)/cover.out -o $(CACHE)/cover.html
	go tool cover -func=$(CACHE)/cover.out | tail -1

## walk: go through docs/start from an empty folder, with a stopwatch; WALK='python go' chooses pages
.PHONY: walk
walk: build
	.ci/walk $(WALK)

## clean: remove what was built and cached, not the data
.PHONY: clean
clean:
	rm -rf $(BIN) dist .cache

## help: this list
.PHONY: help
help:
	@sed -n 's/^## //p' $(MAKEFILE_LIST)
