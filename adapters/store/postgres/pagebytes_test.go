package postgres_test

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"strings"
	"sync/atomic"
	"testing"

	"edgetable/adapters/store/postgres"
	"edgetable/core/edm"
	"edgetable/core/key"
	"edgetable/core/odata"
	"edgetable/core/table"
	"edgetable/testdata/must"
)

// TestPageBytes checks that a page of 4 MB reads at most 12 MB from the database, for
// entities of any size. The page must contain the same entities as pages of one entity
// each.
func TestPageBytes(t *testing.T) {
	t.Parallel()
	var received atomic.Int64
	s := open(t, shared, postgres.Options{Schema: newSchema(t, shared), Dial: func(ctx context.Context, network, address string) (net.Conn, error) {
		c, err := new(net.Dialer).DialContext(ctx, network, address)
		return &counted{c, &received}, err
	}})
	all, err := odata.Parse("RowKey ge ''")
	must.OK(t, err)
	for _, tt := range []struct {
		name  string
		sizes func(i int) int
		rows  int
	}{
		{"small", func(int) int { return 100 }, 1500},
		{"450 KB", func(int) int { return 450 << 10 }, 40},
		{"largest", func(int) int { return 1000 << 10 }, 20},
		{"medium", func(int) int { return 5000 }, 3000},
		{"mixed", func(i int) int { return []int{10, 2000, 2100, 700 << 10}[i%4] }, 200},
		{"one large at the end", func(i int) int { return 1 + i/1000*900<<10 }, 1002},
	} {
		name := table.RecordKey{Account: "acct", Table: strings.ReplaceAll(strings.ToLower(tt.name), " ", "")}
		_, err := s.WriteRecord(t.Context(), table.Record{Key: name, Incarnation: table.Incarnation{1}})
		must.OK(t, err)
		var batch []table.Mutation
		size := 0
		for i := range tt.rows {
			batch = append(batch, table.Mutation{Key: row("p", fmt.Sprintf("%05d", i)), Nonce: 1, Properties: text(strings.Repeat("x", tt.sizes(i)))})
			if size += tt.sizes(i); size > 4<<20 || len(batch) == 100 || i == tt.rows-1 {
				_, err := s.Commit(t.Context(), name, batch)
				must.OK(t, err)
				batch, size = nil, 0
			}
		}
		for _, filter := range []*odata.Filter{nil, all} {
			n, pages := 0, 0
			for from := (key.Range{}); ; pages++ {
				before := received.Load()
				page, err := s.Scan(t.Context(), name, table.ScanRequest{Ranges: []key.Range{from}, Rows: 1000, Bytes: 4 << 20, Filter: filter})
				must.OK(t, err)
				if read := received.Load() - before; read > 12<<20 {
					t.Errorf("%s, filter %v: a page of %d entities read %.1f MB", tt.name, filter != nil, len(page.Rows), float64(read)/(1<<20))
				}
				for i, r := range page.Rows {
					if want := text(strings.Repeat("x", tt.sizes(n+i))); !bytes.Equal(r.Key, row("p", fmt.Sprintf("%05d", n+i))) || !bytes.Equal(r.Properties, want) {
						t.Fatalf("%s, filter %v: entity %d is %q with %d bytes, want %d", tt.name, filter != nil, n+i, r.Key, len(r.Properties), len(want))
					}
				}
				n += len(page.Rows)
				if page.Next == nil {
					break
				}
				from.Start = page.Next
			}
			if n != tt.rows {
				t.Errorf("%s, filter %v: %d entities in %d pages, want %d", tt.name, filter != nil, n, pages, tt.rows)
			}
		}
	}
}

// counted is a connection that counts the bytes that it receives.
type counted struct {
	net.Conn
	received *atomic.Int64
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.received.Add(int64(n))
	return n, err
}

// TestLargeSnapshot checks that a page is one snapshot, although a second statement reads
// its large entities. If a batch is written between the two statements, the page must
// contain the whole batch or nothing of it.
func TestLargeSnapshot(t *testing.T) {
	t.Parallel()
	between := make(chan func(), 1)
	name := newSchema(t, shared)
	s := open(t, shared, postgres.Options{Schema: name, Dial: func(ctx context.Context, network, address string) (net.Conn, error) {
		c, err := new(net.Dialer).DialContext(ctx, network, address)
		return &intercepted{c, between}, err
	}})
	create(t, s)
	batch := func(mark string, size int) {
		t.Helper()
		_, err := s.Commit(t.Context(), people, []table.Mutation{
			{Key: row("p", "a"), Nonce: 1, Properties: text(mark)},
			{Key: row("p", "b"), Nonce: 1, Properties: text(strings.Repeat(mark, size))},
			{Key: row("p", "c"), Nonce: 1, Properties: text(mark)},
		})
		must.OK(t, err)
	}
	for _, size := range []int{5000, 5001} { // the size of the entity in the second batch: equal to the size in the first batch, or different
		batch("x", 5000)
		between <- func() { batch("y", size) }
		page, err := s.Scan(t.Context(), people, table.ScanRequest{Ranges: []key.Range{{}}, Rows: 10})
		must.OK(t, err)
		if len(between) > 0 {
			t.Fatal("large entities have no statement of their own")
		}
		want := []edm.Properties{text("y"), text(strings.Repeat("y", size)), text("y")}
		for i, r := range page.Rows {
			if !bytes.Equal(r.Properties, want[i]) {
				t.Errorf("entity %d has %d bytes of another state", i, len(r.Properties))
			}
		}
	}
	// An entity that is deleted between the two statements is not in the page.
	between <- func() {
		_, err := s.Commit(t.Context(), people, []table.Mutation{{Kind: table.Delete, Key: row("p", "b"), Nonce: 1, Condition: table.Present}})
		must.OK(t, err)
	}
	page, err := s.Scan(t.Context(), people, table.ScanRequest{Ranges: []key.Range{{}}, Rows: 10})
	if err != nil || len(page.Rows) != 2 {
		t.Errorf("%d entities, %v", len(page.Rows), err)
	}
}

// intercepted is a connection. The test can pass it a function through a channel. The
// connection calls this function before it sends the statement for large entities.
type intercepted struct {
	net.Conn
	before chan func()
}

func (c *intercepted) Write(p []byte) (int, error) {
	if bytes.Contains(p, []byte("large_rows\x00")) && p[0] == 'B' {
		select {
		case do := <-c.before:
			do()
		default:
		}
	}
	return c.Conn.Write(p)
}
