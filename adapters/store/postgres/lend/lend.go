// Package lend shares the connections of a pool between kinds of operations (uses) and between accounts. Each use has
// some reserved connections.
package lend

import (
	"context"
	"strings"
	"sync"
	"time"

	"edgetable/core/fair"
)

// Use is the kind of operation for which a connection is used.
type Use uint8

const (
	Urgent  Use = iota // heartbeats and reservations of Timestamps
	Catalog            // reads of records
	Gets               // grouped reads of entities
	Rounds             // grouped writes of entities
	Writes             // batches of writes, and changes to records
	Pages
	uses
)

const (
	// Readers is the number of connections for grouped reads.
	Readers = 2
	// PromptRounds is the maximum number of concurrent rounds while commits are fast. A round is a transaction with the
	// writes of many callers. A write costs least in a large round.
	PromptRounds = 2
)

// Fewest is the minimum number of connections to the primary.
const Fewest = 8

// part describes the share of a use: the number of connections that are reserved for the use, and the maximum
// number of connections that the use may have (limit).
type part struct{ reserved, limit int }

// Lender shares connections between clients. Each use has some reserved connections. The other connections are
// available to every use. Among the waiting clients of a use, the client whose account has held connections for the
// shortest time is next. A Lender is safe for concurrent use.
type Lender struct {
	parts [uses]part

	mu    sync.Mutex
	free  int // free connections that are not reserved
	busy  [uses]int
	queue [uses]fair.Queue[chan struct{}]
}

// ForPrimary returns a Lender for at least [Fewest] connections to the primary. Each use is limited, because scans and
// writes may occupy their connections for a long time.
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

// ForReplica returns a Lender for the connections to the replica. All reads except heartbeats must specify the use
// Pages.
func ForReplica(connections int) *Lender {
	return newLender(connections, [uses]part{Urgent: {1, 1}, Pages: {connections - 1, connections - 1}})
}

func newLender(connections int, parts [uses]part) *Lender {
	a := &Lender{parts: parts, free: connections}
	for _, p := range parts {
		a.free -= p.reserved
	}
	return a
}

// Client is an operation that needs a connection, and the account that is charged for the time.
type Client struct {
	Use     Use
	Account string
}

// Lease is the right to use one connection.
type Lease struct {
	from    *Lender
	client  Client
	turn    fair.Turn[chan struct{}]
	takenAt time.Time
}

// Take waits until a connection is free. If ctx ends first, Take returns the cause of ctx.
func (a *Lender) Take(ctx context.Context, c Client) (*Lease, error) {
	l := &Lease{from: a, client: c}
	q := &a.queue[c.Use]
	a.mu.Lock()
	if q.Waiting() == 0 && a.begin(c.Use) {
		l.turn, l.takenAt = q.Enter(c.Account), time.Now()
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
	l.turn, l.takenAt = w.Turn, time.Now()
	return l, nil
}

// begin takes a connection for a use and reports whether one was free. a.mu must be held.
func (a *Lender) begin(u Use) bool {
	p, n := a.parts[u], a.busy[u]
	if n >= p.limit || n >= p.reserved && a.free == 0 {
		return false
	}
	if n >= p.reserved {
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
	a.queue[u].Leave(l.turn, time.Since(l.takenAt).Nanoseconds())
	if a.busy[u] > a.parts[u].reserved {
		a.free++
	}
	a.busy[u]--
	a.grantNext(u)
	for u := range uses { // a connection that is not reserved may serve another use
		a.grantNext(u)
	}
}

// grantNext grants free connections to the waiting clients of a use. a.mu must be held.
func (a *Lender) grantNext(u Use) {
	for q := &a.queue[u]; q.Waiting() > 0 && a.begin(u); {
		close(q.Pop(a.parts[u].limit).Value)
	}
}

// Wanted returns true if the client should give up its connection, because an account that has held connections for
// less time waits for the same use.
func (a *Lender) Wanted(c Client) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return !a.queue[c.Use].First(c.Account)
}

// Waiting returns the maximum number of connections that a use can get now, and the number of clients of this use that
// wait.
func (a *Lender) Waiting(u Use) (most, waiting int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return min(a.parts[u].limit, a.parts[u].reserved+a.free), a.queue[u].Waiting()
}
