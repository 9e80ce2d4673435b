package workerd_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"edgetable/adapters/store/durableobject"
	"edgetable/core/edm"
	"edgetable/core/key"
	"edgetable/core/odata"
	"edgetable/core/storetest"
	"edgetable/core/table"
	"edgetable/testdata/edge/workerd"
)

var (
	server *workerd.Server // without settings
	data   string          // directory of the objects of shared servers, and of the binary
)

func TestMain(m *testing.M) {
	os.Exit(run(m))
}

func run(m *testing.M) int {
	var err error
	if data, err = os.MkdirTemp("", "objects"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(data)
	if server, err = shared.start(); err != nil {
		fmt.Fprintf(os.Stderr, "%v\n%s", err, &shared.log)
		return 1
	}
	code := m.Run()
	shared.stop()
	if text := shared.log.String(); code != 0 {
		fmt.Fprintf(os.Stderr, "the servers that tests share: …%s", text[max(0, len(text)-4000):])
	}
	return code
}

// strengths returns the guarantees that the store gives for tables with this number of hash-key buckets.
func strengths(buckets uint16) storetest.Strengths {
	if buckets <= 1 {
		return storetest.Home("Durable Objects, one bucket per table")
	}
	return storetest.Home("Durable Objects, more buckets")
}

// harness returns test fixtures with objects in workerd. The Store runs in the test process, and the Durable
// Objects run in the wasm module.
func harness(buckets uint16) storetest.Harness {
	return func(t testing.TB, now func() edm.Ticks) storetest.Fixture {
		place := server.NewPlace(now)
		open := func(now func() edm.Ticks) table.Store { return openStore(t, place, now, buckets) }
		return storetest.Fixture{
			Store:     open(now),
			Strengths: strengths(buckets),
			Removes:   true,                                    // alarms fire at once, because the objects' clock is behind the machine's clock
			Remote:    strings.Contains(t.Name(), "/Changes/"), // check only some histories of changes here, because pages are slow
			Share:     open,
			Restart: func(now func() edm.Ticks) table.Store {
				place.Restart(now)
				return open(now)
			},
		}
	}
}

func openStore(t testing.TB, p *workerd.Place, now func() edm.Ticks, buckets uint16) table.Store {
	t.Helper()
	s, err := durableobject.New(durableobject.Options{
		Caller: p.Caller(), Now: now, Rand: rand.Uint64, Buckets: buckets,
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestStore(t *testing.T) { storetest.Run(t, harness(1)) }

func TestBuckets(t *testing.T) {
	h := harness(4)
	t.Run("Entities", func(t *testing.T) { storetest.Entities(t, h) })
	t.Run("Incarnations", func(t *testing.T) { storetest.Incarnations(t, h) })
	t.Run("Concurrency", func(t *testing.T) { storetest.Concurrency(t, h) })
}

// TestDeepFilter scans with the most deeply nested filter, whose evaluation must fit on the stack of the wasm
// module.
func TestDeepFilter(t *testing.T) {
	s := openStore(t, server.NewPlace(wallClock), wallClock, 1)
	create(t, s)
	if _, err := s.Commit(t.Context(), people, inserts("a", 2)); err != nil {
		t.Fatal(err)
	}
	text := strings.Repeat("not (A or RowKey ne '0001' or B and ", odata.MaxDepth) + "C" + strings.Repeat(")", odata.MaxDepth)
	filter, err := odata.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	page, err := s.Scan(t.Context(), people, table.ScanRequest{Ranges: []key.Range{{}}, Filter: filter})
	if err != nil || len(page.Rows) != 1 {
		t.Errorf("%d rows, %v", len(page.Rows), err)
	}
}
