package scan

import (
	"context"
	"time"

	"edgetable/adapters/client/remote"
	"edgetable/functions/edgetable/transfer/ranges"
)

// probeShare is how much longer a table is read than probes for keys to divide it
// wait for other requests. Such a service is at its limit, as Azurite is, which
// answers one request at a time and reads the whole table for it. Far services
// answer late, too, but others do not wait meanwhile.
const probeShare = 32

// probeCost compares the time that probes wait with that of reading.
type probeCost struct {
	readers  int           // ranges that are read
	read     time.Duration // time that all readers have spent, until since
	since    time.Time
	quickest time.Duration // of the probes
	waited   time.Duration // of all probes, beyond the quickest
}

// active notes that a reader begins or ends.
func (c *probeCost) active(n int) {
	c.read, c.since = c.reading(), time.Now()
	c.readers += n
}

func (c *probeCost) reading() time.Duration {
	return c.read + time.Duration(c.readers)*time.Since(c.since)
}

// took notes how long a probe took.
func (c *probeCost) took(d time.Duration) {
	if c.quickest == 0 || d < c.quickest {
		c.quickest = d
	}
	c.waited += d - c.quickest
}

// due returns how long it takes until a probe may be sent.
func (c *probeCost) due() time.Duration {
	return (probeShare*c.waited - c.reading()) / time.Duration(max(c.readers, 1))
}

// probe sends a query for one key when the readers have been at work for long
// enough.
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
