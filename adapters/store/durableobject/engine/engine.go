package engine

import (
	"cmp"

	"edgetable/adapters/store/durableobject"
	"edgetable/adapters/store/durableobject/internal/message"
	"edgetable/core/edm"
	"edgetable/core/table"
)

// Options configure an [Engine]. They are the same for all objects of a deployment.
type Options struct {
	// Now is the clock. It may stand still while Handle runs.
	Now func() edm.Ticks
	// Rand returns random bits.
	Rand func() uint64
	// Catalog is the location of the catalogs: see [durableobject.SplitLocation].
	Catalog string
	// Replica is the name of the replica to which changes are published; "" publishes
	// nothing. Another name is another replica, which gets everything. When publishing
	// begins, each account joins with its next request.
	Replica string
	// SplitBytes is the size from which a bucket splits its range, and SplitRate the number
	// of requests per second; 0 never.
	SplitBytes int64
	SplitRate  float64
	// PieceRows is the most entities that move in a message; 0 is 500.
	PieceRows int
	// Jurisdiction is that of the replica, "" for none. Tables in other jurisdictions
	// are not published. Another jurisdiction counts as another replica.
	Jurisdiction string
}

// Engine is our code inside one Durable Object, with all that it keeps in memory. It
// is not safe for concurrent use; the Handles of concurrent messages run one after
// the other.
//
// Discard an engine and make a new one if a transaction did not end as its Handle
// wanted, or if Handle panicked.
type Engine struct {
	now     func() edm.Ticks
	answers answers

	loaded  bool // the following were read from the rows
	clock   clock
	room    room
	outbox  outbox
	bucket  bucket
	catalog catalog
}

// New makes the engine of an object that just woke up.
func New(o Options) *Engine {
	if o.Replica != "" && o.Jurisdiction != "" {
		o.Replica += "@" + o.Jurisdiction
	}
	e := &Engine{now: o.Now, answers: answers{engine: o.Rand(), woke: o.Now()}}
	e.outbox = outbox{clock: &e.clock, rand: o.Rand, name: o.Replica, jurisdiction: o.Jurisdiction}
	e.bucket = bucket{clock: &e.clock, room: &e.room, outbox: &e.outbox, catalog: o.Catalog, generation: o.Rand()}
	e.bucket.split = splitting{rand: o.Rand, bytes: o.SplitBytes, rate: o.SplitRate, rows: cmp.Or(o.PieceRows, pieceRows)}
	e.catalog = catalog{clock: &e.clock, room: &e.room, outbox: &e.outbox, answers: &e.answers, location: o.Catalog}
	return e
}

// Step is the result of a Handle.
type Step struct {
	// Answer is the answer to the message, if Calls is empty: Handle's dst with the
	// answer appended. With Calls it holds the message of a call that may be large.
	Answer []byte
	// Rollback: undo all changes of the Handle to its rows. The answer stays valid.
	Rollback bool
	// Calls are to be made concurrently after the transaction. Then Handle gets the
	// message again, with their answers and State.
	Calls []durableobject.Call
	State []byte
	// Alarm is when the object wants the message [Alarm]; 0 is never. Only the earliest
	// one that was not sent yet counts.
	Alarm edm.Ticks

	next *continuation // becomes State, if there are Calls
}

// Resume is the outcome of a Step with Calls.
type Resume struct {
	State   []byte
	Answers []durableobject.Answer // in the order of the Calls
}

// Alarm is the message that a Step asks for. Nobody reads its answer.
func Alarm() []byte { return message.Alarm() }

// turn is one Handle.
type turn struct {
	rows    Rows
	now     edm.Ticks
	fields  message.Reader // of the message
	resumed continuation   // zero for a new message
	answers []durableobject.Answer
	dst     []byte
}

func (t *turn) fail(err error) Step { return Step{Answer: message.Fail(t.dst, err)} }

// malformed is the answer to a message of our version with bad fields.
func (t *turn) malformed() Step { return Step{Answer: message.Foreign(t.dst)} }

func (t *turn) done() Step { return Step{Answer: message.Done(t.dst)} }

func (t *turn) doneTicks(at edm.Ticks) Step { return Step{Answer: message.DoneTicks(t.dst, at)} }

// has reports whether a step is an answer with this status.
func (t *turn) has(s Step, status message.Status) bool {
	return len(s.Calls) == 0 && message.StatusOf(s.Answer[len(t.dst):]) == status
}

// Handle carries out a message in one transaction over rows, as far as it can without
// calls to other objects. resume is nil for a new message. The answer is appended to
// dst.
//
// The message must not change while Handle runs, and rows must not write into it.
// Handle retains neither.
func (e *Engine) Handle(rows Rows, m []byte, resume *Resume, dst []byte) Step {
	op, fields, ok := message.Open(m)
	if !ok {
		return Step{Answer: message.Foreign(dst)}
	}
	t := &turn{rows: rows, now: e.now(), fields: fields, dst: dst}
	if resume != nil {
		t.resumed, t.answers = parseContinuation(resume.State), resume.Answers
	}
	if e.outbox.name != "" || loads(op) {
		e.load(t)
	}
	step := e.dispatch(op, t)
	if step.Rollback {
		e.loaded = false
	}
	if len(step.Calls) > 0 {
		step.State = step.next.append(nil)
	}
	e.outbox.setAlarm(&step)
	e.bucket.split.setAlarm(&step)
	return step
}

// loads reports whether an operation needs the state that is kept in memory: reads of
// a catalog do not.
func loads(op message.Op) bool {
	switch op {
	case message.OpGet, message.OpCommit, message.OpScan, message.OpTraffic, message.OpDrop, message.OpForget, message.OpWrite, message.OpCopy, message.OpTake, message.OpAlarm:
		return true
	}
	return false
}

// load reads the state that is kept in memory.
func (e *Engine) load(t *turn) {
	if e.loaded {
		return
	}
	e.bucket.marker.load(t.rows)
	e.clock.load(t.rows, e.bucket.marker.floor)
	e.bucket.loadSplit(t)
	e.outbox.load(t)
	e.outbox.incarnation = e.bucket.marker.incarnation
	e.loaded = true
}

func (e *Engine) dispatch(op message.Op, t *turn) Step {
	switch op {
	case message.OpGet:
		return e.bucket.get(t)
	case message.OpCommit:
		return e.once(t, e.bucket.commit, false)
	case message.OpScan:
		return e.bucket.scan(t)
	case message.OpTraffic:
		return e.bucket.tell(t)
	case message.OpDrop:
		return e.bucket.drop(t)
	case message.OpForget:
		return e.bucket.forget(t)
	case message.OpRead:
		return e.catalog.read(t)
	case message.OpWrite:
		return e.once(t, e.catalog.write, false)
	case message.OpList:
		return e.catalog.list(t)
	case message.OpRemove:
		return e.once(t, e.catalog.remove, true)
	case message.OpLocate:
		return e.catalog.locate(t)
	case message.OpCopy:
		return e.bucket.fill(t, false)
	case message.OpTake:
		return e.bucket.fill(t, true)
	case message.OpRanges:
		return e.catalog.tellRanges(t)
	case message.OpBegin:
		return e.catalog.begin(t)
	case message.OpSwitch:
		return e.catalog.switchRange(t)
	case message.OpObjects:
		return e.catalog.serving(t)
	case message.OpAlarm:
		return e.alarm(t)
	}
	return t.malformed()
}

// once carries out a write that may arrive several times. It remembers every final
// answer, refusals included: a refused write must not be carried out by a slower
// attempt. A write that made calls resumes only in the engine in which it began,
// because another one may have forgotten an attempt in between; unless it is traced:
// then the rows show how far it got.
func (e *Engine) once(t *turn, write func(*turn, message.Attempt, verdict) Step, traced bool) Step {
	a := t.fields.Attempt()
	if !t.fields.OK() {
		return t.malformed()
	}
	v, answer := e.answers.judge(t.now, a)
	if v == answered {
		return Step{Answer: append(t.dst, answer...)}
	}
	if t.resumed.kind != 0 && !traced && t.resumed.engine != e.answers.engine {
		return t.fail(message.ErrAgain)
	}
	step := write(t, a, v)
	switch {
	case len(step.Calls) > 0:
		step.next.engine = e.answers.engine
	case t.has(step, message.StatusBusy) || t.has(step, message.StatusUnknown) || t.has(step, message.StatusAgain):
	default:
		e.answers.remember(t.now, a.ID, step.Answer[len(t.dst):])
	}
	return step
}

// alarm finishes interrupted deletions, publishes, and goes on with a split. A range that
// only waits for the outbox to give keys away comes before the next batch.
func (e *Engine) alarm(t *turn) Step {
	if !t.fields.Done() {
		return t.malformed()
	}
	if t.resumed.kind == publishes {
		return e.outbox.published(t)
	}
	if t.resumed.kind == splits {
		return e.bucket.resumed(t)
	}
	if step, waits := e.catalog.finishDeletions(t); waits {
		return step
	}
	if !e.bucket.mayEnd(t) {
		step := e.outbox.publish(t)
		if step.Alarm = e.catalog.nextRetry(t); len(step.Calls) > 0 {
			return step
		}
	}
	step := e.bucket.goOn(t)
	step.Alarm = e.catalog.nextRetry(t)
	return step
}

// rounds is the number of times that a message calls other objects before it gives
// up, or leaves a deletion to the alarm.
const rounds = 3

// lostWrite is the answer to a write whose outcome is unknown.
func lostWrite(t *turn) Step { return t.fail(table.ErrUnknown) }
