package engine

import (
	"bytes"
	"encoding/binary"
	"errors"

	"edgetable/adapters/store/durableobject"
	"edgetable/adapters/store/durableobject/internal/message"
	"edgetable/adapters/store/durableobject/internal/sample"
	"edgetable/adapters/store/durableobject/internal/span"
	"edgetable/adapters/store/durableobject/internal/storage"
	"edgetable/adapters/store/durableobject/internal/turn"
	"edgetable/core/edm"
	"edgetable/core/key"
	"edgetable/core/table"
)

// The alarm moves the upper keys of a range to another range, in the steps of docs/adr/0034. The object may restart
// after any step, and messages may be lost or repeated.

const (
	// A chunk is one message with entities for another range. pieceRows and pieceBytes limit it. The last chunk has at
	// most lastRows entities, because requests for the keys wait for it.
	pieceRows  = 500
	maxMarks   = 1 << 20
	pieceBytes = 256 << 10
	lastRows   = 100
	// An alarm sends at most piecesOfAlarm chunks, because the platform limits the CPU time and the calls of an alarm.
	piecesOfAlarm = 256
	// An alarm deletes at most emptyRows rows whose keys another range has.
	emptyRows = 1000
	// outFor is the time after which a call without an answer is retried.
	outFor = 30 * edm.TicksPerSecond
	// maxDelay limits the delay of the next step, in case the clock has stepped back.
	maxDelay = 600 * edm.TicksPerSecond
)

// splitting is the in-memory state of a range's split.
type splitting struct {
	rand    func() uint64
	onEvent func(table string, bucket uint16, id uint32, event string)
	bytes   int64   // the size above which a range splits; 0 means never
	rate    float64 // requests per second above which a range splits; 0 means never
	rows    int     // the maximum number of entities in a chunk

	due      edm.Ticks // when the alarm takes the next step; 0 means never
	look     edm.Ticks // when to check whether the range is empty, or small
	last     edm.Ticks // the time of the last write
	rest     edm.Ticks // until this time, the range does not look for a key at which to split
	only     []byte    // the only partition of the range, which cannot be split; nil if there may be several
	out      uint64    // the random number of the call in flight; 0 if there is none
	marks    []change  // the changes in the last chunk, which has no answer yet
	failures int       // number of failed calls since the last answer
	choice   *choice
	load     sample.Load
	leave    mergeRequest
	promise  uint64    // the number with which this range agreed to take over all keys of its left neighbour; 0 if it has not agreed
	stays    edm.Ticks // until this time, the range waits for the keys of its left neighbour and does not merge
	joins    bool      // whether the left neighbour copies its entities before it hands over its keys
	received uint64    // the number of the last chunk from the left neighbour
}

// change is an entity in a chunk. If the entity had changed after an earlier chunk contained it, the field at is the
// time of its last change.
type change struct {
	key []byte
	at  edm.Ticks
}

func (x *splitting) reportEvent(self *message.Destination, event string) {
	if x.onEvent != nil {
		x.onEvent(self.Table, self.Bucket, self.Range, event)
	}
}

// reset clears the state but not the options.
func (x *splitting) reset(due edm.Ticks) {
	*x = splitting{rand: x.rand, onEvent: x.onEvent, bytes: x.bytes, rate: x.rate, rows: x.rows, due: due}
}

// loadSplit continues a split that began before the object restarted.
func (b *bucket) loadSplit(t *turn.Turn) {
	s := b.marker.Span
	b.room.LookOften(b.split.bytes)
	b.outbox.Keys = key.Range{Start: b.marker.Bounds().Start}
	if b.hasBelow(t) {
		b.split.due = t.Now
	}
	if s == nil || s.Phase < span.Asking {
		b.lookIfSmall(t)
		return
	}
	if s.Phase >= span.Sealed && !s.Leaving {
		b.outbox.Keys.End = s.At
	}
	if b.split.due == 0 {
		b.split.due = t.Now
	}
}

// setAlarm moves the alarm of a Step to the next action of the split, unless the alarm is earlier.
func (x *splitting) setAlarm(s *turn.Step) {
	for _, at := range [...]edm.Ticks{x.due, x.look} {
		if at != 0 && (s.Alarm == 0 || at < s.Alarm) {
			s.Alarm = at
		}
	}
}

// recordChange must be called in the transaction that changes an entity. It marks an entity that a chunk has contained,
// so that a later chunk has the new state.
func (b *bucket) recordChange(t *turn.Turn, k []byte, at edm.Ticks) {
	s := b.marker.Span
	if s != nil && s.Phase == span.Copying && bytes.Compare(k[1:], s.At) >= 0 && bytes.Compare(k, s.Upto) < 0 {
		storage.PutTicks(t.Rows, markOf(k[1:]), at)
	}
}

func markOf(k []byte) []byte { return append([]byte{storage.SpaceMarks}, k...) }

// mayEnd reports whether the next step can hand over the keys. An outbox batch in flight would delay that step.
func (b *bucket) mayEnd(t *turn.Turn) bool {
	s := b.marker.Span
	return s != nil && s.Phase == span.Copying && !s.Leaving && s.Complete && b.split.due <= t.Now && b.outbox.IsIdle(t.Now)
}

// advanceSplit takes the next step of a split or a merge.
func (b *bucket) advanceSplit(t *turn.Turn) turn.Step {
	s, x := b.marker.Span, &b.split
	if x.look <= t.Now {
		x.look = 0
	}
	switch {
	case !b.marker.Live:
		x.reset(0)
		return t.Done()
	case x.asksForRoom(t.Now):
		return t.Done()
	case x.choice != nil:
		return b.find(t)
	case s == nil || s.Phase == span.Filling:
		x.due = 0
		return t.Done()
	case s.Phase == span.Serving:
		if x.due = 0; b.deleteCopies(t, false) {
			return t.Done()
		}
		return b.startLeaving(t)
	case x.due > t.Now && x.due <= t.Now+maxDelay:
		return t.Done()
	}
	switch s.Phase {
	case span.Asking:
		return b.callCatalog(t, b.splitMessage(message.OpBegin))
	case span.Copying:
		return b.copy(t)
	case span.Sealed:
		return b.sendLastPiece(t)
	case span.Moved:
		return b.callCatalog(t, b.splitMessage(message.OpSwitch))
	}
	return b.deleteMovedRows(t)
}

// call makes a call to another object. If this object restarts, or if no answer arrives, the alarm repeats the call.
func (b *bucket) call(t *turn.Turn, to durableobject.Address, m []byte, next *turn.Continuation) turn.Step {
	b.split.out = b.split.rand() | 1
	b.split.due = t.Now + outFor
	next.Kind, next.Batch = turn.Splits, b.split.out
	return turn.Step{Calls: []durableobject.Call{{To: to, Message: m}}, Next: next}
}

// callCatalog makes a call to the catalog.
func (b *bucket) callCatalog(t *turn.Turn, m []byte) turn.Step {
	return b.call(t, durableobject.CatalogOf(b.marker.Span.Self.Table, b.catalog), m, &turn.Continuation{})
}

// splitMessage returns a message to the catalog about the split.
func (b *bucket) splitMessage(op message.Op) []byte {
	s := b.marker.Span
	m := message.Splitting{Table: s.Self.Table, Incarnation: b.marker.Incarnation, Bucket: s.Self.Bucket, From: s.Self.Range, At: s.At, Sealed: s.Sealed}
	if !s.Leaving {
		m.To = s.Target
	}
	return message.Split(nil, op, &m)
}

// acceptReply handles the answer to a call. It ignores unexpected answers, for example to a call from before a restart.
func (b *bucket) acceptReply(t *turn.Turn) turn.Step {
	s, x := b.marker.Span, &b.split
	if x.out == 0 || t.Resumed.Batch != x.out || len(t.Answers) != 1 {
		return t.Done()
	}
	if x.choice != nil && x.choice.asks {
		return b.mayBegin(t)
	}
	if s == nil {
		return t.Done()
	}
	marks := x.marks
	x.out, x.due, x.marks = 0, t.Now, nil
	r, err := message.Result(t.Answers[0].Message)
	switch {
	case s.Phase == span.Moved && s.Leaving && errors.Is(err, table.ErrNoTable):
		b.endRange(t) // the table was deleted, or the catalog no longer has this range
		return t.Done()
	case s.Phase == span.Serving:
		return b.acceptLeaveAnswer(t, r, err)
	case s.Phase == span.Sealed && s.Number != 0 && !t.Resumed.Own && t.Answers[0].Err == nil && b.handleRefusal(t, err):
		return t.Done()
	case b.givesUp(t, err):
		return t.Done()
	case t.Answers[0].Err != nil || err != nil || !b.acceptAnswer(t, r, marks):
		most := 6 // retry within half a minute, because requests for the keys may wait
		if s.Phase == span.Asking {
			most = 10 // retry within ten minutes: no request waits for this answer, and a full table would refuse the split again
		}
		x.failures = min(x.failures+1, most)
		x.due = t.Now + edm.TicksPerSecond<<(x.failures-1)
		return t.Done()
	}
	x.failures = 0
	if b.outbox.IsDue(t.Now) || s.Seq%piecesOfAlarm == piecesOfAlarm-1 {
		return t.Done() // the alarm continues the split at once
	}
	return b.advanceSplit(t)
}

// acceptAnswer handles the fields of an answer. It reports whether they are well-formed and expected.
func (b *bucket) acceptAnswer(t *turn.Turn, r message.Reader, marks []change) bool {
	s := b.marker.Span
	switch s.Phase {
	case span.Asking:
		id := r.Uint32()
		if !r.Done() || id == 0 {
			return false
		}
		from, _ := storage.Entities(key.Range{Start: s.At})
		s.Phase, s.Target, s.From, s.Upto, s.Complete = span.Copying, id, from, from, false
		b.split.reportEvent(&s.Self, span.SplitBegun)
	case span.Copying:
		for _, c := range marks {
			k := markOf(c.key)
			if v, ok := t.Rows.Get(k); ok && len(v) == 8 && edm.Ticks(binary.BigEndian.Uint64(v)) == c.at {
				t.Rows.Delete(k)
			}
		}
		if !s.Complete {
			s.From = bytes.Clone(t.Resumed.From)
			s.Complete = len(s.From) == 0
		}
	case span.Sealed:
		if s.Leaving && t.Resumed.Own {
			s.Target = b.neighbour(r, s.At, s.End)
			return s.Target != 0
		}
		for _, c := range b.recordedChanges(t, pieceRows) {
			t.Rows.Delete(markOf(c.key))
		}
		s.Phase = span.Moved
	case span.Moved:
		known, ok := b.readMap(r)
		if id, _ := known.Ranges.Find(s.At); !ok || id == s.Self.Range {
			return false
		}
		if s.Leaving {
			b.split.reportEvent(&s.Self, span.JoinFinished)
			b.endRange(t)
			return true
		}
		b.split.reportEvent(&s.Self, span.SplitFinished)
		s.Phase, s.Sealed = span.Emptying, 0
	default:
		return false
	}
	b.marker.Put(t.Rows)
	return true
}

// target returns the destination of the range that receives the keys.
func (b *bucket) target() message.Destination {
	p := b.marker.Span.Self
	p.Range = b.marker.Span.Target
	return p
}

// copy sends the next chunk. When few changes are left, the range stops serving the keys, and copy sends the last
// chunk.
func (b *bucket) copy(t *turn.Turn) turn.Step {
	s, x := b.marker.Span, &b.split
	var marks []change
	if s.Complete {
		marks = b.recordedChanges(t, x.rows+1)
		if len(marks) <= min(lastRows, x.rows) && b.size(t, marks) <= pieceBytes {
			if !b.outbox.IsIdle(t.Now) || s.Leaving && !b.outbox.IsCaughtUp(t.Now) {
				x.due = max(t.Now+edm.TicksPerSecond/10, min(b.outbox.IdleAt(), t.Now+outFor))
				return t.Done()
			}
			s.Phase, s.Sealed, s.End, s.Bounds.End = span.Sealed, t.Now, s.Bounds.End, append([]byte{}, s.At...)
			if !s.Leaving {
				b.outbox.Keys.End = s.At
			}
			b.recordSeal(t)
			return b.sendLastPiece(t)
		}
	}
	s.Seq++
	p := b.target()
	m := message.Copy(t.Dst, &p, b.marker.Incarnation, s.Seq, nil)
	if s.Leaving {
		m = message.Join(t.Dst, &p, b.marker.Incarnation, s.Number, s.Seq)
	}
	var next []byte
	if s.Complete {
		m, marks = b.addItems(t, m, marks[:min(len(marks), x.rows)])
	} else {
		m, next = b.addRows(t, m)
		upto := next
		if upto == nil {
			upto = []byte{storage.SpaceOutbox + 1} // this key is above the keys of all rows
		}
		if bytes.Compare(upto, s.Upto) > 0 {
			s.Upto = upto
		}
	}
	x.marks = marks
	b.marker.Put(t.Rows)
	step := b.call(t, durableobject.AddressOf(&p), m[len(t.Dst):], &turn.Continuation{From: next})
	step.Answer = m
	return step
}

// addRows adds the next entities to a chunk: first rows of entities, then rows of the outbox, which also name deleted
// entities. The result next is the row at which the next chunk begins, or nil.
func (b *bucket) addRows(t *turn.Turn, m []byte) (piece, next []byte) {
	s := b.marker.Span
	_, to := storage.Entities(s.Bounds)
	skip := 1 // length of the prefix of a row's key before the entity's key
	if s.From[0] == storage.SpaceOutbox {
		to, skip = append([]byte{storage.SpaceOutbox}, to...), 2
	}
	var list []change
	size := 0
	for k, v := range t.Rows.Scan(s.From, to, storage.MostRun) {
		if len(list) == b.split.rows || size > pieceBytes {
			next = bytes.Clone(k)
			break
		}
		list = append(list, change{key: bytes.Clone(k[skip:])})
		size += len(k) + len(v)
	}
	all := len(list)
	if m, list = b.addItems(t, m, list); len(list) < all {
		next = append(bytes.Clone(s.From[:skip]), append(list[len(list)-1].key, 0)...)
	}
	if next == nil && skip == 1 && b.outbox.Replica() != "" && !s.Leaving {
		next = append([]byte{storage.SpaceOutbox, storage.SpaceEntities}, s.At...)
	}
	return m, next
}

// addItems adds entities in their current state to a chunk until it is full. It returns the changes whose
// entities it added.
func (b *bucket) addItems(t *turn.Turn, m []byte, list []change) ([]byte, []change) {
	for i, c := range list {
		if len(m)-len(t.Dst) > pieceBytes+pieceBytes/4 {
			return m, list[:i]
		}
		k, item := b.entityKey(c.key), message.Item{Key: c.key}
		if !b.marker.Span.Leaving { // a range that merges publishes its changes before it hands its keys over
			item.ChangedAt, item.Unseen = b.outbox.Unpublished(t.Rows, k)
		}
		v, ok := t.Rows.Get(k)
		item.Gone, item.Value = !ok, v
		m = message.AppendItem(m, &item)
	}
	return m, list
}

// recordedChanges returns the entities that changed after a chunk had contained them, up to the given number.
func (b *bucket) recordedChanges(t *turn.Turn, most int) (list []change) {
	for k, v := range t.Rows.Scan([]byte{storage.SpaceMarks}, []byte{storage.SpaceMarks + 1}, storage.LeastRun) {
		if len(list) == most {
			break
		}
		if len(v) == 8 {
			list = append(list, change{bytes.Clone(k[1:]), edm.Ticks(binary.BigEndian.Uint64(v))})
		}
	}
	return list
}

// size returns the total size of the entities' keys and values in bytes.
func (b *bucket) size(t *turn.Turn, list []change) (n int) {
	for _, c := range list {
		v, _ := t.Rows.Get(b.entityKey(c.key))
		n += len(c.key) + len(v)
	}
	return n
}

// recordSeal records in the feed that the range has stopped serving the keys that it hands over.
func (b *bucket) recordSeal(t *turn.Turn) {
	to := b.marker.Span.Target
	if b.marker.Span.Leaving {
		to = 0
	}
	b.feed.Sealed(t.Rows, to, b.issue(t))
}

// gives reports whether the range has stopped serving its upper keys for a split, and the catalog might not have
// recorded yet which range has these keys.
func (*splitting) gives(s *span.Span) bool {
	return s != nil && !s.Leaving && (s.Phase == span.Sealed || s.Phase == span.Moved)
}

// sendLastPiece sends the last chunk, with which the other range begins to serve the keys. This range must not serve
// them again, because the chunk may arrive late.
func (b *bucket) sendLastPiece(t *turn.Turn) turn.Step {
	s := b.marker.Span
	if s.Leaving && s.Target == 0 {
		return b.askForNeighbour(t)
	}
	s.Seq++
	p := b.target()
	taking := message.Taking{Bounds: key.Range{Start: s.At, End: s.End}, High: b.clock.Last, Number: s.Number, From: s.Self.Range, Cut: b.feed.SealedAt()}
	b.outbox.HandOver(&taking)
	m := message.Copy(t.Dst, &p, b.marker.Incarnation, s.Seq, &taking)
	m, _ = b.addItems(t, m, b.recordedChanges(t, pieceRows))
	if s.Leaving && s.Number == 0 {
		s.Target = 0 // an earlier version of the code did not ask the neighbour to agree, so ask the catalog for the right neighbour before each attempt
	}
	b.marker.Put(t.Rows)
	step := b.call(t, durableobject.AddressOf(&p), m[len(t.Dst):], &turn.Continuation{})
	step.Answer = m
	return step
}

// deleteMovedRows deletes rows whose keys another range has.
func (b *bucket) deleteMovedRows(t *turn.Turn) turn.Step {
	s := b.marker.Span
	from, to := storage.Entities(key.Range{Start: s.At, End: s.End})
	n := storage.Delete(t.Rows, from, to, emptyRows)
	n += storage.Delete(t.Rows, append([]byte{storage.SpaceOutbox}, from...), append([]byte{storage.SpaceOutbox}, to...), emptyRows-n)
	if b.split.due = t.Now; n == emptyRows {
		return t.Done() // the alarm continues at once
	}
	b.marker.Span = s.Serve(s.Bounds)
	b.marker.Put(t.Rows)
	b.outbox.Keys.End = nil
	b.split.due = 0
	b.room.Look()
	b.split.lookLater(t, b)
	return t.Done()
}

// readMap parses the catalog's answer with the ranges of the bucket. ok is false if the answer is malformed or about
// another incarnation.
func (b *bucket) readMap(r message.Reader) (known message.Named, ok bool) {
	where := r.Located()
	known = r.Named()
	if r.OK() && !r.Done() {
		r.Traits()
	}
	return known, r.Done() && !where.Deleting && where.Incarnation == b.marker.Incarnation
}
