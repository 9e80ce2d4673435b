package changefeed_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/netip"
	"net/textproto"
	"strings"
	"testing"

	"edgetable/core/changefeed"
	"edgetable/core/protocol"
	"edgetable/core/sas"
	"edgetable/core/sharedkey"
	"edgetable/core/wiretest"
)

// server is a protocol handler on the reference store. The store has one table, which has a change feed.
type server struct {
	*protocol.Handler
	t     testing.TB
	clock wiretest.Clock
	until context.Context // the context of all requests
}

func newServer(t testing.TB) *server {
	t.Helper()
	s := &server{t: t, until: t.Context()}
	s.Handler = wiretest.NewHandler(&s.clock)
	s.Waiters = &changefeed.Waiters{Account: changefeed.MostOfAccount, All: 1000}
	s.must(201, "POST", "/Tables", `{"TableName":"people"}`)
	s.must(204, "PUT", "/people?comp=options", `{"changes":{}}`)
	return s
}

// reply is the response to a request.
type reply struct {
	status int
	header map[string]string // header values by name in lower case
	body   string
	stream io.Reader
	end    func()
}

// do sends a request. It signs the request with the account's key unless the path has a signature.
func (s *server) do(method, path, body string, header ...string) reply {
	s.t.Helper()
	text := method + " /devstoreaccount1" + path + " HTTP/1.1\nContent-Type: application/json\nAccept: application/json;odata=nometadata\n"
	for _, h := range header {
		text += h + "\n"
	}
	if strings.Contains(path, "sig=") {
		text += "Authorization: (absent)\n"
	}
	return s.send(text + "\n" + body)
}

// send sends a request in the text form of the recorded transcripts.
func (s *server) send(text string) reply {
	s.t.Helper()
	req, err := wiretest.NewRequest(text, s.clock.Now().Time())
	if err != nil {
		s.t.Fatal(err)
	}
	h := protocol.Header{}
	for _, f := range req.Header {
		h[textproto.CanonicalMIMEHeaderKey(f.Name)] = []string{f.Value}
	}
	resp := s.Serve(s.t.Context(), &protocol.Request{
		Method: req.Method, Target: req.Target, Host: req.Host, Scheme: "http", Header: h, Source: netip.MustParseAddr("127.0.0.1"),
		Body: strings.NewReader(string(req.Body)), ContentLength: int64(len(req.Body)), Stopping: s.until,
	})
	r := reply{status: resp.Status, header: map[string]string{}, body: string(resp.Body), stream: resp.Stream, end: resp.Release}
	for _, f := range resp.Header {
		r.header[strings.ToLower(f.Name)] = f.Value
	}
	if resp.Stream == nil {
		resp.Release()
	}
	return r
}

func (s *server) must(status int, method, path, body string, header ...string) reply {
	s.t.Helper()
	r := s.do(method, path, body, header...)
	if r.status != status {
		s.t.Fatalf("%s %s: status %d: %s", method, path, r.status, r.body)
	}
	return r
}

// put writes an entity.
func (s *server) put(pk, rk, v string) {
	s.t.Helper()
	s.must(204, "PUT", fmt.Sprintf("/people(PartitionKey='%s',RowKey='%s')", pk, rk), fmt.Sprintf(`{"v":"%s"}`, v))
}

func (s *server) remove(pk, rk string) {
	s.t.Helper()
	s.must(204, "DELETE", fmt.Sprintf("/people(PartitionKey='%s',RowKey='%s')", pk, rk), "", "If-Match: *")
}

// signed returns a query with a shared access signature for the table.
func (s *server) signed(v sas.TableValues) string {
	s.t.Helper()
	k, err := sharedkey.ParseKey(wiretest.AccountKey)
	if err != nil {
		s.t.Fatal(err)
	}
	if v.Table == "" {
		v.Table = "people"
	}
	if v.Expiry == "" {
		v.Expiry = "2026-03-05"
	}
	text, err := v.Sign(wiretest.Account, k)
	if err != nil {
		s.t.Fatal(err)
	}
	return "&" + text
}

// event is one event in the form in which a client parses it.
type event struct {
	SpecVersion, ID, Source, Type, Subject, Time, Sequence, PartitionKey, RowKey, Batch, Expired string
	BatchSize                                                                                    int
	Superseded                                                                                   bool
	Data                                                                                         map[string]any
}

// short returns a description of an event in a few words.
func (e *event) short() string {
	kind := strings.TrimPrefix(strings.TrimPrefix(e.Type, "edgetable."), "entity.")
	switch {
	case e.Superseded:
		return kind + e.Subject + " superseded"
	case e.Data != nil:
		return fmt.Sprintf("%s%s=%v", kind, e.Subject, e.Data["v"])
	}
	return kind + e.Subject
}

// changes sends a request for changes. It returns the events and the next position.
func (s *server) changes(query string) (list []event, next string) {
	s.t.Helper()
	r := s.must(200, "GET", "/people?comp=changes"+query, "")
	s.decode(r.body, &list)
	return list, r.header["x-edgetable-next"]
}

func (s *server) decode(text string, to any) {
	s.t.Helper()
	if err := json.Unmarshal([]byte(text), to); err != nil {
		s.t.Fatalf("%v: %s", err, text)
	}
}

func shorts(list []event) string {
	var texts []string
	for i := range list {
		texts = append(texts, list[i].short())
	}
	return strings.Join(texts, "; ")
}
