package dynamodb

import (
	"context"
	"fmt"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"edgetable/adapters/store/dynamodb/internal/attribute"
	"edgetable/adapters/store/dynamodb/internal/call"
	"edgetable/core/edm"
	"edgetable/core/table"
)

// Heartbeats are items that the writing Region updates regularly, and that a secondary in another Region reads.
// DynamoDB replicates the partitions of a table independently, and one partition may lag. Several heartbeats with
// different hash keys are therefore needed.
//
// The sort key is the name of the Region, so two Regions never write the same item.

const (
	// Heartbeats is the number of heartbeat items. Each call of Beat writes all of them.
	Heartbeats = 16
	// BeatEvery is the time between two calls of Beat. EventBridge permits no shorter schedule.
	BeatEvery = edm.TicksPerSecond * 60
	// rivalAge is the age below which a heartbeat proves that its Region is still writing. One heartbeat may be
	// missing; three missing heartbeats raise an alarm.
	rivalAge = BeatEvery * 5 / 2
)

// RivalError means that another Region writes to the same global table. DynamoDB checks conditions only within a
// Region, so the Regions overwrite each other's writes.
type RivalError struct{ Region string }

func (e *RivalError) Error() string {
	return fmt.Sprintf("the Region %s writes to the same global table: only one Region may write, or writes are lost; give the other Region the role secondary", e.Region)
}

// Beat writes the heartbeats of a Region. It returns a [*RivalError] if another Region writes heartbeats too.
func (s *Store) Beat(ctx context.Context, region string) error {
	ctx, cancel, err := s.begin(ctx)
	if err != nil {
		return err
	}
	defer cancel()
	now := s.now() // The time is read before the heartbeats are written. Every write that was acknowledged before this time therefore precedes the heartbeats.
	requests := make([]types.WriteRequest, Heartbeats)
	for i := range requests {
		it := heartbeatKey(i, region)
		it[attrTicks] = attribute.Number(now)
		requests[i] = call.PutRequest(it)
	}
	if _, err := s.db.BatchWrite(ctx, requests); err != nil {
		return err
	}
	beats, err := s.lastBeats(ctx, table.Strong)
	if err != nil {
		return err
	}
	for other, at := range beats {
		if other != region && now-at < rivalAge {
			return &RivalError{other}
		}
	}
	return nil
}

func heartbeatKey(i int, region string) item {
	return call.Key([]byte{kindHeartbeat, byte(i)}, []byte(region))
}

// lastBeats returns the last heartbeat of each Region, as stored in the first of its heartbeat items.
func (s *Store) lastBeats(ctx context.Context, c table.Consistency) (map[string]edm.Ticks, error) {
	beats := make(map[string]edm.Ticks)
	found, err := s.db.Query(ctx, call.Query{Hash: []byte{kindHeartbeat, 0}, First: []byte{0}, Rows: 100, Consistency: c})
	if err != nil {
		return nil, err
	}
	for _, it := range found.Items {
		at, err := strconv.ParseInt(attribute.Digits(it[attrTicks]), 10, 64)
		if err != nil {
			return nil, errItem
		}
		beats[string(attribute.Bytes(it[attrSort]))] = edm.Ticks(at)
	}
	return beats, nil
}

// oldestBeat returns the time of the oldest heartbeat item of the writing Region, or 0 if an item is missing. It
// ignores heartbeats of the given region.
func (s *Store) oldestBeat(ctx context.Context, region string) (edm.Ticks, error) {
	beats, err := s.lastBeats(ctx, table.Eventual)
	if err != nil {
		return 0, err
	}
	writer, last := "", edm.Ticks(0)
	for other, at := range beats {
		if other != region && at > last {
			writer, last = other, at
		}
	}
	if writer == "" {
		return 0, nil
	}
	keys := make([]item, Heartbeats)
	for i := range keys {
		keys[i] = heartbeatKey(i, writer)
	}
	oldest, n := last, 0
	err = s.db.BatchGet(ctx, keys, table.Eventual, func(it item) {
		if at, err := strconv.ParseInt(attribute.Digits(it[attrTicks]), 10, 64); err == nil {
			oldest, n = min(oldest, edm.Ticks(at)), n+1
		}
	})
	if err != nil || n < Heartbeats {
		return 0, err
	}
	return oldest, nil
}
