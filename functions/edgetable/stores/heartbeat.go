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

func (p *program) heartbeatCommand() *cobra.Command {
	var o dynamodbFlags
	c := &cobra.Command{
		Use: "heartbeat", Short: "Write the heartbeats of a Region once, for its secondaries",
		Long: "Servers and functions in the role primary write heartbeats once a minute. Use this command after\n" +
			"they have stopped, to check that all writes have arrived before another Region becomes the primary.\n" +
			"The command fails if another Region writes.",
		Example: "  edgetable dynamodb heartbeat --dynamodb-table edgetable --dynamodb-region eu-central-1",
		RunE:    func(c *cobra.Command, _ []string) error { return p.heartbeat(c.Context(), &o) },
	}
	cli.Section(c, "Flags", o.register)
	return c
}

func (p *program) heartbeat(ctx context.Context, o *dynamodbFlags) error {
	store, client, err := o.connect(ctx, 1)
	if err != nil {
		return err
	}
	began := time.Now()
	if err := store.Beat(ctx, client.Options().Region); err != nil {
		return err
	}
	fmt.Fprintf(p.Out, "%s has a heartbeat of %s: when a secondary has received this heartbeat, its LastSyncTime is one minute before that time\n",
		o.describe(client), began.UTC().Format(time.RFC3339))
	return nil
}

// beatEvery writes heartbeats at intervals until ctx is done. The heartbeats tell secondaries how old their data is.
func beatEvery(ctx context.Context, pause time.Duration, store *dynamodb.Store, region string, log *slog.Logger) {
	for ctx.Err() == nil {
		if err := store.Beat(ctx, region); err != nil && ctx.Err() == nil {
			log.Error("no heartbeat: secondaries cannot tell how old their data is", "cause", err)
		}
		_ = cli.Sleep(ctx, pause)
	}
}
