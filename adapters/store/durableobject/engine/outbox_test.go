package engine

import (
	"testing"

	"edgetable/adapters/store/durableobject"
	"edgetable/adapters/store/durableobject/internal/message"
	"edgetable/adapters/store/durableobject/internal/restoring"
	"edgetable/adapters/store/durableobject/internal/storage"
	"edgetable/adapters/store/durableobject/internal/turn"
	"edgetable/core/edm"
)

// publisher returns a bucket that publishes and has one entity.
func publisher(t *testing.T) *object {
	t.Helper()
	o := newObject(t, "replica")
	first := o.put("a")
	step := o.handle(first, nil)
	o.demand("commit", o.handle(first, &step, located(1, false)), nil)
	return o
}

func (o *object) write(row string) {
	o.Helper()
	o.demand("commit", o.handle(o.put(row), nil), nil)
}

// alarm sends the alarm to the object. If the object asks the catalog, the answer is that the table is
// not being restored.
func (o *object) alarm() turn.Step {
	o.Helper()
	step := o.handle(Alarm(), nil)
	if len(step.Calls) == 1 && step.Calls[0].To.Name == "catalog/acct" {
		step = o.handle(Alarm(), &step, answer((&restoring.Restore{}).Append(message.Done(nil))))
	}
	return step
}

// handOut sends the alarm to the object, and returns the step and its batch.
func (o *object) handOut() (turn.Step, durableobject.Batch) {
	o.Helper()
	step := o.alarm()
	o.calls("alarm", step, "replica")
	b, err := durableobject.ReadBatch(step.Calls[0].Message)
	if err != nil {
		o.Fatal(err)
	}
	return step, b
}

func (o *object) waiting() (n int) {
	for range o.rows.Scan([]byte{storage.SpaceOutbox}, []byte{storage.SpaceOutbox + 1}, 0) {
		n++
	}
	return n
}

func result(p durableobject.Published) durableobject.Answer { return answer(p.Append(nil)) }

func (o *object) idle(what string) {
	o.Helper()
	if step := o.alarm(); len(step.Calls) != 0 {
		o.Errorf("%s: a batch is handed out", what)
	}
}

// TestOutboxKeepsLaterChanges checks that changes are collected for a second and published together,
// and that a row that changed while the batch was in flight stays in the outbox.
func TestOutboxKeepsLaterChanges(t *testing.T) {
	t.Parallel()
	o := publisher(t)
	o.write("b")
	o.idle("at once")
	o.now += edm.TicksPerSecond
	step, batch := o.handOut()
	if len(batch.Changes) != 2 || batch.Incarnation[0] != 1 {
		t.Fatalf("the batch has %d changes of %v", len(batch.Changes), batch.Incarnation)
	}
	o.now++
	o.write("b")
	o.handle(Alarm(), &step, result(durableobject.Published{Certain: true, Done: []bool{true, true}}))
	if n := o.waiting(); n != 1 {
		t.Errorf("%d changes wait, want that of b", n)
	}
	o.now += edm.TicksPerSecond
	step, batch = o.handOut()
	o.handle(Alarm(), &step, result(durableobject.Published{Certain: true, Done: []bool{true}}))
	if n := o.waiting(); len(batch.Changes) != 1 || n != 0 {
		t.Errorf("a batch of %d changes leaves %d", len(batch.Changes), n)
	}
}

// TestOutboxWaitsForAnEarlierEngine checks that a restarted object sends no batch while a batch from before the restart
// may be in flight.
func TestOutboxWaitsForAnEarlierEngine(t *testing.T) {
	t.Parallel()
	o := publisher(t)
	o.now += edm.TicksPerSecond
	o.handOut()
	rows := o.rows
	o = newObject(t, "replica")
	o.rows, o.now = rows, o.now+edm.TicksPerSecond+1
	o.idle("while the batch is in flight")
	o.now += minute
	if _, batch := o.handOut(); len(batch.Changes) != 1 {
		t.Errorf("%d changes are handed out again", len(batch.Changes))
	}
}

// TestOutboxWaitsForARestore checks that an object that just woke up publishes nothing while its table is being
// restored, because the object may be at an earlier state. If the catalog does not answer, the object waits.
func TestOutboxWaitsForARestore(t *testing.T) {
	t.Parallel()
	restoring := (&restoring.Restore{ID: 1, Phase: restoring.Returning, Objects: []restoring.Returned{{Returns: true}}}).Append(message.Done(nil))
	for _, said := range []durableobject.Answer{answer(restoring), gone} {
		o := publisher(t)
		o.now += edm.TicksPerSecond
		step := o.handle(Alarm(), nil)
		for range turn.Rounds {
			if len(step.Calls) > 0 {
				o.calls("alarm", step, "catalog/acct")
				step = o.handle(Alarm(), &step, said)
			}
		}
		if len(step.Calls) != 0 || step.Alarm <= o.now {
			t.Errorf("%d calls, the next alarm in %d", len(step.Calls), step.Alarm-o.now)
		}
		o.now = step.Alarm
		o.handOut()
	}
}
