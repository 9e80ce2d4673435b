package protocol_test

import (
	"fmt"
	"strings"
	"testing"

	"edgetable/core/edm"
	"edgetable/core/protocol"
	"edgetable/core/table"
	"edgetable/core/wiretest"
)

// TestEscapedPage checks a page of long strings. The answer escapes the characters of the strings, so each
// character takes several characters. The answer must not be much longer than the page budget, and all pages
// together must contain every entity.
func TestEscapedPage(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ text, accept string }{
		{"\x01", "application/json;odata=nometadata"},
		{"\x01", "application/json;odata=fullmetadata"},
		{"&", "application/atom+xml"},
		{"ж", "application/json;odata=nometadata"},
	} {
		s := newServer(t)
		name := table.Name{Account: wiretest.Account, Table: "people"}
		const entities = 150
		for i := range entities {
			op := table.Operation{Action: table.Insert, PartitionKey: "q", RowKey: fmt.Sprintf("%04d", i), Properties: edm.AppendProperty(nil, "Text", edm.String(strings.Repeat(tt.text, 30_000)))}
			if _, err := s.Service.Write(t.Context(), name, op); err != nil {
				t.Fatal(err)
			}
		}
		seen, token := 0, ""
		for next := true; next; {
			r := s.request("GET", "/people()?$filter=PartitionKey%20eq%20'q'"+token, "", nil)
			header := r.Header.(protocol.Header)
			header["Accept"], header["X-Ms-Version"] = []string{tt.accept}, []string{"2014-02-14"}
			resp := s.Serve(t.Context(), r)
			if resp.Status != 200 || len(resp.Body) > s.Service.MostShown()+(1<<10) {
				t.Fatalf("%q: %d with %d bytes", tt.text, resp.Status, len(resp.Body))
			}
			for strings.Contains(string(resp.Body), fmt.Sprintf("%04d", seen)) {
				seen++
			}
			token = "&NextPartitionKey=" + field(&resp, "x-ms-continuation-NextPartitionKey") + "&NextRowKey=" + field(&resp, "x-ms-continuation-NextRowKey")
			next = field(&resp, "x-ms-continuation-NextPartitionKey") != ""
			resp.Release()
		}
		if seen != entities {
			t.Errorf("%q: %d entities", tt.text, seen)
		}
	}
}

// TestLongProjection checks queries with a long $select of properties that the entities do not have. No page
// may contain many megabytes of nulls, and all pages together must contain every entity.
func TestLongProjection(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	name := table.Name{Account: wiretest.Account, Table: "people"}
	for batch := range 10 {
		ops := make([]table.Operation, 100)
		for i := range ops {
			ops[i] = table.Operation{Action: table.Insert, PartitionKey: "q", RowKey: fmt.Sprintf("%04d", 100*batch+i)}
		}
		if _, err := s.Service.Transact(t.Context(), name, ops); err != nil {
			t.Fatal(err)
		}
	}
	long := func(letter string, names, length int) string {
		list := make([]string, names)
		for i := range list {
			list[i] = fmt.Sprintf("P%03d", i) + strings.Repeat(letter, length-4)
		}
		return strings.Join(list, ",")
	}
	for _, tt := range []struct {
		names, accept string
		pages         int
	}{
		{long("x", 255, 20), "application/json;odata=nometadata", 1},
		{long("x", 255, 120), "application/json;odata=nometadata", 4},
		{long("é", 250, 60), "application/json;odata=fullmetadata", 11},
		{long("x", 255, 120), "application/atom+xml", 5},
	} {
		rows, pages, token := 0, 0, ""
		for next := true; next; pages++ {
			r := s.request("GET", "/people()?$filter=PartitionKey%20eq%20'q'&$select="+tt.names+token, "", nil)
			header := r.Header.(protocol.Header)
			header["Accept"], header["X-Ms-Version"] = []string{tt.accept}, []string{"2014-02-14"}
			resp := s.Serve(t.Context(), r)
			if resp.Status != 200 || len(resp.Body) > 12<<20 {
				t.Fatalf("%d with %d MB", resp.Status, len(resp.Body)>>20)
			}
			rows += resp.Returned
			token = "&NextPartitionKey=" + field(&resp, "x-ms-continuation-NextPartitionKey") + "&NextRowKey=" + field(&resp, "x-ms-continuation-NextRowKey")
			next = field(&resp, "x-ms-continuation-NextPartitionKey") != ""
			resp.Release()
		}
		if rows != 1000 || pages != tt.pages {
			t.Errorf("%d rows in %d pages, want %d", rows, pages, tt.pages)
		}
	}
}
