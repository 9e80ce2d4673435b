package stores

import (
	"context"
	"log/slog"
	"time"

	"edgetable/adapters/store/dynamodb"
	"edgetable/functions/edgetable/cli"
)

// purgeEvery removes items that no operation can read, such as items of deleted tables, at intervals until ctx is done.
// Several processes may do this at once.
func purgeEvery(ctx context.Context, pause time.Duration, store *dynamodb.Store, log *slog.Logger) {
	for cli.Sleep(ctx, pause) == nil {
		var done dynamodb.Progress
		err := store.Purge(ctx, func(p dynamodb.Progress) error {
			done = p
			return nil
		})
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			log.Warn("purge failed; the next one resumes", "cause", err)
		case done != (dynamodb.Progress{}):
			log.Info("purged", "tables", done.Tables, "items", done.Items)
		}
	}
}
