package workerd_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"edgetable/testdata/edge/workerd"
)

// TestReplicaOfLargest checks that entities of the maximum size reach the replica in KV. They must arrive by
// the initial sync and, if they are written later, as changes (by the outbox). In KV, the characters of the
// entities take one and a half times as many bytes. Meanwhile the Durable Objects of the isolate keep the
// replies that they store for retries.
func TestReplicaOfLargest(t *testing.T) {
	var log bytes.Buffer
	options := workerd.Options{Data: t.TempDir(), Log: &log, Env: []string{acme}}
	s := startReplica(t, options)
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(log.String())
		}
	})
	const entities = 9
	write := func(table string) {
		t.Helper()
		must(t, 201, s, "POST", "acme", "/Tables", "", `{"TableName":"`+table+`"}`)
		for n := range entities {
			size := 523_500 // number of characters; at two bytes each, the entity has 1 MiB, including the names and types of its properties
			if n%2 == 0 && n < 6 {
				size = 349_000 // number of characters: 1 MiB at three bytes each
			}
			must(t, 204, s, "PUT", "acme", entity(table, n), "", large(size, "€"))
		}
	}
	write("before")
	s.Stop()
	options.Env = append(options.Env, "EDGETABLE_REPLICA=true")
	s = startReplica(t, options)
	write("large")
	for _, table := range []string{"before", "large"} {
		must(t, 200, s, "GET", "acme", entity(table, 0), "", "")
		for n := range entities {
			shows(t, s, entity(table, n), "")
		}
	}
	s.Stop()
	for line := range strings.Lines(log.String()) {
		if !strings.HasPrefix(line, `{"msg":"request"`) {
			t.Error(line)
		}
	}
}

func entity(table string, n int) string {
	return fmt.Sprintf("/%s(PartitionKey='p',RowKey='%d')", table, n)
}
