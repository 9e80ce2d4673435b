package load

import (
	"fmt"
	"math/rand/v2"
	"sync/atomic"

	"edgetable/core/traffic"
)

// Shapes of a workload, by name.
const (
	Uniform = "uniform" // many partitions, all alike
	Zipf    = "zipf"    // many partitions, a few of them busy
	Append  = "append"  // new keys at the end of the table
)

// Workload makes requests with the shape of a table's traffic, or with a described
// shape. It is for one goroutine.
type Workload struct {
	random     *rand.Rand
	readShare  float64
	batchShare float64 // of the writes
	batchSize  int
	scanShare  float64 // of the reads
	appends    float64 // share of the inserts
	write      chooser
	read       chooser
	keys       *atomic.Int64 // numbers the new keys of all workers
	written    []Request     // some of the last
}

// Request is one request of a workload.
type Request struct {
	Write                bool
	Query                bool // of a whole partition
	PartitionKey, RowKey string
	Entities             int // of a batch
}

// chooser chooses partitions.
type chooser func() string

// Describe returns a workload with a described shape.
func Describe(shape string, worker int, keys *atomic.Int64, readShare float64, partitions int) *Workload {
	w := &Workload{keys: keys, random: rand.New(rand.NewPCG(uint64(worker), 7)), readShare: readShare}
	w.write = func() string { return fmt.Sprintf("p%06d", w.random.IntN(partitions)) }
	switch shape {
	case Zipf:
		z := rand.NewZipf(w.random, 1.5, 1, uint64(partitions-1))
		w.write = func() string { return fmt.Sprintf("p%06d", z.Uint64()) }
	case Append:
		w.appends = 1
	}
	w.read = w.write
	return w
}

// Like returns a workload with the shape of a table's traffic: the same shares of
// reads, queries, batches and appends, and the same weights of partitions.
func Like(r *traffic.Report, worker int, keys *atomic.Int64) *Workload {
	t := &r.Totals
	w := &Workload{keys: keys, random: rand.New(rand.NewPCG(uint64(worker), 7))}
	w.readShare = share(t.Reads+t.Queries, t.WriteRequests)
	w.scanShare = share(t.Queries, t.Reads)
	w.batchShare = float64(t.Batches) / float64(max(t.WriteRequests, 1))
	w.batchSize = int(t.BatchEntities / max(t.Batches, 1))
	if t.Judged > 0 {
		w.appends = float64(max(t.AtEnd, t.AtStart)) / float64(t.Judged)
	}
	w.write = w.weighted(r.Partitions["writes"])
	w.read = w.weighted(r.Partitions["reads"])
	return w
}

func share(a, b uint64) float64 { return float64(a) / float64(max(a+b, 1)) }

// weighted chooses partitions as often as a list has them. Those that are not in the
// list are chosen evenly among a thousand others.
func (w *Workload) weighted(h traffic.Heavy) chooser {
	return func() string {
		if h.Total == 0 {
			return fmt.Sprintf("other-%04d", w.random.IntN(1000))
		}
		n := w.random.Uint64N(h.Total)
		for i := range h.Entries {
			e := &h.Entries[i]
			if sure := e.Count - e.Error; n < sure {
				return e.Partition
			} else {
				n -= sure
			}
		}
		return fmt.Sprintf("other-%04d", w.random.IntN(1000))
	}
}

// Next returns the next request. A read is of an entity that this workload wrote.
func (w *Workload) Next() Request {
	if w.random.Float64() < w.readShare && len(w.written) > 0 {
		if w.random.Float64() < w.scanShare {
			return Request{Query: true, PartitionKey: w.read()}
		}
		pk := w.read()
		for range 8 { // an entity in that partition, if one is known
			if r := w.written[w.random.IntN(len(w.written))]; r.PartitionKey == pk {
				return Request{PartitionKey: pk, RowKey: r.RowKey}
			}
		}
		return w.recent()
	}
	n := w.keys.Add(1)
	r := Request{Write: true, Entities: 1, PartitionKey: w.write(), RowKey: fmt.Sprintf("%08x-%010d", w.random.Uint32(), n)}
	if w.random.Float64() < w.appends {
		r.PartitionKey = fmt.Sprintf("zzz-%010d", n)
	}
	if w.random.Float64() < w.batchShare {
		r.Entities = min(max(w.batchSize, 1), 100)
	}
	if len(w.written) < 1000 {
		w.written = append(w.written, r)
	} else {
		w.written[w.random.IntN(1000)] = r
	}
	return r
}

func (w *Workload) recent() Request {
	r := w.written[w.random.IntN(len(w.written))]
	return Request{PartitionKey: r.PartitionKey, RowKey: r.RowKey}
}
