package answers

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"edgetable/adapters/store/durableobject/internal/message"
	"edgetable/core/edm"
	"edgetable/core/table"
)

const second = edm.TicksPerSecond

// TestJudge checks for which repeated writes an object knows that they were not carried out, and for which the outcome
// is unknown.
func TestJudge(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		what       string
		up         edm.Ticks // how long the object has been awake when the attempt arrives
		first, age edm.Ticks // first: when the first attempt was sent by the sender's clock, since the start of the object; age: how long ago that was, according to the message
		want       Verdict
	}{
		{"it was up before", 100 * second, 98 * second, 2 * second, Fresh},
		{"it woke up in between", 100 * second, -second, 101 * second, Lost},
		{"it woke up just before", 100 * second, second / 2, 99 * second, Lost},
		{"the attempt waited for the object after it was sent", 100 * second, -second, 2 * second, Lost},
		{"the sender's clock is an hour ahead, and it woke up in between", 3 * second, 3600 * second, 5 * second, Lost},
		{"the sender's clock is an hour ahead, and it was up", 100 * second, 3600 * second, 5 * second, Fresh},
		{"the sender's clock is an hour behind: better safe", 100 * second, -3600 * second, 5 * second, Lost},
	} {
		const woke = 10_000 * second
		a := Memory{WokenAt: woke, Room: &Room{}}
		if got, _ := a.Classify(woke+tt.up, message.Attempt{ID: 1, Again: true, First: woke + tt.first, Age: tt.age}); got != tt.want {
			t.Errorf("%s: verdict %d, want %d", tt.what, got, tt.want)
		}
	}
}

// This function returns an id with random bits, like the ids of a Worker.
func random(n uint64) uint64 { return rand.New(rand.NewPCG(n, 1)).Uint64() }

// remember stores answers to writes with a number of ids. Each second after the time in begin has perSecond
// answers.
func remember(m *Memory, ids, from uint64, perSecond int, begin edm.Ticks) (now edm.Ticks) {
	now = begin
	for id := from; id < from+ids; id++ {
		now += second / edm.Ticks(perSecond)
		m.Remember(now, random(id), message.DoneTicks(nil, now))
	}
	return now
}

// TestAnswersOfAMinute checks that the answers of a minute are remembered at 2,000 writes per second,
// whatever the answers are, and that they are forgotten soon after the minute.
func TestAnswersOfAMinute(t *testing.T) {
	t.Parallel()
	const begin = 3600 * second
	short := 0
	m := Memory{WokenAt: begin, Room: &Room{Short: func() { short++ }}}
	now := edm.Ticks(begin)
	refused := message.Fail(nil, &table.Refused{Err: table.ErrExists})
	for id := range uint64(180 * 2000) {
		now += second / 2000
		answer := message.DoneTicks(nil, now)
		if id%3 == 0 {
			answer = refused
		}
		m.Remember(now, random(id), answer)
	}
	for age := range edm.Ticks(59) {
		id := uint64(180*2000 - 1 - age*2000)
		verdict, answer := m.Classify(now, message.Attempt{ID: random(id), Again: true, First: now - age*second - 1, Age: age*second + 1})
		if want := message.DoneTicks(nil, begin+edm.Ticks(id+1)*(second/2000)); verdict != Answered || id%3 != 0 && !bytes.Equal(answer, want) || id%3 == 0 && !bytes.Equal(answer, refused) {
			t.Fatalf("after %d s: verdict %d, %q", age, verdict, answer)
		}
	}
	if short > 0 || m.Room.used > mostBytes {
		t.Errorf("there was no room %d times, %d bytes", short, m.Room.used)
	}
	if verdict, _ := m.Classify(now, message.Attempt{ID: random(1000), Again: true, First: begin + second, Age: now - begin - second}); verdict != Lost {
		t.Errorf("the oldest again: verdict %d", verdict)
	}
	m.Classify(now+2*minKept, message.Attempt{ID: 1})
	if m.Room.used != 0 {
		t.Errorf("%d bytes are left", m.Room.used)
	}
}

// TestRoomOfMany checks that many objects (each with a Memory) share one limit of memory. At this limit, the
// oldest answers are forgotten first, and Short is called.
func TestRoomOfMany(t *testing.T) {
	t.Parallel()
	const begin = 3600 * second
	short := 0
	room := &Room{Short: func() { short++ }}
	all := make([]Memory, 256)
	for i := range all {
		all[i] = Memory{WokenAt: begin, Room: room}
	}
	now := edm.Ticks(begin)
	for id := range uint64(60 * 1500) {
		now += second / 1500
		all[id%256].Remember(now, random(id), message.DoneTicks(nil, now))
	}
	if short > 0 {
		t.Errorf("1,500 writes a second of 256 objects have no room")
	}
	now = remember(&all[7], 60*4000, 1<<32, 4000, now)
	if short == 0 || short > 2 || room.used > mostBytes {
		t.Errorf("4,000 writes a second: said %d times, %d bytes", short, room.used)
	}
	const early = 8 // the index of another object, and the id of a write to it
	if verdict, _ := all[early].Classify(now, message.Attempt{ID: random(early), Again: true, First: begin, Age: now - begin}); verdict != Lost {
		t.Errorf("an early answer of another object: verdict %d", verdict)
	}
	for i := range all {
		all[i].Free()
	}
	if room.used != 0 || len(room.all) != 0 {
		t.Errorf("%d bytes of %d memories are left", room.used, len(room.all))
	}
}
