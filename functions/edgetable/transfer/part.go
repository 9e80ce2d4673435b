package transfer

import (
	"context"
	"iter"
	"sync"

	"edgetable/adapters/client/remote"
	"edgetable/core/payload"
)

// part is a range that one worker reads in the order of its keys, while another
// may take the end of it away.
type part struct {
	number int    // in the order in which the parts were found
	rank   string // of its range in the order of keys
	state  noted  // the progress file's last line about it
	scan   *scan  // nil until work begins

	objects []Part // that have been stored
	sheet   sheet  // with the columns of its entities, nil if they are not known

	mu     sync.Mutex
	span   Range
	first  Key    // the first entity that was passed on
	pk, rk []byte // the last one
	rows   int64  // that were passed on, in earlier runs too
	cut    bool   // the end was taken away while it is read
	ended  bool
}

// newPart is a part as the progress file has it.
func newPart(number int, span Range, rank string) *part {
	return &part{number: number, rank: rank, span: span, first: span.From}
}

// noted sets the state that the progress file has.
func (p *part) noted(state noted) {
	p.state = state
	if state.Object != nil {
		p.objects = append(p.objects, *state.Object)
	}
}

// resume sets the state that an earlier run noted.
func (p *part) resume(state noted) {
	p.noted(state)
	p.rows = state.Rows + state.Totals.rows()
	p.ended = state.Done
	if state.At != nil {
		p.pk, p.rk = []byte(state.At.Partition), []byte(state.At.Row)
	}
}

// rest is the range of entities that were not passed on yet.
func (p *part) rest() Range {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.state.At == nil {
		return p.span
	}
	return p.span.Behind(*p.state.At)
}

// pass notes that an entity comes next. It returns false if the entity is not in
// the part.
func (p *part) pass(partition, row string) bool {
	p.mu.Lock()
	if p.cut && (Key{partition, row}).compare(p.span.To) >= 0 {
		p.mu.Unlock()
		return false
	}
	if p.pk == nil {
		p.first = Key{partition, row}.clone()
	}
	p.pk, p.rk = append(p.pk[:0], partition...), append(p.rk[:0], row...)
	p.rows++
	wake := p.rows%wakeEvery == 0
	p.mu.Unlock()
	if wake {
		p.scan.wake()
	}
	return true
}

// last is the key of the last entity that was passed on.
func (p *part) last() Key { return Key{string(p.pk), string(p.rk)} }

// end marks the part as read. Nothing can be taken away from it then.
func (p *part) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ended = true
}

// entities reads the rest of the part.
func (p *part) entities(ctx context.Context, c *remote.Client, q remote.Query) iter.Seq2[payload.Received, error] {
	return func(yield func(payload.Received, error) bool) {
		for e, err := range inRange(ctx, c, q, p.rest()) {
			if err == nil && !p.pass(e.PartitionKey, e.RowKey) {
				break
			}
			if !yield(e, err) || err != nil {
				return
			}
		}
		p.end()
	}
}

// inRange reads the entities of a range that match a query.
func inRange(ctx context.Context, c *remote.Client, q remote.Query, r Range) iter.Seq2[payload.Received, error] {
	return func(yield func(payload.Received, error) bool) {
		filter := q.Filter
		for _, f := range r.Filters() {
			q.Filter = And(f, filter)
			for e, err := range c.Entities(ctx, q) {
				if !yield(e, err) || err != nil {
					return
				}
			}
		}
	}
}

// left estimates how many entities are left, from the share of the keys that has
// been passed on. It is not bounded while that share is not known.
func (p *part) left() (n float64, bounded bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ended || p.rows < wakeEvery {
		return 0, p.ended
	}
	share := fraction(p.first, p.span.end(), p.last())
	if share == 0 {
		return float64(p.rows), false // it may be in its middle
	}
	return float64(p.rows) * (1 - share) / share, true
}

// fraction returns how much of the way from one key to another a third is, by
// their first characters that differ. It is 0 if that cannot be told.
func fraction(from, to, at Key) float64 {
	if to == (Key{}) || from.Partition == to.Partition && from.Row == to.Row {
		return 0
	}
	a, b, x := from.Partition, to.Partition, at.Partition
	if a != b && b == x {
		return 0 // among the rows below to
	}
	if a == b {
		a, b, x = from.Row, to.Row, at.Row
	}
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	if len(x) < n || x[:n] != a[:n] {
		return 0
	}
	low, high := weigh(a[n:]), weigh(b[n:])
	if high <= low {
		return 0
	}
	return min(max((weigh(x[n:])-low)/(high-low), 0), 1)
}

// weigh returns a number from 0 to 1 in the order of texts, most of all of such
// with digits and letters.
func weigh(s string) (w float64) {
	unit := 1.0
	for i := range min(len(s), 8) {
		unit /= 96
		w += unit * float64(min(max(int(s[i])-' ', 0), 95))
	}
	return w
}
