package postgres

import (
	"context"
	"math/rand/v2"
	"time"

	"edgetable/adapters/store/postgres/statement"
	"edgetable/core/edm"
)

const (
	purgeRows    = 1000
	purgeLives   = 500
	purgeTimeout = 10 * time.Minute
	// dropMemory is how long Purge retains the trail of a dropped record, which shows the outcome of a record change.
	// Servers look for outcomes for a shorter time.
	dropMemory = 2 * time.Minute
)

// Purge removes tombstones and entities of dropped tables that are older than PurgeAfter. Several servers may call
// Purge at the same time.
//
// A tombstone rejects writes with lower Timestamps. Before Purge removes it, Purge raises the floor of the incarnation,
// which then rejects the same writes, and waits until all statements that read the old floor have ended.
func (s *Store) Purge(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, purgeTimeout)
	defer cancel()
	if err := s.purgeDropped(ctx); err != nil {
		return err
	}
	if err := s.execute(ctx, statement.ForgetDrops, statement.Int8(dropMemory.Microseconds())); err != nil {
		return err
	}
	if err := s.execute(ctx, statement.ForgetUpkeep); err != nil {
		return err
	}
	return s.purgeDead(ctx)
}

func (s *Store) purging(ctx context.Context) {
	every(ctx, s.PurgeEvery, func(ctx context.Context) {
		if sleep(ctx, rand.N(s.PurgeEvery/10+1)) != nil { // a random delay, so that servers that were started together do not purge at the same time
			return
		}
		err := s.Purge(ctx)
		s.counters.purges.Add(1)
		if err != nil && ctx.Err() == nil {
			s.counters.purgeFailures.Add(1)
			s.Logf("tombstones and dropped tables were not removed; next attempt in %v: %v", s.PurgeEvery, err)
		}
	})
}

// purgeDropped removes the entities of dropped incarnations. It first waits for statements that found an incarnation
// before its table was dropped.
func (s *Store) purgeDropped(ctx context.Context) error {
	lives, err := s.query(ctx, statement.DroppedLives, statement.Int8(s.PurgeAfter.Microseconds()))
	if err != nil || len(lives) == 0 {
		return err
	}
	if err := s.awaitWriters(ctx, servers); err != nil {
		return err
	}
	for _, life := range lives {
		if err := s.deleteRows(ctx, statement.DeleteLife, life[0], 0); err != nil {
			return err
		}
		// DeleteLife skips rows that the purge of another server has locked. While such rows remain, EmptyLife does not
		// record that the incarnation is empty.
		if err := s.execute(ctx, statement.EmptyLife, life[0]); err != nil {
			return err
		}
	}
	return nil
}

func (s *Store) purgeDead(ctx context.Context) error {
	upTo := s.now() - edm.Ticks(s.PurgeAfter.Nanoseconds()/100)
	if err := s.checkClock(ctx); err != nil { // a purge by a clock that is ahead would raise the Timestamps of all servers
		return err
	}
	after := statement.Int8(0)
	for {
		lives, err := s.query(ctx, statement.DeadLives, after, statement.Int8(purgeLives))
		if err != nil || len(lives) == 0 {
			return err
		}
		if err := s.execute(ctx, statement.RaisePurged, statement.Array(statement.OIDInt8, bothForms(lives)), statement.Int8(int64(upTo))); err != nil {
			return err
		}
		if err := s.awaitWriters(ctx, servers); err != nil {
			return err
		}
		for _, life := range lives {
			if err := s.deleteRows(ctx, statement.DeleteDead, life[0], upTo); err != nil {
				return err
			}
		}
		if after = lives[len(lives)-1][0]; len(lives) < purgeLives {
			return nil
		}
	}
}

// bothForms returns each incarnation number and its negative. The record of a table with options contains the negative
// number.
func bothForms(lives [][][]byte) (list [][]byte) {
	for _, life := range lives {
		list = append(list, life[0], statement.Int8(-statement.Number(life[0])))
	}
	return list
}

// deleteRows removes rows of an incarnation in batches, in key order.
func (s *Store) deleteRows(ctx context.Context, query statement.Prepared, life []byte, upTo edm.Ticks) error {
	from := []byte{}
	for {
		rows, err := s.query(ctx, query, life, from, statement.Int8(purgeRows), statement.Int8(int64(upTo)))
		if err != nil {
			return err
		}
		for _, v := range rows {
			if string(v[0]) > string(from) {
				from = v[0]
			}
		}
		s.counters.purged.Add(int64(len(rows)))
		if len(rows) < purgeRows {
			return nil
		}
	}
}
