package suite

import (
	"context"
	"fmt"

	"edgetable/functions/edgetable/load"
)

// Azure promises these rates for an account and for one partition, in entities of 1 KiB per second. We measure them
// under a stricter condition than Azure: each write must be on disk before the server replies.
const (
	accountRate   = 20_000
	partitionRate = 2_000
)

const (
	promiseConnections = 64
	oneAccount         = "one account"
	onePartition       = "one partition"
)

// partitionLayout has all entities in one partition.
var partitionLayout = load.Layout{Entities: 10_000, RowsPerPartition: 10_000}

// promises measures two rates that Azure promises: of inserts spread over an account, and of writes to
// one partition.
func (s *suite) promises(ctx context.Context) error {
	for _, c := range s.servers(Edgetable) {
		table := s.newTable()
		if err := load.CreateTable(ctx, c.target, table); err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
		if err := load.Fill(ctx, c.target, table, partitionLayout); err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
		for range s.Rounds {
			spec := load.Spec{Target: c.target, Table: s.newTable(), Op: load.Insert, Connections: promiseConnections, Warmup: s.Warmup, Duration: s.Cell}
			settle(ctx, s.Settle, s.children...)
			if err := s.attempt(ctx, c, spec, oneAccount, true); err != nil {
				return err
			}
			spec.Table, spec.Op, spec.Layout = table, load.Upsert, partitionLayout
			settle(ctx, s.Settle, s.children...)
			if err := s.attempt(ctx, c, spec, onePartition, false); err != nil {
				return err
			}
		}
	}
	return nil
}

// promised returns the checks of the two rates that Azure promises.
func (r *Results) promised() (list []Check) {
	for _, p := range []struct {
		op   load.Op
		how  string
		want float64
	}{{load.Insert, oneAccount, accountRate}, {load.Upsert, onePartition, partitionRate}} {
		c := Check{What: fmt.Sprintf("%s, %s, %d connections, %s: the rate that the service promises", Edgetable, p.op, promiseConnections, p.how),
			Target: fmt.Sprintf("≥%.0f ops/s", p.want), Status: Unmeasured}
		if m := r.find(Cell{Edgetable, p.op, promiseConnections, p.how}); m != nil {
			c.Measured = perSecond(m.Median.OpsPerSecond)
			c.Status = met(m.Median.OpsPerSecond >= p.want && m.Median.Errors == 0)
		}
		list = append(list, c)
	}
	return list
}
