package engine

import (
	"bytes"
	"encoding/binary"
	"strings"

	"edgetable/adapters/store/durableobject"
	"edgetable/adapters/store/durableobject/internal/clock"
	"edgetable/adapters/store/durableobject/internal/message"
	"edgetable/adapters/store/durableobject/internal/purges"
	"edgetable/adapters/store/durableobject/internal/storage"
	"edgetable/adapters/store/durableobject/internal/turn"
	"edgetable/core/edm"
	"edgetable/core/table"
)

// outbox publishes the changes of an object to the replica.
type outbox struct {
	clock        *clock.Clock
	rand         func() uint64
	name         string // the name of the replica, with its jurisdiction; "" if there is none
	jurisdiction string

	publishing
	self      message.Destination // the bucket's own destination, which storage.RowSelf stores too
	confirmed bool                // whether the catalog confirmed that the bucket may publish
	// While the catalog has not answered, the bucket asks again at this time whether it may publish. The alarm does not ring earlier to publish.
	asksAt edm.Ticks
	start  []byte // of a bucket: entities before this key are published by other objects
	stop   []byte // of a bucket: entities from this key on are published by other objects; nil means no limit
	key    []byte // scratch buffer
}

// publishing is the state of an object that publishes to a replica.
type publishing struct {
	on bool // whether the object publishes; if so, the progress (type sending) is also stored in a row
	sending
	incarnation table.Incarnation // the incarnation of the bucket's table
	pending     bool              // the outbox may have rows
	ask         edm.Ticks         // when to publish the rows of the outbox
	purgeAt     edm.Ticks         // when the next incarnation can be purged; 0: no purge is necessary
	awake       awake
	restUntil   edm.Ticks // when a paused initial sync continues
	pass        pass
	inFlight    *batchInFlight
}

// sending says how far the object has published its rows. It is stored in storage.RowSending.
type sending struct {
	replica string // the name of the replica
	source  string // the name of this object in the replica
	// No batch is sent before this time, because writes of an earlier batch may still arrive.
	until    edm.Ticks
	failures byte      // number of failures since something was published
	since    edm.Ticks // all changes before this time are published
	marked   edm.Ticks // when this object last told the replica that it lags; 0: the replica reports no lag
	sync     []byte    // the row at which the initial sync continues, nil: it is finished
}

const (
	// collect is the time for which changes are collected before they are sent in one batch.
	collect = edm.TicksPerSecond
	// batchTimeout is the time after which no write of a batch can still arrive.
	batchTimeout = 60 * edm.TicksPerSecond
	// An object reports a lag to the replica if a change has waited for longer than 30 seconds. The object withdraws the report after 90
	// seconds in which no change waited for so long.
	lagging  = 30 * edm.TicksPerSecond
	caughtUp = 90 * edm.TicksPerSecond
	// After visibleAfter, all readers see all writes to an ended incarnation. This time consists of a batch timeout, the minute for which KV may
	// show older lists, and one more minute.
	visibleAfter = 180 * edm.TicksPerSecond
	// maxDelay is the maximum of every delay, even if the clock has stepped back.
	maxDelay = 600 * edm.TicksPerSecond
)

func (s *sending) put(rows storage.Rows) {
	b := make([]byte, 0, 64+len(s.replica)+len(s.source)+len(s.sync))
	b = append(b, s.failures)
	for _, t := range [...]edm.Ticks{s.until, s.since, s.marked} {
		b = binary.BigEndian.AppendUint64(b, uint64(t))
	}
	for _, text := range [...]string{s.replica, s.source, string(s.sync)} {
		b = append(binary.AppendUvarint(b, uint64(len(text))), text...)
	}
	rows.Put(storage.RowSending, b)
}

func parseSending(v []byte) (s sending, ok bool) {
	r := message.Read(v)
	s.failures = r.Byte()
	s.until, s.since, s.marked = r.Ticks(), r.Ticks(), r.Ticks()
	s.replica, s.source = strings.Clone(r.Text()), strings.Clone(r.Text())
	if sync := r.Bytes(); len(sync) > 0 {
		s.sync = append([]byte(nil), sync...)
	}
	return s, r.Done()
}

// load reads the state from the rows. An object that no longer publishes, or that now has another replica, records no changes until it joins a
// replica. So load discards how far the object had published. A batch may still be in flight, so load keeps the time before which none is sent.
func (o *outbox) load(t *turn.Turn) {
	known := o.publishing // after a rollback of the transaction, this value still describes the batch in flight
	o.publishing, o.self = publishing{}, message.Destination{}
	v, ok := t.Rows.Get(storage.RowSending)
	if !ok {
		return
	}
	s, ok := parseSending(v)
	if !ok {
		return
	}
	s.until = min(s.until, t.Now+maxDelay)
	if s.replica != o.name || s.replica == "" {
		if o.until = s.until; s.replica != "" {
			o.put(t.Rows)
		}
		return
	}
	o.on, o.sending = true, s
	if v, ok := t.Rows.Get(storage.RowSelf); ok {
		r := message.Read(bytes.Clone(v))
		o.self = r.Self()
	}
	if known.on {
		o.inFlight, o.pass, o.since = known.inFlight, known.pass, max(o.since, known.since)
	}
	o.pending, o.ask = o.hasChanges(t.Rows), t.Now
	o.purgeAt = purges.Next(t.Rows)
}

func (o *outbox) hasChanges(rows storage.Rows) bool {
	return storage.HasAny(rows, []byte{storage.SpaceOutbox}, o.endOfOutbox())
}

// firstOfOwn returns the first row that this object publishes.
func (o *outbox) firstOfOwn() []byte {
	if len(o.start) == 0 {
		return firstRow
	}
	return append([]byte{storage.SpaceEntities}, o.start...)
}

// endOfOwn returns the end of the rows that this object publishes.
func (o *outbox) endOfOwn() []byte {
	if o.stop == nil {
		return endOfRows
	}
	return append([]byte{storage.SpaceEntities}, o.stop...)
}

// endOfOutbox returns the end of the rows of the outbox that this object publishes.
func (o *outbox) endOfOutbox() []byte {
	if o.stop == nil {
		return []byte{storage.SpaceOutbox + 1}
	}
	return append([]byte{storage.SpaceOutbox, storage.SpaceEntities}, o.stop...)
}

// isIdle reports whether no batch can be in flight.
func (o *outbox) isIdle(now edm.Ticks) bool { return o.inFlight == nil && o.until <= now }

// isCaughtUp reports whether the replica has all changes, and reports no lag of this object.
func (o *outbox) isCaughtUp(now edm.Ticks) bool {
	return !o.on || o.isIdle(now) && !o.pending && o.sync == nil && o.marked == 0
}

// firstRow and endOfRows bound the rows that are published: records and entities.
var (
	firstRow  = []byte{storage.SpaceRecords}
	endOfRows = []byte{storage.SpaceEntities + 1}
)

// join makes the object publish: first the rows that exist already, later their changes too.
func (o *outbox) join(t *turn.Turn, source string) {
	o.publishing = publishing{on: true, sending: sending{replica: o.name, source: source, until: o.until}}
	o.since = max(t.Now, o.clock.Last)
	if storage.HasAny(t.Rows, o.firstOfOwn(), o.endOfOwn()) {
		o.since, o.sync = 0, o.firstOfOwn()
	}
	o.ask = t.Now
	o.pending, o.purgeAt = o.hasChanges(t.Rows), purges.Next(t.Rows)
	o.put(t.Rows)
}

// joins reports whether an object at this location must join the replica and has not joined yet.
func (o *outbox) joins(location string) bool {
	return o.name != "" && !o.on && o.publishes(location)
}

// publishes reports whether the replica may store the data of a table at this location.
func (o *outbox) publishes(location string) bool {
	jurisdiction, _ := durableobject.SplitLocation(location)
	return jurisdiction == "" || jurisdiction == o.jurisdiction
}

// joinBucket makes the bucket of a table join the replica, if it has not joined yet and the replica may store its data.
func (o *outbox) joinBucket(t *turn.Turn, p *message.Destination, incarnation table.Incarnation) {
	if o.joins(p.Location) {
		o.join(t, durableobject.SourceOf(incarnation, p.Bucket, p.Range))
	}
	o.incarnation = incarnation
	o.storeDestination(t, p)
}

// forget resets the outbox of an object that has no rows any more.
func (o *outbox) forget() {
	o.publishing, o.self, o.start, o.stop = publishing{}, message.Destination{}, nil, nil
}

// storeDestination stores the bucket's own destination in a row, if the bucket publishes.
func (o *outbox) storeDestination(t *turn.Turn, p *message.Destination) {
	if o.on && o.self.Table == "" {
		o.self = p.Clone()
		t.Rows.Put(storage.RowSelf, message.AppendSelf(nil, p))
	}
}

// joinCatalog makes the catalog of an account join the replica, if it has not joined yet and the replica may store its data. key is the key of a
// record of the account, or a prefix of such keys.
func (o *outbox) joinCatalog(t *turn.Turn, key, location string) {
	if !o.joins(location) {
		return
	}
	if c := durableobject.CatalogOf(key, ""); c != durableobject.Catalog("", "") {
		o.join(t, c.Name)
	}
}

// putChange writes the change of a row to the outbox, in the transaction that writes or deletes the row. The outbox keeps only the last change of
// a row.
func (o *outbox) putChange(t *turn.Turn, key []byte, at edm.Ticks) {
	if !o.on {
		return
	}
	var v [8]byte
	binary.BigEndian.PutUint64(v[:], uint64(at))
	t.Rows.Put(o.changeKey(key), v[:])
}

// changeKey returns the key of the outbox row that belongs to the row with this key. The result is valid until the next call.
func (o *outbox) changeKey(key []byte) []byte {
	o.key = append(append(o.key[:0], storage.SpaceOutbox), key...)
	return o.key
}

// notify requests the publishing of all changes up to a Timestamp (the parameter at). The transaction must not be rolled back afterwards, because the
// request is only in memory.
func (o *outbox) notify(t *turn.Turn, at edm.Ticks) {
	if !o.on || o.pending {
		return
	}
	o.pending, o.ask = true, t.Now+collect
	if o.sync == nil {
		o.since = max(o.since, at)
	}
}

// changedRecord adds the change of a record, or its removal, to the outbox, and requests that it is published.
func (o *outbox) changedRecord(t *turn.Turn, key string, at edm.Ticks) {
	if o.on {
		o.putChange(t, storage.RowOf(storage.SpaceRecords, key), at)
		o.notify(t, at)
	}
}

// removedRecord adds the removal of a record to the outbox. It issues a new Timestamp for the removal.
func (o *outbox) removedRecord(t *turn.Turn, key string) {
	if o.on {
		at := o.clock.Next(t.Now, 0, 1)
		o.changedRecord(t, key, at)
		o.clock.Issue(t.Rows, at)
	}
}

// setAlarm sets the alarm in every Step, so that it is due no later than the next batch. So if an alarm is lost, the next message sets it again.
func (o *outbox) setAlarm(s *turn.Step) {
	if !o.on {
		return
	}
	at := o.due()
	if at == 0 || o.purgeAt != 0 && o.purgeAt < at {
		at = o.purgeAt
	}
	if at != 0 && !o.confirmed {
		at = max(at, o.asksAt)
	}
	if at != 0 && (s.Alarm == 0 || at < s.Alarm) {
		s.Alarm = at
	}
}

// due returns the time at which the next batch can be sent, or 0 if there is nothing to send.
func (o *outbox) due() edm.Ticks {
	switch {
	case o.pending:
		return max(o.ask, o.until)
	case o.sync != nil:
		return max(o.ask, o.until, o.restUntil)
	case o.marked != 0:
		return max(o.marked+caughtUp, o.until)
	}
	return 0
}
