package backup

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"edgetable/adapters/backup/repository"
	"edgetable/adapters/objects/directory"
	"edgetable/adapters/objects/s3"
	"edgetable/adapters/replicate/ship"
	"edgetable/core/commitlog"
	"edgetable/core/objects"
	"edgetable/functions/edgetable/cli"
	"edgetable/functions/edgetable/place"
	"edgetable/functions/edgetable/stores"
)

// Status is the state of a server's scheduled backups, for metrics.
type Status struct {
	LastSuccess time.Time // time at which the newest complete backup was begun; zero if unknown
	Successes   int64     // number of completed backups since the start of the server
	Failures    int64
}

// Schedule makes backups at an interval, and ships the log if that is configured.
type Schedule struct {
	*Flags
	run     *run
	store   *stores.Checkpoints
	named   string // name by which the backup location is recognized
	log     *slog.Logger
	shipper *ship.Shipper // the shipper of the log; nil if the log is not shipped

	// Paused reports whether the store is a secondary, which makes no backups. If Paused is nil, the store is a
	// primary.
	Paused func() bool

	forced atomic.Bool              // a backup is needed immediately, because the log cannot be shipped before it
	now    chan struct{}            // a value in this channel wakes Serve
	spans  chan *repository.LogSpan // passes the span of the backup in progress to startBackup

	mu     sync.Mutex
	status Status
}

// Open prepares scheduled backups of a data directory. data is "" if the store has no data directory. Open
// returns nil if no backups are requested.
func Open(ctx context.Context, o *Flags, data string, store *stores.Checkpoints, log *slog.Logger) (*Schedule, error) {
	if data != "" {
		if err := clearStaging(data); err != nil {
			log.Info("temporary files of an earlier backup cannot be removed", "cause", err)
		}
	}
	if o.To == "" {
		return nil, nil
	}
	objects, err := place.Open(ctx, o.To, nil)
	if err != nil {
		return nil, fmt.Errorf("--backup-to: %w", err)
	}
	if err := place.CheckOutsideData(objects, data); err != nil {
		return nil, fmt.Errorf("--backup-to: %w", err)
	}
	if bucket, ok := objects.(*s3.Bucket); ok {
		// Log each retry, because all retries of a request together may take a quarter of an hour.
		bucket.Retrying = func(cause error, in time.Duration) {
			log.Warn("the backup location does not respond", "to", o.To, "cause", cause, "again_in", in.Round(time.Millisecond))
		}
	}
	b := &Schedule{
		Flags: o, store: store, named: nameOf(objects, o.To), log: log, now: make(chan struct{}, 1), spans: make(chan *repository.LogSpan, 1),
		run: &run{
			data: data, location: o.To, place: objects, store: store,
			keys: o.keys, progress: func(int64, int64) {},
		},
	}
	if o.Log > 0 {
		b.run.spanned = b.spanned
		b.shipper = ship.New(ship.Options{
			Place: repository.New(objects), Named: b.named, Store: store.Store, Primary: &store.Primary, Source: sourceName(data), Keys: o.keys, KeepLogs: o.KeepLogs(), Log: log,
			Backup: b.startBackup, Wake: b.wake,
			TakeOver: "edgetable promote " + cli.Quote(data) + " --place " + cli.Quote(o.To) + " --take-over",
		})
	}
	return b, nil
}

// nameOf returns the name by which a backup location is recognized. All relative paths of a directory have the same
// name.
func nameOf(at objects.Place, location string) string {
	if dir, ok := at.(directory.Place); ok {
		return dir.Dir
	}
	return location
}

// ShipsLog reports whether the server ships its log.
func (b *Schedule) ShipsLog() bool { return b != nil && b.shipper != nil }

// Admit checks at startup whether another store took over the backup location while this server did not run. If so, the
// server refuses writes, because these writes would be lost.
func (b *Schedule) Admit(ctx context.Context) {
	if b.ShipsLog() && !b.paused() {
		b.shipper.Admit(ctx)
	}
}

// ServeLog ships the log until ctx is done.
func (b *Schedule) ServeLog(ctx context.Context) { b.shipper.Serve(ctx, b.Log, b.paused) }

// JoinPieces joins pieces of the shipped log at intervals until ctx is done.
func (b *Schedule) JoinPieces(ctx context.Context) { b.shipper.JoinPieces(ctx, b.paused) }

// EndLog ships the last commits after the server has stopped.
func (b *Schedule) EndLog() { b.shipper.End() }

// Shipped returns the state of log shipping.
func (b *Schedule) Shipped() ship.Status { return b.shipper.Status() }

// Place returns the backup location, or nil if there is none.
func (b *Schedule) Place() *repository.Repository {
	if b == nil {
		return nil
	}
	return repository.New(b.run.place)
}

// spanned passes the span of the backup in progress to startBackup. The span says which commits the backup
// contains.
func (b *Schedule) spanned(log *repository.LogSpan) {
	select {
	case <-b.spans: // discard the span of an earlier backup, which startBackup has not received
	default:
	}
	if log != nil {
		b.spans <- log
	}
}

func (b *Schedule) paused() bool { return b.Paused != nil && b.Paused() }

// Resume continues the scheduled backups. It must be called after the store was promoted, and after the store became
// the owner of the backup location again.
func (b *Schedule) Resume() {
	if b == nil {
		return
	}
	b.wake()
	if b.ShipsLog() {
		b.shipper.Resume()
	}
}

// wake makes Serve check whether a backup is due.
func (b *Schedule) wake() {
	select {
	case b.now <- struct{}{}:
	default: // a signal is already pending
	}
}

// startBackup starts a backup and waits for its span, which says which commits the backup contains. It does not wait
// for the upload, during which the log could not be shipped.
func (b *Schedule) startBackup(ctx context.Context) (*repository.LogSpan, error) {
	select {
	case <-b.spans: // discard the span of an earlier backup
	default:
	}
	b.forced.Store(true)
	b.wake()
	select {
	case span := <-b.spans:
		return span, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Status returns the state of the backups.
func (b *Schedule) Status() Status {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.status
}

// firstRetry is the delay after a failed backup. It doubles with each further failure, up to --backup-every, unless the
// log cannot be shipped before a backup succeeds.
const firstRetry = time.Minute

// Serve makes backups until ctx is done.
func (b *Schedule) Serve(ctx context.Context) {
	retry := firstRetry
	for ctx.Err() == nil {
		wait, err := b.backUpIfDue(ctx)
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			wait = min(retry, b.Every)
			if retry = 2 * wait; b.forced.Load() { // the log cannot be shipped before this backup succeeds, so the delay must not grow
				retry = firstRetry
			}
			b.mu.Lock()
			b.status.Failures++
			b.mu.Unlock()
			b.log.Error("backup failed", "to", b.To, "cause", err, "again_in", wait)
		} else {
			retry = firstRetry
		}
		select {
		case <-ctx.Done():
		case <-b.now:
		case <-time.After(wait):
		}
	}
}

// backUpIfDue makes a backup if one is due. It returns the time until the next backup is due.
func (b *Schedule) backUpIfDue(ctx context.Context) (wait time.Duration, err error) {
	if b.paused() {
		return b.Every, nil // Resume wakes Serve after a promotion
	}
	if b.ShipsLog() && b.shipper.Primary.Replaced() != nil {
		return b.Every, nil // Resume wakes Serve when the store owns the backup location again
	}
	if b.ShipsLog() {
		if err := b.shipper.CheckOwner(ctx); err != nil {
			return 0, err
		}
	}
	if b.ShipsLog() && !b.shipper.MayBackUp() && !b.forced.Load() {
		return b.Every, nil // the shipper wakes Serve when the backup location has all of the log from before the start of this server
	}
	newest, err := repository.New(b.run.place).Newest(ctx)
	if errors.Is(err, repository.ErrNone) && b.isUnmounted(ctx) {
		return 0, errors.New("the backup location has no backup, but this server made backups there: is its disk mounted? If you removed the backups on purpose, make a backup with 'edgetable backup create'")
	}
	if err != nil && !errors.Is(err, repository.ErrNone) && !errors.Is(err, repository.ErrNoneYet) {
		return 0, err
	}
	if err == nil {
		own, err := b.run.store.Identity()
		if err != nil {
			return 0, err
		}
		if newest.Store != own { // if two stores shared a location, their backups could be confused
			return 0, repository.ErrOtherStore
		}
		b.mu.Lock()
		b.status.LastSuccess = newest.StartedAt
		b.mu.Unlock()
		b.remember()
		if age := time.Since(newest.StartedAt); age >= 0 && age < b.Every && !b.forced.Load() && (!b.ShipsLog() || b.shipper.Continues(newest)) {
			return b.Every - age, nil
		}
	}
	began, forced := time.Now(), b.forced.Load()
	m, err := b.run.create(ctx)
	if err != nil {
		return 0, err
	}
	if forced {
		b.forced.Store(false)
	}
	b.mu.Lock()
	b.status.LastSuccess = m.StartedAt
	b.status.Successes++
	b.mu.Unlock()
	b.log.Info("backup", "to", b.To, "name", m.ID, "bytes", m.Size(), "new", m.New, "took", time.Since(began).Round(time.Millisecond))
	if n := len(m.Mended); n > 0 {
		b.log.Error(mended(n, m.Mended[0]), "to", b.To)
	}
	b.remember()
	b.prune(ctx)
	return b.Every, nil
}

// isUnmounted reports whether the disk of the backup location is probably not mounted: earlier backups were made there,
// but now the location has none, not even a damaged one.
func (b *Schedule) isUnmounted(ctx context.Context) bool {
	if b.Status().LastSuccess.IsZero() && (b.ShipsLog() || b.store.Timeline().Location != b.named) {
		return false
	}
	_, err := repository.New(b.run.place).List(ctx)
	return errors.Is(err, repository.ErrNone)
}

// remember records in the data directory that the location has backups, for isUnmounted at a later start. If the server
// ships its log, the shipper records the location.
func (b *Schedule) remember() {
	if b.ShipsLog() || b.store.Timeline().Location == b.named {
		return
	}
	if err := b.store.ChangeTimeline(func(t *commitlog.Timeline) { t.Location = b.named }); err != nil {
		b.log.Warn("the data directory cannot record where its backups are", "cause", err)
	}
}

// prune removes old backups. It only logs an error, because the next backup is followed by another prune.
func (b *Schedule) prune(ctx context.Context) {
	if b.keep.IsEmpty() {
		return
	}
	done, err := repository.New(b.run.place).Prune(ctx, repository.Pruning{Retention: b.keep, Now: time.Now()})
	switch {
	case ctx.Err() != nil:
	case err != nil:
		b.log.Error("old backups cannot be removed", "to", b.To, "cause", err)
	case len(done.Unfinished) > 0:
		b.log.Warn("old backups are only partly removed", "to", b.To, "cause", unfinishedStays(done.Unfinished))
	case len(done.Removed) > 0 || done.Objects > 0 || done.Pieces > 0:
		b.log.Info("old backups removed", "to", b.To, "backups", len(done.Removed), "bytes", done.Bytes, "log", done.LogBytes)
	}
}
