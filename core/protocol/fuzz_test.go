package protocol_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"io"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"edgetable/core/address"
	"edgetable/core/edm"
	"edgetable/core/multipart"
	"edgetable/core/protocol"
	"edgetable/core/sharedkey"
	"edgetable/core/table"
	"edgetable/core/wiretest"
	"edgetable/testdata/memstore"
)

// seeds reads the recorded requests of the corpus, and calls the function add with each request.
func seeds(f *testing.F, add func(*wiretest.Request)) {
	list, err := wiretest.Load()
	if err != nil {
		f.Fatal(err)
	}
	for _, transcript := range list {
		for _, e := range transcript.Exchanges {
			// NewRequest returns an error for a request that needs a header of an earlier response.
			if r, err := wiretest.NewRequest(e.Request, wiretest.Start); err == nil && len(r.Target) < 2000 && len(r.Body) < 20_000 {
				add(r)
			}
		}
	}
}

// server is a handler with one table of two entities, and the key that signs requests to it.
type server struct {
	*protocol.Handler
	key *sharedkey.Key
}

func newServer(t testing.TB) *server {
	t.Helper()
	k, err := sharedkey.ParseKey(wiretest.AccountKey)
	if err != nil {
		t.Fatal(err)
	}
	now := func() edm.Ticks { return edm.TicksOf(wiretest.Start) }
	var n uint64
	account := &protocol.Account{Account: sharedkey.Account{Name: wiretest.Account, Keys: [2]*sharedkey.Key{k}}}
	s := &server{key: k, Handler: &protocol.Handler{
		Service:  table.New(memstore.New(now), table.Options{Now: now, Rand: func() uint64 { n++; return n }}),
		Accounts: func(name string) (*protocol.Account, bool) { return account, name == account.Name },
		Now:      now, Extensions: true,
		NewID: func() (id [16]byte) { n++; id[15] = byte(n); return id },
	}}
	name := table.Name{Account: wiretest.Account, Table: "people"}
	if err := s.Service.CreateTable(t.Context(), name); err != nil {
		t.Fatal(err)
	}
	for _, rk := range []string{"1", "2"} {
		p := edm.AppendProperty(nil, "A", edm.String(rk))
		if _, err := s.Service.Write(t.Context(), name, table.Operation{PartitionKey: "p", RowKey: rk, Properties: p}); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// request returns a signed request to a path of the account.
func (s *server) request(method, path, contentType string, body []byte) *protocol.Request {
	target := "/" + wiretest.Account + path
	rawPath, query, _ := strings.Cut(target, "?")
	date := sharedkey.FormatDate(wiretest.Start)
	accept := ""
	if method == "GET" {
		accept = "*/*" // a GET without Accept would be refused
	}
	return &protocol.Request{
		Method: method, Target: target, Host: "127.0.0.1:10002", Scheme: "http",
		Header: protocol.Header{
			"X-Ms-Date": {date}, "X-Ms-Version": {"2019-02-02"}, "Accept": {accept}, "Content-Type": {contentType}, "Content-Length": {strconv.Itoa(len(body))},
			"Authorization": {s.key.Authorization(sharedkey.SharedKeyLite, wiretest.Account, sharedkey.Request{Method: method, Path: rawPath, RawQuery: query, XMSDate: date})},
		},
		Body: bytes.NewReader(body), ContentLength: int64(len(body)),
	}
}

// withHeader sets a header of a request, unless the value is empty. It returns the request.
func withHeader(r *protocol.Request, name, value string) *protocol.Request {
	if value != "" {
		r.Header.(protocol.Header)[name] = []string{value}
	}
	return r
}

// do sends a request with the current protocol version. It checks the rules that hold for every response.
func (s *server) do(t *testing.T, method, path, contentType string, body []byte) (int, string) {
	t.Helper()
	return s.doAs(t, "2019-02-02", method, path, contentType, body)
}

// doAs does the same as do, with another protocol version.
func (s *server) doAs(t *testing.T, version, method, path, contentType string, body []byte) (int, string) {
	t.Helper()
	req := s.request(method, path, contentType, body)
	req.Header.(protocol.Header)["X-Ms-Version"] = []string{version}
	resp := s.Serve(t.Context(), req)
	defer resp.Release()
	if http.StatusText(resp.Status) == "" || resp.Status == 500 || resp.Err != nil {
		t.Fatalf("%s %s: status %d, %v", method, path, resp.Status, resp.Err)
	}
	for _, h := range resp.Header {
		if strings.ContainsAny(h.Name+h.Value, "\r\n") {
			t.Fatalf("%s %s: header %q: %q", method, path, h.Name, h.Value)
		}
		if h.Name == "Content-Type" && strings.HasPrefix(h.Value, "application/json") && !json.Valid(resp.Body) {
			t.Fatalf("%s %s: no JSON: %s", method, path, resp.Body)
		}
		if h.Name == "Content-Type" && strings.Contains(h.Value, "xml") {
			if err := wellFormed(resp.Body); err != nil {
				t.Fatalf("%s %s: no XML: %v in %s", method, path, err, resp.Body)
			}
		}
	}
	return resp.Status, string(resp.Body)
}

// FuzzQuery checks that a query either fails with an error of the protocol or
// returns a page in JSON.
func FuzzQuery(f *testing.F) {
	seeds(f, func(r *wiretest.Request) {
		if _, query, ok := strings.Cut(r.Target, "?"); ok {
			f.Add(query)
		}
	})
	f.Fuzz(func(t *testing.T, query string) {
		s := newServer(t)
		for _, path := range []string{"/people()?", "/Tables?", "/people(PartitionKey='p',RowKey='1')?"} {
			s.do(t, "GET", path+query, "", nil)
		}
		if _, err := address.ParseOptions(query); err != nil && code(t, err) == table.InternalError {
			t.Fatal(err)
		}
	})
}

// FuzzRequest checks that every request gets a well-formed response of the
// protocol.
func FuzzRequest(f *testing.F) {
	seeds(f, func(r *wiretest.Request) {
		if path, ok := strings.CutPrefix(r.Target, "/"+wiretest.Account); ok {
			f.Add(r.Method, path, r.Get("Content-Type"), r.Body)
		}
	})
	f.Fuzz(func(t *testing.T, method, path, contentType string, body []byte) {
		if strings.ContainsAny(path, "\r\n") {
			return // transports refuse line ends in headers, because line ends separate the fields of the StringToSign
		}
		s := newServer(t)
		s.do(t, method, path, contentType, body)
		s.do(t, method, path, contentType, body)
		s.doAs(t, "2011-08-18", method, path, contentType, body)
	})
}

// wellFormed parses an XML document to its end and returns the first error.
func wellFormed(doc []byte) error {
	d := xml.NewDecoder(bytes.NewReader(doc))
	for {
		if _, err := d.Token(); err != nil {
			if err == io.EOF {
				return nil
			}
			return err
		}
	}
}

// statusLine matches the start of a response in a batch. It matches nothing inside a body, because no body
// contains CR LF.
var statusLine = regexp.MustCompile(`\r\n\r\nHTTP/1\.1 (\d)\d\d `)

// FuzzBatchRequest checks that a batch either succeeds or changes nothing. If it succeeds, the response has
// one part per operation. Otherwise the response is a batch with one part, or an ordinary error response.
func FuzzBatchRequest(f *testing.F) {
	seeds(f, func(r *wiretest.Request) {
		if strings.HasSuffix(r.Target, "batch") {
			f.Add(r.Get("Content-Type"), r.Body)
		}
	})
	f.Fuzz(func(t *testing.T, contentType string, body []byte) {
		s := newServer(t)
		const all = "/people()?$top=1000"
		_, before := s.do(t, "GET", all, "", nil)
		status, answer := s.do(t, "POST", "/$batch", contentType, body)
		_, after := s.do(t, "GET", all, "", nil)
		if status != 202 {
			if before != after {
				t.Fatalf("status %d, but the table changed from\n%s\nto\n%s", status, before, after)
			}
			return
		}
		if !strings.HasPrefix(answer, "--batchresponse_") || !strings.HasSuffix(answer, "--\r\n") {
			t.Fatalf("framing: %q", answer)
		}
		boundary, err := multipart.Boundary(contentType)
		if err != nil {
			t.Fatal(err)
		}
		b, err := multipart.Parse(body, boundary, table.MaxBatchOperations)
		if err != nil {
			t.Fatal(err)
		}
		parts := statusLine.FindAllStringSubmatch(answer, -1)
		switch {
		case len(parts) == 1 && parts[0][1] != "2":
			if before != after {
				t.Fatalf("%s\nbut the table changed from\n%s\nto\n%s", answer, before, after)
			}
		case len(parts) != len(b.Parts[0].Operations):
			t.Fatalf("%d operations, but %d parts: %s", len(b.Parts[0].Operations), len(parts), answer)
		default:
			for _, p := range parts {
				if p[1] != "2" {
					t.Fatalf("one part failed and others succeeded: %s", answer)
				}
			}
			if changed := before != after; !b.Parts[0].Changeset && changed {
				t.Fatalf("a query changed the table: %s", answer)
			}
		}
	})
}
