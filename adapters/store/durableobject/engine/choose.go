package engine

import (
	"bytes"

	"edgetable/adapters/store/durableobject"
	"edgetable/adapters/store/durableobject/internal/message"
	"edgetable/adapters/store/durableobject/internal/sample"
	"edgetable/adapters/store/durableobject/internal/span"
	"edgetable/adapters/store/durableobject/internal/storage"
	"edgetable/adapters/store/durableobject/internal/turn"
	"edgetable/core/edm"
	"edgetable/core/key"
)

const (
	minute = 60 * edm.TicksPerSecond
	// longRest is how long a range waits before it asks the catalog again, if the table had the maximum number of
	// ranges.
	longRest = 10 * minute
)

// choice is the search for the key at which a range splits.
type choice struct {
	self   message.Destination
	at     []byte         // the key at which the range splits, nil until it is found
	search *sample.Search // the search for a key that divides the bytes into halves; nil if the requests determined the key
	asks   bool           // whether the range has asked the catalog for permission to split
}

func (x *splitting) inserted(k []byte) {
	if x.bytes != 0 {
		x.load.Inserted(k)
	}
}

// visited counts a request for the key k. If the range was too busy in two successive half minutes, visited schedules a
// split at a key that divides the requests of each of these half minutes, if there is such a key.
func (x *splitting) visited(t *turn.Turn, b *bucket, p *message.Destination, k []byte) {
	if x.rate == 0 {
		return
	}
	if busy, at := x.load.Visited(t.Now, k, x.rate, x.rand); busy && x.mayChoose(b, t.Now) {
		if at != nil && sample.Divides(t.Rows, b.marker.Bounds(), at) {
			x.choose(t, &choice{self: p.Clone(), at: at})
		} else {
			x.rest = t.Now + minute/2
		}
	}
}

// mayChoose reports whether the range may start to look for a key at which to split.
func (x *splitting) mayChoose(b *bucket, now edm.Ticks) bool {
	s := b.marker.Span
	return x.choice == nil && (s == nil || s.Phase == span.Serving) && (now >= x.rest || x.rest > now+longRest) && !x.awaitsCopies(now)
}

// choose starts the search for the key at which the range splits. The alarm runs the search.
func (x *splitting) choose(t *turn.Turn, c *choice) { x.choice, x.due = c, t.Now }

// afterWrite must be called after each write. It starts a split if the range is too large, and schedules the check
// whether the range is empty.
func (x *splitting) afterWrite(t *turn.Turn, b *bucket, p *message.Destination, k []byte) {
	x.last = t.Now
	if x.only != nil {
		if partition, _ := key.Split(k); !bytes.Equal(partition, x.only) {
			x.only = nil
		}
	}
	if x.bytes > 0 && b.feed.OtherSize(b.room.Size) > b.mostBytes() && x.only == nil && x.mayChoose(b, t.Now) {
		x.choose(t, &choice{self: p.Clone(), search: &sample.Search{Half: b.feed.OtherSize(b.room.Size) / 2}})
	}
	x.lookLater(t, b)
}

// mostBytes returns the size above which the range splits. This size is a quarter higher for a range that was split
// after its last partition; otherwise such a range would soon split again.
func (b *bucket) mostBytes() int64 {
	if bytes.HasSuffix(b.marker.Bounds().End, []byte{1}) { // no PartitionKey ends with this byte: see key.PartitionAfter
		return b.split.bytes + b.split.bytes/4
	}
	return b.split.bytes
}

// find searches for the key at which to split, a limited number of bytes in each transaction. Then it asks the catalog
// whether the range may split.
func (b *bucket) find(t *turn.Turn) turn.Step {
	x, bounds := &b.split, b.marker.Bounds()
	c := x.choice
	from, to := storage.Entities(bounds)
	if c.at == nil && c.search.From == nil {
		c.at, c.search.From = x.load.BehindLast(t.Rows, bounds), from
		x.only = sample.OnlyPartition(t.Rows, bounds)
	}
	if c.at == nil && x.only == nil {
		done := false
		if c.at, done = c.search.Run(t.Rows, to); !done {
			return t.Done() // the alarm continues the search at once
		}
	}
	x.choice, x.due = nil, 0
	if len(c.at) == 0 || bytes.Equal(c.at, bounds.Start) || !bounds.Contains(c.at) {
		if x.only == nil {
			x.rest = t.Now + minute
		}
		if b.marker.Span != nil {
			return b.startLeaving(t) // this alarm may also be the check whether the range is empty
		}
		return t.Done()
	}
	x.choice, c.asks = c, true
	return b.call(t, durableobject.CatalogOf(c.self.Table, b.catalog), message.Ranges(nil, c.self.Table, c.self.Bucket), &turn.Continuation{Own: true})
}

// asksForRoom reports whether the range waits for the catalog's permission to split.
func (x *splitting) asksForRoom(now edm.Ticks) bool {
	return x.choice != nil && x.choice.asks && x.due > now && x.due <= now+outFor
}

// mayBegin begins the split if the catalog's answer permits one more range. Otherwise the range looks for another key
// only after further requests.
func (b *bucket) mayBegin(t *turn.Turn) turn.Step {
	x := &b.split
	c := x.choice
	x.choice, x.out, x.due = nil, 0, 0
	r, err := message.Result(t.Answers[0].Message)
	known, ok := b.readMap(r)
	bounds := b.marker.Bounds()
	switch n := max(len(known.Ranges), 1) + len(known.Begun); {
	case err != nil || t.Answers[0].Err != nil || !ok || len(known.Begun) >= maxBegun || bytes.Equal(c.at, bounds.Start) || !bounds.Contains(c.at):
		x.rest = t.Now + minute/2
		return t.Done()
	case n >= message.MostOfBucket(c.self.Buckets, c.search == nil):
		x.rest = t.Now + longRest
		x.reportEvent(&c.self, span.SplitRefused)
		return t.Done()
	}
	if b.marker.Span == nil {
		b.marker.Cut(c.self)
	}
	s := b.marker.Span
	s.Phase, s.At = span.Asking, c.at
	b.marker.Put(t.Rows)
	x.due = t.Now
	return b.advanceSplit(t)
}
