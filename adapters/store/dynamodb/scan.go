package dynamodb

import (
	"context"

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
	var page table.Page
	err = s.reading(ctx, name, func(ctx context.Context, l *lease) (err error) {
		page, err = s.page(ctx, l, r)
		return err
	})
	if err != nil {
		return table.Page{}, err
	}
	return page, nil
}

// scan reads a page of one incarnation.
func (s *Store) scan(ctx context.Context, l life, r table.ScanRequest) (table.Page, error) {
	return buckets.Scan(ctx, source{s, l}, l.buckets, r, buckets.Options{FanOut: min(int(l.buckets), maxFanOut), Report: s.scanned})
}

// maxFanOut is how many buckets are read at the same time at most: each takes a
// connection, and holds up to a megabyte.
const maxFanOut = 32

// minFiltered is for how many rows a read is worth a filter expression.
const minFiltered = 8

// source reads the buckets of one table.
type source struct {
	*Store
	life
}

// Read implements [buckets.Source]: one Query, and the chunks of large entities.
func (s source) Read(ctx context.Context, bucket uint16, r key.Range, limit buckets.Limit) (buckets.Chunk, error) {
	var c buckets.Chunk
	q := query{hash: s.hash(kindEntity, bucket), first: r.Start, last: r.End, rows: limit.Rows, consistency: limit.Consistency}
	if len(q.first) == 0 {
		q.first = []byte{0} // no sort key is empty
	}
	if limit.Filter != nil && limit.Rows >= minFiltered {
		q.filter = newPrefilter(translate(limit.Filter))
	}
	answer, err := s.query(ctx, q)
	if err != nil {
		return c, err
	}
	if answer.next != nil {
		c.Next = append(answer.next, 0)
	}
	c.Examined, c.Scanned = answer.examined, answer.scanned
	entities := make([]stored, len(answer.items))
	found := make([]*stored, 0, len(answer.items))
	var large []*stored
	size := 0
	for i, it := range answer.items {
		e := &entities[i]
		if err := e.read(it); err != nil {
			return c, err
		}
		if !r.Contains(e.Key) {
			continue // the end itself, or a key that a cut bound let in
		}
		// Items are read by the megabyte, but chunks may be a thousand times that.
		size += e.chunks.size
		if len(found) > 0 && size > limit.Bytes {
			c.Next = e.Key
			break
		}
		if !e.chunks.none() {
			large = append(large, e)
		}
		found = append(found, e)
	}
	c.Examined = max(c.Examined, len(found))
	if len(large) > 0 {
		if err := s.load(ctx, s.hash(kindChunk, bucket), large, limit.Consistency); err != nil {
			return c, err
		}
	}
	c.Rows = make([]table.Row, 0, len(found))
	for _, e := range found {
		if !e.chunks.none() && e.Properties == nil {
			// It has changed since, which is as good as reading it later; or a replica
			// lacks its chunks.
			if e, err = s.entity(ctx, s.life, e.Key, table.Strong); err != nil {
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
