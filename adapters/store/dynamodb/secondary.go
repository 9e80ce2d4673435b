package dynamodb

import (
	"context"
	"errors"

	"edgetable/core/edm"
	"edgetable/core/table"
)

const (
	// SyncMargin is subtracted from the oldest heartbeat. It covers three cases: items that DynamoDB replicates later
	// than heartbeats written after them, eventually consistent reads, and clocks that differ.
	SyncMargin = edm.TicksPerSecond * 60
	// MaxBeatAge is the age of the oldest heartbeat above which the replica is considered not to follow.
	MaxBeatAge = BeatEvery * 5
)

// ErrFollowed means that a table cannot move to other buckets, because a secondary in another Region may receive its
// new spread before its entities.
var ErrFollowed = errors.New("a secondary in another Region reads this table, and would miss entities while they move: " +
	"stop the heartbeats (set the role to alone), wait ten minutes, and then move it; meanwhile the secondary is unavailable")

// Secondary is a read-only store on the replica of a table in another Region.
type Secondary struct {
	*Store
	look look
}

var _ table.Replicated = (*Secondary)(nil)

// NewSecondary makes a store on the replica of a global table in a Region. It makes no calls.
func NewSecondary(o Options, region string) (*Secondary, error) {
	s, err := New(o)
	if err != nil {
		return nil, err
	}
	s.db.ReadOnly = true
	read := func(ctx context.Context) (edm.Ticks, error) { return s.oldestBeat(ctx, region) }
	return &Secondary{s, look{now: s.now, read: read}}, nil
}

// Declares implements [table.Declaring]. A secondary applies declarations; they are made in the writing Region.
func (*Secondary) Declares() (name string, expiry bool) { return "a secondary on DynamoDB", false }

// Replication implements [table.Replicated]. Every write that returned before LastSync is visible, provided that
// DynamoDB replicates no item more than SyncMargin later than heartbeats that were written after it.
func (s *Secondary) Replication() table.Replication {
	oldest, known := s.look.get()
	switch {
	case !known:
		return table.Replication{Status: table.Unavailable}
	case oldest == 0:
		return table.Replication{Status: table.Bootstrap}
	case s.now()-oldest > MaxBeatAge:
		return table.Replication{Status: table.Unavailable, LastSync: oldest - SyncMargin}
	}
	return table.Replication{Status: table.Live, LastSync: oldest - SyncMargin}
}
