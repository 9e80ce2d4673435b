package suite

import (
	"context"
	"fmt"
	"slices"
	"time"

	"edgetable/core/accounts"
	"edgetable/core/sas"
	"edgetable/core/sharedkey"
	"edgetable/functions/edgetable/load"
	"edgetable/functions/edgetable/load/wire"
)

// way is one of several ways to do an operation, such as a response format or a kind of signature. The suite
// measures the cost of each way relative to the first one. All ways are measured in alternation on one server in
// memory, because such a server does the least other work. Client and server share the processors. So if a way
// costs the client more, the rate of the server falls, too. Therefore the suite does not only compare rates, but
// also the server's processor time.
type way struct {
	how    string // name of the measurements, such as JSON or Atom
	format load.Format
	token  func(table string) (string, error) // nil means that requests are signed with the account key
}

// comparison lists several ways to do the same operations, such as response formats. The first way is the
// reference.
type comparison struct {
	ops  []load.Op
	ways []way
	most float64 // maximum processor time of a way, divided by that of the first way; for a rate, the minimum is 1 divided by this number
}

var comparisons = []comparison{
	{[]load.Op{load.Insert, load.Get, load.Query, load.Batch}, []way{
		{how: "JSON"},
		{how: "Atom", format: load.Atom},
	}, 2},
	{[]load.Op{load.Get, load.Insert}, []way{
		{how: "key"},
		{how: "token of a table", token: tableToken(sas.TableValues{})},
		{how: "token of a table and keys", token: tableToken(sas.TableValues{StartPartition: "a", StartRow: "a", EndPartition: "z", EndRow: "z"})},
		{how: "token of an account", token: accountToken},
	}, 1.1},
}

// tokenExpiry returns a time that is later than the end of any run.
func tokenExpiry() string { return time.Now().Add(24 * time.Hour).UTC().Format(time.RFC3339) }

func tableToken(v sas.TableValues) func(string) (string, error) {
	return func(table string) (string, error) {
		v.Table, v.Expiry, v.Permissions = table, tokenExpiry(), "raud"
		return signWith(v.Sign)
	}
}

func accountToken(string) (string, error) {
	return signWith(sas.AccountValues{ResourceTypes: "sco", Expiry: tokenExpiry(), Permissions: "rwdlacu"}.Sign)
}

func signWith(sign func(string, *sharedkey.Key) (string, error)) (string, error) {
	account := wire.Development(accounts.Development)
	return sign(account.Name, account.Keys[0])
}

// turns is a number of measurements. In each round of the suite, each response format and each kind of signature is
// measured this many times. Many short measurements are better than a few long ones, because they even out
// fluctuations of the machine.
const turns = 4

// costs measures what an operation costs in different ways, such as response formats. It measures these
// ways in alternation, on each server in memory.
func (s *suite) costs(ctx context.Context) error {
	for _, c := range s.servers(Memory) {
		for round := range turns * s.Rounds {
			s.progress("costs, round %d of %d", round+1, turns*s.Rounds)
			for _, cmp := range comparisons {
				ways := slices.Concat(cmp.ways, cmp.ways)[round%len(cmp.ways):][:len(cmp.ways)] // in each round of the suite, another way to do the operation comes first
				for _, op := range cmp.ops {
					for _, w := range ways {
						if err := s.cost(ctx, c, op, w); err != nil {
							return err
						}
					}
				}
			}
		}
	}
	return nil
}

// cost measures one operation with one response format or kind of signature.
func (s *suite) cost(ctx context.Context, c *child, op load.Op, w way) error {
	own := !op.NeedsPreload()
	if own { // writes cause background work of the server, which must end first
		settle(ctx, s.Settle, c)
	}
	spec := onFilled(c.target, op, Connections[0])
	spec.Format, spec.Warmup, spec.Duration = w.format, s.CostCell/4, s.CostCell
	if own {
		spec.Table = s.newTable()
	}
	if w.format == load.Atom {
		spec.Target.Version = load.AtomVersion
	}
	if w.token != nil {
		token, err := w.token(spec.Table)
		if err != nil {
			return fmt.Errorf("signing a token: %w", err)
		}
		spec.Target = spec.Target.WithToken(token)
	}
	return s.attempt(ctx, c, spec, w.how, own)
}

// costs returns the checks of the different ways to do an operation, such as response formats. A check
// compares the processor time or the rate of one way with the first way, in each round.
func (r *Results) costs() (list []Check) {
	for _, cmp := range comparisons {
		for _, op := range cmp.ops {
			for _, w := range cmp.ways[1:] {
				cpu := Check{What: fmt.Sprintf("%s, %s, %s against %s, processor time of the server", Memory, op, w.how, cmp.ways[0].how),
					Target: fmt.Sprintf("≤%gx", cmp.most), Status: Unmeasured}
				rate := Check{What: fmt.Sprintf("%s, %s, %s against %s, rate", Memory, op, w.how, cmp.ways[0].how),
					Target: fmt.Sprintf("≥%.2fx", 1/cmp.most), Status: Unmeasured}
				a := r.find(Cell{Memory, op, Connections[0], w.how})
				b := r.find(Cell{Memory, op, Connections[0], cmp.ways[0].how})
				rate.pair(a, b, func(s Sample) float64 { return s.OpsPerSecond }, perSecond, func(ratio float64) bool { return ratio*cmp.most >= 1 })
				cpu.pair(a, b, func(s Sample) float64 { return float64(s.CPU) }, duration, func(ratio float64) bool { return ratio <= cmp.most })
				list = append(list, cpu, rate)
			}
		}
	}
	return list
}

// pair compares two measurements that were made in alternation, and sets the result of a check.
func (c *Check) pair(a, b *Measured, field func(Sample) float64, text func(float64) string, ok func(ratio float64) bool) {
	if a == nil || b == nil {
		return
	}
	if c.Ratio = paired(a, b, field); c.Ratio == 0 {
		return
	}
	c.Measured, c.Against = text(field(a.Median)), text(field(b.Median))
	c.Status = met(ok(c.Ratio) && a.Median.Errors+b.Median.Errors == 0)
}

func perSecond(rate float64) string { return fmt.Sprintf("%.0f ops/s", rate) }

func duration(d float64) string { return short(time.Duration(d)) }
