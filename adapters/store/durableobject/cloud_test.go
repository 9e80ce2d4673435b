package durableobject_test

import (
	"bytes"
	"cmp"
	"context"
	"edgetable/testdata/rowstest"
	"errors"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"testing"

	"edgetable/adapters/store/durableobject"
	"edgetable/adapters/store/durableobject/engine"
	"edgetable/adapters/store/durableobject/internal/message"
	"edgetable/core/edm"
	"edgetable/core/storetest"
	"edgetable/core/table"
)

// cloud runs objects as the platform does: each object exists once and runs one transaction at a time.
// While an object waits for another object, it may handle other messages.
type cloud struct {
	t   testing.TB
	now func() edm.Ticks
	// If aged is true, new objects behave as if they had been awake for three hours.
	aged    bool
	catalog string // the location of the catalogs
	replica string // the name of the replica
	where   string // the jurisdiction of the replica
	bytes   int64  // the size and the rate above which ranges split; 0 means that they never split
	rate    float64
	rows    int // the maximum number of entities in a chunk
	rnd     func() uint64

	// history answers the calls of an object to durableobject.History. If ends is true, the object ends
	// and gets no answer.
	history func(n *node, m []byte) (a durableobject.Answer, ends bool)
	// most is the maximum number of calls that an object may make in one message; 0 means any number.
	most int
	// The cloud calls this function after each transaction.
	kept func(n *node)

	// publish handles the calls to durableobject.Replica.
	publish func(batch []byte) durableobject.Answer

	mu      sync.Mutex
	objects map[durableobject.Address]*node
	events  map[string]int // the number of splits, merges and other events of ranges, by kind
	next    edm.Ticks      // no alarm is due before this time

	// answered, if it is not nil, replaces each answer of an object to a Worker or to another object.
	answered func(call durableobject.Call, a durableobject.Answer) durableobject.Answer

	// The sources of faults; each may be nil.
	network func(durableobject.Call) fate                         // decides what happens to a message from a Worker
	inside  func(durableobject.Call) fate                         // decides what happens to a message from an object
	late    func()                                                // called once, before an object receives the answers to its calls
	between func(n *node, calls []durableobject.Call) (dead bool) // called before an object's calls are made; dead is true if the object has ended
}

// fate says what happens to a message.
type fate struct {
	lose    bool  // the message is not handled
	err     error // the error that the caller gets instead of the answer
	repeat  bool  // the object handles the message a second time
	foreign bool  // the object runs another version of the code
}

// node holds the storage of an object, and its memory while it is awake.
type node struct {
	mu     sync.Mutex
	id     durableobject.Address
	rows   rowstest.Rows
	memory *engine.Engine
	alarm  edm.Ticks // the time of the alarm; 0 means that none is set
}

func newCloud(t testing.TB, now func() edm.Ticks) *cloud {
	return &cloud{t: t, now: now, rnd: numbers(1), objects: make(map[durableobject.Address]*node)}
}

func (c *cloud) node(id durableobject.Address) *node {
	id.Hint = "" // the hint is not part of the identity
	c.mu.Lock()
	defer c.mu.Unlock()
	n := c.objects[id]
	if n == nil {
		n = &node{id: id}
		c.objects[id] = n
	}
	return n
}

// evict clears the memory of an object.
func (n *node) evict() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.memory = nil
}

func (c *cloud) evict() {
	for _, n := range c.all() {
		n.evict()
	}
}

// The method all returns the objects, sorted by name.
func (c *cloud) all() (list []*node) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, n := range c.objects {
		list = append(list, n)
	}
	slices.SortFunc(list, func(a, b *node) int { return cmp.Compare(a.id.Name, b.id.Name) })
	return list
}

// numbers returns a source of random numbers that is safe for concurrent use.
func numbers(seed uint64) func() uint64 {
	var mu sync.Mutex
	r := rand.New(rand.NewPCG(seed, 9))
	return func() uint64 {
		mu.Lock()
		defer mu.Unlock()
		return r.Uint64()
	}
}

// Call implements durableobject.Caller.
func (c *cloud) Call(ctx context.Context, calls []durableobject.Call) []durableobject.Answer {
	return c.deliver(ctx, calls, c.network)
}

func (c *cloud) deliver(ctx context.Context, calls []durableobject.Call, via func(durableobject.Call) fate) []durableobject.Answer {
	answers := make([]durableobject.Answer, len(calls))
	for i, call := range calls {
		call.Message = bytes.Clone(call.Message)
		if call.To == durableobject.Replica {
			answers[i] = c.publish(call.Message)
			continue
		}
		var f fate
		if via != nil {
			f = via(call)
		}
		if f.foreign {
			answers[i] = durableobject.Answer{Message: message.Foreign(nil)}
			continue
		}
		if !f.lose {
			answers[i] = c.handle(ctx, call)
			if f.repeat && remembered(answers[i]) {
				c.handle(ctx, call)
			}
			if c.answered != nil {
				answers[i] = c.answered(call, answers[i])
			}
		}
		if f.lose || f.err != nil {
			answers[i] = durableobject.Answer{Err: f.err}
		}
	}
	return answers
}

// remembered reports whether an object remembers this answer to a write. If the object did nothing, it does not
// remember its answer. The cloud repeats only messages with remembered answers, because the platform itself
// never repeats a message.
func remembered(a durableobject.Answer) bool {
	_, err := message.Result(a.Message)
	return !errors.Is(err, message.ErrAgain) && !errors.Is(err, table.ErrBusy)
}

// handle passes a message to an object, and makes the calls that the object requests. On the platform,
// the JavaScript shell does this.
func (c *cloud) handle(ctx context.Context, call durableobject.Call) durableobject.Answer {
	n := c.node(call.To)
	var resume *engine.Resume
	for made := 0; ; {
		step := c.step(n, call.Message, resume)
		if len(step.Calls) == 0 {
			return durableobject.Answer{Message: step.Answer}
		}
		if step.Calls[0].To == durableobject.History {
			resume = &engine.Resume{State: step.State}
			for _, call := range step.Calls {
				a, ends := c.history(n, call.Message)
				if ends {
					n.evict()
					return durableobject.Answer{Err: durableobject.ErrLost}
				}
				resume.Answers = append(resume.Answers, a)
			}
			continue
		}
		runtime.Gosched() // let other goroutines run first
		if c.between != nil && c.between(n, step.Calls) {
			return durableobject.Answer{Err: durableobject.ErrLost}
		}
		refused := 0
		if made += len(step.Calls); c.most > 0 && made > c.most {
			refused = min(made-c.most, len(step.Calls))
		}
		resume = &engine.Resume{State: step.State, Answers: c.deliver(ctx, step.Calls[:len(step.Calls)-refused], c.inside)}
		for range refused {
			resume.Answers = append(resume.Answers, durableobject.Answer{Err: durableobject.ErrLost})
		}
		if late := c.late; late != nil {
			c.late = nil
			late()
		}
	}
}

// step passes a message to an object, in one transaction.
func (c *cloud) step(n *node, m []byte, resume *engine.Resume) engine.Step {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.memory == nil {
		now := c.now
		if c.aged {
			awake := false
			now = func() edm.Ticks {
				if awake {
					return c.now()
				}
				awake = true
				return c.now() - 3*3600*edm.TicksPerSecond
			}
		}
		n.memory = engine.New(engine.Options{
			Now: now, Rand: c.rnd, Told: c.told, Catalog: c.catalog, Replica: c.replica, Jurisdiction: c.where, SplitBytes: c.bytes, SplitRate: c.rate, PieceRows: c.rows,
		})
	}
	m = bytes.Clone(m)
	n.rows.Begin()
	step := n.memory.Handle(&n.rows, m, resume, []byte("dst"))
	if !bytes.HasPrefix(step.Answer, []byte("dst")) && len(step.Calls) == 0 {
		c.t.Errorf("the answer %q is not appended", step.Answer)
	}
	step.Answer = bytes.Clone(bytes.TrimPrefix(step.Answer, []byte("dst")))
	spoil(m)
	if resume != nil { // the JavaScript shell reuses the memory of messages
		for _, a := range resume.Answers {
			spoil(a.Message)
		}
		spoil(resume.State)
	}
	if step.Rollback {
		n.rows.Rollback()
	}
	if c.kept != nil {
		c.kept(n)
	}
	if step.Alarm > 0 && (n.alarm == 0 || step.Alarm < n.alarm) {
		n.alarm = step.Alarm
		c.alarmAt(n.alarm)
	}
	return step
}

func (c *cloud) told(_ string, _ uint16, _ uint32, event string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.events == nil {
		c.events = make(map[string]int)
	}
	c.events[event]++
}

func spoil(b []byte) {
	for i := range b {
		b[i] = 0xAA
	}
}

// ring sends an alarm to each object whose alarm is due, and returns the number of these objects.
func (c *cloud) ring(at edm.Ticks) (rang int) {
	if !c.due(at) {
		return 0
	}
	for _, n := range c.all() {
		n.mu.Lock()
		due := n.alarm > 0 && n.alarm <= at
		if due {
			n.alarm = 0
		}
		n.mu.Unlock()
		if due {
			rang++
			c.handle(context.Background(), durableobject.Call{To: n.id, Message: engine.Alarm()})
		}
	}
	return rang
}

// due reports whether an alarm may be due. If so, it also records when the next later alarm is due.
func (c *cloud) due(at edm.Ticks) bool {
	c.mu.Lock()
	due := c.next <= at
	if due {
		c.next = math.MaxInt64
	}
	c.mu.Unlock()
	if !due {
		return false
	}
	for _, n := range c.all() {
		n.mu.Lock()
		if n.alarm > at {
			c.alarmAt(n.alarm)
		}
		n.mu.Unlock()
	}
	return true
}

// alarmAt records that an alarm is due at a time.
func (c *cloud) alarmAt(at edm.Ticks) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.next = min(c.next, at)
}

// store opens a Store over the cloud.
func (c *cloud) store(now func() edm.Ticks, change func(*durableobject.Options)) *durableobject.Store {
	c.t.Helper()
	o := durableobject.Options{Caller: c, Now: now, Rand: c.rnd}
	if change != nil {
		change(&o)
	}
	s, err := durableobject.New(o)
	if err != nil {
		c.t.Fatal(err)
	}
	return s
}

// strengths returns the guarantees of the store that the test suite checks, for tables with this number
// of buckets.
func (c *cloud) strengths(buckets uint16) storetest.Strengths {
	switch {
	case c.bytes > 0:
		return storetest.Home("Durable Objects, a table that has split")
	case buckets <= 1:
		return storetest.Home("Durable Objects, one bucket per table")
	}
	return storetest.Home("Durable Objects, more buckets")
}

// harness returns the harness with which the test suite of all stores opens a Store. prepare, if it is
// not nil, configures each cloud.
func harness(prepare func(*cloud), change func(*durableobject.Options)) storetest.Harness {
	return func(t testing.TB, now func() edm.Ticks) storetest.Fixture {
		c := newCloud(t, now)
		if prepare != nil {
			prepare(c)
		}
		var o durableobject.Options
		if change != nil {
			change(&o)
		}
		return storetest.Fixture{
			Store:     c.store(now, change),
			Strengths: c.strengths(o.Buckets),
			Share:     func(now func() edm.Ticks) table.Store { return c.store(now, change) },
			Restart: func(now func() edm.Ticks) table.Store {
				c.now = now
				c.evict()
				return c.store(now, change)
			},
		}
	}
}
