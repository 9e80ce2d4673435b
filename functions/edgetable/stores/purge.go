package stores

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/spf13/cobra"

	"edgetable/adapters/store/dynamodb"
	"edgetable/functions/edgetable/cli"
)

func (p *program) purgeCommand() *cobra.Command {
	var o dynamodbFlags
	c := &cobra.Command{
		Use: "purge", Short: "Remove what deleted tables and interrupted writes left behind",
		Long: "Removes the items of tables that were deleted, or spread over other hash keys, more than\n" +
			"an hour ago, and what interrupted writes of large entities left behind. It may be\n" +
			"interrupted, and run beside others and beside servers.",
		Example: "  edgetable dynamodb purge --dynamodb-table edgetable",
		RunE:    func(c *cobra.Command, _ []string) error { return p.purge(c.Context(), &o) },
	}
	cli.Section(c, "Flags", o.register)
	return c
}

// purge removes unreachable items once, and shows its progress on standard error.
func (p *program) purge(ctx context.Context, o *dynamodbFlags) error {
	store, _, err := o.connect(ctx, 8)
	if err != nil {
		return err
	}
	var done dynamodb.Progress
	show := cli.NewProgress(p.Err)
	err = store.Purge(ctx, func(now dynamodb.Progress) error {
		done = now
		show.Show("%s removed, %s", cli.Things(done.Items, "items"), cli.Things(done.Tables, "tables"))
		return ctx.Err()
	})
	show.End()
	fmt.Fprintf(p.Out, "%s removed; gone for good: %s\n", cli.Things(done.Items, "items"), cli.Things(done.Tables, "tables"))
	if err != nil {
		err = fmt.Errorf("%w; run the same command to resume", err)
		if done != (dynamodb.Progress{}) {
			return cli.Fail(cli.StatusPart, err)
		}
		return err
	}
	return nil
}

// purgeEvery purges again and again until ctx ends. Other processes may do the
// same.
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
