package durableobject_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"edgetable/adapters/store/durableobject"
	"edgetable/adapters/store/durableobject/internal/message"
	"edgetable/core/edm"
	"edgetable/core/table"
)

// TestPublishingBesideDrop checks that other changes of the catalog do not wait for a bucket that does
// not answer while its table is being deleted.
func TestPublishingBesideDrop(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1, 1)
	w.create(tableKey)
	d, err := w.store.ReadRecord(t.Context(), tableKey, table.Strong)
	if err != nil {
		t.Fatal(err)
	}
	drops := 0
	w.cloud.inside = func(call durableobject.Call) fate {
		if opOf(call) == message.OpDrop {
			drops++
		}
		return dropless(call)
	}
	if err := w.store.Drop(t.Context(), tableKey, d.Revision); !errors.Is(err, table.ErrUnknown) {
		t.Fatal(err)
	}
	delete(w.lives, tableKey)
	const seconds = 90
	for n := range seconds {
		w.create(acct(fmt.Sprint("other", n)))
		w.pass(edm.TicksPerSecond)
	}
	if w.replica.batches < seconds/2 || drops > 3*(1+seconds/30) {
		t.Errorf("%d batches and %d drops in %d s", w.replica.batches, drops, seconds)
	}
	w.cloud.inside = nil
	w.converges()
}

// TestWakeBitByBit switches publishing on for existing tables, and checks how the catalog wakes their buckets.
// In each attempt, a different bucket does not wake up. Buckets that woke up must not be woken again. A bucket
// that never wakes up must be called again from time to time.
func TestWakeBitByBit(t *testing.T) {
	t.Parallel()
	const buckets = 5
	for _, never := range []bool{false, true} {
		w := newWorld(t, 1, buckets)
		w.cloud.replica = ""
		w.create(tableKey)
		for p := range 20 {
			w.write(tableKey, fmt.Sprint("p", p), "r", false)
		}
		w.evict()
		w.cloud.replica = "kv"
		if _, err := w.store.ReadRecord(t.Context(), tableKey, table.Strong); err != nil {
			t.Fatal(err)
		}
		wakes := 0
		w.cloud.inside = func(call durableobject.Call) fate {
			if opOf(call) != message.OpGet {
				return fate{}
			}
			wakes++
			if wakes%buckets == 0 || never && strings.HasSuffix(call.To.Name, "/4") {
				return fate{lose: true, err: durableobject.ErrLost}
			}
			return fate{}
		}
		const minutes = 10
		w.pass(minutes * 60 * edm.TicksPerSecond)
		if most := 3 * (buckets + minutes); wakes > most {
			t.Errorf("never %t: %d wakes, want at most %d", never, wakes, most)
		}
		if never {
			w.cloud.inside = nil
		}
		w.converges()
	}
}

// TestWakeInParts checks that the catalog wakes the buckets of a table with many buckets in several batches, because
// the platform limits the calls of one message.
func TestWakeInParts(t *testing.T) {
	t.Parallel()
	const buckets, limit = 250, 100
	w := newWorld(t, 1, buckets)
	w.cloud.replica = ""
	w.create(tableKey)
	w.write(tableKey, "p", "r", false)
	w.evict()
	w.cloud.replica = "kv"
	if _, err := w.store.ReadRecord(t.Context(), tableKey, table.Strong); err != nil {
		t.Fatal(err)
	}
	wakes := 0
	w.cloud.between = func(_ *node, calls []durableobject.Call) bool {
		n := 0
		for _, call := range calls {
			if opOf(call) == message.OpGet {
				n++
			}
		}
		wakes += n
		if n > limit {
			t.Errorf("a batch wakes %d buckets, want at most %d", n, limit)
		}
		return false
	}
	w.pass(60 * edm.TicksPerSecond)
	if wakes != buckets {
		t.Errorf("%d wakes, want one for each of %d buckets", wakes, buckets)
	}
	w.cloud.between = nil
	w.converges()
}
