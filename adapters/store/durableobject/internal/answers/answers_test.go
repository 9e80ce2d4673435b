package answers

import (
	"testing"

	"edgetable/adapters/store/durableobject/internal/message"
	"edgetable/core/edm"
)

const second = edm.TicksPerSecond

// An engine knows whether a repeated write was never carried out, or does not.
func TestJudge(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		what       string
		up         edm.Ticks // how long the object is awake when the attempt arrives
		first, age edm.Ticks // since the object woke up, by the sender's clock; and the age that the sender gives
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
		a := Memory{Woke: woke}
		if got, _ := a.Judge(woke+tt.up, message.Attempt{ID: 1, Again: true, First: woke + tt.first, Age: tt.age}); got != tt.want {
			t.Errorf("%s: verdict %d, want %d", tt.what, got, tt.want)
		}
	}
}

// The memory of answers is bounded; the outcome of a forgotten write is unknown.
func TestManyAnswers(t *testing.T) {
	t.Parallel()
	const many, begin = maxAnswers + 1000, 3600 * second
	a := Memory{}
	now := edm.Ticks(begin)
	for id := range uint64(many) {
		now += second / 1000
		a.Remember(now, id, []byte("answer"))
	}
	if len(a.byID) > maxAnswers || len(a.order) > 2*maxAnswers+64 {
		t.Errorf("%d answers and %d times are remembered", len(a.byID), len(a.order))
	}
	again := message.Attempt{Again: true, First: begin, Age: now - begin}
	if got, _ := a.Judge(now, again); got != Lost {
		t.Errorf("the oldest again: verdict %d", got)
	}
	again.ID = many - 1
	if got, _ := a.Judge(now, again); got != Answered {
		t.Errorf("the latest again: verdict %d", got)
	}
}
