package protocol_test

import (
	"context"
	"strings"
	"testing"

	"edgetable/core/protocol"
	"edgetable/core/sharedkey"
	"edgetable/core/table"
	"edgetable/core/wiretest"
)

// TestFormatOfBody checks in which format a body is read that has no Content-Type, and which texts an answer in JSON or
// in ATOM can show.
func TestFormatOfBody(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	const entity, control = `{"PartitionKey":"p","RowKey":"3"}`, `{"PartitionKey":"p","RowKey":"4","A":"\u0001"}`
	for _, tt := range []struct {
		why, version, contentType, accept, body string
		status                                  int
	}{
		{"JSON of an old client", "", "", "application/json", entity, 201},
		{"a text that XML cannot show, in JSON", "2019-02-02", "application/json", "application/json", control, 201},
		{"a text that XML cannot show, in ATOM", "2013-08-15", "application/json", "application/atom+xml", strings.Replace(control, "4", "5", 1), 400},
	} {
		req := s.request("POST", "/people", tt.contentType, []byte(tt.body))
		h := req.Header.(protocol.Header)
		h["Accept"], h["X-Ms-Version"] = []string{tt.accept}, []string{tt.version}
		if tt.contentType == "" {
			delete(h, "Content-Type")
			delete(h, "X-Ms-Version")
		}
		resp := s.Serve(t.Context(), req)
		if resp.Status != tt.status {
			t.Errorf("%s: status %d, want %d: %s", tt.why, resp.Status, tt.status, resp.Body)
		}
		resp.Release()
	}
}

// TestPreferenceOfTables checks that the header Prefer applies to a new table, and not to its access policies.
func TestPreferenceOfTables(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	for path, want := range map[string]string{"/people?comp=acl": "", "/Tables": "return-no-content"} {
		method, body := "PUT", ""
		if path == "/Tables" {
			method, body = "POST", `{"TableName":"pets"}`
		}
		req := s.request(method, path, "application/json", []byte(body))
		req.Header.(protocol.Header)["Prefer"] = []string{"return-no-content"}
		resp := s.Serve(t.Context(), req)
		if got := field(&resp, "Preference-Applied"); got != want || resp.Status != 204 {
			t.Errorf("%s: status %d, preference %q, want %q: %s", path, resp.Status, got, want, resp.Body)
		}
		resp.Release()
	}
}

// TestCountFrom checks that a count refuses a continuation token that it cannot read.
func TestCountFrom(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	if status, text := s.do(t, "GET", "/people/$count?NextPartitionKey=nonsense", "", nil); status != 400 {
		t.Errorf("%d %s", status, text)
	}
}

// TestDelegationWithoutKey checks that an account without a key lends none.
func TestDelegationWithoutKey(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.Bearer = func(context.Context, string) (protocol.Identity, error) {
		return protocol.Identity{ObjectID: "oid", TenantID: "tid"}, nil
	}
	account := &protocol.Account{Account: sharedkey.Account{Name: wiretest.Account}}
	s.Accounts = func(string) (*protocol.Account, bool) { return account, true }
	const body = `<KeyInfo><Start>2026-11-23T14:00:00Z</Start><Expiry>2026-11-24T14:00:00Z</Expiry></KeyInfo>`
	req := s.request("POST", "/?restype=service&comp=userdelegationkey", "application/xml", []byte(body))
	req.Scheme = "https"
	h := req.Header.(protocol.Header)
	h["Authorization"], h["X-Ms-Version"] = []string{"Bearer token"}, []string{"2026-02-06"}
	resp := s.Serve(t.Context(), req)
	defer resp.Release()
	if resp.Status != 403 || resp.Code != string(table.AuthorizationFailure) || !strings.Contains(string(resp.Body), "has no key") {
		t.Errorf("%d %s", resp.Status, resp.Body)
	}
}
