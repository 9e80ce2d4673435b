package backup

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"edgetable/adapters/backup/repository"
	"edgetable/adapters/store/pebblestore"
	"edgetable/adapters/store/pebblestore/logship"
	"edgetable/core/edm"
	"edgetable/functions/edgetable/stores"
)

// pieceSize is about how many bytes of commits a piece of the log has at most.
const pieceSize = 8 << 20

// pauses are the times after the last write at which the log says that there was no other write. LastSyncTime is shown in whole
// seconds: after the first pause it is later than the write, if the reply took less than a second. The second pause is for replies
// that take as long as a client waits.
var pauses = [...]time.Duration{2 * time.Second, 40 * time.Second}

// steps is in how many steps the commits of an interval are packed: all at once would hold up
// requests.
const steps, shortestStep = 50, 5 * time.Millisecond

// shipper copies the log of a store to the place of its backups, in pieces. It remembers
// nothing of its own: after a start it continues behind the newest piece in the place.
type shipper struct {
	place  *repository.Repository
	store  *pebblestore.Store
	source string   // host and data directory
	keys   []string // of age
	log    *slog.Logger
	now    func() time.Time
	// base asks for a backup with a span, and returns the span as soon as it is known.
	base func(ctx context.Context) (*repository.LogSpan, error)
	// fresh lets the schedule look whether a backup is due, after the log was joined to the place.
	fresh func()
	leads *stores.Lead
	keep  int64         // size of the logs that are kept
	again chan struct{} // the store has taken over the place

	reader   *logship.Reader         // nil: it is not known yet where to continue
	piece    *repository.PieceWriter // of the commits behind from, up to packed
	began    time.Time               // of the piece
	from     edm.Ticks
	packed   edm.Ticks
	sealed   *repository.Sealed // being stored: always with the same bytes
	to       edm.Ticks          // the log is in the place up to this number
	term     repository.Term    // of this process
	timeline string             // of the term
	joined   atomic.Bool        // this process has begun a term
	looked   time.Time          // when the place said last that this store may ship
	lost     bool               // logs were given up, and no backup was made since
	gap      bool               // it was told
	since    edm.Ticks          // before the log is joined to the place: above it the logs had every commit; 0: not known yet
	begins   bool               // the next piece continues no other one
	synced   edm.Ticks          // of the last piece

	news    bool        // the next piece has a commit that is not ours
	pause   time.Time   // when a piece with such a commit was shipped
	said    int         // of the pauses since
	touched edm.Ticks   // number of our last commit
	level   atomic.Bool // the place has all numbers that were issued before this start

	mu     sync.Mutex
	status LogStatus
}

// LogStatus is what the metrics say about the log that a server ships.
type LogStatus struct {
	CaughtUp    time.Time // when everything confirmed was in the place, or the server started
	LastShipped time.Time // when the newest piece was stored; zero: none since the start
	Waiting     int64     // bytes that are not in the place
	Pieces      int64     // stored since the start
	Failures    int64
	GivenUp     int64 // how often logs were given up, so that a new backup was necessary
	Replaced    bool  // another store has taken over the place

	written int64 // to the log when everything was in the place
}

// turn ships what is durable.
func (s *shipper) turn(ctx context.Context, settle time.Duration) error {
	s.watchGap()
	connect := s.join
	if s.lost {
		connect = s.rejoin
	}
	if s.reader == nil {
		if err := connect(ctx); err != nil {
			return err
		}
		s.pause, s.said = s.now(), 0 // what the process before has said is not known
	}
	if err := s.storePiece(ctx); err != nil {
		return err
	}
	written, _ := s.store.LogWritten()
	waiting, end := context.WithTimeout(ctx, settle)
	now, full := s.now(), false // not before, as an upload may have taken long
	upTo, at, whole := s.store.Settle(waiting, now)
	end()
	if _, err := s.pack(ctx, upTo); err != nil {
		return err
	}
	if s.reader == nil {
		return s.turn(ctx, settle)
	}
	if s.piece.Length() > 0 {
		if whole {
			s.synced = edm.TicksOf(at)
		}
		if s.news {
			s.news, s.pause, s.said = false, now, 0
		}
		if err := s.seal(); err != nil {
			return err
		}
		if err := s.storePiece(ctx); err != nil {
			return err
		}
	} else if s.said < len(pauses) && now.Sub(s.pause) >= pauses[s.said] {
		// A write may return after the time of its piece. The next piece has a time behind it. On a
		// full disk it is tried again.
		n, err := s.store.Touch(ctx)
		if err == nil {
			s.touched, s.said = n, s.said+1
		}
		full = err != nil
	}
	s.letBackUp(full)
	if whole {
		s.update(func(st *LogStatus) { st.CaughtUp, st.written = now, written })
	}
	return s.look(ctx, now)
}

// letBackUp lets the schedule make backups once the place has all numbers issued before this start, or a full disk prevents
// that. When a store is opened, it counts some numbers after its last commit as issued. A backup made before the log has these
// numbers would claim commits that never existed: a secondary would miss them, and build its store again.
func (s *shipper) letBackUp(full bool) {
	if (full || s.to >= s.store.Started()) && !s.level.Swap(true) {
		s.fresh() // a backup may be due
	}
}

// lookEvery is how often a server without writes looks whether it was replaced. One that writes looks before each
// piece.
const lookEvery = 10 * time.Second

// look asks the place whose turn it is, if no piece was shipped for some time.
func (s *shipper) look(ctx context.Context, now time.Time) error {
	if now.Sub(s.looked) < lookEvery {
		return nil
	}
	turn, err := s.place.Turn(ctx)
	if err != nil {
		return err
	}
	if err := turn.Check(s.store.Timeline().ID, s.term); err != nil {
		return err
	}
	s.looked = now
	return nil
}

// pack adds the commits up to a number to the next piece, and stores pieces that are full. It
// returns how many commits it has added. The reader is nil afterwards if logs were given up.
func (s *shipper) pack(ctx context.Context, upTo edm.Ticks) (n int, err error) {
	for s.packed < upTo {
		list, _, to, err := s.reader.Next(upTo, pieceSize/4)
		if s.store.Timeline().Since > s.packed {
			s.giveUp()
			return n, nil
		}
		if err != nil || len(list) == 0 {
			return n, err
		}
		full := s.piece.Length() >= pieceSize
		if full {
			if err := s.seal(); err != nil {
				return n, err
			}
		}
		for _, c := range list {
			s.news = s.news || c.Number != s.touched
			if err := s.piece.Add(repository.Commit{Number: c.Number, Data: c.Record}); err != nil {
				return n, err
			}
		}
		s.packed = to
		n += len(list)
		if full {
			if err := s.storePiece(ctx); err != nil {
				return n, err
			}
		}
	}
	return n, nil
}

// seal ends the piece.
func (s *shipper) seal() (err error) {
	p := repository.Piece{Timeline: s.store.Timeline().ID, From: s.from, To: s.packed, Synced: s.synced, Begins: s.begins, Term: s.term}
	now := s.now()
	next := repository.Zstd
	if most := now.Sub(s.began).Seconds() * zstdRate * float64(runtime.GOMAXPROCS(0)); float64(s.piece.Length()) > most {
		next = repository.S2
	}
	s.sealed, err = s.piece.Seal(p, next)
	s.from, s.begins, s.began = s.packed, false, now
	return err
}

// zstdRate is up to how many bytes of commits a second, for each processor, the next piece has
// fewer bytes: this takes zstd about a hundredth of the processors. Beyond it requests need them more.
const zstdRate = 2 << 20

// storePiece stores the piece that is sealed, if there is one.
func (s *shipper) storePiece(ctx context.Context) error {
	if s.sealed == nil {
		return nil
	}
	if err := s.place.Ship(ctx, s.sealed); err != nil {
		return err
	}
	s.to, s.sealed, s.looked = s.sealed.To, nil, s.now()
	if err := s.reader.Shipped(s.to); err != nil {
		return err
	}
	s.update(func(st *LogStatus) { st.Pieces++; st.LastShipped = time.Now() })
	return nil
}

func (s *shipper) update(do func(*LogStatus)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	do(&s.status)
}

// Status returns the state of the log.
func (s *shipper) Status() LogStatus {
	s.mu.Lock()
	st := s.status
	s.mu.Unlock()
	written, kept := s.store.LogWritten()
	st.Waiting = written - st.written
	if st.written == 0 { // since the start there is no news from the place
		st.Waiting += kept
	}
	return st
}

// mostLooks is how often the place must say that the store was replaced: a store that loses a promotion at the same moment
// as another one withdraws its timeline.
const mostLooks = 2

// serve ships the log at each interval until ctx ends.
func (s *shipper) serve(ctx context.Context, every time.Duration, paused func() bool) {
	var failing time.Time // since when; zero: it works
	told := ""            // the last cause
	looks := 0            // since the place says that the store was replaced
	tick := time.NewTicker(every)
	defer tick.Stop()
	for ctx.Err() == nil {
		var err error
		idle := paused()
		switch {
		case idle:
			s.update(func(st *LogStatus) { st.CaughtUp = time.Now() })
		case s.store.Timeline().Replaced != nil:
			s.awaitTakeOver(ctx)
			looks, failing, told = 0, time.Time{}, ""
			continue
		default:
			err = s.turn(ctx, every)
		}
		switch {
		case ctx.Err() != nil:
			return
		case errors.Is(err, repository.ErrReplaced):
			if looks++; looks == mostLooks {
				s.replaced(ctx, err)
			}
		case err != nil:
			s.update(func(st *LogStatus) { st.Failures++ })
			if failing.IsZero() {
				failing = time.Now()
			}
			if err.Error() != told {
				told = err.Error()
				s.log.Error("the log cannot be shipped"+shippedWhen(err), "cause", err)
			}
		case !failing.IsZero():
			s.log.Info("the log is shipped again", "after", time.Since(failing).Round(time.Second))
			failing, told = time.Time{}, ""
		}
		if err == nil {
			looks = 0
		}
		if err != nil || idle {
			select {
			case <-ctx.Done():
			case <-tick.C:
			}
		} else {
			s.packUntil(ctx, tick.C, max(every/steps, shortestStep))
		}
	}
}

// shippedWhen says when a log is shipped after an error.
func shippedWhen(err error) string {
	if errors.Is(err, repository.ErrOtherStore) || errors.Is(err, repository.ErrElsewhere) {
		return " to this place; it is kept until the place of this store is there"
	}
	return "; it is kept, and shipped later"
}

// packUntil packs what becomes durable, in steps, until the next turn begins, which meets
// each error again.
func (s *shipper) packUntil(ctx context.Context, turn <-chan time.Time, every time.Duration) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-turn:
			return
		case <-tick.C:
		}
		n, err := s.pack(ctx, s.store.Durable())
		if n == 0 || err != nil || s.reader == nil { // an idle server sleeps
			tick.Stop()
		}
	}
}

// last ships what was written last, if the log was shipped before.
func (s *shipper) last(ctx context.Context) {
	if s.reader == nil || s.leads.Replaced() != nil {
		return
	}
	if err := s.turn(ctx, lastTurn); err != nil {
		s.log.Warn("the end of the log is not shipped; the next start ships it", "cause", err)
	}
}

// sourceName names a data directory for people.
func sourceName(data string) string {
	host, _ := os.Hostname() // it is shown to people only
	return host + ":" + data
}

// lastTurn is how long the end of a server may wait for the place.
const lastTurn = 5 * time.Second
