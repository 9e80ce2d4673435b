package scan

import "time"

// probeShare is the minimum ratio of reading time to probe delays. A probe is a query for a key at which to divide a
// range. A probe that is slower than the quickest probe indicates contention. The difference between the two is the
// delay of the probe.
const probeShare = 32

// probeCost limits the delays of probes in relation to the reading time, see probeShare.
type probeCost struct {
	readers  int           // number of ranges that are being read
	read     time.Duration // total reading time of all readers, up to the time in since
	since    time.Time     // time at which the number of readers last changed
	quickest time.Duration // duration of the quickest probe
	waited   time.Duration // total delay of the probes; the delay of a probe is its duration minus quickest
}

// addReaders adds n, which may be negative, to the number of readers.
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

// untilNextProbe returns how long to wait before the next probe. If the result is not positive, the probe may be sent
// now.
func (c *probeCost) untilNextProbe() time.Duration {
	return (probeShare*c.waited - c.reading()) / time.Duration(max(c.readers, 1))
}
