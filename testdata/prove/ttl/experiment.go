package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"time"

	"edgetable/functions/edgetable/cli"
)

// plan says how many items are written, and at which times.
type plan struct {
	Items   int
	Writing time.Duration // period in which all items are written
	Longest time.Duration // maximum time from the first write of an item to the second one
	Rest    time.Duration // time from the last write to the check for missing items
}

// written returns the time from the start of the experiment to the first write of an item. At that time, the item's
// expiry has already passed.
func (p *plan) written(id int) time.Duration {
	return p.Writing / time.Duration(p.Items) * time.Duration(id)
}

// again returns the time from the start of the experiment to the second write of an item. The time between the two
// writes is random: 1 to 10 seconds are as likely as 1 to 10 hours. The range is so large because it is unknown how
// long after the expiry DynamoDB decides to delete an item.
func (p *plan) again(id int) time.Duration {
	rnd := rand.New(rand.NewPCG(1, uint64(id)))
	seconds := math.Pow(max(p.Longest.Seconds(), 1), rnd.Float64())
	return p.written(id) + time.Duration(seconds*float64(time.Second))
}

// table is the table that the experiment writes to.
type table interface {
	// Put writes an item with an expiry that has passed.
	Put(ctx context.Context, id int) error
	// Again writes the item a second time, without an expiry. It does this only if the item still exists.
	Again(ctx context.Context, id int) (there bool, err error)
	// Missing returns which of these items do not exist.
	Missing(ctx context.Context, ids []int) ([]int, error)
}

// answer is the result of the experiment.
type answer struct {
	Gone int   // items that were deleted before their second write
	Kept int   // items that were written a second time
	Lost []int // items that were written a second time and are missing nevertheless
}

func (a answer) String() string {
	verdict := "DynamoDB never deleted an item that was written again: it looks at the attribute again."
	switch {
	case len(a.Lost) > 0:
		verdict = fmt.Sprintf("DynamoDB DELETED items that were written again: TTL must not be used. The first are %v.", a.Lost[:min(len(a.Lost), 10)])
	case a.Gone == 0 || a.Kept == 0:
		verdict = "This shows nothing: of both kinds there must be some."
	}
	return fmt.Sprintf("%d items expired, %d were written again in time, %d of these are lost.\n%s", a.Gone, a.Kept, len(a.Lost), verdict)
}

// experiment is the state of an experiment. A log file records its events.
type experiment struct {
	plan
	Begun time.Time
	next  int          // number of items that were written once; they are the items with the lowest ids
	done  map[int]bool // results of the second write of items: true if the item was written, false if DynamoDB had already deleted it
	log   *os.File
}

type line struct {
	*plan `json:",omitempty"`
	Begun time.Time `json:",omitzero"`
	Next  int       `json:",omitempty"`
	ID    int
	Kept  *bool `json:",omitempty"`
}

// resume resumes the experiment in a file, or begins one.
func resume(file string, p plan) (*experiment, error) {
	f, err := os.OpenFile(file, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	e := &experiment{plan: p, Begun: time.Now(), done: make(map[int]bool), log: f}
	begun := false
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var l line
		if err := json.Unmarshal(lines.Bytes(), &l); err != nil {
			continue // the last line may be truncated
		}
		switch {
		case l.plan != nil:
			e.plan, e.Begun, begun = *l.plan, l.Begun, true
		case l.Kept != nil:
			e.done[l.ID] = *l.Kept
		default:
			e.next = max(e.next, l.Next)
		}
	}
	if !begun {
		err = e.note(line{plan: &e.plan, Begun: e.Begun})
	}
	return e, err
}

func (e *experiment) note(l line) error {
	b, err := json.Marshal(l)
	if err == nil {
		_, err = e.log.Write(append(b, '\n'))
	}
	return err
}

// run runs the experiment to its end. If the outcome of a second write is unknown, it repeats the write.
func (e *experiment) run(ctx context.Context, t table) (answer, error) {
	waiting := make([]int, 0, e.Items)
	for id := range e.Items {
		if _, done := e.done[id]; !done {
			waiting = append(waiting, id)
		}
	}
	slices.SortFunc(waiting, func(a, b int) int { return int(e.again(a) - e.again(b)) })
	for len(waiting) > 0 {
		due := e.Writing
		if e.next < e.Items {
			due = e.written(e.next)
		}
		id := waiting[0]
		first := e.next < e.Items && due <= e.again(id)
		if !first {
			due = e.again(id)
		}
		if err := until(ctx, e.Begun.Add(due)); err != nil {
			return e.judge(nil), err
		}
		if first {
			if err := t.Put(ctx, e.next); err != nil {
				return e.judge(nil), err
			}
			e.next++
			if err := e.note(line{Next: e.next}); err != nil {
				return e.judge(nil), err
			}
			continue
		}
		there, err := t.Again(ctx, id)
		if err == nil {
			err = e.note(line{ID: id, Kept: &there})
		}
		if err != nil {
			return e.judge(nil), err
		}
		e.done[id], waiting = there, waiting[1:]
	}
	if err := until(ctx, e.Begun.Add(e.Writing+e.Longest+e.Rest)); err != nil {
		return e.judge(nil), err
	}
	var kept []int
	for id, there := range e.done {
		if there {
			kept = append(kept, id)
		}
	}
	slices.Sort(kept)
	lost, err := t.Missing(ctx, kept)
	return e.judge(lost), err
}

func (e *experiment) judge(lost []int) (a answer) {
	for _, there := range e.done {
		if there {
			a.Kept++
		} else {
			a.Gone++
		}
	}
	a.Lost = lost
	return a
}

func until(ctx context.Context, t time.Time) error { return cli.Sleep(ctx, time.Until(t)) }
