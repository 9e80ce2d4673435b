package protocol_test

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"testing"

	"edgetable/core/edm"
	"edgetable/core/protocol"
	"edgetable/core/table"
	"edgetable/core/throttle"
	"edgetable/core/wiretest"
)

// TestSummary checks the summaries of requests. Logs and metrics are made from them.
func TestSummary(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	send := func(method, target, body string, change func(*protocol.Request)) protocol.Summary {
		t.Helper()
		contentType := ""
		if body != "" {
			contentType = "application/json"
		}
		req := s.request(method, target, contentType, []byte(body))
		if change != nil {
			change(req)
		}
		resp := s.Serve(t.Context(), req)
		defer resp.Release()
		return resp.Summary
	}
	send("POST", "/Tables", `{"TableName":"people"}`, nil)
	for i := range 5 {
		send("PUT", fmt.Sprintf("/people(PartitionKey='p%d',RowKey='secret')", i), `{"Age":37}`, nil)
	}
	header := func(name string, values ...string) func(*protocol.Request) {
		return func(r *protocol.Request) { r.Header.(protocol.Header)[name] = values }
	}
	older := func(r *protocol.Request) {
		header("Authorization", "Bearer secret")(r)
		header("X-Ms-Version", "2016-05-31")(r)
	}
	for _, tt := range []struct {
		method, target string
		change         func(*protocol.Request)
		want           string
		why            string
	}{
		{"GET", "/people()", nil, "QueryEntities people 7/7 Table", "a whole table"},
		{"GET", "/people()?$filter=PartitionKey%20ge%20'p2'%20and%20not%20(37%20lt%20Age)", nil, "QueryEntities people 3/3 Range PartitionKey ge ? and not (Age gt ?)", "a range"},
		{"GET", "/people()?$filter=RowKey%20eq%20'secret'%20and%20PartitionKey%20eq%20'secret'", nil, "QueryEntities people 0/0 Point RowKey eq ? and PartitionKey eq ?", "a missing entity"},
		{"GET", "/people()?$filter=Age%20gt%2040", nil, "QueryEntities people 7/0 Table Age gt ?", "a filter that nothing passes"},
		{"GET", "/people(PartitionKey='p1',RowKey='secret')", nil, "GetEntity people 1/1", "an entity"},
		{"GET", "/people(PartitionKey='secret',RowKey='secret')", nil, "GetEntity people ResourceNotFound 0/0", "no entity"},
		{"GET", "/Tables", nil, "QueryTables 1/1", "tables"},
		{"GET", "/secret'secret()", nil, "QueryEntities InvalidResourceName 0/0 Table", "a name that no table has"},
		{"GET", "/people", header("Authorization"), "ResourceNotFound anonymous 0/0", "no credentials"},
		{"GET", "/people", header("Authorization", "SharedKey secret"), "InvalidAuthenticationInfo malformed 0/0", "an unreadable header"},
		{"GET", "/people", header("X-Ms-Date", "yesterday"), "AuthenticationFailed date 0/0", "an unreadable date"},
		{"GET", "/people", header("Authorization", "SharedKeyLite "+wiretest.Account+":c2VjcmV0"), "AuthenticationFailed signature 0/0", "a wrong signature"},
		{"GET", "/people", header("Authorization", "Bearer secret"), "AuthenticationFailed token 0/0", "a bearer token"},
		{"GET", "/people?sv=2019-02-02&tn=people&sp=r&se=2030-01-01&sig=c2VjcmV0", header("Authorization"), "AuthenticationFailed sas 0/0", "a wrong shared access signature"},
		{"GET", "/people?sv=2019-02-02&tn=people&sp=r&sp=r&se=2030-01-01&sig=c2VjcmV0", header("Authorization"), "AuthenticationFailed sas 0/0", "an unreadable shared access signature"},
		{"GET", "/people", older, "AuthenticationFailed token 0/0", "a bearer token of a version without bearer tokens"},
	} {
		got := send(tt.method, tt.target, "", tt.change)
		text := strings.Join(strings.Fields(fmt.Sprintf("%s %s %s %s %d/%d %s %s", got.Operation, got.Table, got.Code, got.Refused, got.Scanned, got.Returned, got.Plan(), got.Filter())), " ")
		if text != tt.want || got.Method != tt.method || got.Account != wiretest.Account || got.RequestID == "" {
			t.Errorf("%s: %s %s %s, want %s", tt.why, got.Method, got.Account, text, tt.want)
		}
		if got.Refused.SignIn() != (tt.change != nil) {
			t.Errorf("%s: a failed sign-in: %t", tt.why, got.Refused.SignIn())
		}
		if all := fmt.Sprintf("%+v", got.AppendLog(nil)); strings.Contains(all+text, "secret") || strings.Contains(all, "c2VjcmV0") {
			t.Errorf("%s: the summary shows data: %s %s", tt.why, all, text)
		}
	}
	if got := send("OPTIONS", "/people", "", nil).Operation; got != "Preflight" {
		t.Errorf("the operation of OPTIONS: %q", got)
	}
}

// TestSummaryOfStrangers checks two rules for clients without a key. The summary contains no text that such a client
// chose. A bearer token is not a failed sign-in while the server cannot fetch the keys of the token's issuer.
func TestSummaryOfStrangers(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	for target, want := range map[string]string{
		"/nobody/Tables":              " account",
		"/Zm9vYmFyZm9vYmFyZm9v/x":     " account",
		"/" + strings.Repeat("a", 25): " account",
		"/a%0Ab/Tables":               " account",
		"/":                           " ",
	} {
		req := s.request("GET", "/Tables", "", nil)
		req.Target, req.Source = target, netip.MustParseAddr("192.0.2.1")
		resp := s.Serve(t.Context(), req)
		if got := resp.Account + " " + string(resp.Refused); got != want || resp.Source != req.Source {
			t.Errorf("%s: %q from %v, want %q", target, got, resp.Source, want)
		}
		resp.Release()
	}
	errKeys := errors.New("the issuer's keys cannot be read")
	s.Bearer = func(context.Context, string) (protocol.Identity, error) {
		return protocol.Identity{}, table.ServerBusy.Because(errKeys)
	}
	req := s.request("GET", "/Tables", "", nil)
	req.Source = netip.MustParseAddr("127.0.0.1")
	req.Header.(protocol.Header)["Authorization"] = []string{"Bearer x"}
	if resp := s.Serve(t.Context(), req); resp.Status != 503 || resp.Refused != "" || !errors.Is(resp.Err, errKeys) {
		t.Errorf("status %d, refused %q, cause %v", resp.Status, resp.Refused, resp.Err)
	}
}

// TestSummaryOfLimits checks that the summary of a refused request names the limit that was exceeded.
func TestSummaryOfLimits(t *testing.T) {
	t.Parallel()
	now := func() edm.Ticks { return edm.TicksOf(wiretest.Start) }
	none := func() protocol.Limiter {
		b := throttle.New(throttle.Options{Rate: 1, Burst: 1, Keys: 10, Now: now})
		for _, key := range []string{wiretest.Account, wiretest.Account + "/people/p", string(make([]byte, 16))} {
			b.Take(key, 1)
		}
		return b
	}
	for want, limits := range map[protocol.Refusal]protocol.Limits{
		protocol.RefusedAccountRate:   {Account: none()},
		protocol.RefusedPartitionRate: {Partition: none()},
		protocol.RefusedFailures:      {Failures: none()},
	} {
		s := newServer(t)
		s.Limits = limits
		resp := s.Serve(t.Context(), s.request("GET", "/people(PartitionKey='p',RowKey='r')", "", nil))
		if resp.Status != 503 || resp.Refused != want || resp.Refused.SignIn() || resp.Err != nil {
			t.Errorf("status %d, refused %q, want %q; cause %v", resp.Status, resp.Refused, want, resp.Err)
		}
		resp.Release()
	}
}

// TestShown checks that the log of a hostile request contains no secret, and no text that a client without a key
// chose.
func TestShown(t *testing.T) {
	t.Parallel()
	wiretest.Hostile(t, func(h *protocol.Handler, req *protocol.Request) string {
		resp := h.Serve(t.Context(), req)
		defer resp.Release()
		return fmt.Sprint(resp.AppendLog(nil))
	})
}

// TestSignIn checks that a refusal for one of these reasons is not a failed sign-in: a full queue, full memory, a rate
// limit, a missing permission.
func TestSignIn(t *testing.T) {
	for _, r := range []protocol.Refusal{
		"", protocol.RefusedQueue, protocol.RefusedMemory, protocol.RefusedAccountRate, protocol.RefusedPartitionRate,
		protocol.RefusedFailures, protocol.RefusedPermission,
	} {
		if r.SignIn() {
			t.Errorf("%q counts as a failed sign-in", r)
		}
	}
}
