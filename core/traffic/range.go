package traffic

import (
	"bytes"
	"strings"
	"time"

	"edgetable/core/edm"
	"edgetable/core/key"
)

// Range is a key range that one Durable Object serves: a whole bucket of a table or, after a split, a part of a
// bucket.
type Range struct {
	Bucket int `json:"bucket"`
	// From and To are the PartitionKeys at the start and the end of the range, or "" at the ends of the table. The
	// range usually contains the partition From but not To.
	From  string `json:"from"`
	To    string `json:"to"`
	Bytes uint64 `json:"bytes"` // size of the stored data
	// Load is the number of entities read or written plus the number of query pages, per second, over the last five
	// minutes.
	Load float64 `json:"load"`
	// Since holds the time at which the Durable Object began to serve the range. Since is zero if the Durable Object
	// existed before the table was split.
	Since time.Time `json:"since,omitzero"`
}

// AppendRange appends an encoded Range without its Load, for [ReadBucket].
func AppendRange(dst []byte, bucket uint16, keys key.Range, size int64, since edm.Ticks) []byte {
	w := writer{dst}
	w.number(uint64(bucket))
	w.text(string(keys.Start))
	w.text(string(keys.End))
	w.number(uint64(max(size, 0)))
	if since > 0 {
		w.number(uint64(since))
	}
	return w.b
}

func readRange(b []byte) (g Range, ok bool) {
	r := reader{rest: b}
	g.Bucket = r.count(1<<16 - 1)
	g.From, g.To = partitionAt(r.bytes()), partitionAt(r.bytes())
	g.Bytes = r.number()
	if !r.bad && len(r.rest) > 0 {
		g.Since = edm.Ticks(r.number()).Time()
	}
	return g, !r.bad && len(r.rest) == 0
}

// partitionAt returns the PartitionKey at the start or end of a range. A position after a partition has an additional
// control character, which no key contains.
func partitionAt(position []byte) string {
	partition, _ := key.Split(position)
	partition = bytes.TrimRight(partition, "\x01")
	return strings.ToValidUTF8(key.DecodePart(partition), "")
}

// loadTime is the period over which Load is averaged.
const loadTime = 5 * minute

// load returns the Load of the Durable Object to which the Tally belongs.
func (t *Tally) load() float64 {
	begin := max(t.now-t.now%minute-loadTime+minute, t.since)
	n := uint64(0)
	for i := range t.minutes {
		if m := &t.minutes[i]; m.at > begin-minute {
			n += uint64(m.counts[reads]) + uint64(m.counts[writes])
		}
	}
	return float64(n) * edm.TicksPerSecond / float64(max(t.now-begin, edm.TicksPerSecond))
}
