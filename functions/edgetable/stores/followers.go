package stores

import (
	"context"

	"github.com/cockroachdb/pebble/v2/vfs"

	"edgetable/adapters/replicate/follow"
	"edgetable/adapters/store/pebblestore"
	"edgetable/adapters/store/pebblestore/datadir"
)

// Followers returns the follow.Kind of the embedded store, the only kind of store that can follow a primary.
func Followers() follow.Kind {
	return follow.Kind{
		Open: func(ctx context.Context, dir string) (follow.Restored, error) {
			return pebblestore.Open(pebblestore.Options{Dir: dir, Interrupt: ctx.Done()})
		},
		HasStore: datadir.HasStore, CheckNew: pebblestore.CheckForeign, OwnsFile: datadir.IsStoreFile, Lock: datadir.Lock, IsNoSpace: vfs.IsNoSpaceError,
	}
}
