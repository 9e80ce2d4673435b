package pebblestore_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"edgetable/core/key"
	"edgetable/core/table"
	"edgetable/testdata/must"
)

// TestFeedMakesRoom fills a small disk with the change feed of a table whose entities are deleted again. It
// checks that an early trim of the feed frees its space, and that a client that has not read the removed lines
// gets an error.
func TestFeedMakesRoom(t *testing.T) {
	t.Parallel()
	_, s, _ := openOnSmallDisk(t, 32<<20)
	createFeeding(t, s)
	from := endOfFeed(t, s)
	random := rand.New(rand.NewPCG(1, 1))
	write := func(i int) error {
		b := make([]rune, 1000)
		for j := range b {
			b[j] = rune('0' + random.IntN(75))
			if b[j] == '?' || b[j] == '\\' {
				b[j] = '_'
			}
		}
		m := table.Mutation{Key: key.Append(nil, fmt.Sprint(i), string(b)), Nonce: 1}
		if _, err := s.Commit(t.Context(), people, []table.Mutation{m}); err != nil {
			return err
		}
		m.Kind, m.Condition = table.Delete, table.Present
		_, err := s.Commit(t.Context(), people, []table.Mutation{m})
		return err
	}
	var err error
	written, early := 0, 0
	for ; err == nil; written++ {
		if err = write(written); written%100 == 0 {
			s.Measure()
		}
		if early == 0 && s.FeedsFillIt() {
			early = written
		}
	}
	if early == 0 || early > written-200 { // how much earlier depends on how far compactions are
		t.Errorf("after %d of %d entities it was known that the feed fills the disk", early, written)
	}
	if !errors.Is(err, table.ErrFull) || !s.Full() {
		t.Fatalf("after %d entities: %v, full: %t", written, err, s.Full())
	}
	must.OK(t, s.TrimFeeds(t.Context(), 1<<60))
	waitForSpace(s)
	must.OK(t, write(written))
	if _, err := s.Changes(t.Context(), people, table.FeedRequest{From: from}); !errors.Is(err, table.ErrFeedExpired) {
		t.Errorf("who has not read what was removed: %v", err)
	}
	page, err := s.Changes(t.Context(), people, table.FeedRequest{Oldest: true})
	if err != nil || len(page.Commits) == 0 || len(page.Commits) > 3 {
		t.Errorf("%d commits are left, %v", len(page.Commits), err)
	}
	must.OK(t, s.Close())
	t.Logf("%d entities filled the disk", written)
}
