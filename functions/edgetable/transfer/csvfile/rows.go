package csvfile

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"edgetable/core/edm"
	"edgetable/core/key"
	"edgetable/core/table"
	"edgetable/functions/edgetable/transfer/rows"
)

// Rows reads entities from CSV. The column types come from type columns, as written by Storage Explorer and edgetable,
// or from an AzCopy schema file. There may be no types.
type Rows struct {
	r       *reader
	m       *rows.Mapper
	columns []column
	index   map[string]int // indexes in columns, by column name
	width   int
	names   []string // names of all columns of the file
	cells   []cell
	first   []cell // first line of the file if it is a row that was not yet returned; otherwise nil
}

type column struct {
	name     string
	property bool
	value    int      // index of the cell with the value
	types    int      // index of the cell with the type; -1 if the file has no such cell
	latest   edm.Type // last type in the type column; initially the declared type
}

func NewRows(text io.Reader, schema *Schema, m *rows.Mapper) (*Rows, error) {
	c, err := newReader(text)
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
	r := &Rows{r: c, m: m, index: map[string]int{}}
	head = schema.head(head, &r.first)
	r.width = len(head)
	var given []string
	for i := range head {
		given = append(given, head[i].text)
		head[i].text = newColumnName(m, head[i].text)
	}
	if err := m.CheckRenamed(given); err != nil {
		return nil, fmt.Errorf("line %d: %w", c.line, err)
	}
	numbers := map[string]int{}
	var names []string
	for i, h := range head {
		if _, twice := numbers[h.text]; twice {
			return nil, fmt.Errorf("line %d: the column %q occurs twice", c.line, h.text)
		}
		numbers[h.text] = i
		if err := m.Readable(h.text); err != nil {
			return nil, fmt.Errorf("line %d: the name of column %d is %w", c.line, i+1, err)
		}
		names = append(names, h.text)
	}
	r.names = names
	if err := m.Check(names); err != nil {
		return nil, fmt.Errorf("line %d: %w", c.line, err)
	}
	needs := m.Needs()
	for i, name := range names {
		one := column{name: name, property: m.Property(name), value: i, types: -1, latest: edm.TypeString}
		switch of := valueColumnOf(name); {
		case name == "", of != "" && slices.Contains(names, of) && !slices.Contains(needs, name):
			continue
		case name == rows.Timestamp:
			one.latest = edm.TypeDateTime
		case one.property:
			if err := table.CheckPropertyName(name); err != nil {
				return nil, fmt.Errorf("line %d: the column %q cannot be a property: %w; --select chooses columns", c.line, name, err)
			}
		}
		if t, ok := schema.types()[name]; ok {
			one.latest = t
		}
		if t, ok := m.Types[name]; ok {
			one.latest = t
		}
		for _, suffix := range typeSuffixes {
			if n, ok := numbers[name+suffix]; ok {
				one.types = n
			}
		}
		r.index[name] = len(r.columns)
		r.columns = append(r.columns, one)
	}
	return r, nil
}

// newColumnName applies --rename to a column name. The type column of a renamed column is renamed too.
func newColumnName(m *rows.Mapper, name string) string {
	if of := valueColumnOf(name); of != "" {
		return m.Renamed(of) + name[len(of):]
	}
	return m.Renamed(name)
}

// typeSuffixes are the suffixes of the names of type columns.
var typeSuffixes = []string{typeSuffix, " " + typeSuffix, rows.TypeAnnotation}

// valueColumnOf returns the name of the column that a type column describes. It returns "" if name is not the name of a
// type column.
func valueColumnOf(name string) string {
	for _, suffix := range slices.Backward(typeSuffixes) {
		if of, ok := strings.CutSuffix(name, suffix); ok {
			return of
		}
	}
	return ""
}

func (r *Rows) Next() (rows.Row, error) {
	cells, err := r.read()
	if err != nil {
		return rows.Row{Line: r.r.line}, err
	}
	one := rows.Row{Line: r.r.line}
	if len(cells) > r.width { // a row with too many cells has no identifiable keys
		return rows.Row{}, &rows.Bad{Line: one.Line, Text: r.text(), Reason: errCells(len(cells), r.width).Error()}
	}
	for i, c := range cells {
		if err := r.m.Readable(c.text); err != nil {
			return rows.Row{}, &rows.Bad{Line: one.Line, Text: r.rowText(), Reason: fmt.Sprintf("%s is %v", r.names[i], err)}
		}
	}
	if err := r.fill(&one); err != nil {
		return rows.Row{}, &rows.Bad{Line: one.Line, Text: r.text(), Reason: r.m.Reason(err, r)}
	}
	return one, nil
}

func errCells(cells, columns int) error {
	plural := "s"
	if cells == 1 {
		plural = ""
	}
	return fmt.Errorf("the row has %d cell%s, the header %d", cells, plural, columns)
}

func (r *Rows) read() (cells []cell, err error) {
	cells = r.first
	if r.first = nil; cells == nil {
		if cells, err = r.r.next(); err != nil {
			return nil, err
		}
	}
	r.m.Rows++
	r.cells = cells
	return cells, nil
}

func (r *Rows) fill(one *rows.Row) error {
	if len(r.cells) < r.width {
		if r.r.torn {
			return fmt.Errorf("the file ends in this row, which has %d cells of %d", len(r.cells), r.width)
		}
		return errCells(len(r.cells), r.width)
	}
	for i := range r.columns {
		c := &r.columns[i]
		if err := r.readType(c); err != nil {
			return err
		}
		if !c.property {
			continue
		}
		v, err := r.value(c)
		if err != nil {
			return err
		}
		if v.Type() == edm.TypeNull {
			continue
		}
		if err := one.Add(c.name, c.name, v); err != nil {
			return err
		}
	}
	err := r.m.Complete(one, r)
	// Clone the keys, because a substring would keep the whole line in memory.
	one.PartitionKey, one.RowKey = strings.Clone(one.PartitionKey), strings.Clone(one.RowKey)
	return err
}

func (r *Rows) at(i int) cell {
	if i < 0 || i >= len(r.cells) {
		return cell{}
	}
	return r.cells[i]
}

// readType updates the type of a column from its type column in the current row. An empty cell means the type of the
// previous row, as in Storage Explorer 1.40.
func (r *Rows) readType(c *column) error {
	name := r.at(c.types)
	if name.text == "" {
		return nil
	}
	t, ok := rows.ParseType(name.text)
	if !ok {
		return fmt.Errorf("%s: %q is not one of the eight types, such as Edm.Int32", c.name, name.text)
	}
	c.latest = t
	return nil
}

// value returns the value of a column in the current row, or null if the cell is absent.
func (r *Rows) value(c *column) (edm.Value, error) {
	text := r.at(c.value)
	if text.absent() {
		if r.emptyText(c) {
			return edm.String(""), nil
		}
		return edm.Value{}, nil
	}
	v, err := edm.Parse(c.latest, protocolText(c.latest, text.text))
	if err != nil {
		err = fmt.Errorf("%s is %w: %q", c.name, err, text.text)
	}
	return v, err
}

// protocolText converts a value from the forms of pandas, PostgreSQL and others to the protocol's form. These forms
// have a blank before the time of day, a time zone without minutes, inf or nan.
func protocolText(t edm.Type, text string) string {
	switch t {
	case edm.TypeDateTime:
		if len(text) > len("2006-01-02 15:04") && text[len("2006-01-02")] == ' ' {
			text = text[:len("2006-01-02")] + "T" + text[len("2006-01-02 "):]
		}
		n := len(text)
		switch {
		case n > len("2006-01-02T15:04+01") && (text[n-3] == '+' || text[n-3] == '-'):
			return text + ":00"
		case n > len("2006-01-02T15:04+0100") && (text[n-5] == '+' || text[n-5] == '-'):
			return text[:n-2] + ":" + text[n-2:]
		}
	case edm.TypeDouble:
		switch strings.ToLower(text) {
		case "inf", "+inf", "infinity":
			return "Infinity"
		case "-inf", "-infinity":
			return "-Infinity"
		case "nan":
			return "NaN"
		}
	}
	return text
}

// emptyText reports whether an empty cell means an empty string and not a missing property. For an empty string,
// Storage Explorer before 1.40 writes Edm.String to the type column.
func (r *Rows) emptyText(c *column) bool { return r.at(c.types).text == "Edm.String" }

// Cell implements [rows.Cells].
func (r *Rows) Cell(name string) (edm.Value, error) {
	i, ok := r.index[name]
	if !ok {
		return edm.Value{}, nil
	}
	c := &r.columns[i]
	if name == rows.PartitionKey || name == rows.RowKey {
		if text := r.at(c.value); !text.absent() {
			return edm.String(text.text), nil
		}
		return edm.Value{}, fmt.Errorf(`the cell of the %s is empty: write an empty key as ""`, name)
	}
	return r.value(c)
}

// text returns the current row as JSON for the file of rejects.
func (r *Rows) text() string {
	if len(r.cells) != r.width { // if the number of cells is wrong, the cells cannot be assigned to columns
		return r.rowText()
	}
	var list []rows.RejectedCell
	for i := range r.columns {
		c := &r.columns[i]
		value := r.at(c.value)
		if value.absent() || c.name == rows.Timestamp {
			continue
		}
		one := rows.RejectedCell{Name: c.name, Type: c.latest.String(), Text: value.text}
		if name := r.at(c.types).text; name != "" {
			one.Type = name
			if t, ok := rows.ParseType(name); ok {
				one.Type = t.String()
			}
		}
		list = append(list, one)
	}
	return rows.RejectedText(list)
}

// rowText returns the current row as CSV text for the file of rejects. An import of that file rejects this text, so
// nobody can import the row by mistake.
func (r *Rows) rowText() string {
	var line []byte
	for i, c := range r.cells {
		if i > 0 {
			line = append(line, ',')
		}
		if !c.absent() {
			line = appendCell(line, c.text)
		}
	}
	return string(line)
}

// AppendKey appends the encoded keys of the next row to dst, for [rows.AppendKey]. If the file has columns for the
// keys, AppendKey does not convert the other cells.
func (r *Rows) AppendKey(dst []byte) ([]byte, error) {
	if !r.m.OwnKeys() {
		one, err := r.Next()
		if err != nil {
			return dst, err
		}
		return key.Append(dst, one.PartitionKey, one.RowKey), nil
	}
	cells, err := r.read()
	if err != nil {
		return dst, err
	}
	pk, rk := r.at(r.columns[r.index[rows.PartitionKey]].value), r.at(r.columns[r.index[rows.RowKey]].value)
	if len(cells) != r.width || pk.absent() || rk.absent() {
		return dst, &rows.Bad{Line: r.r.line}
	}
	return key.Append(dst, pk.text, rk.text), nil
}
