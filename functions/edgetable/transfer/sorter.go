package transfer

import (
	"bufio"
	"bytes"
	"container/heap"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"slices"

	"edgetable/core/key"
)

// sorter sorts rows by their keys in bounded memory. What does not fit goes to
// temporary files, each of them sorted, which are merged. Of rows with the same
// keys the last one that was added remains.
type sorter struct {
	dir     string
	limit   int // bytes kept in memory
	arena   []byte
	entries []span // in arena
	runs    []run
}

// span is a record in the arena: key, then the rest.
type span struct{ from, key, to int }

// run is a temporary file of sorted records.
type run struct {
	file  *os.File
	level int // how often its records were merged
}

// sortMemory is the memory for rows. The records take as much again in the worst
// case, that of rows without properties.
const sortMemory = 64 << 20

// fanIn is how many files are merged at once.
const fanIn = 64

func newSorter(limit int) *sorter {
	return &sorter{limit: limit}
}

// add adds a row.
func (s *sorter) add(r row) error {
	if len(s.arena)+len(r.properties)+3*(len(r.pk)+len(r.rk)) > s.limit && len(s.entries) > 0 {
		if err := s.spill(); err != nil {
			return err
		}
	}
	if s.arena == nil {
		s.arena = make([]byte, 0, s.limit)
	}
	at := len(s.arena)
	s.arena = key.Append(s.arena, r.pk, r.rk)
	end := len(s.arena)
	s.arena = binary.AppendUvarint(s.arena, uint64(r.line))
	s.arena = append(s.arena, r.properties...)
	s.entries = append(s.entries, span{at, end, len(s.arena)})
	return nil
}

func (s *sorter) sort() {
	slices.SortStableFunc(s.entries, func(a, b span) int {
		return bytes.Compare(s.arena[a.from:a.key], s.arena[b.from:b.key])
	})
}

// spill writes the rows in memory to a file.
func (s *sorter) spill() error {
	s.sort()
	err := s.write(0, func(w *bufio.Writer) error {
		for _, e := range s.entries {
			if err := writeRecord(w, s.arena[e.from:e.key], s.arena[e.key:e.to]); err != nil {
				return err
			}
		}
		return nil
	})
	s.arena, s.entries = s.arena[:0], s.entries[:0]
	if err != nil {
		return err
	}
	for n := len(s.runs); n >= fanIn && s.runs[n-fanIn].level == s.runs[n-1].level; n = len(s.runs) {
		last := s.runs[n-fanIn:]
		s.runs = slices.Clone(s.runs[:n-fanIn])
		err := s.write(last[0].level+1, func(w *bufio.Writer) error {
			return merge(last, nil, func(k, rest []byte) error { return writeRecord(w, k, rest) })
		})
		if err := errors.Join(err, closeRuns(last)); err != nil {
			return err
		}
	}
	return nil
}

// write adds a run.
func (s *sorter) write(level int, fill func(w *bufio.Writer) error) error {
	f, err := os.CreateTemp(s.dir, "edgetable-sort-*")
	if err != nil {
		return err
	}
	_ = os.Remove(f.Name()) // an open file stays until it is closed, where the system permits that
	s.runs = append(s.runs, run{f, level})
	w := bufio.NewWriterSize(f, 1<<20)
	if err := fill(w); err != nil {
		return err
	}
	return w.Flush()
}

func writeRecord(w *bufio.Writer, k, rest []byte) error {
	var head [2 * binary.MaxVarintLen64]byte
	b := binary.AppendUvarint(head[:0], uint64(len(k)))
	b = binary.AppendUvarint(b, uint64(len(rest)))
	_, _ = w.Write(b) // the last write returns the error
	_, _ = w.Write(k)
	_, err := w.Write(rest)
	return err
}

// each calls do for the rows in the order of their keys, and returns how many
// rows were dropped for later ones with the same keys.
func (s *sorter) each(do func(r row) error) (dropped int64, err error) {
	s.sort()
	var heldKey, heldRest []byte
	held := false
	give := func() error {
		line, n := binary.Uvarint(heldRest)
		pk, rk := key.Decode(bytes.Clone(heldKey))
		return do(row{pk: pk, rk: rk, properties: bytes.Clone(heldRest[n:]), line: int(line)})
	}
	err = merge(s.runs, s, func(k, rest []byte) error {
		if held && bytes.Equal(k, heldKey) {
			dropped++
		} else if held {
			if err := give(); err != nil {
				return err
			}
		}
		held = true
		heldKey, heldRest = append(heldKey[:0], k...), append(heldRest[:0], rest...)
		return nil
	})
	if err == nil && held {
		err = give()
	}
	return dropped, err
}

// close removes the files.
func (s *sorter) close() error { return closeRuns(s.runs) }

func closeRuns(list []run) (err error) {
	for _, r := range list {
		err = errors.Join(err, r.file.Close())
		if e := os.Remove(r.file.Name()); e != nil && !os.IsNotExist(e) {
			err = errors.Join(err, e)
		}
	}
	return err
}

// cursor is the place in a run, or in the arena of a sorter, which is the last
// of them.
type cursor struct {
	r         *bufio.Reader
	s         *sorter
	n         int // of the next entry of s
	order     int
	key, rest []byte
}

// next reads the next record; ok is false after the last.
func (c *cursor) next() (ok bool, err error) {
	if c.s != nil {
		if c.n == len(c.s.entries) {
			return false, nil
		}
		e := c.s.entries[c.n]
		c.n++
		c.key, c.rest = c.s.arena[e.from:e.key], c.s.arena[e.key:e.to]
		return true, nil
	}
	lengths := [2]uint64{}
	for i := range lengths {
		if lengths[i], err = binary.ReadUvarint(c.r); err == io.EOF && i == 0 {
			return false, nil
		} else if err != nil {
			return false, err
		}
	}
	for i, to := range []*[]byte{&c.key, &c.rest} {
		*to = slices.Grow((*to)[:0], int(lengths[i]))[:lengths[i]]
		if _, err := io.ReadFull(c.r, *to); err != nil {
			return false, err
		}
	}
	return true, nil
}

// cursors is a heap by key, then by age.
type cursors []*cursor

func (h cursors) Len() int      { return len(h) }
func (h cursors) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h cursors) Less(i, j int) bool {
	if c := bytes.Compare(h[i].key, h[j].key); c != 0 {
		return c < 0
	}
	return h[i].order < h[j].order
}
func (h *cursors) Push(x any) { *h = append(*h, x.(*cursor)) }
func (h *cursors) Pop() any {
	old := *h
	last := old[len(old)-1]
	*h = old[:len(old)-1]
	return last
}

// merge calls do for the records of runs and of a sorter's memory in order;
// those with the same key in the order in which they were added.
func merge(runs []run, memory *sorter, do func(k, rest []byte) error) error {
	var h cursors
	start := func(c *cursor) error {
		ok, err := c.next()
		if ok {
			h = append(h, c)
		}
		return err
	}
	for i, r := range runs {
		if _, err := r.file.Seek(0, io.SeekStart); err != nil {
			return err
		}
		if err := start(&cursor{r: bufio.NewReaderSize(r.file, 256<<10), order: i}); err != nil {
			return err
		}
	}
	if memory != nil {
		if err := start(&cursor{s: memory, order: len(runs)}); err != nil {
			return err
		}
	}
	heap.Init(&h)
	for len(h) > 0 {
		c := h[0]
		if err := do(c.key, c.rest); err != nil {
			return err
		}
		ok, err := c.next()
		switch {
		case err != nil:
			return err
		case ok:
			heap.Fix(&h, 0)
		default:
			heap.Pop(&h)
		}
	}
	return nil
}
