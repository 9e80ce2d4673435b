package postgres

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"edgetable/adapters/store/postgres/ruled"
	"edgetable/adapters/store/postgres/statement"
	"edgetable/core/edm"
	"edgetable/core/table"
)

type write struct {
	name         string
	key          []byte
	form         statement.Form
	rowTimestamp edm.Ticks // Timestamp that the row must have; used only for a Swap
	nonce        uint64
	properties   []byte // properties of the entity; nil for a delete

	declared    *ruled.Table // options of the table, or nil
	requiredRow *table.Row   // if set, the stored row; the write must not be sent with a Timestamp at which this row has expired
	line        []byte       // the line for the feed, with the keys of the commit; in a batch, only the first write has a line

	ticks            edm.Ticks   // Timestamp of the last attempt
	claimed          atomic.Bool // set by the round that sends the write, or by a caller that gives up
	needsOwnRound    bool        // the write must be sent in a separate round, because its last round failed
	resent           bool
	wrote            bool // the last attempt changed the row
	isOutcomeUnknown bool // the reply was lost, and the store is finding out the outcome
	done             chan written
}

// written is the outcome of a write. The field ok is true if the write changed its row.
type written struct {
	ok  bool
	err error
}

func (w *write) size() int { return len(w.key) + len(w.properties) + len(w.line) + 64 }

func (w *write) args() [][]byte {
	args := make([][]byte, 5, 8)
	args[0], args[1], args[2], args[3], args[4] = []byte(w.name), w.key, statement.Int8(int64(w.ticks)), statement.Int8(int64(w.nonce)), w.properties
	if w.form == statement.Swap {
		args = append(args, statement.Int8(int64(w.rowTimestamp)))
	}
	if w.declared != nil {
		args = append(args, statement.Int8(int64(w.declared.Revision)))
	}
	return args
}

func (w *write) call(inBatch bool) statement.Call {
	how := statement.Writes[w.form]
	switch {
	case w.declared.Rules().Feeds():
		how = statement.FeedWrites[w.form]
	case w.declared != nil:
		how = statement.RuledWrites[w.form]
	}
	switch {
	case inBatch:
		return how.Batch.With(w.args()...)
	case w.line != nil:
		return how.Alone.With(append(w.args(), w.line)...)
	}
	return how.Alone.With(w.args()...)
}

// isTooLate reports whether the entity that the write requires has expired at the write's Timestamp. Such a write must
// not be sent.
func (w *write) isTooLate() bool {
	return w.requiredRow != nil && w.declared.Rules().Ended(w.requiredRow, w.ticks)
}

// compareWrites compares two writes by table and key. All servers lock rows in this order, which prevents deadlocks.
func compareWrites(a, b *write) int {
	return cmp.Or(strings.Compare(a.name, b.name), slices.Compare(a.key, b.key))
}

// put sends a write in a round and waits for the outcome. If ctx ends before the round is sent, put withdraws the
// write.
func (s *Store) put(ctx context.Context, w *write) error {
	w.done = make(chan written, 1)
	s.send(w)
	select {
	case r := <-w.done:
		if r.err == nil && !r.ok {
			return errWroteNothing
		}
		return r.err
	case <-ctx.Done():
		if w.claimed.CompareAndSwap(false, true) {
			return &unsentError{context.Cause(ctx)}
		}
		s.counters.unknown.Add(1)
		return table.ErrUnknown
	}
}

// writeGroup sends the writes of a round as one transaction and determines the outcome of each write.
func (s *Store) writeGroup(ctx context.Context, group []*write) {
	slices.SortFunc(group, compareWrites)
	s.counters.writes.group(len(group))
	begun := time.Now()
	err := s.sendGroup(ctx, group)
	s.awaitReturn(len(group), time.Since(begun))
	_, refused := errors.AsType[*pgconn.PgError](err)
	switch class := classify(err); {
	case err == nil:
		for _, w := range group {
			w.done <- written{ok: w.wrote}
		}
	case class == lost:
		for _, w := range group {
			w.isOutcomeUnknown = true
		}
		s.background.Go(func() {
			s.resolveOutcomes(group, err)
			s.releaseEntities(group)
		})
	case refused && len(group) > 1 && (class == broken || class == again):
		// One write failed or waited for a lock. Each write is therefore sent again in a separate transaction.
		s.counters.retry(class)
		for _, w := range group {
			w.needsOwnRound, w.resent = true, true
			w.claimed.Store(false)
		}
	default:
		for _, w := range group {
			w.done <- written{err: err}
		}
	}
}

// sendGroup issues Timestamps, sends the statements as one transaction, and sets wrote of each write.
func (s *Store) sendGroup(ctx context.Context, group []*write) (err error) {
	for _, w := range group {
		if w.ticks, err = s.clock.Next(ctx); err != nil {
			return err
		}
		w.wrote = false
	}
	sent := slices.DeleteFunc(slices.Clone(group), (*write).isTooLate)
	if len(sent) == 0 {
		return nil
	}
	return withConnection(ctx, s.primary, func(_ context.Context, c *pgconn.PgConn) error {
		results, err := s.sendTransaction(c, callsOf(sent, false))
		if err == nil {
			setWrote(sent, results)
		}
		return err
	})
}
