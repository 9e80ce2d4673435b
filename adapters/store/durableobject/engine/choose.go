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
	// longRest is the time after which a range asks again whose table has all ranges that it may
	// have. It asks only while it is used.
	longRest = 10 * minute
)

// choice is the search for the key at which a range splits.
type choice struct {
	self   message.Destination
	at     []byte         // it is found
	search *sample.Search // for half of the bytes; nil: at divides the load
	asks   bool           // the catalog whether there may be another range
}

// inserted counts an insert.
func (x *splitting) inserted(k []byte) {
	if x.bytes != 0 {
		x.load.Inserted(k)
	}
}

// visited counts a request to a position, and lets the range split when it was too
// busy for a minute, in two halves, and one key divides both.
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

// mayChoose reports whether the range can begin a split.
func (x *splitting) mayChoose(b *bucket, now edm.Ticks) bool {
	s := b.marker.Span
	return x.choice == nil && (s == nil || s.Phase == span.Serving) && (now >= x.rest || x.rest > now+longRest) && !x.waits(now)
}

// choose lets the alarm look for the key at which the range splits.
func (x *splitting) choose(t *turn.Turn, c *choice) { x.choice, x.due = c, t.Now }

// wrote lets a range split that is too large, if it may have two partitions, and one that
// may be empty look whether it is when nothing was written for a while.
func (x *splitting) wrote(t *turn.Turn, b *bucket, p *message.Destination, k []byte) {
	x.last = t.Now
	if x.only != nil {
		if partition, _ := key.Split(k); !bytes.Equal(partition, x.only) {
			x.only = nil
		}
	}
	if x.bytes > 0 && b.feed.Others(b.room.Size) > b.mostBytes() && x.only == nil && x.mayChoose(b, t.Now) {
		x.choose(t, &choice{self: p.Clone(), search: &sample.Search{Half: b.feed.Others(b.room.Size) / 2}})
	}
	x.lookLater(t, b)
}

// mostBytes is the size from which the range splits. One that was cut behind its last partition
// kept all that it had: more for that partition, and changes, would have it split once more, in the
// middle.
func (b *bucket) mostBytes() int64 {
	if bytes.HasSuffix(b.marker.Bounds().End, []byte{1}) { // see key.PartitionAfter: no PartitionKey has that
		return b.split.bytes + b.split.bytes/4
	}
	return b.split.bytes
}

// lookLater lets a range look in a while whether it is empty. It does so when it begins to
// serve and when its bounds change, too: the last deletion may have come before.
func (x *splitting) lookLater(t *turn.Turn, b *bucket) {
	if b.marker.Bounds().End != nil && (x.look <= t.Now || x.look > t.Now+2*leaveAfter) {
		x.look = t.Now + leaveAfter
	}
}

// find looks for the key, a piece of the range at a time, and begins the split.
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
			return t.Done() // the alarm rings at once
		}
	}
	x.choice, x.due = nil, 0
	if len(c.at) == 0 || bytes.Equal(c.at, bounds.Start) || !bounds.Contains(c.at) {
		if x.only == nil {
			x.rest = t.Now + minute
		}
		if b.marker.Span != nil {
			return b.leave(t) // this alarm may have been the one to look
		}
		return t.Done()
	}
	x.choice, c.asks = c, true
	return b.call(t, durableobject.CatalogOf(c.self.Table, b.catalog), message.Ranges(nil, c.self.Table, c.self.Bucket), &turn.Continuation{Own: true})
}

// asksForRoom reports whether a range waits for the answer whether there may be another one.
func (x *splitting) asksForRoom(now edm.Ticks) bool {
	return x.choice != nil && x.choice.asks && x.due > now && x.due <= now+outFor
}

// mayBegin takes the map of the bucket, and begins the split if there may be another range. If not,
// the range forgets it: nothing is left to do while nobody uses the table.
func (b *bucket) mayBegin(t *turn.Turn) turn.Step {
	x := &b.split
	c := x.choice
	x.choice, x.out, x.due = nil, 0, 0
	r, err := message.Result(t.Answers[0].Message)
	known, ok := b.known(r)
	bounds := b.marker.Bounds()
	switch n := max(len(known.Ranges), 1) + len(known.Begun); {
	case err != nil || t.Answers[0].Err != nil || !ok || len(known.Begun) >= maxBegun || bytes.Equal(c.at, bounds.Start) || !bounds.Contains(c.at):
		x.rest = t.Now + minute/2
		return t.Done()
	case n >= message.MostOfBucket(c.self.Buckets, c.search == nil):
		x.rest = t.Now + longRest
		x.tell(&c.self, span.SplitRefused)
		return t.Done()
	}
	if b.marker.Span == nil {
		b.marker.Cut(c.self)
	}
	s := b.marker.Span
	s.Phase, s.At = span.Asking, c.at
	b.marker.Put(t.Rows)
	x.due = t.Now
	return b.goOn(t)
}
