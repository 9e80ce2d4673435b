package table_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"edgetable/core/edm"
	"edgetable/core/table"
	"edgetable/testdata/memstore"
)

// newFeed returns a Service with a table that has a change feed and three commits, of one entity each. The store reads
// the time from now.
func newFeed(t *testing.T, now func() edm.Ticks, o table.Options) *table.Service {
	t.Helper()
	s := newServiceOver(t, memstore.New(now), now, o)
	if err := s.SetTableOptions(t.Context(), people, "", table.TableOptions{Changes: &table.Feed{Keep: 100}}); err != nil {
		t.Fatal(err)
	}
	for _, rk := range []string{"a", "b", "c"} {
		if _, err := s.Write(t.Context(), people, table.Operation{PartitionKey: "p", RowKey: rk, Properties: properties("A", 1)}); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// TestChangesBytes checks the byte limit of a page of a feed: the limit of the request or, without one, the limit of a
// page of a query. The cost of the call is what the page holds.
func TestChangesBytes(t *testing.T) {
	t.Parallel()
	s := newFeed(t, func() edm.Ticks { return 1000 }, table.Options{Budget: table.Budget{Bytes: 1}})
	row, err := s.Get(t.Context(), people, "p", "a", table.Strong)
	if err != nil {
		t.Fatal(err)
	}
	size := len(row.Key) + len(row.Properties)
	for _, tt := range []struct{ bytes, want int }{{0, 1}, {size, 1}, {size + 1, 2}, {1 << 20, 3}} {
		var c table.Cost
		m := s.Metered(&c)
		page, err := m.Changes(t.Context(), people, table.FeedRequest{Oldest: true, Bytes: tt.bytes})
		if err != nil || len(page.Commits) != tt.want || page.More != (tt.want < 3) {
			t.Errorf("limit %d: %d commits, more %t, %v, want %d", tt.bytes, len(page.Commits), page.More, err, tt.want)
		}
		if c.Calls != 1 || c.ScannedRows != tt.want || c.ScannedBytes != tt.want*size || c.Time != 0 {
			t.Errorf("limit %d: the cost is %+v", tt.bytes, c)
		}
	}
}

// TestFeedErrors checks that each error of a feed has its own code, and that no page comes with it.
func TestFeedErrors(t *testing.T) {
	t.Parallel()
	s := newFeed(t, func() edm.Ticks { return 1000 }, table.Options{})
	page, err := s.Changes(t.Context(), people, table.FeedRequest{})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.CreateTable(t.Context(), table.Name{Account: "acct", Table: "plain"}); err != nil {
		t.Fatal(err)
	}
	none := newServiceOver(t, sealed{memstore.New(func() edm.Ticks { return 1000 })}, func() edm.Ticks { return 1000 }, table.Options{})
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	foreign := page.Next
	foreign.History[0]++
	for _, tt := range []struct {
		why  string
		s    *table.Service
		ctx  context.Context
		name string
		from table.FeedPosition
		want string
		wait string
	}{
		{"a name that is none", s, t.Context(), "a_b", page.Next, "InvalidResourceName", "InvalidResourceName"},
		{"a table of the service's own", s, t.Context(), "$MetricsCapacityBlob", page.Next, "TableNotFound", "TableNotFound"},
		{"a store without feeds", none, t.Context(), "People", page.Next, "NotImplemented", "NotImplemented"},
		{"another history", s, t.Context(), "People", foreign, "HistoryChanged", ""},
		{"another table", s, t.Context(), "plain", page.Next, "FeedEnded", ""},
		{"a client that has left", s, cancelled, "People", page.Next, "OperationTimedOut", "OperationTimedOut"},
	} {
		n := table.Name{Account: "acct", Table: tt.name}
		got, err := tt.s.Changes(tt.ctx, n, table.FeedRequest{From: &tt.from})
		expect(t, tt.why, err, tt.want)
		if got.Next.At != nil || got.Commits != nil {
			t.Errorf("%s: got a page: %+v", tt.why, got)
		}
		if tt.wait != "" {
			expect(t, tt.why+", wait", tt.s.AwaitChanges(tt.ctx, n, tt.from), tt.wait)
		}
	}
	_, err = s.Changes(t.Context(), table.Name{Account: "acct", Table: "plain"}, table.FeedRequest{Oldest: true})
	expect(t, "a table without a feed", err, "FeedNotEnabled")
	_, err = none.Changes(t.Context(), people, table.FeedRequest{})
	if !strings.HasSuffix(err.Error(), " Change feeds are not supported by the store of this server.") {
		t.Errorf("a store without feeds: %v", err)
	}
	if err := s.AwaitChanges(t.Context(), people, table.FeedPosition{At: make([]byte, 10)}); err != nil {
		t.Errorf("wait where there are changes: %v", err)
	}
	if err := none.TrimFeeds(t.Context(), 0); err != nil {
		t.Errorf("trim without feeds: %v", err)
	}
	if err := s.TrimFeeds(cancelled, 0); !errors.Is(err, context.Canceled) {
		t.Errorf("the error of a trim: %v", err)
	}
}

// TestTrimFeeds checks which changes are removed: those whose time is over, or will be over after the given duration.
func TestTrimFeeds(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		now, ahead edm.Ticks // now is counted from the last of the three commits, of which a feed keeps each for 100 ticks
		want       int
	}{{0, 0, 3}, {97, 0, 3}, {98, 0, 2}, {100, 0, 0}, {0, 97, 3}, {0, 98, 2}, {50, 49, 1}, {50, 50, 0}} {
		instant := edm.Ticks(1000)
		s := newFeed(t, func() edm.Ticks { return instant }, table.Options{})
		page, err := s.Changes(t.Context(), people, table.FeedRequest{Oldest: true})
		if err != nil || len(page.Commits) != 3 {
			t.Fatalf("%d commits, %v", len(page.Commits), err)
		}
		instant = page.Commits[2].Ticks + tt.now
		if err := s.TrimFeeds(t.Context(), tt.ahead); err != nil {
			t.Fatal(err)
		}
		page, err = s.Changes(t.Context(), people, table.FeedRequest{Oldest: true})
		if err != nil || len(page.Commits) != tt.want {
			t.Errorf("%d later, %d ahead: %d commits, %v, want %d", tt.now, tt.ahead, len(page.Commits), err, tt.want)
		}
	}
}
