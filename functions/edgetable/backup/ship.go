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
	"edgetable/core/commitlog"
	"edgetable/core/edm"
	"edgetable/functions/edgetable/stores"
)

// pieceSize is the approximate maximum size of the commits in a piece, which is an object of the shipped log.
const pieceSize = 8 << 20

// pauses are measured from the last write. After each pause, the shipper ships an empty commit, which advances LastSyncTime
// of secondaries. LastSyncTime must become later than the reply to the last write, and has only whole seconds. The first
// pause is enough if the reply took less than a second. The second pause is enough for every reply for which a client still
// waited.
var pauses = [...]time.Duration{2 * time.Second, 40 * time.Second}

// steps is the number of steps in which the commits of one interval are added to a piece of the log. Adding all of them at
// once would delay requests.
const steps, shortestStep = 50, 5 * time.Millisecond

// shipper copies the log of a store to the backup location, in objects that are called pieces. It has no file of its own:
// after a start it continues after the newest piece in the location.
type shipper struct {
	place  *repository.Repository
	store  *pebblestore.Store
	source string   // host and data directory of this process
	keys   []string // age public keys with which the pieces of the log are encrypted
	log    *slog.Logger
	now    func() time.Time
	// requestBackup requests a backup. It returns the span of the backup, which says which commits the backup contains,
	// before the upload ends.
	requestBackup func(ctx context.Context) (*repository.LogSpan, error)
	// wakeSchedule makes the schedule check whether a backup is due. It is called after a timeline (a history of commits) was
	// begun, and when letBackUp allows backups.
	wakeSchedule func()
	takeOver     string // the command with which an operator makes this store the owner of the backup location
	leads        *stores.Lead
	keep         int64         // maximum size of the log files that the store keeps for shipping
	again        chan struct{} // signals that the store owns the backup location again

	reader   commitlog.Reader        // nil until the shipper knows from which commit to continue
	piece    *repository.PieceWriter // the next piece of the log: it has the commits above s.from up to s.packed, and gets more
	began    time.Time               // when the current piece of the log was begun
	from     edm.Ticks
	packed   edm.Ticks
	sealed   *repository.Sealed // the piece of the log that is being uploaded; retries send the same bytes
	to       edm.Ticks          // the backup location has the log up to this number
	term     repository.Term    // term of this process in the location (a term is one run of a server that ships its log)
	timeline string             // timeline (history of commits) to which this term (run of a server) belongs
	joined   atomic.Bool        // the backup location has a record that this process ships the log
	looked   time.Time          // when the location last confirmed that no other store has replaced this one
	lost     bool               // log files were discarded before they were shipped, and no backup was made after that
	gap      bool               // the gap in the shipped log was reported
	since    edm.Ticks          // log files had all commits above this number at the first call of shipDurable; 0 before this call
	begins   bool               // the next piece of the log does not continue an earlier piece
	synced   edm.Ticks          // value of Synced in the last piece of the log: all writes before this time are shipped

	news    bool        // the next piece of the log contains a client's commit, not only commits that the shipper made
	pause   time.Time   // when a piece of the log with a client's commit was last shipped
	said    int         // number of empty commits that the shipper has made after the last piece with a client's commit
	touched edm.Ticks   // number of the last commit that the shipper itself made
	level   atomic.Bool // the backup location has all commit numbers that were issued before this start

	mu     sync.Mutex
	status LogStatus
}

// LogStatus is the state of log shipping, for metrics.
type LogStatus struct {
	CaughtUp    time.Time // when the backup location last had all commits, or when the server started
	LastShipped time.Time // when the newest piece of the log was uploaded; zero if none was since the start
	Waiting     int64     // bytes of the log that are not in the backup location yet
	Pieces      int64     // number of log pieces uploaded since the start
	Failures    int64
	GivenUp     int64 // number of times that log files were discarded before they were shipped; each time a new backup was needed
	Replaced    bool  // another store has taken over the backup location

	written int64 // number of bytes written to the log up to the time CaughtUp
}

// shipDurable uploads the commits that are durable on disk.
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
		s.pause, s.said = s.now(), 0 // make the empty commits after a pause, because the previous process may not have made them
	}
	if err := s.storePiece(ctx); err != nil {
		return err
	}
	written, _ := s.store.LogWritten()
	waiting, end := context.WithTimeout(ctx, settle)
	now, full := s.now(), false // read the time only now, because an upload may have taken long
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
		// The newest piece of the log contains a time up to which the log has all writes. The server may have replied to
		// the last write after this time. So the shipper makes an empty commit, and the next piece of the log contains a
		// later time. On a full disk the empty commit fails, and the next call of shipDurable tries again.
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

// letBackUp allows scheduled backups once the backup location has all commit numbers that were issued before this start. If
// a full disk prevents new commits, letBackUp allows backups at once.
//
// After a start, a store does not know which commit number was issued last. So the store skips some numbers, which then
// count as issued. A backup at this time contains the skipped numbers, but the shipped log does not cover them yet. With
// such a backup, a secondary would wrongly conclude that it lacks commits. The secondary would then rebuild its store.
func (s *shipper) letBackUp(full bool) {
	if (full || s.to >= s.store.Started()) && !s.level.Swap(true) {
		s.wakeSchedule() // a scheduled backup may be waiting for this permission
	}
}

// lookEvery is the interval at which a server without writes checks whether it is still the primary. A server with writes
// makes this check whenever it uploads a piece of the log (a file of some megabytes).
const lookEvery = 10 * time.Second

// checkReplaced returns an error if another store has replaced this one. It skips the check if the last one was less than
// lookEvery ago.
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

// pack adds the commits up to number upTo to the next piece, and uploads each piece that is full. It returns the number of
// commits that it added. If the store discarded log files before they were shipped, s.reader is nil afterwards.
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

// seal completes the current piece of the log, and chooses the compression of the next piece.
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

// zstdRate is the rate, in bytes of commits per second and CPU, up to which a piece of the log is compressed with zstd. At
// this rate zstd takes about a hundredth of the CPU time. At higher rates, S2 leaves more CPU time for requests.
const zstdRate = 2 << 20

// storePiece uploads the sealed piece of the log, if there is one.
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

// Status returns the state of log shipping.
func (s *shipper) Status() LogStatus {
	s.mu.Lock()
	st := s.status
	s.mu.Unlock()
	written, kept := s.store.LogWritten()
	st.Waiting = written - st.written
	if st.written == 0 { // the backup location has not responded since the start
		st.Waiting += kept
	}
	return st
}

// mostLooks is the number of consecutive checks that must report another primary before the shipper stops. One such report
// is not enough. The report may come from a promotion of another store, and this promotion may still fail.
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
				s.log.Error("the log cannot be shipped"+s.shippedWhen(err), "cause", err)
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

// shippedWhen returns the part of an error message that says when the log will be shipped, and what an operator can do.
func (s *shipper) shippedWhen(err error) string {
	const text = " to this location; the log is kept until the backup location of this store is available"
	switch {
	case errors.Is(err, repository.ErrElsewhere):
		return text + ". If this is the right location, stop the server, run " + s.takeOver + ", and start the server again; from then on, prune and --backup-keep can remove the earlier backups"
	case errors.Is(err, repository.ErrOtherStore):
		return text
	}
	return "; the log is kept, and shipped later"
}

// packUntil adds commits to the next piece of the log as they become durable. It returns when ctx ends, or at the next tick
// of the channel turn: then the piece must be shipped. It ignores errors: the next call of shipDurable fails with the same
// error and returns the error.
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
		if n == 0 || err != nil || s.reader == nil { // nothing was added, so the next attempt is in the next call of packUntil
			tick.Stop()
		}
	}
}

// shipRest ships the remaining commits at shutdown, if this process was shipping the log.
func (s *shipper) shipRest(ctx context.Context) {
	if s.reader == nil || s.leads.Replaced() != nil {
		return
	}
	if err := s.shipDurable(ctx, lastTurn); err != nil {
		s.log.Warn("the last part of the log was not shipped; the next start ships it", "cause", err)
	}
}

// sourceName returns the host name and the path of a data directory, for messages.
func sourceName(data string) string {
	host, _ := os.Hostname() // ignore the error, because the name is only for messages
	return host + ":" + data
}

// lastTurn is the maximum time for which a shutdown waits for the backup location.
const lastTurn = 5 * time.Second
