package outbox

import (
	"edgetable/adapters/store/durableobject/internal/storage"
	"edgetable/adapters/store/durableobject/internal/turn"
	"edgetable/core/edm"
)

// ChangedRecord adds the change or removal of a record to the outbox, and requests that it be published.
func (o *Outbox) ChangedRecord(t *turn.Turn, key string, at edm.Ticks) {
	if o.on {
		o.PutChange(t, storage.RowOf(storage.SpaceRecords, key), at)
		o.Notify(t, at)
	}
}

// RemovedRecord adds the removal of a record to the outbox, with a new Timestamp.
func (o *Outbox) RemovedRecord(t *turn.Turn, key string) {
	if o.on {
		at := o.clock.Next(t.Now, 0, 1)
		o.ChangedRecord(t, key, at)
		o.clock.Issue(t.Rows, at)
	}
}

// PutChange adds the change of a row to the outbox, which keeps only the last change of a row. It must be called in the
// transaction that writes or deletes the row.
func (o *Outbox) PutChange(t *turn.Turn, key []byte, at edm.Ticks) {
	if o.on {
		storage.PutTicks(t.Rows, o.changeKey(key), at)
	}
}

// Notify requests that all changes up to a Timestamp be published. The request is only in memory, so the transaction
// must not be rolled back afterwards.
func (o *Outbox) Notify(t *turn.Turn, at edm.Ticks) {
	if !o.on || o.pending {
		return
	}
	o.pending, o.ask = true, t.Now+collect
	if o.sync == nil {
		o.since = max(o.since, at)
	}
}

// changeKey returns the key of a row's entry in the outbox. The result is valid until the next call.
func (o *Outbox) changeKey(key []byte) []byte {
	o.key = append(append(o.key[:0], storage.SpaceOutbox), key...)
	return o.key
}
