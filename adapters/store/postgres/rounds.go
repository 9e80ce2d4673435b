package postgres

import (
	"context"
	"edgetable/adapters/store/postgres/lend"
	"sync"
	"time"
)

const (
	// patience is how long the next round waits for a running one. A commit that waits for a standby, or a statement
	// that waits for a lock, takes longer; another round may then start meanwhile at no cost.
	patience = 2 * time.Millisecond
	// returnShare is the fraction of a slow round's duration for which the next round waits for the callers of that
	// round. The wait is at most patience.
	returnShare = 8
	// A group is closed before it exceeds these limits.
	maxWrites     = 128
	maxWriteBytes = 1 << 20
)

// rounds sends single-entity writes in groups: a round sends all writes that arrived while earlier ones ran. The
// first write starts a round at once, so groups form only under load. An entity is in one round at a time.
//
// If commits are slow, the callers of a round get their replies together, and often write again at once. The next
// round therefore waits for that many writes, for a small part of the commit time. Otherwise the first of them would
// start a round alone, and the others would wait until another connection is free.
type rounds struct {
	mu        sync.Mutex
	waiting   []*write            // of different entities, none of which is in a round
	later     map[entity][]*write // per entity that waits or is in a round: its next writes
	prompt    int                 // rounds that began less than patience ago
	returning int                 // callers of slow rounds that may soon write again
}

// send adds a write to the next round.
func (s *Store) send(w *write) {
	r, e := &s.rounds, entity{w.name, string(w.key)}
	r.mu.Lock()
	defer r.mu.Unlock()
	if queue, ok := r.later[e]; ok {
		r.later[e] = append(queue, w)
		return
	}
	if r.later == nil {
		r.later = make(map[entity][]*write)
	}
	r.later[e] = nil
	r.waiting = append(r.waiting, w)
	s.beginRound()
}

// beginRound starts a round if there are writes to send and no other round to wait for. The caller holds the lock.
func (s *Store) beginRound() {
	if r := &s.rounds; len(r.waiting) >= max(1, r.returning) && r.prompt < lend.PromptRounds {
		r.prompt++
		s.beside.Go(s.round)
	}
}

// round waits for a connection and then sends all waiting writes.
func (s *Store) round() {
	r := &s.rounds
	ctx, cancel := context.WithTimeoutCause(s.ctx, s.Timeout, errTimeout)
	defer cancel()
	l, err := s.connections.Take(ctx, lend.Client{Use: lend.Rounds})
	if err != nil { // the callers have given up
		r.mu.Lock()
		defer r.mu.Unlock()
		r.prompt--
		return
	}
	r.mu.Lock()
	group := r.pick()
	r.returning = 0
	r.mu.Unlock()
	late := time.AfterFunc(patience, func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.prompt--
		s.beginRound()
	})
	if len(group) > 0 {
		s.writeGroup(ctx, group)
	}
	l.Leave()
	r.mu.Lock()
	defer r.mu.Unlock()
	if late.Stop() {
		r.prompt--
	}
	for _, w := range group {
		if !w.sought {
			r.ended(w)
		}
	}
	s.beginRound()
}

// awaitReturn makes the next round wait for the callers of a slow round, which get their replies now.
func (s *Store) awaitReturn(callers int, took time.Duration) {
	if took < patience {
		return
	}
	r := &s.rounds
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.returning == 0 {
		time.AfterFunc(min(took/returnShare, patience), func() {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.returning = 0
			s.beginRound()
		})
	}
	r.returning += callers
}

// found ends the round of writes whose outcomes were looked for. Until then, no later write of the same entities may
// overwrite the evidence.
func (s *Store) found(group []*write) {
	r := &s.rounds
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, w := range group {
		r.ended(w)
	}
	s.beginRound()
}

// pick takes the first writes, up to the limits of a group, and skips those whose callers have given up.
func (r *rounds) pick() (group []*write) {
	size := 0
	for len(r.waiting) > 0 && len(group) < maxWrites {
		w := r.waiting[0]
		if len(group) > 0 && (w.alone || group[0].alone || size+w.size() > maxWriteBytes) {
			break
		}
		r.waiting[0] = nil
		r.waiting = r.waiting[1:]
		if !w.claimed.CompareAndSwap(false, true) {
			r.ended(w)
			continue
		}
		size += w.size()
		group = append(group, w)
	}
	return group
}

// ended lets the next write of an entity enter a round. That is the same write if it must be sent again.
func (r *rounds) ended(w *write) {
	if w.resent {
		w.resent = false
		r.waiting = append(r.waiting, w)
		return
	}
	e := entity{w.name, string(w.key)}
	if queue := r.later[e]; len(queue) > 0 {
		r.later[e] = queue[1:]
		r.waiting = append(r.waiting, queue[0])
	} else {
		delete(r.later, e)
	}
}
