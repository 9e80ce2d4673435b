package scan

import (
	"context"
	"time"

	"edgetable/adapters/client/remote"
	"edgetable/functions/edgetable/transfer/ranges"
)

// probeShare is the minimum ratio of the time for reading to the extra time of probes. A probe is a
// query for a key at which a range can be divided. The extra time of a probe is its duration minus
// the duration of the quickest probe. It is the time for which the probe waits for other requests
// at a busy service. An example is Azurite, which answers one request at a time and reads the whole
// table for a probe. A distant service also answers slowly, but there probes do not delay other
// requests.
const probeShare = 32

// probeCost compares the extra time of probes with the time for reading, see probeShare.
type probeCost struct {
	readers  int           // number of ranges being read
	read     time.Duration // total reading time of all readers until the time in the field since
	since    time.Time
	quickest time.Duration // duration of the quickest probe
	waited   time.Duration // sum of the extra times of all probes, see probeShare
}

// addReaders adds n to the number of readers. If n is negative, readers have ended.
func (c *probeCost) addReaders(n int) {
	c.read, c.since = c.reading(), time.Now()
	c.readers += n
}

func (c *probeCost) reading() time.Duration {
	return c.read + time.Duration(c.readers)*time.Since(c.since)
}

func (c *probeCost) recordProbe(d time.Duration) {
	if c.quickest == 0 || d < c.quickest {
		c.quickest = d
	}
	c.waited += d - c.quickest
}

// untilNextProbe returns the time after which the next probe may be sent.
func (c *probeCost) untilNextProbe() time.Duration {
	return (probeShare*c.waited - c.reading()) / time.Duration(max(c.readers, 1))
}

// probe waits until the readers have read long enough for another probe. Then it sends the query q,
// which returns one key.
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
