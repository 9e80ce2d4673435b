package engine

import (
	"bytes"

	"edgetable/adapters/store/durableobject/internal/message"
	"edgetable/core/edm"
	"edgetable/core/key"
	"edgetable/core/table"
	"edgetable/core/traffic"
)

// statistics count the requests to a bucket.
//
// They are kept in a row that is written along with a request, now and then: a row
// for each request would cost as much as a write, and the platform does not say when
// it ends an object. So an object that ends forgets at most a sixteenth of what its
// window counted, and what came in the five minutes before.
type statistics struct {
	tally *traffic.Tally // nil until it is needed
	kept  uint64         // the requests that the row knows
	at    edm.Ticks      // when it was written, or read
}

const (
	keepShare = 16
	keepEvery = 300 * edm.TicksPerSecond
)

// now returns the Tally at this time. The results of rows before are lost.
func (s *statistics) now(t *turn) *traffic.Tally {
	if s.tally == nil {
		v, _ := t.rows.Get(rowTraffic)
		tally, ok := traffic.ReadTally(v)
		if !ok {
			tally = traffic.NewTally(t.now)
		}
		*s = statistics{tally: tally, kept: tally.Requests(), at: t.now}
	}
	if s.tally.Tick(t.now); s.tally.Full() {
		t.rows.Put(rowTrafficBefore, s.tally.Append(nil))
		s.tally.Next()
		s.kept = 0
	}
	return s.tally
}

// count counts a request. No rollback may follow it.
func (s *statistics) count(t *turn, v *traffic.Visit) {
	tally := s.now(t)
	tally.Add(v)
	if n := tally.Requests(); (n-s.kept)*keepShare >= n || t.now-s.at >= keepEvery || t.now < s.at {
		t.rows.Put(rowTraffic, tally.Append(nil))
		s.kept, s.at = n, t.now
	}
}

// read counts the read of an entity with so many bytes.
func (s *statistics) read(t *turn, k []byte, size int) {
	v := traffic.Visit{From: k, InPartition: true, Entities: 1, Bytes: size}
	v.PartitionKey, v.RowKey = key.Decode(k)
	s.count(t, &v)
}

// visitMutation adds a mutation to the visit of its write.
func visitMutation(v *traffic.Visit, m *table.Mutation) {
	v.Write, v.InPartition = true, true
	if v.Entities++; v.Entities == 1 {
		v.From = m.Key
		v.PartitionKey, v.RowKey = key.Decode(m.Key)
	}
	v.Batch = v.Entities > 1
	n := len(m.Key) + len(m.Properties)
	v.Bytes += n
	v.Largest = max(v.Largest, n)
	if m.Kind != table.Delete && (m.Condition == table.Absent || m.Condition == table.Always) {
		v.Inserts++
	}
}

// scanned counts a page.
func (s *statistics) scanned(t *turn, scan *message.Scan, page *table.Page, returned int) {
	first, last := scan.Ranges[0], scan.Ranges[len(scan.Ranges)-1]
	v := traffic.Visit{
		From: first.Start, To: last.End, Shape: scan.Filter.Shape(),
		Scanned: page.Examined, ScannedBytes: page.Scanned, Returned: returned,
	}
	v.Example = v.Shape
	v.Plan, v.InPartition = planOf(key.Range{Start: first.Start, End: last.End})
	if v.InPartition {
		partition, _ := key.Split(first.Start)
		v.PartitionKey = key.DecodePart(partition)
	}
	s.count(t, &v)
}

// planOf is the word of odata.Plan for what a range spans, as far as its ends say it. A
// later page is like the first: what lasts to the end of a partition or of the table
// counts as all of it.
func planOf(r key.Range) (plan string, inPartition bool) {
	partition := key.Partition(r.Start)
	switch {
	case r.End == nil:
		return "Table", false
	case len(partition) > 0 && bytes.HasPrefix(r.End, partition):
		if bytes.Equal(key.RowAfter(key.Decode(r.Start)), r.End) {
			return "Point", true
		}
		return "Rows", true
	}
	name, _ := key.Split(r.Start)
	if bytes.Equal(key.PartitionAfter(key.DecodePart(name)), r.End) {
		return "Partition", true
	}
	return "Range", false
}

// tell returns the counts of the object, its keys and its size.
func (b *bucket) tell(t *turn) Step {
	p := t.fields.Destination()
	if !t.fields.Done() {
		return t.malformed()
	}
	if ok, instead := b.serve(t, &p, b.marker.bounds().Start); !ok {
		return instead
	}
	now := b.traffic.now(t).Append(nil)
	before, _ := t.rows.Get(rowTrafficBefore)
	answer := message.AppendBytes(message.AppendBytes(message.Done(t.dst), now), before)
	return Step{Answer: message.AppendBytes(answer, traffic.AppendRange(nil, p.Bucket, b.marker.bounds(), t.rows.Size()))}
}
