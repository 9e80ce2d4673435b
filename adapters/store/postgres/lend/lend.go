// Package lend shares connections between uses and accounts. Each use owns some connections. The others go to the
// account that has used connections for the shortest time.
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
	// PromptRounds is the maximum number of concurrent rounds while commits are fast. More would make groups smaller,
	// and a write in a large group costs least.
	PromptRounds = 2
)

// Fewest is the minimum number of connections.
const Fewest = 8

// part is a use's share of the connections: how many it owns, which no other use can take, and how many it may have.
type part struct{ own, most int }

// Lender shares connections. Connections that no use owns go to the use that needs them. Within a use, connections go
// to the account that has used them for the shortest time.
type Lender struct {
	parts [uses]part

	mu    sync.Mutex
	free  int // connections that no use owns
	busy  [uses]int
	queue [uses]fair.Queue[chan struct{}]
}

// ForPrimary divides connections to the primary, at least Fewest. Writes may wait for a missing standby, and scans
// may run for seconds, so neither use can take all connections.
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

// ForReplica divides connections to the replica, where every read is a page of a scan.
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

// Client says what a connection is used for, and which account is charged for the time.
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

// Take waits for a connection. If ctx ends first, the error is its cause.
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
		a.mu.Unlock() // the connection arrived at the same moment
	}
	l.turn, l.since = w.Turn, time.Now()
	return l, nil
}

// begin takes a connection for a use, if one is free.
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
	for u := range uses { // a connection that no use owns may serve another use
		a.next(u)
	}
}

// next gives free connections to the waiting clients of a use.
func (a *Lender) next(u Use) {
	for q := &a.queue[u]; q.Waiting() > 0 && a.begin(u); {
		close(q.Pop(a.parts[u].most).Value)
	}
}

// Wanted reports whether another account waits for a connection that has used connections for less time than this
// client's account.
func (a *Lender) Wanted(c Client) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return !a.queue[c.Use].First(c.Account)
}

// Waiting returns the maximum number of connections of a use, and how many clients wait for one.
func (a *Lender) Waiting(u Use) (most, waiting int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return min(a.parts[u].most, a.parts[u].own+a.free), a.queue[u].Waiting()
}
