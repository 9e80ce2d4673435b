package load

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"edgetable/functions/edgetable/load/wire"
)

// Values of Refused. Most clients, including Azure's, wait for the time in Retry-After before they retry. Some poorly
// written clients do not wait.
const (
	Fails  Refused = "fail"   // the response counts as an error; this is the default
	Waits  Refused = "wait"   // the client retries after the time in Retry-After
	AtOnce Refused = "repeat" // the client retries immediately
)

// ErrTooShort is returned if no response arrived in the measured time, which is too short for this machine.
var ErrTooShort = errors.New("no request ended inside the measured time")

// Run connects, warms up and measures. It returns an error if connecting fails or ctx is canceled; failed requests are
// only counted. A worker stops when its connection breaks.
func Run(ctx context.Context, spec Spec) (*Result, error) {
	conns, err := dialAll(ctx, spec.Target, spec.Connections)
	if err != nil {
		return nil, err
	}
	run := &runState{spec: spec, head: spec.Format.headers()}
	start := time.Now()
	win := &window{open: start.Add(spec.Warmup)}
	win.shut = win.open.Add(spec.Duration)
	// Closing the connections unblocks workers that wait for a response.
	unhook := context.AfterFunc(ctx, func() {
		win.stop.Store(true)
		closeAll(conns)
	})
	defer unhook()

	senders := make([]Sender, len(conns))
	for i, c := range conns {
		senders[i] = &sender{conn: c, op: run.operation(i), refused: spec.Refused}
	}
	total := win.drive(senders)
	closeAll(conns)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	total.Elapsed = spec.Duration
	if at := win.exhausted.Load(); at != 0 {
		total.Elapsed = time.Unix(0, at).Sub(win.open)
	}
	if total.Ops == 0 && total.First == nil && total.Refusals == 0 {
		return nil, fmt.Errorf("%s, %v: %w", spec.Op, spec.Duration, ErrTooShort)
	}
	return total, nil
}

type sender struct {
	conn    *wire.Conn
	op      operation
	refused Refused
	req     wire.Request
	again   bool // true if req must be sent again after status 503
}

// Send implements [Sender]. The latency includes signing and sending the request and reading the response, but not
// preparing the request or checking the response.
func (s *sender) Send() (a Answer, more bool) {
	if !s.again && !s.op.next(&s.req) {
		return a, false
	}
	a.Sent = time.Now()
	resp, err := s.conn.Do(&s.req)
	a.Done = time.Now()
	a.Broken, a.Err = err != nil, err
	if s.again = err == nil && resp.Status == 503 && (s.refused == Waits || s.refused == AtOnce); s.again {
		a.Refused = true
		if s.refused == Waits {
			a.Wait = resp.RetryAfter
		}
	} else if err == nil {
		a.Entities, a.Err = s.op.check(&resp)
	}
	return a, true
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
		_ = c.Close() // Close has nothing to write, so it cannot lose data
	}
}

func (s *runState) operation(worker int) operation {
	rng := rand.New(rand.NewPCG(uint64(worker), 42))
	url := s.spec.Target.Base + "/" + s.spec.Table
	switch s.spec.Op {
	case Insert:
		return &inserter{runState: s, url: []byte(url)}
	case Batch:
		return &batcher{runState: s, enc: newBatchEncoder(s.spec.Target, s.spec.Table, s.spec.Format)}
	case Scan:
		return &scanner{runState: s, url: []byte(url)}
	case Query, Page:
		return &pager{runState: s, url: []byte(url), rng: rng}
	default:
		return &pointer{runState: s, url: url, rng: rng}
	}
}
