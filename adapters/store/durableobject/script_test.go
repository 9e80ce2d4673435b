package durableobject_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"edgetable/adapters/store/durableobject"
	"edgetable/adapters/store/durableobject/internal/message"
	"edgetable/core/storetest"
)

// TestScripts plays the scripts in testdata/faults; retries.txt explains their commands.
func TestScripts(t *testing.T) {
	storetest.PlayFile(t, "testdata/faults/retries.txt", newStage)
	storetest.PlayFile(t, "testdata/faults/deletions.txt", newStage)
}

// stage runs scripts on a cloud.
type stage struct {
	*storetest.Stage
	*cloud
	other  *storetest.Stage // the commands and the store of another Worker
	clock  *clock
	ctx    *until
	next   storetest.Fates // what happens to the Workers' next messages
	words  []string        // what happens to the next message after the pause before it; nil means not known yet
	sent   int             // number of messages of Workers
	late   []durableobject.Call
	inside map[message.Op]*storetest.Fates // what happens to messages from one object to another
	during map[message.Op][]string         // commands to run while an answer is on its way
	asked  map[message.Op]int              // number of messages from one object to another
	left   int                             // number of messages from object to object before the process of the catalog object is killed; -1 means never
	alone  bool                            // whether the object cannot reach others
}

// until is a context with a deadline, which a script sets by the clock of the cloud.
type until struct {
	context.Context
	at time.Time
}

func (u *until) Deadline() (time.Time, bool) { return u.at, true }

func newStage(t *testing.T) *storetest.Stage {
	t.Parallel()
	k := newClock()
	s := &stage{
		clock: k, cloud: newCloud(t, k.now), ctx: &until{Context: t.Context()}, left: -1,
		inside: make(map[message.Op]*storetest.Fates), during: make(map[message.Op][]string), asked: make(map[message.Op]int),
	}
	s.network, s.cloud.inside, s.between = s.meet, s.meetInside, s.cutOff
	s.Stage = &storetest.Stage{Context: s.ctx, Commands: map[string]func(args, block []string) string{
		"worker":    s.worker,
		"elsewhere": s.elsewhere,
		"next":      s.setNext,
		"inside": func(args, _ []string) string {
			fates := storetest.ParseFates(args[1:])
			s.inside[opNamed(t, args[0])] = &fates
			return "ok"
		},
		"during": func(args, block []string) string { s.during[opNamed(t, args[0])] = block; return "ok" },
		"ask":    func(args, _ []string) string { return s.ask(s.Stage, args) },
		"stored": s.stored,
		"asked": func(args, _ []string) string {
			op := opNamed(t, args[0])
			n := s.asked[op]
			s.asked[op] = 0
			return strconv.Itoa(n)
		},
		"cut":  s.cut,
		"then": func(args, _ []string) string { s.prepare(args); return "ok" },
		"deliver": func(_, _ []string) string {
			s.alone = false
			s.deliver(s.ctx, s.late, nil)
			s.late = nil
			return "ok"
		},
		"alarms": func(_, _ []string) string { return strconv.Itoa(s.ring(k.t)) },
		"quiet":  func(_, _ []string) string { s.quiet(); return "ok" },
	}}
	s.setNext(nil, nil)
	s.worker(nil, nil)
	return s.Stage
}

// setNext sets what happens to the next messages, and a new deadline.
func (s *stage) setNext(args, _ []string) string {
	s.next, s.ctx.at = storetest.ParseFates(args), s.clock.t.Time().Add(1000*time.Hour)
	return "ok"
}

// worker replaces the Worker by a new one with these options.
func (s *stage) worker(args, _ []string) string {
	s.Store = s.store(s.clock.now, func(o *durableobject.Options) {
		o.Caller = pausing{s.cloud, func() {
			s.clock.pass(20 * time.Millisecond)
			s.words = s.prepare(s.next.Next())
		}}
		for _, arg := range args {
			name, value, _ := strings.Cut(arg, "=")
			n, _ := strconv.Atoi(value)
			switch name {
			case "attempts":
				o.Attempts = n
			case "buckets":
				o.Buckets = uint16(n)
			case "location":
				o.Location = value
			}
		}
	})
	return "ok"
}

// elsewhere executes a command in another Worker, which has the default options.
func (s *stage) elsewhere(args, _ []string) string {
	if s.other == nil {
		s.other = &storetest.Stage{TB: s.TB, Store: s.store(s.clock.now, nil)}
		s.other.Commands = map[string]func(args, block []string) string{"ask": func(args, _ []string) string { return s.ask(s.other, args) }}
	}
	return s.other.Do(args, nil)
}

// ask executes a command, and adds to its outcome how many messages it sent.
func (s *stage) ask(by *storetest.Stage, args []string) string {
	before := s.sent
	got := by.Do(args, nil)
	return fmt.Sprintf("%s, %d messages", got, s.sent-before)
}

// stored returns the number of rows in bucket objects.
func (s *stage) stored(_, _ []string) string {
	n := 0
	for _, node := range s.all() {
		if !strings.HasPrefix(node.id.Name, "catalog/") {
			n += len(node.rows.Rows)
		}
	}
	return strconv.Itoa(n)
}

// The parameter contains the words of a script about one message. The first words say what happens before the
// message is sent. This method does that, and returns the remaining words.
func (s *stage) prepare(words []string) []string {
	for len(words) > 0 {
		d, err := time.ParseDuration(words[0])
		switch {
		case err == nil:
			s.clock.pass(d)
		case words[0] == "evict":
			s.evict()
		case words[0] == "wake":
			s.network = nil
			s.wake(s.clock)
			s.network = s.meet
		default:
			return words
		}
		words = words[1:]
	}
	return nil
}

// The script decides what happens to a message from a Worker.
func (s *stage) meet(call durableobject.Call) (f fate) {
	words := s.words
	if words == nil {
		words = s.prepare(s.next.Next())
	}
	s.words, s.alone = nil, false
	s.sent++
	for _, word := range words {
		switch word {
		case "ok":
		case "lose":
			f = fate{lose: true, err: durableobject.ErrLost}
		case "lose-reply":
			f.err = durableobject.ErrLost
		case "fail-reply":
			f.err = errors.New("network")
		case "late":
			s.late = append(s.late, call)
			f = fate{lose: true, err: durableobject.ErrLost}
		case "unreachable":
			f = fate{lose: true, err: durableobject.ErrUnreachable}
		case "overloaded":
			f = fate{lose: true, err: durableobject.ErrOverloaded}
		case "failed":
			f = fate{lose: true, err: &durableobject.FailedError{Reason: "the disk is full"}}
		case "foreign":
			call.Message[0] += 7
		case "alone":
			s.alone = true
		case "deadline":
			s.ctx.at = s.clock.t.Time()
		default:
			s.t.Errorf("%s: no fate of a message", word)
		}
	}
	return f
}

var opNames = map[string]message.Op{"locate": message.OpRanges, "drop": message.OpDrop, "forget": message.OpForget}

func opNamed(t testing.TB, name string) message.Op {
	op, ok := opNames[name]
	if !ok {
		t.Fatalf("%s: no message of an object", name)
	}
	return op
}

// The script decides what happens to a message from an object.
func (s *stage) meetInside(call durableobject.Call) (f fate) {
	op := opOf(call)
	s.asked[op]++
	lost := fate{lose: true, err: durableobject.ErrLost}
	if s.left == 0 || s.alone {
		return lost
	}
	s.left--
	if block := s.during[op]; block != nil {
		s.during[op] = nil
		s.cloud.late = func() { s.Play(block) }
	}
	if fates := s.inside[op]; fates != nil {
		switch word := strings.Join(fates.Next(), " "); word {
		case "lose":
			return lost
		case "again":
			s.late = append(s.late, call)
		}
	}
	return fate{}
}

// cut runs a block of commands in which all objects end after a number of messages between objects.
func (s *stage) cut(args, block []string) string {
	s.left, _ = strconv.Atoi(args[0])
	s.Play(block)
	s.left = -1
	return "ok"
}

// The command "cut" sets a number of messages. After this number of messages, cutOff ends all objects, and dead
// is true.
func (s *stage) cutOff(*node, []durableobject.Call) (dead bool) {
	if s.left != 0 {
		return false
	}
	s.evict()
	return true
}
