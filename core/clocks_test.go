package core_test

// mostClocks is the maximum number of entries in the map clocks. Change this maximum only to a lower number.
const mostClocks = 20

// clocks lists the test files that may use the wall clock, poll a condition, or draw random numbers without a seed.
// Each entry has the number of uses and the reason.
var clocks = map[string]struct {
	uses int
	why  string
}{
	"adapters/store/dynamodb/harness_test.go":        {1, "attempts pause for DynamoDB Local, a hundredth of their time"},
	"adapters/store/pebblestore/drop_test.go":        {1, "a load without a rest, until the table is gone, gives way to the drop"},
	"adapters/store/pebblestore/settled_test.go":     {1, "a writer of this process is about to wait, of which no event tells"},
	"adapters/store/pebblestore/settledrace_test.go": {1, "writers try again until the disk has space, and give way"},
	"adapters/store/pebblestore/space_test.go":       {1, "measures a disk until operations that found it full have tried again, and gives way to them"},
	"adapters/store/postgres/leave_test.go":          {1, "a write that must not be sent waits in vain, at any speed"},
	"adapters/store/postgres/wire_test.go":           {1, "a slow wire; what is sent over it does not depend on how slow"},
	"functions/edgetable/datakill_test.go":           {1, "the moment of a kill; every moment must do"},
	"functions/edgetable/secondarykill_test.go":      {1, "the moment of a kill; every moment must do"},
	"testdata/backup/gateway_test.go":                {2, "Eventually of a module of its own"},
	"testdata/explorer/tab_test.go":                  {1, "waits end shortly before the deadline of the test"},
	"testdata/explorer/traffic_test.go":              {1, "the map of a server changes when a minute of its clock ends"},
	"testdata/lambda/emulator/emulator.go":           {3, "waits until the emulator listens or ends, as its caller permits"},
	"testdata/monitoring/local_test.go":              {1, "the pace of clients that Prometheus watches"},
	"testdata/monitoring/prometheus_test.go":         {4, "Prometheus scrapes and judges at intervals of its own"},
	"testdata/postgres/local/local.go":               {3, "a server that does not start within a minute tells why"},
	"testdata/postgres/local/patroni.go":             {3, "managers with leases in real time: make weekly has their tests"},
	"testdata/prove/faults_test.go":                  {1, "cuts requests to a service that is far away"},
	"Eventually":                                     {41, "states of other processes, or of servers with periods of their own, of which no event tells"},
	"testdata/must/wait.go":                          {2, "where tests wait: until shortly before their own deadline"},
}
