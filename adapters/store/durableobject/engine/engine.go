package engine

import (
	"cmp"

	"edgetable/adapters/store/durableobject/internal/answers"
	"edgetable/adapters/store/durableobject/internal/clock"
	"edgetable/adapters/store/durableobject/internal/listing"
	"edgetable/adapters/store/durableobject/internal/message"
	"edgetable/adapters/store/durableobject/internal/outbox"
	"edgetable/adapters/store/durableobject/internal/room"
	"edgetable/adapters/store/durableobject/internal/storage"
	"edgetable/adapters/store/durableobject/internal/turn"
	"edgetable/core/edm"
)

// Rows is the object's storage.
type Rows = storage.Rows

// Step is the result of [Engine.Handle]. A Step may contain calls to other objects. A Resume passes the answers of
// these objects to Handle.
type (
	Step   = turn.Step
	Resume = turn.Resume
)

// Options configure an [Engine]. They are the same for all objects of a deployment.
type Options struct {
	// Now is the clock. It may stand still while Handle runs.
	Now func() edm.Ticks
	// Rand returns random bits.
	Rand func() uint64
	// Catalog is the location of the catalogs: see [durableobject.SplitLocation].
	Catalog string
	// Replica is the name of the replica to which changes are published; "" means none. A new name means a new replica,
	// to which all data is published again.
	Replica string
	// SplitBytes is the size in bytes above which a range splits. SplitRate is the number of requests per second above
	// which a range splits. The value 0 disables this kind of split.
	SplitBytes int64
	SplitRate  float64
	// Told is called when a range begins or finishes a split or a merge with its neighbour, or when the catalog refuses
	// the split or the neighbour refuses the merge. It may be nil.
	Told func(table string, bucket uint16, id uint32, event string)
	// PieceRows is the maximum number of entities that one message moves to another range; 0 means 500.
	PieceRows int
	// Jurisdiction is the jurisdiction of the replica, or "". Tables in other jurisdictions are not published. Equal
	// names in two jurisdictions are two replicas.
	Jurisdiction string
	// Shared limits the memory in which all engines of a process remember answers. If it is nil, this engine has its
	// own limit.
	Shared *Shared
}

// Shared limits the memory in which all engines of a process remember answers: see [answers.Room].
type Shared struct{ answers answers.Room }

// NewShared returns a Shared. If short is not nil, it is called when an engine had to forget the answer to a write in
// less than a minute.
func NewShared(short func()) *Shared { return &Shared{answers.Room{Short: short}} }

// Engine is the code inside one Durable Object, with its in-memory state. It is not safe for concurrent use. After a
// panic or a failed transaction, it must be replaced by a new Engine.
type Engine struct {
	now     func() edm.Ticks
	answers answers.Memory

	loaded  bool // whether the fields below were read from the rows
	clock   clock.Clock
	room    room.Room
	outbox  outbox.Outbox
	bucket  bucket
	catalog catalog
}

// New returns the engine of an object that just woke up.
func New(o Options) *Engine {
	if o.Shared == nil {
		o.Shared = NewShared(nil)
	}
	e := &Engine{now: o.Now, answers: answers.Memory{Engine: o.Rand(), WokenAt: o.Now(), Room: &o.Shared.answers}}
	e.outbox = outbox.New(&e.clock, o.Rand, o.Replica, o.Jurisdiction)
	e.bucket = bucket{clock: &e.clock, room: &e.room, outbox: &e.outbox, answers: &e.answers, catalog: o.Catalog, generation: o.Rand()}
	e.bucket.split = splitting{rand: o.Rand, onEvent: o.Told, bytes: o.SplitBytes, rate: o.SplitRate, rows: cmp.Or(o.PieceRows, pieceRows)}
	e.catalog = catalog{clock: &e.clock, room: &e.room, outbox: &e.outbox, answers: &e.answers, location: o.Catalog}
	return e
}

// Discard frees the memory of the engine's remembered answers, for other engines with the same Shared. The engine must
// not be used afterwards.
func (e *Engine) Discard() { e.answers.Free() }

// Alarm returns the message that the object must handle at the time [Step].Alarm. The answer to the message is not
// used.
func Alarm() []byte { return message.Alarm() }

// Handle handles a message in one transaction over rows, until it needs calls to other objects. It appends the answer
// to dst. For a new message, resume is nil.
//
// The message m must not change while Handle runs. Handle retains neither m nor rows.
func (e *Engine) Handle(rows Rows, m []byte, resume *Resume, dst []byte) Step {
	op, fields, ok := message.Open(m)
	if !ok {
		return Step{Answer: message.Foreign(dst)}
	}
	t := &turn.Turn{Rows: rows, Now: e.now(), Fields: fields, Dst: dst}
	if resume != nil {
		t.Resumed, t.Answers = turn.ParseContinuation(resume.State), resume.Answers
	}
	o := operationOf(op)
	if e.outbox.HasReplica() || o.loads {
		e.load(t)
	}
	step := o.run(e, t)
	if step.Rollback {
		e.loaded = false
	}
	if len(step.Calls) > 0 {
		step.State = step.Next.Append(nil)
	}
	e.outbox.SetAlarm(&step)
	e.bucket.split.setAlarm(&step)
	for _, due := range [...]edm.Ticks{e.bucket.sweep.Due, e.bucket.feed.Due} {
		if due != 0 && (step.Alarm == 0 || due < step.Alarm) {
			step.Alarm = due
		}
	}
	if e.bucket.frozen.id != 0 && step.Alarm == 0 {
		step.Alarm = t.Now + turn.RetryDelay
	}
	return step
}

func (e *Engine) load(t *turn.Turn) {
	if e.loaded {
		return
	}
	e.bucket.marker.Load(t.Rows)
	e.clock.Load(t.Rows, e.bucket.marker.Floor)
	e.bucket.feed.Load(t.Rows, e.bucket.marker.Incarnation, e.bucket.marker.Traits)
	e.bucket.loadFrozen(t.Rows)
	e.bucket.loadSplit(t)
	e.bucket.sweep.Load(t.Rows, e.bucket.marker.Traits, t.Now)
	e.outbox.Load(t, e.bucket.marker.Incarnation)
	e.loaded = true
}

// operation defines how an engine handles the messages of one [message.Op].
type operation struct {
	run   func(*Engine, *turn.Turn) Step
	loads bool // whether run needs the in-memory state; reads of a catalog do not need it
}

var operations = [...]operation{
	message.OpGet:     {run: func(e *Engine, t *turn.Turn) Step { return e.bucket.get(t) }, loads: true},
	message.OpCommit:  {run: func(e *Engine, t *turn.Turn) Step { return e.writeOnce(t, e.bucket.commit, false) }, loads: true},
	message.OpScan:    {run: func(e *Engine, t *turn.Turn) Step { return e.bucket.scan(t) }, loads: true},
	message.OpDrop:    {run: func(e *Engine, t *turn.Turn) Step { return e.bucket.drop(t) }, loads: true},
	message.OpForget:  {run: func(e *Engine, t *turn.Turn) Step { return e.bucket.forgetDropped(t) }, loads: true},
	message.OpTraffic: {run: func(e *Engine, t *turn.Turn) Step { return e.bucket.reportTraffic(t) }, loads: true},
	message.OpDeclare: {run: func(e *Engine, t *turn.Turn) Step { return e.bucket.declare(t) }, loads: true},
	message.OpAlarm:   {run: (*Engine).alarm, loads: true},

	message.OpRead:   {run: func(e *Engine, t *turn.Turn) Step { return e.catalog.read(t) }},
	message.OpWrite:  {run: func(e *Engine, t *turn.Turn) Step { return e.writeOnce(t, e.catalog.write, false) }, loads: true},
	message.OpList:   {run: func(e *Engine, t *turn.Turn) Step { return e.catalog.list(t) }},
	message.OpRemove: {run: func(e *Engine, t *turn.Turn) Step { return e.writeOnce(t, e.catalog.remove, true) }},
	message.OpLocate: {run: func(e *Engine, t *turn.Turn) Step { return e.catalog.locate(t) }},

	message.OpCopy:    {run: func(e *Engine, t *turn.Turn) Step { return e.bucket.fill(t, false) }, loads: true},
	message.OpTake:    {run: func(e *Engine, t *turn.Turn) Step { return e.bucket.fill(t, true) }, loads: true},
	message.OpRanges:  {run: func(e *Engine, t *turn.Turn) Step { return e.catalog.tellRanges(t) }},
	message.OpBegin:   {run: func(e *Engine, t *turn.Turn) Step { return e.catalog.beginRange(t) }},
	message.OpSwitch:  {run: func(e *Engine, t *turn.Turn) Step { return e.catalog.switchRange(t) }, loads: true},
	message.OpObjects: {run: func(_ *Engine, t *turn.Turn) Step { return listing.Serving(t) }},

	message.OpObey:      {run: func(e *Engine, t *turn.Turn) Step { return e.bucket.restore(t) }, loads: true},
	message.OpRestoring: {run: func(e *Engine, t *turn.Turn) Step { return e.catalog.restore(t) }, loads: true},
	message.OpInstruct:  {run: func(e *Engine, t *turn.Turn) Step { return e.catalog.instruct(t) }},

	message.OpOffer: {run: func(e *Engine, t *turn.Turn) Step { return e.bucket.agree(t) }, loads: true},
	message.OpJoin:  {run: func(e *Engine, t *turn.Turn) Step { return e.bucket.join(t) }, loads: true},

	message.OpLines: {run: func(e *Engine, t *turn.Turn) Step { return e.bucket.lines(t) }, loads: true},
	message.OpLook:  {run: func(e *Engine, t *turn.Turn) Step { return e.bucket.readMoved(t) }, loads: true},
	message.OpFeeds: {run: func(e *Engine, t *turn.Turn) Step { return e.catalog.feeds(t) }},
	message.OpLife:  {run: func(_ *Engine, t *turn.Turn) Step { return listing.Life(t) }},
}

func operationOf(op message.Op) operation {
	if int(op) < len(operations) && operations[op].run != nil {
		return operations[op]
	}
	return operation{run: func(_ *Engine, t *turn.Turn) Step { return t.Malformed() }}
}

// writeOnce runs a write that may arrive several times, and remembers its final answer.
//
// A write that made calls continues only in the engine that began it. If traced is true, any engine may continue it,
// because the rows record its progress.
func (e *Engine) writeOnce(t *turn.Turn, write func(*turn.Turn, message.Attempt, answers.Verdict) Step, traced bool) Step {
	a := t.Fields.Attempt()
	if !t.Fields.OK() {
		return t.Malformed()
	}
	v, answer := e.answers.Classify(t.Now, a)
	if v == answers.Answered {
		return Step{Answer: append(t.Dst, answer...)}
	}
	if t.Resumed.Kind != 0 && !traced && t.Resumed.Engine != e.answers.Engine {
		return t.Fail(message.ErrAgain)
	}
	step := write(t, a, v)
	switch {
	case len(step.Calls) > 0:
		step.Next.Engine = e.answers.Engine
	case t.Has(step, message.StatusBusy) || t.Has(step, message.StatusUnknown) || t.Has(step, message.StatusAgain) || t.Has(step, message.StatusMore):
	case t.Has(step, message.StatusForeign): // another range has the key, and nothing was done
		e.answers.Misdirected(t.Now, a.ID)
	default:
		e.answers.Remember(t.Now, a.ID, step.Answer[len(t.Dst):])
	}
	return step
}

// alarm finishes interrupted deletions, publishes changes, and takes the next step of a split. It hands over keys
// before it publishes changes, because a batch in flight would delay the handover.
func (e *Engine) alarm(t *turn.Turn) Step {
	if !t.Fields.Done() {
		return t.Malformed()
	}
	if t.Resumed.Kind == turn.Publishes {
		return e.outbox.AcceptResult(t)
	}
	if e.bucket.frozen.id != 0 {
		return e.bucket.alarmFrozen(t)
	}
	if t.Resumed.Kind == turn.Splits {
		return e.bucket.acceptReply(t)
	}
	if step, waits := e.catalog.finishDeletions(t); waits {
		return step
	}
	e.bucket.trim(t)
	e.bucket.removeEnded(t)
	if may, instead := e.bucket.mayPublish(t); !may {
		return instead
	}
	if !e.bucket.mayEnd(t) {
		step := e.outbox.Publish(t)
		if step.Alarm = e.catalog.nextRetry(t); len(step.Calls) > 0 {
			return step
		}
	}
	step := e.bucket.advanceSplit(t)
	step.Alarm = e.catalog.nextRetry(t)
	return step
}
