package secondary

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/spf13/pflag"

	"edgetable/adapters/backup/repository"
	"edgetable/adapters/replicate/follow"
	"edgetable/functions/edgetable/cli"
	"edgetable/functions/edgetable/place"
	"edgetable/functions/edgetable/stores"
)

// Flags are the flags of a server that is a secondary.
type Flags struct {
	Of       string
	MaxLag   time.Duration
	identity string
}

func (o *Flags) Register(f *pflag.FlagSet) {
	f.StringVar(&o.Of, "secondary-of", "", "`place` to which a primary ships its log: run as its secondary; the server then accepts only reads until 'edgetable promote'")
	cli.DurationFlag(f, &o.MaxLag, "secondary-max-lag", time.Minute, time.Second, cli.MaxTime, "maximum lag of the secondary behind the backup location; above it, /_/ready answers 503 and the status is unavailable; the secondary looks for new log 60 times in this period")
	o.registerIdentity(f)
}

// interval returns the interval between two checks for newly shipped log in the backup
// location.
func (o *Flags) interval() time.Duration { return o.MaxLag / 60 }

func (o *Flags) registerIdentity(f *pflag.FlagSet) {
	f.StringVar(&o.identity, "secondary-identity", "", "age key `file` (made by age-keygen) with the private key of an encrypted log")
}

// Check returns an error if flags contradict each other.
func (o *Flags) Check(given func(flag string) bool, data string) error {
	for _, name := range []string{"secondary-max-lag", "secondary-identity"} {
		if given(name) && o.Of == "" {
			return cli.Misuse("--%s needs --secondary-of", name)
		}
	}
	if o.Of != "" {
		if err := place.Check(o.Of); err != nil {
			return cli.Misuse("--secondary-of: %v", err)
		}
	}
	if o.Of != "" && data == "" {
		return cli.Misuse("--secondary-of needs a data directory: --data")
	}
	return nil
}

// options returns the options of a Follower for a data directory.
func (o *Flags) options(dir string, log *slog.Logger, end func(error)) follow.Options {
	return follow.Options{Dir: dir, Kind: stores.Followers(), Of: o.Of, MaxLag: o.MaxLag, Interval: o.interval(), Log: log, End: end}
}

// source opens the backup location of the primary, and reads the private keys that decrypt the log. Its errors contain
// the given name of the flag for the location.
func (o *Flags) source(ctx context.Context, flag string) (from follow.Source, err error) {
	objects, err := place.Open(ctx, o.Of, nil)
	if err != nil {
		return from, fmt.Errorf("--%s: %w", flag, err)
	}
	with, err := place.ReadIdentities(o.identity)
	if err != nil {
		return from, fmt.Errorf("--secondary-identity: %w", err)
	}
	return follow.Source{Place: repository.New(objects), Keys: with}, nil
}
