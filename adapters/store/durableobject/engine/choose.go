package engine

import (
	"bytes"

	"edgetable/adapters/store/durableobject/internal/message"
	"edgetable/core/edm"
	"edgetable/core/key"
)

const (
	// chosen is the number of bytes of which one alarm looks for the middle of a range.
	chosen = 4 << 20
	// reconsider is the time after which a range looks again whether it can split, if it
	// could not.
	reconsider = 3600 * edm.TicksPerSecond
	minute     = 60 * edm.TicksPerSecond
	samples    = 32
	maxSample  = 256 // bytes of a PartitionKey in the sample
)

// choice is the search for the key at which a range splits.
type choice struct {
	place  message.Place
	at     []byte // it is found
	half   int64  // bytes before it
	from   []byte // the row at which the search goes on
	passed int64
	last   []byte // the partition of the last row
	border []byte // the beginning of the last partition, if it is not the first
}

// load is what the object knows of its requests, to divide them.
type load struct {
	begin      edm.Ticks // of this minute
	requests   float64
	partitions [][]byte // a sample of them

	highest []byte // of the inserts since the object woke up
	inserts int    // of late
	atEnd   int    // of them, behind all others
}

// inserted counts an insert.
func (x *splitting) inserted(k []byte) {
	if x.bytes == 0 {
		return
	}
	if x.load.inserts++; bytes.Compare(k, x.load.highest) > 0 {
		x.load.atEnd++
		x.load.highest = append(x.load.highest[:0], k...)
	}
	if x.load.inserts >= 1000 {
		x.load.inserts, x.load.atEnd = x.load.inserts/2, x.load.atEnd/2
	}
}

// grows reports whether inserts come at the end.
func (l *load) grows() bool { return l.inserts >= 16 && l.atEnd*10 >= l.inserts*9 }

// visited counts a request to a position, and lets the range split when it was too
// busy for a minute.
func (x *splitting) visited(t *turn, b *bucket, p *message.Place, k []byte) {
	if x.rate == 0 {
		return
	}
	l := &x.load
	most := x.rate * 60
	if t.now < l.begin || t.now-l.begin >= minute {
		if l.requests > most && t.now-l.begin < 2*minute && x.mayChoose(b, t.now) {
			if at := l.middle(); at != nil {
				x.choose(t, &choice{place: clonePlace(p), at: at})
			} else {
				x.rest = t.now + minute
			}
		}
		l.begin, l.requests, l.partitions = t.now, 0, nil
	}
	l.requests++
	partition, _ := key.Split(k)
	if l.requests <= most/2 || len(partition) > maxSample {
		return
	}
	if len(l.partitions) < samples {
		l.partitions = append(l.partitions, bytes.Clone(partition))
	} else if n := x.rand() % uint64(l.requests-most/2); n < samples {
		l.partitions[n] = append(l.partitions[n][:0], partition...)
	}
}

// middle is the beginning of the partition that divides the sample best, nil if less than
// a fifth would be on one side.
func (l *load) middle() (at []byte) {
	best, all := 0, len(l.partitions)
	for _, p := range l.partitions {
		before := 0
		for _, q := range l.partitions {
			if bytes.Compare(q, p) < 0 {
				before++
			}
		}
		if n := min(before, all-before); n > best && 5*n >= all {
			best, at = n, p
		}
	}
	return at
}

// mayChoose reports whether the range can begin a split.
func (x *splitting) mayChoose(b *bucket, now edm.Ticks) bool {
	s := b.marker.span
	return x.choice == nil && (s == nil || s.phase == serving) && (now >= x.rest || x.rest > now+reconsider)
}

// choose lets the alarm look for the key at which the range splits.
func (x *splitting) choose(t *turn, c *choice) { x.choice, x.due = c, t.now }

// wrote lets a range split that is too large, and one that may be empty look whether it
// is when nothing was written for a while.
func (x *splitting) wrote(t *turn, b *bucket, p *message.Place) {
	x.last = t.now
	if x.bytes > 0 && b.room.size > x.bytes && x.mayChoose(b, t.now) {
		x.choose(t, &choice{place: clonePlace(p), half: b.room.size / 2})
	}
	if b.marker.bounds().End != nil && (x.look <= t.now || x.look > t.now+2*leaveAfter) {
		x.look = t.now + leaveAfter
	}
}

// find looks for the key, a piece of the range at a time, and begins the split.
func (b *bucket) find(t *turn) Step {
	x, bounds := &b.split, b.marker.bounds()
	c := x.choice
	from, to := rowBounds(bounds)
	if c.at == nil && c.from == nil {
		c.at, c.from = b.behindLast(t), from
	}
	if c.at == nil {
		read := 0
		for k, v := range t.rows.Scan(c.from, to, mostRun) {
			if read >= chosen {
				c.from = bytes.Clone(k)
				return t.done() // the alarm rings at once
			}
			partition, _ := key.Split(k[1:])
			if c.last != nil && !bytes.Equal(partition, c.last) {
				c.border = bytes.Clone(partition)
				if c.passed >= c.half {
					break
				}
			}
			if c.last == nil || !bytes.Equal(partition, c.last) {
				c.last = append([]byte{}, partition...)
			}
			n := len(k) + len(v)
			read += n
			c.passed += int64(n)
		}
		c.at = c.border
	}
	x.choice, x.due = nil, 0
	if len(c.at) == 0 || bytes.Equal(c.at, bounds.Start) || !bounds.Contains(c.at) {
		x.rest = t.now + reconsider // one partition, which is never cut
		return t.done()
	}
	s := b.marker.span
	if s == nil {
		s = &span{place: c.place}
		b.marker.span = s
		t.rows.Delete(rowMarker)
	}
	s.phase, s.at = asking, c.at
	b.marker.put(t.rows)
	x.due = t.now
	return b.goOn(t)
}

// behindLast is the position behind the last partition, if nearly all inserts come there
// and it is not the only one: the range keeps all that it has, and nothing is copied.
func (b *bucket) behindLast(t *turn) []byte {
	if !b.split.load.grows() {
		return nil
	}
	partition, _ := key.Split(b.split.load.highest)
	at := key.PartitionAfter(key.DecodePart(partition))
	from, to := rowBounds(b.marker.bounds())
	row := append([]byte{spaceEntities}, at...)
	if !b.marker.bounds().Contains(at) || hasAny(t.rows, row, to) {
		return nil
	}
	if !hasAny(t.rows, from, append([]byte{spaceEntities}, partition...)) {
		return nil
	}
	return at
}

// rowBounds bound the rows of the entities of a range.
func rowBounds(r key.Range) (from, to []byte) {
	from = append([]byte{spaceEntities}, r.Start...)
	if r.End == nil {
		return from, []byte{spaceEntities + 1}
	}
	return from, append([]byte{spaceEntities}, r.End...)
}
