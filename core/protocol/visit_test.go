package protocol_test

import (
	"maps"
	"reflect"
	"testing"

	"edgetable/core/edm"
	"edgetable/core/key"
	"edgetable/core/protocol"
	"edgetable/core/wiretest"
)

// TestVisits checks what requests report to the statistics about a table: keys and sizes of entities, and the position
// and the filter of a query.
func TestVisits(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	properties := len(edm.AppendProperty(nil, "A", edm.String("1")))
	row, sent := len(key.Append(nil, "p", "1"))+properties, len("p1")+properties
	const body = `{"A":"1"}`
	batch := changeset("POST http://h/"+wiretest.Account+"/people\n\r\n"+`{"PartitionKey":"p","RowKey":"4","A":"1"}`,
		"DELETE http://h/"+wiretest.Account+"/people(PartitionKey='p',RowKey='4444')\nIf-Match: *\r\n")
	second := key.Append(nil, "p", "2")
	for _, tt := range []struct {
		why, method, path, body string
		header                  protocol.Header
		want                    protocol.Visit
	}{
		{"an entity", "GET", "/people(PartitionKey='p',RowKey='1')", "", nil, protocol.Visit{Entities: 1, Bytes: row}},
		{"a page", "GET", "/people()?$top=1", "", nil, protocol.Visit{Query: true, Next: second, ScannedBytes: row}},
		{"a filter", "GET", "/people()?$filter=A%20eq%20'1'", "", nil, protocol.Visit{Query: true, Text: "A eq '1'", ScannedBytes: 2 * row}},
		{"a count", "GET", "/people/$count?$filter=A%20eq%20'1'", "", nil, protocol.Visit{Query: true, Text: "A eq '1'", ScannedBytes: 2 * row}},
		{"a query of a tool", "GET", "/people()", "", protocol.Header{protocol.ToolHeader: {"export"}}, protocol.Visit{Query: true, Tool: true, ScannedBytes: 2 * row}},
		{"an update", "PUT", "/people(PartitionKey='p',RowKey='1')", body, protocol.Header{"If-Match": {"*"}}, protocol.Visit{Write: true, Entities: 1, Bytes: sent, Largest: sent}},
		{"a merge", "MERGE", "/people(PartitionKey='p',RowKey='1')", body, protocol.Header{"If-Match": {"*"}}, protocol.Visit{Write: true, Entities: 1, Bytes: sent, Largest: sent}},
		{"an upsert", "PUT", "/people(PartitionKey='p',RowKey='1')", body, nil, protocol.Visit{Write: true, Entities: 1, Inserts: 1, Bytes: sent, Largest: sent}},
		{"an upsert that merges", "MERGE", "/people(PartitionKey='p',RowKey='1')", body, nil, protocol.Visit{Write: true, Entities: 1, Inserts: 1, Bytes: sent, Largest: sent}},
		{"a deletion of a tool", "DELETE", "/people(PartitionKey='p',RowKey='1')", "", protocol.Header{"If-Match": {"*"}, protocol.ToolHeader: {"copy"}}, protocol.Visit{Write: true, Tool: true, Entities: 1, Bytes: len("p1"), Largest: len("p1")}},
		{"an insert", "POST", "/people", `{"PartitionKey":"p","RowKey":"1","A":"1"}`, nil, protocol.Visit{Write: true, Entities: 1, Inserts: 1, Bytes: sent, Largest: sent}},
		{"a transaction", "POST", "/$batch", batch, protocol.Header{"Content-Type": {"multipart/mixed; boundary=b"}}, protocol.Visit{Write: true, Entities: 2, Inserts: 1, Bytes: sent + len("p4444"), Largest: sent}},
	} {
		req := s.request(tt.method, tt.path, "application/json", []byte(tt.body))
		maps.Copy(req.Header.(protocol.Header), tt.header)
		resp := s.Serve(t.Context(), req)
		checkVisit(t, tt.why, &resp, tt.want)
		resp.Release()
	}
}

// checkVisit compares the Visit of a response. It completes want: the entities have the partition key p, and a query
// with a text has a filter.
func checkVisit(t *testing.T, why string, resp *protocol.Response, want protocol.Visit) {
	t.Helper()
	if resp.Visit == nil || resp.Status > 299 {
		t.Errorf("%s: status %d, %s", why, resp.Status, resp.Body)
		return
	}
	got := *resp.Visit
	if (got.Filter != nil) != (got.Text != "") {
		t.Errorf("%s: the filter is %v, and its text is %q", why, got.Filter, got.Text)
	}
	got.Filter = nil
	if !want.Query {
		want.PartitionKey, want.InPartition, want.RowKey = "p", true, "1"
	}
	if want.Entities == 2 {
		want.RowKey = "4"
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s:\n%+v, want\n%+v", why, got, want)
	}
}
