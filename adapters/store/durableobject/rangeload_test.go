package durableobject_test

import (
	"errors"
	"flag"
	"fmt"
	"maps"
	"strings"
	"testing"

	"edgetable/adapters/store/durableobject"
	"edgetable/adapters/store/durableobject/internal/message"
	"edgetable/adapters/store/durableobject/internal/span"
	"edgetable/core/edm"
	"edgetable/core/table"
)

var loadDays = flag.Float64("load-days", 0, "days of the loads of TestRangesStayBounded; 0: a short time for each")

// TestRangesStayBounded runs days of load with the default maximum of size and rate. One request stands
// for many: the rate and the size at which a range splits are reduced by the same factor. The number of
// ranges must stay bounded, few entities may be copied, and no write may be refused.
func TestRangesStayBounded(t *testing.T) {
	t.Parallel()
	const second = edm.TicksPerSecond
	for _, l := range []struct {
		what   string
		days   float64 // duration of the test, unless a flag sets another duration
		rate   float64 // inserts per second
		scale  float64 // one request of the test stands for this number of real requests
		moves  edm.Ticks
		step   func(w *rangeLoad, n int)
		most   int     // maximum number of ranges at a time, not counting those that the size requires
		atRest int     // maximum number of ranges after an idle day, not counting those that are too large to merge
		copies float64 // maximum number of copies per insert
	}{
		{"a log", 2, 350, 2000, 0, (*rangeLoad).growing, 1, 1, 0},
		{"a queue of ten minutes", 0.5, 350, 200, 0, (*rangeLoad).queue, 12, 1, 1.1},
		{"a ring of 50 hot partitions", 1, 1000, 500, 600 * second, (*rangeLoad).hotRing, 40, 3, 1.1},
		{"50 hot partitions anywhere", 1, 1000, 500, 7200 * second, (*rangeLoad).hotAnywhere, 60, 3, 1.1},
	} {
		t.Run(l.what, func(t *testing.T) {
			t.Parallel()
			if *loadDays > 0 {
				l.days = *loadDays
			}
			w := newRangeLoad(t, l.scale, l.rate)
			w.moves = l.moves
			end := w.clock.t + edm.Ticks(l.days*86400)*second
			for n := 0; w.clock.t < end; n++ {
				w.clock.t += edm.Ticks(float64(second) * l.scale / l.rate)
				w.ring(w.clock.t)
				l.step(w, n)
				w.look()
			}
			notSmall := int(w.size() * 8 / w.bytes) // number of ranges that exceed the limit of small ranges
			bySize := max(int(float64(w.stored)/float64(w.bytes/2)), notSmall)
			copies := float64(w.copied) / float64(max(w.inserts, 1))
			t.Logf("%.0f days, %d inserts: at most %d ranges, %d now; %.3f copies an insert; %v", l.days, w.inserts, w.most, len(w.remaining()), copies, w.events)
			if w.most > l.most+bySize {
				t.Errorf("%d ranges, more than %d and %d of the size", w.most, l.most, bySize)
			}
			if copies > l.copies {
				t.Errorf("%.3f copies an insert, more than %.3f", copies, l.copies)
			}
			w.idle(26)
			if got, notSmall := len(w.remaining()), int(w.size()*8/w.bytes); got > l.atRest+notSmall {
				t.Errorf("%d ranges after a day without load, more than %d and %d that are not small", got, l.atRest, notSmall)
			}
			w.idle(12)
			if w.rings = 0; w.idle(24) != 0 {
				t.Errorf("%d alarms in a day in which nobody uses the table", w.rings)
			}
		})
	}
}

// rangeLoad is a table under load.
type rangeLoad struct {
	*ranges
	moves           edm.Ticks
	inserts, copied int
	stored          int64 // bytes of all entities
	most, rings     int
	looked          edm.Ticks
}

func newRangeLoad(t *testing.T, scale, rate float64) *rangeLoad {
	const entity = 1000 // assumed bytes of a real entity; an entity of the test has sizeOfRow bytes
	w := &rangeLoad{ranges: newRanges(t, 1, int64(4e9/entity/scale*sizeOfRow), 300/scale)}
	w.inside = func(c durableobject.Call) fate {
		op, r, _ := message.Open(c.Message)
		switch op {
		case message.OpJoin:
			r.Destination()
			r.Incarnation()
			r.Uint64()
		case message.OpCopy:
			r.Destination()
			r.Incarnation()
		case message.OpTake:
			r.Destination()
			r.Incarnation()
			r.Uint64()
			if taking := r.Taking(); taking.Bounds.End != nil && w.leaves(c) {
				r.Uint64()
			}
			for r.OK() && !r.Done() {
				r.Item()
				w.copied++
			}
			return fate{}
		default:
			return fate{}
		}
		for r.Uint64(); r.OK() && !r.Done(); w.copied++ {
			r.Item()
		}
		return fate{}
	}
	return w
}

// An OpTake comes from a split or from a merge into the right neighbour. In a split, the receiver does not
// serve keys yet. This method returns true if the OpTake comes from a merge.
func (w *rangeLoad) leaves(c durableobject.Call) bool {
	for _, r := range w.node(c.To).rows.Rows {
		if string(r.Key) == "mr" {
			return r.Value[16+8] == 0
		}
	}
	return false
}

const sizeOfRow = 100

// write inserts, replaces or deletes an entity. The Worker retries if a range cannot serve for a
// moment.
func (w *rangeLoad) write(partition, row string, kind table.Kind) {
	m := table.Mutation{Key: at(partition, row), Nonce: 1, Kind: kind}
	if kind == table.Delete {
		m.Condition = table.Present
	} else {
		m.Properties = edm.AppendProperty(nil, "v", edm.String(strings.Repeat("x", sizeOfRow-60)))
		w.inserts++
	}
	for range 3 {
		_, err := w.store.Commit(w.t.Context(), tableKey, []table.Mutation{m})
		if err == nil || errors.Is(err, table.ErrNoEntity) {
			return
		}
		if !errors.Is(err, table.ErrBusy) {
			w.t.Fatalf("a write with %d ranges: %v", len(w.remaining()), err)
		}
		w.clock.t += edm.TicksPerSecond / 10
		w.ring(w.clock.t)
	}
	w.t.Fatal("a write was refused three times")
}

// look counts the ranges every five minutes, and keeps the highest number.
func (w *rangeLoad) look() {
	if w.clock.t < w.looked+300*edm.TicksPerSecond {
		return
	}
	w.looked = w.clock.t
	w.forget()
	n := w.events[span.SplitFinished] - w.events[span.JoinFinished] + 1
	w.most = max(w.most, n)
}

// forget removes objects that store nothing and have no alarm, as the platform does. In 90 days there are
// thousands of them. Without forget, each call of ring would check all of them.
func (w *rangeLoad) forget() {
	w.mu.Lock()
	defer w.mu.Unlock()
	maps.DeleteFunc(w.cloud.objects, func(_ durableobject.Address, n *node) bool { return len(n.rows.Rows) == 0 && n.alarm == 0 })
}

// size returns the size of all objects.
func (w *rangeLoad) size() (n int64) {
	for _, o := range w.all() {
		if strings.HasPrefix(o.id.Name, "bucket/") {
			n += o.rows.Size()
		}
	}
	return n
}

// The method idle moves the clock by some hours without load, and returns the number of alarms that rang.
func (w *rangeLoad) idle(hours int) int {
	for range hours * 120 {
		w.clock.t += 30 * edm.TicksPerSecond
		w.rings += w.ring(w.clock.t)
	}
	for _, n := range w.all() { // makes the object sleep
		n.evict()
	}
	return w.rings
}

// This method inserts entities in the order of their keys.
func (w *rangeLoad) growing(n int) {
	w.write(fmt.Sprintf("%012d", n/5), fmt.Sprint(n%5), table.Put)
	w.stored += sizeOfRow
}

// The method queue inserts an entity at the end of the table, and deletes an entity at the beginning when it is
// ten minutes old.
func (w *rangeLoad) queue(n int) {
	w.write(fmt.Sprintf("%012d", n), "r", table.Put)
	if old := n - int(600*350.0/300*w.rate); old >= 0 {
		w.write(fmt.Sprintf("%012d", old), "r", table.Delete)
	}
}

// hotRing replaces entities of 50 adjacent partitions out of 5,000. From time to time, the next partition
// replaces the first of the 50.
func (w *rangeLoad) hotRing(n int) { w.upsert(int(w.clock.t/w.moves) + n*37%50) }

// hotAnywhere replaces entities of 50 adjacent partitions out of 5,000. From time to time, 50 other partitions,
// far away, replace them.
func (w *rangeLoad) hotAnywhere(n int) { w.upsert(int(w.clock.t/w.moves)*1877 + n*37%50) }

func (w *rangeLoad) upsert(partition int) {
	w.write(fmt.Sprintf("%05d", partition%5000), fmt.Sprint(w.inserts%20), table.Put)
}
