package cli

import (
	"bytes"
	"io"
	"testing"

	"edgetable/testdata/must"
)

func TestTable(t *testing.T) {
	t.Parallel()
	table := &Table{Heads: []string{"name", ">rows", "filter"}, Rows: [][]string{{"People", "1,234", "PartitionKey eq 'a'"}, {"E", "5", "none"}}}
	for columns, want := range map[int]string{
		0:  "name     rows  filter\nPeople  1,234  PartitionKey eq 'a'\nE           5  none\n",
		34: "name     rows  filter\nPeople  1,234  PartitionKey eq 'a'\nE           5  none\n",
		25: "name     rows  filter\nPeople  1,234  Partition…\nE           5  none\n",
		5:  "name     rows  filter\nPeople  1,234  Partiti…\nE           5  none\n",
	} {
		var out bytes.Buffer
		(&Terminal{Out: &out, Columns: columns}).PrintTable(table)
		if out.String() != want {
			t.Errorf("%d columns:\n%s", columns, out.String())
		}
	}
}

// TestTableOfNames checks that a table without headings prints no heading line, and that a column
// marked with = is never cut.
func TestTableOfNames(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	(&Terminal{Out: &out, Columns: 20}).PrintTable(&Table{Heads: []string{"=", ""}, Rows: [][]string{{"20261124T063927", "twelve letters"}}})
	if out.String() != "20261124T063927  twelve …\n" {
		t.Errorf("%q", out.String())
	}
}

func TestClip(t *testing.T) {
	t.Parallel()
	for columns, want := range map[int]string{0: "äöü456\n12\n", 5: "äöü4…\n12\n"} {
		var out bytes.Buffer
		c := (&Terminal{Out: &out, Columns: columns}).Clip()
		for _, part := range []string{"äöü4", "56\n1", "2\n"} {
			_, err := io.WriteString(c, part)
			must.OK(t, err)
		}
		if out.String() != want || c.Some != (columns > 0) {
			t.Errorf("%d columns, cut: %v\n%s", columns, c.Some, out.String())
		}
	}
}
