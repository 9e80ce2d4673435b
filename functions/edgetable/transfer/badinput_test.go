package transfer_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"edgetable/core/edm"
	"edgetable/functions/edgetable/transfer/progressfile"
	"edgetable/testdata/must"
)

// TestImportBadInput checks that the message for each kind of bad input names the position and says
// what to change. It also checks that the import writes the good rows of the file.
func TestImportBadInput(t *testing.T) {
	t.Parallel()
	const good = `{"PartitionKey":"p","RowKey":"0","A":1}` + "\n"
	big := ""
	for i := range 17 {
		big += fmt.Sprintf(`,"P%d":"%s"`, i, strings.Repeat("x", 32_000))
	}
	wide := ""
	for i := range 300 {
		wide += fmt.Sprintf(`,"P%d":%d`, i, i)
	}
	heads, cells := "", ""
	for i := range 300 {
		heads, cells = heads+fmt.Sprintf(",P%d", i), cells+",1"
	}
	const tooWide = "TooManyProperties: The entity contains more properties than allowed. Each entity can include up to 252 properties to store data. Each entity also has 3 system properties. Choose fewer columns with --select."
	for name, tt := range map[string]struct {
		file, text string
		told       []string // messages about refused rows
		err        string   // error that stops the import of the file
	}{
		"JSON cut off": {"a.jsonl", good + `{"PartitionKey":"p","RowKey":"1","A"`,
			[]string{"2 the file ends in this row: InvalidInput: Malformed JSON at byte 36: expected : after the name of a member."}, ""},
		"JSON compressed and cut off": {"a.jsonl.gz", zipped(t, good)[:25], nil, "about FILE line 1: unexpected EOF"},
		"CSV cut off in a row":        {"a.csv", "PartitionKey,RowKey,A,B\np,0,1,2\np,1,1", []string{"3 PartitionKey 'p', RowKey '1': the file ends in this row, which has 3 cells of 4"}, ""},
		"CSV cut off in quotes":       {"a.csv", "PartitionKey,RowKey,A\np,0,1\np,1,\"x\n", nil, "about FILE line 3: line 3: the quote that begins there is not closed"},
		"CSV goes on after a quote":   {"a.csv", "PartitionKey,RowKey,A\np,0,1\np,\"1\"x,2\n", nil, "about FILE line 3: line 3: there is text after the closing quote of a cell"},
		"a row of more than 1 MiB": {"a.jsonl", good + `{"PartitionKey":"p","RowKey":"1"` + big + "}",
			[]string{"2 PartitionKey 'p', RowKey '1': EntityTooLarge: The entity is larger than the maximum allowed size (1MB). Leave columns out with --select."}, ""},
		"a value of more than 64 KiB": {"a.jsonl", good + `{"PartitionKey":"p","RowKey":"1","A":"` + strings.Repeat("x", 40_000) + `"}`,
			[]string{"2 PropertyValueTooLarge: The property value exceeds the maximum allowed size (64KB). If the property value is a string, it is UTF-16 encoded and the maximum number of characters should be 32K or less. Property: 'A'. Shorten it, or leave the column out with --select."}, ""},
		"300 properties": {"a.jsonl", good + `{"PartitionKey":"p","RowKey":"1"` + wide + "}", []string{"2 " + tooWide}, ""},
		"300 columns":    {"a.csv", "PartitionKey,RowKey" + heads + "\np,0" + strings.Repeat(",", 300) + "\np,1" + cells + "\n", []string{"3 PartitionKey 'p', RowKey '1': " + tooWide}, ""},
		"wrong types in CSV": {"a.csv", "PartitionKey,RowKey,A,A@type\np,0,1,Int32\np,1,1.5,Int32\np,2,1,Int16\np,3,yes,Boolean\np,4,0000-01-01,DateTime\np,5,9999,DateTime\np,6,x,Binary\np,7,1e999,Double\n", []string{
			"3 PartitionKey 'p', RowKey '1': A is not an Int32: a whole number from -2147483648 to 2147483647: \"1.5\"",
			"4 PartitionKey 'p', RowKey '2': A: \"Int16\" is not one of the eight types, such as Edm.Int32",
			"5 PartitionKey 'p', RowKey '3': A is not a Boolean (true or false): \"yes\"",
			"6 PartitionKey 'p', RowKey '4': A: OutOfRangeInput: The 'A' parameter of value '01/01/0000 00:00:00' is out of range.",
			"7 PartitionKey 'p', RowKey '5': A is not a DateTime of the form 2006-01-02T15:04:05.1234567Z: \"9999\"",
			"8 PartitionKey 'p', RowKey '6': A is not base64: \"x\"",
			"9 PartitionKey 'p', RowKey '7': A is not a Double: \"1e999\""}, ""},
		"wrong types in JSON": {"a.jsonl", good + `{"PartitionKey":"p","RowKey":"1","A@odata.type":"Edm.Guid","A":"x"}` + "\n" + `{"PartitionKey":"p","RowKey":2}` + "\n" + `{"PartitionKey":"p","RowKey":"3","A":[1]}` + "\n", []string{
			"2 InvalidInput: The value of 'A' is not a Guid of the form 01234567-89ab-cdef-0123-456789abcdef: 'x'.",
			"3 InvalidInput: One of the request inputs is not valid. The RowKey is not a string.",
			"4 InvalidInput: The value at byte 37 is an object or an array: a property value must be a string, a number or a Boolean."}, ""},
		"a key with a slash": {"a.csv", "PartitionKey,RowKey\np,0\np,a/b\n", []string{"3 PartitionKey 'p', RowKey 'a/b': RowKey: a key must not contain / \\ # ? or control characters (U+0000 to U+001F, U+007F to U+009F): change it in the file, or build the key from other columns"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newClient(t)
			path := write(t, filepath.Join(t.TempDir(), tt.file), tt.text)
			im := newImport(t, c, path, "People", "insert")
			var told []string
			im.OnReject = func(_ string, line int, reason string) { told = append(told, fmt.Sprint(line, " ", reason)) }
			_, err := im.Run(t.Context(), c)
			if want := strings.ReplaceAll(tt.err, "FILE", path); err == nil && want != "" || err != nil && err.Error() != want {
				t.Errorf("%v\nwant %s", err, want)
			}
			if !slices.Equal(told, tt.told) {
				t.Errorf("%s\nwant %s", strings.Join(told, "\n"), strings.Join(tt.told, "\n"))
			}
			if got := dump(t, c, "People"); tt.err == "" && len(got) != 1 {
				t.Errorf("%.500q", got)
			}
		})
	}
}

func zipped(t *testing.T, text string) string {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	must.OK(t, z.Close())
	return b.String()
}

// TestRejectsAgain imports the file of rejected rows. It checks that this import refuses each row
// until somebody corrects the row, and that the corrected values get the types of the original
// file. One property of the rows has several types. Of two rows with the same keys, only the later
// row is written.
func TestRejectsAgain(t *testing.T) {
	t.Parallel()
	c := newClient(t)
	path := write(t, filepath.Join(t.TempDir(), "People.csv"), "PartitionKey,RowKey,Zip,Born,Big,Big@type\n"+
		"p,1,00501,18l5,9007199254740993,Int64\np,2,a,1,x,String\np,3,,,1,Int64\np,3,,2,,\n")
	load := func(path, table string) progressfile.Totals {
		t.Helper()
		im := newImport(t, c, path, table, "insert")
		im.Mapping.Types = map[string]edm.Type{"Born": edm.TypeInt32}
		im.Rejects = filepath.Join(filepath.Dir(path), "again.rejects.jsonl")
		totals, err := im.Run(t.Context(), c)
		must.OK(t, err)
		return totals
	}
	if got := load(path, ""); got != (progressfile.Totals{Written: 2, Rejected: 1, Dropped: 1}) {
		t.Errorf("%+v", got)
	}
	first := filepath.Join(filepath.Dir(path), "again.rejects.jsonl")
	text, err := os.ReadFile(first)
	must.OK(t, err)
	const row = `{"PartitionKey":"p","RowKey":"1","Zip":"00501","Born@odata.type":"Edm.Int32","Born":"18l5","Big@odata.type":"Edm.Int64","Big":"9007199254740993",` +
		`"odata.reason":"PartitionKey 'p', RowKey '1': Born is not an Int32: a whole number from -2147483648 to 2147483647: \"18l5\"","odata.file":`
	if !strings.HasPrefix(string(text), row) {
		t.Errorf("%s\nwant %s", text, row)
	}
	second := write(t, filepath.Join(t.TempDir(), "2.jsonl"), string(text))
	if got := load(second, "People"); got != (progressfile.Totals{Rejected: 1}) {
		t.Errorf("%+v", got)
	}
	if text, err = os.ReadFile(filepath.Join(filepath.Dir(second), "again.rejects.jsonl")); err != nil {
		t.Fatal(err)
	}
	third := write(t, filepath.Join(t.TempDir(), "3.jsonl"), strings.ReplaceAll(string(text), "18l5", "1815"))
	if got := load(third, "People"); got != (progressfile.Totals{Written: 1}) {
		t.Errorf("%+v", got)
	}
	want := []string{`{"PartitionKey":"p","RowKey":"1","Zip":"00501","Born":1815,"Big@odata.type":"Edm.Int64","Big":"9007199254740993"}`,
		`{"PartitionKey":"p","RowKey":"2","Zip":"a","Born":1,"Big":"x"}`, `{"PartitionKey":"p","RowKey":"3","Born":2}`}
	if got := dump(t, c, "People"); !slices.Equal(got, want) {
		t.Errorf("%s", strings.Join(got, "\n"))
	}
}
