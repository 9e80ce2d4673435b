package fair_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"edgetable/core/fair"
)

// machine simulates a server with a number of slots and its own clock. The cost of each request is known.
type machine struct {
	queue  fair.Queue[job]
	slots  int
	now    int64
	work   []running
	served map[string]int64 // total cost of each payer's finished requests
}

type job struct {
	payer string
	cost  int64
}

type running struct {
	job
	turn fair.Turn[job]
	ends int64
}

func (m *machine) send(j job) {
	if m.queue.Waiting() == 0 && len(m.work) < m.slots {
		m.work = append(m.work, running{j, m.queue.Enter(j.payer), m.now + j.cost})
		return
	}
	m.queue.Push(j.payer, &fair.Waiter[job]{Value: j})
}

// end completes the running request that finishes first, and returns this request. The time of the
// machine moves to the moment when the request finishes.
func (m *machine) end() job {
	first := 0
	for i := range m.work {
		if m.work[i].ends < m.work[first].ends {
			first = i
		}
	}
	r := m.work[first]
	m.work = append(m.work[:first], m.work[first+1:]...)
	m.now = r.ends
	m.queue.Leave(r.turn, r.cost)
	m.served[r.payer] += r.cost
	if w := m.queue.Pop(m.slots); w != nil {
		m.work = append(m.work, running{w.Value, w.Turn, m.now + w.Value.cost})
	}
	return r.job
}

// TestShares checks payers that always have waiting requests. They must get equal shares of the work, whatever a
// request costs and however many connections a payer has.
func TestShares(t *testing.T) {
	t.Parallel()
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 3))
		m := &machine{slots: 1 + r.IntN(16), served: make(map[string]int64)}
		type client struct {
			connections int
			cost        func() int64
		}
		clients := make(map[string]client)
		var most int64
		for i := range 2 + r.IntN(6) {
			mean := int64(1) << r.IntN(10) // from cheap point reads to expensive scans
			most = max(most, 2*mean)
			c := client{1 + m.slots + r.IntN(200), func() int64 { return 1 + r.Int64N(2*mean) }}
			name := fmt.Sprint("payer", i)
			clients[name] = c
			for range c.connections {
				m.send(job{name, c.cost()})
			}
		}
		for m.now < most*int64(len(clients))*40 {
			j := m.end()
			m.send(job{j.payer, clients[j.payer].cost()}) // each client sends its next request when its previous request has ended
		}
		least, greatest := int64(1)<<62, int64(0)
		for name := range clients {
			least, greatest = min(least, m.served[name]), max(greatest, m.served[name])
		}
		if float64(least) < 0.8*float64(greatest) {
			t.Errorf("seed %d: %d slots, shares from %d to %d", seed, m.slots, least, greatest)
		}
	}
}

// TestDebt checks that a payer with an expensive request waits until the other payer has caught up, because the
// queue did not know the cost in advance. After that the two payers must alternate.
func TestDebt(t *testing.T) {
	t.Parallel()
	m := &machine{slots: 1, served: make(map[string]int64)}
	m.send(job{"scans", 100})
	for range 3 {
		m.send(job{"scans", 100})
	}
	for range 250 {
		m.send(job{"reads", 1})
	}
	var order strings.Builder
	for len(m.work) > 0 {
		order.WriteString(m.end().payer[:1])
	}
	text := order.String()
	// A scan costs as much as 100 reads. Both payers must get equal shares, so about 100 reads must run between two
	// scans.
	if first, second := strings.Index(text[1:], "s"), strings.LastIndex(text[:220], "s"); first < 99 || first > 102 || second < 200 || second > 204 {
		t.Errorf("scans after %d and %d requests: %s", first, second, text)
	}
}

// TestAway checks the charge of a payer that was idle or alone. A payer gets no credit for a time without requests.
// A payer that used the queue alone has no debt when another payer arrives.
func TestAway(t *testing.T) {
	t.Parallel()
	m := &machine{slots: 1, served: make(map[string]int64)}
	for range 1000 { // without other payers, no request waits
		m.send(job{"old", 50})
		m.end()
	}
	for range 10 {
		m.send(job{"old", 1})
		m.send(job{"new", 1})
	}
	var order strings.Builder
	for len(m.work) > 0 {
		order.WriteString(m.end().payer[:1])
	}
	if got := order.String(); !strings.HasPrefix(strings.TrimLeft(got, "o"), "n") || strings.Contains(got[2:12], "nnnnnnn") {
		t.Errorf("%s: the past counts", got)
	}
}

// TestLeaveTheQueue checks that removing a waiting request, from any place in the queue, affects no other request.
func TestLeaveTheQueue(t *testing.T) {
	t.Parallel()
	for seed := range uint64(100) {
		r := rand.New(rand.NewPCG(seed, 4))
		var q fair.Queue[int]
		waiting := map[int]*fair.Waiter[int]{}
		payers := map[int]string{}
		var working []fair.Turn[int]
		for i := range 2000 {
			switch n := r.IntN(4); {
			case n < 2:
				w := &fair.Waiter[int]{Value: i}
				waiting[i], payers[i] = w, fmt.Sprint(r.IntN(20))
				q.Push(payers[i], w)
			case n == 2:
				if w := q.Pop(3); w != nil {
					if waiting[w.Value] != w || w.Waits() {
						t.Fatalf("seed %d: %d was not waiting", seed, w.Value)
					}
					delete(waiting, w.Value)
					working = append(working, w.Turn)
				}
				if len(working) > 3 {
					q.Leave(working[0], r.Int64N(1000))
					working = working[1:]
				}
			default:
				for k, w := range waiting {
					q.Remove(w)
					delete(waiting, k)
					break
				}
				if i%7 == 0 {
					if w := q.Displace("0", 3); w != nil {
						delete(waiting, w.Value)
					}
				}
			}
			if q.Waiting() != len(waiting) {
				t.Fatalf("seed %d: %d wait, want %d", seed, q.Waiting(), len(waiting))
			}
		}
		for range waiting {
			if q.Pop(1) == nil {
				t.Fatalf("seed %d: a request is lost", seed)
			}
		}
		if q.Pop(1) != nil {
			t.Fatalf("seed %d: there is one too many", seed)
		}
	}
}

// TestMemory checks that a client cannot use up the memory by inventing payers, such as addresses. The queue must
// still keep all payers with running requests.
func TestMemory(t *testing.T) {
	t.Parallel()
	var q fair.Queue[int]
	kept := q.Enter("kept")
	for i := range 100_000 {
		q.Leave(q.Enter(fmt.Sprint("stranger", i)), int64(i%50))
	}
	if n := q.Payers(); n > 5000 {
		t.Errorf("%d payers are remembered", n)
	}
	q.Leave(kept, 1<<40)
	q.Push("kept", &fair.Waiter[int]{Value: 1})
	q.Push("other", &fair.Waiter[int]{Value: 2})
	if w := q.Pop(1); w.Value != 2 {
		t.Error("the debt of a payer at work was forgotten")
	}
}
