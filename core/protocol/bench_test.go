package protocol_test

import (
	"bytes"
	"context"
	"strconv"
	"strings"
	"testing"
	"time"

	"edgetable/core/edm"
	"edgetable/core/protocol"
	"edgetable/core/sharedkey"
	"edgetable/core/table"
	"edgetable/testdata/memstore"
)

// bench is a handler on the reference store with one account and one table.
type bench struct {
	handler *protocol.Handler
	key     *sharedkey.Key
	now     time.Time
}

func newBench(b *testing.B) *bench {
	b.Helper()
	k, err := sharedkey.ParseKey("Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==")
	if err != nil {
		b.Fatal(err)
	}
	var n uint64
	s := &bench{key: k, now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
	now := func() edm.Ticks { return edm.TicksOf(s.now) }
	account := &protocol.Account{Account: sharedkey.Account{Name: "bench", Keys: [2]*sharedkey.Key{k}}}
	s.handler = &protocol.Handler{
		Service:  table.New(memstore.New(now), table.Options{Now: now, Rand: func() uint64 { n++; return n }}),
		Accounts: func(name string) (*protocol.Account, bool) { return account, name == "bench" },
		Now:      now,
		NewID:    func() (id [16]byte) { n++; id[0] = byte(n); return id },
		MaxSkew:  sharedkey.MaxSkew,
	}
	s.do(b, s.request("POST", "/bench/Tables"), `{"TableName":"bench"}`, 201)
	return s
}

// request makes a signed request without a body.
func (s *bench) request(method, target string) *protocol.Request {
	path, query, _ := strings.Cut(target, "?")
	date := sharedkey.FormatDate(s.now)
	auth := s.key.Authorization(sharedkey.SharedKeyLite, "bench", sharedkey.Request{
		Method: method, Path: path, RawQuery: query, XMSDate: date,
	})
	return &protocol.Request{
		Method: method, Target: target, Host: "127.0.0.1:10002", Scheme: "http",
		Header: protocol.Header{
			"Authorization": {auth}, "X-Ms-Date": {date}, "X-Ms-Version": {"2019-02-02"},
			"Accept": {"application/json;odata=minimalmetadata"}, "Content-Type": {"application/json"},
			"Prefer": {"return-no-content"}, "If-Match": {"*"},
		},
	}
}

func (s *bench) do(b *testing.B, r *protocol.Request, body string, want int) {
	r.Body, r.ContentLength = strings.NewReader(body), int64(len(body))
	resp := s.handler.Serve(context.Background(), r)
	if resp.Status != want && !(want == 201 && resp.Status == 204) {
		b.Fatalf("%s %s: %d %s", r.Method, r.Target, resp.Status, resp.Body)
	}
	resp.Release()
}

// entity returns an entity of 1 KiB with ten properties.
func entity(row int) string {
	var s bytes.Buffer
	s.WriteString(`{"PartitionKey":"p","RowKey":"` + strconv.Itoa(row) + `"`)
	for i := range 8 {
		s.WriteString(`,"Text` + strconv.Itoa(i) + `":"` + strings.Repeat("x", 100) + `"`)
	}
	s.WriteString(`,"Age":` + strconv.Itoa(row) + `,"Big@odata.type":"Edm.Int64","Big":"1234567890123"}`)
	return s.String()
}

func BenchmarkInsert(b *testing.B) {
	s := newBench(b)
	r := s.request("POST", "/bench/bench")
	b.ReportAllocs()
	row := 0
	for b.Loop() {
		row++
		s.do(b, r, entity(row), 204)
	}
}

func BenchmarkUpdate(b *testing.B) {
	s := newBench(b)
	s.do(b, s.request("POST", "/bench/bench"), entity(1), 204)
	r := s.request("PUT", "/bench/bench(PartitionKey='p',RowKey='1')")
	body := entity(1)
	b.ReportAllocs()
	for b.Loop() {
		s.do(b, r, body, 204)
	}
}

func BenchmarkGet(b *testing.B) {
	s := newBench(b)
	s.do(b, s.request("POST", "/bench/bench"), entity(1), 204)
	r := s.request("GET", "/bench/bench(PartitionKey='p',RowKey='1')")
	b.ReportAllocs()
	for b.Loop() {
		s.do(b, r, "", 200)
	}
}

func BenchmarkQueryPage(b *testing.B) {
	s := newBench(b)
	insert := s.request("POST", "/bench/bench")
	for row := range 1000 {
		s.do(b, insert, entity(row), 204)
	}
	r := s.request("GET", "/bench/bench()?$filter=Age%20ge%200")
	b.ReportAllocs()
	for b.Loop() {
		s.do(b, r, "", 200)
	}
}
