package scan

import (
	"context"
	"time"

	"edgetable/adapters/client/remote"
	"edgetable/functions/edgetable/transfer/ranges"
)

// probeShare is the minimum ratio of reading time to the extra waiting time of probes.
// (Probes search for a key at which a range can be divided.) Probes wait for other
// requests when a service is at its limit. One example is Azurite, which answers one
// request at a time and reads the whole table for a probe. A distant service also
// answers slowly, but there other requests do not wait meanwhile.
const probeShare = 32

// probeCost compares the waiting time of probes with the reading time.
type probeCost struct {
	readers  int           // number of ranges being read
	read     time.Duration // reading time of all readers until since
	since    time.Time
	quickest time.Duration // duration of the quickest probe
	waited   time.Duration // duration of all probes beyond the quickest
}

// active records that n readers begin, or end if n is negative.
func (c *probeCost) active(n int) {
	c.read, c.since = c.reading(), time.Now()
	c.readers += n
}

func (c *probeCost) reading() time.Duration {
	return c.read + time.Duration(c.readers)*time.Since(c.since)
}

// took records the duration of a probe.
func (c *probeCost) took(d time.Duration) {
	if c.quickest == 0 || d < c.quickest {
		c.quickest = d
	}
	c.waited += d - c.quickest
}

// due returns how long to wait until the next probe may be sent.
func (c *probeCost) due() time.Duration {
	return (probeShare*c.waited - c.reading()) / time.Duration(max(c.readers, 1))
}

// probe waits until the readers have read for long enough, and then sends a query for
// one key.
func (s *scan) probe(ctx context.Context, q remote.Query) (ranges.Key, bool, error) {
	stop := context.AfterFunc(ctx, s.wake)
	defer stop()
	s.mu.Lock()
	for ctx.Err() == nil {
		due := s.cost.due()
		if due <= 0 {
			break
		}
		timer := time.AfterFunc(due, s.wake)
		s.change.Wait()
		timer.Stop()
	}
	s.mu.Unlock()
	began := time.Now()
	k, ok, err := s.find(ctx, q)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cost.took(time.Since(began))
	return k, ok, err
}
