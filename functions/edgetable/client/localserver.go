package client

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/spf13/pflag"

	"edgetable/adapters/client/remote"
	"edgetable/core/traffic"
	"edgetable/functions/edgetable/admin"
	"edgetable/functions/edgetable/advise"
	"edgetable/functions/edgetable/cli"
	"edgetable/functions/edgetable/transfer"
	"edgetable/functions/explorer"
)

// localServer is the server on this machine that uses a data directory, if there is
// one. The explorer shows its statistics.
type localServer struct{ statsFlags }

func (s *localServer) register(f *pflag.FlagSet) {
	cli.DataFlag(f, &s.data, "of the server, if one runs here")
	cli.AdminFlag(f, &s.admin, "")
}

// mark marks the profiles whose account is on the server.
func (s *localServer) mark(ctx context.Context, list []explorer.Profile) {
	if _, err := os.Stat(admin.Socket(s.data, s.admin)); err != nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second) // the page waits
	defer cancel()
	info, err := admin.Get[admin.Info](ctx, s.server(), "/server")
	if err != nil {
		return
	}
	for i := range list {
		list[i].Local = info.Serves(list[i].Endpoint, list[i].Account)
	}
}

// Traffic implements explorer.Local.
func (s *localServer) Traffic(ctx context.Context, account, table string) (any, error) {
	if table != "" {
		return askTraffic(ctx, &s.statsFlags, account, table)
	}
	all, err := admin.Get[[]traffic.Overview](ctx, s.server(), "/traffic")
	list := []traffic.Overview{} // in JSON it is a list
	for _, o := range all {
		if o.Account == account {
			list = append(list, o)
		}
	}
	return list, err
}

// Advise implements explorer.Local.
func (s *localServer) Advise(ctx context.Context, one *explorer.Profile, c *remote.Client, table string, scan bool) (any, error) {
	facts := advise.Facts{Buckets: cli.UsualBuckets}
	var err error
	if one.Local {
		facts.Traffic, err = askTraffic(ctx, &s.statsFlags, one.Account, table)
	} else {
		facts.Traffic, err = c.Statistics(ctx, table)
	}
	if err != nil && !scan {
		return nil, err
	}
	if scan {
		var read transfer.Progress
		if facts.Stored, err = scanKeys(ctx, c, table, 8, &read); err != nil {
			return nil, err
		}
	}
	return judge(table, &facts), nil
}

// Keys implements explorer.Local.
func (s *localServer) Keys(ctx context.Context, account string) (any, error) {
	info, err := admin.Get[admin.Info](ctx, s.server(), "/server")
	if err != nil {
		return nil, err
	}
	one, ok := info.Find(account)
	if !ok {
		return nil, fmt.Errorf("the server has no account %s any more", account)
	}
	return one, nil
}
