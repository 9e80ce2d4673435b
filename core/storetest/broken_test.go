package storetest_test

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"

	"edgetable/core/edm"
	"edgetable/core/storetest"
	"edgetable/core/table"
	"edgetable/testdata/memstore"
)

// inMemory holds the strengths (guarantees) of the reference store: all except Durable.
var inMemory = storetest.Strengths{
	Conditional: true, AtomicCommit: true, SnapshotPage: true, Linearizable: true, ExactDrop: true, TimestampsAcrossProcesses: true, Descending: true, Expiry: true, Feed: true,
}

// brokenStores lists stores with one bug each. law is the name of the test in the suite that must fail because of this
// bug.
var brokenStores = map[string]struct {
	law  string
	with func(table.Store) table.Store
}{
	"a swap that does not compare":            {"Records/CompareAndSwap", func(s table.Store) table.Store { return blindSwap{s} }},
	"a revision that is used again":           {"Records/Drop", func(s table.Store) table.Store { return sameRevision{s} }},
	"a list whose from is exclusive":          {"Records/List", func(s table.Store) table.Store { return listAfter{s} }},
	"an ETag that is not compared":            {"Entities/Conditions", func(s table.Store) table.Store { return anyETag{s} }},
	"a merge that replaces":                   {"Entities/Conditions", func(s table.Store) table.Store { return mergeReplaces{s} }},
	"a nonce that is not kept":                {"LostReplies/Writes", func(s table.Store) table.Store { return noNonce{s} }},
	"half a batch":                            {"Entities/RefusedBatches", func(s table.Store) table.Store { return halfBatch{s} }},
	"the index of another mutation":           {"Entities/RefusedBatches", func(s table.Store) table.Store { return lastIndex{s} }},
	"a row handed out twice":                  {"Entities/Ownership", func(s table.Store) table.Store { return &sharedRow{Store: s} }},
	"a context that is ignored":               {"Entities/Cancelled", func(s table.Store) table.Store { return deaf{s} }},
	"a clock as coarse as its reader":         {"Timestamps/Frozen", func(s table.Store) table.Store { return coarse{s} }},
	"a delete that overtakes an insert":       {"Timestamps/Overlaps", func(s table.Store) table.Store { return newEarlyTicks(s) }},
	"a new life without a floor":              {"Timestamps/Lives", func(s table.Store) table.Store { return &youngLives{Store: s, lives: make(map[table.RecordKey]int)} }},
	"a purge that leaves no floor":            {"Timestamps/Purged", func(s table.Store) table.Store { return &forgets{Store: s} }},
	"a slot with two holders":                 {"Timestamps/TakenOver", func(s table.Store) table.Store { return &sameSlot{Store: s} }},
	"a position behind the next row":          {"Scans/Ranges", func(s table.Store) table.Store { return skips{s} }},
	"the last row as position":                {"Scans/Ranges", func(s table.Store) table.Store { return repeats{s} }},
	"a position that is lost with a row gone": {"Scans/Paging", func(s table.Store) table.Store { return needsRow{s} }},
	"keys in the order of UTF-8":              {"Scans/Order", func(s table.Store) table.Store { return byUTF8{s} }},
	"a filter that is forgotten":              {"Scans/Filters", func(s table.Store) table.Store { return noFilter{s} }},
	"a page that ignores its budget":          {"Scans/ScanBytes", func(s table.Store) table.Store { return noBudget{s} }},
	"a page that ignores its deadline":        {"Scans/Expired", func(s table.Store) table.Store { return noBudget{s} }},
	"a page read row by row":                  {"Scans/Snapshot", func(s table.Store) table.Store { return rowByRow{s} }},
	"a batch written row by row":              {"Scans/Snapshot", func(s table.Store) table.Store { return oneByOne{s} }},
	"a scan that does not turn":               {"Order/Descending", func(s table.Store) table.Store { return oneWay{s} }},
	"a bound that keeps its row":              {"Order/Descending", func(s table.Store) table.Store { return keepsRow{s} }},
	"a bound behind the next row":             {"Order/DescendingPages", func(s table.Store) table.Store { return tooFar{s} }},
	"a latest page read from the start":       {"Order/Latest", func(s table.Store) table.Store { return fromStart{s} }},
	"a count of rows that do not pass":        {"Order/Count", func(s table.Store) table.Store { return noFilter{s} }},
	"an entity shown after its end":           {"Expiry/Absent", func(s table.Store) table.Store { return showsEnded{s} }},
	"an entity shown long after its end":      {"Expiry/Concurrent", func(s table.Store) table.Store { return showsEnded{s} }},
	"a rule lost with the policies":           {"Expiry/Restart", func(s table.Store) table.Store { return losesTraits{s} }},
	"a removal that does not compare":         {"Expiry/Rival", func(s table.Store) table.Store { return expiresAny{s} }},
	"a feed without deletes":                  {"Changes/Every", noDeletes},
	"a page that ends inside of a batch":      {"Changes/Every", cutsBatches},
	"a feed of all keys":                      {"Changes/Within", everyKey},
	"a change with the content of a later":    {"Changes/Superseded", latestEverywhere},
	"a change without what has ended":         {"Changes/Expiry", hidesEnded},
	"an idle page without a newer position":   {"Changes/Bookmarks", idleStands},
	"a gap without a word":                    {"Changes/Trimmed", silentGap},
	"a part of a batch instead of the rest":   {"Changes/Large", skipsRest},
	"a feed in another order":                 {"Changes/Concurrent", newestFirst},
	"a position of before a restore":          {"Changes/Restored", anyHistory},
	"a follower misled by a gap":              {"Changes/Random", silentGap},
	"a follower misled by a restore":          {"Changes/Random", anyHistory},
	"a follower that hears of no delete":      {"Changes/Random", noDeletes},
	"a cache that outlives its table":         {"Incarnations/TwoStores", func(s table.Store) table.Store { return &stale{Store: s} }},
	"a table emptied by its record":           {"Incarnations/RecordChanges", func(s table.Store) table.Store { return renews{s} }},
	"a table that rises again":                {"Incarnations/Again", func(s table.Store) table.Store { return &undead{Store: s} }},
	"a condition checked before the write":    {"Concurrency/Entities", func(s table.Store) table.Store { return checkThenAct{s} }},
	"a lost write that is done twice":         {"Concurrency/Entities", func(s table.Store) table.Store { return &lossy{Store: s, oneOf: 10, twice: true} }},
	"a drop in two steps":                     {"Concurrency/Tables", func(s table.Store) table.Store { return &slowDrop{Store: s} }},
}

// child is the environment variable that tells a child process for which broken store it must run the suite.
const child = "STORETEST_BROKEN"

// TestSuiteNoticesBrokenStores checks that the suite fails for each broken store, in the expected law. A test with a
// failed subtest cannot pass, so the suite runs for each store in a separate process.
func TestSuiteNoticesBrokenStores(t *testing.T) {
	if name := os.Getenv(child); name != "" {
		storetest.Run(t, func(_ testing.TB, now func() edm.Ticks) storetest.Fixture {
			s := memstore.New(now)
			p := fixtureOf(brokenStores[name].with(s))
			p.Backup = backupOf(s, brokenStores[name].with)
			return p
		})
		return
	}
	t.Parallel()
	for name, b := range brokenStores {
		t.Run(name, func(t *testing.T) {
			exe, err := os.Executable()
			if err != nil {
				t.Fatal(err)
			}
			law := "TestSuiteNoticesBrokenStores/" + b.law
			run := exec.CommandContext(t.Context(), exe, "-test.run=^"+strings.ReplaceAll(law, "/", "$/^")+"$")
			run.Env = append(os.Environ(), child+"="+name)
			out, err := run.CombinedOutput()
			if err == nil || !strings.Contains(string(out), "--- FAIL: "+law+" ") {
				t.Errorf("got %v, want a failure of %s:\n%s", err, b.law, out)
			}
		})
	}
}

// TestSuitePassesTheReference checks that the suite passes for the reference store. Its fixture can be shared,
// restarted, purged, taken over and backed up.
func TestSuitePassesTheReference(t *testing.T) {
	if os.Getenv(child) != "" {
		return
	}
	t.Parallel()
	storetest.Run(t, func(_ testing.TB, now func() edm.Ticks) storetest.Fixture {
		s := memstore.New(now)
		again := func(func() edm.Ticks) table.Store { return s }
		return storetest.Fixture{Store: s, Strengths: inMemory, Share: again, Restart: again, Purge: func() {}, TakeOver: again, Backup: backupOf(s, nil)}
	})
}

// TestSuitePassesLostReplies checks that the suite accepts each possible outcome of a write that answered ErrUnknown:
// the write was applied, is applied later, or is never applied.
func TestSuitePassesLostReplies(t *testing.T) {
	if os.Getenv(child) != "" {
		return
	}
	t.Parallel()
	weaker := inMemory
	weaker.SnapshotPage, weaker.ExactDrop = false, false
	for what, has := range map[string]storetest.Strengths{"as strong as the reference": inMemory, "weaker": weaker} {
		t.Run(what, func(t *testing.T) {
			storetest.Concurrency(t, func(_ testing.TB, now func() edm.Ticks) storetest.Fixture {
				return storetest.Fixture{Store: &lossy{Store: memstore.New(now), oneOf: 90}, Strengths: has, Lossy: true}
			})
		})
	}
}

// withoutFeeds is a store that refuses tables with a feed, as every store without feeds must do.
type withoutFeeds struct{ table.Store }

func (s withoutFeeds) WriteRecord(ctx context.Context, r table.Record) (table.Revision, error) {
	if r.Traits.Feeds() {
		return "", table.ErrUnsupported
	}
	return s.Store.WriteRecord(ctx, r)
}

// TestSuitePassesWeakerStores checks that the suite passes for stores that lack some strengths and do not declare
// these.
func TestSuitePassesWeakerStores(t *testing.T) {
	if os.Getenv(child) != "" {
		return
	}
	t.Parallel()
	noSnapshots, noExactDrop := inMemory, inMemory
	noSnapshots.SnapshotPage, noExactDrop.ExactDrop = false, false
	noSnapshots.Feed, noExactDrop.Feed = false, false // not declared, because the wrappers hide the methods of the interface Feeding
	for what, weaker := range map[string]struct {
		has  storetest.Strengths
		with func(table.Store) table.Store
	}{
		"no snapshots":    {noSnapshots, func(s table.Store) table.Store { return withoutFeeds{rowByRow{s}} }},
		"no exact drop":   {noExactDrop, func(s table.Store) table.Store { return withoutFeeds{&slowDrop{Store: s}} }},
		"plain puts only": {storetest.Strengths{}, func(s table.Store) table.Store { return plain{s} }},
	} {
		t.Run(what, func(t *testing.T) {
			storetest.Run(t, func(_ testing.TB, now func() edm.Ticks) storetest.Fixture {
				return storetest.Fixture{Store: weaker.with(memstore.New(now)), Strengths: weaker.has}
			})
		})
	}
}
