// Package lend shares the connections of a pool between kinds of operations (uses) and between accounts. Each use
// has some reserved connections. If accounts wait, the account that has held connections for the shortest time is next.
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
	Urgent  Use = iota // heartbeats and reservations of Timestamps
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
	// PromptRounds is the maximum number of concurrent rounds (transactions with the writes of many callers) while
	// commits are fast. More rounds would make groups smaller, and a write costs least in a large group.
	PromptRounds = 2
)

// Fewest is the minimum number of connections to the primary.
const Fewest = 8

// part contains two numbers of connections for one kind of operation: the reserved connections (own), and the maximum (most).
type part struct{ own, most int }

// Lender shares connections. Connections that are not reserved are available to all kinds of operations. If operations of
// one kind wait, the account whose operations have held connections for the shortest time is next.
type Lender struct {
	parts [uses]part

	mu    sync.Mutex
	free  int // free connections that are not reserved
	busy  [uses]int
	queue [uses]fair.Queue[chan struct{}]
}

// ForPrimary makes a Lender for the connections to the primary, of which there are at least Fewest. Writes may wait for a
// standby that is down, and scans may run for seconds. So neither writes nor scans can get all connections.
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

// ForReplica shares connections to the replica. There, all reads except heartbeats count as pages of scans.
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

// Client says which kind of operation needs a connection, and which account is charged for the time.
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

// Take waits until a connection is free. If ctx ends first, Take returns the cause of ctx.
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
		a.mu.Unlock() // ctx ended at the moment when the connection was granted
	}
	l.turn, l.since = w.Turn, time.Now()
	return l, nil
}

// begin counts one more busy connection for a kind of operation, if a connection is free for this kind.
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

// Leave returns the connection, and charges the account for the time.
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
	for u := range uses { // if the connection is not reserved, an operation of another kind may get the connection
		a.next(u)
	}
}

// next grants free connections to the waiting clients of a use.
func (a *Lender) next(u Use) {
	for q := &a.queue[u]; q.Waiting() > 0 && a.begin(u); {
		close(q.Pop(a.parts[u].most).Value)
	}
}

// Wanted reports whether the client c should give up its connection for another client. The other client waits for the same
// kind of operation, and its account has used connections for less time than the account of c.
func (a *Lender) Wanted(c Client) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return !a.queue[c.Use].First(c.Account)
}

// Waiting returns the maximum number of connections that a use can get now, and the number of clients of this use that wait.
func (a *Lender) Waiting(u Use) (most, waiting int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return min(a.parts[u].most, a.parts[u].own+a.free), a.queue[u].Waiting()
}
