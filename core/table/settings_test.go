package table_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"edgetable/core/edm"
	"edgetable/core/odata"
	"edgetable/core/table"
	"edgetable/testdata/memstore"
)

// TestTableACL checks that deleting a table also deletes its access policies, and that setting the policies changes
// nothing else about the table.
func TestTableACL(t *testing.T) {
	t.Parallel()
	s := newService(t, table.Options{})
	ctx := t.Context()
	acl, err := s.TableACL(ctx, people)
	if err != nil || acl != nil {
		t.Fatalf("of a new table: %q, %v", acl, err)
	}
	if _, err := s.Write(ctx, people, table.Operation{Action: table.Insert, PartitionKey: "p", RowKey: "r"}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"<one/>", "<two/>", ""} {
		if err := s.SetTableACL(ctx, table.Name{Account: people.Account, Table: "PEOPLE"}, []byte(want)); err != nil {
			t.Fatal(err)
		}
		if acl, err = s.TableACL(ctx, people); err != nil || string(acl) != want {
			t.Errorf("got %q, %v, want %q", acl, err, want)
		}
	}
	if name, err := s.GetTable(ctx, people, table.Strong); err != nil || name != "People" {
		t.Errorf("the table is called %q, %v", name, err)
	}
	if _, err := s.Get(ctx, people, "p", "r", table.Strong); err != nil {
		t.Errorf("the entity: %v", err)
	}

	if err := s.SetTableACL(ctx, people, []byte("<one/>")); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(s.DeleteTable(ctx, people), s.CreateTable(ctx, people)); err != nil {
		t.Fatal(err)
	}
	if acl, err = s.TableACL(ctx, people); err != nil || acl != nil {
		t.Errorf("a table made again has the policies of its predecessor: %q, %v", acl, err)
	}
}

func TestTableACLOfNoTable(t *testing.T) {
	t.Parallel()
	s := newService(t, table.Options{})
	none := table.Name{Account: people.Account, Table: "none"}
	_, err := s.TableACL(t.Context(), none)
	expect(t, "get", err, "TableNotFound")
	expect(t, "set", s.SetTableACL(t.Context(), none, []byte("x")), "TableNotFound")
	_, err = s.GetTable(t.Context(), none, table.Strong)
	expect(t, "the table, which setting must not make", err, "ResourceNotFound")
	none.Table = "a b"
	_, err = s.TableACL(t.Context(), none)
	expect(t, "get by a name that is none", err, "InvalidResourceName")
	expect(t, "set by it", s.SetTableACL(t.Context(), none, nil), "InvalidResourceName")
	expect(t, "more than a record holds", s.SetTableACL(t.Context(), people, bytes.Repeat([]byte("x"), 64<<10)), "RequestBodyTooLarge")
}

// TestTableACLIsNotSeenByFilters checks that a filter on tables cannot test the access policies.
func TestTableACLIsNotSeenByFilters(t *testing.T) {
	t.Parallel()
	s := newService(t, table.Options{})
	if err := s.SetTableACL(t.Context(), people, []byte("<one/>")); err != nil {
		t.Fatal(err)
	}
	filter, err := table.ParseTableFilter("TableName eq 'People' and not (acl ne X'00')")
	if err != nil {
		t.Fatal(err)
	}
	page, err := s.QueryTables(t.Context(), people.Account, table.TableQuery{Filter: filter, Top: 10})
	if err != nil || len(page.Names) != 1 {
		t.Errorf("got %v, %v", page.Names, err)
	}
	if _, err := odata.Parse("'.acl' eq .acl"); err == nil {
		t.Error("a filter can name the property of the policies")
	}
}

// TestAccountSettings checks that no change is lost if several clients change the settings of an account concurrently.
func TestAccountSettings(t *testing.T) {
	t.Parallel()
	s := newService(t, table.Options{})
	ctx := t.Context()
	if got, err := s.AccountSettings(ctx, "acct"); err != nil || got != nil {
		t.Fatalf("at first: %q, %v", got, err)
	}
	var wg sync.WaitGroup
	// An update makes up to 10 attempts. An attempt fails only if another writer has just changed the settings. Each
	// writer changes them once, so an update fails at most 4 attempts, and every update succeeds.
	const writers = 5
	for i := range writers {
		wg.Go(func() {
			err := s.UpdateAccountSettings(ctx, "acct", func(old []byte) ([]byte, error) {
				return append(bytes.Clone(old), 'a'+byte(i)), nil
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	got, err := s.AccountSettings(ctx, "acct")
	if err != nil || len(got) != writers {
		t.Errorf("got %q, %v", got, err)
	}
	for i := range writers {
		if !bytes.Contains(got, []byte{'a' + byte(i)}) {
			t.Errorf("the change of writer %d is lost: %q", i, got)
		}
	}
	if got, err := s.AccountSettings(ctx, "other"); err != nil || got != nil {
		t.Errorf("another account has them too: %q, %v", got, err)
	}
	refused := errors.New("refused")
	if err := s.UpdateAccountSettings(ctx, "acct", func([]byte) ([]byte, error) { return nil, refused }); !errors.Is(err, refused) {
		t.Errorf("the error of a change: %v", err)
	}
}

// lossy is a store that loses the reply to the next write of a record. If applied is set, the write takes effect.
type lossy struct {
	table.Store
	applied, lose bool
	blind         bool // whether reads fail after the loss
}

func (s *lossy) ReadRecord(ctx context.Context, key table.RecordKey, c table.Consistency) (table.Record, error) {
	if s.blind && !s.lose {
		return table.Record{}, table.ErrBusy
	}
	return s.Store.ReadRecord(ctx, key, c)
}

func (s *lossy) Unwrap() table.Store { return s.Store }

func (s *lossy) WriteRecord(ctx context.Context, d table.Record) (table.Revision, error) {
	if !s.lose || d.Key.Table != "" && d.Revision == "" {
		return s.Store.WriteRecord(ctx, d)
	}
	s.lose = false
	if s.applied {
		if _, err := s.Store.WriteRecord(ctx, d); err != nil {
			return "", err
		}
	}
	return "", table.ErrUnknown
}

// TestSettingsAfterALostReply checks that a change whose reply was lost counts as successful if and only if it took
// effect, whatever the change is.
func TestSettingsAfterALostReply(t *testing.T) {
	t.Parallel()
	for _, applied := range []bool{true, false} {
		for _, change := range []struct {
			what string
			set  func(s *table.Service) error
		}{
			{"policies", func(s *table.Service) error { return s.SetTableACL(t.Context(), people, []byte("x")) }},
			{"options", func(s *table.Service) error {
				return s.SetTableOptions(t.Context(), people, "", table.TableOptions{Changes: &table.Feed{Keep: 5}})
			}},
			{"settings", func(s *table.Service) error {
				return s.UpdateAccountSettings(t.Context(), "acct", func([]byte) ([]byte, error) { return []byte("x"), nil })
			}},
		} {
			now := func() edm.Ticks { return 1000 }
			store := &lossy{Store: memstore.New(now), applied: applied}
			s := newServiceOver(t, store, now, table.Options{})
			store.lose = true
			want := ""
			if !applied {
				want = "OperationTimedOut"
			}
			expect(t, change.what, change.set(s), want)
		}
	}
}

// TestSettingsAfterTwoErrors checks that a removal of settings does not count as successful if its reply was lost and
// the settings cannot be read.
func TestSettingsAfterTwoErrors(t *testing.T) {
	t.Parallel()
	now := func() edm.Ticks { return 1000 }
	store := &lossy{Store: memstore.New(now)}
	s := newServiceOver(t, store, now, table.Options{})
	store.lose, store.blind = true, true
	remove := func([]byte) ([]byte, error) { return nil, nil }
	expect(t, "remove", s.UpdateAccountSettings(t.Context(), "acct", remove), "OperationTimedOut")
}

// TestSettingsSize checks that settings of 60 KiB can be stored, and no more.
func TestSettingsSize(t *testing.T) {
	t.Parallel()
	s := newService(t, table.Options{})
	for extra, want := range []string{"", "RequestBodyTooLarge"} {
		expect(t, fmt.Sprintf("%d bytes too much", extra), s.UpdateAccountSettings(t.Context(), "acct", func([]byte) ([]byte, error) {
			return make([]byte, 60<<10+extra), nil
		}), want)
	}
	if got, err := s.AccountSettings(t.Context(), "acct"); err != nil || len(got) != 60<<10 {
		t.Errorf("%d bytes, %v", len(got), err)
	}
}

// busyCatalog is a store in which another client changes a record before each of the next writes of it.
type busyCatalog struct {
	table.Store
	changes int
}

func (s *busyCatalog) WriteRecord(ctx context.Context, r table.Record) (table.Revision, error) {
	if s.changes--; s.changes >= 0 {
		return "", table.ErrRevision
	}
	return s.Store.WriteRecord(ctx, r)
}

// TestSettingsContested checks that an update is repeated while other clients change the settings, but not for ever.
func TestSettingsContested(t *testing.T) {
	t.Parallel()
	now := func() edm.Ticks { return 1000 }
	for changes, want := range map[int]string{0: "", 1: "", 9: "", 10: "ServerBusy"} {
		store := &busyCatalog{Store: memstore.New(now)}
		s := newServiceOver(t, store, now, table.Options{})
		store.changes = changes
		expect(t, fmt.Sprintf("%d changes", changes), s.SetTableACL(t.Context(), people, []byte("x")), want)
	}
}
