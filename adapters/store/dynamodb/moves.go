package dynamodb

import (
	"context"
	"errors"
	"fmt"

	"edgetable/adapters/store/dynamodb/internal/call"
	"edgetable/adapters/store/dynamodb/rebucket"
	"edgetable/core/table"
)

// Rebucket moves a table to another number of buckets; see package rebucket.
func (s *Store) Rebucket(ctx context.Context, key table.RecordKey, o rebucket.Options) error {
	if !o.Abort {
		if err := s.checkNoSecondary(ctx); err != nil {
			return err
		}
	}
	return rebucket.Run(ctx, rebucket.Env{
		Store: mover{s}, Elapsed: s.elapsed, Sleep: s.sleep, Rand: s.rand,
		Grace: max(s.leases.length, defaultLease) + leaseMargin, Deadline: s.deadline,
	}, key, o)
}

// ErrFollowed means that a table cannot move because a secondary in another Region reads it. The secondary might
// receive the table's new location before its entities.
var ErrFollowed = errors.New("a secondary in another Region reads this table, and would miss entities while they move: " +
	"stop the heartbeats (set the role to \"alone\"), wait ten minutes, and then move the table; meanwhile the secondary is unavailable")

// movingAge is the age below which a heartbeat shows that a secondary may be reading the table.
const movingAge = BeatEvery * 10

// checkNoSecondary returns an error if a recent heartbeat shows that a secondary in another Region may be reading the
// table.
func (s *Store) checkNoSecondary(ctx context.Context) error {
	beats, err := s.lastBeats(ctx, table.Strong)
	if err != nil {
		return err
	}
	for region, at := range beats {
		if s.now()-at < movingAge {
			return fmt.Errorf("%w: %s wrote its last heartbeat at %s", ErrFollowed, region, at.Time().Format("15:04:05Z"))
		}
	}
	return nil
}

type mover struct{ s *Store }

func (m mover) Change(ctx context.Context, key table.RecordKey, change func(rebucket.Location) (rebucket.Location, error)) error {
	return m.s.changeRecord(ctx, key, change)
}

var onlyHeads = call.NewProjection(attrSort, attrTicks, attrNonce, attrSize, attrChunks)

func (m mover) Heads(ctx context.Context, p rebucket.Spread, bucket uint16, start []byte, rows int) (page []rebucket.Head, next []byte, err error) {
	found, err := m.s.db.Query(ctx, call.Query{Hash: hashKey(kindEntity, p, bucket), First: start, Rows: rows, Projection: onlyHeads})
	if err != nil {
		return nil, nil, err
	}
	page = make([]rebucket.Head, len(found.Items))
	for i, it := range found.Items {
		if page[i], err = readHead(it); err != nil {
			return nil, nil, err
		}
	}
	if found.Next != nil {
		next = append(found.Next, 0)
	}
	return page, next, nil
}

func (m mover) Copy(ctx context.Context, key table.RecordKey, l rebucket.Location, d []rebucket.Difference, alive func(context.Context) error) (done rebucket.Copied, err error) {
	err = m.s.db.Retry(ctx, call.Once, func(ctx context.Context) error {
		t := transfer{Store: m.s, from: l.Spread, to: l.Target, alive: alive}
		err := t.collect(ctx, key, &l, d)
		if err == nil {
			err = t.send(ctx)
		}
		t.removeUnusedChunks(ctx, err)
		done = t.Copied
		return err
	})
	return done, err
}
