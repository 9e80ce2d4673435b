package engine

import (
	"reflect"
	"testing"

	"edgetable/adapters/store/durableobject/internal/message"
	"edgetable/adapters/store/durableobject/internal/record"
	"edgetable/adapters/store/durableobject/internal/storage"
	"edgetable/adapters/store/durableobject/internal/turn"
	"edgetable/core/edm"
	"edgetable/core/table"
)

// withTable returns a catalog with a table in two buckets, and the revision of its record.
func withTable(t *testing.T) (*object, table.Revision) {
	t.Helper()
	o := newObject(t, "")
	m := o.attempt(message.Write(nil, &table.Record{Key: tableKey, Incarnation: table.Incarnation{1}}, message.Layout{Buckets: 2}))
	o.demand("write", o.handle(m, nil), nil)
	return o, o.revision()
}

func (o *object) revision() table.Revision {
	o.Helper()
	r := o.demand("read", o.handle(message.Key(nil, message.OpRead, tableText), nil), nil)
	r.Layout()
	d := r.Document()
	return d.Revision
}

const bucket0, bucket1 = "bucket/table/acct/one/2/0", "bucket/table/acct/one/2/1"

func dropped(high edm.Ticks) []byte { return message.DoneTicks(nil, high) }

// TestRemoveTable checks that a deletion tells all buckets to drop the table, and repeats this to buckets
// that did not answer. Then it tells all buckets to forget the table. A repeated message gets the same
// answer.
func TestRemoveTable(t *testing.T) {
	t.Parallel()
	o, revision := withTable(t)
	remove := o.attempt(message.Remove(nil, tableText, revision))
	step := o.handle(remove, nil)
	o.calls("remove", step, bucket0, bucket1)
	if step.Alarm == 0 {
		t.Error("no alarm finishes the deletion")
	}
	step = o.handle(remove, &step, answer(dropped(7)), gone)
	o.calls("one bucket is silent", step, bucket1)
	step = o.handle(remove, &step, answer(dropped(9)))
	o.calls("forget", step, bucket0, bucket1)
	o.demand("remove", o.handle(remove, &step, gone, gone), nil)
	o.demand("again", o.handle(remove, nil), nil)
	o.demand("read", o.handle(message.Key(nil, message.OpRead, tableText), nil), table.ErrNoRecord)
	if floor := storage.Ticks(&o.rows, storage.RowFloor); floor != 9 {
		t.Errorf("the floor of the next table is %d", floor)
	}
}

// TestAlarmFinishesADeletion checks that the alarm finishes a deletion if a bucket does not answer.
// Until then, the outcome of the delete is unknown, and readers do not find the table.
func TestAlarmFinishesADeletion(t *testing.T) {
	t.Parallel()
	o, revision := withTable(t)
	remove := o.attempt(message.Remove(nil, tableText, revision))
	step := o.handle(remove, nil)
	step = o.handle(remove, &step, answer(dropped(1)), gone)
	for range turn.Rounds - 1 {
		step = o.handle(remove, &step, gone)
	}
	o.demand("remove", step, table.ErrUnknown)
	list := o.demand("list", o.handle(message.List(nil, "table/acct/", "", 10), nil), nil)
	if records, _ := list.Documents(); len(records) != 0 {
		t.Errorf("%d tables are listed", len(records))
	}
	o.now += turn.RetryDelay
	alarm := o.handle(Alarm(), nil)
	o.calls("alarm", alarm, bucket0, bucket1)
	o.demand("alarm", o.handle(Alarm(), &alarm, answer(dropped(1)), answer(dropped(1))), nil)
	o.demand("read", o.handle(message.Key(nil, message.OpRead, tableText), nil), table.ErrNoRecord)
	if next := o.handle(Alarm(), nil); next.Alarm != 0 || len(next.Calls) != 0 {
		t.Errorf("then the alarm has %d calls and comes again at %d", len(next.Calls), next.Alarm)
	}
}

// TestWriteComparesRevisions checks that a record is written only if the message names its current revision.
func TestWriteComparesRevisions(t *testing.T) {
	t.Parallel()
	o, revision := withTable(t)
	write := func(seen table.Revision) []byte {
		return o.attempt(message.Write(nil, &table.Record{Key: tableKey, Revision: seen, Value: []byte("v")}, message.Layout{}))
	}
	o.demand("none", o.handle(write(""), nil), table.ErrRevision)
	o.demand("another", o.handle(write("x"), nil), table.ErrRevision)
	o.demand("the last", o.handle(write(revision), nil), nil)
	o.demand("the same again", o.handle(write(revision), nil), table.ErrRevision)
	l := o.demand("locate", o.handle(message.Key(nil, message.OpLocate, tableText), nil), nil)
	if got := l.Located(); got.Incarnation != (table.Incarnation{1}) || got.Layout.Buckets != 2 {
		t.Errorf("after a write the table is %+v", got)
	}
}

// TestStoredRecord checks the form of a stored record, which must never change.
func TestStoredRecord(t *testing.T) {
	t.Parallel()
	rec := record.Record{
		Record: table.Record{Key: tableKey, Revision: "r9", Incarnation: table.Incarnation{1, 11: 2}, Value: []byte("v")},
		Layout: message.Layout{Buckets: 300, Location: "eu"}, Floor: 5, Deleting: true, By: 6,
	}
	want := "\x02\x00\x00\x00\x00\x00\x00\x00\x06\x00\x00\x00\x00\x00\x00\x00\x05\xac\x02\x02eu\x0etable/acct/one\x02r9" +
		"\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\x00\x01v"
	if got := rec.Append(nil); string(got) != want {
		t.Errorf("the record is stored as %q, want %q", got, want)
	}
	if got, ok := record.Parse([]byte(want)); !ok || !reflect.DeepEqual(got, rec) {
		t.Errorf("it reads as %+v, %t", got, ok)
	}
}
