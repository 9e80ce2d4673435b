package transfer

import (
	"context"
	"time"

	"edgetable/functions/edgetable/remote"
)

// probeShare is how much longer a table is read than is searched for keys to divide
// it. Some services, such as Azurite, read the whole table for each query, one query
// at a time.
const probeShare = 16

// probeCost compares the time of probes with that of reading.
type probeCost struct {
	readers int           // parts that are read
	read    time.Duration // until since, of all readers
	since   time.Time
	probed  time.Duration
}

// active notes that a reader begins or ends.
func (c *probeCost) active(n int) {
	c.read, c.since = c.reading(), time.Now()
	c.readers += n
}

func (c *probeCost) reading() time.Duration {
	return c.read + time.Duration(c.readers)*time.Since(c.since)
}

// due returns how long it takes until a probe may be sent.
func (c *probeCost) due() time.Duration {
	return (probeShare*c.probed - c.reading()) / time.Duration(max(c.readers, 1))
}

// probe sends a query for one key when the readers have been at work for long
// enough.
func (s *scan) probe(ctx context.Context, q remote.Query) (Key, bool, error) {
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
	k, ok, err := probes(s.c, s.table)(ctx, q)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cost.probed += time.Since(began)
	return k, ok, err
}
