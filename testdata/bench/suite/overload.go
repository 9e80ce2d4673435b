package suite

import (
	"context"
	"fmt"
	"time"

	"edgetable/functions/edgetable/load"
)

// Overload describes a server that gets more requests than it can serve. Half of the requests are point reads, and
// half are durable writes. The measurements are in Results.
type Overload struct {
	Server string  `json:"server"`
	Peak   int     `json:"peak_connections"` // the smallest number of connections with which the server nearly reaches its highest rate
	Each   int     `json:"each"`             // number of connections of each account, except the greedy account, which has ten times as many
	Shares []Share `json:"shares"`
}

// Names of the measurements in which a server gets too many requests.
const (
	searching = "search"            // with several numbers of connections, to find the number with nearly the highest rate (the peak)
	atPeak    = "peak"              // with as many connections as the peak needs
	rude      = "retried at once"   // with four times as many connections as the peak needs; refused requests are retried at once
	polite    = "retried when told" // with four times as many connections as the peak needs; refused requests are retried after Retry-After
	control   = "control"           // inserts on the ceiling server that does nothing
	alone     = "alone"             // one account alone, with as many connections as it has when several accounts share the server
)

// Limits that a server with too many requests must meet.
const (
	overload4x  = 4   // number of connections, as a multiple of the number that the peak rate needs
	minGoodput  = 0.8 // minimum rate, as a share of the rate at the peak
	maxLateness = 3   // maximum p99 of served requests, as a multiple of the p99 at the peak
	minShare    = 0.8 // minimum rate of an account, divided by the smaller of two rates: an equal share, and the account's rate when it is alone
	greedyTimes = 10  // connections of the greedy account, as a multiple of those of another account
	nearPeak    = 0.95
)

// searchConnections lists the numbers of connections to try for the peak.
var searchConnections = []int{4, 8, 16, 32, 64, 128}

// overload measures edgetable servers that get too many requests. It also measures a server that does nothing (a
// ceiling server). If the p99 of this server increases as well, the increase comes from the client or the shared
// machine.
func (s *suite) overload(ctx context.Context) error {
	for _, c := range s.servers(Memory, Edgetable) {
		o := &Overload{Server: c.name}
		s.res.Overloads = append(s.res.Overloads, o)
		if err := s.findPeak(ctx, c, o); err != nil {
			return err
		}
		if err := s.overloaded(ctx, c, o); err != nil {
			return err
		}
		if err := s.shared(ctx, c, o); err != nil {
			return err
		}
	}
	return nil
}

func (s *suite) mixed(ctx context.Context, c *child, connections int, how string, d time.Duration) error {
	settle(ctx, s.Settle, c)
	spec := load.Spec{Target: c.target, Table: pointTable, Op: load.Mixed, Layout: pointLayout, Connections: connections,
		Warmup: s.BusyCell / 4, Duration: d, Refused: load.AtOnce}
	switch {
	case c.ceiling():
		spec.Op = load.Insert
	case how == polite:
		spec.Refused = load.Waits
	}
	return s.attempt(ctx, c, spec, how, false)
}

func (s *suite) findPeak(ctx context.Context, c *child, o *Overload) error {
	for range s.Rounds {
		for _, n := range searchConnections {
			if err := s.mixed(ctx, c, n, searching, s.BusyCell); err != nil {
				return err
			}
		}
	}
	o.Peak = s.res.peak(c.name)
	s.progress("%s: peak with %d connections", c.name, o.Peak)
	return nil
}

// peak returns the smallest number of connections with which a server nearly reached its highest rate.
func (r *Results) peak(server string) int {
	rate := func(n int) float64 {
		if m := r.find(Cell{server, load.Mixed, n, searching}); m != nil {
			return m.Median.OpsPerSecond
		}
		return 0
	}
	var most float64
	for _, n := range searchConnections {
		most = max(most, rate(n))
	}
	for _, n := range searchConnections {
		if rate(n) >= nearPeak*most {
			return n
		}
	}
	return searchConnections[0]
}

// overloaded measures a server in alternation: with as many connections as its peak needs, and with four times as many.
// A client that obeys Retry-After sleeps for a second after each refusal. So measurements of such clients are longer,
// and there are fewer of them.
func (s *suite) overloaded(ctx context.Context, c *child, o *Overload) error {
	for round := range 2 * s.Rounds {
		if err := s.mixed(ctx, c, o.Peak, atPeak, s.BusyCell); err != nil {
			return err
		}
		if err := s.mixed(ctx, c, overload4x*o.Peak, rude, s.BusyCell); err != nil {
			return err
		}
		if round < s.Rounds {
			if err := s.mixed(ctx, c, overload4x*o.Peak, polite, 2*s.BusyCell+time.Second); err != nil {
				return err
			}
		}
		for _, null := range s.servers(CeilingNull) {
			for _, n := range []int{o.Peak, overload4x * o.Peak} {
				if err := s.mixed(ctx, null, n, control, s.BusyCell/2); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// overloads returns the checks of a server with too many requests. It compares the measurements that
// the method overload made with their limits.
func (r *Results) overloads() (list []Check) {
	for _, server := range []string{Memory, Edgetable} {
		o := &Overload{Server: server}
		for _, found := range r.Overloads {
			if found.Server == server {
				o = found
			}
		}
		peak := r.find(Cell{server, load.Mixed, o.Peak, atPeak})
		for _, how := range []string{rude, polite} {
			over := r.find(Cell{server, load.Mixed, overload4x * o.Peak, how})
			goodput := Check{What: fmt.Sprintf("%s, mixed, 4x connections, refusals %s: served against the peak", server, how),
				Target: fmt.Sprintf("≥%gx", minGoodput), Status: Unmeasured}
			late := Check{What: fmt.Sprintf("%s, mixed, 4x connections, refusals %s: p99 against the peak", server, how),
				Target: fmt.Sprintf("≤%dx", maxLateness), Status: Unmeasured}
			goodput.pair(over, peak, func(s Sample) float64 { return s.OpsPerSecond }, perSecond, func(r float64) bool { return r >= minGoodput })
			late.pair(over, peak, func(s Sample) float64 { return float64(s.P99) }, duration, func(r float64) bool { return r <= maxLateness })
			list = append(list, goodput, late)
		}
		list = append(list, r.fair(o))
	}
	return list
}
