package workerskv_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"edgetable/adapters/store/workerskv"
	"edgetable/core/key"
	"edgetable/core/table"
)

// TestDropInterrupted checks a drop that is interrupted at each of its writes. If the table is dropped, Purge must
// delete all names of the table; otherwise Purge must delete none of them.
func TestDropInterrupted(t *testing.T) {
	t.Parallel()
	errDead := errors.New("isolate is dead")
	const rows = "p/0=1 p/1=1 p/2=1 p/3=1 p/4=1 p/5=1 "
	for _, applied := range []bool{false, true} {
		for at := range 3 {
			for _, calls := range []int{1000, 20} {
				what := fmt.Sprintf("write %d, applied %v, %d calls", at, applied, calls)
				w := newWorld(t, uint64(at))
				now := steady()
				s := w.isolate(now, workerskv.Options{})
				w.create(s, 1)
				for i := range 6 {
					w.commit(s, number("p", fmt.Sprint(i), 1))
				}
				w.settle()
				count := 0
				w.cloud.fault = func(string) (error, bool) {
					if count++; count > at {
						return errDead, applied && count == at+1
					}
					return nil, false
				}
				err := w.drop(s)
				w.cloud.fault = nil
				w.settle()
				next := w.isolate(now, workerskv.Options{})
				_, gone := next.ReadRecord(w.Context(), tableName, table.Strong)
				if err == nil && gone == nil {
					t.Fatalf("%s: Drop succeeded, and the table lives", what)
				}
				for i := 0; ; i++ {
					more, err := next.Purge(w.Context(), calls)
					if err != nil {
						t.Fatalf("%s: Purge: %v", what, err)
					}
					w.settle()
					if !more {
						break
					}
					if i == 100 {
						t.Fatalf("%s: Purge does not end", what)
					}
				}
				if gone == nil {
					if got := w.show(next, partition("p"), 0); got != rows {
						t.Errorf("%s: after Purge a table that lives has %q", what, got)
					}
				} else if left := w.cloud.left("e"); left != 0 {
					t.Errorf("%s: %d names of a dropped table are left", what, left)
				}
				if left := w.cloud.left("x"); left != 0 {
					t.Errorf("%s: %d notes are left", what, left)
				}
			}
		}
	}
}

// hooked is a Namespace that calls a function once, after the first read of a given name.
type hooked struct {
	workerskv.Namespace
	name string
	read func()
}

func (h *hooked) Get(ctx context.Context, name string) ([]byte, []byte, bool, error) {
	value, metadata, ok, err := h.Namespace.Get(ctx, name)
	if read := h.read; name == h.name && read != nil {
		h.read = nil
		read()
	}
	return value, metadata, ok, err
}

// TestPurgeWaits checks that Purge waits before it deletes the entities of a dropped table. For a minute, other
// isolates may still write entities to the table, and Purge must delete these too.
func TestPurgeWaits(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	now := steady()
	one, other := w.isolate(now, workerskv.Options{}), w.isolate(now, workerskv.Options{})
	w.create(one, 1)
	if _, err := other.Get(w.Context(), tableName, key.Append(nil, "p", "r"), table.Strong); !errors.Is(err, table.ErrNoEntity) {
		t.Fatal(err)
	}
	if err := w.drop(one); err != nil {
		t.Fatal(err)
	}
	if more, err := one.Purge(w.Context(), 100); err != nil || !more && w.cloud.left("x") > 0 && !w.cloud.stale {
		t.Fatalf("Purge right after: %v, %v", more, err)
	}
	if _, err := other.Commit(w.Context(), tableName, []table.Mutation{number("p", "r", 1)}); err != nil {
		t.Fatalf("an isolate that does not see the drop yet: %v", err)
	}
	if w.cloud.left("x") != 1 {
		t.Fatal("the note is gone before its time")
	}
	w.wait(3 * time.Minute)
	if more, err := other.Purge(w.Context(), 100); more || err != nil {
		t.Fatalf("Purge: %v, %v", more, err)
	}
	if left := w.cloud.left(""); left != 0 {
		t.Errorf("%d names are left", left)
	}
}

// TestPurgeAtSecondDrop interrupts a drop, and drops the table again much later. The first drop has stored a
// note, by which Purge finds the entities to delete. Purge processes the note around the time of the second
// drop. At this time KV still returns the record of the table, and another isolate writes to the table. In the
// end, all entities must be deleted.
func TestPurgeAtSecondDrop(t *testing.T) {
	t.Parallel()
	for seed := range uint64(16) {
		w := newWorld(t, seed)
		now := steady()
		s, other := w.isolate(now, workerskv.Options{}), w.isolate(now, workerskv.Options{})
		w.create(s, 1)
		d, err := s.ReadRecord(w.Context(), tableName, table.Strong)
		if err != nil {
			t.Fatal(err)
		}
		w.cloud.fault = func(name string) (error, bool) {
			if name == "d"+tableName.String() {
				return errors.New("isolate is dead"), false
			}
			return nil, false
		}
		if err := s.Drop(w.Context(), tableName, d.Revision); err == nil {
			t.Fatal("the first drop was not interrupted")
		}
		w.cloud.fault = nil
		w.settle()
		write := func() {
			w.wait(2 * time.Second)
			if _, err := other.Commit(w.Context(), tableName, []table.Mutation{number("p", "r", 1)}); err != nil {
				t.Errorf("an isolate that does not see the drop yet: %v", err)
			}
		}
		write()
		drop := func() {
			if err := s.Drop(w.Context(), tableName, d.Revision); err != nil {
				t.Errorf("the second drop: %v", err)
			}
			w.wait(2 * time.Second)
		}
		h := &hooked{Namespace: w.cloud, name: "d" + tableName.String()}
		if seed%2 == 0 {
			h.read = drop
		} else {
			drop()
		}
		purger := w.isolate(now, workerskv.Options{Namespace: h})
		if _, err := purger.Purge(w.Context(), 1000); err != nil {
			t.Fatal(err)
		}
		write()
		for more := true; more; {
			w.settle()
			if more, err = purger.Purge(w.Context(), 1000); err != nil {
				t.Fatal(err)
			}
		}
		if left := w.cloud.left(""); left != 0 {
			t.Errorf("seed %d: %d names are left", seed, left)
		}
	}
}
