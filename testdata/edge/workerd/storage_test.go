package workerd_test

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"testing"

	"edgetable/adapters/store/durableobject"
	"edgetable/core/edm"
	"edgetable/core/key"
	"edgetable/core/table"
	"edgetable/testdata/edge/workerd"
)

func storage(t *testing.T, p *workerd.Place, object string) workerd.Storage {
	t.Helper()
	s, err := p.Storage(t.Context(), object)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestGivesBack checks that the storage of a deleted table is released.
func TestGivesBack(t *testing.T) {
	options := workerd.Options{Data: t.TempDir(), Log: workerd.Log(t), Env: []string{acme}}
	var place *workerd.Place
	taken := func(do func(s table.Store)) (bytes int64) {
		t.Helper()
		server, err := workerd.Start(options)
		if err != nil {
			t.Fatal(err)
		}
		if place == nil {
			place = server.NewPlace(wallClock)
		}
		place = place.Move(server)
		do(openStore(t, place, wallClock, 1))
		server.Stop()
		err = filepath.Walk(options.Data, func(_ string, f fs.FileInfo, err error) error {
			if err == nil && f.Mode().IsRegular() {
				bytes += f.Size()
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return bytes
	}
	var revision table.Revision
	full := taken(func(s table.Store) {
		revision = create(t, s)
		for n := range 3 {
			if _, err := s.Commit(t.Context(), people, []table.Mutation{megabyte(fmt.Sprint(n))}); err != nil {
				t.Fatal(err)
			}
		}
	})
	empty := taken(func(s table.Store) {
		if err := s.Drop(t.Context(), people, revision); err != nil {
			t.Fatal(err)
		}
	})
	if full < 3<<20 || empty > 1<<18 {
		t.Errorf("a table of 3 MiB takes %d bytes, and %d when it is gone", full, empty)
	}
}

func megabyte(partition string) table.Mutation {
	return table.Mutation{Key: key.Append(nil, partition, ""), Nonce: 1, Properties: edm.AppendProperty(nil, "v", edm.Binary(make([]byte, 1<<20)))}
}

// TestFull checks that a Durable Object whose storage is full refuses writes that would make it larger. Its
// wasm instance and the other objects in this instance must continue to serve.
func TestFull(t *testing.T) {
	p := server.NewPlace(wallClock)
	s := openStore(t, p, wallClock, 1)
	revision := create(t, s)
	bucket := durableobject.Range(people.String(), 1, 0, 0, "").Name
	large := megabyte("large")
	if _, err := s.Commit(t.Context(), people, []table.Mutation{large}); err != nil {
		t.Fatal(err)
	}
	if got := storage(t, p, bucket).Size; got < 1<<20 || got > 2<<20 {
		t.Errorf("with an entity of 1 MiB it has %d bytes", got)
	}
	p.Restart(wallClock) // restart the object, so that it checks its size at once and not only after some time
	p.Hold(10e9)
	before, err := server.Instances(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	e := (*table.Error)(nil)
	if _, err := s.Commit(t.Context(), people, inserts("a", 2)); !errors.As(err, &e) || e.Code != table.InsufficientAccountPermissions {
		t.Errorf("an insert: %v", err)
	}
	if n := count(t, s, "large"); n != 1 {
		t.Errorf("of what was there, there are %d", n)
	}
	if _, err := s.Commit(t.Context(), people, []table.Mutation{{Key: large.Key, Kind: table.Delete, Condition: table.Present}}); err != nil {
		t.Errorf("a delete: %v", err)
	}
	p.Hold(0)
	if _, err := s.Commit(t.Context(), people, inserts("a", 2)); err != nil {
		t.Errorf("an insert where there is room again: %v", err)
	}
	if got := storage(t, p, bucket).Size; got > 1<<20 {
		t.Errorf("behind the delete it has %d bytes", got)
	}
	p.Hold(10e9)
	if err := s.Drop(t.Context(), people, revision); err != nil {
		t.Errorf("the end of a full table: %v", err)
	}
	if after, err := server.Instances(t.Context(), 0); err != nil || after.Made != before.Made {
		t.Errorf("%d instances were made, %v", after.Made-before.Made, err)
	}
}
