package table_test

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"testing"

	"edgetable/core/edm"
	"edgetable/core/key"
	"edgetable/core/table"
)

// showCommits returns the commits of a page as text: the number of changes in the whole commit, and for each change its
// Index, kind and RowKey. A row is shown as "=", and an instant of expiry as a number.
func showCommits(p *table.FeedPage) string {
	var list []string
	for _, c := range p.Commits {
		text := fmt.Sprintf("%s of %d:", c.At, c.All)
		if c.Dropped {
			text += " dropped"
		}
		for _, f := range c.Changes {
			_, rk := key.Decode(f.Key)
			text += fmt.Sprintf(" %d%c%s", f.Index, "PMDE"[f.Kind], rk)
			if f.Row != nil {
				text += "="
			}
			if f.ExpiredAt != 0 {
				text += fmt.Sprint(int64(f.ExpiredAt))
			}
		}
		list = append(list, text)
	}
	return strings.Join(list, "; ")
}

// newFeedBuilder returns a builder for the feed of a table whose entities were all written again.
func newFeedBuilder(r table.FeedRequest) table.FeedBuilder {
	b := table.NewFeedBuilder(&r)
	b.Read = func([]byte) (*table.Row, error) { return nil, nil }
	return b
}

// positionIn returns the function positionAfter for a commit.
func positionIn(ticks edm.Ticks) func(int) []byte {
	return func(part int) []byte { return fmt.Appendf(nil, "%d/%d", ticks, part) }
}

// puts returns a line that puts entities with the given RowKeys. Each key has three bytes, if the RowKey has one.
func puts(rows ...string) []byte {
	var l table.FeedLine
	for _, rk := range rows {
		l.Add(&table.Mutation{Key: key.Append(nil, "p", rk)}, &table.Effect{})
	}
	return l.Bytes()
}

// TestFeedLine checks that a reader gets the changes that a line contains, and an error for a damaged line. The stored
// form has not changed since earlier versions.
func TestFeedLine(t *testing.T) {
	t.Parallel()
	var l table.FeedLine
	ends := map[int]int{0: 0} // the number of changes in the first bytes of the line
	for i, m := range []table.Mutation{{Kind: table.Put}, {Kind: table.Merge}, {Kind: table.Delete}, {Kind: table.Expire}, {Kind: table.Put}} {
		m.Key = key.Append(nil, "p", []string{"a", "ab", "abc", "b", ""}[i])
		l.Add(&m, &table.Effect{ExpiredAt: 77})
		ends[len(l.Bytes())] = i + 1
	}
	line := l.Bytes()
	const want = "000003700061" + "00030162" + "02040163" + "03020162000000000000004d" + "000200" // kind, shared bytes, length, key and instant
	if got := hex.EncodeToString(line); got != want {
		t.Errorf("the stored form is %s, and was %s", got, want)
	}
	for n := range len(line) + 1 {
		b, reads := newFeedBuilder(table.FeedRequest{}), 0
		b.Read = func([]byte) (*table.Row, error) { reads++; return nil, nil }
		_, err := b.Add(9, positionIn(9), line[:n:n])
		if count, whole := ends[n]; whole != (err == nil) || whole && count > 0 && len(b.Page.Commits[0].Changes) != count {
			t.Errorf("the first %d bytes: %s, %v", n, showCommits(&b.Page), err)
		}
		if n == len(line) && reads != 3 {
			t.Errorf("three entities were put, %d read", reads)
		}
		if n == len(line) && showCommits(&b.Page) != "9/0 of 5: 1Pa 2Pab 3Dabc 4Eb77 5P" {
			t.Errorf("got %s", showCommits(&b.Page))
		}
	}
	long := newFeedBuilder(table.FeedRequest{})
	if _, err := long.Add(9, positionIn(9), puts(strings.Repeat("l", 1024), strings.Repeat("l", 1023)+"m")); err != nil || len(long.Page.Commits[0].Changes[1].Key) != 1026 {
		t.Errorf("long keys: %v", err)
	}
	huge := binary.AppendUvarint(nil, 1<<63)
	overlong := strings.Repeat("\xff", 11)
	for _, tt := range []struct {
		why, line string
		newer     bool
	}{
		{"no shared length", "\x00", false},
		{"an overlong shared length", "\x00" + overlong, false},
		{"shares more than there is", "\x00\x01\x01k", false},
		{"no length", "\x00\x00", false},
		{"an overlong length", "\x00\x00" + overlong, false},
		{"longer than the line", "\x00\x00\x02k", false},
		{"longer than any line", "\x00\x00" + string(huge), false},
		{"an instant cut off", "\x03\x00\x01k1234567", false},
		{"a kind of a later version", "\x04\x00\x01k", true},
	} {
		b := newFeedBuilder(table.FeedRequest{})
		if _, err := b.Add(8, positionIn(8), puts("a")); err != nil { // its keys have no part in the next line
			t.Fatal(err)
		}
		if full, err := b.Add(9, positionIn(9), []byte(tt.line)); err == nil || full || errors.Is(err, table.ErrNewerForm) != tt.newer {
			t.Errorf("%s: %t, %v", tt.why, full, err)
		}
	}
}

func TestFeedDropOf(t *testing.T) {
	t.Parallel()
	want := table.RecordKey{Account: "acct", Table: "people"}
	drop := table.AppendFeedDrop([]byte("-"), want)[1:]
	if got, ok := table.FeedDropOf(drop); !ok || got != want {
		t.Errorf("got %+v, %t", got, ok)
	}
	for _, line := range [][]byte{nil, {}, puts("a"), drop[:1], drop[1:], append([]byte{0x11}, drop[1:]...)} {
		if got, ok := table.FeedDropOf(line); ok {
			t.Errorf("%q drops %+v", line, got)
		}
	}
}

// TestFeedLimits checks where a page ends: after the commit that reaches a limit, or within a large commit. The next
// page continues from there.
func TestFeedLimits(t *testing.T) {
	t.Parallel()
	b := key.Append(nil, "p", "b")
	only := key.Range{Start: b, End: append(b[:len(b):len(b)], 0)}
	lines := [][]byte{1: puts("a", "b"), puts("c"), puts("a", "b", "c", "d", "e"), puts("b")}
	for _, tt := range []struct {
		why     string
		r       table.FeedRequest
		largest int
		begin   edm.Ticks // the commit with which the page begins
		part    int
		want    string
		more    bool
	}{
		{"no limit", table.FeedRequest{}, 0, 1, 0, "1/0 of 2: 1Pa 2Pb; 2/0 of 1: 1Pc; 3/0 of 5: 1Pa 2Pb 3Pc 4Pd 5Pe; 4/0 of 1: 1Pb", false},
		{"as many changes as a commit has", table.FeedRequest{Changes: 2}, 0, 1, 0, "1/0 of 2: 1Pa 2Pb", true},
		{"one more", table.FeedRequest{Changes: 3}, 0, 1, 0, "1/0 of 2: 1Pa 2Pb; 2/0 of 1: 1Pc", true},
		{"all changes", table.FeedRequest{Changes: 9}, 0, 1, 0, "1/0 of 2: 1Pa 2Pb; 2/0 of 1: 1Pc; 3/0 of 5: 1Pa 2Pb 3Pc 4Pd 5Pe; 4/0 of 1: 1Pb", true},
		{"as many bytes as a commit has", table.FeedRequest{Bytes: 6}, 0, 1, 0, "1/0 of 2: 1Pa 2Pb", true},
		{"one more byte", table.FeedRequest{Bytes: 7}, 0, 1, 0, "1/0 of 2: 1Pa 2Pb; 2/0 of 1: 1Pc", true},
		{"one entity", table.FeedRequest{Within: only}, 0, 1, 0, "1/0 of 1: 2Pb; 3/0 of 1: 2Pb; 4/0 of 1: 1Pb", false},
		{"one entity, one change", table.FeedRequest{Within: only, Changes: 1}, 0, 2, 0, "3/0 of 1: 2Pb", true},
		{"half of a large commit", table.FeedRequest{}, 6, 2, 0, "2/0 of 1: 1Pc; 3/2 of 5: 1Pa 2Pb", true},
		{"one more byte of it", table.FeedRequest{}, 7, 3, 0, "3/3 of 5: 1Pa 2Pb 3Pc", true},
		{"the next part", table.FeedRequest{}, 6, 3, 2, "3/4 of 5: 3Pc 4Pd", true},
		{"the last part", table.FeedRequest{}, 6, 3, 4, "3/0 of 5: 5Pe; 4/0 of 1: 1Pb", false},
		{"a part that ends with the commit", table.FeedRequest{}, 6, 3, 3, "3/0 of 5: 4Pd 5Pe; 4/0 of 1: 1Pb", false},
		{"a commit of the largest size", table.FeedRequest{}, 15, 3, 0, "3/0 of 5: 1Pa 2Pb 3Pc 4Pd 5Pe; 4/0 of 1: 1Pb", false},
		{"a part of a commit that was trimmed", table.FeedRequest{Changes: 1}, 0, 3, -2, "3/0 of 5: 1Pa 2Pb 3Pc 4Pd 5Pe", true},
	} {
		p := newFeedBuilder(tt.r)
		p.Largest, p.Part, p.PartOf = tt.largest, max(tt.part, -tt.part), tt.begin
		if tt.part < 0 {
			p.PartOf--
		}
		full := false
		for at := tt.begin; !full && int(at) < len(lines); at++ {
			var err error
			if full, err = p.Add(at, positionIn(at), lines[at]); err != nil {
				t.Fatal(err)
			}
		}
		if got := showCommits(&p.Page); got != tt.want || full != tt.more || p.Page.More != tt.more {
			t.Errorf("%s: got %s, full %t, more %t, want %s, %t", tt.why, got, full, p.Page.More, tt.want, tt.more)
		}
		if n := len(p.Page.Commits); string(p.Page.Next.At) != string(p.Page.Commits[n-1].At) {
			t.Errorf("%s: Next is %s", tt.why, p.Page.Next.At)
		}
	}
}

// TestFeedOfOthers checks that a page ends, and that its reader advances, even if all commits change other entities.
func TestFeedOfOthers(t *testing.T) {
	t.Parallel()
	b := newFeedBuilder(table.FeedRequest{Within: key.Range{Start: []byte("q")}})
	line, n := puts("a"), edm.Ticks(0)
	for full := false; !full; {
		n++
		var err error
		if full, err = b.Add(n, positionIn(n), line); err != nil || n > 10_000 {
			t.Fatal(n, err)
		}
	}
	if n != 10_000 || !b.Page.More || len(b.Page.Commits) > 0 || string(b.Page.Next.At) != "10000/0" {
		t.Errorf("%d commits, %+v", n, b.Page)
	}
}

// TestFeedRows checks that a change has the stored entity only if no later commit has written it, that it says whether
// the entity has expired, and that a drop ends the feed.
func TestFeedRows(t *testing.T) {
	t.Parallel()
	damaged := errors.New("damaged")
	k := key.Append(nil, "p", "a")
	rule := func(after, since, until edm.Ticks) *table.Expiry {
		return &table.Expiry{After: after, Since: since, Until: until}
	}
	feed := &table.Feed{Keep: 5}
	for _, tt := range []struct {
		why     string
		written edm.Ticks
		traits  *table.Traits
		now     edm.Ticks
		want    string
	}{
		{"the state of the commit", 9, nil, 100, "9/0 of 1: 1Pa="},
		{"written later", 10, nil, 100, "9/0 of 1: 1Pa"},
		{"removed", 0, nil, 100, "9/0 of 1: 1Pa"},
		{"no rule", 9, &table.Traits{Feed: feed}, 100, "9/0 of 1: 1Pa="},
		{"not yet expired", 9, &table.Traits{Feed: feed, Expiry: rule(20, 1, 0)}, 28, "9/0 of 1: 1Pa="},
		{"expired", 9, &table.Traits{Feed: feed, Expiry: rule(20, 1, 0)}, 29, "9/0 of 1: 1Pa=29"},
		{"expired under a withdrawn rule", 9, &table.Traits{Feed: feed, Ending: rule(20, 1, 50)}, 100, "9/0 of 1: 1Pa=29"},
		{"under both, and the later one is in force", 9, &table.Traits{Feed: feed, Expiry: rule(30, 1, 0), Ending: rule(20, 1, 50)}, 100, "9/0 of 1: 1Pa=29"},
		{"under both, and the earlier one is in force", 9, &table.Traits{Feed: feed, Expiry: rule(20, 1, 0), Ending: rule(30, 1, 50)}, 100, "9/0 of 1: 1Pa=29"},
	} {
		b := newFeedBuilder(table.FeedRequest{})
		b.Traits, b.Now = tt.traits, tt.now
		b.Read = func([]byte) (*table.Row, error) {
			if tt.written == 0 {
				return nil, nil
			}
			return &table.Row{Key: k, Timestamp: tt.written}, nil
		}
		full, err := b.Add(9, positionIn(9), puts("a"))
		if got := showCommits(&b.Page); full || err != nil || got != tt.want {
			t.Errorf("%s: got %s, %t, %v, want %s", tt.why, got, full, err, tt.want)
		}
		if want := tt.traits.Feeds(); b.Page.Retention != map[bool]edm.Ticks{true: 5}[want] {
			t.Errorf("%s: the page says that changes are retained for %d", tt.why, b.Page.Retention)
		}
		b.Read = func([]byte) (*table.Row, error) { return nil, damaged }
		if full, err := b.Add(9, positionIn(9), puts("a")); full || !errors.Is(err, damaged) {
			t.Errorf("%s: an entity that cannot be read: %t, %v", tt.why, full, err)
		}
		if full, err := b.Add(10, positionIn(10), table.AppendFeedDrop(nil, people.Key())); err != nil || !full || !strings.HasSuffix(showCommits(&b.Page), "; 10/0 of 0: dropped") || b.Page.More {
			t.Errorf("%s and dropped: %s, %t, %v", tt.why, showCommits(&b.Page), full, err)
		}
	}
}
