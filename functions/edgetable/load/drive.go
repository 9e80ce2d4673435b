package load

import (
	"sync"
	"sync/atomic"
	"time"

	"edgetable/functions/edgetable/load/hist"
)

// Sender sends the requests of one worker, one after the other.
type Sender interface {
	// Send sends a request and waits for its answer. It reports false if no request is left.
	Send() (a Answer, more bool)
}

// Answer is what became of one request.
type Answer struct {
	Sent, Done time.Time
	Entities   int // that it moved
	Err        error
	Broken     bool          // the worker can send no other request
	Refused    bool          // the server is busy, and Send sends the request again
	Wait       time.Duration // how long to wait before that
}

// Result counts what happened in the measured window. Requests that straddle its edges count where they ended.
type Result struct {
	Ops      uint64
	Entities uint64
	Errors   uint64
	First    error  // the first error
	Refusals uint64 // answers of 503, unless they are errors
	Answered uint64 // requests that succeeded from start to end, also outside the window
	Elapsed  time.Duration
	Latency  hist.Histogram
}

// OpsPerSecond is the rate of requests that succeeded.
func (r *Result) OpsPerSecond() float64 { return rate(r.Ops, r.Elapsed) }

// EntitiesPerSecond is the rate of entities they wrote or returned.
func (r *Result) EntitiesPerSecond() float64 { return rate(r.Entities, r.Elapsed) }

func rate(n uint64, d time.Duration) float64 {
	if d <= 0 {
		return 0
	}
	return float64(n) / d.Seconds()
}

// add adds what another worker counted.
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

// Drive lets workers send until no request is left, or one failed.
func Drive(senders []Sender) *Result {
	w := window{strict: true}
	begin := time.Now()
	r := w.drive(senders)
	r.Elapsed = time.Since(begin)
	return r
}

// window is the run's clock: workers start at once, answers count from open until shut.
type window struct {
	open, shut time.Time // shut is zero if there is no end
	strict     bool      // the first error ends the run
	stop       atomic.Bool
	exhausted  atomic.Int64 // unix nanoseconds when a worker first found nothing left, 0 before
}

// over reports whether no request is sent any more.
func (w *window) over(at time.Time) bool { return !w.shut.IsZero() && !at.Before(w.shut) }

// counts reports whether an answer counts.
func (w *window) counts(at time.Time) bool {
	return !at.Before(w.open) && (w.shut.IsZero() || !at.After(w.shut))
}

// drive runs a worker for each sender and adds up what they counted.
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
