package admission_test

import (
	"io"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"edgetable/adapters/guard/admission"
	"edgetable/core/edm"
	"edgetable/core/protocol"
	"edgetable/core/table"
	"edgetable/core/throttle"
	"edgetable/core/wiretest"
)

// noRoom is a request body whose Read fails, because the transport has no memory for the body.
type noRoom struct{}

func (noRoom) Read([]byte) (int, error) {
	return 0, table.ServerBusy.Err()
}

// TestHeldBack checks the refusal of a client after too many failed sign-ins. The refusal must be delayed for a
// second, and must not use a slot during the delay. Failed sign-ins below the limit and the requests of other
// clients must be answered at once.
func TestHeldBack(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := wiretest.NewHandler(new(wiretest.Clock))
		h.Limits.Failures = throttle.New(throttle.Options{Rate: 1, Burst: 2, Now: func() edm.Ticks { return edm.TicksOf(wiretest.Start) }})
		l := admission.New(h, admission.Options{})
		ask := func(source string, forged bool) (status int, took time.Duration) {
			req := signed(t, "GET /devstoreaccount1/Tables HTTP/1.1\nAccept: application/json\n\n")
			req.Source = netip.MustParseAddr(source)
			if forged {
				req.Header.(protocol.Header)["Authorization"] = []string{"SharedKeyLite devstoreaccount1:AAAA"}
			}
			begin := time.Now()
			return l.Serve(t.Context(), req).Status, time.Since(begin)
		}
		for i, tt := range []struct {
			source string
			forged bool
			status int
			took   time.Duration
		}{
			{"192.0.2.1", true, 403, 0},
			{"192.0.2.1", true, 403, 0},
			{"192.0.2.1", true, 503, time.Second},
			{"192.0.2.1", false, 503, time.Second},
			{"192.0.2.2", false, 200, 0},
		} {
			if status, took := ask(tt.source, tt.forged); status != tt.status || took != tt.took {
				t.Errorf("request %d: %d after %v, want %d after %v", i, status, took, tt.status, tt.took)
			}
		}
		held := make(chan struct{})
		go func() {
			defer close(held)
			ask("192.0.2.1", true)
		}()
		synctest.Wait()
		if s := l.Stats(); s.Running != 0 {
			t.Errorf("a refusal that is held back has a slot: %+v", s)
		}
		<-held
	})
}

// TestNoRoom checks that the refusal of a body for which there is no memory is delayed, too.
func TestNoRoom(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := admission.New(wiretest.NewHandler(new(wiretest.Clock)), admission.Options{})
		for _, tt := range []struct {
			body io.Reader
			took time.Duration
		}{{strings.NewReader(tableText("people")), 0}, {noRoom{}, time.Second}} {
			begin := time.Now()
			resp := l.Serve(t.Context(), insert(t, tt.body, "people"))
			if took := time.Since(begin); took != tt.took {
				t.Errorf("%d %q after %v, want %v", resp.Status, resp.Refused, took, tt.took)
			}
		}
	})
}
