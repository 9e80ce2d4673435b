package protocol_test

import (
	"context"
	"fmt"
	"testing"

	"edgetable/core/edm"
	"edgetable/core/table"
	"edgetable/core/wiretest"
	"edgetable/testdata/memstore"
)

// restoring is a store that restores tables. It records the arguments of the last restore.
type restoring struct {
	table.Store
	table string
	to    edm.Ticks
}

func (s *restoring) Unwrap() table.Store { return s.Store }

func (s *restoring) Restore(_ context.Context, k table.RecordKey, to edm.Ticks) ([]byte, error) {
	s.table, s.to = k.Table, to
	return []byte(table.RestoreEnded), nil
}

// TestRestore checks which times a request for an earlier state of a table accepts.
func TestRestore(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	if status, text := s.do(t, "POST", "/people?comp=restore&time=undo", "", nil); status != 501 {
		t.Errorf("a store that cannot restore: %d %s", status, text)
	}
	now := func() edm.Ticks { return edm.TicksOf(wiretest.Start) }
	store := &restoring{Store: memstore.New(now)}
	s.Service = table.New(store, table.Options{Now: now, Rand: func() uint64 { return 1 }})
	at := edm.TicksOf(wiretest.Start)
	const refused = -1
	for query, want := range map[string]edm.Ticks{
		"":                     refused,
		"&time=":               refused,
		"&time=yesterday":      refused,
		"&time=Undo":           refused,
		"&time=undo":           table.UndoRestore,
		"&time=" + at.String(): at,
	} {
		store.table, store.to = "", refused
		status, text := s.do(t, "POST", "/people?comp=restore"+query, "", nil)
		if want == refused && (status != 400 || store.table != "") || want != refused && (status != 200 || store.table != "people") || store.to != want {
			t.Errorf("%q restores %q to %v, want %v: %d %s", query, store.table, store.to, want, status, text)
		}
	}
}

// TestTraffic checks that the statistics of a table come from the handler's Traffic function, if the table exists.
func TestTraffic(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	if status, text := s.do(t, "GET", "/people?comp=traffic", "", nil); status != 501 {
		t.Errorf("a store without statistics: %d %s", status, text)
	}
	var asked []string
	s.Traffic = func(account, name string) ([]byte, error) {
		asked = append(asked, account+"/"+name)
		if len(asked) > 1 {
			return nil, table.ServerBusy.Err()
		}
		return []byte(`{"parts":[]}`), nil
	}
	for i, want := range []string{`200 {"parts":[]}`, "503", "404"} {
		path := []string{"/people", "/people", "/missing"}[i] + "?comp=traffic"
		resp := s.Serve(t.Context(), s.request("GET", path, "", nil))
		got := fmt.Sprint(resp.Status)
		if resp.Status == 200 {
			got += " " + string(resp.Body)
		}
		if got != want {
			t.Errorf("request %d: %s, want %s", i, got, want)
		}
		resp.Release()
	}
	if want := wiretest.Account + "/people"; len(asked) != 2 || asked[0] != want || asked[1] != want {
		t.Errorf("asked for %v", asked)
	}
}

// TestConditionOfOptions checks which values of If-Match let a request replace the options of a table.
func TestConditionOfOptions(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	etag := func() string {
		resp := s.Serve(t.Context(), s.request("GET", "/people?comp=options", "", nil))
		defer resp.Release()
		return field(&resp, "ETag")
	}
	put := func(match, options string, want int) {
		t.Helper()
		resp := s.Serve(t.Context(), withHeader(s.request("PUT", "/people?comp=options", "application/json", []byte(options)), "If-Match", match))
		if resp.Status != want {
			t.Errorf("If-Match: %s: status %d, want %d: %s", match, resp.Status, want, resp.Body)
		}
		resp.Release()
	}
	first := etag()
	const feed = `{"changes":{}}`
	put("", feed, 204)
	put(first, "{}", 412)
	put(`""`, "{}", 412)
	put(`"other"`, "{}", 412)
	put(etag(), "{}", 204)
	put("*", feed, 204)
}

// TestCountFrom checks that a count refuses a continuation token that it cannot read.
func TestCountFrom(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	if status, text := s.do(t, "GET", "/people/$count?NextPartitionKey=nonsense", "", nil); status != 400 {
		t.Errorf("%d %s", status, text)
	}
}
