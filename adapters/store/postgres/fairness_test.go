package postgres_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"edgetable/adapters/store/postgres"
	"edgetable/core/key"
	"edgetable/core/odata"
	"edgetable/core/table"
	"edgetable/testdata/must"
)

// TestScansLetOthersGoFirst checks a store in which the scans of one account use all
// connections for pages. When another account needs a page, one of these scans must end its
// page early and release its connection. Batches and reads of the catalog must not wait for
// scans at all.
func TestScansLetOthersGoFirst(t *testing.T) {
	t.Parallel()
	const rows, scans = 40_000, 12
	s := open(t, shared, postgres.Options{Schema: newSchema(t, shared)})
	create(t, s)
	must.OK(t, shared.Exec(fmt.Sprintf(`INSERT INTO %s.entity (life, key, ts, nonce, properties)
		SELECT life, convert_to('p'||lpad(i::text, 6, '0'), 'UTF8'), 1, 1, ''::bytea FROM %s.record, generate_series(1, %d) AS i`, s.Schema, s.Schema, rows)))
	other := table.RecordKey{Account: "other", Table: "people"}
	_, err := s.WriteRecord(t.Context(), table.Record{Key: other, Incarnation: table.Incarnation{2}})
	must.OK(t, err)
	never, err := odata.Parse("N eq 7")
	must.OK(t, err)

	begun, release := make(chan bool, scans), make(chan bool)
	var all sync.WaitGroup
	var ended, early int
	var mu sync.Mutex
	for range scans {
		all.Go(func() {
			var once sync.Once
			page, err := s.Scan(t.Context(), people, table.ScanRequest{
				Ranges: []key.Range{{}}, Filter: never, Pause: func(int, int) bool { return false },
				Expired: func() bool {
					once.Do(func() {
						begun <- true
						<-release
					})
					return false
				},
			})
			mu.Lock()
			defer mu.Unlock()
			if ended++; err != nil {
				t.Error(err)
			} else if page.Next != nil {
				early++
			}
		})
	}
	pages, _ := s.Pages()
	for range pages {
		<-begun
	}
	// The scans now have all connections for pages, and the test has stopped each scan inside
	// a page.
	var batch []table.Mutation
	for i := range 5 {
		batch = append(batch, table.Mutation{Key: row("p", fmt.Sprint(i)), Nonce: 1, Properties: text(strings.Repeat("x", i))})
	}
	_, err = s.Commit(t.Context(), other, batch)
	must.OK(t, err)
	_, err = s.ReadRecord(t.Context(), other, table.Strong)
	must.OK(t, err)
	must.OK(t, putOne(t.Context(), s, "z"))

	got := make(chan int)
	go func() {
		page, err := s.Scan(t.Context(), other, table.ScanRequest{Ranges: []key.Range{{}}, Rows: 5})
		mu.Lock()
		defer mu.Unlock()
		if err != nil || len(page.Rows) != 5 {
			t.Errorf("the page has %d entities, %v", len(page.Rows), err)
		}
		got <- ended
	}()
	wait(t, "the page waits", func() bool {
		_, waiting := s.Pages()
		return waiting == scans-pages+1
	})
	close(release)
	if n := <-got; n > pages {
		t.Errorf("%d pages of scans went first", n)
	}
	all.Wait()
	if early == 0 {
		t.Error("no scan ended its page early")
	}
}
