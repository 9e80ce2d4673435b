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

// A drop that is cut off has happened or not, and what it leaves behind is
// purged: all of a table that is gone, nothing of one that is not.
func TestDropCutOff(t *testing.T) {
	t.Parallel()
	errDead := errors.New("isolate is dead")
	for _, applied := range []bool{false, true} {
		for at := range 3 {
			for _, calls := range []int{1000, 12} {
				what := fmt.Sprintf("write %d, applied %v, %d calls", at, applied, calls)
				w := newWorld(t, uint64(at))
				now := steady()
				o := workerskv.Options{SingleWriter: true}
				s := w.isolate(now, o)
				w.create(s, 1)
				for n := int32(1); n < 4; n++ {
					batch, _ := state(n)
					if _, err := s.Commit(w.Context(), tableName, batch); err != nil {
						t.Fatal(err)
					}
					w.settle()
				}
				d, err := s.ReadRecord(w.Context(), tableName)
				if err != nil {
					t.Fatal(err)
				}
				count := 0
				w.cloud.fault = func(string) (error, bool) {
					if count++; count > at {
						return errDead, applied && count == at+1
					}
					return nil, false
				}
				err = s.Drop(w.Context(), tableName, d.Revision)
				w.cloud.fault = nil
				w.settle()
				next := w.isolate(now, o)
				_, gone := next.ReadRecord(w.Context(), tableName)
				if err == nil && gone == nil {
					t.Fatalf("%s: Drop was answered, and the table is there", what)
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
				_, want := state(3)
				if gone == nil {
					if got := w.show(next, partition("p"), 0); got != want {
						t.Errorf("%s: a table that lives shows %q after a Purge, want %q", what, got, want)
					}
				} else if left := w.cloud.left("e") + w.cloud.left("j"); left != 0 {
					t.Errorf("%s: %d names of a dropped table are left", what, left)
				}
				if left := w.cloud.left("x"); left != 0 {
					t.Errorf("%s: %d notes are left", what, left)
				}
			}
		}
	}
}

// hooked does something at the moment at which a name was read.
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

// A record that was read before its table was deleted, and arrives after it, is
// not remembered: an isolate writes into the next table of that name.
func TestRecordReadBeforeDrop(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	h := &hooked{Namespace: w.cloud, name: recordName}
	s := w.isolate(steady(), workerskv.Options{Namespace: h, SingleWriter: true})
	w.create(s, 1)
	d, err := s.ReadRecord(w.Context(), tableName)
	if err != nil {
		t.Fatal(err)
	}
	k := key.Append(nil, "p", "r")
	h.read = func() {
		if err := s.Drop(w.Context(), tableName, d.Revision); err != nil {
			t.Error(err)
		}
		w.create(s, 2)
	}
	if _, err := s.Get(w.Context(), tableName, k, table.Strong); err == nil {
		t.Fatal("there is no entity")
	}
	if _, err := s.Commit(w.Context(), tableName, []table.Mutation{number("p", "r", 1)}); err != nil {
		t.Fatal(err)
	}
	w.settle()
	other := w.isolate(steady(), workerskv.Options{})
	if _, err := other.Get(w.Context(), tableName, k, table.Strong); err != nil {
		t.Errorf("an entity of the next table: %v", err)
	}
}

// What others write for a minute into a table that is gone is purged too, and so
// nothing is purged before.
func TestPurgeWaits(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	now := steady()
	one, other := w.isolate(now, workerskv.Options{}), w.isolate(now, workerskv.Options{})
	w.create(one, 1)
	if _, err := other.Get(w.Context(), tableName, key.Append(nil, "p", "r"), table.Strong); !errors.Is(err, table.ErrNoEntity) {
		t.Fatal(err)
	}
	d, err := one.ReadRecord(w.Context(), tableName)
	if err != nil {
		t.Fatal(err)
	}
	if err := one.Drop(w.Context(), tableName, d.Revision); err != nil {
		t.Fatal(err)
	}
	if more, err := one.Purge(w.Context(), 100); err != nil || !more && w.cloud.left("x") > 0 && !w.cloud.stale {
		t.Fatalf("Purge right after: %v, %v", more, err)
	}
	if _, err := other.Commit(w.Context(), tableName, []table.Mutation{number("p", "r", 1)}); err != nil {
		t.Fatalf("who has not seen the drop writes still: %v", err)
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

// A drop that was cut off long ago is followed by another, while what it left is
// looked at, or a little before, when KV shows still what was there: nothing of the
// table is left in the end, whoever writes into it meanwhile.
func TestPurgeAtSecondDrop(t *testing.T) {
	t.Parallel()
	for seed := range uint64(16) {
		w := newWorld(t, seed)
		now := steady()
		s, other := w.isolate(now, workerskv.Options{}), w.isolate(now, workerskv.Options{})
		w.create(s, 1)
		d, err := s.ReadRecord(w.Context(), tableName)
		if err != nil {
			t.Fatal(err)
		}
		w.cloud.fault = func(name string) (error, bool) {
			if name == recordName {
				return errors.New("isolate is dead"), false
			}
			return nil, false
		}
		if err := s.Drop(w.Context(), tableName, d.Revision); err == nil {
			t.Fatal("the first drop is not cut off")
		}
		w.cloud.fault = nil
		w.settle()
		write := func() {
			if _, err := other.Commit(w.Context(), tableName, []table.Mutation{number("p", "r", 1)}); err != nil {
				t.Errorf("who has not seen the drop writes still: %v", err)
			}
		}
		write()
		drop := func() {
			if err := s.Drop(w.Context(), tableName, d.Revision); err != nil {
				t.Errorf("the second drop: %v", err)
			}
			w.wait(2 * time.Second)
		}
		h := &hooked{Namespace: w.cloud, name: recordName}
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
