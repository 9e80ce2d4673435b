package stores

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/pflag"

	"edgetable/adapters/store/postgres"
	"edgetable/functions/edgetable/cli"
)

type postgresServing struct {
	postgresFlags
	replica     string
	connections int
	allowLoss   bool
}

func onPostgres() *Kind {
	o := &postgresServing{}
	return &Kind{
		name: "postgres", about: "in a PostgreSQL database", heading: "Store on PostgreSQL", Remote: true,
		register: o.register, Open: o.open,
		check:         func(*pflag.FlagSet) error { return o.check() },
		dataDirectory: func() string { return "" },
	}
}

func (o *postgresServing) register(f *pflag.FlagSet) {
	o.postgresFlags.register(f)
	f.StringVar(&o.replica, "postgres-replica-dsn", "", "`URL` or key=value pairs of a standby, for reads that may be old; default the primary")
	cli.IntFlag(f, &o.connections, "postgres-connections", 16, 8, 1000, "maximum `number` of connections to the primary, and also to the standby")
	cli.BoolFlag(f, &o.allowLoss, "postgres-allow-loss", "accept a database whose settings (fsync, synchronous_commit) may lose acknowledged writes")
}

func (o *postgresServing) open(ctx context.Context, from *Opening) (*Backend, error) {
	if o.exposed() {
		from.Log.Warn("the network can read the traffic to the database, or impersonate the database: add sslmode=verify-full to --postgres-dsn", "place", o.describe())
	}
	options := o.options()
	options.ReplicaDSN, options.Connections, options.AllowLoss = o.replica, o.connections, o.allowLoss
	options.Logf = func(format string, args ...any) { from.Log.Warn("PostgreSQL: " + fmt.Sprintf(format, args...)) }
	store, err := openWithRetry(ctx, options, from.OnRetry)
	if errors.Is(err, postgres.ErrLoss) {
		err = fmt.Errorf("%w; change the setting, or use --postgres-allow-loss", err)
	}
	if err != nil {
		return nil, o.explainError(err)
	}
	PostgresMetrics(from.Metrics, store.Metrics)
	return &Backend{
		Store: store, System: "postgresql", Place: "in " + o.describe() + "; " + store.Durability(),
		Close: store.Close, Ready: store.Ready, ReadyTTL: time.Second,
	}, nil
}

// databaseWait is how long a starting server waits for an unreachable database.
const databaseWait = time.Minute

// openWithRetry opens the store. While the database is unreachable, it retries every second, for up to databaseWait.
func openWithRetry(ctx context.Context, o postgres.Options, waits func(cause error)) (*postgres.Store, error) {
	ctx, cancel := context.WithTimeout(ctx, databaseWait)
	defer cancel()
	for {
		store, err := postgres.Open(ctx, o)
		if err == nil || !postgres.Unreachable(err) {
			return store, err
		}
		waits(err)
		select {
		case <-ctx.Done():
			return nil, err
		case <-time.After(time.Second):
		}
	}
}
