package suite

import (
	"slices"
	"time"

	"edgetable/functions/edgetable/load"
)

// Names of the servers in results. The names of ceilings (servers that do as little as possible) have the same
// prefix.
const (
	Edgetable    = "edgetable"
	Memory       = "edgetable --memory"
	Azurite      = "azurite"
	CeilingNull  = "ceiling null"
	CeilingWrite = "ceiling write"
	CeilingRead  = "ceiling read"
	CeilingPage  = "ceiling page"

	ceilingPrefix = "ceiling"
)

// Cell identifies one measurement: a server, a workload and a number of connections.
type Cell struct {
	Server      string  `json:"server"`
	Op          load.Op `json:"op"`
	Connections int     `json:"connections"`
	How         string  `json:"how,omitempty"` // name of a special measurement, such as Atom; "" for a workload of the part Matrix
}

// Sample is the result of one measurement of a cell (a server, a workload and a number of connections). A cell
// is measured several times. Durations are in nanoseconds in JSON.
type Sample struct {
	OpsPerSecond      float64       `json:"ops_per_second"`
	EntitiesPerSecond float64       `json:"entities_per_second"`
	P50               time.Duration `json:"p50_ns"`
	P99               time.Duration `json:"p99_ns"`
	Max               time.Duration `json:"max_ns"`
	Errors            uint64        `json:"errors"`
	Refused           float64       `json:"refused_per_second,omitempty"` // number of 503 responses
	CPU               time.Duration `json:"server_cpu_ns"`                // server's processor time per request; 0 if unknown
	Foreign           float64       `json:"foreign"`                      // share of all processors that other programs used
}

// Measured has all measurements of a cell (in the field Rounds), and their median. A measurement is quiet if
// other programs used at most a tenth of the processors during this time. The fields of Median are medians of
// the quiet measurements. If no measurement was quiet, Median uses all of them. The number of errors in Median
// is the sum over all measurements.
type Measured struct {
	Cell
	Median Sample   `json:"median"`
	Rounds []Sample `json:"rounds"`
}

// Start holds the times from start to first response; zero if not measured.
type Start struct {
	Bytes int64         `json:"entity_bytes"` // size of the data as entity JSON
	Clean time.Duration `json:"clean_ns"`     // median time from a start to the first response, after clean stops
	Crash time.Duration `json:"crash_ns"`     // longest time from a start to the first response, after crashes
}

// PageCost compares the median latency of a page from a small and from a large table.
type PageCost struct {
	SmallRows, LargeRows int
	Small, Large         time.Duration
}

// Results holds everything that a suite measured.
type Results struct {
	Cells      []*Measured   `json:"cells"`
	Start      Start         `json:"start"`
	Page       PageCost      `json:"page"`
	Overloads  []*Overload   `json:"overloads"`
	PeakRSS    int64         `json:"peak_rss_bytes"`
	CacheBytes int64         `json:"block_cache_bytes"`
	BinarySize int64         `json:"binary_bytes"`
	BatchFor   time.Duration `json:"batch_duration_ns"`
	FsyncP50   time.Duration `json:"fsync_p50_ns"` // median duration of a sync of the disk, measured several times during the run
	FsyncP99   time.Duration `json:"fsync_p99_ns"`
	Problems   []string      `json:"problems"` // failed requests, and cells (single measurements) that could not be done

	fsyncs [][2]time.Duration
}

// Find returns a measured cell of the matrix, or nil.
func (r *Results) Find(server string, op load.Op, connections int) *Measured {
	return r.find(Cell{Server: server, Op: op, Connections: connections})
}

func (r *Results) find(c Cell) *Measured {
	for _, m := range r.Cells {
		if m.Cell == c {
			return m
		}
	}
	return nil
}

// Add adds one measurement to a cell (all measurements of one kind), and updates the median of the cell.
func (r *Results) Add(c Cell, s Sample) {
	m := r.find(c)
	if m == nil {
		m = &Measured{Cell: c}
		r.Cells = append(r.Cells, m)
	}
	m.Rounds = append(m.Rounds, s)
	errors := m.Median.Errors + s.Errors
	quiet := m.quiet()
	m.Median = Sample{
		OpsPerSecond:      median(quiet, func(s Sample) float64 { return s.OpsPerSecond }),
		EntitiesPerSecond: median(quiet, func(s Sample) float64 { return s.EntitiesPerSecond }),
		P50:               median(quiet, func(s Sample) time.Duration { return s.P50 }),
		P99:               median(quiet, func(s Sample) time.Duration { return s.P99 }),
		Max:               median(quiet, func(s Sample) time.Duration { return s.Max }),
		Errors:            errors,
		Refused:           median(quiet, func(s Sample) float64 { return s.Refused }),
		CPU:               median(quiet, func(s Sample) time.Duration { return s.CPU }),
		Foreign:           median(quiet, func(s Sample) float64 { return s.Foreign }),
	}
}

// The constant noisy is a part of the machine's processor time. If other programs use more than this part during
// a measurement, its result means little.
const noisy = 0.1

// quiet returns the measurements during which other programs used little processor time (see noisy). If there is no
// such measurement, it returns all of them.
func (m *Measured) quiet() []Sample {
	var list []Sample
	for _, s := range m.Rounds {
		if s.Foreign <= noisy {
			list = append(list, s)
		}
	}
	if len(list) == 0 {
		return m.Rounds
	}
	return list
}

// paired compares a field of two kinds of measurement, a and b. The suite measures them in alternation, so a
// disturbance of the machine affects both measurements of a pair. For each pair, paired divides the value of a by the
// value of b. The result is the median of these quotients, or 0 if there is no pair.
func paired[T ~int64 | ~float64](a, b *Measured, field func(Sample) T) float64 {
	var ratios []float64
	for i := range min(len(a.Rounds), len(b.Rounds)) {
		if x, y := field(a.Rounds[i]), field(b.Rounds[i]); x > 0 && y > 0 {
			ratios = append(ratios, float64(x)/float64(y))
		}
	}
	if len(ratios) == 0 {
		return 0
	}
	return median(ratios, func(r float64) float64 { return r })
}

// Foreign returns the share of the processors that other programs used during measurements: the median and the
// maximum.
func (r *Results) Foreign() (mid, worst float64) {
	var all []Sample
	for _, m := range r.Cells {
		all = append(all, m.Rounds...)
	}
	if len(all) == 0 {
		return 0, 0
	}
	share := func(s Sample) float64 { return s.Foreign }
	for _, s := range all {
		worst = max(worst, share(s))
	}
	return median(all, share), worst
}

func (r *Results) addFsync(p50, p99 time.Duration) {
	r.fsyncs = append(r.fsyncs, [2]time.Duration{p50, p99})
	r.FsyncP50 = median(r.fsyncs, func(d [2]time.Duration) time.Duration { return d[0] })
	r.FsyncP99 = median(r.fsyncs, func(d [2]time.Duration) time.Duration { return d[1] })
}

// median returns the median of a field; for an even number of elements, the mean of the middle two.
func median[E any, T ~int64 | ~float64](list []E, field func(E) T) T {
	values := make([]T, 0, len(list))
	for _, e := range list {
		values = append(values, field(e))
	}
	slices.Sort(values)
	return (values[(len(values)-1)/2] + values[len(values)/2]) / 2
}
