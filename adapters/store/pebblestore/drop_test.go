package pebblestore_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"testing"

	"github.com/cockroachdb/pebble/v2"

	"edgetable/adapters/store/pebblestore"
	"edgetable/core/key"
	"edgetable/core/table"
)

// TestDropIsExact drops tables during reads and writes. It checks that each call finds either all
// entities or no table. After the drop has returned, the database must not contain any key of the
// table.
func TestDropIsExact(t *testing.T) {
	t.Parallel()
	rounds := 2000
	if testing.Short() {
		rounds = 200
	}
	var s *pebblestore.Store
	for round := range rounds {
		if round%100 == 0 { // a new store every 100 rounds, because deletions of key ranges in a memtable slow down reads
			s = open(t, pebblestore.Options{Memory: true})
		}
		dropUnderLoad(t, s, round)
		if t.Failed() {
			return
		}
	}
}

func dropUnderLoad(t *testing.T, s *pebblestore.Store, round int) {
	ctx := t.Context()
	d := table.Record{Key: people}
	binary.BigEndian.PutUint32(d.Incarnation[:], uint32(round)+1)
	var err error
	if d.Revision, err = s.WriteRecord(ctx, d); err != nil {
		t.Fatal(err)
	}
	there := []table.Mutation{{Key: key.Append(nil, "p", "there")}}
	if _, err := s.Commit(ctx, people, there); err != nil {
		t.Fatal(err)
	}
	var load sync.WaitGroup
	until := func(call func() error) { // calls the function repeatedly until the table is dropped
		load.Go(func() {
			for {
				if err := call(); errors.Is(err, table.ErrNoTable) {
					return
				} else if err != nil {
					t.Errorf("round %d: %v", round, err)
					return
				}
				runtime.Gosched() // without this call of Gosched, the drop waits long for the processor
			}
		})
	}
	for range 2 {
		until(func() error {
			_, err := s.Get(ctx, people, there[0].Key, table.Strong)
			return err
		})
		until(func() error {
			p, err := s.Scan(ctx, people, table.ScanRequest{Ranges: []key.Range{{}}})
			if err == nil && len(p.Rows) == 0 {
				return errors.New("an empty page")
			}
			return err
		})
	}
	until(func() error {
		_, err := s.Commit(ctx, people, []table.Mutation{{Key: key.Append(nil, "p", "also")}})
		return err
	})
	for range round % 20 {
		runtime.Gosched()
	}
	if err := s.Drop(ctx, people, d.Revision); err != nil {
		t.Error(err)
	}
	load.Wait()
	if err := leftovers(s, d.Incarnation); err != nil {
		t.Errorf("round %d: %v", round, err)
	}
}

// leftovers returns an error if the database contains an entity of the incarnation.
func leftovers(s *pebblestore.Store, i table.Incarnation) error {
	end := i
	end[len(end)-1]++
	it, err := s.DB().NewIter(&pebble.IterOptions{
		LowerBound: append([]byte{2}, i[:]...),
		UpperBound: append([]byte{2}, end[:]...),
	})
	if err != nil {
		return err
	}
	if it.First() {
		err = fmt.Errorf("%q is left after its table was dropped", it.Key())
	}
	return errors.Join(err, it.Close())
}
