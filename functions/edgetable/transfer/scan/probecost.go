package scan

import (
	"context"
	"time"

	"edgetable/adapters/client/remote"
	"edgetable/functions/edgetable/transfer/ranges"
)

// probeShare is the minimum ratio between the time of reading and the extra time of probes. A probe
// is a query for a key at which a range can be divided. Its extra time is the time by which it
// exceeds the quickest probe: the time for which it waits for other requests at a busy service. An
// example is Azurite, which answers one request at a time and reads the whole table for a probe. A
// distant service also answers slowly, but its probes do not delay other requests.
const probeShare = 32

// probeCost compares the extra time of probes with the time of reading.
type probeCost struct {
	readers  int           // number of ranges being read
	read     time.Duration // total reading time of all readers up to the time since
	since    time.Time
	quickest time.Duration // duration of the quickest probe
	waited   time.Duration // sum of the extra times: by how much each probe exceeded the quickest
}

// active records that n more readers have begun or, if n is negative, that -n have ended.
func (c *probeCost) addReaders(n int) {
	c.read, c.since = c.reading(), time.Now()
	c.readers += n
}

func (c *probeCost) reading() time.Duration {
	return c.read + time.Duration(c.readers)*time.Since(c.since)
}

// recordProbe records the duration of a probe.
func (c *probeCost) recordProbe(d time.Duration) {
	if c.quickest == 0 || d < c.quickest {
		c.quickest = d
	}
	c.waited += d - c.quickest
}

// due returns the time until the next probe may be sent.
func (c *probeCost) untilNextProbe() time.Duration {
	return (probeShare*c.waited - c.reading()) / time.Duration(max(c.readers, 1))
}

// probe waits until the readers have read long enough for another probe. Then it sends the query
// for one key.
func (s *scan) probe(ctx context.Context, q remote.Query) (ranges.Key, bool, error) {
	stop := context.AfterFunc(ctx, s.wake)
	defer stop()
	s.mu.Lock()
	for ctx.Err() == nil {
		due := s.cost.untilNextProbe()
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
	s.cost.recordProbe(time.Since(began))
	return k, ok, err
}
