package protocol_test

import (
	"context"
	"errors"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"edgetable/core/protocol"
	"edgetable/core/sharedkey"
	"edgetable/core/table"
	"edgetable/core/wiretest"
)

const changesetOfTwo = "--b\r\nContent-Type: multipart/mixed; boundary=c\r\n\r\n--c\r\nContent-Type: application/http\r\nContent-Transfer-Encoding: binary\r\n\r\n" +
	"PUT /devstoreaccount1/people(PartitionKey='b',RowKey='1') HTTP/1.1\r\nContent-Type: application/json\r\n\r\n{}\r\n--c\r\nContent-Type: application/http\r\nContent-Transfer-Encoding: binary\r\n\r\n" +
	"PUT /devstoreaccount1/people(PartitionKey='b',RowKey='2') HTTP/1.1\r\nContent-Type: application/json\r\n\r\n{}\r\n--c--\r\n--b--\r\n"

// gate records each Access and returns a fixed error.
type gate struct {
	asked []protocol.Access
	err   error
}

func (g *gate) Admit(_ context.Context, a *protocol.Access) error {
	g.asked = append(g.asked, *a)
	return g.err
}

// everyOperation has one request for each operation. If the requests are sent in the order of this list, all
// of them succeed.
var everyOperation = []struct{ operation, method, path, contentType, body string }{
	{"CreateTable", "POST", "/Tables", "application/json", `{"TableName":"animals"}`},
	{"GetTable", "GET", "/Tables('animals')", "", ""},
	{"QueryTables", "GET", "/Tables", "", ""},
	{"InsertEntity", "POST", "/people", "application/json", `{"PartitionKey":"p","RowKey":"r"}`},
	{"InsertOrReplaceEntity", "PUT", "/people(PartitionKey='p',RowKey='r')", "application/json", "{}"},
	{"InsertOrMergeEntity", "MERGE", "/people(PartitionKey='p',RowKey='r')", "application/json", "{}"},
	{"GetEntity", "GET", "/people(PartitionKey='p',RowKey='r')", "", ""},
	{"QueryEntities", "GET", "/people()", "", ""},
	{"CountEntities", "GET", "/people()/$count", "", ""},
	{"EntityGroupTransaction", "POST", "/$batch", "multipart/mixed; boundary=b", changesetOfTwo},
	{"SetTableACL", "PUT", "/people?comp=acl", "", ""},
	{"GetTableACL", "GET", "/people?comp=acl", "", ""},
	{"SetTableOptions", "PUT", "/people?comp=options", "application/json", `{"expire":{"after":"P1D"},"changes":{}}`},
	{"GetTableOptions", "GET", "/people?comp=options", "", ""},
	{"GetTableChanges", "GET", "/people?comp=changes&since=start", "", ""},
	{"SetServiceProperties", "PUT", "/?restype=service&comp=properties", "", "<StorageServiceProperties><Cors/></StorageServiceProperties>"},
	{"GetServiceProperties", "GET", "/?restype=service&comp=properties", "", ""},
	{"DeleteTable", "DELETE", "/Tables('animals')", "", ""},
}

// TestGate checks that the handler calls the gate once before each operation, with the right Access, and that
// the gate's error decides the result.
func TestGate(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	g := &gate{}
	s.Gate = g
	writes := []string{"CreateTable", "InsertEntity", "InsertOrReplaceEntity", "InsertOrMergeEntity", "EntityGroupTransaction", "SetTableACL", "SetTableOptions", "SetServiceProperties", "DeleteTable"}
	for _, tt := range everyOperation {
		for _, want := range []struct {
			err    error
			status int
			cut    bool
		}{{table.ServerBusy.Err(), 503, false}, {table.InternalError.Err(), 500, false}, {protocol.ErrCut, 0, true}, {protocol.ErrCutAfter, 0, true}, {nil, 0, false}} {
			if errors.Is(want.err, protocol.ErrCutAfter) && strings.Contains(tt.operation, "Table") {
				continue // after ErrCutAfter the operation runs, and in the last iteration it would fail: a table, for example, is created only once
			}
			if errors.Is(want.err, protocol.ErrCutAfter) && tt.operation == "InsertEntity" {
				continue
			}
			g.asked, g.err = nil, want.err
			resp := s.Serve(t.Context(), s.request(tt.method, tt.path, tt.contentType, []byte(tt.body)))
			if want.status != 0 && resp.Status != want.status || resp.Disconnect != want.cut || want.err == nil && resp.Status >= 400 {
				t.Errorf("%s, %v: status %d, cut %t: %s", tt.operation, want.err, resp.Status, resp.Disconnect, resp.Body)
			}
			if want.status == 503 && field(&resp, "Retry-After") == "" {
				t.Errorf("%s: no Retry-After", tt.operation)
			}
			resp.Release()
			if len(g.asked) != 1 || g.asked[0].Operation != tt.operation || g.asked[0].Account != wiretest.Account || resp.Operation != tt.operation {
				t.Fatalf("%s: the gate got %+v, the response has the operation %s", tt.operation, g.asked, resp.Operation)
			}
			a := g.asked[0]
			if a.Write != slices.Contains(writes, tt.operation) {
				t.Errorf("%s: Write is %t", tt.operation, a.Write)
			}
			if wantN := map[bool]int{true: 2, false: 1}[tt.operation == "EntityGroupTransaction"]; a.Entities != wantN {
				t.Errorf("%s: Entities is %d", tt.operation, a.Entities)
			}
		}
	}
}

// TestCut checks the two errors with which a gate makes the transport close the connection without a
// response. After the error ErrCut, the operation must not run. After the error ErrCutAfter, the operation
// must run.
func TestCut(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		err    error
		status int
	}{{protocol.ErrCut, 404}, {protocol.ErrCutAfter, 200}} {
		s := newServer(t)
		g := &gate{err: tt.err}
		s.Gate = g
		resp := s.Serve(t.Context(), s.request("POST", "/people", "application/json", []byte(`{"PartitionKey":"cut","RowKey":"r"}`)))
		if !resp.Disconnect || resp.Err != nil {
			t.Errorf("%v: cut %t, error for the log %v", tt.err, resp.Disconnect, resp.Err)
		}
		resp.Release()
		g.err = nil
		resp = s.Serve(t.Context(), s.request("GET", "/people(PartitionKey='cut',RowKey='r')", "", nil))
		if resp.Status != tt.status {
			t.Errorf("%v: the next read has status %d", tt.err, resp.Status)
		}
		resp.Release()
	}
}

// TestBearer checks that a bearer token permits the operations of its role and no others.
func TestBearer(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.Challenge = "Bearer authorization_uri=https://login.example/t/oauth2/authorize resource_id=https://storage.azure.com"
	s.Bearer = func(_ context.Context, token string) (protocol.Identity, error) {
		switch token {
		case "reader", "contributor":
			return protocol.Identity{ObjectID: "oid", TenantID: "tid", Contributor: token == "contributor"}, nil
		case "later":
			return protocol.Identity{}, table.ServerBusy.Err()
		}
		return protocol.Identity{}, errors.New("the token has expired")
	}
	for _, tt := range everyOperation {
		for _, token := range []string{"reader", "contributor"} {
			req := s.request(tt.method, tt.path, tt.contentType, []byte(tt.body))
			req.Header.(protocol.Header)["Authorization"] = []string{"Bearer " + token}
			req.Source = netip.MustParseAddr("127.0.0.1")
			resp := s.Serve(t.Context(), req)
			want := 0 // 0 means that any status below 300 is right
			switch tt.operation {
			case "GetTable", "QueryTables", "GetEntity", "QueryEntities", "CountEntities":
			case "GetTableACL", "SetTableACL", "GetTableOptions", "SetTableOptions":
				want = 404
			case "GetTableChanges": // the request is permitted, but this table has no feed, because SetTableOptions fails with a bearer token
				if want = 404; resp.Code != "FeedNotEnabled" {
					t.Errorf("changes for a %s: %s", token, resp.Code)
				}
			case "EntityGroupTransaction":
				if token == "reader" && !strings.Contains(string(resp.Body), "HTTP/1.1 403 ") {
					t.Errorf("a batch by a reader: %s", resp.Body)
				}
			default:
				if token == "reader" {
					want = 403
				}
			}
			if want != 0 && resp.Status != want || want == 0 && resp.Status >= 300 {
				// The reader could not create this table or entity before, so the status 404 is right.
				if !(token == "reader" && (tt.operation == "GetTable" || tt.operation == "GetEntity") && resp.Status == 404) {
					t.Errorf("%s by a %s: status %d, want %d: %s", tt.operation, token, resp.Status, want, resp.Body)
				}
			}
			resp.Release()
		}
	}
	for _, tt := range []struct {
		token  string
		source string
		status int
		code   table.Code
	}{
		{"old", "127.0.0.1", 401, table.InvalidAuthenticationInfo},
		{"09AZaz-._~+/==", "127.0.0.1", 401, table.InvalidAuthenticationInfo},
		{"@", "127.0.0.1", 400, table.InvalidAuthenticationInfo},
		{"{", "127.0.0.1", 400, table.InvalidAuthenticationInfo},
		{":", "127.0.0.1", 400, table.InvalidAuthenticationInfo},
		{"", "127.0.0.1", 400, table.InvalidAuthenticationInfo},
		{"you shall not pass", "127.0.0.1", 400, table.InvalidAuthenticationInfo}, // status 400 without a challenge (WWW-Authenticate), as from the service
		{"later", "127.0.0.1", 503, table.ServerBusy},
		{"reader", "::1", 200, ""},
		{"reader", "192.0.2.1", 401, table.InvalidAuthenticationInfo}, // refused, because a token must not be sent over plain HTTP from another host
	} {
		req := s.request("GET", "/Tables", "", nil)
		req.Source = netip.MustParseAddr(tt.source)
		req.Header.(protocol.Header)["Authorization"] = []string{"Bearer " + tt.token}
		req.Header.(protocol.Header)["X-Ms-Version"] = []string{"2020-12-06"}
		resp := s.Serve(t.Context(), req)
		if resp.Status != tt.status || resp.Code != string(tt.code) || (tt.status == 401) != (field(&resp, "WWW-Authenticate") == s.Challenge) {
			t.Errorf("token %q: status %d, %s, %v", tt.token, resp.Status, resp.Code, resp.Header)
		}
		resp.Release()
	}
}

// TestBearerAudience checks that an account with audiences accepts only tokens for one
// of them, and that an account without audiences accepts tokens only if it is the only
// account of the server.
func TestBearerAudience(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.Challenge = "Bearer authorization_uri=https://login.example/t/oauth2/authorize resource_id=everybody"
	var audiences []string // the audiences of the token
	s.Bearer = func(context.Context, string) (protocol.Identity, error) {
		return protocol.Identity{ObjectID: "oid", TenantID: "tid", Audiences: audiences, Contributor: true}, nil
	}
	for _, tt := range []struct {
		audiences   string // the audiences of the account
		shared      bool
		token       string // the audiences of the token
		ok          bool
		challengeOf string
	}{
		{"", false, "any", true, ""},
		{"", true, "any", false, "everybody"},
		{"acme", true, "acme", true, ""},
		{"acme", true, "x,acme", true, ""},
		{"acme,api://acme", true, "api://acme", true, ""},
		{"acme", true, "evil", false, "acme"},
		{"acme", false, "evil", false, "acme"},
		{"acme", true, "acme2", false, "acme"},
	} {
		account := &protocol.Account{Account: sharedkey.Account{Name: "acme"}, Shared: tt.shared}
		audiences = strings.Split(tt.token, ",")
		if tt.audiences != "" {
			account.Audiences = strings.Split(tt.audiences, ",")
		}
		s.Accounts = func(name string) (*protocol.Account, bool) { return account, name == "acme" }
		req := s.request("GET", "/Tables", "", nil)
		req.Target = "/acme/Tables"
		req.Source = netip.MustParseAddr("127.0.0.1")
		req.Header.(protocol.Header)["Authorization"] = []string{"Bearer token"}
		req.Header.(protocol.Header)["X-Ms-Version"] = []string{"2020-12-06"}
		resp := s.Serve(t.Context(), req)
		if tt.ok != (resp.Status == 200) || !tt.ok && (resp.Status != 401 || resp.Refused != protocol.RefusedToken) {
			t.Errorf("%+v: status %d, %s", tt, resp.Status, resp.Body)
		}
		if challenge := field(&resp, "WWW-Authenticate"); !tt.ok && !strings.HasSuffix(challenge, " resource_id="+tt.challengeOf) {
			t.Errorf("%+v: challenge %q", tt, challenge)
		}
		resp.Release()
	}
}

// TestRefuse checks that the response of Refuse has the form of any other
// error.
func TestRefuse(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	req := s.request("GET", "/Tables", "", nil)
	resp := s.Refuse(req, table.ServerBusy.Err())
	if resp.Status != 503 || resp.Code != "ServerBusy" || field(&resp, "Retry-After") != "1" || field(&resp, "x-ms-request-id") == "" {
		t.Errorf("got %+v", resp)
	}
}
