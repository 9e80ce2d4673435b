package transfer_test

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"edgetable/core/edm"
	"edgetable/functions/edgetable/transfer"
	"edgetable/functions/edgetable/transfer/progressfile"
	"edgetable/functions/edgetable/transfer/rows"
	"edgetable/testdata/must"
)

// runImport imports a file. It returns the messages about refused rows, the imported entities, the totals and the error.
func runImport(t *testing.T, path string, change func(*transfer.Import)) (refused []string, entities []string, totals progressfile.Totals, err error) {
	t.Helper()
	c := newClient(t)
	im := newImport(t, c, path, "People", "insert")
	im.OnReject = func(_ string, line int, reason string) { refused = append(refused, fmt.Sprint(line, " ", reason)) }
	change(im)
	totals, err = im.Run(t.Context(), c)
	return refused, dump(t, c, "People"), totals, err
}

// TestImportEncoding imports text that is not valid UTF-8. It checks that the import refuses the row and reports the line
// and the column, unless --encoding names the encoding. The import must never change the text silently. If the file of
// rejected rows is imported, the row is refused again, so that nobody imports it by mistake.
func TestImportEncoding(t *testing.T) {
	t.Parallel()
	const latin = "PartitionKey,RowKey,N\na,1,caf\xe9\na,2,good\n\xe9,3,x\n"
	file := write(t, filepath.Join(t.TempDir(), "a.csv"), latin)
	rejects := ""
	refused, entities, _, err := runImport(t, file, func(im *transfer.Import) { rejects = im.Rejects })
	must.OK(t, err)
	if len(refused) != 2 || refused[0] != `2 N is not UTF-8: "caf\xe9"; --encoding names the encoding of the file, such as windows-1252` || !strings.HasPrefix(refused[1], `4 PartitionKey is not UTF-8: "\xe9"`) {
		t.Errorf("%q", refused)
	}
	if !slices.Equal(entities, []string{`{"PartitionKey":"a","RowKey":"2","N":"good"}`}) {
		t.Errorf("%q", entities)
	}
	if again, entities, _, err := runImport(t, rejects, func(*transfer.Import) {}); err != nil || len(again) != 2 || entities != nil {
		t.Errorf("%q, %q, %v", again, entities, err)
	}
	want := []string{`{"PartitionKey":"a","RowKey":"1","N":"caf\u00e9"}`, `{"PartitionKey":"a","RowKey":"2","N":"good"}`, `{"PartitionKey":"\u00e9","RowKey":"3","N":"x"}`}
	wide := "\xff\xfe"
	for _, r := range "PartitionKey\tRowKey\tN\na\t1\tcafé\na\t2\tgood\né\t3\tx\n" {
		wide += string([]byte{byte(r), byte(r >> 8)})
	}
	for name, tt := range map[string][2]string{
		"a.csv": {"windows-1252", latin}, "b.csv": {"utf-16le", wide},
		"a.jsonl": {"windows-1252", "{\"PartitionKey\":\"a\",\"RowKey\":\"1\",\"N\":\"caf\xe9\"}\n{\"PartitionKey\":\"a\",\"RowKey\":\"2\",\"N\":\"good\"}\n{\"PartitionKey\":\"\xe9\",\"RowKey\":\"3\",\"N\":\"x\"}"},
	} {
		refused, entities, _, err := runImport(t, write(t, filepath.Join(t.TempDir(), name), tt[1]), func(im *transfer.Import) { im.Mapping.Encoding = tt[0] })
		if err != nil || refused != nil || !slices.Equal(entities, want) {
			t.Errorf("%s: %q, %q, %v", name, refused, entities, err)
		}
	}
	for name, text := range map[string]string{"a.csv": "PartitionKey,RowKey,N\na,1,\x81\x20\n", "a.jsonl": "{\"PartitionKey\":\"a\",\"RowKey\":\"1\",\"N\":\"\x81\x20\"}"} {
		refused, _, _, err := runImport(t, write(t, filepath.Join(t.TempDir(), name), text), func(im *transfer.Import) { im.Mapping.Encoding = "shift_jis" })
		if err != nil || len(refused) != 1 || !strings.Contains(refused[0], "is not shift_jis") {
			t.Errorf("%s: %q, %v", name, refused, err)
		}
	}
	if _, _, _, err := runImport(t, write(t, filepath.Join(t.TempDir(), "a.csv"), "PartitionKey,RowKey,\xe9\n"), func(*transfer.Import) {}); err == nil || !strings.Contains(err.Error(), "the name of column 3 is not UTF-8") {
		t.Error(err)
	}
	if err := (&rows.Mapping{Encoding: "latin-one"}).Check(); err == nil || !strings.Contains(err.Error(), "--encoding") {
		t.Error(err)
	}
}

// TestImportLoneSurrogate checks that the import refuses a lone surrogate in JSON, as a service does.
func TestImportLoneSurrogate(t *testing.T) {
	t.Parallel()
	file := write(t, filepath.Join(t.TempDir(), "a.jsonl"), `{"PartitionKey":"a","RowKey":"1","S":"lone\ud800x"}`)
	if refused, entities, _, err := runImport(t, file, func(*transfer.Import) {}); err != nil || entities != nil || len(refused) != 1 || !strings.Contains(refused[0], "The value of 'S' has a lone surrogate") {
		t.Errorf("%q, %q, %v", refused, entities, err)
	}
}

// TestImportSameKeys imports files with several rows that have the same keys. It checks that only the last of these rows is
// written, in all modes and for any order of the rows. A dry run and a real run count the other rows as dropped.
func TestImportSameKeys(t *testing.T) {
	t.Parallel()
	line := func(i, n int) string {
		return fmt.Sprintf(`{"PartitionKey":"p","RowKey":"%d","N":%d,"V%d":1}`+"\n", i, n, n)
	}
	orders := map[string]string{"in order": "", "again": "", "backwards": "", "mixed": ""}
	for i := range 5 {
		orders["in order"] += line(i, 0) + line(i, 1)
		orders["backwards"] += line(4-i, 0) + line(4-i, 1)
	}
	for n := range 2 {
		for i := range 5 {
			orders["again"] += line(i, n)
			orders["mixed"] += line((i*(n+2)+n)%5, n)
		}
	}
	var want []string
	for i := range 5 {
		want = append(want, fmt.Sprintf(`{"PartitionKey":"p","RowKey":"%d","N":1,"V1":1}`, i))
	}
	for name, text := range orders {
		for _, mode := range []string{"insert", "merge", "replace", "skip"} {
			for _, dry := range []bool{true, false} {
				file := write(t, filepath.Join(t.TempDir(), "a.jsonl"), text)
				_, entities, totals, err := runImport(t, file, func(im *transfer.Import) {
					im.Mode, im.DryRun = mode, dry
					transfer.SetMemory(im, 200)
				})
				if err != nil || totals != (progressfile.Totals{Written: 5, Dropped: 5}) || !dry && !slices.Equal(entities, want) {
					t.Errorf("%s, %s, dry %v: %+v, %v\n%s", name, mode, dry, totals, err, strings.Join(entities, "\n"))
				}
			}
		}
	}
}

// TestImportMissing checks that the import refuses a row without a key, a row with too few cells, and a type for a column
// that the file does not have. It also checks that a quoted empty cell in a key column is an empty key.
func TestImportMissing(t *testing.T) {
	t.Parallel()
	file := write(t, filepath.Join(t.TempDir(), "a.csv"), "PartitionKey,RowKey,A\n,1,x\np,,x\np,1\n\"\",\"\",x\n")
	refused, entities, _, err := runImport(t, file, func(*transfer.Import) {})
	must.OK(t, err)
	want := []string{`2 the cell of the PartitionKey is empty: write an empty key as ""`, `3 the cell of the RowKey is empty: write an empty key as ""`,
		"4 PartitionKey 'p', RowKey '1': the row has 2 cells, the header 3"}
	if !slices.Equal(refused, want) || !slices.Equal(entities, []string{`{"PartitionKey":"","RowKey":"","A":"x"}`}) {
		t.Errorf("%q\nwant %q\n%q", refused, want, entities)
	}
	types := func(im *transfer.Import) { im.Mapping.Types = map[string]edm.Type{"Nope": edm.TypeInt32} }
	if _, _, _, err := runImport(t, file, types); err == nil || !strings.Contains(err.Error(), `there is no column "Nope", which --types names; the columns are "PartitionKey", "RowKey", "A"`) {
		t.Error(err)
	}
}

// writeParquet writes a file with a row for each value. The file has the two key columns, and one
// column with the given name and type for the values.
func writeParquet(t *testing.T, name string, node parquet.Node, values ...parquet.Value) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "a.parquet")
	f, err := os.Create(file)
	must.OK(t, err)
	w := parquet.NewWriter(f, parquet.NewSchema("s", parquet.Group{"PartitionKey": parquet.String(), "RowKey": parquet.String(), name: node}))
	for i, v := range values { // parquet.Group sorts the columns by name
		row := parquet.Row{parquet.ByteArrayValue([]byte("p")).Level(0, 0, 0), parquet.ByteArrayValue(fmt.Append(nil, i)).Level(0, 0, 1), v.Level(0, 0, 2)}
		_, err := w.WriteRows([]parquet.Row{row})
		must.OK(t, err)
	}
	must.OK(t, w.Close())
	must.OK(t, f.Close())
	return file
}

// TestImportParquetBytes checks that a text column whose bytes are not valid UTF-8 is refused, unless the import declares
// the type Binary for the column.
func TestImportParquetBytes(t *testing.T) {
	t.Parallel()
	file := writeParquet(t, "S", parquet.String(), parquet.ByteArrayValue([]byte("caf\xe9")), parquet.ByteArrayValue([]byte("good")))
	refused, entities, _, err := runImport(t, file, func(*transfer.Import) {})
	if err != nil || len(refused) != 1 || !strings.Contains(refused[0], `S is not UTF-8: "caf\xe9"; --types with Binary keeps the bytes`) || !slices.Equal(entities, []string{`{"PartitionKey":"p","RowKey":"1","S":"good"}`}) {
		t.Errorf("%q, %q, %v", refused, entities, err)
	}
	refused, entities, _, err = runImport(t, file, func(im *transfer.Import) { im.Mapping.Types = map[string]edm.Type{"S": edm.TypeBinary} })
	if err != nil || refused != nil || entities[0] != `{"PartitionKey":"p","RowKey":"0","S@odata.type":"Edm.Binary","S":"Y2Fm6Q=="}` {
		t.Errorf("%q, %q, %v", refused, entities, err)
	}
}

// TestImportArrow imports files that pyarrow wrote. It checks that a column of 16-bit floating-point numbers becomes Double.
// No property type is a duration, so the import must refuse a column of durations unless --types names a type for it.
func TestImportArrow(t *testing.T) {
	t.Parallel()
	want := []float64{0, 1, -2, 0.333251953125, 0x1p-24, 65504, math.Inf(-1), math.Copysign(0, -1)}
	c := newClient(t)
	if totals, err := newImport(t, c, "testdata/half.parquet", "People", "insert").Run(t.Context(), c); err != nil || totals.Written != int64(len(want)) {
		t.Fatalf("%+v, %v", totals, err)
	}
	for i, n := range want {
		e, ok, err := c.Get(t.Context(), "People", "p", fmt.Sprint(i), nil)
		v, _ := e.Properties.Lookup("X")
		if err != nil || !ok || v.Type() != edm.TypeDouble || math.Float64bits(v.Float()) != math.Float64bits(n) {
			t.Errorf("%v, want %v, %v", v, n, err)
		}
	}
	if _, _, _, err := runImport(t, "testdata/duration.parquet", func(*transfer.Import) {}); err == nil || !strings.Contains(err.Error(), `the column "Took" is a duration, which no property can have: --types with String keeps it as PT1H2M3S`) {
		t.Error(err)
	}
	types := func(im *transfer.Import) { im.Mapping.Types = map[string]edm.Type{"Took": edm.TypeString} }
	if _, entities, _, err := runImport(t, "testdata/duration.parquet", types); err != nil || len(entities) != len(want) || !strings.Contains(entities[7], `"Took":"PT0.000007S"`) {
		t.Errorf("%q, %v", entities, err)
	}
}
