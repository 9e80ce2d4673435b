package fair_test

import (
	"math/rand/v2"
	"testing"

	"edgetable/core/fair"
)

// FuzzQueue checks any sequence of operations. No request may be lost or served twice, the counts must be right,
// and each served request must belong to a waiting payer with the lowest charge.
func FuzzQueue(f *testing.F) {
	f.Add([]byte{0, 1, 8, 2, 16, 3, 1, 9, 1, 10, 2, 200, 3, 4, 4, 5})
	f.Add([]byte{0, 0, 0, 0, 8, 8, 8, 1, 1, 1, 2, 255, 2, 255, 5, 5, 1, 1})
	r := rand.New(rand.NewPCG(1, 5))
	for range 50 { // the fuzzer needs more seeds, because it cannot measure the coverage of generic code
		operations := make([]byte, 400)
		for i := range operations {
			operations[i] = byte(r.Uint32())
		}
		f.Add(operations)
	}
	f.Fuzz(func(t *testing.T, operations []byte) {
		const slots = 3
		type request struct {
			payer  string
			waiter *fair.Waiter[int]
		}
		type running struct {
			payer string
			turn  fair.Turn[int]
		}
		var (
			q       fair.Queue[int]
			waiting = map[int]request{}
			order   []int // the waiting requests, in order of arrival
			working []running
			done    = map[int]bool{}
		)
		gone := func(w *fair.Waiter[int], how string) {
			r, ok := waiting[w.Value]
			if !ok || r.waiter != w || w.Waits() || done[w.Value] {
				t.Fatalf("request %d was not waiting and %s", w.Value, how)
			}
			delete(waiting, w.Value)
			done[w.Value] = true
		}
		for i := 0; i+1 < len(operations); i += 2 {
			payer := string(rune('a' + operations[i+1]%7))
			switch operations[i] % 6 {
			case 0:
				w := &fair.Waiter[int]{Value: i}
				q.Push(payer, w)
				waiting[i] = request{payer, w}
				order = append(order, i)
			case 1:
				first := map[string]bool{}
				for _, r := range waiting {
					first[r.payer] = q.First(r.payer)
				}
				w := q.Pop(slots)
				if (w == nil) != (len(waiting) == 0) {
					t.Fatalf("%d wait, and none is next", len(waiting))
				}
				if w == nil {
					continue
				}
				name := waiting[w.Value].payer
				if !first[name] {
					t.Fatalf("%s is served before others that were charged less", name)
				}
				gone(w, "was served")
				working = append(working, running{name, w.Turn})
			case 2:
				if len(working) > 0 {
					q.Leave(working[0].turn, int64(operations[i+1])<<(operations[i]%40))
					working = working[1:]
				}
			case 3:
				working = append(working, running{payer, q.Enter(payer)})
			case 4:
				for _, n := range order {
					if r, ok := waiting[n]; ok && int(operations[i+1])%5 == n%5 {
						q.Remove(r.waiter)
						gone(r.waiter, "gave up")
						break
					}
				}
			case 5:
				if w := q.Displace(payer, slots); w != nil {
					gone(w, "was displaced")
				}
			}
			if q.Waiting() != len(waiting) {
				t.Fatalf("%d wait, and the queue says %d", len(waiting), q.Waiting())
			}
		}
		for range len(waiting) {
			gone(q.Pop(slots), "was served at the end")
		}
		if q.Pop(slots) != nil {
			t.Fatal("a request came out twice")
		}
	})
}
