package outbox

import (
	"edgetable/adapters/store/durableobject"
	"edgetable/adapters/store/durableobject/internal/message"
	"edgetable/adapters/store/durableobject/internal/record"
	"edgetable/adapters/store/durableobject/internal/storage"
	"edgetable/adapters/store/durableobject/internal/turn"
)

const (
	// A batch has at most maxChanges changes, of which at most maxDuringSync are from the outbox during the initial
	// sync.
	//
	// Before its last change, which has at most 1.5 MB, a batch has less than maxBatch bytes. So it fits into 2 MiB.
	maxChanges    = 100
	maxDuringSync = 75
	maxBatch      = 256 << 10
)

// send calls the publisher with a batch, which was appended to t.Dst, and makes the calls in the list wakes.
func (o *Outbox) send(t *turn.Turn, f *batchInFlight, batch []byte, wakes []durableobject.Call) turn.Step {
	f.number = o.rand()
	o.inFlight = f
	return turn.Step{
		Answer: batch,
		Calls:  append([]durableobject.Call{{To: durableobject.Replica, Message: batch[len(t.Dst):]}}, wakes...),
		Next:   &turn.Continuation{Kind: turn.Publishes, Batch: f.number},
	}
}

func fills(t *turn.Turn, batch []byte) bool { return len(batch)-len(t.Dst) >= maxBatch }

// addRow adds the state of a row to a batch. If the row is a record that is not published as deleted, addRow also
// returns the record.
func (o *Outbox) addRow(batch []byte, c change, v []byte, ok bool) ([]byte, record.Record) {
	b := message.BatchChange{Record: c.key[0] == storage.SpaceRecords, Gone: !ok, Ticks: c.at, Key: c.key[1:], Value: v}
	var rec record.Record
	if ok && b.Record {
		rec, ok = record.Parse(v)
		// Some records are published as deleted, so that readers ask the objects for their tables:
		// - damaged records;
		// - records of tables that are being deleted;
		// - records of tables outside the replica's jurisdiction;
		// - records that declare options, which the replica does not implement.
		if b.Gone = !ok || rec.Deleting || rec.Traits != nil || !o.mayStore(rec.Layout.Location); b.Gone {
			rec = record.Record{}
		} else {
			b.Value = message.AppendDocument(nil, &rec.Record)
		}
	}
	if b.Gone {
		b.Value = nil
	}
	return message.AppendChange(batch, &b), rec
}
