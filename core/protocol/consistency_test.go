package protocol_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"edgetable/core/edm"
	"edgetable/core/memstore"
	"edgetable/core/protocol"
	"edgetable/core/table"
	"edgetable/core/wiretest"
)

// asked records how entities are read.
type asked struct {
	table.Store
	reads []table.Consistency
}

func (s *asked) Get(ctx context.Context, name table.RecordKey, k []byte, c table.Consistency) (table.Row, error) {
	s.reads = append(s.reads, c)
	return s.Store.Get(ctx, name, k, c)
}

func (s *asked) Scan(ctx context.Context, name table.RecordKey, r table.ScanRequest) (table.Page, error) {
	s.reads = append(s.reads, r.Consistency)
	return s.Store.Scan(ctx, name, r)
}

// Reads have the consistency that they ask for, or else that of the address.
// Nothing else has any.
func TestConsistency(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	now := func() edm.Ticks { return edm.TicksOf(wiretest.Start) }
	store := &asked{Store: memstore.New(now)}
	s.Service = table.New(store, table.Options{Now: now, Rand: func() uint64 { return 1 }})
	s.answers(t, "POST", "/Tables", `{"TableName":"people"}`, "", 201)
	s.answers(t, "POST", "/people", `{"PartitionKey":"p","RowKey":"r"}`, "", 201)
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
		{"who does not ask sees the latest state", "GET", one, "", "", 200, strong},
		{"asked for", "GET", one, "eventual", "", 200, eventual},
		{"asked for, by its name", "GET", one, "strong", "", 200, strong},
		{"a query", "GET", all, "eventual", "", 200, eventual},
		{"a query that does not ask", "GET", all, "", "", 200, strong},
		{"the secondary address", "GET", "-secondary" + one, "", "", 200, eventual},
		{"there too, what is asked for counts", "GET", "-secondary" + all, "strong", "", 200, strong},
		{"anything else is a mistake", "GET", one, "Eventual", "", 400, nil},
		{"also in a query", "GET", all, "bounded", "", 400, nil},
		{"a batch's header is that of its query", "POST", "/$batch", "eventual", query(""), 202, eventual},
		{"unless that has one", "POST", "/$batch", "eventual", query("x-edgetable-consistency: strong\r\n"), 202, strong},
		{"tables are read as ever", "GET", "/Tables", "eventual", "", 200, nil},
		{"an insert", "POST", "/people", "eventual", `{"PartitionKey":"p","RowKey":"s"}`, 201, nil},
		{"an insert of what is there", "POST", "/people", "eventual", `{"PartitionKey":"p","RowKey":"s"}`, 409, nil},
		{"an upsert", "PUT", one, "eventual", `{"v":1}`, 204, nil},
		{"nobody asks a write what it means", "PUT", one, "bounded", `{"v":1}`, 204, nil},
	} {
		store.reads = nil
		s.answers(t, tt.method, tt.path, tt.body, tt.header, tt.status)
		if !slices.Equal(store.reads, tt.reads) {
			t.Errorf("%s: reads %v, want %v", tt.why, store.reads, tt.reads)
		}
	}
}

// answers sends a request with the header, checks the status, and that the
// header is repeated where it counted.
func (s *server) answers(t *testing.T, method, path, body, header string, status int) {
	t.Helper()
	contentType := "application/json"
	if strings.HasSuffix(path, "/$batch") {
		contentType = "multipart/mixed; boundary=b"
	}
	req := s.request(method, path, contentType, []byte(body))
	if header != "" {
		req.Header.(protocol.Header)["X-Edgetable-Consistency"] = []string{header}
	}
	resp := s.Serve(t.Context(), req)
	defer resp.Release()
	if resp.Status != status {
		t.Errorf("%s %s: status %d, want %d: %s", method, path, resp.Status, status, resp.Body)
	}
	want := header
	if method != "GET" || status != 200 || path == "/Tables" {
		want = ""
	}
	if got := field(&resp, "x-edgetable-consistency"); got != want {
		t.Errorf("%s %s: the answer says %q, want %q", method, path, got, want)
	}
	if status == 400 && !strings.Contains(string(resp.Body), "strong or eventual") {
		t.Errorf("the refusal says %s", resp.Body)
	}
}
