package dynamodb_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"edgetable/adapters/store/dynamodb"
	"edgetable/core/edm"
	"edgetable/core/key"
	"edgetable/core/protocol"
	"edgetable/core/sharedkey"
	"edgetable/core/table"
)

// TestSecondary checks the consistency of reads. A request to the secondary endpoint must
// read entities eventually consistently, at half the price. A request to the primary
// endpoint must read entities strongly consistently. Both must read the table's record
// strongly consistently.
func TestSecondary(t *testing.T) {
	t.Parallel()
	w := new(tap)
	s := open(t, dynamodb.Options{Client: newClient(w), Table: newTable(t), Buckets: 2, Lease: time.Hour})
	k, err := sharedkey.ParseKey("Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==")
	if err != nil {
		t.Fatal(err)
	}
	account := &protocol.Account{Account: sharedkey.Account{Name: "acct", Keys: [2]*sharedkey.Key{k}}}
	h := &protocol.Handler{
		Service:  table.New(s, table.Options{Now: now, Rand: func() uint64 { return 1 }}),
		Accounts: func(name string) (*protocol.Account, bool) { return account, name == "acct" },
		Now:      now,
		NewID:    func() (id [16]byte) { return id },
		MaxSkew:  sharedkey.MaxSkew,
	}
	do := func(method, host, path, body, kind string, want int) string {
		t.Helper()
		date := sharedkey.FormatDate(time.Now())
		resp := h.Serve(t.Context(), &protocol.Request{
			Method: method, Target: path, Host: host, Scheme: "https",
			Header: protocol.Header{
				"Authorization": {k.Authorization(sharedkey.SharedKeyLite, "acct", sharedkey.Request{Method: method, Path: path, XMSDate: date})},
				"X-Ms-Date":     {date}, "X-Ms-Version": {"2019-02-02"},
				"Accept": {"application/json;odata=nometadata"}, "Content-Type": {kind},
			},
			Body: strings.NewReader(body), ContentLength: int64(len(body)),
		})
		defer resp.Release()
		if resp.Status != want {
			t.Fatalf("%s %s%s: %d %s", method, host, path, resp.Status, resp.Body)
		}
		return string(resp.Body)
	}
	const json = "application/json"
	do("POST", "acct.table.example.com", "/Tables", `{"TableName":"people"}`, json, 201)
	do("POST", "acct.table.example.com", "/people", `{"PartitionKey":"p","RowKey":"r"}`, json, 201)
	for _, x := range []struct {
		host, path string
		strong     bool
	}{
		{"acct.table.example.com", "", true},
		{"acct-secondary.table.example.com", "", false},
		{"127.0.0.1", "/acct", true},
		{"127.0.0.1", "/acct-secondary", false},
	} {
		check := func(what string, want ...string) {
			t.Helper()
			var got []string
			for _, c := range w.take() {
				got = append(got, c.operation)
				if c.strong() != x.strong {
					t.Errorf("%s%s: %s reads with ConsistentRead %v, want %v", x.host, x.path, what, c.strong(), x.strong)
				}
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s%s: %s makes calls %v, want %v", x.host, x.path, what, got, want)
			}
		}
		w.take()
		do("GET", x.host, x.path+"/people(PartitionKey='p',RowKey='r')", "", json, 200)
		check("get", "GetItem")
		if body := do("GET", x.host, x.path+"/people()", "", json, 200); !strings.Contains(body, `"RowKey":"r"`) {
			t.Errorf("%s%s: the query finds %s", x.host, x.path, body)
		}
		check("query", "Query", "Query")
		part := fmt.Sprintf("--b\r\nContent-Type: application/http\r\nContent-Transfer-Encoding: binary\r\n\r\nGET https://%s%s/people(PartitionKey='p',RowKey='r') HTTP/1.1\r\nAccept: application/json\r\n\r\n\r\n--b--\r\n", x.host, x.path)
		do("POST", x.host, x.path+"/$batch", part, "multipart/mixed; boundary=b", 202)
		check("get in a batch", "GetItem")
	}
	cold := open(t, dynamodb.Options{Client: newClient(w), Table: newTable(t)})
	if _, err := cold.Get(t.Context(), people, key.Append(nil, "p", "r"), table.Eventual); err != table.ErrNoTable {
		t.Fatal(err)
	}
	if calls := w.take(); len(calls) != 1 || !calls[0].strong() {
		t.Errorf("the record of a table is read by %+v, want one strong read", calls)
	}
}

// TestSecondaryLacksChunks checks that an eventually consistent read of an entity reads
// its chunks eventually consistently too. If the replica has the entity but lacks its
// chunks, the store must read strongly consistently.
func TestSecondaryLacksChunks(t *testing.T) {
	t.Parallel()
	w := new(tap)
	s := open(t, dynamodb.Options{Client: newClient(w), Table: newTable(t), Buckets: 1, Lease: time.Hour})
	create(t, s)
	k := key.Append(nil, "p", "r")
	if _, err := s.Commit(t.Context(), people, []table.Mutation{{Key: k, Properties: large(900_000)}}); err != nil {
		t.Fatal(err)
	}
	reads := map[string]func(ctx context.Context) (edm.Properties, error){
		"get": func(ctx context.Context) (edm.Properties, error) {
			row, err := s.Get(ctx, people, k, table.Eventual)
			return row.Properties, err
		},
		"scan": func(ctx context.Context) (edm.Properties, error) {
			page, err := s.Scan(ctx, people, table.ScanRequest{Ranges: everything, Consistency: table.Eventual})
			if err != nil || len(page.Rows) != 1 {
				return nil, fmt.Errorf("%d rows, %w", len(page.Rows), err)
			}
			return page.Rows[0].Properties, nil
		},
	}
	head := map[string]string{"get": "GetItem", "scan": "Query"}
	for what, read := range reads {
		for _, lacks := range []bool{false, true} {
			w.answer = func(s sent) []byte {
				if lacks && s.operation == "BatchGetItem" && !s.strong() {
					return []byte(`{"Responses":{},"UnprocessedKeys":{}}`)
				}
				return nil
			}
			w.take()
			p, err := read(t.Context())
			if err != nil || len(p) < 900_000 {
				t.Errorf("%s: %d bytes, %v", what, len(p), err)
			}
			var got []string
			for _, c := range w.take() {
				got = append(got, fmt.Sprint(c.operation, " ", c.strong()))
			}
			want := []string{head[what] + " false", "BatchGetItem false"}
			if lacks {
				want = append(want, "GetItem true", "BatchGetItem true")
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s, the replica lacks chunks: %v: calls %v, want %v", what, lacks, got, want)
			}
		}
	}
}
