package scan

import "time"

// probeShare is the minimum ratio of the time for reading to the extra time of probes. A probe is a
// query for a key at which a range can be divided. The extra time of a probe is its duration minus
// the duration of the quickest probe. It is the time for which the probe waits for other requests
// at a busy service. An example is Azurite, which answers one request at a time and reads the whole
// table for a probe. A distant service also answers slowly, but there probes do not delay other
// requests.
const probeShare = 32

// probeCost compares the time for reading a table with the extra time of probes. A probe is a query
// for a key at which a range can be divided. The comment of probeShare explains the extra time.
type probeCost struct {
	readers  int           // number of ranges being read
	read     time.Duration // sum of the times for which the readers have read, up to the last change of their number
	since    time.Time     // time of the last change of the number of readers
	quickest time.Duration // duration of the quickest probe
	waited   time.Duration // sum over all probes of the extra time: the duration minus the duration of the quickest probe
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

// untilNextProbe returns the duration to wait before the next query for a key at which a range can be
// divided. If the duration is not positive, the query may be sent at once.
func (c *probeCost) untilNextProbe() time.Duration {
	return (probeShare*c.waited - c.reading()) / time.Duration(max(c.readers, 1))
}
