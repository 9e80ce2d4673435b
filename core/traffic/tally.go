package traffic

import (
	"slices"

	"edgetable/core/edm"
)

// Tally counts the requests to a table, or to a bucket of one, in one window: all
// that a [Counter] keeps but the matrix. It is not safe for concurrent use.
type Tally struct {
	window
	ends    ends
	recent  []recentWrites
	lately  [8]uint64 // partitions of the last writes in this second
	written uint64
	second  uint64
}

// recentWrites is the number of writes to a partition in a second.
type recentWrites struct{ id, second, n uint64 }

// size is how much a Tally keeps.
type size struct{ partitions, shapes, recent int }

var (
	// ofTable is for a table that a server counts.
	ofTable = size{heaviest, 32, 64}
	// ofBucket is for a bucket, of which hundreds may share little memory.
	ofBucket = size{16, 8, 8}
)

// NewTally returns a Tally for a bucket, which keeps 16 partitions by each metric
// and 8 shapes, in at most 10 KiB.
func NewTally(since edm.Ticks) *Tally { t := newTally(since, ofBucket); return &t }

func newTally(since edm.Ticks, s size) Tally {
	return Tally{window: newWindow(since, s), recent: make([]recentWrites, s.recent)}
}

// Tick moves the Tally to a time.
func (t *Tally) Tick(now edm.Ticks) {
	if second := uint64(now / edm.TicksPerSecond); second != t.second {
		t.second, t.lately = second, [8]uint64{}
	}
}

// Add counts a request whose From is set.
func (t *Tally) Add(v *Visit) {
	if v.byKey() {
		t.sumRead(v)
	}
	t.count(v, v.From, 1)
}

func (t *Tally) sumRead(v *Visit) {
	t.totals.Reads += uint64(v.Entities)
	t.totals.ReadBytes += uint64(v.Bytes)
}

// count counts a request, but not the sums of a read by key, which stands for so many.
func (t *Tally) count(v *Visit, from []byte, weight int) {
	id := uint64(0)
	if v.InPartition {
		id = hash(v.PartitionKey)
	}
	switch {
	case v.Throttled:
		t.totals.Throttled++
		t.weigh(throttled, id, v, 1)
	case v.Plan != "":
		t.query(v)
		t.weigh(scanned, id, v, v.Scanned)
		t.weigh(reads, id, v, 1)
	case v.Write:
		t.write(v, id, from)
		t.weigh(writes, id, v, v.Entities)
	default:
		t.weigh(reads, id, v, v.Entities*weight)
	}
}

func (t *Tally) weigh(metric int, id uint64, v *Visit, n int) {
	if v.InPartition {
		t.heavy[metric].add(id, v.PartitionKey, uint64(n))
	}
}

func (t *Tally) write(v *Visit, id uint64, from []byte) {
	sum := &t.totals
	sum.Writes += uint64(v.Entities)
	sum.WrittenBytes += uint64(v.Bytes)
	sum.WriteUnits += uint64(max((v.Bytes+1023)/1024, v.Entities))
	sum.WriteRequests++
	recent := &t.recent[(id^id>>32)%uint64(len(t.recent))]
	if recent.id != id || recent.second != t.second {
		*recent = recentWrites{id: id, second: t.second}
	}
	if v.Batch {
		sum.Batches++
		sum.BatchEntities += uint64(v.Entities)
	} else if slices.Contains(t.lately[:], id) {
		sum.Batchable++
	}
	t.lately[t.written%uint64(len(t.lately))] = id
	t.written++
	if recent.n += uint64(v.Entities); recent.n > sum.SecondMost {
		sum.SecondMost = recent.n
		if sum.SecondMostIn != v.PartitionKey {
			sum.SecondMostIn = clone(v.PartitionKey, maxName)
		}
	}
	if uint64(v.Largest) > sum.Largest {
		sum.Largest, sum.LargestIn = uint64(v.Largest), clone(v.PartitionKey, maxName)
	}
	if v.Inserts > 0 {
		t.insert(v, id, from)
	}
}

func (t *Tally) insert(v *Visit, id uint64, from []byte) {
	sum := &t.totals
	t.distinct(id)
	n := uint64(v.Inserts)
	judged, atEnd, atStart := t.ends.insert(from)
	if judged {
		sum.Judged += n
	}
	if atEnd {
		sum.AtEnd += n
	}
	if atStart {
		sum.AtStart += n
	}
	if (atEnd || atStart) && sum.LastInserted == "" {
		sum.LastInserted = clone(v.PartitionKey+" / "+v.RowKey, 2*maxName)
	}
}
