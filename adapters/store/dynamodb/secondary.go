package dynamodb

import (
	"context"

	"edgetable/core/edm"
	"edgetable/core/table"
)

const (
	// SyncMargin is subtracted from the time of the oldest heartbeat. It covers items that are replicated after a later
	// heartbeat, eventually consistent reads, and clock differences.
	SyncMargin = edm.TicksPerSecond * 60
	// MaxBeatAge is the maximum age of the oldest heartbeat in a replica. If the heartbeat is older, the replica is
	// unavailable.
	MaxBeatAge = BeatEvery * 5
)

// Secondary is a read-only store on this Region's replica of a table that another Region writes.
type Secondary struct {
	*Store
	look beatReader
}

var _ table.Replicated = (*Secondary)(nil)

// NewSecondary returns a Secondary for a process in the given Region. It makes no calls.
func NewSecondary(o Options, region string) (*Secondary, error) {
	s, err := New(o)
	if err != nil {
		return nil, err
	}
	s.db.ReadOnly = true
	read := func(ctx context.Context) (edm.Ticks, error) { return s.oldestBeat(ctx, region) }
	return &Secondary{s, beatReader{now: s.now, read: read, timeout: lookTime}}, nil
}

// Declares implements [table.Declaring]. A secondary applies the options of tables, but only the writing Region changes
// them.
func (*Secondary) Declares() (name string, expiry bool) { return "a secondary on DynamoDB", false }

// Replication implements [table.Replicated]. Every write that was acknowledged before LastSync is visible, unless its
// replication lags more than SyncMargin behind a later heartbeat.
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
