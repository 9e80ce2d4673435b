package postgres

import (
	"context"
	"strings"
	"sync"
	"time"

	"edgetable/core/fair"
	"edgetable/core/table"
)

// use is what a connection is used for.
type use uint8

const (
	useUrgent  use = iota // heartbeats and Timestamps
	useCatalog            // reads of records
	useGets               // grouped reads of entities
	useRounds             // grouped writes of entities
	useWrites             // batches and changes of records
	usePages
	uses
)

const (
	// readers is the number of connections for grouped reads.
	readers = 2
	// promptRounds is the number of rounds at the same time while commits are fast: more
	// of them would make groups smaller, and a write in a large group costs least.
	promptRounds = 2
)

// part is how many connections a use may have: its own, which nobody else takes, and the most.
type part struct{ own, most int }

// allocator hands connections out. What no use owns goes to the use that needs it. Those of
// one use go to the account that had them for the shortest time.
type allocator struct {
	parts [uses]part

	mu    sync.Mutex
	free  int // of those that no use owns
	busy  [uses]int
	queue [uses]fair.Queue[chan struct{}]
}

// forPrimary divides connections to the primary, at least minConnections. Writes may wait
// for a standby that is away, and scans run for seconds: neither can take all.
func forPrimary(connections int) *allocator {
	some, half := max(1, connections/8), connections/2
	return newAllocator(connections, [uses]part{
		useUrgent:  {1, 1},
		useCatalog: {1, 2},
		useGets:    {readers, readers},
		useRounds:  {promptRounds, half},
		useWrites:  {some, half},
		usePages:   {some, half},
	})
}

// forReplica divides connections to the replica, where every read is a page.
func forReplica(connections int) *allocator {
	return newAllocator(connections, [uses]part{useUrgent: {1, 1}, usePages: {connections - 1, connections - 1}})
}

func newAllocator(connections int, parts [uses]part) *allocator {
	a := &allocator{parts: parts, free: connections}
	for _, p := range parts {
		a.free -= p.own
	}
	return a
}

// client is who needs a connection. The account pays for the time.
type client struct {
	use     use
	account string
}

var (
	urgent = client{use: useUrgent}
	upkeep = client{use: useWrites} // of purges and the search for lost outcomes
)

// lease is the right to use one connection.
type lease struct {
	allocator *allocator
	client    client
	turn      fair.Turn[chan struct{}]
	since     time.Time
}

// take waits for a connection. Its error is the cause of the end of ctx.
func (a *allocator) take(ctx context.Context, c client) (*lease, error) {
	l := &lease{allocator: a, client: c}
	q := &a.queue[c.use]
	a.mu.Lock()
	if q.Waiting() == 0 && a.begin(c.use) {
		l.turn, l.since = q.Enter(c.account), time.Now()
		a.mu.Unlock()
		return l, nil
	}
	w := &fair.Waiter[chan struct{}]{Value: make(chan struct{})}
	q.Push(strings.Clone(c.account), w)
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
func (a *allocator) begin(u use) bool {
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

// leave gives the connection back, and charges the account for the time.
func (l *lease) leave() {
	a, u := l.allocator, l.client.use
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
func (a *allocator) next(u use) {
	for q := &a.queue[u]; q.Waiting() > 0 && a.begin(u); {
		close(q.Pop(a.parts[u].most).Value)
	}
}

// wanted reports whether another account waits for a connection for the same kind of read.
func (s *Store) wanted(who client, c table.Consistency) bool {
	return s.connections.wanted(who) || c == table.Eventual && s.replica != nil && s.replica.connections.wanted(who)
}

// wanted reports whether another account waits for a connection that had less of them than
// this one.
func (a *allocator) wanted(c client) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return !a.queue[c.use].First(c.account)
}
