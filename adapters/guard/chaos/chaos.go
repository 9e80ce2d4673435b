package chaos

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"edgetable/core/protocol"
	"edgetable/core/table"
)

// Chaos applies rules. It is a [protocol.Gate], and [Chaos.Store] makes a store follow the rules. It is safe for
// concurrent use.
type Chaos struct {
	mu    sync.Mutex
	rules []active
	// deleted contains the time until which the name of each deleted table cannot be used again.
	deleted map[table.RecordKey]time.Time
}

// active is one of the applied rules, with its random number generator and its counters.
type active struct {
	Rule
	random          *rand.Rand
	matched, struck int
}

var _ protocol.Gate = (*Chaos)(nil)

// New returns a Chaos that applies the given rules. [Parse] parses rules.
func New(rules []Rule) *Chaos {
	c := &Chaos{rules: make([]active, len(rules)), deleted: make(map[table.RecordKey]time.Time)}
	for i, r := range rules {
		c.rules[i] = active{Rule: r, random: rand.New(rand.NewPCG(max(r.Seed, 1), uint64(i)))}
	}
	return c
}

// Admit delays a request or returns an error, as the rules say. The message of an error response names the rule, so
// that nobody looks for another cause.
func (c *Chaos) Admit(ctx context.Context, a *protocol.Access) error {
	latency, fault := c.applyRules(a)
	if latency > 0 {
		select {
		case <-time.After(latency):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return fault
}

// applyRules returns the total latency that the rules cause for a request, and the error of the first fault.
func (c *Chaos) applyRules(a *protocol.Access) (latency time.Duration, fault error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := range c.rules {
		r := &c.rules[i]
		if r.BeingDeleted > 0 || !r.strikes(a) {
			continue
		}
		if from, to := r.Latency[0], r.Latency[1]; to > 0 {
			latency += from + time.Duration(r.random.Int64N(int64(to-from)+1))
		}
		switch r.Fault {
		case InternalError:
			return latency, r.explain(table.InternalError.Err())
		case ServerBusy:
			return latency, r.explain(table.ServerBusy.Err())
		case Reset:
			return latency, protocol.ErrCut
		case LostReply:
			return latency, protocol.ErrCutAfter
		}
	}
	return latency, nil
}

// strikes returns true if the rule affects a request, and updates the counters of the rule.
func (r *active) strikes(a *protocol.Access) bool {
	if !r.matches(a) {
		return false
	}
	r.matched++
	switch {
	case r.Count > 0 && r.struck == r.Count,
		r.Every > 0 && r.matched%r.Every != 0,
		r.Probability > 0 && r.random.Float64() >= r.Probability:
		return false
	}
	r.struck++
	return true
}

func (r *active) explain(err *table.Error) error {
	return err.Code.With(err.Message + " This fault is simulated by the chaos rule " + r.String())
}

// Count is the number of requests that matched a rule, and the number of requests that the rule affected.
type Count struct {
	Rule            string
	Matched, Struck int
}

func (c Count) String() string {
	return fmt.Sprintf("%s: affected %d of %d requests", c.Rule, c.Struck, c.Matched)
}

// Counts returns the counts of each rule. A server writes them to its log when it stops, and exports them as metrics.
func (c *Chaos) Counts() []Count {
	c.mu.Lock()
	defer c.mu.Unlock()
	counts := make([]Count, len(c.rules))
	for i := range c.rules {
		r := &c.rules[i]
		counts[i] = Count{r.String(), r.matched, r.struck}
	}
	return counts
}
