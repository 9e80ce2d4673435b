package load

import (
	"sync"
	"sync/atomic"
	"time"

	"edgetable/functions/edgetable/load/hist"
)

// Sender sends the requests of one worker, one at a time.
type Sender interface {
	// Send sends a request and waits for the response. The second result is false if no request is left.
	Send() (a Answer, more bool)
}

// Answer is the outcome of a request.
type Answer struct {
	Sent, Done time.Time
	Entities   int // number of entities written or returned
	Err        error
	Broken     bool // the connection is broken and the worker must stop
	Refused    bool // the response has status 503; the next Send retries the request
	Wait       time.Duration
}

// Result holds the counts of a measurement. Except for Errors, First and Answered, only responses within the measured
// time are counted.
type Result struct {
	Ops      uint64
	Entities uint64
	Errors   uint64
	First    error  // first error of a request
	Refusals uint64 // responses with status 503 that do not count as errors
	Answered uint64 // successful requests, including responses outside the measured time
	Elapsed  time.Duration
	Latency  hist.Histogram
}

// OpsPerSecond returns the rate of successful requests.
func (r *Result) OpsPerSecond() float64 { return rate(r.Ops, r.Elapsed) }

// EntitiesPerSecond returns the rate of entities written or returned.
func (r *Result) EntitiesPerSecond() float64 { return rate(r.Entities, r.Elapsed) }

func rate(n uint64, d time.Duration) float64 {
	if d <= 0 {
		return 0
	}
	return float64(n) / d.Seconds()
}

func (r *Result) add(o *Result) {
	r.Ops += o.Ops
	r.Entities += o.Entities
	r.Errors += o.Errors
	r.Refusals += o.Refusals
	r.Answered += o.Answered
	r.Latency.Merge(&o.Latency)
	if r.First == nil {
		r.First = o.First
	}
}

// Drive runs a worker for each sender until all requests are sent or one has failed.
func Drive(senders []Sender) *Result {
	w := window{strict: true}
	begin := time.Now()
	r := w.drive(senders)
	r.Elapsed = time.Since(begin)
	return r
}

// window is the measured time of a run. Workers start before it. Responses outside of it are not counted.
type window struct {
	open, shut time.Time // start and end of the measured time; the zero time for shut means no limit
	strict     bool      // the run stops after the first error
	stop       atomic.Bool
	exhausted  atomic.Int64 // time at which the first worker had no request left, in Unix nanoseconds; 0 before this time
}

// isOver reports whether workers must stop because the measured time has ended.
func (w *window) isOver(at time.Time) bool { return !w.shut.IsZero() && !at.Before(w.shut) }

// includes reports whether a response at the given time is counted.
func (w *window) includes(at time.Time) bool {
	return !at.Before(w.open) && (w.shut.IsZero() || !at.After(w.shut))
}

// drive runs a worker for each sender and returns the sum of their counts.
func (w *window) drive(senders []Sender) *Result {
	results := make([]Result, len(senders))
	var wg sync.WaitGroup
	for i, s := range senders {
		wg.Go(func() { w.work(s, &results[i]) })
	}
	wg.Wait()
	total := new(Result)
	for i := range results {
		total.add(&results[i])
	}
	return total
}

func (w *window) work(s Sender, res *Result) {
	for now := w.open; !w.stop.Load() && !w.isOver(now); {
		a, more := s.Send()
		if !more {
			w.exhausted.CompareAndSwap(0, time.Now().UnixNano())
			return
		}
		now = a.Done
		switch {
		case a.Refused:
			if w.includes(now) {
				res.Refusals++
			}
			wait := a.Wait
			if !w.shut.IsZero() {
				wait = min(wait, w.shut.Sub(now))
			}
			time.Sleep(wait)
			now = now.Add(wait)
		case a.Err != nil:
			res.Errors++
			if res.First == nil {
				res.First = a.Err
			}
			if w.strict {
				w.stop.Store(true)
			}
			if a.Broken {
				return
			}
		default:
			res.Answered++
			if w.includes(now) {
				res.Ops++
				res.Entities += uint64(a.Entities)
				res.Latency.Record(now.Sub(a.Sent))
			}
		}
	}
}
