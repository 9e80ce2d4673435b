package suite

import (
	"context"
	"fmt"
	"slices"

	"edgetable/adapters/client/remote"
	"edgetable/core/accounts"
	"edgetable/functions/edgetable/load"
	"edgetable/functions/edgetable/load/wire"
)

// A declaration is a table option whose cost is measured. It has minimum rates for a table that has the option,
// relative to a table without options. The suite measures both tables in alternation on the durable server.
type declaration struct {
	how     string // name of this option's measurements
	options string
	least   []leastRate
}

type leastRate struct {
	op    load.Op
	ratio float64
}

// turnsDeclared is a number of measurements. In each round of the suite, each table option is measured this many
// times. The permitted loss of rate is smaller than the fluctuation of one measurement, so many measurements are
// needed.
const turnsDeclared = 3 * turns

// without is the measurement with which this table option is compared: the same operations on a table without options.
func (d declaration) without() declaration { return declaration{how: "no options, beside " + d.how} }

var declarations = []declaration{
	// No entity has this property. So the server checks each entity, but no entity expires.
	{"a rule of expiry", `{"expire":{"property":"NoEntityHasThis"}}`, []leastRate{{load.Insert, 0.97}, {load.Get, 0.98}, {load.Query, 0.9}}},
	{"a feed of changes", `{"changes":{"keep":"P1D"}}`, []leastRate{{load.Insert, 0.93}, {load.Batch, 0.97}}},
}

// ruled returns the name of a table with an expiry rule, and with the same entities as the given preloaded table.
func ruled(table string) string { return "ruled" + table }

// declared measures each table option. It measures a table with the option and a table without options in alternation.
func (s *suite) declared(ctx context.Context) error {
	for _, c := range s.servers(Edgetable) {
		for table, layout := range map[string]load.Layout{pointTable: pointLayout, rangeTable: rangeLayout} {
			if err := createDeclared(ctx, c, ruled(table), declarations[0].options); err != nil {
				return err
			}
			if err := load.Fill(ctx, c.target, ruled(table), layout); err != nil {
				return err
			}
		}
		for round := range turnsDeclared * s.Rounds {
			s.progress("options, round %d of %d", round+1, turnsDeclared*s.Rounds)
			for _, d := range declarations {
				ways := []declaration{d.without(), d}
				if round%2 == 1 {
					slices.Reverse(ways)
				}
				for _, l := range d.least {
					for _, w := range ways {
						if err := s.declaredCell(ctx, c, l.op, w); err != nil {
							return err
						}
					}
				}
			}
		}
	}
	return nil
}

// declaredCell measures one workload on one table: a preloaded table for reads, or a new table for writes.
func (s *suite) declaredCell(ctx context.Context, c *child, op load.Op, w declaration) error {
	spec := onFilled(c.target, op, Connections[0])
	spec.Warmup, spec.Duration = s.CostCell/4, s.CostCell
	if op.NeedsPreload() {
		if w.options != "" {
			spec.Table = ruled(spec.Table)
		}
		return s.attempt(ctx, c, spec, w.how, false)
	}
	settle(ctx, s.Settle, c)
	spec.Table = s.newTable()
	if err := createDeclared(ctx, c, spec.Table, w.options); err != nil {
		return err
	}
	if err := s.attempt(ctx, c, spec, w.how, false); err != nil {
		return err
	}
	return load.DeleteTable(ctx, c.target, spec.Table)
}

// createDeclared creates a table, and sets its options if there are any.
func createDeclared(ctx context.Context, c *child, table, options string) error {
	if err := load.CreateTable(ctx, c.target, table); err != nil || options == "" {
		return err
	}
	endpoint, err := remote.Owned(c.target.URL, wire.Development(accounts.Development))
	if err != nil {
		return err
	}
	client := remote.New(endpoint, 1)
	defer client.Close()
	return client.SetOptions(ctx, table, "", []byte(options))
}

// declarations returns the checks of the table options. In each round, a check compares a table that has
// an option with a table without options. It compares the rates or the processor times. The server's processor time
// fluctuates much less than the rate, which also depends on the disk and the clients.
func (r *Results) declarations() (list []Check) {
	for _, d := range declarations {
		for _, l := range d.least {
			what := fmt.Sprintf("%s, %s, a table with %s against one without options, ", Edgetable, l.op, d.how)
			cpu := Check{What: what + "processor time of the server", Target: fmt.Sprintf("≤%.2fx", 1/l.ratio), Status: Unmeasured}
			rate := Check{What: what + "rate", Target: fmt.Sprintf("≥%gx", l.ratio), Status: Unmeasured}
			a, b := r.find(Cell{Edgetable, l.op, Connections[0], d.how}), r.find(Cell{Edgetable, l.op, Connections[0], d.without().how})
			cpu.pair(a, b, func(s Sample) float64 { return float64(s.CPU) }, duration, func(ratio float64) bool { return ratio*l.ratio <= 1 })
			rate.pair(a, b, func(s Sample) float64 { return s.OpsPerSecond }, perSecond, func(ratio float64) bool { return ratio >= l.ratio })
			list = append(list, cpu, rate)
		}
	}
	return list
}
