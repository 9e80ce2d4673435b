package postgres

import (
	"cmp"
	"context"
	"hash/maphash"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/jackc/pgx/v5/pgconn"

	"edgetable/core/edm"
	"edgetable/core/table"
)

const (
	// writeLanes is the number of connections for writes of one entity. More of them
	// would make groups smaller.
	writeLanes = 2
	// A group of writes ends before it has more than this.
	maxWrites     = 128
	maxWriteBytes = 1 << 20
)

// write is one write of one entity.
type write struct {
	name       string
	key        []byte
	form       form
	match      edm.Ticks // of swap
	nonce      uint64
	properties []byte // nil deletes

	ticks   edm.Ticks // issued for the last attempt
	claimed atomic.Bool
	done    chan written
}

// written is the outcome of a write that was sent: whether it wrote its row.
type written struct {
	ok  bool
	err error
}

func (w *write) size() int { return len(w.key) + len(w.properties) + 64 }

func (w *write) args() [][]byte {
	args := make([][]byte, 5, 6)
	args[0], args[1], args[2], args[3], args[4] = []byte(w.name), w.key, int8Of(int64(w.ticks)), int8Of(int64(w.nonce)), w.properties
	if w.form == swap {
		args = append(args, int8Of(int64(w.match)))
	}
	return args
}

// less orders writes as all servers do, so that none waits for a row of another in a
// circle.
func less(a, b *write) int {
	return cmp.Or(strings.Compare(a.name, b.name), slices.Compare(a.key, b.key))
}

// pickWrites takes what came first, up to the limits of a group. A second write of the
// same entity waits for the next round.
func pickWrites(waiting []*write) (group, rest []*write) {
	if len(waiting) == 1 {
		return waiting, nil
	}
	taken := make(map[entity]bool, len(waiting))
	size := 0
	for i, w := range waiting {
		if len(group) == maxWrites || len(group) > 0 && size+w.size() > maxWriteBytes {
			rest = append(rest, waiting[i:]...)
			break
		}
		e := entity{w.name, string(w.key)}
		if taken[e] {
			rest = append(rest, w)
			continue
		}
		taken[e] = true
		size += w.size()
		group = append(group, w)
	}
	return group, rest
}

var seed = maphash.MakeSeed()

// put gives a write to the lane of its entity and waits for the outcome. If ctx ends
// before the write was sent, it never will be.
func (s *Store) put(ctx context.Context, w *write) (bool, error) {
	w.done = make(chan written, 1)
	w.claimed.Store(false)
	var h maphash.Hash
	h.SetSeed(seed)
	_, _ = h.WriteString(w.name)
	_, _ = h.Write(w.key)
	if l := &s.lanes[h.Sum64()%writeLanes]; l.enter() {
		s.writeHere(ctx, l, w)
	} else {
		l.put(&s.beside, w)
	}
	select {
	case r := <-w.done:
		return r.ok, r.err
	case <-ctx.Done():
		if w.claimed.CompareAndSwap(false, true) {
			return false, &unsent{context.Cause(ctx)}
		}
		s.counters.unknown.Add(1)
		return false, table.ErrUnknown
	}
}

// writeGroup sends a group as one transaction.
func (s *Store) writeGroup(group []*write) {
	group = slices.DeleteFunc(slices.Clone(group), func(w *write) bool { return !w.claimed.CompareAndSwap(false, true) })
	if len(group) == 0 {
		return
	}
	slices.SortFunc(group, less)
	results := make([]bool, len(group))
	err := s.sendGroup(group, results)
	s.conclude(group, results, err)
}

// conclude gives each write of a group that was sent its outcome.
func (s *Store) conclude(group []*write, results []bool, err error) {
	s.counters.writes.group(len(group))
	switch class := classify(err); {
	case err == nil:
		for i, w := range group {
			w.done <- written{ok: results[i]}
		}
	case class == lost:
		s.beside.Go(func() { s.findOut(group, err) })
	case len(group) > 1 && class == broken:
		// One of them is at fault. Each gets an outcome of its own.
		for _, w := range group {
			w.claimed.Store(false)
			s.writeGroup([]*write{w})
		}
	default:
		for _, w := range group {
			w.done <- written{err: err}
		}
	}
}

// sendGroup issues Timestamps and sends the statements with one Sync, which makes them
// one transaction.
func (s *Store) sendGroup(group []*write, results []bool) error {
	ctx, cancel := context.WithTimeoutCause(s.ctx, s.Timeout, errTimeout)
	defer cancel()
	for _, w := range group {
		t, err := s.clock.next(ctx)
		if err != nil {
			return err
		}
		w.ticks = t
	}
	return s.once(ctx, nil, func(_ context.Context, c *pgconn.PgConn) error {
		calls := make([]call, len(group))
		for i, w := range group {
			calls[i] = call{writes[w.form].alone, w.args()}
		}
		rows, err := s.attended(c, calls)
		for i, n := range rows {
			results[i] = n > 0
		}
		return err
	})
}
