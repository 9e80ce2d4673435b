package suite

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strconv"
	"syscall"
	"time"

	"edgetable/functions/edgetable/load"
	"edgetable/functions/edgetable/load/wire"
	"edgetable/testdata/bench/attack"
)

// Limits for an account with few connections while another account attacks the server. Its rate must be at least
// minVictimShare of half its normal rate. Its p99 must be at most maxVictimLateness times its normal p99.
const (
	victimConnections = 4
	attackConnections = 64
	minVictimShare    = 0.8
	maxVictimLateness = 5
	minVictimCell     = time.Second
)

// These functions return the names of measurements of point reads: just before an attack of the given kind, and during
// the attack.
func beside(k attack.Kind) string { return "beside " + string(k) }
func before(k attack.Kind) string { return "before " + string(k) }

// fairness measures the point reads of one account, alternately alone and during each kind of attack by another
// account.
func (s *suite) fairness(ctx context.Context) error {
	for _, c := range s.servers(Edgetable) {
		attacker, err := wire.NewTarget("http://"+c.target.Addr+"/"+otherAccounts[0], wire.Development(otherAccounts[0]))
		if err != nil {
			return err
		}
		if err := load.CreateTable(ctx, attacker, rangeTable); err != nil && !errors.Is(err, load.ErrTableExists) {
			return err
		}
		if err := load.Fill(ctx, attacker, rangeTable, rangeLayout); err != nil {
			return err
		}
		for round := range s.Rounds + 1 {
			s.progress("attacks, round %d of %d", round+1, s.Rounds+1)
			for _, k := range attack.Kinds {
				settle(ctx, s.Settle, c)
				if err := s.victim(ctx, c, before(k)); err != nil {
					return err
				}
				if err := s.attacked(ctx, c, attacker, k); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func (s *suite) victim(ctx context.Context, c *child, how string) error {
	return s.attempt(ctx, c, load.Spec{Target: c.target, Table: pointTable, Op: load.Get, Layout: pointLayout, Connections: victimConnections,
		Warmup: s.BusyCell, Duration: max(s.BusyCell, minVictimCell)}, how, false)
}

// attacked measures one account while another process attacks the server. If the attack inserts entities, the attacked
// table is deleted afterwards.
func (s *suite) attacked(ctx context.Context, c *child, attacker wire.Target, k attack.Kind) error {
	table := rangeTable
	if k == attack.Inserts {
		table = s.newTable()
		if err := load.CreateTable(ctx, attacker, table); err != nil {
			return err
		}
		defer func() {
			if err := load.DeleteTable(ctx, attacker, table); err != nil && ctx.Err() == nil {
				s.problem("%s: %v", c.name, err)
			}
		}()
	}
	cmd := exec.Command(s.Self, "attack", "-kind", string(k), "-endpoint", attacker.URL, "-account", attacker.Account, "-table", table,
		"-connections", strconv.Itoa(attackConnections), "-for", "60s")
	out := new(tail)
	cmd.Stdout, cmd.Stderr = out, out
	if err := cmd.Start(); err != nil {
		return err
	}
	err := s.victim(ctx, c, beside(k))
	_ = cmd.Process.Signal(syscall.SIGTERM) // an error means that the attacker has already ended, which Wait reports
	if ended := cmd.Wait(); ended != nil && ctx.Err() == nil {
		s.problem("attack with %s: %v: %s", k, ended, out)
	}
	s.progress("  %s: %s", k, out)
	return err
}

// tail collects the output of a process.
type tail []byte

func (t *tail) Write(p []byte) (int, error) {
	*t = append(*t, p...)
	return len(p), nil
}

func (t *tail) String() string { return string(*t) }

// fairly returns the checks of what one account gets during the attacks of another account. It compares the
// measurements that fairness made with their limits.
func (r *Results) fairly() (list []Check) {
	for _, k := range attack.Kinds {
		alone := r.find(Cell{Edgetable, load.Get, victimConnections, before(k)})
		attacked := r.find(Cell{Edgetable, load.Get, victimConnections, beside(k)})
		what := fmt.Sprintf("%s, get, %d connections beside %d of another account with %s", Edgetable, victimConnections, attackConnections, k)
		rate := Check{What: what + ": rate against half of that alone", Target: fmt.Sprintf("≥%gx", minVictimShare), Status: Unmeasured, Must: true}
		rate.pair(attacked, alone, func(s Sample) float64 { return s.OpsPerSecond }, perSecond, func(ratio float64) bool { return 2*ratio >= minVictimShare })
		rate.Ratio *= 2
		late := Check{What: what + ": p99 against that alone", Target: fmt.Sprintf("≤%dx", maxVictimLateness), Status: Unmeasured, Must: true}
		late.pair(attacked, alone, func(s Sample) float64 { return float64(s.P99) }, duration, func(ratio float64) bool { return ratio <= maxVictimLateness })
		list = append(list, rate, late)
	}
	return list
}
