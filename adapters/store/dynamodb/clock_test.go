package dynamodb

import (
	"context"
	"testing"
	"testing/synctest"

	"edgetable/core/edm"
	"edgetable/core/table"
)

// A delete is sent after the attempts that were issued lower Timestamps and may
// create its entity, and after no others.
func TestDeleteWaitsForEarlierCreates(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := clock{now: func() edm.Ticks { return 0 }, rand: func() uint64 { return 0 }}
		write := func(k table.Kind, when table.Condition, keys ...string) (list []action) {
			for _, key := range keys {
				list = append(list, action{m: &table.Mutation{Key: []byte(key), Kind: k, Condition: when}})
			}
			return list
		}
		begin := func(list []action) *attempt { return c.begin([]byte("hash"), list) }

		insert := begin(write(table.Put, table.Absent, "a", "x"))
		upsert := begin(write(table.Merge, table.Always, "b", "a"))
		update := begin(write(table.Put, table.Present, "a"))
		elsewhere := begin(write(table.Put, table.Absent, "c"))
		removal := begin(append(write(table.Delete, table.Present, "a"), write(table.Put, table.Absent, "d")...))
		later := begin(write(table.Put, table.Absent, "a"))

		sent := false
		go func() {
			if err := removal.wait(t.Context()); err != nil {
				t.Error(err)
			}
			sent = true
		}()
		for _, a := range []*attempt{insert, upsert} {
			if synctest.Wait(); sent {
				t.Fatalf("the delete with Timestamp %d is sent before the attempt with %d is over", removal.ticks, a.ticks)
			}
			c.end(a)
		}
		if synctest.Wait(); !sent {
			t.Error("the delete waits for an attempt that cannot create its entity, or has a higher Timestamp")
		}

		cancelled, cancel := context.WithCancel(t.Context())
		cancel()
		if err := begin(write(table.Delete, table.Present, "c")).wait(cancelled); err != context.Canceled {
			t.Errorf("a delete that waits when its context ends: %v", err)
		}
		for _, a := range []*attempt{update, elsewhere, removal, later} {
			c.end(a)
		}
		if len(c.creating) > 0 {
			t.Errorf("%d places are remembered when all attempts are over", len(c.creating))
		}
	})
}
