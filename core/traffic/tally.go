package traffic

import (
	"slices"

	"edgetable/core/edm"
)

// Tally counts the requests to a table or a bucket in one period of time. It has all counts of a [Counter] except the
// counts by key range. It is not safe for concurrent use.
type Tally struct {
	window
	ends    ends
	recent  []recentWrites
	lately  [8]uint64 // for each of the latest eight writes in the current second, the hash of the partition
	written uint64
	now     edm.Ticks
	minutes []minuteCount // counts by minute, in ascending order of time; only for a bucket (a part of a table), because a table has a grid
}

// recentWrites is the number of writes to one partition in one second.
type recentWrites struct {
	id     uint64
	second edm.Ticks
	n      uint64
}

type minuteCount struct {
	at     edm.Ticks
	counts [metrics]uint32
}

// size holds the limits for the data that a Tally stores. The first four fields are maximum numbers of items.
type size struct {
	partitions, shapes, recent, minutes int
	text                                int // maximum length of a stored filter, in bytes
}

var (
	// ofTable holds the limits for a Tally of a whole table.
	ofTable = &size{partitions: heaviest, shapes: 32, recent: 64, text: 512}
	// ofBucket holds the limits for a Tally of a bucket (a part of a table). They are low, because hundreds of buckets
	// may share a small memory.
	ofBucket = &size{partitions: 16, shapes: 8, recent: 8, text: 160, minutes: 60}
)

// NewTally returns a Tally of at most 16 KiB for a bucket: the 16 busiest partitions by each count, 8 groups of similar
// queries, and the sums of the last 60 minutes with traffic.
func NewTally(since edm.Ticks) *Tally {
	t := new(Tally)
	t.start(since, ofBucket)
	return t
}

func (t *Tally) start(since edm.Ticks, s *size) {
	t.now, t.recent = since, make([]recentWrites, s.recent)
	t.window = newWindow(since, s)
}

// Tick advances the Tally to now.
func (t *Tally) Tick(now edm.Ticks) {
	if now/edm.TicksPerSecond != t.now/edm.TicksPerSecond {
		t.lately = [8]uint64{}
	}
	t.now = now
}

// Full reports whether the window is a day old. If so, the caller must call Next.
func (t *Tally) Full() bool { return t.now-t.since >= day }

// Next starts a new window, in which all counts are zero.
func (t *Tally) Next() { t.window = newWindow(t.now, t.size) }

// Add counts one request. v.From must be set.
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

// count adds a request to all counts except the sums of reads by key (see sumRead). The parameter weight is the number
// of reads that a sampled read by key represents.
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
	if t.size.minutes > 0 {
		increase(&t.minute().counts[metric], n)
	}
	if v.InPartition {
		t.heavy[metric].add(id, v.PartitionKey, uint64(n))
	}
}

// minute returns the counts of the current minute, or of the latest minute if the clock was set back.
func (t *Tally) minute() *minuteCount {
	at, n := t.now-t.now%minute, len(t.minutes)
	if n > 0 && t.minutes[n-1].at >= at {
		return &t.minutes[n-1]
	}
	if n == t.size.minutes {
		t.minutes = t.minutes[:copy(t.minutes, t.minutes[1:])]
	}
	t.minutes = append(t.minutes, minuteCount{at: at})
	return &t.minutes[len(t.minutes)-1]
}

func (t *Tally) write(v *Visit, id uint64, from []byte) {
	sum := &t.totals
	sum.Writes += uint64(v.Entities)
	sum.WrittenBytes += uint64(v.Bytes)
	sum.WriteUnits += uint64(max((v.Bytes+1023)/1024, v.Entities))
	sum.WriteRequests++
	recent := &t.recent[(id^id>>32)%uint64(len(t.recent))]
	if second := t.now / edm.TicksPerSecond; recent.id != id || recent.second != second {
		*recent = recentWrites{id: id, second: second}
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
