package outbox

import (
	"bytes"

	"edgetable/adapters/store/durableobject"
	"edgetable/adapters/store/durableobject/internal/clock"
	"edgetable/adapters/store/durableobject/internal/message"
	"edgetable/adapters/store/durableobject/internal/purges"
	"edgetable/adapters/store/durableobject/internal/storage"
	"edgetable/adapters/store/durableobject/internal/turn"
	"edgetable/core/edm"
	"edgetable/core/key"
	"edgetable/core/table"
)

// Outbox publishes the changes of an object to the replica.
type Outbox struct {
	Keys key.Range // the range of keys in a bucket that this object publishes; other objects publish the other keys

	clock        *clock.Clock
	rand         func() uint64
	name         string // the name of the replica, with its jurisdiction; "" if there is none
	jurisdiction string

	publishing
	self      message.Destination // the bucket's own destination, as in the row RowSelf
	confirmed bool                // whether the catalog has confirmed that the bucket may publish
	// asksAt is the time at which the bucket may ask the catalog again whether it may publish. Until then, the alarm
	// does not start publishing.
	asksAt edm.Ticks
	key    []byte
}

// publishing is the state of an object that publishes to a replica.
type publishing struct {
	on bool // whether the object publishes; if so, sending is also stored in a row
	sending
	incarnation table.Incarnation
	pending     bool      // whether the outbox may have rows
	ask         edm.Ticks // when to publish the rows of the outbox
	purgeAt     edm.Ticks // when the next incarnation can be purged; 0 if no purge is necessary
	awake       awake
	restUntil   edm.Ticks // when a paused initial sync continues
	pass        pass
	inFlight    *batchInFlight
}

const (
	// collect is the time during which changes are collected for one batch.
	collect = edm.TicksPerSecond
	// batchTimeout is the time after which no write of a batch can still arrive.
	batchTimeout = 60 * edm.TicksPerSecond
	// An object reports a lag if a change waits for more than 30 seconds. It withdraws the report after 90 seconds
	// without such a change.
	lagging  = 30 * edm.TicksPerSecond
	caughtUp = 90 * edm.TicksPerSecond
	// visibleAfter is the time after which all readers see all writes to an ended incarnation: a batch timeout, a
	// minute for which KV may return old lists, and one more minute.
	visibleAfter = 180 * edm.TicksPerSecond
	// maxDelay limits every delay, in case the clock has stepped back.
	maxDelay = 600 * edm.TicksPerSecond
)

// New returns the outbox of an object that just woke up. If there is no replica, name is "". Equal names in two
// jurisdictions are two replicas.
func New(c *clock.Clock, rand func() uint64, name, jurisdiction string) Outbox {
	if name != "" && jurisdiction != "" {
		name += "@" + jurisdiction
	}
	return Outbox{clock: c, rand: rand, name: name, jurisdiction: jurisdiction}
}

// HasReplica reports whether objects can publish to a replica.
func (o *Outbox) HasReplica() bool { return o.name != "" }

// Replica returns the name of the replica to which the object publishes, or "" if it does not publish.
func (o *Outbox) Replica() string {
	if !o.on {
		return ""
	}
	return o.name
}

// Load reads the state from the rows. It needs the incarnation of the bucket's table. If the object published to
// another replica, Load discards the progress.
func (o *Outbox) Load(t *turn.Turn, incarnation table.Incarnation) {
	known := o.publishing // after a rollback of the transaction, this still describes the batch in flight
	o.publishing, o.self = publishing{incarnation: incarnation}, message.Destination{}
	v, ok := t.Rows.Get(storage.RowSending)
	if !ok {
		return
	}
	s, ok := parseSending(v)
	if !ok {
		return
	}
	s.retryAfter = min(s.retryAfter, t.Now+maxDelay)
	if s.replica != o.name || s.replica == "" {
		if o.retryAfter = s.retryAfter; s.replica != "" {
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

func (o *Outbox) hasChanges(rows storage.Rows) bool {
	return storage.HasAny(rows, []byte{storage.SpaceOutbox}, o.endOfOutbox())
}

// firstOfOwn returns the first key of the rows that this object publishes.
func (o *Outbox) firstOfOwn() []byte {
	if len(o.Keys.Start) == 0 {
		return firstRow
	}
	return append([]byte{storage.SpaceEntities}, o.Keys.Start...)
}

// endOfOwn returns the upper bound of the rows that this object publishes.
func (o *Outbox) endOfOwn() []byte {
	if o.Keys.End == nil {
		return endOfRows
	}
	return append([]byte{storage.SpaceEntities}, o.Keys.End...)
}

// endOfOutbox returns the upper bound of the outbox rows that this object publishes.
func (o *Outbox) endOfOutbox() []byte {
	if o.Keys.End == nil {
		return []byte{storage.SpaceOutbox + 1}
	}
	return append([]byte{storage.SpaceOutbox, storage.SpaceEntities}, o.Keys.End...)
}

// IsIdle reports whether no batch can be in flight.
func (o *Outbox) IsIdle(now edm.Ticks) bool { return o.inFlight == nil && o.retryAfter <= now }

// IdleAt returns the time from which no write of an earlier batch can arrive.
func (o *Outbox) IdleAt() edm.Ticks { return o.retryAfter }

// IsSynced reports whether no initial sync is in progress.
func (o *Outbox) IsSynced() bool { return o.sync == nil }

// IsCaughtUp reports whether the replica has all changes and reports no lag of this object.
func (o *Outbox) IsCaughtUp(now edm.Ticks) bool {
	return !o.on || o.IsIdle(now) && !o.pending && o.sync == nil && o.marked == 0
}

// IsSettled reports whether the replica has all changes or reports a lag of this object.
func (o *Outbox) IsSettled(now edm.Ticks) bool { return o.marked > 1 || o.IsCaughtUp(now) }

// firstRow and endOfRows bound the rows that are published: records and entities.
var (
	firstRow  = []byte{storage.SpaceRecords}
	endOfRows = []byte{storage.SpaceEntities + 1}
)

// Publishes reports whether the object publishes and the replica may store the data of a table at the given location.
func (o *Outbox) Publishes(location string) bool { return o.on && o.mayStore(location) }

// mayStore reports whether the replica may store the data of a table at the given location.
func (o *Outbox) mayStore(location string) bool {
	jurisdiction, _ := durableobject.SplitLocation(location)
	return jurisdiction == "" || jurisdiction == o.jurisdiction
}

// Forget resets the outbox after all rows of the object were deleted.
func (o *Outbox) Forget() {
	o.publishing, o.self, o.Keys = publishing{}, message.Destination{}, key.Range{}
}

// SetAlarm moves the alarm of a Step to the next batch, unless the alarm is earlier. It is called for every Step,
// because an alarm may have been lost.
func (o *Outbox) SetAlarm(s *turn.Step) {
	if !o.on {
		return
	}
	at := o.nextSend()
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

// IsDue reports whether the next batch can be sent now.
func (o *Outbox) IsDue(now edm.Ticks) bool {
	at := o.nextSend()
	return o.on && at != 0 && at <= now
}

// nextSend returns the time at which the next batch can be sent, or 0 if there is nothing to send.
func (o *Outbox) nextSend() edm.Ticks {
	switch {
	case o.pending:
		return max(o.ask, o.retryAfter)
	case o.sync != nil:
		return max(o.ask, o.retryAfter, o.restUntil)
	case o.marked != 0:
		return max(o.marked+caughtUp, o.retryAfter)
	}
	return 0
}
