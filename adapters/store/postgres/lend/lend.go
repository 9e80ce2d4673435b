// Package lend hands connections out: each use has some of its own, and the others go to the
// account that had them for the shortest time.
package lend

import (
	"context"
	"strings"
	"sync"
	"time"

	"edgetable/core/fair"
)

// Use is what a connection is used for.
type Use uint8

const (
	Urgent  Use = iota // heartbeats and Timestamps
	Catalog            // reads of records
	Gets               // grouped reads of entities
	Rounds             // grouped writes of entities
	Writes             // batches and changes of records
	Pages
	uses
)

const (
	// Readers is the number of connections for grouped reads.
	Readers = 2
	// PromptRounds is the number of rounds at the same time while commits are fast: more
	// of them would make groups smaller, and a write in a large group costs least.
	PromptRounds = 2
)

// Fewest is how many connections there must be.
const Fewest = 8

// part is how many connections a use may have: its own, which nobody else takes, and the most.
type part struct{ own, most int }

// Lender hands connections out. What no use owns goes to the use that needs it. Those of
// one use go to the account that had them for the shortest time.
type Lender struct {
	parts [uses]part

	mu    sync.Mutex
	free  int // of those that no use owns
	busy  [uses]int
	queue [uses]fair.Queue[chan struct{}]
}

// ForPrimary divides connections to the primary, at least Fewest. Writes may wait
// for a standby that is away, and scans run for seconds: neither can take all.
func ForPrimary(connections int) *Lender {
	some, half := max(1, connections/8), connections/2
	return newLender(connections, [uses]part{
		Urgent:  {1, 1},
		Catalog: {1, 2},
		Gets:    {Readers, Readers},
		Rounds:  {PromptRounds, half},
		Writes:  {some, half},
		Pages:   {some, half},
	})
}

// ForReplica divides connections to the replica, where every read is a page.
func ForReplica(connections int) *Lender {
	return newLender(connections, [uses]part{Urgent: {1, 1}, Pages: {connections - 1, connections - 1}})
}

func newLender(connections int, parts [uses]part) *Lender {
	a := &Lender{parts: parts, free: connections}
	for _, p := range parts {
		a.free -= p.own
	}
	return a
}

// Client is who needs a connection. The account pays for the time.
type Client struct {
	Use     Use
	Account string
}

// Lease is the right to use one connection.
type Lease struct {
	from   *Lender
	client Client
	turn   fair.Turn[chan struct{}]
	since  time.Time
}

// Take waits for a connection. Its error is the cause of the end of ctx.
func (a *Lender) Take(ctx context.Context, c Client) (*Lease, error) {
	l := &Lease{from: a, client: c}
	q := &a.queue[c.Use]
	a.mu.Lock()
	if q.Waiting() == 0 && a.begin(c.Use) {
		l.turn, l.since = q.Enter(c.Account), time.Now()
		a.mu.Unlock()
		return l, nil
	}
	w := &fair.Waiter[chan struct{}]{Value: make(chan struct{})}
	q.Push(strings.Clone(c.Account), w)
	a.mu.Unlock()
	select {
	case <-w.Value:
	case <-ctx.Done():
		a.mu.Lock()
		if w.Waits() {
			q.Remove(w)
			a.mu.Unlock()
			return nil, context.Cause(ctx)
		}
		a.mu.Unlock() // its turn came at the same moment
	}
	l.turn, l.since = w.Turn, time.Now()
	return l, nil
}

// begin counts a connection for a use, if there is one.
func (a *Lender) begin(u Use) bool {
	p, n := a.parts[u], a.busy[u]
	if n >= p.most || n >= p.own && a.free == 0 {
		return false
	}
	if n >= p.own {
		a.free--
	}
	a.busy[u]++
	return true
}

// Leave gives the connection back, and charges the account for the time.
func (l *Lease) Leave() {
	a, u := l.from, l.client.Use
	a.mu.Lock()
	defer a.mu.Unlock()
	a.queue[u].Leave(l.turn, time.Since(l.since).Nanoseconds())
	if a.busy[u] > a.parts[u].own {
		a.free++
	}
	a.busy[u]--
	a.next(u)
	for u := range uses { // one that no use owns may be for another
		a.next(u)
	}
}

// next hands connections to those who wait for a use.
func (a *Lender) next(u Use) {
	for q := &a.queue[u]; q.Waiting() > 0 && a.begin(u); {
		close(q.Pop(a.parts[u].most).Value)
	}
}

// Wanted reports whether another account waits for a connection that had less of them than
// this one.
func (a *Lender) Wanted(c Client) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return !a.queue[c.Use].First(c.Account)
}

// Waiting returns how many connections a use may have at the most, and how many wait for one.
func (a *Lender) Waiting(u Use) (most, waiting int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return min(a.parts[u].most, a.parts[u].own+a.free), a.queue[u].Waiting()
}
