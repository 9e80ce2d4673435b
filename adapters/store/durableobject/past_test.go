package durableobject_test

import (
	"encoding/binary"
	"math"
	"slices"
	"strconv"
	"testing"

	"edgetable/adapters/store/durableobject"
	"edgetable/core/edm"
	"edgetable/testdata/rowstest"
)

// past holds the earlier states of the objects of a cloud, as the platform keeps them. Each transaction
// creates a state with a name. If an object ends and names a state, the object returns to this state.
type past struct {
	t      testing.TB
	now    func() edm.Ticks
	states map[*node][]state
	misses func(n *node) edm.Ticks // the error of the platform when it looks for the state at a time; nil means no error
	refuse func(n *node) bool      // whether the platform has no states of an object
	stuck  func(n *node) bool      // whether the platform ends an object but does not restore the state that it names
	woken  func(n *node)           // called for an object that has returned to a state; nil means that the object keeps its alarm
}

type state struct {
	at   edm.Ticks
	rows []rowstest.Row
}

// keepPast makes a cloud keep the states of its objects.
func keepPast(t testing.TB, c *cloud) *past {
	p := &past{t: t, now: c.now, states: make(map[*node][]state)}
	c.history, c.kept = p.recall, p.keep
	return p
}

func (p *past) keep(n *node) {
	p.states[n] = append(p.states[n], state{p.now(), slices.Clone(n.rows.Rows)})
}

// recall answers a call to durableobject.History.
func (p *past) recall(n *node, m []byte) (a durableobject.Answer, ends bool) {
	if p.refuse != nil && p.refuse(n) {
		return durableobject.Answer{Err: &durableobject.FailedError{Reason: "no history"}}, false
	}
	if len(m) == 0 {
		return durableobject.Answer{Message: strconv.AppendInt(nil, int64(len(p.states[n])-1), 10)}, false
	}
	const unixEpoch = 62135596800 * edm.TicksPerSecond
	at := edm.Ticks(math.Float64frombits(binary.LittleEndian.Uint64(m)))*(edm.TicksPerSecond/1000) + unixEpoch
	if name := string(m[8:]); name != "" {
		if p.stuck != nil && p.stuck(n) {
			return a, true
		}
		i, err := strconv.Atoi(name)
		if err != nil || i >= len(p.states[n]) {
			p.t.Errorf("the bookmark %q", name)
			return a, true
		}
		n.mu.Lock()
		defer n.mu.Unlock()
		n.rows = rowstest.Rows{}
		if i >= 0 {
			n.rows.Rows = slices.Clone(p.states[n][i].rows)
		}
		p.states[n] = append(p.states[n], state{p.now(), slices.Clone(n.rows.Rows)})
		if p.woken != nil {
			p.woken(n)
		}
		return a, true
	}
	if p.misses != nil {
		at += p.misses(n)
	}
	i := len(p.states[n]) - 1
	for i >= 0 && p.states[n][i].at > at {
		i--
	}
	return durableobject.Answer{Message: strconv.AppendInt(nil, int64(i), 10)}, false // -1 means that the object did not exist
}
