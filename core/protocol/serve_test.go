package protocol_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"edgetable/core/edm"
	"edgetable/core/protocol"
	"edgetable/core/sharedkey"
	"edgetable/core/table"
	"edgetable/core/wiretest"
	"edgetable/testdata/memstore"
)

// failing is a store that returns an error for each operation on entities.
type failing struct {
	table.Store
	err error
}

func (s failing) Get(context.Context, table.RecordKey, []byte, table.Consistency) (table.Row, error) {
	return table.Row{}, s.err
}

func (s failing) Commit(context.Context, table.RecordKey, []table.Mutation) (edm.Ticks, error) {
	return 0, s.err
}

func (s failing) Scan(context.Context, table.RecordKey, table.ScanRequest) (table.Page, error) {
	return table.Page{}, s.err
}

func field(r *protocol.Response, name string) string {
	for _, f := range r.Header {
		if f.Name == name {
			return f.Value
		}
	}
	return ""
}

// TestStoreFails checks that the answer shows the code of a store error, but that only the log shows the
// cause.
func TestStoreFails(t *testing.T) {
	t.Parallel()
	secret := errors.New("open /var/lib/secret: bit rot")
	const changeset = "--b\r\nContent-Type: multipart/mixed; boundary=c\r\n\r\n--c\r\nContent-Type: application/http\r\nContent-Transfer-Encoding: binary\r\n\r\n" +
		"PUT /devstoreaccount1/people(PartitionKey='p',RowKey='r') HTTP/1.1\r\nContent-Type: application/json\r\n\r\n{}\r\n--c--\r\n--b--\r\n"
	for _, tt := range []struct {
		err        error
		status     int
		code       table.Code
		retryAfter string
		logged     error
	}{
		{secret, 500, table.InternalError, "", secret},
		{table.ErrBusy, 503, table.ServerBusy, "1", table.ErrBusy},
		{fmt.Errorf("%w: %w", table.ErrBusy, secret), 503, table.ServerBusy, "1", secret},
		{table.ErrUnknown, 500, table.OperationTimedOut, "", table.ErrUnknown},
		{fmt.Errorf("%w: %w", table.ErrUnknown, secret), 500, table.OperationTimedOut, "", secret},
		{context.DeadlineExceeded, 500, table.OperationTimedOut, "", context.DeadlineExceeded},
		{table.ErrUnsupported, 501, table.NotImplemented, "", nil},
		{table.ErrKeyTooLong, 400, table.KeyValueTooLarge, "", nil},
	} {
		s := newServer(t)
		now := func() edm.Ticks { return edm.TicksOf(wiretest.Start) }
		s.Service = table.New(failing{memstore.New(now), tt.err}, table.Options{Now: now, Rand: func() uint64 { return 1 }})
		for _, r := range []struct{ method, path, contentType, body string }{
			{"GET", "/people(PartitionKey='p',RowKey='r')", "", ""},
			{"GET", "/people()", "", ""},
			{"PUT", "/people(PartitionKey='p',RowKey='r')", "application/json", "{}"},
			{"POST", "/$batch", "multipart/mixed; boundary=b", changeset},
		} {
			resp := s.Serve(t.Context(), s.request(r.method, r.path, r.contentType, []byte(r.body)))
			status := tt.status
			if r.path == "/$batch" && status != 500 && status != 503 {
				status = 202
				if !strings.Contains(string(resp.Body), fmt.Sprintf("HTTP/1.1 %d ", tt.status)) {
					t.Errorf("%v: %s", tt.err, resp.Body)
				}
			} else if got := field(&resp, "Retry-After"); got != tt.retryAfter {
				t.Errorf("%v: %s: Retry-After %q", tt.err, r.path, got)
			}
			if resp.Status != status || resp.Code != string(tt.code) || !strings.Contains(string(resp.Body), string(tt.code)) {
				t.Errorf("%v: %s %s: status %d, code %s: %s", tt.err, r.method, r.path, resp.Status, resp.Code, resp.Body)
			}
			if !errors.Is(resp.Err, tt.logged) || tt.logged == nil && resp.Err != nil {
				t.Errorf("%v: %s: error for the log: %v", tt.err, r.path, resp.Err)
			}
			if strings.Contains(string(resp.Body), "secret") {
				t.Errorf("the cause is in the answer: %s", resp.Body)
			}
			resp.Release()
		}
	}
}

// TestNoSignatureInAnswers checks the error for a wrong signature: it must contain neither the client's
// signature nor the correct one.
func TestNoSignatureInAnswers(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	good := s.request("GET", "/Tables", "", nil).Header.Get("Authorization")
	_, right, _ := strings.Cut(good, ":")
	wrong := strings.Repeat("A", len(right))
	req := s.request("GET", "/Tables", "", nil)
	req.Header.(protocol.Header)["Authorization"] = []string{"SharedKeyLite " + wiretest.Account + ":" + wrong}
	resp := s.Serve(t.Context(), req)
	defer resp.Release()
	if resp.Status != 403 {
		t.Fatalf("status %d", resp.Status)
	}
	answer := fmt.Sprint(resp.Header, string(resp.Body))
	for _, s := range []string{right, wrong, wiretest.AccountKey} {
		if strings.Contains(answer, s) {
			t.Errorf("found %q in %s", s, answer)
		}
	}
}

// TestBodyIsNotReadUnsigned checks that the handler does not read the body before the request is
// authenticated.
func TestBodyIsNotReadUnsigned(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	body := strings.NewReader("{}")
	req := s.request("PUT", "/people(PartitionKey='p',RowKey='r')", "application/json", nil)
	req.Body, req.ContentLength = body, 2
	delete(req.Header.(protocol.Header), "Authorization")
	resp := s.Serve(t.Context(), req)
	defer resp.Release()
	if resp.Status != 404 || body.Len() != 2 {
		t.Errorf("status %d, %d of 2 bytes left", resp.Status, body.Len())
	}
}

// TestContextEnds checks that a request ends when its client disconnects, and that the server does not report
// this as an error of its own.
func TestContextEnds(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	resp := s.Serve(ctx, s.request("GET", "/people()", "", nil))
	defer resp.Release()
	if resp.Code != string(table.OperationTimedOut) || resp.Err != nil {
		t.Errorf("code %s, %v", resp.Code, resp.Err)
	}
}

// TestMemoryIsNotShared checks that the handler reuses the memory of answers, but never for two answers at
// the same time.
func TestMemoryIsNotShared(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	var mu sync.Mutex
	var n uint64
	next := func() uint64 { mu.Lock(); defer mu.Unlock(); n++; return n }
	now := func() edm.Ticks { return edm.TicksOf(wiretest.Start) }
	s.Service = table.New(memstore.New(now), table.Options{Now: now, Rand: next})
	s.NewID = func() (id [16]byte) { copy(id[:], fmt.Sprintf("%016d", next())); return id }
	if err := s.Service.CreateTable(t.Context(), table.Name{Account: wiretest.Account, Table: "people"}); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			for i := range 50 {
				pk := fmt.Sprintf("g%d", g)
				text := strings.Repeat(fmt.Sprintf("<%d.%d>", g, i), 100+i*20)
				single := fmt.Sprintf(`{"PartitionKey":%q,"RowKey":"s%d","T":%q}`, pk, i, text)
				part := func(k string) string {
					return "--c\r\nContent-Type: application/http\r\nContent-Transfer-Encoding: binary\r\n\r\nPOST /devstoreaccount1/people HTTP/1.1\r\nContent-Type: application/json\r\n\r\n" +
						fmt.Sprintf(`{"PartitionKey":%q,"RowKey":"%s%d","T":%q}`, pk, k, i, text) + "\r\n"
				}
				batch := "--b\r\nContent-Type: multipart/mixed; boundary=c\r\n\r\n" + part("x") + part("y") + "--c--\r\n--b--\r\n"
				for _, r := range []struct {
					method, path, contentType, body string
					copies                          int
				}{
					{"POST", "/people", "application/json", single, 1},
					{"POST", "/$batch", "multipart/mixed; boundary=b", batch, 2},
					{"GET", fmt.Sprintf("/people(PartitionKey='%s',RowKey='y%d')", pk, i), "", "", 1},
					{"GET", fmt.Sprintf("/people()?$filter=PartitionKey%%20eq%%20'%s'%%20and%%20RowKey%%20eq%%20's%d'", pk, i), "", "", 1},
				} {
					resp := s.Serve(t.Context(), s.request(r.method, r.path, r.contentType, []byte(r.body)))
					if resp.Status >= 300 || bytes.Count(resp.Body, []byte(text)) != r.copies {
						t.Errorf("%s %s: status %d, the text is not in the answer %d times: %.300s", r.method, r.path, resp.Status, r.copies, resp.Body)
					}
					resp.Release()
				}
			}
		})
	}
	wg.Wait()
}

// TestAccountKeysAndSkew checks that both keys of an account are valid, and that the handler accepts any date
// if MaxSkew is 0.
func TestAccountKeysAndSkew(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	second, err := sharedkey.ParseKey("c2Vjb25kIGtleQ==")
	if err != nil {
		t.Fatal(err)
	}
	account := &protocol.Account{Account: sharedkey.Account{Name: wiretest.Account, Keys: [2]*sharedkey.Key{s.key, second}}}
	s.Accounts = func(string) (*protocol.Account, bool) { return account, true }
	for _, tt := range []struct {
		why    string
		key    *sharedkey.Key
		skew   bool
		date   string
		status int
	}{
		{"the first key", s.key, true, sharedkey.FormatDate(wiretest.Start), 200},
		{"the second key", second, true, sharedkey.FormatDate(wiretest.Start), 200},
		{"an old date", second, true, "Mon, 27 Jun 2016 15:25:14 GMT", 403},
		{"an old date that is not checked", second, false, "Mon, 27 Jun 2016 15:25:14 GMT", 200},
	} {
		s.MaxSkew = 0
		if tt.skew {
			s.MaxSkew = sharedkey.MaxSkew
		}
		path := "/" + wiretest.Account + "/Tables"
		resp := s.Serve(t.Context(), &protocol.Request{
			Method: "GET", Target: path, Host: "h", Scheme: "http",
			Header: protocol.Header{"X-Ms-Date": {tt.date}, "Authorization": {
				tt.key.Authorization(sharedkey.SharedKey, wiretest.Account, sharedkey.Request{Method: "GET", Path: path, XMSDate: tt.date}),
			}},
		})
		if resp.Status != tt.status {
			t.Errorf("%s: status %d: %s", tt.why, resp.Status, resp.Body)
		}
		resp.Release()
	}
}

func TestEchoable(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		id   string
		want bool
	}{
		{"0f1e2d3c", true}, {strings.Repeat("x", 1024), true}, {"!~", true},
		{strings.Repeat("x", 1025), false}, {"two words", false}, {"a\r\nSet-Cookie: x", false}, {"é", false}, {"\x7f", false},
	} {
		if got := protocol.Echoable(tt.id); got != tt.want {
			t.Errorf("%.20q: %t", tt.id, got)
		}
	}
}
