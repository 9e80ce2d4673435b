package postgres_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"edgetable/adapters/store/postgres"
	"edgetable/core/edm"
	"edgetable/core/table"
)

// register checks the history of an entity. One client writes rising numbers to the entity,
// and others read it. The history is linearizable if each read returns a number between two
// limits. The lower limit is the highest number that replies had shown when the read began.
// The upper limit is the last number that was sent.
type register struct {
	mu    sync.Mutex
	sent  int64 // the last number that was sent
	shown int64 // the highest written number that a reply to a client has shown
}

func (r *register) send() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.sent++
	return r.sent
}

func (r *register) show(n int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.shown = max(r.shown, n)
}

// begin returns the lowest number that a read may return, if the read begins now.
func (r *register) begin() (least int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.shown
}

// The method end checks the number that a read of the register has returned.
func (r *register) end(least, n int64) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if n < least {
		return fmt.Errorf("a read returned %d after a reply had shown %d", n, least)
	}
	if n > r.sent {
		return fmt.Errorf("a read returned %d, and %d is the last that was sent", n, r.sent)
	}
	r.shown = max(r.shown, n)
	return nil
}

func TestRegister(t *testing.T) {
	var r register
	one, two := r.send(), r.send()
	for _, tt := range []struct {
		least, n int64
		say      string
	}{
		{0, 0, ""}, {0, one, ""}, {r.begin(), one, ""}, {0, two, ""}, // the second write is still in flight
		{two, one, "a read returned 1 after a reply had shown 2"},
		{0, 3, "2 is the last that was sent"},
	} {
		err := r.end(tt.least, tt.n)
		if (err != nil) != (tt.say != "") || err != nil && !strings.Contains(err.Error(), tt.say) {
			t.Errorf("least %d, read %d: %v; want %q", tt.least, tt.n, err, tt.say)
		}
	}
	if got := r.begin(); got != two {
		t.Errorf("%d was shown, want %d", got, two)
	}
	r.show(r.send())
	if got := r.begin(); got != 3 {
		t.Errorf("%d was shown, want 3", got)
	}
}

// registers contains some entities, each with a register and clients.
type registers struct {
	ended chan struct{}
	all   sync.WaitGroup
	reads atomic.Int64
}

// startRegisters starts three clients for each of four entities: one client writes and two
// read, until they are stopped.
func startRegisters(t testing.TB, stores ...*postgres.Store) *registers {
	l := &registers{ended: make(chan struct{})}
	forever := func(do func() error) {
		l.all.Go(func() {
			for {
				select {
				case <-l.ended:
					return
				default:
				}
				if err := do(); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	for id := range 4 {
		r, k := new(register), row("register", fmt.Sprint(id))
		writer := stores[id%len(stores)]
		forever(func() error {
			n := r.send()
			_, err := writer.Commit(context.Background(), people, []table.Mutation{{Key: k, Nonce: 1, Properties: edm.AppendProperty(nil, "N", edm.Int64(n))}})
			if err == nil {
				r.show(n)
			}
			return err
		})
		for _, s := range stores {
			forever(func() error {
				least := r.begin()
				now, err := s.Get(context.Background(), people, k, table.Strong)
				if err != nil && least == 0 {
					return nil // the entity was not written yet
				}
				if err != nil {
					return fmt.Errorf("a read of register %d: %w", id, err)
				}
				l.reads.Add(1)
				return r.end(least, number(now))
			})
		}
	}
	return l
}

func (l *registers) stop(t testing.TB) {
	t.Helper()
	close(l.ended)
	l.all.Wait()
	t.Logf("%d reads were judged", l.reads.Load())
}
