package table_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"testing"

	"edgetable/core/key"
	"edgetable/core/table"
)

var update = flag.Bool("update", false, "write the table of limits into docs/compatibility.md")

// TestLimitsPage checks that docs/compatibility.md names the same limits as the code. With the flag -update, it
// writes the limits into that page.
func TestLimitsPage(t *testing.T) {
	const page, begin, end = "../../docs/compatibility.md", "-update' -->\n\n", "\n<!-- end of limits"
	var b bytes.Buffer
	b.WriteString("| Limit | Largest | Beyond it |\n|---|---|---|\n")
	for _, l := range []struct {
		what, most string
		code       *table.Error
	}{
		{"name of a table", fmt.Sprintf("%d to %d ASCII letters and digits, a letter first", table.MinTableName, table.MaxTableName), table.OutOfRangeInput.Err()},
		{"PartitionKey, RowKey", fmt.Sprintf("%s UTF-16 code units each", number(key.MaxLength)), table.PropertyValueTooLarge.Err()},
		{"properties of an entity besides its keys and Timestamp", number(table.MaxProperties), table.TooManyProperties.Err()},
		{"name of a property", number(table.MaxPropertyName) + " UTF-16 code units", table.PropertyNameTooLong.Err()},
		{"a String", number(table.MaxStringLength) + " UTF-16 code units", table.PropertyValueTooLarge.Err()},
		{"a Binary", number(table.MaxBinaryLength) + " bytes", table.PropertyValueTooLarge.Err()},
		{"an entity", number(table.MaxEntitySize) + " bytes by the service's formula: 4, 2 for each character of both keys, and for each property 8, 2 for each character of its name and the size of its value", table.EntityTooLarge.Err()},
		{"operations of a transaction", number(table.MaxBatchOperations), table.InvalidInput.Err()},
		{"entities of a page", number(table.MaxPageRows), nil},
	} {
		answer := "the page ends, with a continuation"
		if l.code != nil {
			answer = fmt.Sprintf("%d `%s`", l.code.Status(), l.code.Code)
		}
		fmt.Fprintf(&b, "| %s | %s | %s |\n", l.what, l.most, answer)
	}
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, ok := bytes.Cut(text, []byte(begin))
	old, tail, ended := bytes.Cut(rest, []byte(end))
	if !ok || !ended {
		t.Fatalf("%s has no place for the limits between %q and %q", page, begin, end)
	}
	if bytes.Equal(old, b.Bytes()) {
		return
	}
	if !*update {
		t.Fatalf("%s has other limits than limits.go: go test ./core/table -run LimitsPage -update", page)
	}
	if err := os.WriteFile(page, bytes.Join([][]byte{head, []byte(begin), b.Bytes(), []byte(end), tail}, nil), 0o644); err != nil {
		t.Fatal(err)
	}
}

// number formats a number with commas between groups of three digits.
func number(n int) string {
	text := fmt.Sprint(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}
