package postgres

import (
	"context"
	"edgetable/adapters/store/postgres/lend"
	"time"
)

// KeepCancels makes a store send cancel requests, as pgx does by default.
func (o Options) KeepCancels() Options {
	o.keepCancels = true
	return o
}

// NoBarrier makes a store read by new connections before a standby has what they show.
func (o Options) NoBarrier() Options {
	o.noBarrier = true
	return o
}

// Watch sets how long a write may be silent before the store looks after it.
func (o Options) Watch(d time.Duration) Options {
	o.watchEvery = d
	return o
}

// Machine makes a store believe that this is the clock of its machine.
func (o Options) Machine(now func() time.Time) Options {
	o.machine = now
	return o
}

// Setting is the value of a setting in a session of the store.
func (s *Store) Setting(ctx context.Context, name string) (value string, err error) {
	err = s.primary.QueryRow(ctx, "SELECT current_setting($1)", name).Scan(&value)
	return value, err
}

// Classify names the class of an error.
func Classify(err error) string { return classify(err).String() }

// Pages returns how many connections pages may have at the most, and how many pages wait for one.
func (s *Store) Pages() (most, waiting int) { return s.connections.Waiting(lend.Pages) }

// Unsent returns how many writes of one entity wait for a round.
func (s *Store) Unsent() int {
	s.rounds.mu.Lock()
	defer s.rounds.mu.Unlock()
	return len(s.rounds.waiting)
}

// HoldRounds lets no round begin before the function is called that it returns.
func (s *Store) HoldRounds() (resume func()) {
	s.rounds.mu.Lock()
	defer s.rounds.mu.Unlock()
	s.rounds.prompt += lend.PromptRounds
	return func() {
		s.rounds.mu.Lock()
		defer s.rounds.mu.Unlock()
		s.rounds.prompt -= lend.PromptRounds
		s.beginRound()
	}
}

// Name is the application_name of a store.
func (s *Store) Name() string { return s.name }
