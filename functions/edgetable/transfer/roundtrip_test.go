package transfer_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"edgetable/core/edm"
	"edgetable/core/payload"
	"edgetable/functions/edgetable/transfer"
	"edgetable/functions/edgetable/transfer/progressfile"
	"edgetable/functions/edgetable/transfer/scan"
	"edgetable/testdata/must"
)

// TestRoundTrips imports entities of all kinds, exports them in each format, and imports the
// exported files into another table. It checks that the entities are unchanged.
func TestRoundTrips(t *testing.T) {
	t.Parallel()
	for seed := range uint64(tripSeeds) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			rnd := rand.New(rand.NewPCG(seed, 1))
			c := newClient(t)
			list, lines := anyEntities(rnd, tripEntities)
			file := write(t, filepath.Join(t.TempDir(), "any.jsonl"), strings.Join(lines, "\r\n"))
			im := newImport(t, c, file, "People", "insert")
			transfer.SetMemory(im, 100<<10)
			totals, err := im.Run(t.Context(), c)
			if err != nil || totals != (progressfile.Totals{Written: int64(len(list))}) {
				t.Fatalf("%+v, %v", totals, err)
			}
			want := inOrder(list, lines)
			if got := dump(t, c, "People"); !slices.Equal(got, want) {
				t.Fatal("the table is not what the file was")
			}
			im.Progress = new(scan.Progress)
			if totals, err := im.Run(t.Context(), c); err != nil || totals != (progressfile.Totals{Same: int64(len(list))}) {
				t.Errorf("a second time: %+v, %v", totals, err)
			}
			for i, how := range [][2]string{{"jsonl", "none"}, {"jsonl", "gzip"}, {"csv", "zstd"}, {"parquet", "none"}, {"parquet", "gzip"}} {
				dir := t.TempDir()
				if _, err := newExport(c, how[0], how[1]).To(t.Context(), c, in(dir)); err != nil {
					t.Fatal(err)
				}
				name := fmt.Sprint("Copy", i)
				if _, err := newImport(t, c, dir, name, "insert").Run(t.Context(), c); err != nil {
					t.Fatal(err)
				}
				got := dump(t, c, name)
				for i := range want {
					if how[0] != "jsonl" { // a file with columns does not keep the order of the properties
						want[i] = sortedLine(t, want[i])
						got[i] = sortedLine(t, got[i])
					}
					if got[i] != want[i] {
						t.Fatalf("%s:\n%.300s\nwant\n%.300s", how, got[i], want[i])
					}
				}
				if len(got) != len(want) {
					t.Errorf("%s: %d entities of %d", how, len(got), len(want))
				}
			}
		})
	}
}

func sortedLine(t *testing.T, line string) string {
	t.Helper()
	e, err := payload.ReadEntity([]byte(line))
	must.OK(t, err)
	return string(payload.AppendJSON(nil, e.PartitionKey, e.RowKey, 0, e.Properties.Merge(e.Properties)))
}

// TestStreams checks that parquet and CSV can be imported from a stream. It also checks that, if
// the user wants it, the export protects texts that a spreadsheet would execute.
func TestStreams(t *testing.T) {
	t.Parallel()
	c := newClient(t)
	texts := []string{"=1", "+1", "-1", "@x", "\tx", "\rx", "'", "a=1", "", "1"}
	list := numbered(len(texts))
	fill(t, c, "People", list, func(i int) edm.Properties {
		return edm.AppendProperty(edm.AppendProperty(nil, "Text", edm.String(texts[i])), "Bytes", edm.Binary([]byte{0xf8, 0}))
	})
	want := dump(t, c, "People")
	for i, format := range []string{"parquet", "csv"} {
		var file bytes.Buffer
		must.OK(t, newExport(c, format, "none").ToWriter(t.Context(), c, &file))
		name := fmt.Sprint("Copy", i)
		im := newImport(t, c, "-", name, "insert")
		im.ProgressFile, im.Format, im.Stdin = "", format, &file
		if _, err := im.Run(t.Context(), c); err != nil {
			t.Fatal(err)
		}
		if got := dump(t, c, name); !slices.Equal(got, want) {
			t.Errorf("%s: %q", format, got)
		}
	}
	var file bytes.Buffer
	e := newExport(c, "csv-plain", "none")
	e.Excel, e.Select = true, []string{"Text", "Bytes"}
	must.OK(t, e.ToWriter(t.Context(), c, &file))
	for i, text := range []string{"'=1", "'+1", "'-1", "'@x", "\"'\tx\"", "\"'\rx\"", "'", "a=1", `""`, "1"} {
		if line := list[i].partition + "," + list[i].row + "," + text + ",'+AA=\r\n"; !strings.Contains(file.String(), line) {
			t.Errorf("no %q in %q", line, file.String())
		}
	}
}
