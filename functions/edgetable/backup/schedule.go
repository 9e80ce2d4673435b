package backup

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/spf13/pflag"

	"edgetable/adapters/backup/repository"
	"edgetable/adapters/objects/s3"
	"edgetable/adapters/setting"
	"edgetable/functions/edgetable/cli"
	"edgetable/functions/edgetable/place"
	"edgetable/functions/edgetable/stores"
)

// Flags are those of a server that makes scheduled backups.
type Flags struct {
	To    string
	Every time.Duration
	keep  repository.Keep
	keys  []string
}

func (o *Flags) Register(f *pflag.FlagSet) {
	f.StringVar(&o.To, "backup-to", "", "`place` for backups of the data directory: another directory, or s3://BUCKET/PREFIX; default none")
	cli.DurationFlag(f, &o.Every, "backup-every", time.Hour, time.Second, cli.MaxTime, "how often to make a backup")
	cli.ValueFlag(f, &o.keep, "backup-keep", "rules", "`rules` that say which backups stay, such as last=24,daily=30 or older-than=30d, as the flags of 'edgetable backup prune'; default all", parseKeep, showKeep)
	recipientsFlag(f, &o.keys, "backup-encrypt-to")
}

// Check finds flags that do not go together.
func (o *Flags) Check(given func(flag string) bool) error {
	for _, name := range []string{"backup-every", "backup-keep", "backup-encrypt-to"} {
		if given(name) && o.To == "" {
			return cli.Misuse("--%s needs --backup-to", name)
		}
	}
	_, err := repository.ParseRecipients(o.keys)
	if err != nil {
		return cli.Misuse("--backup-encrypt-to: %v", err)
	}
	return nil
}

var errKeep = errors.New("write last=NUMBER, daily=NUMBER or older-than=DURATION, with commas between them")

func parseKeep(text string) (k repository.Keep, err error) {
	for rule := range strings.SplitSeq(text, ",") {
		name, n, _ := strings.Cut(strings.TrimSpace(rule), "=")
		count, countErr := strconv.ParseUint(n, 10, 20)
		switch {
		case name == "last" && countErr == nil:
			k.Last = int(count)
		case name == "daily" && countErr == nil:
			k.Daily = int(count)
		case name == "older-than":
			if k.OlderThan, err = setting.Duration(n, 0, 100*cli.MaxTime); err != nil {
				return k, errKeep
			}
		default:
			return k, errKeep
		}
	}
	if k.None() {
		return k, errKeep
	}
	return k, nil
}

func showKeep(k repository.Keep) string {
	var rules []string
	if k.Last > 0 {
		rules = append(rules, fmt.Sprint("last=", k.Last))
	}
	if k.Daily > 0 {
		rules = append(rules, fmt.Sprint("daily=", k.Daily))
	}
	if k.OlderThan > 0 {
		rules = append(rules, "older-than="+cli.ShowDuration(k.OlderThan))
	}
	return strings.Join(rules, ",")
}

// Status is what the metrics say about the backups that a server makes.
type Status struct {
	LastSuccess time.Time // when the newest complete backup began; zero: not known yet
	Successes   int64     // since the start
	Failures    int64
}

// Schedule makes backups until the server ends.
type Schedule struct {
	*Flags
	run *run
	log *slog.Logger

	mu     sync.Mutex
	status Status
}

// Open prepares the backups of a data directory, "" for none; nil if none are asked for.
func Open(ctx context.Context, o *Flags, data string, store *stores.Checkpoints, log *slog.Logger) (*Schedule, error) {
	if data != "" {
		if err := clearStaging(data); err != nil {
			log.Info("the files of an earlier backup stay", "cause", err)
		}
	}
	if o.To == "" {
		return nil, nil
	}
	objects, err := place.Open(ctx, o.To)
	if err != nil {
		return nil, fmt.Errorf("--backup-to: %w", err)
	}
	if err := place.Apart(objects, data); err != nil {
		return nil, fmt.Errorf("--backup-to: %w", err)
	}
	if bucket, ok := objects.(*s3.Bucket); ok {
		// All attempts together may take a quarter of an hour.
		bucket.Retrying = func(cause error, in time.Duration) {
			log.Warn("the place for backups does not answer", "to", o.To, "cause", cause, "again in", in.Round(time.Millisecond))
		}
	}
	return &Schedule{
		Flags: o, log: log,
		run: &run{
			data: data, location: o.To, place: objects, store: store,
			keys: o.keys, progress: func(int64, int64) {},
		},
	}, nil
}

// Status returns the state of the backups.
func (b *Schedule) Status() Status {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.status
}

// firstRetry is how long after a failure a backup is tried again. Each further failure
// doubles it, up to --backup-every.
const firstRetry = time.Minute

// Serve makes backups until ctx ends.
func (b *Schedule) Serve(ctx context.Context) {
	retry := firstRetry
	for ctx.Err() == nil {
		wait, err := b.turn(ctx)
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			wait = min(retry, b.Every)
			retry = 2 * wait
			b.mu.Lock()
			b.status.Failures++
			b.mu.Unlock()
			b.log.Error("backup failed", "to", b.To, "cause", err, "again in", wait)
		} else {
			retry = firstRetry
		}
		select {
		case <-ctx.Done():
		case <-time.After(wait):
		}
	}
}

// turn makes a backup if it is due, and returns how long to wait for the next one.
func (b *Schedule) turn(ctx context.Context) (wait time.Duration, err error) {
	newest, err := repository.New(b.run.place).Newest(ctx)
	if last := b.Status().LastSuccess; errors.Is(err, repository.ErrNone) && !last.IsZero() {
		return 0, fmt.Errorf("the place has no backup any more, but one of %s was there: is its disk mounted? If the backups were removed on purpose, start the server again",
			last.UTC().Format(time.RFC3339))
	}
	if err != nil && !errors.Is(err, repository.ErrNone) {
		return 0, err
	}
	if err == nil {
		own, err := b.run.store.Identity()
		if err != nil {
			return 0, err
		}
		if newest.Store != own { // its backups must not look like ours
			return 0, repository.ErrOtherStore
		}
		b.mu.Lock()
		b.status.LastSuccess = newest.Began
		b.mu.Unlock()
		if age := time.Since(newest.Began); age >= 0 && age < b.Every {
			return b.Every - age, nil
		}
	}
	began := time.Now()
	m, err := b.run.create(ctx)
	if err != nil {
		return 0, err
	}
	b.mu.Lock()
	b.status.LastSuccess = m.Began
	b.status.Successes++
	b.mu.Unlock()
	b.log.Info("backup", "to", b.To, "name", m.ID, "bytes", m.Size(), "new", m.New, "took", time.Since(began).Round(time.Millisecond))
	b.prune(ctx)
	return b.Every, nil
}

// prune removes old backups. A failure is logged; the next backup tries again.
func (b *Schedule) prune(ctx context.Context) {
	if b.keep.None() {
		return
	}
	done, err := repository.New(b.run.place).Prune(ctx, repository.Pruning{Keep: b.keep, Now: time.Now()})
	switch {
	case ctx.Err() != nil:
	case err != nil:
		b.log.Error("old backups cannot be removed", "to", b.To, "cause", err)
	case len(done.Unfinished) > 0:
		b.log.Warn("old backups are removed in part", "to", b.To, "cause", unfinishedStays(done.Unfinished))
	case len(done.Removed) > 0 || done.Objects > 0:
		b.log.Info("old backups removed", "to", b.To, "backups", len(done.Removed), "bytes", done.Bytes)
	}
}
