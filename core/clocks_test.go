package core_test

// mostClocks bounds the list below. It may only shrink.
const mostClocks = 39

// clocks are the files of tests that may use the wall clock, poll, or draw random numbers
// without a seed: how often they do, and why.
var clocks = map[string]struct {
	uses int
	why  string
}{
	"adapters/store/dynamodb/deadline_test.go":       {2, "DynamoDB Local keeps the time of its machine"},
	"adapters/store/dynamodb/frozen_test.go":         {2, "DynamoDB Local keeps the time of its machine"},
	"adapters/store/dynamodb/harness_test.go":        {1, "DynamoDB Local keeps the time of its machine"},
	"adapters/store/dynamodb/large_test.go":          {1, "DynamoDB Local keeps the time of its machine"},
	"adapters/store/dynamodb/rebucket_live_test.go":  {3, "DynamoDB Local keeps the time of its machine"},
	"adapters/store/pebblestore/drop_test.go":        {1, "a load without a rest, until the table is gone, gives way to the drop"},
	"adapters/store/pebblestore/settled_test.go":     {1, "a writer of this process is about to wait, of which no event tells"},
	"adapters/store/pebblestore/settledrace_test.go": {1, "writers try again until the disk has space, and give way"},
	"adapters/store/pebblestore/space_test.go":       {1, "measures a disk until operations that found it full have tried again, and gives way to them"},
	"adapters/store/postgres/failover_test.go":       {4, "PostgreSQL, etcd and Patroni keep the time of their machine"},
	"adapters/store/postgres/leave_test.go":          {1, "PostgreSQL, etcd and Patroni keep the time of their machine"},
	"adapters/store/postgres/wire_test.go":           {3, "PostgreSQL, etcd and Patroni keep the time of their machine"},
	"core/protocol/example_test.go":                  {1, "shows what a server passes"},
	"functions/edgetable/datakill_test.go":           {1, "the moments of kills are times"},
	"functions/edgetable/secondarykill_test.go":      {2, "the moments of kills are times"},
	"testdata/backup/faulty_test.go":                 {4, "it polls a server that has periods of its own, and its faults have no seed"},
	"testdata/backup/gateway_test.go":                {4, "it polls a server that has periods of its own, and its faults have no seed"},
	"testdata/backup/s3_test.go":                     {2, "it polls a server that has periods of its own, and its faults have no seed"},
	"testdata/backup/secondary_test.go":              {6, "it polls a server that has periods of its own, and its faults have no seed"},
	"testdata/clients/giovanni/giovanni_test.go":     {3, "the server is another process, perhaps far away"},
	"testdata/clients/giovanni/harness_test.go":      {1, "the server is another process, perhaps far away"},
	"testdata/clients/go/failover_test.go":           {1, "the server is another process, perhaps far away"},
	"testdata/edge/workerd/hostile_test.go":          {1, "it polls objects in workerd, which keep the time of its machine"},
	"testdata/edge/workerd/replica_test.go":          {4, "it polls objects in workerd, which keep the time of its machine"},
	"testdata/edge/workerd/restore_test.go":          {3, "it polls objects in workerd, which keep the time of its machine"},
	"testdata/edge/workerd/script_test.go":           {2, "it polls objects in workerd, which keep the time of its machine"},
	"testdata/edge/workerd/splitload_test.go":        {1, "it polls objects in workerd, which keep the time of its machine"},
	"testdata/explorer/tab_test.go":                  {1, "waits end shortly before the deadline of the test"},
	"testdata/explorer/traffic_test.go":              {1, "the map of a server changes when a minute of its clock ends"},
	"testdata/homes/process_test.go":                 {1, "it waits for a process, with a limit"},
	"testdata/lambda/emulator/emulator.go":           {3, "it waits for a process, with a limit"},
	"testdata/monitoring/local_test.go":              {1, "Prometheus scrapes at intervals"},
	"testdata/monitoring/prometheus_test.go":         {4, "Prometheus scrapes at intervals"},
	"testdata/postgres/local/local.go":               {3, "it waits for a process, with a limit"},
	"testdata/postgres/local/patroni.go":             {3, "PostgreSQL, etcd and Patroni keep the time of their machine"},
	"testdata/prove/faults_test.go":                  {2, "the server is another process, perhaps far away"},
	"testdata/prove/wire_test.go":                    {1, "the server is another process, perhaps far away"},
	"Eventually":                                     {33, "states of other processes, or of servers with periods of their own, of which no event tells"},
	"testdata/must/wait.go":                          {2, "where tests wait: until shortly before their own deadline"},
}
