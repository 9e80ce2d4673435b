package secondary

import (
	"context"
	"fmt"
	"log/slog"
	"os"

	"edgetable/adapters/replicate/follow"
	"edgetable/adapters/store/pebblestore"
)

// Build prepares the data directory of a secondary. If the directory has a complete store, Build returns nil.
// Otherwise it returns a Follower that builds the first store.
func (o *Flags) Build(ctx context.Context, dir string, log *slog.Logger, end func(error)) (*follow.Follower, error) {
	if info, err := os.Stat(dir); err == nil && !info.IsDir() {
		return nil, fmt.Errorf("--data: %s is not a directory", dir)
	}
	return follow.Build(o.options(dir, log, end), func() (follow.Source, error) { return o.source(ctx, "secondary-of") })
}

// Open returns the Follower of a complete store, for which Build has returned nil. If the store is a primary, because
// it was promoted or restored, Open returns nil.
func (o *Flags) Open(ctx context.Context, store *pebblestore.Store, dir string, log *slog.Logger, end func(error)) (*follow.Follower, error) {
	at, follows, err := store.Position()
	if err != nil {
		return nil, err
	}
	if !follows {
		if t := store.Timeline(); t.Parent == "" {
			return nil, fmt.Errorf("%s contains a store that is not a secondary: name an empty directory for a secondary", dir)
		}
		log.Warn("this store was promoted, or restored to a moment: it is a primary, and --secondary-of is ignored; remove the flag")
		return nil, nil
	}
	from, err := o.source(ctx, "secondary-of")
	return follow.Open(o.options(dir, log, end), from, store, at), err
}
