package main

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"edgetable/core/edm"
	"edgetable/core/table"
	"edgetable/testdata/lambda/front"
	"edgetable/testdata/memstore"
)

// paid is a store that counts its calls. On DynamoDB, these calls would cost money.
type paid struct {
	table.Store
	calls atomic.Int64
}

func (p *paid) ReadRecord(ctx context.Context, key table.RecordKey, c table.Consistency) (table.Record, error) {
	p.calls.Add(1)
	return p.Store.ReadRecord(ctx, key, c)
}

func (p *paid) ListRecords(ctx context.Context, account, from string, limit int, c table.Consistency) ([]table.Record, error) {
	p.calls.Add(1)
	return p.Store.ListRecords(ctx, account, from, limit, c)
}

func (p *paid) WriteRecord(ctx context.Context, d table.Record) (table.Revision, error) {
	p.calls.Add(1)
	return p.Store.WriteRecord(ctx, d)
}

func (p *paid) Drop(ctx context.Context, key table.RecordKey, revision table.Revision) error {
	p.calls.Add(1)
	return p.Store.Drop(ctx, key, revision)
}

func (p *paid) Get(ctx context.Context, name table.RecordKey, key []byte, c table.Consistency) (table.Row, error) {
	p.calls.Add(1)
	return p.Store.Get(ctx, name, key, c)
}

func (p *paid) Commit(ctx context.Context, name table.RecordKey, m []table.Mutation) (edm.Ticks, error) {
	p.calls.Add(1)
	return p.Store.Commit(ctx, name, m)
}

func (p *paid) Scan(ctx context.Context, name table.RecordKey, r table.ScanRequest) (table.Page, error) {
	p.calls.Add(1)
	return p.Store.Scan(ctx, name, r)
}

// TestStrangers checks that requests without a key cause only few reads that cost money. Each secret is read at
// intervals. The CORS rules of an account are also read, because browsers request them without credentials. The log
// must contain nothing that such a client has sent.
func TestStrangers(t *testing.T) {
	t.Parallel()
	store := &paid{Store: memstore.New(now)}
	var accountsRead, forwardRead int
	var log bytes.Buffer
	c := &config{
		scannedBytes: 8 << 20, metrics: "tests", refresh: time.Hour, settingsAge: time.Hour, // these durations are longer than this test
		accounts: func(context.Context) (string, error) { accountsRead++; return "acme:" + key1, nil },
		forward:  func(context.Context) (string, error) { forwardRead++; return "the secret of the proxy", nil },
	}
	h := newHandler(c, store, &worker{}, slog.New(slog.NewJSONHandler(&log, nil)))
	f := function{h.Invoke, false}
	const mark = "Mallory"
	field := func(name, value string) front.Field { return front.Field{Name: name, Value: value} }
	entity := "/" + mark + "(PartitionKey='" + mark + "',RowKey='" + mark + "')"
	const signed = "sv=2019-02-02&tn=" + mark + "&si=" + mark + "&sig=AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA%3D"
	stranger, nobody := newClient(t, f, key2), newClient(t, f, key2)
	nobody.base = "/" + strings.ToLower(mark)
	unsigned := func(r *front.Request) *front.Request {
		for i, f := range r.Header {
			if f.Name == "Authorization" {
				r.Header = append(r.Header[:i:i], r.Header[i+1:]...)
				break
			}
		}
		return r
	}
	large := `{"V":"` + strings.Repeat("v", 3<<20) + `"}`
	for what, r := range map[string]*front.Request{
		"another key":           stranger.request("GET", entity, ""),
		"another key, a query":  stranger.request("GET", "/"+mark+"()?$filter="+mark+"%20eq%201", ""),
		"another key, tables":   stranger.request("POST", "/Tables", `{"TableName":"`+mark+`"}`),
		"another key, a batch":  stranger.request("POST", "/$batch", batch(100, mark)),
		"another key, 3 MiB":    stranger.request("PUT", entity, large),
		"nobody's account":      nobody.request("GET", entity, ""),
		"unsigned":              unsigned(stranger.request("GET", entity, "")),
		"unsigned settings":     unsigned(stranger.request("GET", "/?restype=service&comp=properties", "")),
		"a policy of somebody":  unsigned(stranger.request("GET", "/"+mark+"()?"+signed, "")),
		"a token":               unsigned(stranger.request("GET", entity, "", field("authorization", "Bearer "+mark))),
		"a method of nobody's":  stranger.request(strings.ToUpper(mark), entity, ""),
		"a browser":             unsigned(stranger.request("OPTIONS", entity, "", field("Origin", "https://"+mark), field("Access-Control-Request-Method", "GET"))),
		"a browser, somewhere":  unsigned(nobody.request("OPTIONS", entity, "", field("Origin", "https://"+mark), field("Access-Control-Request-Method", "GET"))),
		"a proxy of nobody's":   stranger.request("GET", entity, "", field("X-Edgetable-Forward-Secret", mark), field("X-Forwarded-Host", mark)),
		"an empty secret":       stranger.request("GET", entity, "", field("X-Edgetable-Forward-Secret", " ")),
		"a purge in the body":   unsigned(stranger.request("POST", "/", `{"purge":true}`)),
		"a purge in the query":  unsigned(stranger.request("GET", "/?purge=true", "", field("purge", "true"))),
		"an event in the body":  unsigned(stranger.request("POST", "/", `{"httpMethod":"GET","requestContext":{"elb":{}},"path":"/"}`)),
		"a line in the request": stranger.request("GET", entity, "", field("x-ms-client-request-id", mark+`\n{"level":"ERROR"}`)),
	} {
		for range 20 {
			answer, err := f.invoke(t.Context(), front.Event(r))
			if err != nil {
				t.Fatalf("%s: %v", what, err)
			}
			resp, err := front.Answer(answer, time.Now())
			if err != nil || resp.Status < 400 || resp.Status >= 500 {
				t.Fatalf("%s: %v, status %d: %s", what, err, resp.Status, resp.Body)
			}
		}
	}
	if n := store.calls.Load(); n > 1 {
		t.Errorf("strangers make %d calls of the store", n)
	}
	if accountsRead != 1 || forwardRead != 1 {
		t.Errorf("the accounts are read %d times, the secret of the proxy %d times", accountsRead, forwardRead)
	}
	if strings.Contains(strings.ToLower(log.String()), strings.ToLower(mark)) {
		t.Errorf("what strangers send is in the log: %.2000s", log.String())
	}
}
