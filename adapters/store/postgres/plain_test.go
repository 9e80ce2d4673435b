package postgres_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"maps"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"edgetable/adapters/store/postgres"
	"edgetable/adapters/store/postgres/statement"
	"edgetable/core/key"
	"edgetable/core/odata"
	"edgetable/core/table"
	"edgetable/testdata/must"
)

// writePlain makes TestPlainStatements write testdata/plain.txt instead of comparing with
// this file.
var writePlain = flag.Bool("plain", false, "write testdata/plain.txt")

// tap records the statements that a store prepares, and the statements that it executes.
type tap struct {
	mu      sync.Mutex
	text    map[string]string // text of each prepared statement, by its name
	unnamed string            // text of the newest statement without a name
	sent    []string
}

// The variable ofServers lists the statements that a server executes periodically. The method note does not record these
// statements. A server whose heartbeat is late executes the statement blocked without a name.
var ofServers = []string{"take_slot", "leave_slot", "beat", "oldest", "blocked", "synced"}

func (tp *tap) dial(ctx context.Context, network, address string) (net.Conn, error) {
	c, err := new(net.Dialer).DialContext(ctx, network, address)
	return &tapped{Conn: c, tap: tp}, err
}

// take returns the names of the statements that were executed since the last call.
func (tp *tap) take() []string {
	tp.mu.Lock()
	defer tp.mu.Unlock()
	sent := tp.sent
	tp.sent = nil
	return sent
}

// tapped is a connection that parses the messages of a client. The first message has a length
// and a code, the others a letter and a length.
type tapped struct {
	net.Conn
	tap    *tap
	begun  bool
	unread []byte
}

const startup = 196608 // StartupMessage with protocol version 3.0

func (c *tapped) Write(p []byte) (int, error) {
	c.unread = append(c.unread, p...)
	for {
		head := 1
		if !c.begun {
			head = 0
		}
		if len(c.unread) < head+8 && (head == 0 || len(c.unread) < head+4) {
			break
		}
		n := head + int(binary.BigEndian.Uint32(c.unread[head:]))
		if len(c.unread) < n {
			break
		}
		m := c.unread[:n]
		c.unread = c.unread[n:]
		if head == 0 {
			c.begun = binary.BigEndian.Uint32(m[4:]) == startup
			continue
		}
		c.tap.note(m[0], bytes.Split(m[5:], []byte{0}))
	}
	return c.Conn.Write(p)
}

func (tp *tap) note(kind byte, texts [][]byte) {
	tp.mu.Lock()
	defer tp.mu.Unlock()
	switch kind {
	case 'P': // the message Parse prepares a statement; the argument texts contains the statement's name and its SQL text
		if tp.text == nil {
			tp.text = map[string]string{}
		}
		if name := string(texts[0]); name != "" {
			tp.text[name] = string(texts[1])
		} else {
			tp.unnamed = string(texts[1])
		}
	case 'B': // the message Bind precedes the execution; the argument texts contains the names of the portal and of the statement
		if name := string(texts[1]); !slices.Contains(ofServers, name) && (name != "" || !strings.Contains(tp.unnamed, statement.Blocked.SQL)) {
			tp.sent = append(tp.sent, name)
		}
	}
}

// TestPlainStatements checks the statements for a table without options. The store must send
// exactly the statements in testdata/plain.txt, in that order, even if the store also serves
// a table with options. Most of these statements are the same as before tables could have
// options. Only four statements have changed, because they must also accept the record of a
// table with options (statement/ruled.go). Servers use these four to find out lost outcomes
// and to remove dropped tables.
func TestPlainStatements(t *testing.T) {
	var tp tap
	s := open(t, shared, postgres.Options{Schema: newSchema(t, shared), Dial: tp.dial, PurgeEvery: -1}.Watch(time.Hour)) // a late reply is no reason for more statements
	var b strings.Builder
	note := func(what string) {
		fmt.Fprintf(&b, "%s: %s\n", what, strings.Join(tp.take(), " "))
	}
	ctx, k := t.Context(), row("p", "a")
	other := table.RecordKey{Account: "another", Table: "ruled"}
	_, err := s.WriteRecord(ctx, table.Record{Key: other, Incarnation: table.Incarnation{3}, Traits: rule("E")})
	must.OK(t, err)
	if _, err := s.Get(ctx, other, k, table.Strong); !errors.Is(err, table.ErrNoEntity) {
		t.Fatal(err)
	}
	tp.take()
	create(t, s)
	note("create")
	r, err := s.ReadRecord(ctx, people, table.Strong)
	must.OK(t, err)
	note("read the record")
	r.Value = []byte("policies")
	r.Revision, err = s.WriteRecord(ctx, r)
	must.OK(t, err)
	note("change the record")
	_, err = s.ListRecords(ctx, "acct", "", 10, table.Strong)
	must.OK(t, err)
	note("list records")
	m := table.Mutation{Key: k, Nonce: 1, Properties: text("one")}
	commit := func(what string, refused bool, list ...table.Mutation) {
		t.Helper()
		ticks, err := s.Commit(ctx, people, list)
		if (err != nil) != refused {
			t.Fatalf("%s: %v", what, err)
		}
		if m.IfMatch = ticks; refused {
			m.IfMatch = 1
		}
		note(what)
	}
	with := func(kind table.Kind, c table.Condition) table.Mutation {
		m := m
		m.Kind, m.Condition = kind, c
		return m
	}
	commit("insert", false, with(table.Put, table.Absent))
	commit("insert again", true, with(table.Put, table.Absent))
	commit("put", false, with(table.Put, table.Always))
	commit("update", false, with(table.Put, table.Present))
	commit("update if unchanged", false, with(table.Put, table.Unchanged))
	commit("merge", false, with(table.Merge, table.Present))
	commit("merge again", false, with(table.Merge, table.Unchanged))
	commit("merge if unchanged since long ago", true, func() table.Mutation { m.IfMatch = 1; return with(table.Merge, table.Unchanged) }())
	commit("merge of a new one", false, table.Mutation{Key: row("p", "b"), Kind: table.Merge, Nonce: 1, Properties: text("two")})
	commit("batch", false, with(table.Put, table.Always), table.Mutation{Key: row("p", "c"), Condition: table.Absent, Properties: text("c")},
		table.Mutation{Key: row("p", "b"), Kind: table.Merge, Condition: table.Present, Properties: text("b")})
	_, err = s.Get(ctx, people, k, table.Strong)
	must.OK(t, err)
	note("get")
	never, err := odata.Parse("N eq 7")
	must.OK(t, err)
	for _, one := range []struct {
		what string
		r    table.ScanRequest
	}{
		{"page", table.ScanRequest{Rows: 2}},
		{"page of all", table.ScanRequest{}},
		{"page, descending", table.ScanRequest{Rows: 2, Descending: true}},
		{"page with a filter", table.ScanRequest{Rows: 2, Filter: never}},
		{"count", table.ScanRequest{Count: true}},
	} {
		one.r.Ranges = []key.Range{{}}
		_, err = s.Scan(ctx, people, one.r)
		must.OK(t, err)
		note(one.what)
	}
	_, err = s.Commit(ctx, people, []table.Mutation{{Key: row("p", "large"), Properties: text(strings.Repeat("x", 5000))}})
	must.OK(t, err)
	tp.take()
	_, err = s.Scan(ctx, people, table.ScanRequest{Ranges: []key.Range{{}}, Rows: 9})
	must.OK(t, err)
	note("page with a large entity")
	commit("delete", false, with(table.Delete, table.Present))
	commit("delete again", true, with(table.Delete, table.Present))
	must.OK(t, s.Drop(ctx, people, r.Revision))
	note("drop")
	if _, err = s.Get(ctx, people, k, table.Strong); err == nil {
		t.Error("Get finds a table that was dropped")
	}
	note("get of no table")

	for _, name := range slices.Sorted(maps.Keys(tp.text)) {
		if strings.HasPrefix(name, "ruled_") || strings.HasPrefix(name, "feed_") || strings.HasSuffix(name, "_upkeep") {
			continue // a statement only for tables with options
		}
		fmt.Fprintf(&b, "\n%s\n%s\n", name, strings.TrimPrefix(tp.text[name], "\n"))
	}
	const file = "testdata/plain.txt"
	if *writePlain {
		must.OK(t, os.WriteFile(file, []byte(b.String()), 0o644))
	}
	want, err := os.ReadFile(file)
	must.OK(t, err)
	now, before := strings.Split(b.String(), "\n"), strings.Split(string(want), "\n")
	for i := range max(len(now), len(before)) {
		if i >= len(now) || i >= len(before) || now[i] != before[i] {
			t.Fatalf("the statements differ from line %d of %s on; now there are:\n%s", i+1, file, strings.Join(now[min(i, len(now)):min(i+5, len(now))], "\n"))
		}
	}
}
