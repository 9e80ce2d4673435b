package protocol_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"edgetable/core/edm"
	"edgetable/core/table"
	"edgetable/core/wiretest"
	"edgetable/testdata/memstore"
)

// asked is a store that records the consistency of each read of entities and of tables.
type asked struct {
	table.Store
	reads []table.Consistency
}

func (s *asked) Get(ctx context.Context, name table.RecordKey, k []byte, c table.Consistency) (table.Row, error) {
	s.reads = append(s.reads, c)
	return s.Store.Get(ctx, name, k, c)
}

func (s *asked) ReadRecord(ctx context.Context, key table.RecordKey, c table.Consistency) (table.Record, error) {
	if key.Table != "" {
		s.reads = append(s.reads, c)
	}
	return s.Store.ReadRecord(ctx, key, c)
}

func (s *asked) ListRecords(ctx context.Context, account, from string, limit int, c table.Consistency) ([]table.Record, error) {
	s.reads = append(s.reads, c)
	return s.Store.ListRecords(ctx, account, from, limit, c)
}

func (s *asked) Scan(ctx context.Context, name table.RecordKey, r table.ScanRequest) (table.Page, error) {
	s.reads = append(s.reads, r.Consistency)
	return s.Store.Scan(ctx, name, r)
}

// TestConsistency checks that the header sets the consistency of a read of entities or tables. Without the header,
// a read is eventual at the address of the secondary and strong at that of the primary. Other operations ignore
// the header.
func TestConsistency(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	now := func() edm.Ticks { return edm.TicksOf(wiretest.Start) }
	store := &asked{Store: memstore.New(now)}
	s.Service = table.New(store, table.Options{Now: now, Rand: func() uint64 { return 1 }})
	s.checkConsistency(t, "POST", "/Tables", `{"TableName":"people"}`, "", 201)
	s.checkConsistency(t, "POST", "/people", `{"PartitionKey":"p","RowKey":"r"}`, "", 201)
	const one, all = "/people(PartitionKey='p',RowKey='r')", "/people()"
	query := func(header string) string {
		return "--b\r\nContent-Type: application/http\r\nContent-Transfer-Encoding: binary\r\n\r\n" +
			"GET /devstoreaccount1" + one + " HTTP/1.1\r\n" + header + "\r\n--b--\r\n"
	}
	strong, eventual := []table.Consistency{table.Strong}, []table.Consistency{table.Eventual}
	for _, tt := range []struct {
		why, method, path, header, body string
		status                          int
		reads                           []table.Consistency
	}{
		{"a read without the header sees the latest state", "GET", one, "", "", 200, strong},
		{"a point read with eventual", "GET", one, "eventual", "", 200, eventual},
		{"a point read with strong", "GET", one, "strong", "", 200, strong},
		{"a query with eventual", "GET", all, "eventual", "", 200, eventual},
		{"a query without the header", "GET", all, "", "", 200, strong},
		{"the secondary address", "GET", "-secondary" + one, "", "", 200, eventual},
		{"the header takes precedence at the secondary address", "GET", "-secondary" + all, "strong", "", 200, strong},
		{"a point read with a wrong value", "GET", one, "Eventual", "", 400, nil},
		{"a query with a wrong value", "GET", all, "bounded", "", 400, nil},
		{"the header of a batch applies to its query", "POST", "/$batch", "eventual", query(""), 202, eventual},
		{"the header of the query takes precedence", "POST", "/$batch", "eventual", query("x-edgetable-consistency: strong\r\n"), 202, strong},
		{"a list of tables", "GET", "/Tables", "", "", 200, strong},
		{"a list of tables with eventual", "GET", "/Tables", "eventual", "", 200, eventual},
		{"a list of tables at the secondary address", "GET", "-secondary/Tables", "", "", 200, eventual},
		{"a table with eventual", "GET", "/Tables('people')", "eventual", "", 200, eventual},
		{"a list of tables with a wrong value", "GET", "/Tables", "bounded", "", 400, nil},
		{"a table with a wrong value", "GET", "/Tables('people')", "bounded", "", 400, nil},
		{"a count with eventual", "GET", "/people/$count", "eventual", "", 200, eventual},
		{"a count with a wrong value", "GET", "/people/$count", "bounded", "", 400, nil},
		{"an insert", "POST", "/people", "eventual", `{"PartitionKey":"p","RowKey":"s"}`, 201, nil},
		{"an insert of an existing entity", "POST", "/people", "eventual", `{"PartitionKey":"p","RowKey":"s"}`, 409, nil},
		{"an upsert", "PUT", one, "eventual", `{"v":1}`, 204, nil},
		{"a write ignores a wrong value", "PUT", one, "bounded", `{"v":1}`, 204, nil},
	} {
		store.reads = nil
		s.checkConsistency(t, tt.method, tt.path, tt.body, tt.header, tt.status)
		if !slices.Equal(store.reads, tt.reads) {
			t.Errorf("%s: reads %v, want %v", tt.why, store.reads, tt.reads)
		}
	}
}

// TestStrongOnSecondary checks that a server which is a secondary refuses only reads that must be strong.
func TestStrongOnSecondary(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.Secondary = func() bool { return true }
	for header, want := range map[string]int{"": 200, "eventual": 200, "strong": 400} {
		resp := s.Serve(t.Context(), withHeader(s.request("GET", "/people()", "", nil), "X-Edgetable-Consistency", header))
		if resp.Status != want {
			t.Errorf("%q: status %d, want %d: %s", header, resp.Status, want, resp.Body)
		}
		resp.Release()
	}
}

// checkConsistency sends a request with the given consistency header. It checks the status of the response, and
// that the response to a read repeats the header.
func (s *server) checkConsistency(t *testing.T, method, path, body, header string, status int) {
	t.Helper()
	contentType := "application/json"
	if strings.HasSuffix(path, "/$batch") {
		contentType = "multipart/mixed; boundary=b"
	}
	resp := s.Serve(t.Context(), withHeader(s.request(method, path, contentType, []byte(body)), "X-Edgetable-Consistency", header))
	defer resp.Release()
	if resp.Status != status {
		t.Errorf("%s %s: status %d, want %d: %s", method, path, resp.Status, status, resp.Body)
	}
	want := header
	if method != "GET" || status != 200 {
		want = ""
	}
	if got := field(&resp, "x-edgetable-consistency"); got != want {
		t.Errorf("%s %s: the response has consistency %q, want %q", method, path, got, want)
	}
	if status == 400 && !strings.Contains(string(resp.Body), "strong or eventual") {
		t.Errorf("the error does not list the values: %s", resp.Body)
	}
}
