package dynamodb_test

import (
	"flag"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"edgetable/adapters/store/dynamodb"
	"edgetable/core/edm"
	"edgetable/core/key"
	"edgetable/core/table"
)

var update = flag.Bool("update", false, "write the table of calls into docs/dynamodb.md")

const (
	document   = "../../../docs/dynamodb.md"
	tableBegin = "<!-- calls: written by go test ./adapters/store/dynamodb -run Calls -update -->\n"
	tableEnd   = "<!-- calls end -->\n"

	writeUnit, readUnit = 0.625, 0.125 // prices in US dollars per million capacity units, on demand, in us-east-1
)

// TestCalls checks what each operation costs: its calls, the capacity units that DynamoDB
// Local counts, and the price of a million operations. docs/dynamodb.md contains the same
// table, so a changed cost shows as a change of that file.
func TestCalls(t *testing.T) {
	t.Parallel()
	start := now() // the clock stands still, so that leases do not end on a slow machine
	s, w := overWire(t, dynamodb.Options{Buckets: 8, Now: func() edm.Ticks { return start }, Elapsed: new(elapsed).now})
	commit := func(m ...table.Mutation) edm.Ticks {
		ticks, err := s.Commit(t.Context(), people, m)
		if err != nil {
			t.Fatal(err)
		}
		return ticks
	}
	refused := func(m ...table.Mutation) {
		if _, err := s.Commit(t.Context(), people, m); err == nil {
			t.Fatalf("%s was not refused", describe(m))
		}
	}
	scan := func(r table.ScanRequest) {
		if _, err := s.Scan(t.Context(), people, r); err != nil {
			t.Fatal(err)
		}
	}
	of := func(kind table.Kind, c table.Condition, row string, p edm.Properties) table.Mutation {
		return table.Mutation{Key: key.Append(nil, "p", row), Kind: kind, Condition: c, Properties: p, Nonce: 1}
	}
	batch := func(kind table.Kind, n int, p edm.Properties) (list []table.Mutation) {
		for i := range n {
			list = append(list, of(kind, table.Always, fmt.Sprintf("batch%03d", i), p))
		}
		return list
	}
	small := edm.AppendProperty(edm.AppendProperty(nil, "Name", edm.String("Ada")), "Age", edm.Int32(36))
	kilobyte := edm.AppendProperty(small, "Text", edm.String(strings.Repeat("x", 1000)))
	wide := edm.Properties(nil)
	var again edm.Properties // three properties with names that the entity "wide" has too
	for i := range 250 {
		if i < 3 {
			again = edm.AppendProperty(again, fmt.Sprint("P", i), edm.Int32(-1))
		}
		wide = edm.AppendProperty(wide, fmt.Sprint("P", i), edm.Int32(int32(i)))
	}
	var out strings.Builder
	out.WriteString("| operation | calls | write units | read units | $ a million |\n|---|---|---:|---:|---:|\n")
	row := func(what string, do func()) {
		t.Helper()
		w.take()
		do()
		var calls []string
		var write, read float64
		for _, c := range w.take() {
			if n := len(calls); n > 0 && strings.HasPrefix(calls[n-1], c.operation) {
				var times int
				if _, err := fmt.Sscanf(calls[n-1], c.operation+" × %d", &times); err != nil {
					times = 1
				}
				calls[n-1] = fmt.Sprintf("%s × %d", c.operation, times+1)
			} else {
				calls = append(calls, c.operation)
			}
			write, read = write+c.write, read+c.read
		}
		price := math.Round((write*writeUnit+read*readUnit)*1000) / 1000
		fmt.Fprintf(&out, "| %s | %s | %g | %g | %g |\n", what, strings.Join(calls, ", "), write, read, price)
	}
	row("get", func() { _ = get(t, s, "none") })
	row("get, table not cached", func() {
		cold := open(t, dynamodb.Options{Table: w.table, Client: newClient(w)})
		_ = get(t, cold, "none")
	})
	row("insert", func() { commit(of(table.Put, table.Absent, "a", small)) })
	row("insert of 1 KB", func() { commit(of(table.Put, table.Absent, "k", kilobyte)) })
	row("insert, 409", func() { refused(of(table.Put, table.Absent, "a", small)) })
	row("insert or replace", func() { commit(of(table.Put, table.Always, "a", small)) })
	var etag edm.Ticks
	row("update `*`", func() { etag = commit(of(table.Put, table.Present, "a", small)) })
	row("update, ETag", func() {
		m := of(table.Put, table.Unchanged, "a", small)
		m.IfMatch = etag
		commit(m)
	})
	row("update, 412", func() {
		m := of(table.Put, table.Unchanged, "a", small)
		m.IfMatch = etag
		refused(m)
	})
	row("update, 404", func() { refused(of(table.Put, table.Present, "none", small)) })
	row("merge", func() { commit(of(table.Merge, table.Present, "a", small)) })
	row("insert or merge, new", func() { commit(of(table.Merge, table.Always, "m", small)) })
	commit(of(table.Put, table.Always, "wide", wide))
	row("merge, 404", func() { refused(of(table.Merge, table.Present, "none", small)) })
	row("merge that falls back: nearly 252 properties", func() { commit(of(table.Merge, table.Always, "wide", again)) })
	row("delete", func() { commit(of(table.Delete, table.Present, "a", nil)) })
	row("delete, 404", func() { refused(of(table.Delete, table.Present, "a", nil)) })
	row("batch of 100 upserts", func() { commit(batch(table.Put, 100, small)...) })
	row("batch of 100 merges", func() { commit(batch(table.Merge, 100, small)...) })
	commit(batch(table.Put, 10, wide)...)
	row("batch of 10 merges that fall back", func() { commit(batch(table.Merge, 10, again)...) })
	row("insert of 1 MB", func() { commit(of(table.Put, table.Absent, "large", large(1_000_000))) })
	row("get of 1 MB", func() {
		if err := get(t, s, "large"); err != nil {
			t.Fatal(err)
		}
	})
	row("merge into 1 MB", func() { commit(of(table.Merge, table.Present, "large", small)) })
	row("delete of 1 MB", func() { commit(of(table.Delete, table.Present, "large", nil)) })
	row("page of a partition, 100 small rows", func() {
		scan(table.ScanRequest{Ranges: []key.Range{{Start: key.RowFrom("p", "batch"), End: key.RowFrom("p", "batch~")}}, Rows: 100})
	})
	row("page of a table in 8 buckets, 100 small rows", func() { scan(table.ScanRequest{Ranges: everything, Rows: 100}) })
	row("eventual get", func() { _, _ = s.Get(t.Context(), people, key.Append(nil, "p", "m"), table.Eventual) })
	other := table.RecordKey{Account: "acct", Table: "other"}
	row("create table", func() {
		_, err := s.WriteRecord(t.Context(), table.Record{Key: other, Incarnation: table.Incarnation{2}})
		if err != nil {
			t.Fatal(err)
		}
	})
	row("list tables", func() {
		if _, err := s.ListRecords(t.Context(), "acct", "", 1001, table.Strong); err != nil {
			t.Fatal(err)
		}
	})
	row("drop table", func() {
		d, err := s.ReadRecord(t.Context(), other, table.Strong)
		if err == nil {
			err = s.Drop(t.Context(), d.Key, d.Revision)
		}
		if err != nil {
			t.Fatal(err)
		}
	})

	text, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(text), tableBegin)
	old, after, ok2 := strings.Cut(rest, tableEnd)
	if !ok || !ok2 {
		t.Fatalf("%s has no table of calls", document)
	}
	if *update {
		if err := os.WriteFile(document, []byte(before+tableBegin+"\n"+out.String()+"\n"+tableEnd+after), 0o666); err != nil {
			t.Fatal(err)
		}
	} else if old != "\n"+out.String()+"\n" {
		t.Errorf("%s shows other calls; run this test with -update and read the diff. Now:\n%s", document, out.String())
	}
}
