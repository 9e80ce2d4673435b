package traffic

import (
	"strings"

	"edgetable/core/edm"
)

// day is the length of a window, the period for which counts are summed. A report covers the current window and the
// previous window.
const day edm.Ticks = 24 * 60 * minute

// Totals holds sums over the requests to one table.
type Totals struct {
	Reads        uint64 `json:"reads"` // number of entities read by key
	ReadBytes    uint64 `json:"readBytes"`
	Queries      uint64 `json:"queries"` // number of pages of queries
	Scanned      uint64 `json:"scanned"` // number of rows examined for queries
	ScannedBytes uint64 `json:"scannedBytes"`
	Returned     uint64 `json:"returned"`
	Writes       uint64 `json:"writes"` // number of entities written or deleted
	WrittenBytes uint64 `json:"writtenBytes"`
	// WriteUnits is the size of the written entities in KiB. The size of each request is rounded up, and is at least
	// 1 KiB for each entity.
	WriteUnits    uint64 `json:"writeUnits"`
	WriteRequests uint64 `json:"writeRequests"`
	Batches       uint64 `json:"batches"` // number of entity group transactions
	BatchEntities uint64 `json:"batchEntities"`
	// Batchable is the number of writes that could have been in a transaction: one of the eight preceding writes was to
	// the same partition in the same second.
	Batchable uint64 `json:"batchable"`
	Throttled uint64 `json:"throttled"`
	// Missed is the number of requests that arrived while another request to the table was being counted.
	Missed uint64 `json:"missed"`

	// Judged is the number of inserts whose key was compared with earlier keys. Of these keys, AtEnd were above the
	// highest earlier key, and AtStart were below the lowest.
	Judged  uint64 `json:"judged"`
	AtEnd   uint64 `json:"atEnd"`
	AtStart uint64 `json:"atStart"`
	// FirstInserts is the number of inserts whose partitions were counted: the first 1,024 of a day. FirstPartitions is
	// the estimated number of different partitions of these inserts.
	FirstInserts    uint64 `json:"firstInserts"`
	FirstPartitions uint64 `json:"firstPartitions"`

	Largest      uint64 `json:"largest"` // size in bytes of the largest entity written
	LargestIn    string `json:"largestIn"`
	LastInserted string `json:"lastInserted"` // key of the first insert at the end or the start of the table
	SecondMost   uint64 `json:"secondMost"`   // highest number of writes to one partition in one second
	SecondMostIn string `json:"secondMostIn"`
}

// sums returns pointers to the fields that are added up when two Totals are merged.
func (t *Totals) sums() [20]*uint64 {
	return [...]*uint64{
		&t.Reads, &t.ReadBytes, &t.Queries, &t.Scanned, &t.ScannedBytes, &t.Returned, &t.Writes, &t.WrittenBytes, &t.WriteUnits,
		&t.WriteRequests, &t.Batches, &t.BatchEntities, &t.Batchable, &t.Throttled, &t.Missed, &t.Judged, &t.AtEnd, &t.AtStart,
		&t.FirstInserts, &t.FirstPartitions,
	}
}

// sumNames contains the JSON names of the fields of Totals.sums, in the same order.
var sumNames = [...]string{
	"reads", "readBytes", "queries", "scanned", "scannedBytes", "returned", "writes", "writtenBytes", "writeUnits", "writeRequests", "batches",
	"batchEntities", "batchable", "throttled", "missed", "judged", "atEnd", "atStart", "firstInserts", "firstPartitions",
}

// EachSum calls f for each field that is added up when two Totals are merged.
func (t *Totals) EachSum(f func(name string, n uint64)) {
	for i, n := range t.sums() {
		f(sumNames[i], *n)
	}
}

func (t *Totals) add(o *Totals) {
	more := o.sums()
	for i, n := range t.sums() {
		*n += *more[i]
	}
	if o.Largest > t.Largest {
		t.Largest, t.LargestIn = o.Largest, o.LargestIn
	}
	if t.LastInserted == "" {
		t.LastInserted = o.LastInserted
	}
	if o.SecondMost > t.SecondMost {
		t.SecondMost, t.SecondMostIn = o.SecondMost, o.SecondMostIn
	}
}

// Shape is a group of queries whose filters differ only in their values.
type Shape struct {
	Plan         string `json:"plan"`   // the field Kind of the odata.Plan, which says how wide the key ranges of the queries are
	Filter       string `json:"filter"` // the filter with a question mark for each value; "" for queries without a filter
	Example      string `json:"example"`
	Queries      uint64 `json:"queries"` // number of queries; 0 from Durable Objects, which do not distinguish first pages from later pages
	Pages        uint64 `json:"pages"`
	Scanned      uint64 `json:"scanned"`
	ScannedBytes uint64 `json:"scannedBytes"`
	Returned     uint64 `json:"returned"`
}

// otherShapes is the Plan of the Shape (group of similar queries) that holds the sums of all removed Shapes. The number
// of Shapes is limited; the least scanned one is removed.
const otherShapes = "Other"

// Others reports whether s contains the sums of the Shapes that were removed to limit their number.
func (s *Shape) Others() bool { return s.Plan == otherShapes }

// window holds the counts of a table for at most one day.
type window struct {
	since  edm.Ticks
	totals Totals
	heavy  [metrics]heavy
	shapes []Shape
	size   *size
	first  []byte // a bit set with the hashes of the partitions of the first inserts
}

func newWindow(since edm.Ticks, s *size) window {
	w := window{since: since, size: s, first: make([]byte, firstBytes)}
	for m := range w.heavy {
		w.heavy[m] = heavy{room: s.partitions}
	}
	return w
}

// Requests returns a number that grows with every counted request.
func (w *window) Requests() uint64 {
	return w.totals.Reads + w.totals.Queries + w.totals.WriteRequests + w.totals.Throttled
}

func (w *window) query(v *Visit) {
	w.totals.Queries++
	w.totals.Scanned += uint64(v.Scanned)
	w.totals.ScannedBytes += uint64(v.ScannedBytes)
	w.totals.Returned += uint64(v.Returned)
	s := w.shape(v)
	if v.First {
		s.Queries++
	}
	s.Pages++
	s.Scanned += uint64(v.Scanned)
	s.ScannedBytes += uint64(v.ScannedBytes)
	s.Returned += uint64(v.Returned)
}

func (w *window) shape(v *Visit) *Shape {
	for i := range w.shapes {
		if s := &w.shapes[i]; s.Plan == v.Plan && s.Filter == v.Shape[:min(len(v.Shape), w.size.text)] {
			return s
		}
	}
	if len(w.shapes) == w.size.shapes {
		w.forgetShape()
		if v.Plan == otherShapes {
			return w.shape(v) // this call finds the Shape "Other", which forgetShape has created if necessary
		}
	}
	w.shapes = append(w.shapes, Shape{Plan: v.Plan, Filter: clone(v.Shape, w.size.text), Example: clone(v.Example, w.size.text)})
	return &w.shapes[len(w.shapes)-1]
}

// forgetShape removes the Shape with the fewest scanned rows and pages, and adds its counts to the Shape "Other", which
// it creates if necessary.
func (w *window) forgetShape() {
	least, other := -1, -1
	for i, s := range w.shapes {
		switch {
		case s.Plan == otherShapes:
			other = i
		case least < 0 || s.Scanned+s.Pages < w.shapes[least].Scanned+w.shapes[least].Pages:
			least = i
		}
	}
	s := w.shapes[least]
	if other < 0 {
		s.Plan, s.Filter, s.Example = otherShapes, "", ""
		w.shapes[least] = s
		w.forgetShape() // the new Shape "Other" has taken the place of another Shape, so one more must be removed
		return
	}
	w.shapes[other].add(&s)
	w.shapes = append(w.shapes[:least], w.shapes[least+1:]...)
}

// sums returns pointers to the fields that are added up when two Shapes are merged.
func (s *Shape) sums() [4]*uint64 {
	return [...]*uint64{&s.Pages, &s.Scanned, &s.ScannedBytes, &s.Returned}
}

func (s *Shape) add(o *Shape) {
	s.Queries += o.Queries
	more := o.sums()
	for i, n := range s.sums() {
		*n += *more[i]
	}
}

// clone truncates a text to the given number of bytes and copies it, because the text may share memory with a
// request.
func clone(s string, most int) string { return strings.Clone(s[:min(len(s), most)]) }

const firstBytes = 512

// distinct counts an insert in FirstInserts, and its partition in FirstPartitions if it is new.
func (w *window) distinct(id uint64) {
	const bits = uint64(firstBytes * 8)
	if w.totals.FirstInserts >= bits/4 {
		return
	}
	w.totals.FirstInserts++
	// A partition whose bit another partition has set is not counted. So the count may be a tenth too low.
	bit := (id ^ id>>32) % bits
	if w.first[bit/8]&(1<<(bit%8)) == 0 {
		w.first[bit/8] |= 1 << (bit % 8)
		w.totals.FirstPartitions++
	}
}
