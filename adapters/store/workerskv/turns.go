package workerskv

import (
	"context"
	"errors"
	"sync"
	"time"

	"edgetable/core/edm"
	"edgetable/core/table"
)

// turns lets writes of one name take turns: a name takes one write a second, so
// what comes meanwhile waits, and all that waits is written by one put. Whoever's
// turn it is, is the one who finds it free first; nobody is woken, as there may be
// nobody to wake others: they look again after a pause.
//
// Writes of single entities are of a partition too, and keep off while one of
// the whole partition is under way, or waits for nothing but them; which keeps off
// until they are done.
type turns struct {
	now      func() edm.Ticks
	pause    func(context.Context, time.Duration)
	patience time.Duration
	interval edm.Ticks // how long a name rests between writes

	mu         sync.Mutex
	slots      map[string]*slot
	partitions map[string]*partition
}

// job is a write that waits for its turn.
type job struct {
	// cell is what the job makes of a cell, nil being none. Its error is the job's.
	cell  func(old []byte) (body []byte, stamp edm.Ticks, err error)
	blind bool // cell does not look at old
	gone  bool // cell makes none of it

	// Of a write of the whole partition.
	mutations []table.Mutation
	forced    bool // it may not be sent to write a cell instead

	stamp       edm.Ticks
	err         error
	taken, done bool
}

// slot is the queue of a name.
type slot struct {
	jobs  []*job
	busy  bool
	wrote bool      // ever
	last  edm.Ticks // when it was written
}

// partition counts who is in it. users are all that hold it.
type partition struct {
	users          int
	singles        int
	waiting, whole int
}

const (
	// interval is how long Workers KV wants a name to rest between writes.
	interval edm.Ticks = edm.TicksPerSecond
	// glance is how long to wait for something of which it is not known when it ends.
	glance edm.Ticks = edm.TicksPerSecond / 100
	// maxSlots bounds what is remembered of names that rest.
	maxSlots = 1000
)

// queue is where a job waits.
type queue struct {
	name  string
	part  string // "": of none
	whole bool   // of all of part
	// write does jobs and reports whether it may have written the name.
	write func(ctx context.Context, jobs []*job) bool
}

// do does a job when it is its turn. A job that does not get a turn in time is
// taken back: [table.ErrBusy].
func (t *turns) do(ctx context.Context, q queue, j *job) (edm.Ticks, error) {
	end, ok := ctx.Deadline()
	until := edm.TicksOf(end)
	if !ok {
		until = t.now() + ticks(t.patience)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	s, p := t.enter(q)
	s.jobs = append(s.jobs, j)
	defer t.leave(q, p)
	for !j.done {
		wait := glance
		if !j.taken && !s.busy && t.free(q, p) {
			if wait = t.rest(s); wait <= 0 {
				t.turn(ctx, q, s, p, j)
				continue
			}
			wait = max(wait, glance) // a clock may go back faster than a short pause
		}
		// A job that was taken is waited for: its mutations are being read.
		if err := ctx.Err(); !j.taken && (err != nil || t.now()+wait > until) {
			s.remove(j)
			if err == nil {
				err = table.ErrBusy
			}
			return 0, err
		}
		t.mu.Unlock()
		t.pause(ctx, duration(wait))
		t.mu.Lock()
	}
	return j.stamp, j.err
}

// turn does all jobs that wait. The caller holds mu.
func (t *turns) turn(ctx context.Context, q queue, s *slot, p *partition, mine *job) {
	jobs := s.jobs
	s.jobs, s.busy = nil, true
	for _, j := range jobs {
		j.taken = true
	}
	p.begin(q.whole)
	t.mu.Unlock()
	wrote := q.write(ctx, jobs)
	t.mu.Lock()
	p.end(q.whole)
	s.busy = false
	if wrote {
		s.wrote, s.last = true, t.now()
	}
	for _, j := range jobs {
		if j != mine && (errors.Is(j.err, context.Canceled) || errors.Is(j.err, context.DeadlineExceeded)) {
			j.err = table.ErrBusy // it was my time that ended
		}
		j.done = true
	}
}

// enter finds the slot and the partition. The caller holds mu.
func (t *turns) enter(q queue) (*slot, *partition) {
	if len(t.slots) >= maxSlots {
		for name, s := range t.slots {
			if !s.busy && len(s.jobs) == 0 && t.rest(s) <= 0 {
				delete(t.slots, name)
			}
		}
	}
	s := t.slots[q.name]
	if s == nil {
		s = new(slot)
		t.slots[q.name] = s
	}
	if q.part == "" {
		return s, &partition{users: 1}
	}
	p := t.partitions[q.part]
	if p == nil {
		p = new(partition)
		t.partitions[q.part] = p
	}
	p.users++
	if q.whole {
		p.waiting++
	}
	return s, p
}

// leave is the end of enter. The caller holds mu.
func (t *turns) leave(q queue, p *partition) {
	if q.whole {
		p.waiting--
	}
	if p.users--; q.part != "" && p.users == 0 {
		delete(t.partitions, q.part)
	}
}

// rest is how long the name must rest still; the slot of one that does not may be
// nil. The caller holds mu.
func (t *turns) rest(s *slot) edm.Ticks {
	if s == nil || !s.wrote {
		return 0
	}
	now := t.now()
	if now < s.last { // the clock went back
		s.last = now
	}
	return s.last + t.interval - now
}

func (s *slot) remove(j *job) {
	for i := range s.jobs {
		if s.jobs[i] == j {
			s.jobs = append(s.jobs[:i:i], s.jobs[i+1:]...)
			return
		}
	}
}

// free reports whether the partition lets a write begin. The caller holds mu.
func (t *turns) free(q queue, p *partition) bool {
	if q.whole {
		return p.whole == 0 && p.singles == 0
	}
	return p.whole == 0 && (p.waiting == 0 || t.rest(t.slots[q.part]) > 0)
}

func (p *partition) begin(whole bool) {
	if whole {
		p.whole++
	} else {
		p.singles++
	}
}

func (p *partition) end(whole bool) {
	if whole {
		p.whole--
	} else {
		p.singles--
	}
}
