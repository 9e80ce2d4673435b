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

// pieceSize is the approximate maximum size of the commits in a piece.
const pieceSize = 8 << 20

// pauses are the times after the last write at which the log records that there were no further writes. LastSyncTime
// has whole seconds, so after the first pause it is later than a write whose reply took less than a second. The
// second pause covers writes whose reply took as long as a client waits.
var pauses = [...]time.Duration{2 * time.Second, 40 * time.Second}

// steps is the number of steps in which the commits of one interval are packed into a piece. Packing all at once
// would delay requests.
const steps, shortestStep = 50, 5 * time.Millisecond

// shipper copies the log of a store to the place of its backups, as objects that are called pieces. It keeps no file
// of its own: after a start it continues after the newest piece in the place.
type shipper struct {
	place  *repository.Repository
	store  *pebblestore.Store
	source string   // host and data directory of this process
	keys   []string // public keys of age with which the pieces are encrypted
	log    *slog.Logger
	now    func() time.Time
	// base requests a backup. It returns the span of the backup, which says after which commits the log continues, as
	// soon as the span is known.
	requestBackup func(ctx context.Context) (*repository.LogSpan, error)
	// fresh makes the schedule check whether a backup is due. It is called after the shipper has joined the log in the
	// place.
	wakeSchedule func()
	leads        *stores.Lead
	keep         int64         // maximum size of the log files that the store keeps for shipping
	again        chan struct{} // signals that the store owns the backup place again

	reader   *logship.Reader         // nil until the shipper knows after which commit to continue
	piece    *repository.PieceWriter // the piece that is being packed: its commits have numbers above s.from, up to s.packed
	began    time.Time               // when the piece was begun
	from     edm.Ticks
	packed   edm.Ticks
	sealed   *repository.Sealed // the piece that is being stored; retries send the same bytes
	to       edm.Ticks          // the backup place has the log up to this number
	term     repository.Term    // the run of this process as recorded in the place
	timeline string             // timeline (history of commits) in which this process began its term
	joined   atomic.Bool        // set when the place names this process as the one that ships
	looked   time.Time          // when the place last confirmed that no other store has replaced this one
	lost     bool               // log files were discarded before they were shipped, and no backup was made since
	gap      bool               // the gap of the log was reported
	since    edm.Ticks          // before the log is joined: the store had all logs above this number; 0 if not known yet
	begins   bool               // the next piece does not continue an earlier piece
	synced   edm.Ticks          // value of Synced in the last piece

	news    bool        // the next piece contains a commit that the shipper did not make itself
	pause   time.Time   // when a piece with a commit of a client was last shipped
	said    int         // how many pauses have been recorded in the log since then
	touched edm.Ticks   // number of the last commit that the shipper made itself
	level   atomic.Bool // the backup place has all commit numbers that were issued before this start

	mu     sync.Mutex
	status LogStatus
}

// LogStatus is the state of the log that a server ships, for metrics.
type LogStatus struct {
	CaughtUp    time.Time // when the place last had all commits, or when the server started
	LastShipped time.Time // when the newest piece was stored; zero if none was since the start
	Waiting     int64     // bytes of the log that are not in the place yet
	Pieces      int64     // pieces stored since the start
	Failures    int64
	GivenUp     int64 // how often log files were discarded unshipped, so that a new backup was needed
	Replaced    bool  // another store has taken over the backup place

	written int64 // bytes written to the log when the place last had all commits
}

// turn ships the commits that are durable.
func (s *shipper) shipDurable(ctx context.Context, settle time.Duration) error {
	s.watchGap()
	connect := s.resumeShipping
	if s.lost {
		connect = s.resumeAfterLoss
	}
	if s.reader == nil {
		if err := connect(ctx); err != nil {
			return err
		}
		s.pause, s.said = s.now(), 0 // it is not known which pauses the earlier process has recorded
	}
	if err := s.storePiece(ctx); err != nil {
		return err
	}
	written, _ := s.store.LogWritten()
	waiting, end := context.WithTimeout(ctx, settle)
	now, full := s.now(), false // read the time only now, since an upload may have taken long
	upTo, at, whole := s.store.AwaitDurable(waiting, now)
	end()
	if _, err := s.pack(ctx, upTo); err != nil {
		return err
	}
	if s.reader == nil {
		return s.shipDurable(ctx, settle)
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
		// The server may reply to a write later than the time in the write's piece. A commit without changes makes another
		// piece, with a later time. On a full disk this commit fails, and the next turn tries again.
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
	return s.checkReplaced(ctx, now)
}

// letBackUp allows scheduled backups once the backup place has all commit numbers issued before this start, or if a
// full disk prevents that.
//
// When a store is opened, it counts some numbers after its last commit as issued. A backup that is made before the
// shipped log covers these numbers would claim commits that never existed. A secondary would miss these commits, and
// rebuild its store.
func (s *shipper) letBackUp(full bool) {
	if (full || s.to >= s.store.Started()) && !s.level.Swap(true) {
		s.wakeSchedule() // the schedule may have waited for this with a backup that is due
	}
}

// lookEvery is how often a server without writes checks whether another store has replaced it. A server with writes
// checks before it ships a piece.
const lookEvery = 10 * time.Second

// look checks whether this store may still ship, unless the backup place confirmed that a short time ago.
func (s *shipper) checkReplaced(ctx context.Context, now time.Time) error {
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

// pack adds the commits up to number upTo to the next piece, and stores pieces that are full. It returns how many
// commits it added. If the store has discarded log files that were not shipped, reader is nil afterwards.
func (s *shipper) pack(ctx context.Context, upTo edm.Ticks) (n int, err error) {
	for s.packed < upTo {
		list, _, to, err := s.reader.Next(upTo, pieceSize/4)
		if s.store.Timeline().Since > s.packed {
			s.stopReading()
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

// seal completes the piece that is being packed, and chooses the compression of the next piece.
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

// zstdRate is the rate, in bytes of commits per second and CPU, up to which the next piece is compressed with zstd.
// At this rate zstd takes about a hundredth of the CPU time; above it, requests need the CPU more.
const zstdRate = 2 << 20

// storePiece stores the sealed piece, if there is one.
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

// Status returns the state of the shipped log.
func (s *shipper) Status() LogStatus {
	s.mu.Lock()
	st := s.status
	s.mu.Unlock()
	written, kept := s.store.LogWritten()
	st.Waiting = written - st.written
	if st.written == 0 { // the backup place has not responded since the start
		st.Waiting += kept
	}
	return st
}

// mostLooks is a number of checks. The shipper stops only if so many checks in a row find in the backup location that another
// store has replaced this one.
// A promotion that competes with this server may begin a timeline and withdraw it again.
const mostLooks = 2

// serve ships the log at each interval until ctx ends.
func (s *shipper) serve(ctx context.Context, every time.Duration, paused func() bool) {
	var failing time.Time // when the failures began; zero if the last attempt succeeded
	told := ""            // the last error that was logged
	looks := 0            // number of consecutive checks that reported a replacement
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
			err = s.shipDurable(ctx, every)
		}
		switch {
		case ctx.Err() != nil:
			return
		case errors.Is(err, repository.ErrReplaced):
			if looks++; looks == mostLooks {
				s.markReplaced(ctx, err)
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

// shippedWhen says, after an error, when the log will be shipped.
func shippedWhen(err error) string {
	if errors.Is(err, repository.ErrOtherStore) || errors.Is(err, repository.ErrElsewhere) {
		return " to this location; the log is kept until the backup location of this store is available"
	}
	return "; the log is kept, and shipped later"
}

// packUntil packs commits as they become durable, in steps, until the channel turn fires. It ignores errors, because
// the next call of turn meets and returns them.
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
		if n == 0 || err != nil || s.reader == nil { // without writes, further wake-ups are not needed
			tick.Stop()
		}
	}
}

// last ships the last writes at shutdown, if this process has shipped the log before.
func (s *shipper) shipRest(ctx context.Context) {
	if s.reader == nil || s.leads.Replaced() != nil {
		return
	}
	if err := s.shipDurable(ctx, lastTurn); err != nil {
		s.log.Warn("the last part of the log was not shipped; the next start ships it", "cause", err)
	}
}

// sourceName describes a data directory for people.
func sourceName(data string) string {
	host, _ := os.Hostname() // an error does not matter: the name is only for people
	return host + ":" + data
}

// lastTurn is the maximum time for which a shutdown waits for the backup place.
const lastTurn = 5 * time.Second
