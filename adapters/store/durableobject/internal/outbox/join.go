package outbox

import (
	"edgetable/adapters/store/durableobject"
	"edgetable/adapters/store/durableobject/internal/message"
	"edgetable/adapters/store/durableobject/internal/purges"
	"edgetable/adapters/store/durableobject/internal/storage"
	"edgetable/adapters/store/durableobject/internal/turn"
	"edgetable/core/table"
)

// JoinBucket makes a bucket publish its entities to the replica, unless the bucket already does this or the replica
// must not store its data.
func (o *Outbox) JoinBucket(t *turn.Turn, p *message.Destination, incarnation table.Incarnation) {
	if o.joins(p.Location) {
		o.join(t, durableobject.SourceOf(incarnation, p.Bucket, p.Range))
	}
	o.incarnation = incarnation
	o.storeDestination(t, p)
}

// JoinCatalog makes the catalog of an account publish its records to the replica, unless the catalog already does this
// or the replica must not store its data. The parameter key is a record key, or a prefix of record keys.
func (o *Outbox) JoinCatalog(t *turn.Turn, key, location string) {
	if !o.joins(location) {
		return
	}
	if c := durableobject.CatalogOf(key, ""); c != durableobject.Catalog("", "") {
		o.join(t, c.Name)
	}
}

// Leave makes an object that has returned to an earlier state publish nothing until it joins the replica again. The
// next batch still waits until no write of an earlier batch can arrive.
func (o *Outbox) Leave(rows storage.Rows) {
	rows.Delete(storage.RowSending)
	o.publishing = publishing{sending: sending{retryAfter: o.retryAfter}}
}

// joins reports whether an object at the given location must join the replica now.
func (o *Outbox) joins(location string) bool {
	return o.name != "" && !o.on && o.mayStore(location)
}

// join makes the object publish its existing rows, and then their changes.
func (o *Outbox) join(t *turn.Turn, source string) {
	o.publishing = publishing{on: true, sending: sending{replica: o.name, source: source, retryAfter: o.retryAfter}}
	o.since = max(t.Now, o.clock.Last)
	if storage.HasAny(t.Rows, o.firstOfOwn(), o.endOfOwn()) {
		o.since, o.sync = 0, o.firstOfOwn()
	}
	o.ask = t.Now
	o.pending, o.purgeAt = o.hasChanges(t.Rows), purges.Next(t.Rows)
	o.put(t.Rows)
}

// storeDestination stores the bucket's own destination in a row, if the bucket publishes its entities.
func (o *Outbox) storeDestination(t *turn.Turn, p *message.Destination) {
	if o.on && o.self.Table == "" {
		o.self = p.Clone()
		t.Rows.Put(storage.RowSelf, message.AppendSelf(nil, p))
	}
}
