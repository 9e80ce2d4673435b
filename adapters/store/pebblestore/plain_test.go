package pebblestore_test

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"edgetable/adapters/store/pebblestore"
	"edgetable/core/commitlog"
	"edgetable/core/edm"
	"edgetable/core/key"
	"edgetable/core/table"
	"edgetable/testdata/must"
)

// written creates a table with record r, makes the usual kinds of commits, and returns digests of the
// stored records and entities.
func written(t *testing.T, r table.Record) (records, entities string) {
	t.Helper()
	now := edm.TicksOf(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))
	s := open(t, pebblestore.Options{Dir: "data", FS: vfs.NewMem(), Now: func() edm.Ticks { now += edm.TicksPerSecond; return now }, Logf: t.Logf})
	r.Key, r.Incarnation = people, table.Incarnation{1}
	_, err := s.WriteRecord(t.Context(), r)
	must.OK(t, err)
	put := func(row string, p edm.Properties) table.Mutation {
		return table.Mutation{Key: key.Append(nil, "p", row), Properties: p, Nonce: 7}
	}
	text := edm.AppendProperty(edm.AppendProperty(nil, "Text", edm.String("text")), "Ends", edm.DateTime(1<<60))
	insert := put("a", text)
	insert.Condition = table.Absent
	merge := put("a", edm.AppendProperty(nil, "N", edm.Int32(1)))
	merge.Kind = table.Merge
	for _, m := range [][]table.Mutation{
		{insert}, {merge}, {put("b", text), put("c", nil), put("d", text)},
		{{Key: key.Append(nil, "p", "c"), Kind: table.Delete, Condition: table.Present}, merge},
	} {
		_, err := s.Commit(t.Context(), people, m)
		must.OK(t, err)
	}
	sum := func(space byte) string {
		h := sha256.New()
		it, err := s.DB().NewIter(&pebble.IterOptions{LowerBound: []byte{space}, UpperBound: []byte{space + 1}})
		must.OK(t, err)
		for ok := it.First(); ok; ok = it.Next() {
			fmt.Fprintf(h, "%x=%x\n", it.Key(), it.Value())
		}
		must.OK(t, it.Close())
		return fmt.Sprintf("%x", h.Sum(nil)[:8])
	}
	return sum(1), sum(2)
}

// TestPlainTable checks that tables without options are stored as by earlier versions, which had no
// options.
func TestPlainTable(t *testing.T) {
	t.Parallel()
	const wantRecords, wantEntities = "1e0e4097ff34ef53", "3b15afc636895bc6" // digests computed with the last version that had no table options
	records, entities := written(t, table.Record{Value: []byte("value")})
	if records != wantRecords || entities != wantEntities {
		t.Errorf("records %s, entities %s, want %s and %s", records, entities, wantRecords, wantEntities)
	}
}

// TestRuleStoresNothing checks that an expiry rule does not change the stored form of entities.
func TestRuleStoresNothing(t *testing.T) {
	t.Parallel()
	_, plain := written(t, table.Record{})
	records, entities := written(t, table.Record{Traits: &table.Traits{Expiry: &table.Expiry{Property: "Ends", After: 1 << 50}}})
	if entities != plain {
		t.Errorf("entities %s with a rule, %s without one", entities, plain)
	}
	if without, _ := written(t, table.Record{}); records == without {
		t.Error("the rule is not in the record")
	}
}

// TestNewerTraits checks a table with declared options (traits) of a later version. Open must refuse the directory, and
// a store that replays the log must stop with an error.
func TestNewerTraits(t *testing.T) {
	t.Parallel()
	disk := vfs.NewCrashableMem()
	s, err := reopen(t, disk, false)
	must.OK(t, err)
	must.OK(t, create(t.Context(), s))
	r := table.Record{Key: people, Incarnation: table.Incarnation{1}, Traits: &table.Traits{Expiry: &table.Expiry{Property: "E"}}}
	stored := table.AppendRecord(nil, &r, 1)
	stored[24] = 200 // gives the first trait a kind that only a later version knows
	must.OK(t, s.DB().Set(append([]byte{1}, people.String()...), stored, pebble.Sync))
	must.OK(t, s.Close())
	if _, err := reopen(t, disk, false); !errors.Is(err, table.ErrNewerForm) {
		t.Errorf("a directory with a part of a later version: %v", err)
	}
}

// TestRuleIsFollowed checks a store that replays the log of another store. The store must apply an
// expiry rule as soon as it has replayed the commit that declared the rule.
func TestRuleIsFollowed(t *testing.T) {
	t.Parallel()
	now := edm.TicksOf(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))
	clock := func() edm.Ticks { return now }
	from := open(t, pebblestore.Options{Dir: "data", FS: vfs.NewMem(), KeepLogs: 1 << 30, Now: clock, Logf: t.Logf})
	to := open(t, pebblestore.Options{Dir: "other", FS: vfs.NewMem(), Now: clock, Logf: t.Logf})
	service := table.New(from, table.Options{Now: clock, Rand: func() uint64 { return 1 }})
	must.OK(t, create(t.Context(), from))
	ends := table.Mutation{Key: key.Append(nil, "p", "a"), Properties: edm.AppendProperty(nil, "E", edm.DateTime(now))}
	reader := from.ReadLog(0)
	follow := func(want error) {
		t.Helper()
		upTo, _, _ := from.AwaitDurable(t.Context(), time.Time{})
		list, _, _, err := reader.Next(upTo, 1<<30)
		must.OK(t, err)
		must.OK(t, to.Replay(t.Context(), commitlog.Position{Timeline: "t", Number: upTo}, list))
		if _, err := to.Get(t.Context(), people, ends.Key, table.Strong); !errors.Is(err, want) {
			t.Errorf("Get: %v, want %v", err, want)
		}
		page, err := to.Scan(t.Context(), people, table.ScanRequest{Ranges: []key.Range{{}}})
		if err != nil || (len(page.Rows) == 0) != (want != nil) {
			t.Errorf("Scan: %d rows, %v", len(page.Rows), err)
		}
	}
	_, err := from.Commit(t.Context(), people, []table.Mutation{ends})
	must.OK(t, err)
	follow(nil)
	name := table.Name(people)
	must.OK(t, service.SetTableOptions(t.Context(), name, "", table.TableOptions{Expire: &table.Expiry{Property: "E"}}))
	follow(table.ErrNoEntity)
	must.OK(t, service.SetTableOptions(t.Context(), name, "", table.TableOptions{}))
	follow(nil)
}
