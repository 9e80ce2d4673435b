package postgres

import (
	"context"
	"sync"
	"time"

	"edgetable/adapters/store/postgres/lend"
)

const (
	// slowRound is the duration after which a round counts as slow. A slow round usually waits for a standby or for a
	// lock, so new rounds do not wait for slow rounds.
	slowRound = 2 * time.Millisecond
	// returnShare determines the wait for new writes of the same callers after a slow round: the duration of the round
	// divided by returnShare, but at most slowRound.
	returnShare = 8
	// Limits of one round.
	maxWrites     = 128
	maxWriteBytes = 1 << 20
)

// rounds sends writes of single entities in groups. A round is one transaction with all writes that arrived while
// earlier rounds were running. An entity is in at most one round at a time.
//
// All callers of a slow round get their replies at the same time, and often write again immediately. The next round
// waits for a fraction of the commit time, so that it contains these writes.
type rounds struct {
	mu        sync.Mutex
	waiting   []*write            // writes for the next round: at most one per entity, and none for an entity of a running round
	later     map[entity][]*write // has a key for each entity with an unfinished write; the value contains the writes that wait for it
	prompt    int                 // number of running rounds that are not slow yet
	returning int                 // number of callers of slow rounds that may soon write again
}

type entity struct{ name, key string }

// send queues a write for the next round.
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

// beginRound starts a round if there are enough writes and few enough running rounds. mu must be held.
func (s *Store) beginRound() {
	if r := &s.rounds; len(r.waiting) >= max(1, r.returning) && r.prompt < lend.PromptRounds {
		r.prompt++
		s.background.Go(s.round)
	}
}

// round waits for a connection, and then sends the waiting writes as one transaction.
func (s *Store) round() {
	r := &s.rounds
	ctx, cancel := context.WithTimeoutCause(s.ctx, s.Timeout, errTimeout)
	defer cancel()
	l, err := s.connections.Take(ctx, lend.Client{Use: lend.Rounds})
	if err != nil { // the round timed out, so its callers have given up too
		r.mu.Lock()
		defer r.mu.Unlock()
		r.prompt--
		return
	}
	r.mu.Lock()
	group := r.pick()
	r.returning = 0
	r.mu.Unlock()
	late := time.AfterFunc(slowRound, func() {
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
		if !w.isOutcomeUnknown {
			r.releaseEntity(w)
		}
	}
	s.beginRound()
}

// awaitReturn delays the next round after a slow round, whose callers get their replies now and may soon write again.
func (s *Store) awaitReturn(callers int, duration time.Duration) {
	if duration < slowRound {
		return
	}
	r := &s.rounds
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.returning == 0 {
		time.AfterFunc(min(duration/returnShare, slowRound), func() {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.returning = 0
			s.beginRound()
		})
	}
	r.returning += callers
}

// releaseEntities permits new writes of the entities in a group whose reply was lost. The outcomes must be known,
// because new writes may overwrite the evidence.
func (s *Store) releaseEntities(group []*write) {
	r := &s.rounds
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, w := range group {
		r.releaseEntity(w)
	}
	s.beginRound()
}

// pick removes the first writes from the queue, up to the limits of one round. It drops writes whose callers have given
// up. mu must be held.
func (r *rounds) pick() (group []*write) {
	size := 0
	for len(r.waiting) > 0 && len(group) < maxWrites {
		w := r.waiting[0]
		if len(group) > 0 && (w.needsOwnRound || group[0].needsOwnRound || size+w.size() > maxWriteBytes) {
			break
		}
		r.waiting[0] = nil
		r.waiting = r.waiting[1:]
		if !w.claimed.CompareAndSwap(false, true) {
			r.releaseEntity(w)
			continue
		}
		size += w.size()
		group = append(group, w)
	}
	return group
}

// releaseEntity queues the next write of an entity. If w must be sent again, w is the next write. mu must be held.
func (r *rounds) releaseEntity(w *write) {
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
