package object

import (
	"encoding/binary"
	"strings"

	"edgetable/adapters/store/durableobject"
	"edgetable/adapters/store/durableobject/internal/message"
	"edgetable/core/edm"
)

// outbox is what an object knows of what it has to publish.
type outbox struct {
	on bool // it publishes, and sending is a row
	sending
	pending bool      // there are rows in the outbox, or may be
	ask     edm.Ticks // when they want to be published
	purge   edm.Ticks // when the next life can be purged, 0: there is none
	awake   awake
	rests   edm.Ticks // until when the walk does
	lap     lap
	flight  *flight
}

// sending is how far publishing got; it is kept in rowSending.
type sending struct {
	replica string // which one
	source  string // who we are in it
	// until: nothing is handed out before. While a batch is out, it is the end of
	// the time in which what it writes may arrive.
	until    edm.Ticks
	failures byte      // since something was published
	since    edm.Ticks // all changes before it are published
	marked   edm.Ticks // when the replica was last told that we lag behind, 0: it does not know
	walk     []byte    // the row at which to go on with publishing all rows, nil: all are
}

const (
	// delay is for how long changes are collected.
	delay = edm.TicksPerSecond
	// lease is how long what a batch writes may take to arrive: behind it nobody
	// has anything under way.
	lease = 60 * edm.TicksPerSecond
	// lagging is how long changes are under way until the replica says so, and
	// caught how long it says so behind the last time that they were.
	lagging = 30 * edm.TicksPerSecond
	caught  = 90 * edm.TicksPerSecond
	// settled is when all that was written to a life that ended can be seen: a
	// lease, the minute in which KV shows older lists, and another.
	settled = 180 * edm.TicksPerSecond
	// longest is what a clock that went back cannot make longer.
	longest = 600 * edm.TicksPerSecond
)

func (s *sending) put(rows Rows) {
	b := make([]byte, 0, 64+len(s.replica)+len(s.source)+len(s.walk))
	b = append(b, s.failures)
	for _, t := range [...]edm.Ticks{s.until, s.since, s.marked} {
		b = binary.BigEndian.AppendUint64(b, uint64(t))
	}
	for _, text := range [...]string{s.replica, s.source, string(s.walk)} {
		b = append(binary.AppendUvarint(b, uint64(len(text))), text...)
	}
	rows.Put(rowSending, b)
}

func parseSending(v []byte) (s sending, ok bool) {
	r := message.Read(v)
	s.failures = r.Byte()
	s.until, s.since, s.marked = r.Ticks(), r.Ticks(), r.Ticks()
	s.replica, s.source = strings.Clone(r.Text()), strings.Clone(r.Text())
	if walk := r.Bytes(); len(walk) > 0 {
		s.walk = append([]byte(nil), walk...)
	}
	return s, r.Done()
}

// load reads the outbox of an object that just woke up. Where it is not to publish
// any more, or in another replica, changes are not recorded until it joins: so what
// is known about the replica is forgotten, but for what may still be under way.
func (h *handling) loadOutbox() {
	o := &h.outbox
	// What it knows of a batch that is out holds, also if it loads once more because
	// something was undone.
	known := *o
	*o = outbox{}
	v, ok := h.rows.Get(rowSending)
	if !ok {
		return
	}
	now := h.now()
	s, ok := parseSending(v)
	if !ok {
		return
	}
	s.until = min(s.until, now+longest)
	if s.replica != h.replica || s.replica == "" {
		if o.until = s.until; s.replica != "" {
			o.put(h.rows)
		}
		return
	}
	o.on, o.sending = true, s
	if known.on {
		o.flight, o.lap, o.since = known.flight, known.lap, max(o.since, known.since)
	}
	o.pending, o.ask = h.outboxHasRows(), now
	o.purge = h.nextPurge()
}

func (h *handling) outboxHasRows() bool {
	for range h.rows.Scan([]byte{spaceOutbox}, []byte{spaceOutbox + 1}, leastRun) {
		return true
	}
	return false
}

// firstRow is where the rows that are published begin, and behindRows where they
// end: documents and entities.
var (
	firstRow   = []byte{spaceDocuments}
	behindRows = []byte{spaceEntities + 1}
)

// join begins to publish, if that is not done yet. What there is already is
// published too.
func (h *handling) join(source string) {
	o := &h.outbox
	*o = outbox{on: true, sending: sending{replica: h.replica, source: source, until: o.until}}
	o.since = max(h.now(), h.clock.last)
	for range h.rows.Scan(firstRow, behindRows, leastRun) {
		o.since, o.walk = 0, firstRow
		break
	}
	o.ask = h.now()
	o.pending, o.purge = h.outboxHasRows(), h.nextPurge()
	o.put(h.rows)
}

// joins reports whether an object at this location is still to join.
func (h *handling) joins(location string) bool {
	return h.replica != "" && !h.outbox.on && h.shows(location)
}

// shows reports whether the replica may have what is at this location.
func (h *handling) shows(location string) bool {
	jurisdiction, _ := durableobject.SplitLocation(location)
	return jurisdiction == "" || jurisdiction == h.jurisdiction
}

// joinBucket has the bucket of a table join.
func (h *handling) joinBucket(p *message.Place) {
	if h.joins(p.Location) {
		h.join(durableobject.SourceOf(h.marker.incarnation, p.Bucket))
	}
}

// joinCatalog has the catalog of an account join, of which a document has this
// key, or could have one.
func (h *handling) joinCatalog(key string) {
	if !h.joins(h.catalog) {
		return
	}
	if c := durableobject.CatalogOf(key, ""); c != durableobject.Catalog("", "") {
		h.join(c.Name)
	}
}

// changed records that a row was written or deleted, in the same transaction.
// Only the last change of a row is kept.
func (h *handling) changed(key []byte, t edm.Ticks) {
	if !h.outbox.on {
		return
	}
	h.out = append(append(h.out[:0], spaceOutbox), key...)
	var v [8]byte
	binary.BigEndian.PutUint64(v[:], uint64(t))
	h.rows.Put(h.out, v[:])
}

// notify has changes published that are of this time, when the transaction is
// sure to be done.
func (h *handling) notify(t edm.Ticks) {
	o := &h.outbox
	if !o.on || o.pending {
		return
	}
	o.pending, o.ask = true, h.now()+delay
	if o.walk == nil {
		o.since = max(o.since, t)
	}
}

// changedDocument records that a document was written or is gone.
func (h *handling) changedDocument(key string, t edm.Ticks) {
	if h.outbox.on {
		h.changed(rowOf(spaceDocuments, key), t)
		h.notify(t)
	}
}

// goneDocument is changedDocument where nothing issued a Timestamp.
func (h *handling) goneDocument(key string) {
	if h.outbox.on {
		t := h.clock.next(h.now(), 0, 1)
		h.changedDocument(key, t)
		h.clock.issue(h.rows, t)
	}
}

// later adds to a step when there will be something to publish. Every step says
// so: an alarm that was lost is set by the next message.
func (h *handling) later(s Step) Step {
	o := &h.outbox
	if !o.on {
		return s
	}
	at := o.due()
	if at == 0 || o.purge != 0 && o.purge < at {
		at = o.purge
	}
	if at != 0 && (s.Alarm == 0 || at < s.Alarm) {
		s.Alarm = at
	}
	return s
}

// due is when a batch can be handed out, 0: there is none.
func (o *outbox) due() edm.Ticks {
	switch {
	case o.pending:
		return max(o.ask, o.until)
	case o.walk != nil:
		return max(o.ask, o.until, o.rests)
	case o.marked != 0:
		return max(o.marked+caught, o.until)
	}
	return 0
}
