package traffic

import (
	"bytes"
	"strings"
	"time"

	"edgetable/core/edm"
	"edgetable/core/key"
)

// Range is a range of keys that one object on Workers serves: a bucket of a table, or
// what a split left of it.
type Range struct {
	Bucket int `json:"bucket"`
	// From and To are PartitionKeys. The range begins at From, or behind it where only keys
	// behind all others came, and ends before To. "" is the begin or the end of all keys.
	From  string `json:"from"`
	To    string `json:"to"`
	Bytes uint64 `json:"bytes"` // that the object stores
	// Load is the number of entities read or written, and of pages of queries, a second, in
	// the last five minutes.
	Load float64 `json:"load"`
	// Since is when the object began to serve the keys, zero for one that was there before the
	// table split.
	Since time.Time `json:"since,omitzero"`
}

// AppendRange appends a Range without its Load in the form that [ReadBucket] reads.
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

// readRange reads what AppendRange wrote.
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

// partitionAt is the PartitionKey at which a range may be cut. A cut behind a partition has
// a control character more, which no key has.
func partitionAt(position []byte) string {
	partition, _ := key.Split(position)
	partition = bytes.TrimRight(partition, "\x01")
	return strings.ToValidUTF8(key.DecodePart(partition), "")
}

// loadTime is the time of which a Load is told.
const loadTime = 5 * minute

// load is the Load of the object that keeps the Tally.
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
