package load

import (
	"sync"
	"sync/atomic"
	"time"

	"edgetable/functions/edgetable/load/hist"
)

// Sender sends the requests of one worker, one after another.
type Sender interface {
	// Send sends a request and waits for its response. more is false if no request was left to
	// send.
	Send() (a Answer, more bool)
}

// Answer is the outcome of one request.
type Answer struct {
	Sent, Done time.Time
	Entities   int // number of entities written or returned
	Err        error
	Broken     bool          // the connection is broken, so the worker stops
	Refused    bool          // the server answered 503; the next Send repeats the request
	Wait       time.Duration // time to wait before the request is repeated
}

// Result holds the counts of a measurement. Most fields only count requests whose response arrived
// in the measured time.
type Result struct {
	Ops      uint64
	Entities uint64
	Errors   uint64
	First    error  // the error of the first failed request
	Refusals uint64 // number of 503 responses, unless they count as errors
	Answered uint64 // number of successful requests, also before and after the measured time
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

// add increases the counts in r by the counts of another worker, which are in o.
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

// Drive runs one worker for each sender. It returns when all senders have sent all their requests,
// or after the first failed request.
func Drive(senders []Sender) *Result {
	w := window{strict: true}
	begin := time.Now()
	r := w.drive(senders)
	r.Elapsed = time.Since(begin)
	return r
}

// window is the measured time of a run. Workers start at once, but responses that arrive outside of
// the measured time are not counted.
type window struct {
	open, shut time.Time // begin and end of the measured time; the end is the zero time if the run has no time limit
	strict     bool      // the first error ends the run
	stop       atomic.Bool
	exhausted  atomic.Int64 // when the first worker had no request left to send, in Unix nanoseconds; 0 before that
}

// over reports whether the measured time has ended at the given time. After the end,
// workers send no further requests.
func (w *window) over(at time.Time) bool { return !w.shut.IsZero() && !at.Before(w.shut) }

// counts reports whether the measurement includes a response that arrived at the given time.
func (w *window) counts(at time.Time) bool {
	return !at.Before(w.open) && (w.shut.IsZero() || !at.After(w.shut))
}

// drive runs one worker for each sender and adds up the counts of all workers.
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

// work is the loop of one worker.
func (w *window) work(s Sender, res *Result) {
	for now := w.open; !w.stop.Load() && !w.over(now); {
		a, more := s.Send()
		if !more {
			w.exhausted.CompareAndSwap(0, time.Now().UnixNano())
			return
		}
		now = a.Done
		switch {
		case a.Refused:
			if w.counts(now) {
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
			if w.counts(now) {
				res.Ops++
				res.Entities += uint64(a.Entities)
				res.Latency.Record(now.Sub(a.Sent))
			}
		}
	}
}
