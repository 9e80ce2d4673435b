package main

import (
	"testing"
	"time"

	"edgetable/adapters/setting"
	"edgetable/core/edm"
)

// TestLimiter checks that two servers share one counter: a token that one server takes is not available to the other.
func TestLimiter(t *testing.T) {
	t.Parallel()
	now := edm.Ticks(1000 * edm.TicksPerSecond)
	c := &config{rates: setting.Rates{Account: 2}, failures: 1}
	all := counter{config: c, now: func() edm.Ticks { return now }}
	h := host{now: all.now, limit: all.takeTokens}
	if h.limiter(c, partitionLimit) != nil {
		t.Error("there is a limit of partitions")
	}
	first, second := h.limiter(c, accountLimit), h.limiter(c, accountLimit)
	if first.Take("acme", 1) != 0 || second.Take("acme", 1) != 0 {
		t.Error("the rate is not reached yet")
	}
	for _, l := range []struct {
		wait time.Duration
		why  string
	}{
		{first.Take("acme", 1), "taken"},
		{second.Peek("acme"), "looked at"},
	} {
		if l.wait != 500*time.Millisecond {
			t.Errorf("%s: to be waited for %v", l.why, l.wait)
		}
	}
	if wait := h.limiter(c, failureLimit).Take("acme", 1); wait != 0 {
		t.Errorf("another limit has to wait for %v", wait)
	}
	h.limiter(c, failureLimit).Charge("acme", 15)
	if wait := h.limiter(c, failureLimit).Peek("acme"); wait != 7*time.Second {
		t.Errorf("after the fact: to be waited for %v", wait)
	}
	h.limit = nil
	if wait := h.limiter(c, accountLimit).Take("acme", 1); wait != 0 {
		t.Errorf("who counts for itself has to wait for %v", wait)
	}
}
