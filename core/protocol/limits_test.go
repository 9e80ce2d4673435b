package protocol_test

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"testing"

	"edgetable/core/edm"
	"edgetable/core/protocol"
	"edgetable/core/table"
	"edgetable/core/throttle"
	"edgetable/core/wiretest"
)

// TestLimits checks the rate limits per account and per partition. A request above a limit gets 503 until the
// token bucket has tokens again.
func TestLimits(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		why    string
		limits func(now func() edm.Ticks) protocol.Limits
		want   []string // status and Retry-After of each request below, in their order
	}{
		{"none", func(func() edm.Ticks) protocol.Limits { return protocol.Limits{} }, []string{"204", "204", "204", "200", "202"}},
		{
			"an account, three at once", func(now func() edm.Ticks) protocol.Limits {
				return protocol.Limits{Account: throttle.New(throttle.Options{Rate: 1, Burst: 3, Keys: 10, Now: now})}
			}, []string{"204", "204", "204", "503 1", "503 2"},
		},
		{
			"a partition, one at once", func(now func() edm.Ticks) protocol.Limits {
				return protocol.Limits{Partition: throttle.New(throttle.Options{Rate: 1, Burst: 1, Keys: 10, Now: now})}
			}, []string{"204", "503 1", "204", "200", "503 1"},
		},
	} {
		s := newServer(t)
		now := edm.TicksOf(wiretest.Start)
		s.Limits = tt.limits(func() edm.Ticks { return now })
		for i, r := range []struct{ method, path, contentType, body string }{
			{"PUT", "/people(PartitionKey='a',RowKey='1')", "application/json", "{}"},
			{"PUT", "/people(PartitionKey='a',RowKey='2')", "application/json", "{}"},
			{"PUT", "/people(PartitionKey='b',RowKey='1')", "application/json", "{}"},
			{"GET", "/people()?$top=1", "", ""},
			{"POST", "/$batch", "multipart/mixed; boundary=b", changesetOfTwo},
		} {
			resp := s.Serve(t.Context(), s.request(r.method, r.path, r.contentType, []byte(r.body)))
			got := fmt.Sprint(resp.Status)
			if wait := field(&resp, "Retry-After"); wait != "" {
				got += " " + wait
			}
			if got != tt.want[i] || resp.Status == 503 && resp.Code != string(table.ServerBusy) {
				t.Errorf("%s: request %d: got %s (%s), want %s", tt.why, i, got, resp.Code, tt.want[i])
			}
			resp.Release()
		}
		now += 2 * edm.TicksPerSecond
		resp := s.Serve(t.Context(), s.request("PUT", "/people(PartitionKey='a',RowKey='2')", "application/json", []byte("{}")))
		if resp.Status != 204 {
			t.Errorf("%s: after two seconds: status %d", tt.why, resp.Status)
		}
		resp.Release()
	}
}

// TestFailedSignatures checks that a client address that sent too many wrong signatures is refused before its
// next signature is checked, and that other addresses are not refused.
func TestFailedSignatures(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	now := edm.TicksOf(wiretest.Start)
	s.Limits.Failures = throttle.New(throttle.Options{Rate: 1, Burst: 2, Keys: 10, Now: func() edm.Ticks { return now }})
	for i, tt := range []struct {
		source string
		wrong  bool
		after  edm.Ticks
		want   int
		why    string
	}{
		{"192.0.2.1", true, 0, 403, "the first failure"},
		{"192.0.2.1", false, 0, 200, "a success does not count"},
		{"192.0.2.1", true, 0, 403, "the second failure"},
		{"192.0.2.1", true, 0, 503, "the third failure is above the limit"},
		{"192.0.2.1", false, 0, 503, "a correct signature is refused too"},
		{"::ffff:192.0.2.1", false, 0, 503, "the same address in IPv6 notation"},
		{"192.0.2.2", false, 0, 200, "another source"},
		{"2001:db8::1", true, 0, 403, "IPv6"},
		{"2001:db8::2", true, 0, 403, "another address of the network"},
		{"2001:db8::ffff", false, 0, 503, "a third address of the network"},
		{"2001:db8:0:1::1", false, 0, 200, "another network"},
		{"192.0.2.1", false, edm.TicksPerSecond, 200, "after one second"},
	} {
		now += tt.after
		req := s.request("GET", "/Tables", "", nil)
		req.Source = netip.MustParseAddr(tt.source)
		if tt.wrong {
			req.Header.(protocol.Header)["Authorization"] = []string{"SharedKeyLite " + wiretest.Account + ":AAAA"}
		}
		resp := s.Serve(t.Context(), req)
		if resp.Status != tt.want {
			t.Errorf("%d, %s: status %d, want %d: %s", i, tt.why, resp.Status, tt.want, resp.Body)
		}
		resp.Release()
	}
}

// TestAnonymousRequests checks that requests without credentials do not count for the limit of failed sign-ins, as the
// documentation of the limit says.
func TestAnonymousRequests(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.Limits.Failures = throttle.New(throttle.Options{Rate: 1, Burst: 2, Now: s.Now})
	for range 5 {
		req := s.request("GET", "/Tables", "", nil)
		delete(req.Header.(protocol.Header), "Authorization")
		resp := s.Serve(t.Context(), req)
		if !resp.Refused.SignIn() || resp.Refused != protocol.RefusedAnonymous {
			t.Errorf("status %d, refused %q", resp.Status, resp.Refused)
		}
		resp.Release()
	}
}

// TestSuspiciousTokens checks which bearer tokens count as failed sign-ins while the identity provider cannot be
// reached: only the tokens that are probably forged.
func TestSuspiciousTokens(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		err  error
		last protocol.Refusal
	}{
		{errors.Join(table.ServerBusy.Err(), protocol.ErrSuspicious), protocol.RefusedFailures},
		{table.ServerBusy.Err(), ""},
	} {
		s := newServer(t)
		s.Limits.Failures = throttle.New(throttle.Options{Rate: 1, Burst: 3, Now: s.Now})
		s.Bearer = func(context.Context, string) (protocol.Identity, error) { return protocol.Identity{}, tt.err }
		for i := range 4 {
			req := s.request("GET", "/Tables", "", nil)
			req.Scheme, req.Header.(protocol.Header)["Authorization"] = "https", []string{"Bearer forged"}
			resp := s.Serve(t.Context(), req)
			want := protocol.Refusal("")
			if i == 3 {
				want = tt.last
			}
			if resp.Status != 503 || resp.Refused != want {
				t.Errorf("%v: token %d: %d %q, want 503 %q", tt.err, i, resp.Status, resp.Refused, want)
			}
			resp.Release()
		}
	}
}
