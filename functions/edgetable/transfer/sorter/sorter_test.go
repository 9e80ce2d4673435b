package sorter

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"edgetable/core/edm"
	"edgetable/core/key"
	"edgetable/functions/edgetable/transfer/rows"
	"edgetable/testdata/must"
)

// TestSorter checks that the rows are returned in key order. Of rows with the same keys, only the
// last row must be returned. The test sorts the rows with three memory limits. With the highest
// limit, all rows fit into memory. With the other limits, the sorter needs a few or many files.
func TestSorter(t *testing.T) {
	t.Parallel()
	for _, limit := range []int{3000, 30_000, 1 << 20} {
		rnd := rand.New(rand.NewPCG(1, uint64(limit)))
		s := New(limit)
		latest := map[[2]string]int{}
		const n = 6000
		for i := range n {
			r := rows.Row{PartitionKey: fmt.Sprint([]string{"é", "😀", "\uffee"}[rnd.IntN(3)], rnd.IntN(50)), RowKey: fmt.Sprint(rnd.IntN(100)), Line: i,
				Properties: edm.AppendProperty(nil, "N", edm.Int32(int32(i)))}
			latest[[2]string{r.PartitionKey, r.RowKey}] = i
			must.OK(t, s.Add(r))
		}
		if some := s.db != nil; some != (limit < 1<<20) {
			t.Errorf("limit %d: a store is %v", limit, some)
		}
		var last []byte
		got := 0
		dropped, err := s.Each(func(r rows.Row) error {
			k := key.Append(nil, r.PartitionKey, r.RowKey)
			if bytes.Compare(last, k) >= 0 {
				t.Errorf("%q is not behind %q", k, last)
			}
			last = k
			got++
			v, _ := r.Properties.Lookup("N")
			if want := latest[[2]string{r.PartitionKey, r.RowKey}]; r.Line != want || v.Int() != int64(want) {
				t.Errorf("%q %q is of line %d, want %d", r.PartitionKey, r.RowKey, r.Line, want)
			}
			return nil
		})
		if err != nil || got != len(latest) || int(dropped) != n-got {
			t.Errorf("limit %d: %d rows of %d, %d dropped, %v", limit, got, len(latest), dropped, err)
		}
		must.OK(t, s.Close())
		if _, err := os.Stat(s.dir); s.dir != "" && !os.IsNotExist(err) {
			t.Errorf("%s is left: %v", s.dir, err)
		}
	}
}

// TestFull checks that a sorter returns an error if the disk of its directory is full. The sorter
// must not wait for space.
func TestFull(t *testing.T) {
	t.Parallel()
	full := errors.New("no space left on device")
	for _, name := range []string{".sst", "MANIFEST"} {
		var armed atomic.Bool
		s := New(3000)
		s.fs = errorfs.Wrap(vfs.Default, errorfs.InjectorFunc(func(op errorfs.Op) error {
			if armed.Load() && op.Kind.ReadOrWrite() == errorfs.OpIsWrite && strings.Contains(op.Path, name) {
				return full
			}
			return nil
		}))
		var err error
		for i := 0; err == nil && s.db == nil; i++ {
			err = s.Add(rows.Row{PartitionKey: "p", RowKey: fmt.Sprint(i)})
		}
		must.OK(t, err)
		armed.Store(true)
		for i := 0; err == nil && i < 1000; i++ {
			err = s.Add(rows.Row{PartitionKey: "p", RowKey: fmt.Sprint(i)})
		}
		if err == nil || !strings.Contains(err.Error(), full.Error()) {
			t.Errorf("%s: %v", name, err)
		}
		must.OK(t, s.Close())
	}
}
