package storetest

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"edgetable/core/edm"
	"edgetable/core/key"
	"edgetable/core/table"
)

// pagingUnderWrites inserts and deletes entities between two pages of a scan. The scan must return each entity that
// exists all the time once, and none that never existed.
func pagingUnderWrites(e *env) {
	for seed := range uint64(e.repetitions(6, 2)) {
		rnd := rand.New(rand.NewPCG(seed, 3))
		name, want := e.grid(fmt.Sprint("paging", seed), 6, 20, 20)
		ever := make(map[string]bool)
		for _, k := range want {
			ever[k] = true
		}
		others := make(map[string]bool) // whether each entity that the test inserts and deletes exists now
		change := func(k []byte) {
			m := table.Mutation{Key: k, Nonce: 1, Properties: text("other")}
			if others[string(k)] {
				m = table.Mutation{Key: k, Kind: table.Delete, Condition: table.Present}
			}
			if _, err := e.commit(name, m); err == nil {
				others[string(k)] = m.Kind == table.Put
				ever[string(k)] = true
			} else if !e.lacksStrength(err, []table.Mutation{m}) {
				e.Fatalf("Commit(%s): %s", describe([]table.Mutation{m}), reason(err))
			}
		}
		other := func() []byte {
			return at(fmt.Sprintf("p%02d", rnd.IntN(7)), fmt.Sprintf("r%03d+", rnd.IntN(20)))
		}
		for range 40 {
			change(other())
		}
		r := table.ScanRequest{Ranges: []key.Range{{}}, Rows: 1 + rnd.IntN(9)}
		if seed%2 == 1 {
			r.ScanBytes = 1 + rnd.IntN(500)
		}
		rows := slices.Concat(e.pages(name, r, func(next []byte) {
			for range 3 {
				change(other())
			}
			if bytes.HasSuffix(next, []byte("+")) {
				change(next) // insert or delete the entity at the position next
			}
			if p, row := key.Split(next); bytes.HasPrefix(row, []byte("r")) && len(row) >= 4 {
				change(at(string(p), string(row[:4])+"+"))
			}
		})...)
		stable := []string{}
		for _, k := range keys(rows) {
			if !bytes.HasSuffix([]byte(k), []byte("+")) {
				stable = append(stable, k)
			}
			if !ever[k] {
				e.Errorf("seed %d: Scan returned %s, which never was there", seed, showKey([]byte(k)))
			}
		}
		e.sameKeys(fmt.Sprintf("seed %d: rows that exist throughout", seed), stable, want)
	}
}

// flipPadding makes a page longer than 64 KiB, so that the store must call Expired while it reads the page.
var flipPadding = edm.Binary(make([]byte, 8<<10))

// flip returns the mutations that change a partition of snapshotPages from state n-1 to state n. A state has ten rows
// with the number n. Even and odd states have different keys.
func flip(partition string, n int32) []table.Mutation {
	var m []table.Mutation
	for i := range 10 {
		p := edm.AppendProperty(edm.AppendProperty(nil, "n", edm.Int32(n)), "padding", flipPadding)
		m = append(m, table.Mutation{Key: at(partition, fmt.Sprintf("%d%c", i, 'a'+n%2)), Properties: p, Nonce: uint64(n)})
		if n > 0 {
			m = append(m, table.Mutation{Key: at(partition, fmt.Sprintf("%d%c", i, 'b'-n%2)), Kind: table.Delete, Condition: table.Present})
		}
	}
	return m
}

// snapshotPages reads pages while a writer changes partition a to its next state, then partition b, and so on. If the
// store declares SnapshotPage, "one Scan sees the store as of one moment; a concurrent Commit is in its page wholly or
// not at all."
//
// If the store declares Linearizable, a page contains no row of a Commit that began after the page was read, and no row
// that was replaced before the Scan began.
func snapshotPages(e *env) {
	name := e.create("snapshot")
	for _, p := range []string{"a", "b"} {
		if _, err := e.commit(name, flip(p, 0)...); err != nil {
			if e.lacksStrength(err, flip(p, 0)) {
				e.weakPages(name)
				return
			}
			e.Fatal(err)
		}
	}
	var writer sync.WaitGroup
	var begun, done, commits atomic.Int32
	turn, gone := make(chan struct{}), make(chan struct{})
	writer.Go(func() {
		defer close(gone)
		for n := int32(1); ; n++ {
			for _, p := range []string{"a", "b"} {
				if _, more := <-turn; !more {
					return
				}
				begun.Store(n)
				if _, err := e.Store.Commit(e.Context(), name, flip(p, n)); err != nil {
					e.Errorf("Commit of state %d to %s: %s", n, p, reason(err))
					return
				}
				commits.Add(1)
			}
			done.Store(n)
		}
	})
	for scans := 0; (scans < 60 || done.Load() < 20) && !e.Failed(); scans++ {
		from := done.Load()
		select {
		case turn <- struct{}{}: // this makes a Commit begin while the Scan begins
		case <-gone:
		}
		// At every fifth row, let the writer begin a Commit and give it some time. Do not wait for its end, because a
		// store may block the Commit until the page is complete.
		rows := 0
		meet := func() bool {
			if rows++; rows%5 != 0 {
				return false
			}
			select {
			case turn <- struct{}{}:
			default:
				return false // the previous Commit is still running
			}
			for before, n := commits.Load(), 0; commits.Load() == before && n < 1000; n++ {
				runtime.Gosched()
			}
			return false
		}
		page, err := e.Store.Scan(e.Context(), name, table.ScanRequest{Ranges: []key.Range{{}}, Expired: meet})
		if err != nil {
			e.Errorf("Scan: %s", reason(err))
			break
		}
		e.checkFlip(page, from, begun.Load())
	}
	close(turn)
	writer.Wait()
}

// checkFlip checks the state numbers in a page. The first given state was complete before the Scan began. The second
// was the latest that had begun when the Scan returned.
func (e *env) checkFlip(page table.Page, from, to int32) {
	e.Helper()
	seen := map[string]map[int32]int{"a": {}, "b": {}} // number of rows, by partition and state
	for _, r := range page.Rows {
		p, _ := key.Decode(r.Key)
		v, _ := r.Properties.Lookup("n")
		n := int32(v.Int())
		if e.has.Linearizable && (n < from || n > to) {
			e.Errorf("%s has number %d; %d was complete before the Scan, %d begun after", showKey(r.Key), n, from, to)
		}
		seen[p][n]++
	}
	if !e.has.SnapshotPage || !e.has.AtomicCommit || page.Next != nil {
		return
	}
	var at [2]int32
	for i, p := range []string{"a", "b"} {
		if len(seen[p]) != 1 {
			e.Errorf("a concurrent Commit is in a page wholly or not at all: partition %s shows, rows by number, %v", p, seen[p])
			return
		}
		for n, count := range seen[p] {
			if at[i] = n; count != 10 {
				e.Errorf("partition %s shows %d rows of number %d, want 10", p, count, n)
			}
		}
	}
	if at[0] != at[1] && at[0] != at[1]+1 {
		e.Errorf("a Scan sees the store as of one moment: a is always written before b, and shows number %d to b's %d", at[0], at[1])
	}
}

// weakPages replaces snapshotPages for a store that refuses a Commit of several mutations. Each page must contain the
// row that exists during the whole test.
func (e *env) weakPages(name table.RecordKey) {
	e.mustCommit(name, put("p", "stays", "0"))
	var writer sync.WaitGroup
	writer.Go(func() {
		for n := range 100 {
			for _, row := range []string{"stays", "a", "z"} {
				m := []table.Mutation{put("p", row, fmt.Sprint(n))}
				if _, err := e.Store.Commit(e.Context(), name, m); err != nil && reason(err) != reason(table.ErrBusy) {
					e.Errorf("Commit(%s): %s", describe(m), reason(err))
					return
				}
			}
		}
	})
	for range 20 {
		if rows := keys(e.all(name)); !slices.Contains(rows, string(at("p", "stays"))) {
			e.Errorf("a row that exists throughout is in every page: got %q", rows)
		}
	}
	writer.Wait()
}
