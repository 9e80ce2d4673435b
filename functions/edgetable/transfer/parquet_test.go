package transfer_test

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/deprecated"

	"edgetable/core/edm"
	"edgetable/functions/edgetable/transfer/progressfile"
	"edgetable/testdata/must"
)

// TestParquetColumns checks the columns of an exported file: the keys first, one column for each
// type of a property, and the precision of DateTime. The manifest must describe the columns with
// unexpected names or types.
func TestParquetColumns(t *testing.T) {
	t.Parallel()
	c := newClient(t)
	moment := func(text string) edm.Value {
		d, err := edm.ParseDateTime(text)
		must.OK(t, err)
		return edm.DateTime(d)
	}
	rows := []edm.Properties{
		edm.AppendProperty(edm.AppendProperty(nil, "Zip", edm.String("00501")), "Age", edm.Int32(1)),
		edm.AppendProperty(edm.AppendProperty(nil, "Age", edm.Int64(2)), "At", moment("2020-01-02T03:04:05.1234567Z")),
		edm.AppendProperty(edm.AppendProperty(nil, "Age", edm.Int64(3)), "Day", moment("9999-12-31")),
		edm.AppendProperty(edm.AppendProperty(nil, "Id", edm.Guid([16]byte{1, 15: 2})), "Ever", moment("9999-12-31T23:59:59.9999999Z")),
	}
	list := []keys{{"p", "1"}, {"p", "2"}, {"p", "3"}, {"p", "4"}}
	fill(t, c, "People", list, func(i int) edm.Properties { return rows[i] })
	dir := t.TempDir()
	m, err := newExport(c, "parquet", "zstd").To(t.Context(), c, in(dir))
	must.OK(t, err)
	want := []string{"Age has the type Int64 in 2 entities and the type Int32 in 1: the column Age@Int32 contains the values of the type Int32",
		"the column Ever contains times as text, because parquet cannot store the times from 9999-12-31T23:59:59.9999999Z to 9999-12-31T23:59:59.9999999Z with a precision of 100 ns"}
	if len(m.Tables[0].Files) != 1 || !slices.Equal(m.Tables[0].Notes, want) {
		t.Fatalf("%+v", m.Tables[0])
	}
	text, err := os.ReadFile(filepath.Join(dir, m.Tables[0].Files[0].File))
	must.OK(t, err)
	f, err := parquet.OpenFile(bytes.NewReader(text), int64(len(text)))
	must.OK(t, err)
	if got := f.Schema().String(); got != `message entities {
	required binary PartitionKey (STRING);
	required binary RowKey (STRING);
	optional int64 Timestamp (TIMESTAMP(isAdjustedToUTC=true,unit=NANOS));
	optional binary Zip (STRING);
	optional int64 Age (INT(64,true));
	optional int32 Age@Int32 (INT(32,true));
	optional int64 At (TIMESTAMP(isAdjustedToUTC=true,unit=NANOS));
	optional int64 Day (TIMESTAMP(isAdjustedToUTC=true,unit=MICROS));
	optional fixed_len_byte_array(16) Id (UUID);
	optional binary Ever (STRING);
}` {
		t.Error(got)
	}
	if _, err := newImport(t, c, dir, "Copy", "insert").Run(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	if a, b := dump(t, c, "People"), dump(t, c, "Copy"); len(b) != 4 || sortedLine(t, a[1]) != sortedLine(t, b[1]) || a[3] != b[3] {
		t.Errorf("%q\n%q", a, b)
	}
	renamed := newImport(t, c, dir, "Renamed", "insert")
	renamed.Mapping.Rename = map[string]string{"Age": "Years"}
	_, err = renamed.Run(t.Context(), c)
	must.OK(t, err)
	if got := strings.Join(dump(t, c, "Renamed"), ""); strings.Contains(got, "Age") || strings.Count(got, `"Years":`) != 3 || !strings.Contains(got, `"Years":1`) {
		t.Errorf("with Age=Years: %s", got)
	}
	keyed := newImport(t, c, dir, "Keyed", "insert")
	keyed.Mapping.RowKey = "Age"
	totals, err := keyed.Run(t.Context(), c)
	must.OK(t, err)
	if got := strings.Join(dump(t, c, "Keyed"), ""); totals.Written != 3 || strings.Contains(got, "Age") || !strings.Contains(got, `"RowKey":"1"`) {
		t.Errorf("with the key Age: %+v %s", totals, got)
	}
}

// foreign is a row of a file that another program wrote. Its columns are nullable, or have small
// and unsigned numbers, other units of time, or decimals. edgetable writes no such columns.
type foreign struct {
	Country string           `parquet:"Country"`
	ID      int64            `parquet:"ID"`
	Small   uint16           `parquet:"Small"`
	Large   uint32           `parquet:"Large"`
	Huge    uint64           `parquet:"Huge"`
	Ratio   float32          `parquet:"Ratio"`
	Whole   *float64         `parquet:"Whole,optional"`
	Day     int32            `parquet:"Day,date"`
	Milli   int64            `parquet:"Milli,timestamp(millisecond)"`
	Nano    int64            `parquet:"Nano,timestamp(nanosecond)"`
	Old     deprecated.Int96 `parquet:"Old"`
	Price   int64            `parquet:"Price,decimal(2:18)"`
	Raw     []byte           `parquet:"Raw"`
	Tags    []string         `parquet:"Tags,list"`
}

// TestParquetOfOthers checks that the import either imports each row of another program's file
// exactly or refuses the row.
func TestParquetOfOthers(t *testing.T) {
	t.Parallel()
	whole := 3.0
	good := foreign{"no", 7, 65535, 4294967295, math.MaxInt64, 0.5, &whole, 18262, 1577836800123, 1577836800123456700,
		deprecated.Int96{1000, 0, 2458850}, -105, []byte("é"), []string{"a", "b"}}
	fine, huge := good, good
	fine.ID, fine.Nano = 8, 1577836800123456789
	huge.ID, huge.Huge, huge.Whole = 9, math.MaxUint64, nil
	var file bytes.Buffer
	must.OK(t, parquet.Write(&file, []foreign{good, fine, huge}))
	path := write(t, filepath.Join(t.TempDir(), "Orders.parquet"), file.String())
	c := newClient(t)
	im := newImport(t, c, path, "", "insert")
	run := func(want string) {
		t.Helper()
		if _, err := im.Run(t.Context(), c); err == nil || err.Error() != path+": "+want {
			t.Errorf("%v\nwant %s", err, want)
		}
	}
	run(`there is no column PartitionKey; --partition-key and --row-key build keys from other columns, which are "Country", "ID", "Small", "Large", "Huge", "Ratio", "Whole", "Day", "Milli", "Nano", "Old", "Price", "Raw", "Tags"`)
	im.Mapping.PartitionKey, im.Mapping.RowKey = "Country", "{ID:4}"
	run(`the column "Price" has the type DECIMAL(18,2), which no property can have: choose a type with --types`)
	im.Mapping.Types = map[string]edm.Type{"Price": edm.TypeString, "Whole": edm.TypeInt32, "Raw": edm.TypeString}
	run(`the column "Tags" is a list or a group, which a table cannot hold; --select chooses columns`)
	im.Mapping.Select = strings.Split("ID Small Large Huge Ratio Whole Day Milli Nano Old Price Raw", " ")
	var told []string
	im.OnReject = func(_ string, line int, reason string) { told = append(told, fmt.Sprint(line, " ", reason)) }
	if totals, err := im.Run(t.Context(), c); err != nil || totals != (progressfile.Totals{Written: 1, Rejected: 2}) {
		t.Fatalf("%+v, %v", totals, err)
	}
	want := `{"PartitionKey":"no","RowKey":"0007","ID@odata.type":"Edm.Int64","ID":"7","Small":65535,"Large@odata.type":"Edm.Int64","Large":"4294967295",` +
		`"Huge@odata.type":"Edm.Int64","Huge":"9223372036854775807","Ratio":0.5,"Whole":3,"Day@odata.type":"Edm.DateTime","Day":"2020-01-01T00:00:00Z",` +
		`"Milli@odata.type":"Edm.DateTime","Milli":"2020-01-01T00:00:00.123Z","Nano@odata.type":"Edm.DateTime","Nano":"2020-01-01T00:00:00.1234567Z",` +
		`"Old@odata.type":"Edm.DateTime","Old":"2020-01-01T00:00:00.000001Z","Price":"-1.05","Raw":"\u00e9"}`
	if got := dump(t, c, "Orders"); len(got) != 1 || got[0] != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	if got := strings.Join(told, "\n"); got != "2 PartitionKey 'no', RowKey '0008': Nano is not a DateTime: it is finer than 100 ns\n"+
		"3 PartitionKey 'no', RowKey '0009': Huge is not an Int64: 18446744073709551615 is above its range; --types with String or Double keeps it" {
		t.Error(got)
	}
	im.Mapping.Types["Nano"], im.Mapping.Select = edm.TypeString, []string{"Nano"}
	if totals, err := im.Run(t.Context(), c); err != nil || totals.Rejected != 1 { // row 1 is refused, because its entity exists with more properties
		t.Errorf("%+v, %v", totals, err)
	}
	if got := dump(t, c, "Orders"); len(got) != 3 || got[1] != `{"PartitionKey":"no","RowKey":"0008","Nano":"2020-01-01T00:00:00.123456789Z"}` {
		t.Errorf("%q", got)
	}
}

// TestParquetDamaged checks that the import of a truncated or damaged file returns an error. The
// import must not crash, although the parquet library panics on some damaged files.
func TestParquetDamaged(t *testing.T) {
	t.Parallel()
	c := newClient(t)
	fill(t, c, "People", numbered(2000), property)
	dir := t.TempDir()
	m, err := newExport(c, "parquet", "none").To(t.Context(), c, in(dir))
	must.OK(t, err)
	whole, err := os.ReadFile(filepath.Join(dir, m.Tables[0].Files[0].File))
	must.OK(t, err)
	path := filepath.Join(t.TempDir(), "Copy.parquet")
	run := func(text []byte) error {
		write(t, path, string(text))
		im := newImport(t, c, path, "", "replace")
		im.DryRun = true
		_, err := im.Run(t.Context(), c)
		return err
	}
	must.OK(t, run(whole))
	if err := run(whole[:len(whole)/2]); err == nil || !strings.HasPrefix(err.Error(), path+": it is not a complete parquet file: ") {
		t.Error(err)
	}
	failed := 0
	for i := 1; i < 12; i++ {
		text := slices.Clone(whole)
		for j := range 8 {
			text[min(len(text)-1, i*len(text)/12+j)] ^= 0xff
		}
		if err := run(text); err != nil {
			failed++
			inRow := strings.Contains(err.Error(), path+" row ") && strings.Contains(err.Error(), ": it is damaged: ")
			if !inRow && !strings.HasPrefix(err.Error(), path+": it is not a complete parquet file: ") {
				t.Error(err)
			}
		}
	}
	if failed == 0 {
		t.Error("no damage is seen")
	}
}

func orderParquet(t *testing.T) string {
	t.Helper()
	type order struct {
		Country string
		Id      int32
		Placed  time.Time `parquet:"Placed,timestamp(microsecond)"`
		Time    int64     `parquet:"Timestamp,timestamp(nanosecond)"`
		Note    []string  `parquet:"Note 1,list"`
	}
	at := func(text string) time.Time {
		one, err := time.Parse(time.RFC3339, text)
		must.OK(t, err)
		return one
	}
	var file bytes.Buffer
	if err := parquet.Write(&file, []order{{"no", 7, at("2020-02-03T04:05:06Z"), at("2021-01-02T03:04:05.1234567Z").UnixNano(), nil},
		{"se", 12, at("2020-12-31T00:00:00Z"), at("2022-01-01T00:00:00Z").UnixNano(), []string{"x"}}}); err != nil {
		t.Fatal(err)
	}
	return file.String()
}
