package postgres

import (
	"context"
	"edgetable/adapters/store/postgres/lend"
	"sync"
	"time"
)

const (
	// patience is how long the next round waits for one that runs. A commit that waits for a
	// standby takes longer, and so does a statement that waits for the lock of somebody else;
	// it costs nothing to begin another round meanwhile.
	patience = 2 * time.Millisecond
	// returnShare is the part of the time of a slow round for which the next one waits for the
	// callers of that round; patience is the most.
	returnShare = 8
	// A group ends before it has more than this.
	maxWrites     = 128
	maxWriteBytes = 1 << 20
)

// rounds sends writes of one entity in groups: a round sends all that came while others
// ran. The first write begins a round at once, so groups form only where there is something
// to wait for. An entity is in one round at a time.
//
// Where commits are slow, the callers of a round get their answers together, and often write
// again at once. The next round waits for that many writes, for a small part of the time of a
// commit: else the first of them would begin it alone, and the others would wait until another
// connection is free.
type rounds struct {
	mu        sync.Mutex
	waiting   []*write            // of different entities, none of which is in a round
	later     map[entity][]*write // for each entity that waits or is in a round: its next writes
	prompt    int                 // rounds that began less than patience ago
	returning int                 // callers of slow rounds who may write again at once
}

// send gives a write to a round to come.
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

// beginRound begins a round if there is something to send and no other round to wait for.
// The rounds are locked.
func (s *Store) beginRound() {
	if r := &s.rounds; len(r.waiting) >= max(1, r.returning) && r.prompt < lend.PromptRounds {
		r.prompt++
		s.beside.Go(s.round)
	}
}

// round waits for a connection and sends what waits then.
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

// awaitReturn lets the next round wait for the callers of one that took long, and who get their
// answers now.
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

// found ends the round of writes whose outcome was looked for: until then no later write of
// their entities may hide it.
func (s *Store) found(group []*write) {
	r := &s.rounds
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, w := range group {
		r.ended(w)
	}
	s.beginRound()
}

// pick takes what came first, up to the limits of a group, except for writes whose callers
// have left.
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

// ended lets the next write of an entity wait for a round: the same one, if it must be sent
// again.
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
