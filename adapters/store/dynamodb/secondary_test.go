package dynamodb_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"edgetable/adapters/store/dynamodb"
	"edgetable/adapters/store/dynamodb/rebucket"
	"edgetable/core/edm"
	"edgetable/core/key"
	"edgetable/core/table"
	"edgetable/testdata/must"
)

const second = edm.TicksPerSecond

// regions is a global table in two Regions. Both Regions use one clock, which advances
// only when the test waits.
type regions struct {
	*copier
	clock              atomic.Int64
	primary, replica   string // names of the DynamoDB tables in the two Regions
	writer             *dynamodb.Store
	reader             *dynamodb.Secondary
	service, secondary *table.Service
}

func newRegions(t *testing.T, seed uint64) *regions {
	r := &regions{primary: newTable(t), replica: newTable(t)}
	r.copier = newCopier(t, r.primary, r.replica, seed)
	r.clock.Store(int64(edm.TicksOf(time.Date(2026, 11, 24, 10, 0, 0, 0, time.UTC))))
	r.writer = open(t, r.options(r.primary))
	var err error
	r.reader, err = dynamodb.NewSecondary(r.options(r.replica), "eu-west-1")
	must.OK(t, err)
	r.reader.SetLookTime(time.Minute) // on a busy machine, DynamoDB Local can take more than lookTime
	r.service, r.secondary = r.over(r.writer), r.over(r.reader)
	return r
}

func (r *regions) over(s table.Store) *table.Service {
	return table.New(s, table.Options{Now: r.now, Rand: rand.Uint64})
}

func (r *regions) options(name string) dynamodb.Options {
	return dynamodb.Options{
		Client: newClient(nil), Table: name, Buckets: 2, Now: r.now, Attempt: time.Minute, Deadline: 5 * time.Minute,
		Elapsed: func() time.Duration { return time.Duration(r.clock.Load()) * 100 },
		Sleep: func(ctx context.Context, d time.Duration) error {
			r.wait(edm.Ticks(d / 100))
			return ctx.Err()
		},
	}
}

func (r *regions) now() edm.Ticks   { return edm.Ticks(r.clock.Load()) }
func (r *regions) wait(d edm.Ticks) { r.clock.Add(int64(d)) }
func (r *regions) replicate()       { r.note(r.now()); r.copy(r.now()) }
func (r *regions) beat(region string) error {
	err := r.writer.Beat(r.t.Context(), region)
	r.replicate()
	return err
}

func (r *regions) state(want table.ReplicationStatus, lastSync edm.Ticks) {
	r.t.Helper()
	r.wait(5 * second) // move the clock, so that the store does not use the cached heartbeat
	got := r.reader.Replication()
	if got.Status != want || got.LastSync != lastSync {
		r.t.Errorf("%s: the replica is %v since %v, want %v since %v", r.now().Time(), got.Status, got.LastSync.Time(), want, lastSync.Time())
	}
}

// TestReplication checks that LastSync is the time of the oldest heartbeat minus one
// minute.
func TestReplication(t *testing.T) {
	t.Parallel()
	r := newRegions(t, 1)
	r.state(table.Bootstrap, 0)
	first := r.now()
	must.OK(t, r.writer.Beat(t.Context(), "us-east-1"))
	r.holds = func(hash []byte) bool { return hash[0] == 'H' && hash[1] == 9 }
	r.replicate()
	r.state(table.Bootstrap, 0) // one heartbeat item is missing
	r.holds = nil
	r.replicate()
	r.state(table.Live, first-60*second)

	r.wait(60 * second)
	r.holds = func(hash []byte) bool { return hash[0] == 'H' && hash[1] == 3 }
	next := r.now()
	must.OK(t, r.beat("us-east-1"))
	r.state(table.Live, first-60*second) // the oldest heartbeat determines LastSync
	r.holds = nil
	r.replicate()
	r.state(table.Live, next-60*second)

	r.wait(285 * second)
	r.state(table.Live, next-60*second)
	r.wait(10 * second)
	r.state(table.Unavailable, next-60*second) // no heartbeat was written, or DynamoDB has replicated none
	late := r.now()
	must.OK(t, r.beat("us-east-1"))
	r.state(table.Live, late-60*second)
}

// TestReplicationUnreadable checks that a replica is unavailable if no read of it has
// ever succeeded.
func TestReplicationUnreadable(t *testing.T) {
	t.Parallel()
	r := newRegions(t, 2)
	o := r.options("edgetable-nowhere")
	lost, err := dynamodb.NewSecondary(o, "eu-west-1")
	must.OK(t, err)
	if got := lost.Replication(); got != (table.Replication{Status: table.Unavailable}) {
		t.Errorf("a replica that is not there: %+v", got)
	}
}

// TestSecondaryWritesNothing checks that every kind of write on a secondary fails and
// writes nothing.
func TestSecondaryWritesNothing(t *testing.T) {
	t.Parallel()
	r := newRegions(t, 3)
	must.OK(t, r.service.CreateTable(t.Context(), peopleTable))
	r.replicate()
	k := key.Append(nil, "p", "r")
	record, err := r.reader.ReadRecord(t.Context(), peopleTable.Key(), table.Eventual)
	must.OK(t, err)
	for what, write := range map[string]func() error{
		"commit": func() error {
			_, err := r.reader.Commit(t.Context(), peopleTable.Key(), []table.Mutation{{Key: k}})
			return err
		},
		"batch": func() error {
			_, err := r.reader.Commit(t.Context(), peopleTable.Key(), []table.Mutation{{Key: k}, {Key: key.Append(nil, "p", "s")}})
			return err
		},
		"large entity": func() error {
			_, err := r.reader.Commit(t.Context(), peopleTable.Key(), []table.Mutation{{Key: k, Properties: large(900_000)}})
			return err
		},
		"drop":     func() error { return r.reader.Drop(t.Context(), peopleTable.Key(), record.Revision) },
		"record":   func() error { _, err := r.reader.WriteRecord(t.Context(), record); return err },
		"beat":     func() error { return r.reader.Beat(t.Context(), "eu-west-1") },
		"rebucket": func() error { return r.reader.Rebucket(t.Context(), peopleTable.Key(), rebucket.Options{Buckets: 4}) },
	} {
		if err := write(); err == nil || !strings.Contains(err.Error(), "a secondary must not write") {
			t.Errorf("%s: %v", what, err)
		}
	}
	back := newCopier(t, r.replica, r.primary, 3)
	back.note(r.now())
	if len(back.seen) != len(r.seen) {
		t.Errorf("the replica has %d items, want %d", len(back.seen), len(r.seen))
	}
}

var peopleTable = table.Name{Account: "acct", Table: "people"}

// TestRivals checks that Beat reports another Region that writes. Beat recognizes it by
// the heartbeats of that Region.
func TestRivals(t *testing.T) {
	t.Parallel()
	r := newRegions(t, 4)
	must.OK(t, r.beat("us-east-1"))
	other := open(t, r.options(r.replica))
	rival := (*dynamodb.RivalError)(nil)
	if err := other.Beat(t.Context(), "eu-west-1"); !errors.As(err, &rival) || rival.Region != "us-east-1" {
		t.Errorf("the second Region beats: %v", err)
	}
	r.wait(151 * second)
	must.OK(t, other.Beat(t.Context(), "eu-west-1")) // the first Region has stopped writing
}

// TestRebucketFollowed checks that a table does not move to other buckets while a
// secondary may read it.
func TestRebucketFollowed(t *testing.T) {
	t.Parallel()
	r := newRegions(t, 5)
	must.OK(t, r.service.CreateTable(t.Context(), peopleTable))
	must.OK(t, r.beat("us-east-1"))
	move := func() error { return r.writer.Rebucket(t.Context(), peopleTable.Key(), rebucket.Options{Buckets: 4}) }
	if err := move(); !errors.Is(err, dynamodb.ErrFollowed) {
		t.Errorf("with a secondary: %v", err)
	}
	must.OK(t, r.writer.Rebucket(t.Context(), peopleTable.Key(), rebucket.Options{Abort: true}))
	r.wait(600 * second)
	must.OK(t, move())
}

// answered is an acknowledged write.
type answered struct {
	at    edm.Ticks
	value int32 // 0 means that the entity was deleted
}

// TestLastSyncTime checks that every write that was acknowledged before LastSyncTime is
// visible at the secondary. It writes small and large entities and batches, and drops and
// creates tables. Meanwhile the replication lags, stops, and lets items overtake each
// other by less than SyncMargin. At the end the replica becomes the primary.
func TestLastSyncTime(t *testing.T) {
	t.Parallel()
	for seed := range uint64(2) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			r := newRegions(t, seed)
			r.reorder = 55 * second
			random := rand.New(rand.NewPCG(seed, 11))
			tables := []table.Name{peopleTable, {Account: "acct", Table: "places"}}
			history := make(map[string][]answered) // acknowledged writes by table and RowKey
			for _, n := range tables {
				must.OK(t, r.service.CreateTable(t.Context(), n))
			}
			var looked, live, unavailable, moved int
			var before table.Replication
			value := int32(0)
			for round := range 120 {
				switch {
				case round == 40:
					r.lag = 400 * second // from here on, the replication stops for a while
				case round == 80:
					r.lag = 0
				case round < 40 || round > 80:
					r.lag = edm.Ticks(random.Int64N(int64(30 * second)))
				}
				n := tables[random.IntN(2)]
				note := func(v int32, rows ...string) {
					for _, row := range rows {
						history[n.Table+"/"+row] = append(history[n.Table+"/"+row], answered{r.now(), v})
					}
				}
				row := fmt.Sprint("r", random.IntN(4))
				value++
				properties := edm.AppendProperty(nil, "Value", edm.Int32(value))
				switch x := random.IntN(20); {
				case x == 0:
					must.OK(t, r.service.DeleteTable(t.Context(), n))
					note(0, "r0", "r1", "r2", "r3")
					must.OK(t, r.service.CreateTable(t.Context(), n))
				case x < 3:
					_, err := r.writer.Commit(t.Context(), n.Key(), []table.Mutation{{Kind: table.Delete, Key: key.Append(nil, "p", row)}})
					must.OK(t, err)
					note(0, row)
				case x < 6:
					_, err := r.writer.Commit(t.Context(), n.Key(), []table.Mutation{
						{Key: key.Append(nil, "p", "r0"), Properties: properties}, {Key: key.Append(nil, "p", "r1"), Properties: properties},
					})
					must.OK(t, err)
					note(value, "r0", "r1")
				default:
					if x < 9 {
						properties = append(properties, large(400_000)...)
					}
					_, err := r.writer.Commit(t.Context(), n.Key(), []table.Mutation{{Key: key.Append(nil, "p", row), Properties: properties}})
					must.OK(t, err)
					note(value, row)
				}
				r.note(r.now())
				r.wait(edm.Ticks(random.Int64N(int64(20 * second))))
				if round%4 == 0 {
					must.OK(t, r.writer.Beat(t.Context(), "us-east-1"))
					r.note(r.now())
				}
				r.copy(r.now())
				now := r.reader.Replication()
				if now.LastSync < before.LastSync {
					t.Errorf("LastSyncTime goes back from %v to %v", before.LastSync.Time(), now.LastSync.Time())
				}
				if moved++; now.LastSync == before.LastSync {
					moved--
				}
				before = now
				switch now.Status {
				case table.Live:
					live++
				case table.Unavailable:
					unavailable++
				}
				for _, n := range tables {
					for i := range 4 {
						looked++
						r.visible(n, fmt.Sprint("r", i), history[n.Table+"/"+fmt.Sprint("r", i)], now.LastSync)
					}
				}
			}
			t.Logf("%d looks, live in %d rounds, unavailable in %d, LastSyncTime moved %d times", looked, live, unavailable, moved)
			if live < 20 || unavailable == 0 || moved < 5 {
				t.Error("the test shows little")
			}
			r.failover(tables, history)
		})
	}
}

// visible checks that the replica shows an entity in one of the permitted states.
func (r *regions) visible(n table.Name, row string, history []answered, synced edm.Ticks) {
	r.t.Helper()
	first := 0 // index of the oldest state that is permitted
	for i, d := range history {
		if d.at <= synced {
			first = i
		}
	}
	entity, err := r.reader.Get(r.t.Context(), n.Key(), key.Append(nil, "p", row), table.Eventual)
	got := int32(0)
	switch late := len(history) > 0 && history[len(history)-1].at > synced; {
	case errors.Is(err, table.ErrNoEntity), errors.Is(err, table.ErrNoTable):
	case errors.Is(err, table.ErrBusy) && late:
		return // some chunks of a large entity are not replicated yet
	case err != nil:
		r.t.Errorf("%s: %s/%s: %v", r.now().Time(), n.Table, row, err)
		return
	default:
		v, _ := entity.Properties.Lookup("Value")
		got = int32(v.Int())
	}
	if len(history) == 0 || first == 0 && history[0].at > synced && got == 0 {
		return // no write need be visible yet
	}
	for _, d := range history[first:] {
		if d.value == got {
			return
		}
	}
	r.t.Errorf("%s: LastSyncTime is %v, and %s/%s shows %d of %v from %d on", r.now().Time(), synced.Time(), n.Table, row, got, history, first)
}

// failover follows the steps of docs/aws.md. Writes stop, and a last heartbeat is written
// SyncMargin later. When the replica has that heartbeat, it must have all writes.
func (r *regions) failover(tables []table.Name, history map[string][]answered) {
	stopped := r.now()
	r.wait(61 * second)
	must.OK(r.t, r.beat("us-east-1"))
	for i := 0; r.reader.Replication().LastSync < stopped; i++ {
		if i == 100 {
			r.t.Fatal("LastSyncTime does not pass the end of the writes")
		}
		r.wait(10 * second)
		r.replicate()
	}
	promoted := open(r.t, r.options(r.replica))
	r.wait(151 * second)
	must.OK(r.t, promoted.Beat(r.t.Context(), "eu-west-1"))
	for _, n := range tables {
		for i := range 4 {
			row := fmt.Sprint("r", i)
			h := history[n.Table+"/"+row]
			if len(h) > 0 {
				r.visible(n, row, h[len(h)-1:], stopped)
			}
		}
		_, err := promoted.Commit(r.t.Context(), n.Key(), []table.Mutation{{Key: key.Append(nil, "p", "r0"), Properties: edm.AppendProperty(nil, "Value", edm.Int32(-1))}})
		must.OK(r.t, err)
	}
	// The old primary becomes the replica.
	back := newCopier(r.t, r.replica, r.primary, 1)
	back.note(r.now())
	back.copy(r.now())
	follower, err := dynamodb.NewSecondary(r.options(r.primary), "us-east-1")
	must.OK(r.t, err)
	if got := follower.Replication(); got.Status != table.Live {
		r.t.Errorf("the old primary is %v", got.Status)
	}
	row, err := follower.Get(r.t.Context(), peopleTable.Key(), key.Append(nil, "p", "r0"), table.Eventual)
	must.OK(r.t, err)
	if v, _ := row.Properties.Lookup("Value"); v.Int() != -1 {
		r.t.Errorf("the old primary shows %v", v)
	}
}
