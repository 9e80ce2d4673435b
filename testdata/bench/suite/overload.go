package suite

import (
	"context"
	"fmt"
	"time"

	"edgetable/functions/edgetable/load"
)

// Overload is what a server does when it is asked for more than it can do: half point reads, half durable writes. The
// cells are in the Results.
type Overload struct {
	Server string  `json:"server"`
	Peak   int     `json:"peak_connections"` // the fewest with which the server does about its most
	Each   int     `json:"each"`             // connections of every account but the greedy one, which has ten times as many
	Shares []Share `json:"shares"`
}

// What the cells of an overload are called.
const (
	searching = "search"            // for the peak
	atPeak    = "peak"              // with the connections of the peak
	rude      = "retried at once"   // four times as many; a request that was refused is sent again at once
	polite    = "retried when told" // the same, after the time that Retry-After says
	control   = "control"           // inserts on the ceiling
	alone     = "alone"             // the connections of one of several accounts
)

// Limits of an overload.
const (
	overload4x  = 4   // times the connections of the peak
	minGoodput  = 0.8 // of the rate at the peak
	maxLateness = 3   // times the p99 at the peak; of served requests
	minShare    = 0.8 // of an equal share, or of what an account gets alone
	greedyTimes = 10  // connections of the greedy account over those of another
	nearPeak    = 0.95
)

// searchConnections are tried for the peak.
var searchConnections = []int{4, 8, 16, 32, 64, 128}

// overload measures the servers of edgetable. The ceiling that does nothing is a control: what happens to its p99 is the
// doing of the client and of the machine they share.
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

// peak is the fewest connections with which a server came near its highest rate.
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

// overloaded takes turns between the peak and four times the connections. Polite clients sleep for a second when they
// are refused, so they take longer to measure and are measured less often.
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

// overloads judges.
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
