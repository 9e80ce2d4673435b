// Package visits counts the requests to a bucket, and stores the counts in rows.
package visits

import (
	"bytes"

	"edgetable/adapters/store/durableobject/internal/message"
	"edgetable/adapters/store/durableobject/internal/storage"
	"edgetable/core/edm"
	"edgetable/core/key"
	"edgetable/core/table"
	"edgetable/core/traffic"
)

// Counts are the traffic counts of a bucket. Only some requests store the counts, because this costs as much as a
// write. An object that terminates loses at most a sixteenth of the day's counts.
type Counts struct {
	tally *traffic.Tally // nil until the first request
	kept  uint64         // the number of requests in the stored row
	at    edm.Ticks      // when the row was written or read
}

// These are the keys of the rows with the counts of today and of the day before.
var (
	rowCounts = []byte("mt")
	rowBefore = []byte("mu")
)

const (
	keepShare = 16
	keepEvery = 300 * edm.TicksPerSecond
)

// tallyAt returns the Tally at the given time. It calls methods of rows, after which the results of earlier calls of
// these methods are no longer valid.
func (s *Counts) tallyAt(rows storage.Rows, now edm.Ticks) *traffic.Tally {
	if s.tally == nil {
		v, _ := rows.Get(rowCounts)
		tally, ok := traffic.ReadTally(v)
		if !ok {
			tally = traffic.NewTally(now)
		}
		*s = Counts{tally: tally, kept: tally.Requests(), at: now}
	}
	if s.tally.Tick(now); s.tally.Full() {
		rows.Put(rowBefore, s.tally.Append(nil))
		s.tally.Next()
		s.kept = 0
	}
	return s.tally
}

// Count counts a request. The transaction must not be rolled back afterwards, because the counts in memory
// would remain.
func (s *Counts) Count(rows storage.Rows, now edm.Ticks, v *traffic.Visit) {
	tally := s.tallyAt(rows, now)
	tally.Add(v)
	if n := tally.Requests(); (n-s.kept)*keepShare >= n || now-s.at >= keepEvery || now < s.at {
		rows.Put(rowCounts, tally.Append(nil))
		s.kept, s.at = n, now
	}
}

// Read counts a read of one entity of the given size.
func (s *Counts) Read(rows storage.Rows, now edm.Ticks, k []byte, size int) {
	v := traffic.Visit{From: k, InPartition: true, Entities: 1, Bytes: size}
	v.PartitionKey, v.RowKey = key.Decode(k)
	s.Count(rows, now, &v)
}

// AddMutation adds a mutation to v, the visit of a whole write.
func AddMutation(v *traffic.Visit, m *table.Mutation) {
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

// Scanned counts a query that returned a page.
func (s *Counts) Scanned(rows storage.Rows, now edm.Ticks, scan *message.Scan, page *table.Page, returned int) {
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
	s.Count(rows, now, &v)
}

// planOf returns the name of a query's plan (see odata.Plan) for a scanned range.
//
// Later pages begin inside the range of the first page, but must have the same plan. So a range counts as the whole
// partition if it ends where its partition ends.
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

// Tell returns the encoded counts of today and of the day before. If there are no counts of the day before, before is
// nil.
func (s *Counts) Tell(rows storage.Rows, now edm.Ticks) (current, yesterday []byte) {
	current = s.tallyAt(rows, now).Append(nil)
	yesterday, _ = rows.Get(rowBefore)
	return current, yesterday
}
