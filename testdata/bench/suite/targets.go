package suite

import (
	"fmt"
	"time"

	"edgetable/functions/edgetable/load"
)

// Status says whether a target (a required value) was met.
type Status string

// The values of Status. A target that was not measured does not count as met.
const (
	OK         Status = "ok"
	Miss       Status = "MISS"
	Unmeasured Status = "not measured"
)

// Check is one target with its measured value.
type Check struct {
	What     string  `json:"what"`
	Measured string  `json:"measured"`
	Against  string  `json:"against,omitempty"` // the value by which the measured value is divided, if the target is a ratio
	Ratio    float64 `json:"ratio,omitempty"`
	Target   string  `json:"target"`
	Status   Status  `json:"status"`
	// Must is true if a missed target makes the run fail on any machine. It is true for ratios of
	// measurements that were made in alternation, because such ratios hardly depend on the machine.
	Must bool `json:"must,omitempty"`
}

// Limits of edgetable itself, without a comparison to another server.
const (
	maxCleanStart = 100 * time.Millisecond
	maxCrashStart = time.Second
	maxRSS        = 256 << 20
	maxBinary     = 40_000_000
	maxPageGrowth = 1.5 // cost of a page in the large table relative to the small one
)

var writes = []load.Op{load.Insert, load.Upsert, load.Merge, load.Delete}

// Connections lists the numbers of connections with which the matrix is measured.
var Connections = []int{16, 64}

// overAzurite returns the minimum rate of a write operation, as a multiple of Azurite's rate.
func overAzurite(op load.Op, connections int) float64 {
	switch {
	case connections >= 64:
		return 9
	case op == load.Merge || op == load.Delete:
		return 5
	}
	return 6
}

// Checks compares the results with all targets (required values, such as a minimum rate). It is a pure
// function of the results.
func Checks(r *Results) []Check {
	var list []Check
	ops := func(s Sample) float64 { return s.OpsPerSecond }
	entities := func(s Sample) float64 { return s.EntitiesPerSecond }
	for _, n := range Connections {
		for _, op := range writes {
			list = append(list,
				r.ratio(Edgetable, op, n, CeilingWrite, load.Insert, ops, "ops/s", 0.75),
				r.ratio(Edgetable, op, n, Azurite, op, ops, "ops/s", overAzurite(op, n)),
				r.ratio(Memory, op, n, Azurite, op, ops, "ops/s", 10))
		}
		list = append(list,
			r.ratio(Edgetable, load.Get, n, CeilingRead, load.Get, ops, "ops/s", 0.75),
			r.ratio(Edgetable, load.Get, n, Azurite, load.Get, ops, "ops/s", 15))
	}
	n := Connections[0]
	list = append(list,
		r.ratio(Edgetable, load.Query, n, Azurite, load.Query, entities, "entities/s", 15),
		r.ratio(Edgetable, load.Scan, n, Azurite, load.Scan, entities, "entities/s", 15))
	batch := r.ratio(Edgetable, load.Batch, n, Azurite, load.Batch, entities, "entities/s", 6)
	batch.What += fmt.Sprintf(", sustained for %v", r.BatchFor)
	list = append(list, batch)
	for _, n := range Connections {
		for _, op := range append(writes[:len(writes):len(writes)], load.Get) {
			list = append(list, r.tail(Edgetable, op, n))
		}
	}
	for _, op := range []load.Op{load.Query, load.Scan, load.Batch} {
		list = append(list, r.tail(Edgetable, op, n))
	}
	list = append(list, r.promised()...)
	list = append(list, r.costs()...)
	list = append(list, r.declarations()...)
	list = append(list, r.overloads()...)
	list = append(list, r.fairly()...)
	return append(list, r.alone()...)
}

// ratio compares the rates of two measurements (cells) with the same number of connections.
func (r *Results) ratio(server string, op load.Op, n int, other string, otherOp load.Op, rate func(Sample) float64, unit string, want float64) Check {
	c := Check{What: fmt.Sprintf("%s, %s, %d connections, against %s", server, op, n, other), Status: Unmeasured}
	c.Target = fmt.Sprintf("≥%gx", want)
	a, b := r.Find(server, op, n), r.Find(other, otherOp, n)
	if a != nil {
		c.Measured = fmt.Sprintf("%.0f %s", rate(a.Median), unit)
	}
	if b != nil {
		c.Against = fmt.Sprintf("%.0f %s", rate(b.Median), unit)
	}
	if a == nil || b == nil || rate(b.Median) == 0 {
		return c
	}
	c.Ratio = rate(a.Median) / rate(b.Median)
	c.Status = met(c.Ratio >= want && a.Median.Errors == 0)
	return c
}

// tail checks that the p99 of a server is at most a fifth of Azurite's p99.
func (r *Results) tail(server string, op load.Op, n int) Check {
	c := Check{What: fmt.Sprintf("%s, %s, %d connections, p99 against %s", server, op, n, Azurite), Target: "≤0.2x", Status: Unmeasured}
	a, b := r.Find(server, op, n), r.Find(Azurite, op, n)
	if a != nil {
		c.Measured = short(a.Median.P99)
	}
	if b != nil {
		c.Against = short(b.Median.P99)
	}
	if a == nil || b == nil || b.Median.P99 == 0 {
		return c
	}
	c.Ratio = float64(a.Median.P99) / float64(b.Median.P99)
	c.Status = met(c.Ratio <= 0.2 && a.Median.Errors == 0)
	return c
}

// alone returns the checks of values that are measured for edgetable only, without another server for comparison.
func (r *Results) alone() []Check {
	size := fmt.Sprintf("%.1f GB", float64(r.Start.Bytes)/1e9)
	clean := Check{What: "start to first answer after a clean stop, " + size + " of data", Target: "≤" + short(maxCleanStart), Status: Unmeasured}
	if r.Start.Clean > 0 {
		clean.Measured, clean.Status = short(r.Start.Clean), met(r.Start.Clean <= maxCleanStart)
	}
	crash := Check{What: "start to first answer after SIGKILL under load, " + size + " of data", Target: "≤" + short(maxCrashStart), Status: Unmeasured}
	if r.Start.Crash > 0 {
		crash.Measured, crash.Status = short(r.Start.Crash), met(r.Start.Crash <= maxCrashStart)
	}
	page := Check{What: fmt.Sprintf("p50 of a page of %d rows against one of %d rows", r.Page.LargeRows, r.Page.SmallRows),
		Target: fmt.Sprintf("≤%gx", maxPageGrowth), Status: Unmeasured}
	if r.Page.Small > 0 && r.Page.Large > 0 {
		page.Measured, page.Against = short(r.Page.Large), short(r.Page.Small)
		page.Ratio = float64(r.Page.Large) / float64(r.Page.Small)
		page.Status = met(page.Ratio <= maxPageGrowth)
	}
	rss := Check{What: fmt.Sprintf("peak resident memory under load beside a block cache of %d MiB", r.CacheBytes>>20),
		Target: fmt.Sprintf("≤%d MiB", maxRSS>>20), Status: Unmeasured}
	if r.PeakRSS > 0 {
		beside := r.PeakRSS - r.CacheBytes
		rss.Measured, rss.Status = fmt.Sprintf("%d MiB", beside>>20), met(beside <= maxRSS)
	}
	binary := Check{What: "size of the binary", Target: fmt.Sprintf("≤%d MB", maxBinary/1_000_000), Status: Unmeasured}
	if r.BinarySize > 0 {
		binary.Measured, binary.Status = fmt.Sprintf("%.1f MB", float64(r.BinarySize)/1e6), met(r.BinarySize <= maxBinary)
	}
	return []Check{clean, crash, page, rss, binary}
}

func met(ok bool) Status {
	if ok {
		return OK
	}
	return Miss
}

// short converts a duration to a text with three digits.
func short(d time.Duration) string {
	unit := time.Nanosecond
	for d/unit >= 1000 {
		unit *= 10
	}
	return d.Round(unit).String()
}
