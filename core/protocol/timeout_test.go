package protocol_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"edgetable/core/edm"
	"edgetable/core/protocol"
	"edgetable/core/sharedkey"
	"edgetable/core/table"
	"edgetable/testdata/memstore"
)

// stuck is a store whose reads block until their context ends.
type stuck struct{ table.Store }

func (stuck) Get(ctx context.Context, _ table.RecordKey, _ []byte, _ table.Consistency) (table.Row, error) {
	<-ctx.Done()
	return table.Row{}, ctx.Err()
}

func (stuck) ReadRecord(ctx context.Context, _ table.RecordKey, _ table.Consistency) (table.Record, error) {
	<-ctx.Done()
	return table.Record{}, ctx.Err()
}

// TestTimeout checks that the parameter timeout limits the duration of a request with all its reads, and that
// a value above 30 seconds counts as 30 seconds.
func TestTimeout(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		query string
		want  time.Duration
	}{{"?timeout=2", 2 * time.Second}, {"?timeout=30", 30 * time.Second}, {"?timeout=3600", 30 * time.Second}} {
		synctest.Test(t, func(t *testing.T) {
			k, err := sharedkey.NewKey([]byte("key"))
			if err != nil {
				t.Fatal(err)
			}
			now := func() edm.Ticks { return edm.TicksOf(time.Now()) }
			account := &protocol.Account{Account: sharedkey.Account{Name: "acct", Keys: [2]*sharedkey.Key{k}}}
			h := &protocol.Handler{
				Service:     table.New(stuck{memstore.New(now)}, table.Options{Now: now, Rand: func() uint64 { return 1 }}),
				Accounts:    func(string) (*protocol.Account, bool) { return account, true },
				Now:         now,
				NewID:       func() (id [16]byte) { return id },
				WithTimeout: context.WithTimeout,
			}
			const path = "/acct/people(PartitionKey='p',RowKey='r')"
			date := sharedkey.FormatDate(time.Now())
			begin := time.Now()
			resp := h.Serve(t.Context(), &protocol.Request{
				Method: "GET", Target: path + tt.query, Host: "localhost", Scheme: "http",
				Header: protocol.Header{"X-Ms-Date": {date}, "Authorization": {
					k.Authorization(sharedkey.SharedKeyLite, "acct", sharedkey.Request{Method: "GET", Path: path, XMSDate: date}),
				}},
			})
			if took := time.Since(begin); resp.Status != 500 || took != tt.want || !strings.Contains(string(resp.Body), "OperationTimedOut") {
				t.Errorf("%s: %d %s after %v, want 500 after %v", tt.query, resp.Status, resp.Body, took, tt.want)
			}
		})
	}
}
