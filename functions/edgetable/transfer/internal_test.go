package transfer

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"edgetable/adapters/client/remote"
	"edgetable/core/edm"
	"edgetable/core/key"
	"edgetable/testdata/must"
)

func init() {
	wakeEvery, worthDividing, objectSize = 100, 400, 300<<10
}

// SetMemory sets the memory for sorting.
func SetMemory(o *Import, bytes int) { o.memory = bytes }

// Split divides a table into so many ranges in the order of their keys, or fewer if
// it cannot be divided further.
func Split(ctx context.Context, c *remote.Client, table, filter string, want int) ([]Range, error) {
	type piece struct {
		Range
		first Key
		whole bool
	}
	probe := probes(c, table)
	whole, err := wholeTable(ctx, probe, filter)
	if err != nil {
		return nil, err
	}
	first, _, err := probe(ctx, remote.Query{Filter: filter})
	if err != nil {
		return nil, err
	}
	pieces := []piece{{whole, first, false}}
	for before := 0; len(pieces) < want && len(pieces) > before; {
		before = len(pieces)
		var next []piece
		for _, p := range pieces {
			left, right, ok, err := p.divide(ctx, probe, p.first)
			if err != nil {
				return nil, err
			}
			if !ok || p.whole {
				next = append(next, piece{p.Range, p.first, true})
				continue
			}
			next = append(next, piece{left, p.first, false}, piece{right, right.From, false})
		}
		pieces = next
	}
	var ranges []Range
	for _, p := range pieces {
		ranges = append(ranges, p.Range)
	}
	return ranges, nil
}

// ReadDivided reads a table, beginning with one range, and waits until workers have
// taken so many parts of it away. It returns the parts in their order.
func ReadDivided(ctx context.Context, c *remote.Client, table string, parts int) (keys [][]Key, err error) {
	s := newScan(probes(c, table)).of([]*part{newPart(0, Range{}, firstRank)})
	var mu sync.Mutex
	found := map[*part][]Key{}
	err = s.run(ctx, 4, func(ctx context.Context, p *part) error {
		for e, err := range p.entities(ctx, c, remote.Query{Table: table}) {
			if err != nil {
				return err
			}
			mu.Lock()
			found[p] = append(found[p], Key{e.PartitionKey, e.RowKey}.clone())
			n := len(found[p])
			mu.Unlock()
			for n == worthDividing && ctx.Err() == nil {
				s.mu.Lock()
				enough := len(s.parts) >= parts
				s.mu.Unlock()
				if enough {
					break
				}
				time.Sleep(time.Millisecond)
			}
		}
		return nil
	})
	for _, p := range inOrder(s.parts) {
		keys = append(keys, found[p])
	}
	return keys, err
}

// Rows come out of a sorter in order, of those with the same keys the last, with
// and without files, also after several passes over them.
func TestSorter(t *testing.T) {
	t.Parallel()
	for _, limit := range []int{300, 3000, 1 << 20} {
		rnd := rand.New(rand.NewPCG(1, uint64(limit)))
		s := newSorter(limit)
		latest := map[[2]string]int{}
		const n = 6000
		for i := range n {
			r := row{pk: fmt.Sprint([]string{"é", "😀", "\uffee"}[rnd.IntN(3)], rnd.IntN(50)), rk: fmt.Sprint(rnd.IntN(100)), line: i,
				properties: edm.AppendProperty(nil, "N", edm.Int32(int32(i)))}
			latest[[2]string{r.pk, r.rk}] = i
			must.OK(t, s.add(r))
		}
		if limit == 300 && len(s.runs) < 2 || len(s.runs) > 2*fanIn {
			t.Errorf("limit %d: %d files", limit, len(s.runs))
		}
		var last []byte
		got := 0
		dropped, err := s.each(func(r row) error {
			k := key.Append(nil, r.pk, r.rk)
			if bytes.Compare(last, k) >= 0 {
				t.Errorf("%q is not behind %q", k, last)
			}
			last = k
			got++
			v, _ := r.properties.Lookup("N")
			if want := latest[[2]string{r.pk, r.rk}]; r.line != want || v.Int() != int64(want) {
				t.Errorf("%q %q is of line %d, want %d", r.pk, r.rk, r.line, want)
			}
			return nil
		})
		if err != nil || got != len(latest) || int(dropped) != n-got {
			t.Errorf("limit %d: %d rows of %d, %d dropped, %v", limit, got, len(latest), dropped, err)
		}
		if err := s.close(); err != nil {
			t.Error(err)
		}
	}
}

// FuzzCSV: cells that are written are read again, absent and empty ones apart,
// and any text is read to its end or refused.
func FuzzCSV(f *testing.F) {
	f.Add("a\x00\x00\"\x00,\x00\r\n", byte(3))
	f.Add("\ufeff\x00=1\x00 \x00;", byte(2))
	f.Fuzz(func(t *testing.T, text string, width byte) {
		if r, err := newCSVReader(strings.NewReader(text)); err == nil {
			for {
				if _, err := r.next(); err != nil {
					break
				}
			}
		}
		cells := strings.Split(text, "\x00")
		n := int(width%5) + 2
		var file []byte
		var want [][]string
		for len(cells) > 0 {
			line := cells[:min(n, len(cells))]
			cells = cells[len(line):]
			if len(want) == 0 { // the first line decides the separator
				line = append(slices.Clone(line), "x", "y")
			}
			for i, c := range line {
				if i > 0 {
					file = append(file, ',')
				}
				if c != "absent" {
					file = appendCell(file, c)
				}
			}
			file = append(file, "\r\n"...)
			if len(line) > 1 || line[0] != "absent" {
				want = append(want, line)
			}
		}
		r, err := newCSVReader(bytes.NewReader(file))
		must.OK(t, err)
		for _, line := range want {
			got, err := r.next()
			if err != nil || len(got) != len(line) {
				t.Fatalf("%v of %q, %v", got, file, err)
			}
			for i, c := range got {
				if c.absent() != (line[i] == "absent") || !c.absent() && c.text != line[i] {
					t.Fatalf("%v of %q", got, file)
				}
			}
		}
		if _, err := r.next(); err != io.EOF {
			t.Fatalf("behind the end of %q: %v", file, err)
		}
	})
}

// Verify compares the file with what the manifest says, and Rows is how many it has.
func (s *Source) Verify() error { return s.verify() }
func (s *Source) Rows() int64   { return s.part.Rows }
