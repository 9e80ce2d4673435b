package outbox

import (
	"testing"

	"edgetable/adapters/store/durableobject"
	"edgetable/adapters/store/durableobject/internal/clock"
	"edgetable/adapters/store/durableobject/internal/message"
	"edgetable/adapters/store/durableobject/internal/storage"
	"edgetable/adapters/store/durableobject/internal/turn"
	"edgetable/core/edm"
	"edgetable/core/table"
	"edgetable/testdata/rowstest"
)

// object is an object that publishes, with its rows and a clock that the test moves.
type object struct {
	*testing.T
	now    edm.Ticks
	rows   rowstest.Rows
	clock  clock.Clock
	outbox Outbox
	ids    uint64
}

var (
	place       = message.Destination{Table: "acct/one", Buckets: 1}
	incarnation = table.Incarnation{1}
)

// newObject returns a bucket that publishes and has no entities.
func newObject(t *testing.T) *object {
	t.Helper()
	o := &object{T: t, now: 1000 * edm.TicksPerSecond}
	o.outbox = New(&o.clock, o.rand, "replica", "")
	o.outbox.Load(o.turn(), incarnation)
	o.outbox.JoinBucket(o.turn(), &place, incarnation)
	return o
}

// publisher returns a bucket that publishes and has one entity.
func publisher(t *testing.T) *object {
	t.Helper()
	o := newObject(t)
	o.write("a")
	return o
}

func (o *object) rand() uint64 { o.ids++; return o.ids }

func (o *object) turn() *turn.Turn { return &turn.Turn{Rows: &o.rows, Now: o.now} }

func rowOf(entity string) []byte { return storage.RowOf(storage.SpaceEntities, entity) }

// store writes the row of an entity.
func (o *object) store(entity string, at edm.Ticks) {
	row := table.Row{Key: []byte(entity), Timestamp: at, Properties: edm.AppendProperty(nil, "v", edm.String(entity))}
	o.rows.Put(rowOf(entity), table.AppendRow(nil, &row))
}

func (o *object) write(entity string) {
	o.Helper()
	at := o.clock.Next(o.now, 0, 1)
	o.store(entity, at)
	o.outbox.PutChange(o.turn(), rowOf(entity), at)
	o.clock.Issue(&o.rows, at)
	o.outbox.Notify(o.turn(), at)
}

// handOut makes the object publish, and returns the step and its batch.
func (o *object) handOut() (turn.Step, durableobject.Batch) {
	o.Helper()
	step := o.outbox.Publish(o.turn())
	if len(step.Calls) != 1 || step.Calls[0].To != durableobject.Replica {
		o.Fatalf("no batch is handed out: %+v", step.Calls)
	}
	b, err := durableobject.ReadBatch(step.Calls[0].Message)
	if err != nil {
		o.Fatal(err)
	}
	return step, b
}

// reply passes the reply to the batch of a step to the object.
func (o *object) reply(step turn.Step, a durableobject.Answer) {
	t := o.turn()
	t.Resumed, t.Answers = *step.Next, []durableobject.Answer{a}
	o.outbox.AcceptResult(t)
}

func result(p durableobject.Published) durableobject.Answer {
	return durableobject.Answer{Message: p.Append(nil)}
}

func (o *object) idle(what string) {
	o.Helper()
	if step := o.outbox.Publish(o.turn()); len(step.Calls) != 0 {
		o.Errorf("%s: a batch is handed out", what)
	}
}

// TestOutboxWaits checks how long the next batch waits after each kind of failure.
func TestOutboxWaits(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		what  string
		reply durableobject.Answer
		wait  edm.Ticks
	}{
		{"the reply was lost", durableobject.Answer{Err: durableobject.ErrLost}, batchTimeout},
		{"KV does not know", result(durableobject.Published{Failed: true, Done: []bool{false}}), batchTimeout},
		{"KV refused", result(durableobject.Published{Certain: true, Failed: true, Done: []bool{false}}), backoff(1)},
		{"the publisher was not reached", durableobject.Answer{Err: durableobject.ErrUnreachable}, backoff(1)},
	} {
		o := publisher(t)
		o.now += collect
		step, _ := o.handOut()
		o.reply(step, tt.reply)
		o.now += tt.wait - 1
		o.idle(tt.what)
		o.now++
		if _, batch := o.handOut(); len(batch.Changes) != 1 {
			t.Errorf("%s: %d changes are handed out again", tt.what, len(batch.Changes))
		}
	}
}

// TestOutboxSaysThatItLags checks that the object tells the replica that it lags after half a minute of failures. The outbox is
// settled only once the replica has confirmed that it reports the lag.
func TestOutboxSaysThatItLags(t *testing.T) {
	t.Parallel()
	o := publisher(t)
	o.now += collect
	for range 10 {
		step, batch := o.handOut()
		if o.outbox.IsSettled(o.now) {
			t.Error("it is settled before the replica has answered")
		}
		o.reply(step, result(durableobject.Published{Certain: true, Failed: true, Marked: batch.Lagging, Done: []bool{false}}))
		if o.outbox.IsSettled(o.now) != batch.Lagging || o.outbox.IsCaughtUp(o.now) {
			t.Errorf("a batch with lagging = %t: settled is %t", batch.Lagging, !batch.Lagging)
		}
		if batch.Lagging {
			return
		}
		o.now += maxDelay
	}
	t.Error("it never says so")
}

// TestHandOver checks that an object that takes entities over publishes the changes that the other object has not published, and
// only these.
func TestHandOver(t *testing.T) {
	t.Parallel()
	from := publisher(t)
	from.now += collect
	step, _ := from.handOut()
	from.reply(step, result(durableobject.Published{Certain: true, Done: []bool{true}}))
	from.now += collect
	from.write("b")

	to := newObject(t)
	to.outbox.Forget()
	to.now = from.now
	var taking message.Taking
	for _, entity := range []string{"a", "b"} {
		to.store(entity, to.now)
		at, ok := from.outbox.Unpublished(&from.rows, rowOf(entity))
		if ok != (entity == "b") {
			t.Errorf("%s: unpublished is %t", entity, ok)
		}
		if ok {
			to.outbox.PutUnpublished(&to.rows, rowOf(entity), at)
		}
	}
	from.outbox.HandOver(&taking)
	to.outbox.TakeOver(to.turn(), &message.Destination{Table: place.Table, Buckets: 1, Range: 1}, incarnation, &taking)
	_, batch := to.handOut()
	if len(batch.Changes) != 1 || string(batch.Changes[0].Key) != "b" {
		t.Errorf("it publishes %+v, want b", batch.Changes)
	}
}
