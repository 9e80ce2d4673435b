package load

import (
	"sync"
	"sync/atomic"
	"time"

	"edgetable/functions/edgetable/load/hist"
)

// Sender sends the requests of one worker, one after another.
type Sender interface {
	// Send sends a request and waits for its response. more is false if there was no request left.
	Send() (a Answer, more bool)
}

// Answer is the outcome of one request.
type Answer struct {
	Sent, Done time.Time
	Entities   int // entities written or returned
	Err        error
	Broken     bool          // the worker cannot send another request
	Refused    bool          // the server is busy; the next Send repeats the request
	Wait       time.Duration // how long to wait before that
}

// Result holds the counts of the measured window. A request across its edge counts where it ended.
type Result struct {
	Ops      uint64
	Entities uint64
	Errors   uint64
	First    error  // the first error
	Refusals uint64 // 503 responses, unless they count as errors
	Answered uint64 // requests that succeeded from start to end, inside the window or not
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

// add adds the counts of another worker.
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

// Drive runs a worker per sender until no request is left or one has failed.
func Drive(senders []Sender) *Result {
	w := window{strict: true}
	begin := time.Now()
	r := w.drive(senders)
	r.Elapsed = time.Since(begin)
	return r
}

// window is the clock of a run. Workers start at once; responses count from open until shut.
type window struct {
	open, shut time.Time // shut is zero if there is no end
	strict     bool      // the first error ends the run
	stop       atomic.Bool
	exhausted  atomic.Int64 // Unix nanoseconds when a worker first had no request left; 0 before
}

// over reports whether sending has stopped.
func (w *window) over(at time.Time) bool { return !w.shut.IsZero() && !at.Before(w.shut) }

// counts reports whether a response at this time counts.
func (w *window) counts(at time.Time) bool {
	return !at.Before(w.open) && (w.shut.IsZero() || !at.After(w.shut))
}

// drive runs one worker per sender and adds up their counts.
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
