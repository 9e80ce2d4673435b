package protocol_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"edgetable/core/edm"
	"edgetable/core/protocol"
	"edgetable/core/sas"
	"edgetable/core/sharedkey"
	"edgetable/core/table"
	"edgetable/core/throttle"
	"edgetable/core/wiretest"
	"edgetable/testdata/memstore"
	"edgetable/testdata/must"
)

// unreadable is a store that cannot read records.
type unreadable struct {
	table.Store
	err error
}

func (s unreadable) ReadRecord(context.Context, table.RecordKey, table.Consistency) (table.Record, error) {
	return table.Record{}, s.err
}

// TestUnreadablePolicy checks that a token with a stored access policy is not refused as forged while the server cannot
// read the policy.
func TestUnreadablePolicy(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	query, err := sas.TableValues{Table: "people", Identifier: "readers"}.Sign(wiretest.Account, s.key)
	must.OK(t, err)
	now := func() edm.Ticks { return edm.TicksOf(wiretest.Start) }
	for _, tt := range []struct {
		err     error
		status  int
		refused protocol.Refusal
	}{
		{errors.New("bit rot"), 500, ""},
		{table.ErrBusy, 503, ""},
		{table.ErrNoRecord, 403, protocol.RefusedSAS},
	} {
		s.Service = table.New(unreadable{memstore.New(now), tt.err}, table.Options{Now: now, Rand: func() uint64 { return 1 }})
		req := s.request("GET", "/people()?"+query, "", nil)
		delete(req.Header.(protocol.Header), "Authorization")
		resp := s.Serve(t.Context(), req)
		if resp.Status != tt.status || resp.Refused != tt.refused {
			t.Errorf("%v: status %d, want %d, refused %q: %s", tt.err, resp.Status, tt.status, resp.Refused, resp.Body)
		}
		resp.Release()
	}
}

// TestOnlyHTTPS checks an account that accepts only HTTPS.
func TestOnlyHTTPS(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	account := &protocol.Account{Account: sharedkey.Account{Name: wiretest.Account, Keys: [2]*sharedkey.Key{s.key}}, HTTPS: true}
	s.Accounts = func(string) (*protocol.Account, bool) { return account, true }
	for scheme, want := range map[string]string{"http": string(table.AccountRequiresHTTPS), "https": ""} {
		req := s.request("GET", "/Tables", "", nil)
		req.Scheme = scheme
		resp := s.Serve(t.Context(), req)
		if resp.Code != want || (resp.Status == 200) != (want == "") {
			t.Errorf("%s: status %d, %s", scheme, resp.Status, resp.Body)
		}
		resp.Release()
	}
}

// TestMalformedCounts checks that credentials which cannot be read count as failed sign-ins.
func TestMalformedCounts(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.Limits.Failures = throttle.New(throttle.Options{Rate: 1, Burst: 2, Keys: 10, Now: func() edm.Ticks { return edm.TicksOf(wiretest.Start) }})
	for i, want := range []int{400, 400, 503} {
		resp := s.Serve(t.Context(), withHeader(s.request("GET", "/Tables", "", nil), "Authorization", "SharedKey secret"))
		if resp.Status != want {
			t.Errorf("request %d: status %d, want %d: %s", i, resp.Status, want, resp.Body)
		}
		resp.Release()
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
