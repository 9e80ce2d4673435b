package transfer_test

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"edgetable/adapters/client/remote"
	"edgetable/core/accounts"
	"edgetable/core/edm"
	"edgetable/core/sas"
	"edgetable/core/sharedkey"
	"edgetable/functions/edgetable/transfer/progressfile"
	"edgetable/functions/edgetable/transfer/scan"
	"edgetable/testdata/must"
)

// TestRemade interrupts work on a table. Then another client deletes the table, creates it again
// and fills it. The test checks that the work starts over. If nobody deletes the table, the work
// must continue where it stopped.
func TestRemade(t *testing.T) {
	t.Parallel()
	for _, verb := range []string{"copy", "sync", "import"} {
		for _, remake := range []bool{true, false} {
			from := newClient(t)
			to, s := newStopper(t, batches)
			list := numbered(copyRows)
			fill(t, from, "People", list, func(i int) edm.Properties { return edm.AppendProperty(nil, "N", edm.Int32(int32(i))) })
			var again []string
			var run func(ctx context.Context) (progressfile.Totals, error)
			if verb == "import" {
				file := write(t, filepath.Join(t.TempDir(), "People.jsonl"), strings.Join(dump(t, from, "People"), "\n"))
				o := newImport(t, to, file, "", "insert")
				o.Connections, o.OnRestart = 1, func(table string) { again = append(again, table) }
				run = func(ctx context.Context) (progressfile.Totals, error) {
					o.Progress = new(scan.Progress)
					return o.Run(ctx, to)
				}
			} else {
				o := newCopy(t, from, to)
				o.Connections, o.OnRestart = 1, func(table string) { again = append(again, table) }
				if o.Sync = verb == "sync"; o.Sync {
					o.Mode = "replace"
				}
				run = func(ctx context.Context) (progressfile.Totals, error) {
					o.Progress = new(scan.Progress)
					return o.Run(ctx, from, to)
				}
			}
			ctx, cancel := s.cancelAfter(t, copyRows/200)
			_, err := run(ctx)
			cancel()
			if !errors.Is(err, context.Canceled) {
				t.Fatal(err)
			}
			if remake {
				must.OK(t, to.DeleteTable(t.Context(), "People"))
				_, err := to.CreateTable(t.Context(), "People")
				must.OK(t, err)
				fill(t, to, "People", []keys{{"zz", "of others"}}, nothing)
			}
			totals, err := run(t.Context())
			if err != nil || totals.Written+totals.Same != int64(copyRows) || remake != (again != nil) {
				t.Errorf("%s: %+v, %v, again %q", verb, totals, err, again)
			}
			if remake {
				must.OK(t, to.Write(t.Context(), "People", &remote.Operation{Kind: remote.Delete, PartitionKey: "zz", RowKey: "of others"}))
			}
			if !slices.Equal(dump(t, from, "People"), dump(t, to, "People")) {
				t.Errorf("%s: the tables differ", verb)
			}
		}
	}
}

// TestMarkNotReadable checks that an import works with a shared access signature that does not
// permit reading. The import then cannot check whether the table was created again.
func TestMarkNotReadable(t *testing.T) {
	t.Parallel()
	c := newClient(t)
	file := write(t, filepath.Join(t.TempDir(), "People.jsonl"), strings.Join([]string{`{"PartitionKey":"a","RowKey":"1"}`, `{"PartitionKey":"b","RowKey":"1"}`}, "\n"))
	key, err := sharedkey.ParseKey(accounts.DevelopmentKey)
	must.OK(t, err)
	adds, err := sas.AccountValues{ResourceTypes: "o", Permissions: "a", Expiry: time.Now().Add(time.Hour).UTC().Format(time.RFC3339)}.Sign("acme", key)
	must.OK(t, err)
	e, err := remote.ParseConnection(c.Endpoint().String() + "?" + adds)
	must.OK(t, err)
	writer := remote.New(e, 2)
	t.Cleanup(writer.Close)
	if totals, err := newImport(t, writer, file, "", "insert").Run(t.Context(), writer); err != nil || totals.Written != 2 {
		t.Errorf("%+v, %v", totals, err)
	}
}
