package localexplorer

import (
	"context"
	"fmt"
	"net/url"
	"strings"

	"github.com/spf13/pflag"

	"edgetable/adapters/client/remote"
	"edgetable/core/traffic"
	"edgetable/functions/edgetable/account"
	"edgetable/functions/edgetable/admin"
	"edgetable/functions/edgetable/advise"
	"edgetable/functions/edgetable/cli"
	"edgetable/functions/edgetable/trafficreport"
	"edgetable/functions/edgetable/transfer/scan"
	"edgetable/functions/explorer"
)

// localServer is the server that uses a data directory. The explorer shows its statistics.
type localServer struct{ data, admin string }

func (s *localServer) register(f *pflag.FlagSet) {
	cli.DataFlag(f, &s.data, "of the server, if one runs here")
	cli.AdminFlag(f, &s.admin, "")
}

func (s *localServer) server() *admin.Server { return admin.Reach(s.data, s.admin) }

// addLocal sets Local in the profiles whose account is on this server. If environment is not nil, it adds a profile for
// each other account whose keys the user can read.
func (s *localServer) addLocal(ctx context.Context, list []explorer.Profile, environment func(string) string, readOnly bool) []explorer.Profile {
	info, err := admin.Ask(ctx, s.data, s.admin)
	if info == nil || err != nil {
		return list
	}
	names, have := map[string]bool{}, map[string]bool{}
	for i := range list {
		list[i].Local = info.Serves(list[i].Endpoint, list[i].Account)
		names[list[i].Name] = true
		have[list[i].Account] = have[list[i].Account] || list[i].Local
	}
	if environment == nil { // the user selected profiles, so no others are added
		return list
	}
	for _, one := range info.Accounts {
		owner, err := account.Find(environment, info.File, one.Name)
		if err != nil || have[one.Name] || one.Disabled {
			continue // the user might not have the right to read the keys
		}
		name := one.Name
		for names[name] {
			name += "-here"
		}
		address := strings.TrimRight(info.URL, "/") + "/" + one.Name
		list = append(list, explorer.Profile{
			Name: name, Account: one.Name, Endpoint: address, Local: true, ReadOnly: readOnly,
			Connect: func() (remote.Endpoint, error) { return remote.Owned(address, owner) },
		})
	}
	return list
}

// Traffic implements explorer.Local.
func (s *localServer) Traffic(ctx context.Context, account, table string) (any, error) {
	if table != "" {
		return s.server().Traffic(ctx, account, table)
	}
	return admin.Get[traffic.Hours](ctx, s.server(), "/hours?account="+url.QueryEscape(account))
}

// Advise implements explorer.Local.
func (s *localServer) Advise(ctx context.Context, one *explorer.Profile, c *remote.Client, table string, readAll bool) (any, error) {
	facts := advise.Facts{Buckets: cli.UsualBuckets}
	var err error
	if one.Local {
		facts.Traffic, err = s.server().Traffic(ctx, one.Account, table)
	} else {
		facts.Traffic, err = c.Statistics(ctx, table)
	}
	if err != nil && !readAll {
		return nil, err
	}
	if readAll {
		var read scan.Progress
		if facts.Stored, err = trafficreport.ReadKeys(ctx, c, table, 8, &read); err != nil {
			return nil, err
		}
	}
	facts.Splits = facts.Traffic != nil && len(facts.Traffic.Ranges) > 0
	return advise.NewAdvice(table, &facts), nil
}

// Keys implements explorer.Local.
func (s *localServer) Keys(ctx context.Context, account string) (any, error) {
	info, err := admin.Get[admin.Info](ctx, s.server(), "/server")
	if err != nil {
		return nil, err
	}
	one, ok := info.Find(account)
	if !ok {
		return nil, fmt.Errorf("the server no longer has the account %s", account)
	}
	return one, nil
}
