package durableobject_test

import (
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"edgetable/adapters/store/durableobject"
	"edgetable/core/edm"
	"edgetable/core/key"
	"edgetable/core/table"
)

// counted is the cost of one operation.
type counted struct {
	objects       float64 // number of objects asked
	written, read float64 // numbers of rows that were written and read
	more          float64 // further cost in dollars
}

// The field objects has this value for work that no client's request causes.
const inside = -1

// meter counts the work of a cloud's objects. It omits rows of statistics, of which there are a few for
// thousands of requests; docs/cloudflare.md states their price.
type meter struct {
	*cloud
	asked, catalog int
	written        map[string]int // the number of rows, by the first byte of their keys; for rows with the state of an object, by the first two bytes
	read           int
}

func newMeter(c *cloud) *meter {
	m := &meter{cloud: c, written: map[string]int{}}
	c.network = func(durableobject.Call) fate { m.asked++; return fate{} }
	c.inside = func(durableobject.Call) fate { m.catalog++; return fate{} }
	c.kept = func(n *node) { n.rows.Touched = m.touched }
	for _, n := range c.all() {
		n.rows.Touched = m.touched
	}
	return m
}

func (m *meter) touched(k []byte, writes bool) {
	kind := string(k[:1])
	if kind == "m" {
		kind = string(k[:2])
	}
	switch {
	case kind == "mt" || kind == "mu":
	case writes:
		m.written[kind]++
	default:
		m.read++
	}
}

// This method runs an operation n times and returns the average cost. No run may ask the catalog.
func (m *meter) each(t *testing.T, n int, do func(i int) error) (c counted) {
	t.Helper()
	m.asked, m.catalog, m.read = 0, 0, 0
	clear(m.written)
	for i := range n {
		if err := do(i); err != nil {
			t.Fatal(err)
		}
	}
	if m.catalog > 0 {
		t.Errorf("the catalog was asked %d times in %d operations", m.catalog, n)
	}
	for _, rows := range m.written {
		c.written += float64(rows)
	}
	c.objects, c.written, c.read = float64(m.asked)/float64(n), c.written/float64(n), float64(m.read)/float64(n)
	return c
}

// prices are the numbers in docs/cloudflare.md: the prices in the formula, and the table with the cost of each
// operation.
type prices struct {
	request, object, cpu, written, read, active float64
	kv, publishes                               float64     // price of a write in KV, and of the object's time for it
	rows                                        [][3]string // the rows of the table in the page: operation, CPU, cost
}

// number is the regular expression of a price.
const number = `(\d+(?:\.\d+)?)`

func readPrices(t *testing.T) (p prices) {
	t.Helper()
	page, err := os.ReadFile("../../../docs/cloudflare.md")
	if err != nil {
		t.Fatal(err)
	}
	for pattern, price := range map[string]*float64{
		number + ` request \+`: &p.request, number + ` × objects asked`: &p.object, number + ` × ms CPU`: &p.cpu,
		number + ` × rows written`: &p.written, number + ` × rows read`: &p.read, number + ` × ms that an object is active`: &p.active,
		number + ` write or delete in KV`: &p.kv, number + ` \(an object active`: &p.publishes,
	} {
		found := regexp.MustCompile(pattern).FindAllSubmatch(page, -1)
		if len(found) != 1 {
			t.Fatalf("the page has %d prices %s", len(found), pattern)
		}
		*price, _ = strconv.ParseFloat(string(found[0][1]), 64)
	}
	_, after, _ := strings.Cut(string(page), "| Operation | CPU at most | Sum |\n|---|---|---|\n")
	for line := range strings.Lines(after) {
		cells := strings.Split(strings.TrimSpace(line), "|")
		if len(cells) != 5 {
			break
		}
		p.rows = append(p.rows, [3]string{strings.TrimSpace(cells[1]), strings.TrimSpace(cells[2]), strings.TrimSpace(cells[3])})
	}
	return p
}

// TestPrices compares the prices in docs/cloudflare.md with the counted cost of operations, on tables of
// one range and of many: the sums in the page must agree in all their digits.
func TestPrices(t *testing.T) {
	t.Parallel()
	p := readPrices(t)
	for _, ranges := range []int{1, 20, 250} {
		count := countPrices(t, &p, ranges)
		cpu := 0.0
		for _, row := range p.rows {
			costs, ok := count[row[0]]
			delete(count, row[0])
			if !ok {
				t.Errorf("nothing is counted for %q", row[0])
				continue
			}
			if ms, err := strconv.ParseFloat(strings.TrimSuffix(row[1], " ms"), 64); err == nil {
				cpu = ms
			}
			sums := regexp.MustCompile(`(?:^|[;[] ?|to )`+number).FindAllStringSubmatch(row[2], -1)
			if len(sums) != len(costs) {
				t.Errorf("%q has %d sums in %q, want %d", row[0], len(sums), row[2], len(costs))
				continue
			}
			for i, c := range costs {
				sum := p.written*c.written + p.read*c.read + c.more
				if c.objects != inside { // this operation is a client's request
					sum += p.request + p.object*c.objects + p.cpu*cpu + p.active*cpu
				}
				_, decimals, _ := strings.Cut(sums[i][1], ".")
				if got := strconv.FormatFloat(sum, 'f', len(decimals), 64); got != sums[i][1] {
					t.Errorf("%d ranges, %q: it costs %s by %+v, and the page says %s", ranges, row[0], got, c, sums[i][1])
				}
			}
		}
		for _, operation := range slices.Sorted(maps.Keys(count)) {
			t.Errorf("the page has no row %q", operation)
		}
	}
}

// countPrices counts the cost of operations on a table of this many ranges, by the operations' names in
// docs/cloudflare.md. Some names have several costs.
func countPrices(t *testing.T, p *prices, ranges int) map[string][]counted {
	w, partitions := many(t, ranges, 60)
	m := newMeter(w.cloud)
	at := func(i int, row string) []byte { return key.Append(nil, partitions[i%ranges], row) }
	commit := func(list ...table.Mutation) error {
		w.clock.t += edm.TicksPerSecond / 1000
		_, err := w.store.Commit(t.Context(), tableKey, list)
		return err
	}
	insert := func(i int) error {
		return commit(table.Mutation{Key: at(i, fmt.Sprint("i", i)), Condition: table.Absent, Nonce: 1})
	}
	get := func(i int) error {
		_, err := w.store.Get(t.Context(), tableKey, at(i, "r"), table.Strong)
		return err
	}
	for i := range 2 * ranges { // these reads make Workers know the ranges, and objects load their state
		if err := get(i); err != nil {
			t.Fatal(err)
		}
	}
	list := map[string][]counted{"get": {m.each(t, 500, get)}, "request that is refused (403)": {{}}}
	often := m.each(t, 500, insert)
	often.written -= float64(m.written["mc"]) / 500
	seldom := m.each(t, 20, func(i int) error {
		w.clock.t += 2 * edm.TicksPerSecond
		return insert(1000 + i)
	})
	list["insert, replace, merge, delete"] = []counted{often, seldom}
	for _, change := range []table.Mutation{
		{Kind: table.Put, Condition: table.Present}, {Kind: table.Merge, Condition: table.Present}, {Kind: table.Delete, Condition: table.Present},
	} {
		c := m.each(t, 500, func(i int) error {
			change.Key = at(i, fmt.Sprint("i", i))
			return commit(change)
		})
		if c.written -= float64(m.written["mc"]) / 500; c != often {
			t.Errorf("a mutation of kind %d costs %+v, an insert %+v", change.Kind, c, often)
		}
	}
	batch := m.each(t, 20, func(i int) error {
		var list []table.Mutation
		for n := range 100 {
			list = append(list, table.Mutation{Key: at(0, fmt.Sprintf("b%02d%02d", i, n)), Condition: table.Absent, Nonce: 1})
		}
		return commit(list...)
	})
	batch.written -= float64(m.written["mc"]) / 20
	list["batch of 100 inserts"] = []counted{batch}
	page := table.ScanRequest{Ranges: []key.Range{{Start: key.PartitionFrom(partitions[0]), End: key.PartitionAfter(partitions[0])}}, Rows: 1000}
	list["query page of 1,000 entities"] = []counted{m.each(t, 20, func(int) error { return full(w.store.Scan(t.Context(), tableKey, page)) })}
	list["the same over 8 buckets"] = []counted{priceOfBuckets(t)}
	list["each entity that moves in a split"] = []counted{priceOfMove(t)}
	list["with a replica: each change"] = priceOfReplica(t, p)
	return list
}

// full returns an error if a page does not have 1,000 entities.
func full(page table.Page, err error) error {
	if err == nil && len(page.Rows) != 1000 {
		err = fmt.Errorf("%d rows", len(page.Rows))
	}
	return err
}

// priceOfBuckets returns the cost of a page of 1,000 entities over 8 buckets.
func priceOfBuckets(t *testing.T) counted {
	w := newRanges(t, 8, 0, 0)
	m := newMeter(w.cloud)
	for i := range 1000 {
		w.put(fmt.Sprintf("p%03d", i), "r")
	}
	return m.each(t, 5, func(int) error {
		return full(w.store.Scan(t.Context(), tableKey, table.ScanRequest{Ranges: everything.Ranges, Rows: 1000}))
	})
}

// priceOfMove returns the cost of moving an entity when its range splits in the middle.
func priceOfMove(t *testing.T) counted {
	w := newRanges(t, 1, 10_000, 0)
	for i := range 100 {
		w.put(fmt.Sprintf("p%02d", i*37%100), "r")
	}
	m := newMeter(w.cloud)
	w.rest()
	moved := w.objects()[1]
	return counted{objects: inside, written: float64(m.written["e"]) / float64(moved)}
}

// priceOfReplica returns the additional cost of a change with a replica: in a full batch, and alone. A
// batch needs an alarm, which costs a row and a message.
func priceOfReplica(t *testing.T, p *prices) (list []counted) {
	for _, changes := range []int{100, 1} {
		w := newRanges(t, 1, 0, 0)
		k := newReplica(t, w.cloud, &w.clock.t, 1)
		w.put("p", "first")
		w.rest()
		m := newMeter(w.cloud)
		const batches = 10
		before := k.batches
		for i := range batches {
			var list []table.Mutation
			for n := range changes {
				list = append(list, table.Mutation{Key: at("p", fmt.Sprintf("%02d%02d", i, n)), Nonce: 1})
			}
			if _, err := w.store.Commit(t.Context(), tableKey, list); err != nil {
				t.Fatal(err)
			}
			w.rest()
		}
		if k.batches-before != batches {
			t.Fatalf("%d batches, want %d", k.batches-before, batches)
		}
		all := float64(batches * changes)
		list = append(list, counted{
			objects: inside, written: (float64(m.written["o"]+m.written["mo"]) + batches) / all,
			more: p.kv + p.publishes + p.object*batches/all,
		})
	}
	return list
}
