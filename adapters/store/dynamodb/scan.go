package dynamodb

import (
	"bytes"
	"context"

	"edgetable/adapters/store/dynamodb/internal/call"
	"edgetable/adapters/store/dynamodb/internal/filter"
	"edgetable/adapters/store/dynamodb/rebucket"
	"edgetable/core/buckets"
	"edgetable/core/key"
	"edgetable/core/table"
)

// Scan implements [table.Store].
func (s *Store) Scan(ctx context.Context, name table.RecordKey, r table.ScanRequest) (table.Page, error) {
	ctx, cancel, err := s.begin(ctx)
	if err != nil {
		return table.Page{}, err
	}
	defer cancel()
	filter := filtered.Translate(r.Filter)
	return readTable(ctx, s, name, r.Consistency, func(ctx context.Context, v view, c table.Consistency) (table.Page, error) {
		r := r
		r.Consistency = c
		return buckets.Scan(ctx, tableSource{s, v.Spread, filter}, v.Buckets, r, buckets.Options{
			FanOut: min(int(v.Buckets), maxFanOut), Report: s.scanned,
			Begin: func(p *table.PageBuilder) { p.Traits, p.Now = v.traits, v.now },
		})
	}, func(a, b table.Page) (table.Page, bool) { return agreePages(a, b, &r) })
}

// agreePages compares a page of a table with the same page of its copy. It returns the entities before the first
// difference, or false if the scan would not advance.
func agreePages(a, b table.Page, r *table.ScanRequest) (table.Page, bool) {
	earlier := func(a, b []byte) bool { return a != nil && (b == nil || bytes.Compare(a, b) < 0) }
	begin := r.Ranges[0].Start
	if r.Descending {
		earlier = func(a, b []byte) bool { return a != nil && (b == nil || bytes.Compare(a, b) > 0) }
		begin = r.Ranges[len(r.Ranges)-1].End
	}
	next := b.Next
	if earlier(a.Next, next) {
		next = a.Next
	}
	for i := range max(len(a.Rows), len(b.Rows)) {
		if i < len(a.Rows) && i < len(b.Rows) && sameState(&a.Rows[i], &b.Rows[i]) {
			continue
		}
		for _, rows := range [][]table.Row{a.Rows, b.Rows} {
			if i < len(rows) {
				if at := r.Continue(rows[i].Key); earlier(at, next) {
					next = at
				}
			}
		}
		break
	}
	n := len(b.Rows)
	for n > 0 && next != nil && !earlier(b.Rows[n-1].Key, next) && !(r.Descending && bytes.Equal(b.Rows[n-1].Key, next)) {
		n--
	}
	b.Rows, b.Next = b.Rows[:n], next
	return b, next == nil || earlier(begin, next) || begin == nil
}

// maxFanOut is the maximum number of concurrent reads of buckets. Each read uses a connection and up to a megabyte of
// memory.
const maxFanOut = 32

// minFiltered is the minimum number of rows for a filter expression. With fewer rows, the expression costs more than it
// saves.
const minFiltered = 8

// filtered names the attributes that filter expressions use.
var filtered = filter.Entity{Timestamp: attrTicks, Elsewhere: attrChunks}

// tableSource implements [buckets.Source] for the buckets of one table.
type tableSource struct {
	*Store
	spread rebucket.Spread
	filter *call.Filter
}

func (s tableSource) query(bucket uint16, r key.Range, limit buckets.Limit) call.Query {
	q := call.Query{Hash: hashKey(kindEntity, s.spread, bucket), First: r.Start, Last: r.End, Descending: limit.Descending, Rows: limit.Rows, Consistency: limit.Consistency}
	if len(q.First) == 0 {
		q.First = []byte{0} // DynamoDB does not permit an empty sort key
	}
	if limit.Rows >= minFiltered {
		q.Filter = s.filter
	}
	return q
}

// Read implements [buckets.Source] with one Query, and reads the chunks of large entities.
func (s tableSource) Read(ctx context.Context, bucket uint16, r key.Range, limit buckets.Limit) (buckets.Chunk, error) {
	var c buckets.Chunk
	answer, err := s.db.Query(ctx, s.query(bucket, r, limit))
	if err != nil {
		return c, err
	}
	position := table.ScanRequest{Descending: limit.Descending}
	if c.Next = answer.Next; c.Next != nil && !limit.Descending {
		c.Next = append(c.Next, 0)
	}
	c.Examined, c.Scanned = answer.Examined, answer.Scanned
	entities := make([]stored, len(answer.Items))
	found := make([]*stored, 0, len(answer.Items))
	var large []*stored
	size := 0
	for i, it := range answer.Items {
		e := &entities[i]
		if err := e.read(it); err != nil {
			return c, err
		}
		if !r.Contains(e.Key) {
			continue // The query includes the end of the range, and a bound that was truncated to 1024 bytes may include other keys.
		}
		// DynamoDB limits a Query to one megabyte of items, whose chunks may be a thousand times larger.
		size += e.chunks.size
		if len(found) > 0 && size > limit.Bytes {
			c.Next = position.Continue(e.Key)
			break
		}
		if !e.chunks.none() {
			large = append(large, e)
		}
		found = append(found, e)
	}
	c.Examined = max(c.Examined, len(found))
	if len(large) > 0 {
		if err := s.load(ctx, hashKey(kindChunk, s.spread, bucket), large, limit.Consistency); err != nil {
			return c, err
		}
	}
	c.Rows = make([]table.Row, 0, len(found))
	for _, e := range found {
		if !e.chunks.none() && e.Properties == nil {
			// The entity was replaced after the Query, or a replica lacks its chunks. In both cases, a newer state is
			// also correct.
			if e, err = s.entity(ctx, s.spread, e.Key, table.Strong); err != nil {
				return c, err
			}
			if e == nil {
				continue
			}
		}
		c.Rows = append(c.Rows, e.Row)
	}
	return c, nil
}
