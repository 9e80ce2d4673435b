package secondary

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	"edgetable/adapters/backup/repository"
	"edgetable/adapters/replicate/follow"
	"edgetable/adapters/store/pebblestore"
	"edgetable/functions/edgetable/place"
)

// Build prepares the data directory of a secondary. It returns a Follower that builds the first store, or nil if the
// directory has a complete store.
func (o *Flags) Build(ctx context.Context, dir string, log *slog.Logger, end func(error)) (*follow.Follower, error) {
	if info, err := os.Stat(dir); err == nil && !info.IsDir() {
		return nil, fmt.Errorf("--data: %s is not a directory", dir)
	}
	return follow.Build(o.options(dir, log, end), func() (follow.Source, error) { return o.source(ctx, "secondary-of") })
}

// Open returns the Follower of a complete store, for which Build has returned nil. It returns nil if the store was
// promoted or restored, and is therefore a primary.
func (o *Flags) Open(ctx context.Context, store *pebblestore.Store, dir string, log *slog.Logger, end func(error)) (*follow.Follower, error) {
	at, follows, err := store.Position()
	if err != nil {
		return nil, err
	}
	if !follows {
		if t := store.Timeline(); t.Parent == "" {
			return nil, fmt.Errorf("%s contains a store that is not a secondary: name an empty directory for a secondary", dir)
		}
		if err := o.checkPlace(ctx, store, dir); err != nil {
			return nil, err
		}
		log.Warn("this store was promoted, or restored to a moment: it is a primary, and --secondary-of is ignored; remove the flag")
		return nil, nil
	}
	from, err := o.source(ctx, "secondary-of")
	return follow.Open(o.options(dir, log, end), from, store, at), err
}

// checkPlace returns an error if a primary was started with --secondary-of and the backup location of another store. It
// would accept writes, although a secondary is wanted.
func (o *Flags) checkPlace(ctx context.Context, store *pebblestore.Store, dir string) error {
	objects, err := place.Open(ctx, o.Of, nil)
	if err != nil {
		return nil // a primary does not need the location
	}
	own, err := store.Identity()
	if err != nil {
		return err
	}
	ctx, end := context.WithTimeout(ctx, 5*time.Second)
	defer end()
	if err := repository.New(objects).CheckStore(ctx, own); errors.Is(err, repository.ErrOtherStore) {
		return fmt.Errorf("%s contains a primary, and --secondary-of names the backup location of another store: name an empty directory for a secondary of that store", dir)
	}
	return nil
}
