package transfer

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"edgetable/core/edm"
	"edgetable/core/table"
)

// csvRows reads entities from CSV: with columns of types, as Storage Explorer
// and we write them, or without.
type csvRows struct {
	r       *csvReader
	pk, rk  int // columns
	columns []column
	width   int
}

// column is a column with a property.
type column struct {
	name   string
	value  int      // the column's number
	types  int      // that of the column with its types, or -1
	latest edm.Type // that a type column had, else the declared one
}

// ParseType reads a type as files and flags have it: Int32 or Edm.Int32.
func ParseType(text string) (edm.Type, bool) {
	if len(text) > 4 && strings.EqualFold(text[:4], "Edm.") {
		text = text[4:]
	}
	for t := edm.TypeBinary; t <= edm.TypeString; t++ {
		if strings.EqualFold(text, strings.TrimPrefix(t.String(), "Edm.")) {
			return t, true
		}
	}
	return edm.TypeNull, false
}

func newCSVRows(text io.Reader, types map[string]edm.Type) (*csvRows, error) {
	c, err := newCSVReader(text)
	if err != nil {
		return nil, err
	}
	head, err := c.next()
	if err == io.EOF {
		return nil, errors.New("there is no line with the names of the columns")
	}
	if err != nil {
		return nil, err
	}
	r := &csvRows{r: c, pk: -1, rk: -1, width: len(head)}
	numbers := map[string]int{}
	for i, h := range head {
		if _, twice := numbers[h.text]; twice {
			return nil, fmt.Errorf("line %d: the column %q occurs twice", c.line, h.text)
		}
		numbers[h.text] = i
	}
	for i, h := range head {
		switch name := h.text; {
		case name == partitionKey:
			r.pk = i
		case name == rowKey:
			r.rk = i
		case name == timestamp || name == "" || typed(name) != "":
		default:
			if err := table.CheckPropertyName(name); err != nil {
				return nil, fmt.Errorf("line %d: the column %q cannot be a property: %w", c.line, name, err)
			}
			one := column{name: name, value: i, types: -1, latest: edm.TypeString}
			if t, ok := types[name]; ok {
				one.latest = t
			}
			for _, suffix := range typeSuffixes {
				if n, ok := numbers[name+suffix]; ok {
					one.types = n
				}
			}
			r.columns = append(r.columns, one)
		}
	}
	if r.pk < 0 || r.rk < 0 {
		return nil, fmt.Errorf("line %d: there are no columns PartitionKey and RowKey", c.line)
	}
	return r, nil
}

// typeSuffixes mark the column with the types of another.
var typeSuffixes = []string{typeSuffix, "@odata.type"}

// typed returns the column to which a column of types belongs, or "".
func typed(name string) string {
	for _, suffix := range typeSuffixes {
		if of, ok := strings.CutSuffix(name, suffix); ok {
			return of
		}
	}
	return ""
}

func (r *csvRows) next() (row, error) {
	cells, err := r.r.next()
	if err != nil {
		return row{line: r.r.line}, err
	}
	one := row{line: r.r.line}
	bad := func(format string, args ...any) (row, error) {
		var text []byte
		for i, c := range cells {
			if i > 0 {
				text = append(text, ',')
			}
			if !c.absent() {
				text = appendCell(text, c.text)
			}
		}
		return row{}, &badRow{one.line, string(text), fmt.Sprintf(format, args...)}
	}
	if len(cells) > r.width {
		return bad("there are %d cells, but %d columns", len(cells), r.width)
	}
	at := func(i int) cell {
		if i < 0 || i >= len(cells) {
			return cell{}
		}
		return cells[i]
	}
	if r.pk >= len(cells) || r.rk >= len(cells) {
		return bad("the line ends before the keys")
	}
	one.pk, one.rk = strings.Clone(cells[r.pk].text), strings.Clone(cells[r.rk].text)
	count := 0
	for i := range r.columns {
		c := &r.columns[i]
		if name := at(c.types); name.text != "" {
			t, ok := ParseType(name.text)
			if !ok {
				return bad("%s: %q is none of the eight types, such as Edm.Int32", c.name, name.text)
			}
			c.latest = t
		}
		value := at(c.value)
		if value.absent() {
			continue
		}
		v, err := edm.Parse(c.latest, value.text)
		if err != nil {
			return bad("%s is %v: %q", c.name, err, value.text)
		}
		if err := table.CheckValue(c.name, v); err != nil {
			return bad("%s: %v", c.name, err)
		}
		if count++; count > table.MaxProperties {
			return bad("%v", table.TooManyProperties.Err())
		}
		one.properties = edm.AppendProperty(one.properties, c.name, v)
	}
	if reason := one.unfit(); reason != "" {
		return bad("%s", reason)
	}
	return one, nil
}
