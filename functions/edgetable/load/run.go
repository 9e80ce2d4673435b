package load

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"edgetable/functions/edgetable/load/hist"
	"edgetable/functions/edgetable/load/wire"
)

// Spec is one run. Layout describes what Fill stored, for the workloads that need it.
type Spec struct {
	Target      wire.Target
	Table       string
	Op          Op
	Format      Format // "" is JSON
	Layout      Layout
	Prefix      string // unique per run: new row keys start with it
	Connections int
	Warmup      time.Duration // run before, not counted
	Duration    time.Duration // counted; delete ends earlier when nothing is left
	Refused     Refused       // what to do when the server is busy
}

// Refused is what a client does that was answered 503.
type Refused string

// Most clients, the service's own among them, wait for the time in Retry-After and send the request again. Rude ones do
// not wait.
const (
	Fails  Refused = "fail"   // it is an error as any other; the default
	Waits  Refused = "wait"   // for Retry-After
	AtOnce Refused = "repeat" // the request is sent again at once
)

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

// window is the run's clock: workers start at once, answers count from open until shut.
type window struct {
	open, shut time.Time
	stop       atomic.Bool
	exhausted  atomic.Int64 // unix nanoseconds when a worker first found nothing left, 0 before
}

// ErrTooShort means that the measured time is too short for this machine.
var ErrTooShort = errors.New("no request ended inside the measured time")

// Run connects, warms up, measures and returns. A failed connection or a cancelled context is an error; failed
// requests are counted in the result instead. A worker whose connection broke does not go on.
func Run(ctx context.Context, spec Spec) (*Result, error) {
	conns, err := dialAll(ctx, spec.Target, spec.Connections)
	if err != nil {
		return nil, err
	}
	run := &shared{spec: spec, head: spec.Format.headers()}
	start := time.Now()
	win := &window{open: start.Add(spec.Warmup)}
	win.shut = win.open.Add(spec.Duration)
	// Closing the connections is what ends a worker that waits for an answer when the caller gives up.
	unhook := context.AfterFunc(ctx, func() {
		win.stop.Store(true)
		closeAll(conns)
	})
	defer unhook()

	results := make([]Result, len(conns))
	var wg sync.WaitGroup
	for i, c := range conns {
		wg.Go(func() { work(c, run.operation(i), spec.Refused, win, &results[i]) })
	}
	wg.Wait()
	closeAll(conns)
	if err := ctx.Err(); err != nil {
		return nil, err
	}

	total := &Result{Elapsed: spec.Duration}
	for i := range results {
		r := &results[i]
		total.Ops += r.Ops
		total.Entities += r.Entities
		total.Errors += r.Errors
		total.Refusals += r.Refusals
		total.Answered += r.Answered
		total.Latency.Merge(&r.Latency)
		if total.First == nil {
			total.First = r.First
		}
	}
	if at := win.exhausted.Load(); at != 0 {
		total.Elapsed = time.Unix(0, at).Sub(win.open)
	}
	if total.Ops == 0 && total.First == nil && total.Refusals == 0 {
		return nil, fmt.Errorf("%s, %v: %w", spec.Op, spec.Duration, ErrTooShort)
	}
	return total, nil
}

// work is one connection's loop. The end of one request is the start of the next, which saves a clock reading and
// leaves out the client's own time: latency is from the write to the last byte of the answer.
func work(c *wire.Conn, op operation, refused Refused, win *window, res *Result) {
	var req wire.Request
	again := false
	for !win.stop.Load() {
		if !again && !op.next(&req) {
			win.exhausted.CompareAndSwap(0, time.Now().UnixNano())
			return
		}
		sent := time.Now()
		if sent.After(win.shut) {
			return
		}
		resp, err := c.Do(&req)
		done := time.Now()
		broken := err != nil
		if again = !broken && resp.Status == 503 && (refused == Waits || refused == AtOnce); again {
			if !done.Before(win.open) && !done.After(win.shut) {
				res.Refusals++
			}
			if refused == Waits {
				time.Sleep(min(resp.RetryAfter, win.shut.Sub(done)))
			}
			continue
		}
		var entities int
		if !broken {
			entities, err = op.check(&resp)
		}
		if err == nil {
			res.Answered++
		}
		switch {
		case err != nil:
			res.Errors++
			if res.First == nil {
				res.First = err
			}
			if broken {
				return
			}
		case done.Before(win.open) || done.After(win.shut):
		default:
			res.Ops++
			res.Entities += uint64(entities)
			res.Latency.Record(done.Sub(sent))
		}
	}
}

func dialAll(ctx context.Context, t wire.Target, n int) ([]*wire.Conn, error) {
	conns := make([]*wire.Conn, 0, n)
	for range n {
		c, err := wire.Dial(ctx, t)
		if err != nil {
			closeAll(conns)
			return nil, fmt.Errorf("connecting: %w", err)
		}
		conns = append(conns, c)
	}
	return conns, nil
}

func closeAll(conns []*wire.Conn) {
	for _, c := range conns {
		_ = c.Close() // nothing is buffered: a failed close loses nothing
	}
}
