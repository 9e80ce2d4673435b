package outbox

import (
	"encoding/binary"

	"edgetable/adapters/store/durableobject"
	"edgetable/adapters/store/durableobject/internal/message"
	"edgetable/adapters/store/durableobject/internal/storage"
	"edgetable/adapters/store/durableobject/internal/turn"
	"edgetable/core/edm"
	"edgetable/core/table"
)

// An object that hands over entities to another object also hands over their unpublished changes, which the other
// object then publishes.

// HandOver records in a Taking which changes the object has published.
func (o *Outbox) HandOver(taking *message.Taking) {
	taking.Replica, taking.Synced, taking.Since = o.Replica(), o.IsSynced(), o.since
}

// TakeOver makes the object publish the entities that it received from another object. Publishing continues where the
// other object stopped.
func (o *Outbox) TakeOver(t *turn.Turn, p *message.Destination, incarnation table.Incarnation, taking *message.Taking) {
	if o.incarnation = incarnation; o.name == "" || o.name != taking.Replica {
		return
	}
	o.publishing = publishing{on: true, incarnation: incarnation, sending: sending{
		replica: o.name, source: durableobject.SourceOf(incarnation, p.Bucket, p.Range), since: taking.Since,
	}}
	if !taking.Synced {
		o.since, o.sync = 0, o.firstOfOwn()
	}
	o.pending, o.ask = o.hasChanges(t.Rows), t.Now
	o.put(t.Rows)
	o.storeDestination(t, p)
}

// Unpublished returns the time of the last change of a row. ok is false if the replica has this change, or if the
// object publishes nothing.
func (o *Outbox) Unpublished(rows storage.Rows, key []byte) (at edm.Ticks, ok bool) {
	if !o.on {
		return 0, false
	}
	v, ok := rows.Get(o.changeKey(key))
	if !ok || len(v) != 8 {
		return 0, false
	}
	return edm.Ticks(binary.BigEndian.Uint64(v)), true
}

// PutUnpublished adds to the outbox a change that another object has not published. This object publishes the change
// after [Outbox.TakeOver].
func (o *Outbox) PutUnpublished(rows storage.Rows, key []byte, at edm.Ticks) {
	if o.name != "" {
		storage.PutTicks(rows, o.changeKey(key), at)
	}
}
