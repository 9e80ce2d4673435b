package transfer_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
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

// newImport returns an import of a file or directory.
func newImport(t testing.TB, c *remote.Client, path, table, mode string) *transfer.Import {
	t.Helper()
	sources, err := transfer.Sources(path, table)
	must.OK(t, err)
	return &transfer.Import{ImportCommand: transfer.ImportCommand{Target: c.Endpoint().String(), Sources: sources, Mode: mode, Format: "jsonl"}, Connections: 4,
		ProgressFile: filepath.Join(t.TempDir(), "progress"), Rejects: filepath.Join(t.TempDir(), "x.rejects.jsonl"),
		Progress: new(scan.Progress), Begin: func(bool) {}, OnRestart: func(string) {}, OnReject: func(string, int, string) {}}
}

// TestImportModes checks for each mode how an import changes existing entities, which rows it
// refuses, and what the file of rejected rows contains.
func TestImportModes(t *testing.T) {
	t.Parallel()
	text := `{"PartitionKey":"p","RowKey":"1","A":1}
{"PartitionKey":"p","RowKey":"2","A":2,"Timestamp":"2020-01-01T00:00:00Z","odata.etag":"x"}
{"PartitionKey":"p","RowKey":"3","A":3}
{"PartitionKey":"p","RowKey":"3","A":4}

{"PartitionKey":"q"}
{"PartitionKey":"q","RowKey":"a/b"}
{"PartitionKey":"o","RowKey":"1","A":1}
{"PartitionKey":"o","RowKey":"1","A":5}
{
`
	file := write(t, filepath.Join(t.TempDir(), "People.jsonl"), text)
	for mode, tt := range map[string]struct {
		want   progressfile.Totals
		second string // expected entity with the PartitionKey p and the RowKey 2
	}{
		"insert":  {progressfile.Totals{Written: 2, Same: 1, Rejected: 4, Dropped: 2}, `{"PartitionKey":"p","RowKey":"2","B":1}`},
		"skip":    {progressfile.Totals{Written: 2, Skipped: 2, Rejected: 3, Dropped: 2}, `{"PartitionKey":"p","RowKey":"2","B":1}`},
		"merge":   {progressfile.Totals{Written: 4, Rejected: 3, Dropped: 2}, `{"PartitionKey":"p","RowKey":"2","A":2,"B":1}`},
		"replace": {progressfile.Totals{Written: 4, Rejected: 3, Dropped: 2}, `{"PartitionKey":"p","RowKey":"2","A":2}`},
	} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			c := newClient(t)
			fill(t, c, "People", []keys{{"p", "1"}, {"p", "2"}}, func(i int) edm.Properties {
				return edm.AppendProperty(nil, []string{"A", "B"}[i], edm.Int32(1))
			})
			dry := newImport(t, c, file, "", mode)
			dry.DryRun = true
			if totals, err := dry.Run(t.Context(), c); err != nil || totals != (progressfile.Totals{Written: 4, Rejected: 3, Dropped: 2}) {
				t.Errorf("dry: %+v, %v", totals, err)
			}
			if got := dump(t, c, "People"); len(got) != 2 {
				t.Errorf("a dry run wrote: %q", got)
			}
			im := newImport(t, c, file, "", mode)
			var told []string
			im.OnReject = func(file string, line int, reason string) { told = append(told, fmt.Sprint(line, " ", reason)) }
			if totals, err := im.Run(t.Context(), c); err != nil || totals != tt.want {
				t.Errorf("%+v, %v", totals, err)
			}
			got := dump(t, c, "People")
			if len(got) != 4 || got[0] != `{"PartitionKey":"o","RowKey":"1","A":5}` || got[2] != tt.second || got[3] != `{"PartitionKey":"p","RowKey":"3","A":4}` {
				t.Errorf("%q", got)
			}
			slices.Sort(told)
			says := strings.Join(told, "\n")
			for _, want := range []string{"6 there is no RowKey", "7 PartitionKey 'q', RowKey 'a/b': RowKey: a key must not contain /", "10 "} {
				if !strings.Contains(says, want) {
					t.Errorf("no %q in %s", want, says)
				}
			}
			rejects, err := os.ReadFile(im.Rejects)
			if err != nil || int64(bytes.Count(rejects, []byte("\n"))) != tt.want.Rejected || !strings.Contains(string(rejects), `"odata.line":10,"odata.table":"People"}`) {
				t.Errorf("%v\n%s", err, rejects)
			}
			if mode == "insert" {
				// A refused row can be imported in another mode.
				again, err := newImport(t, c, im.Rejects, "People", "replace").Run(t.Context(), c)
				if err != nil || again.Written != 1 || dump(t, c, "People")[2] != `{"PartitionKey":"p","RowKey":"2","A":2}` {
					t.Errorf("%+v, %v", again, err)
				}
			}
		})
	}
}

// TestImportConflicts imports rows into a partition that has many other entities. Half of the rows
// exist already. They must be counted as skipped or equal.
func TestImportConflicts(t *testing.T) {
	t.Parallel()
	c := newClient(t)
	all := numbered(5000)
	for i := range all {
		all[i].partition = "p"
	}
	none := func(int) edm.Properties { return nil }
	fill(t, c, "People", all, none)
	var text strings.Builder
	for i := 0; i < 5000; i += 40 {
		text.Write(payload.AppendJSON(nil, "p", all[i].row, 0, nil))
		text.WriteString("\n")
		text.Write(payload.AppendJSON(nil, "p", all[i].row+"x", 0, nil))
		text.WriteString("\n")
	}
	file := write(t, filepath.Join(t.TempDir(), "People.jsonl"), text.String())
	if totals, err := newImport(t, c, file, "", "skip").Run(t.Context(), c); err != nil || totals != (progressfile.Totals{Written: 125, Skipped: 125}) {
		t.Errorf("%+v, %v", totals, err)
	}
	if totals, err := newImport(t, c, file, "", "insert").Run(t.Context(), c); err != nil || totals != (progressfile.Totals{Same: 250}) {
		t.Errorf("%+v, %v", totals, err)
	}
}

// TestImportInterrupted interrupts an import again and again, for a sorted and an unsorted file. It
// checks that each row is written, and that each refused row is reported once.
func TestImportInterrupted(t *testing.T) {
	t.Parallel()
	for _, sorted := range []bool{true, false} {
		t.Run(fmt.Sprint("sorted ", sorted), func(t *testing.T) {
			t.Parallel()
			c, s := newStopper(t, batches)
			list := numbered(importRows)
			if !sorted {
				rand.New(rand.NewPCG(1, 1)).Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
			}
			var text strings.Builder
			for i, k := range list {
				text.Write(append(payload.AppendJSON(nil, k.partition, k.row, 0, edm.AppendProperty(nil, "N", edm.Int32(int32(i)))), '\n'))
				if i%500 == 7 {
					text.WriteString("{}\n")
				}
			}
			im := newImport(t, c, write(t, filepath.Join(t.TempDir(), "People.jsonl"), text.String()), "", "insert")
			transfer.SetMemory(im, 200<<10)
			runs := 0
			for ; ; runs++ {
				im.Progress = new(scan.Progress)
				ctx, cancel := s.cancelAfter(t, importRows/600) // a batch has 100 rows, so importRows/600 batches have one sixth of the rows
				totals, err := im.Run(ctx, c)
				cancel()
				if err == nil {
					if totals.Written+totals.Same != int64(importRows) || totals.Rejected != int64(importRows/500) {
						t.Errorf("%+v", totals)
					}
					break
				}
				if !errors.Is(err, context.Canceled) {
					t.Fatal(err)
				}
			}
			if runs < 3 {
				t.Errorf("%d interruptions", runs)
			}
			if got := dump(t, c, "People"); len(got) != importRows {
				t.Errorf("%d entities", len(got))
			}
			if rejects, err := os.ReadFile(im.Rejects); err != nil || bytes.Count(rejects, []byte("\n")) != importRows/500 {
				t.Errorf("%d rejects, %v", bytes.Count(rejects, []byte("\n")), err)
			}
		})
	}
}

// TestImportErrors checks the errors of imports. If the input cannot be read or differs from its
// manifest, the error must name the file. If the table is deleted during the import, the error must
// name the table.
func TestImportErrors(t *testing.T) {
	t.Parallel()
	c := newClient(t)
	fill(t, c, "People", numbered(damagedRows), property)
	dir := t.TempDir()
	m, err := newExport(c, "jsonl", "zstd").To(t.Context(), c, in(dir))
	must.OK(t, err)
	part := filepath.Join(dir, m.Tables[0].Files[len(m.Tables[0].Files)-1].File)
	whole, err := os.ReadFile(part)
	must.OK(t, err)
	run := func(path string) error {
		_, err := newImport(t, c, path, "Copy", "replace").Run(t.Context(), c)
		return err
	}
	write(t, part, string(whole[:len(whole)/2]))
	if err := run(dir); err == nil || !strings.Contains(err.Error(), part+" has ") || !strings.Contains(err.Error(), "truncated") {
		t.Error(err)
	}
	if err := run(part); err == nil || !strings.Contains(err.Error(), "about "+part+" line ") {
		t.Error(err)
	}
	write(t, part, string(whole[:len(whole)-1])+string(rune(whole[len(whole)-1]&0x7f^1)))
	if err := run(dir); err == nil || !strings.Contains(err.Error(), part+" has another checksum") {
		t.Error(err)
	}
	for name, text := range map[string]string{
		"a.csv": "", "b.csv": "A,B\n1,2\n", "c.csv": "PartitionKey,RowKey,A,A\n", "d.csv": "PartitionKey,RowKey\n\"1,2\n", "e.csv": "PartitionKey,RowKey\n\"1\"x,2\n",
		"f.gz": "x", "g.jsonl": strings.Repeat("x", 17<<20),
	} {
		file := write(t, filepath.Join(t.TempDir(), name), text)
		if err := run(file); err == nil || !strings.Contains(err.Error(), file) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := transfer.Sources(write(t, filepath.Join(t.TempDir(), "1.csv"), ""), ""); err == nil || !strings.Contains(err.Error(), "--table") {
		t.Error(err)
	}
	im := newImport(t, c, dir, "People", "replace")
	write(t, part, string(whole))
	im.Begin = func(bool) {
		if err := c.DeleteTable(t.Context(), "People"); err != nil {
			t.Error(err)
		}
	}
	if _, err := im.Run(t.Context(), c); err == nil || !strings.Contains(err.Error(), "to table People: the table does not exist") || !strings.Contains(err.Error(), ".jsonl.zst line ") {
		t.Error(err)
	}
}
