package transfer_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"edgetable/adapters/client/remote"
	"edgetable/core/edm"
	"edgetable/core/payload"
	"edgetable/functions/edgetable/transfer"
	"edgetable/functions/edgetable/transfer/progressfile"
	"edgetable/functions/edgetable/transfer/scan"
	"edgetable/testdata/must"
)

func newCopy(t *testing.T, from, to *remote.Client) *transfer.Copy {
	t.Helper()
	dir := t.TempDir()
	return &transfer.Copy{CopyCommand: transfer.CopyCommand{Tables: []string{"People"}, Source: from.Endpoint().String(), Target: to.Endpoint().String(), Mode: "insert"}, Connections: 4,
		ProgressFile: filepath.Join(dir, "progress"), Rejects: filepath.Join(dir, "rejects"), Progress: new(scan.Progress),
		Begin: func(bool) {}, OnRestart: func(string) {}, OnReject: func(string, int, string) {}}
}

// TestCopyVerify checks that a copy has the same entities as its source, of all types, and that
// Verify finds no difference. Then it changes three entities of the copy, and Verify must find each
// change.
func TestCopyVerify(t *testing.T) {
	t.Parallel()
	from, to := newClient(t), newClient(t)
	list, lines := anyEntities(rand.New(rand.NewPCG(9, 9)), tripEntities)
	file := write(t, filepath.Join(t.TempDir(), "People.jsonl"), strings.Join(lines, "\n"))
	if _, err := newImport(t, from, file, "", "insert").Run(t.Context(), from); err != nil {
		t.Fatal(err)
	}
	totals, err := newCopy(t, from, to).Run(t.Context(), from, to)
	if err != nil || totals != (progressfile.Totals{Written: int64(len(list))}) {
		t.Fatalf("%+v, %v", totals, err)
	}
	if !slices.Equal(dump(t, from, "People"), dump(t, to, "People")) {
		t.Error("the copy differs")
	}
	verify := func() (equal int64, found []transfer.Difference) {
		t.Helper()
		equal, err := transfer.Verify(t.Context(), from, to, remote.Query{Table: "People"}, 4, new(scan.Progress), func(d transfer.Difference) { found = append(found, d) })
		must.OK(t, err)
		return equal, found
	}
	if equal, found := verify(); equal != int64(len(list)) || found != nil {
		t.Errorf("%d equal, %v", equal, found)
	}
	set := func(c *remote.Client, kind remote.Kind, k keys, p edm.Properties) {
		t.Helper()
		o := remote.Operation{Kind: kind, PartitionKey: k.partition, RowKey: k.row, Body: payload.AppendJSON(nil, k.partition, k.row, 0, p)}
		must.OK(t, c.Write(t.Context(), "People", &o))
	}
	set(to, remote.Delete, list[5], nil)
	set(to, remote.Merge, list[6], edm.AppendProperty(nil, "Other", edm.Int64(1)))
	set(to, remote.Insert, keys{"p", "\uffee"}, nil)
	equal, found := verify()
	slices.SortFunc(found, func(a, b transfer.Difference) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
	want := []transfer.Difference{{list[5].partition, list[5].row, true, false}, {list[6].partition, list[6].row, true, true}, {"p", "\uffee", false, true}}
	slices.SortFunc(want, func(a, b transfer.Difference) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
	if equal != int64(len(list)-2) || !slices.Equal(found, want) {
		t.Errorf("%d equal, %v\nwant %v", equal, found, want)
	}
	totals, err = newCopy(t, from, to).Run(t.Context(), from, to)
	if err != nil || totals != (progressfile.Totals{Written: 1, Same: int64(len(list) - 2), Rejected: 1}) {
		t.Errorf("%+v, %v", totals, err)
	}
}

// TestSync checks that a sync writes only the entities that differ, and deletes only the entities
// that the source lacks. It also checks that a dry run changes nothing.
func TestSync(t *testing.T) {
	t.Parallel()
	from, to := newClient(t), newClient(t)
	list := numbered(syncRows)
	fill(t, from, "People", list, func(i int) edm.Properties { return edm.AppendProperty(nil, "N", edm.Int32(int32(i))) })
	run := func(change func(o *transfer.Copy)) progressfile.Totals {
		t.Helper()
		o := newCopy(t, from, to)
		o.Sync, o.Mode = true, "replace"
		change(o)
		totals, err := o.Run(t.Context(), from, to)
		must.OK(t, err)
		return totals
	}
	must.OK(t, to.DeleteTable(t.Context(), "People"))
	if got := run(func(o *transfer.Copy) { o.DryRun = true }); got != (progressfile.Totals{Written: int64(syncRows)}) {
		t.Errorf("without a table, dry: %+v", got)
	}
	if names, err := to.Tables(t.Context()); err != nil || names != nil {
		t.Errorf("a dry run made %q, %v", names, err)
	}
	if got := run(func(*transfer.Copy) {}); got != (progressfile.Totals{Written: int64(syncRows)}) {
		t.Errorf("without a table: %+v", got)
	}
	var extra []keys
	for i := range syncRows / 6 {
		extra = append(extra, keys{"p0001", fmt.Sprint("s", i)}, keys{"q", fmt.Sprint("s", i)})
	}
	slices.SortFunc(extra, keys.compare)
	fill(t, to, "People", extra, nothing)
	for _, i := range []int{0, 700, syncRows - 1} {
		o := remote.Operation{Kind: remote.Merge, PartitionKey: list[i].partition, RowKey: list[i].row,
			Body: payload.AppendJSON(nil, list[i].partition, list[i].row, 0, edm.AppendProperty(nil, "Other", edm.Int64(1)))}
		must.OK(t, to.Write(t.Context(), "People", &o))
	}
	before := dump(t, to, "People")
	want := progressfile.Totals{Written: 3, Same: int64(syncRows - 3), Deleted: int64(syncRows / 3)}
	if got := run(func(o *transfer.Copy) { o.Delete, o.DryRun = true, true }); got != want || !slices.Equal(dump(t, to, "People"), before) {
		t.Errorf("dry: %+v", got)
	}
	if got := run(func(*transfer.Copy) {}); got != (progressfile.Totals{Written: 3, Same: int64(syncRows - 3)}) || len(dump(t, to, "People")) != syncRows+syncRows/3 {
		t.Errorf("without Delete: %+v", got)
	}
	o := newCopy(t, from, to)
	o.Sync, o.Mode, o.Delete = true, "replace", true
	want.Written, want.Same = 0, int64(syncRows)
	for range 2 { // a finished sync must leave no progress file, because that file would stop the next sync
		if got, err := o.Run(t.Context(), from, to); got != want || err != nil {
			t.Errorf("with Delete: %+v, %v", got, err)
		}
		want.Deleted = 0
	}
	if !slices.Equal(dump(t, from, "People"), dump(t, to, "People")) {
		t.Error("they differ")
	}
}

// TestCopyInterrupted interrupts a copy again and again. It checks that the last run completes the
// copy with all entities.
func TestCopyInterrupted(t *testing.T) {
	t.Parallel()
	from := newClient(t)
	to, s := newStopper(t, batches)
	list := numbered(copyRows)
	fill(t, from, "People", list, func(i int) edm.Properties { return edm.AppendProperty(nil, "N", edm.Int32(int32(i))) })
	o := newCopy(t, from, to)
	for runs := 0; ; runs++ {
		o.Progress = new(scan.Progress)
		ctx, cancel := s.cancelAfter(t, copyRows/500) // a batch has 100 rows, so copyRows/500 batches have one fifth of the rows
		totals, err := o.Run(ctx, from, to)
		cancel()
		if err == nil {
			if totals.Written+totals.Same != int64(copyRows) || runs < 2 {
				t.Errorf("after %d interruptions: %+v", runs, totals)
			}
			break
		}
		if !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
	}
	if !slices.Equal(dump(t, from, "People"), dump(t, to, "People")) {
		t.Error("the copy differs")
	}
	if totals, err := o.Run(t.Context(), from, to); err != nil || totals != (progressfile.Totals{Same: int64(copyRows)}) {
		t.Errorf("a second time: %+v, %v", totals, err)
	}
}

// TestPurge checks that Purge deletes the entities that match the filter and no others.
func TestPurge(t *testing.T) {
	t.Parallel()
	c := newClient(t)
	fill(t, c, "People", numbered(3000), func(i int) edm.Properties { return edm.AppendProperty(nil, "N", edm.Int32(int32(i%3))) })
	q := remote.Query{Table: "People", Filter: "N eq 1"}
	for _, want := range []int64{1000, 0} {
		if n, err := transfer.Purge(t.Context(), c, q, 4, new(scan.Progress)); err != nil || n != want {
			t.Errorf("%d deleted, %v", n, err)
		}
	}
	for e, err := range c.Entities(t.Context(), remote.Query{Table: "People"}) {
		if v, _ := e.Properties.Lookup("N"); err != nil || v.Int() == 1 {
			t.Fatalf("%v, %v", v, err)
		}
	}
	if n := len(dump(t, c, "People")); n != 2000 {
		t.Errorf("%d are left", n)
	}
}
