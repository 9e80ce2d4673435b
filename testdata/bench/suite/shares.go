package suite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"edgetable/core/accounts"
	"edgetable/functions/edgetable/load"
	"edgetable/functions/edgetable/load/wire"
)

// Share is one round in which several accounts send requests at the same time. Rates are in successful requests per
// second.
type Share struct {
	Total  float64       `json:"total"`
	Greedy float64       `json:"greedy"`
	Least  float64       `json:"least"`         // rate of the account with the lowest rate
	P99    time.Duration `json:"others_p99_ns"` // highest p99 of all accounts except the greedy one
}

// otherAccounts lists the accounts that share a server with the development account. The development account is
// greedy: it has more connections than each of these accounts.
var otherAccounts = []string{"other1", "other2", "other3", "other4"}

// accountsFile is the file that lists the accounts for edgetable.
const accountsFile = "accounts"

func (s *suite) writeAccounts() error {
	text := accounts.Development + ":" + accounts.DevelopmentKey + "\n"
	for _, name := range otherAccounts {
		text += name + ":" + accounts.DevelopmentKey + "\n"
	}
	return os.WriteFile(filepath.Join(s.dir, accountsFile), []byte(text), 0o600)
}

// shared makes several accounts send more requests than the server can answer, and measures each account's share of
// the rate.
func (s *suite) shared(ctx context.Context, c *child, o *Overload) error {
	o.Each = max(1, overload4x*o.Peak/(greedyTimes+len(otherAccounts)))
	specs := make([]load.Spec, 1+len(otherAccounts))
	for i := range specs {
		specs[i] = load.Spec{Target: c.target, Table: pointTable, Op: load.Mixed, Layout: pointLayout, Connections: o.Each,
			Warmup: s.BusyCell / 4, Duration: 2 * s.BusyCell, Refused: load.AtOnce}
		if i == 0 {
			specs[i].Connections *= greedyTimes
			continue
		}
		var err error
		if specs[i].Target, err = wire.NewTarget("http://"+c.target.Addr+"/"+otherAccounts[i-1], wire.Development(otherAccounts[i-1])); err != nil {
			return err
		}
		if err := load.CreateTable(ctx, specs[i].Target, pointTable); err != nil && !errors.Is(err, load.ErrTableExists) {
			return err
		}
		if err := load.Fill(ctx, specs[i].Target, pointTable, pointLayout); err != nil {
			return err
		}
	}
	for range s.Rounds + 1 {
		if err := s.mixed(ctx, c, o.Each, alone, s.BusyCell/2); err != nil {
			return err
		}
		settle(ctx, s.Settle, c)
		share, err := s.share(ctx, c, specs)
		if err != nil {
			return err
		}
		o.Shares = append(o.Shares, share)
		s.progress("  %-18s accounts: %.0f ops/s, greedy %.0f, least %.0f, worst p99 of the others %v", c.name, share.Total, share.Greedy, share.Least, short(share.P99))
	}
	return nil
}

// share makes all accounts send requests at the same time, and returns their rates. The first account is the greedy
// account, which has more connections.
func (s *suite) share(ctx context.Context, c *child, specs []load.Spec) (share Share, err error) {
	results, errs := make([]*load.Result, len(specs)), make([]error, len(specs))
	var wg sync.WaitGroup
	for i := range specs {
		wg.Go(func() { results[i], errs[i] = load.Run(ctx, specs[i]) })
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		return share, err
	}
	for i, res := range results {
		if res.Errors > 0 {
			s.problem("%s, several accounts: %v", c.name, res.First)
		}
		rate := res.OpsPerSecond()
		share.Total += rate
		switch i {
		case 0:
			share.Greedy = rate
			continue
		case 1:
			share.Least = rate
		}
		share.Least = min(share.Least, rate)
		share.P99 = max(share.P99, res.Latency.Quantile(0.99))
	}
	return share, nil
}

// fair computes the check of the account with the lowest rate. The check compares this rate with the smaller of two
// rates. The first is an equal share of the total rate. The second is the rate of an account that has the server
// alone.
func (r *Results) fair(o *Overload) Check {
	c := Check{What: fmt.Sprintf("%s, mixed, %d accounts, one with %dx the connections: least against an equal share",
		o.Server, 1+len(otherAccounts), greedyTimes), Target: fmt.Sprintf("≥%gx", minShare), Status: Unmeasured}
	m := r.find(Cell{o.Server, load.Mixed, o.Each, alone})
	if len(o.Shares) == 0 || m == nil {
		return c
	}
	least := median(o.Shares, func(s Share) float64 { return s.Least })
	due := min(median(o.Shares, func(s Share) float64 { return s.Total })/float64(1+len(otherAccounts)), m.Median.OpsPerSecond)
	c.Measured, c.Against, c.Ratio = fmt.Sprintf("%.0f ops/s", least), fmt.Sprintf("%.0f ops/s", due), least/due
	c.Status = met(c.Ratio >= minShare && m.Median.Errors == 0)
	return c
}
