package object

import (
	"encoding/binary"

	"edgetable/adapters/store/durableobject"
	"edgetable/adapters/store/durableobject/internal/message"
	"edgetable/core/edm"
	"edgetable/core/table"
)

// Options of an [Object]. All are the same for all objects of a deployment.
type Options struct {
	// Now is the clock. It may stand still while Handle runs.
	Now func() edm.Ticks
	// Rand returns random bits.
	Rand func() uint64
	// Catalog is the location of the catalogs: see [durableobject.SplitLocation].
	Catalog string
	// Replica names what changes are published to; "" publishes nothing. Another
	// name is another replica: all there is is published to it once more. So is
	// what there is when publishing begins, of each account from its next request.
	Replica string
	// Jurisdiction is where the replica keeps what it has, "": anywhere. What is in
	// another one is not published. To declare another one has what there is
	// published once more.
	Jurisdiction string
}

// Object is the memory of one object. It is not safe for concurrent use; where
// several transactions of an object are under way, their Handles run one after
// the other.
//
// It must be thrown away, and a new one made, when a transaction in which a
// Handle ran did not end as the Handle wanted it, and when Handle panicked.
type Object struct {
	now     func() edm.Ticks
	rand    func() uint64
	catalog string
	replica string // its name, with its jurisdiction

	jurisdiction string // of the replica

	memory memory
	// generation names what the object knows of drops: it is random at first, as
	// a memory before this one may have known of more, and changes with each.
	generation uint64
	doomed     table.Incarnation // the life that was last seen being deleted

	buries edm.Ticks // when the alarm goes on with deletions

	unlooked int // bytes to write before the next look at the size

	loaded bool // of the rows: the following
	clock  clock
	marker marker
	outbox outbox

	key, out []byte // scratch
}

// New is an object that just woke up.
func New(o Options) *Object {
	if o.Replica != "" && o.Jurisdiction != "" {
		o.Replica += "@" + o.Jurisdiction
	}
	return &Object{
		now:          o.Now,
		rand:         o.Rand,
		catalog:      o.Catalog,
		replica:      o.Replica,
		jurisdiction: o.Jurisdiction,
		generation:   o.Rand(),
		memory:       memory{id: o.Rand(), woke: o.Now()},
	}
}

// Step is what a Handle came to.
type Step struct {
	// Answer is that to the message, if Calls is empty. It is Handle's dst, with
	// the answer appended; or with the message of a call, if that may be large.
	Answer []byte
	// Rollback: everything that the Handle did to its rows is to be undone. The
	// answer holds all the same.
	Rollback bool
	// Calls are to be made when the transaction is done, all at once. Then the
	// message is handed to Handle again, with their answers and State.
	Calls []durableobject.Call
	State []byte
	// Alarm is when the object wants to be sent [Alarm], if it is not 0. Only the
	// earliest that was not sent yet counts.
	Alarm edm.Ticks
}

// Resume is what came of a Step with Calls.
type Resume struct {
	State   []byte
	Answers []durableobject.Answer // in the order of the Calls
}

// Alarm is the message that a Step asks for; its answer has no reader.
func Alarm() []byte { return message.Alarm() }

// Handle does what a message asks for in one transaction over rows, or as much
// of it as it can without another object. A message that is handed back comes
// with what it came to before; else resume is nil. The answer is appended to dst.
//
// The message must not change while Handle runs, rows must not write into it.
// Nothing of it is retained.
func (o *Object) Handle(rows Rows, m []byte, resume *Resume, dst []byte) Step {
	op, r, ok := message.Open(m)
	if !ok {
		return Step{Answer: message.Foreign(dst)}
	}
	if resume == nil {
		resume = &Resume{}
	}
	h := handling{Object: o, rows: rows, r: r, resume: resume, dst: dst}
	if o.replica == "" {
		return h.handle(op)
	}
	h.load()
	return h.later(h.handle(op))
}

func (h *handling) handle(op message.Op) Step {
	switch op {
	case message.OpGet:
		return h.get()
	case message.OpCommit:
		return h.once(h.commit, false)
	case message.OpScan:
		return h.scan()
	case message.OpDrop:
		return h.drop()
	case message.OpForget:
		return h.forget()
	case message.OpRead:
		return h.read()
	case message.OpWrite:
		return h.once(h.write, false)
	case message.OpList:
		return h.list()
	case message.OpRemove:
		return h.once(h.remove, true)
	case message.OpLocate:
		return h.locate()
	case message.OpAlarm:
		return h.alarm()
	}
	return h.garbled()
}

// handling is one Handle.
type handling struct {
	*Object
	rows   Rows
	r      message.Reader
	resume *Resume
	dst    []byte
}

func (h *handling) fail(err error) Step { return Step{Answer: message.Fail(h.dst, err)} }

// garbled is the answer to a message of our version that makes no sense.
func (h *handling) garbled() Step { return Step{Answer: message.Foreign(h.dst)} }

func (h *handling) done() Step { return Step{Answer: message.Done(h.dst)} }

func (h *handling) doneTicks(t edm.Ticks) Step { return Step{Answer: message.DoneTicks(h.dst, t)} }

// once carries out a write that may come several times. Every answer that holds
// for good is remembered, refusals included: what was refused must not be carried
// out by an attempt that took longer. Nor may what another attempt did long ago: so
// one that had to wait goes on only in the memory in which it began, unless it
// finds in the rows how far it came.
func (h *handling) once(write func(a message.Attempt, v verdict) Step, traced bool) Step {
	a := h.r.Attempt()
	if !h.r.OK() {
		return h.garbled()
	}
	now := h.now()
	v, answer := h.memory.judge(now, a)
	if v == answered {
		return Step{Answer: append(h.dst, answer...)}
	}
	if s := h.resume.State; len(s) >= memoryID {
		if !traced && binary.BigEndian.Uint64(s) != h.memory.id {
			return h.fail(message.ErrAgain)
		}
		h.resume = &Resume{State: s[memoryID:], Answers: h.resume.Answers}
	}
	step := write(a, v)
	switch {
	case len(step.Calls) > 0:
		step.State = append(binary.BigEndian.AppendUint64(nil, h.memory.id), step.State...)
	case h.says(step, message.StatusBusy) || h.says(step, message.StatusUnknown):
	default:
		h.memory.remember(now, a.ID, step.Answer[len(h.dst):])
	}
	return step
}

// says reports whether a step is an answer with this status.
func (h *handling) says(s Step, status message.Status) bool {
	return len(s.Calls) == 0 && message.StatusOf(s.Answer[len(h.dst):]) == status
}

// load reads what the object keeps in memory of its rows.
func (h *handling) load() {
	if !h.loaded {
		h.marker.load(h.rows)
		h.clock.load(h.rows, h.marker.floor)
		h.loadOutbox()
		h.loaded = true
	}
}

// marker is the life of the table that a bucket serves.
type marker struct {
	live        bool
	incarnation table.Incarnation
	floor       edm.Ticks
}

func (m *marker) load(rows Rows) {
	*m = marker{}
	v, ok := rows.Get(rowMarker)
	if ok && len(v) >= len(m.incarnation)+8 {
		m.live = true
		m.floor = edm.Ticks(binary.BigEndian.Uint64(v[copy(m.incarnation[:], v):]))
	}
}

func (m *marker) put(rows Rows) {
	v := make([]byte, 0, len(m.incarnation)+8)
	v = append(v, m.incarnation[:]...)
	rows.Put(rowMarker, binary.BigEndian.AppendUint64(v, uint64(m.floor)))
}
