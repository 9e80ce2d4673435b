package transfer

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/transform"

	"edgetable/core/edm"
	"edgetable/core/table"
)

// Mapping says how the rows of files become entities, where they are not entities
// already.
type Mapping struct {
	PartitionKey string              `json:"partitionKey,omitempty"` // see ParseKey; "" for the column of that name
	RowKey       string              `json:"rowKey,omitempty"`
	TimestampAs  string              `json:"timestampAs,omitempty"` // property that keeps the Timestamp of the file
	Select       []string            `json:"select,omitempty"`      // properties to import; nil for all
	Types        map[string]edm.Type `json:"types,omitempty"`       // of columns of CSV and parquet
	Encoding     string              `json:"encoding,omitempty"`    // of files of CSV and JSON; "" for UTF-8
}

// mapper makes the rows of one file entities.
type mapper struct {
	Mapping
	pk, rk *keyTemplate // nil for the file's own
	source *Source
	rows   int64 // so far

	decoder encoding.Encoding // nil for UTF-8
}

// decoded returns the characters of a file of CSV or JSON.
func (m *mapper) decoded(text io.Reader) io.Reader {
	if m.decoder == nil {
		return text
	}
	return transform.NewReader(text, m.decoder.NewDecoder())
}

// readable returns why a text of a file is not what was meant, nil if it is. A decoder writes
// U+FFFD for bytes that its encoding lacks.
func (m *mapper) readable(text string) error {
	switch {
	case !utf8.ValidString(text):
		return fmt.Errorf("not UTF-8: %q; --encoding names the encoding of the file, such as windows-1252", cut(text))
	case m.decoder != nil && strings.ContainsRune(text, utf8.RuneError):
		return fmt.Errorf("not %s: %q", m.Encoding, cut(text))
	}
	return nil
}

// cells are the values of a row by the names of their columns.
type cells interface {
	// cell returns a value. It is null if the row has none.
	cell(name string) (edm.Value, error)
}

// Check returns an error for an invalid mapping.
func (m *Mapping) Check() error {
	_, err := m.of(nil)
	return err
}

// of returns the mapper for a file.
func (m *Mapping) of(s *Source) (*mapper, error) {
	one := &mapper{Mapping: *m, source: s}
	var err error
	if one.pk, err = parseKey(m.PartitionKey); err != nil {
		return nil, fmt.Errorf("--partition-key: %w", err)
	}
	if one.rk, err = parseKey(m.RowKey); err != nil {
		return nil, fmt.Errorf("--row-key: %w", err)
	}
	if m.Encoding != "" {
		if one.decoder, err = htmlindex.Get(m.Encoding); err != nil {
			return nil, fmt.Errorf("--encoding: there is no encoding %q: write a name such as windows-1252, utf-16le or shift_jis", m.Encoding)
		}
	}
	if m.TimestampAs != "" {
		if err := table.CheckPropertyName(m.TimestampAs); err != nil {
			return nil, fmt.Errorf("--timestamp-as: %q cannot be a property: %w", m.TimestampAs, err)
		}
	}
	return one, nil
}

// property reports whether a column becomes a property: if it is selected and not
// a key.
func (m *mapper) property(column string) bool {
	switch {
	case column == partitionKey, column == rowKey, column == timestamp:
		return false
	case m.Select != nil && !slices.Contains(m.Select, column):
		return false
	}
	return !m.pk.renames(column) && !m.rk.renames(column)
}

// needs returns the names of columns that every row of the file must have.
func (m *mapper) needs() (list []string) {
	for _, k := range [...]struct {
		template *keyTemplate
		own      string
	}{{m.pk, partitionKey}, {m.rk, rowKey}} {
		if k.template == nil {
			list = append(list, k.own)
		} else {
			list = append(list, k.template.columns()...)
		}
	}
	return list
}

// check returns an error if a file lacks a column that its keys need.
func (m *mapper) check(columns []string) error {
	for _, name := range m.needs() {
		if slices.Contains(columns, name) {
			continue
		}
		if name == partitionKey || name == rowKey {
			return fmt.Errorf("there is no column %s; --partition-key and --row-key make keys of other columns, which are %s", name, quoted(columns))
		}
		return fmt.Errorf("there is no column %q for the keys; the columns are %s", name, quoted(columns))
	}
	if m.TimestampAs != "" && !slices.Contains(columns, timestamp) {
		return fmt.Errorf("there is no column Timestamp, which --timestamp-as keeps; the columns are %s", quoted(columns))
	}
	for _, name := range slices.Sorted(maps.Keys(m.Types)) {
		if !slices.Contains(columns, name) {
			return fmt.Errorf("there is no column %q, which --types names; the columns are %s", name, quoted(columns))
		}
	}
	for _, name := range m.Select {
		if !slices.Contains(columns, name) {
			return fmt.Errorf("there is no column %q, which --select names; the columns are %s", name, quoted(columns))
		}
	}
	return nil
}

func quoted(names []string) string {
	const most = 20
	text := ""
	for i, name := range names[:min(len(names), most)] {
		if i > 0 {
			text += ", "
		}
		text += fmt.Sprintf("%q", name)
	}
	if len(names) > most {
		text += ", …"
	}
	return text
}

// complete sets the keys of a row from its cells, and adds the Timestamp if it is to
// be kept. It is an error if no service would store the row.
func (m *mapper) complete(r *row, c cells) (err error) {
	if r.pk, err = m.key(m.pk, partitionKey, c); err != nil {
		return err
	}
	if r.rk, err = m.key(m.rk, rowKey, c); err != nil {
		return err
	}
	if err := m.keepTimestamp(r, c); err != nil {
		return err
	}
	return r.check()
}

func (m *mapper) key(k *keyTemplate, own string, c cells) (string, error) {
	if k == nil {
		v, err := has(c, own)
		return v.String(), err
	}
	text, err := k.make(m, c)
	if err != nil {
		err = fmt.Errorf("%w, which makes the %s", err, own)
	}
	return text, err
}

// reason returns why a row is refused, with its keys if it has both.
func (m *mapper) reason(err error, c cells) string {
	pk, noPK := m.key(m.pk, partitionKey, c)
	rk, noRK := m.key(m.rk, rowKey, c)
	if noPK != nil || noRK != nil {
		return err.Error()
	}
	return withKeys(pk, rk, err.Error())
}

// withKeys returns the reason why a row is refused with its keys.
func withKeys(pk, rk, reason string) string {
	return fmt.Sprintf("PartitionKey %s, RowKey %s: %s", cut(Printable(Quote(pk))), cut(Printable(Quote(rk))), reason)
}

func (m *mapper) keepTimestamp(r *row, c cells) error {
	if m.TimestampAs == "" {
		return nil
	}
	v, err := c.cell(timestamp)
	if err != nil {
		return err
	}
	if _, there := r.properties.Lookup(m.TimestampAs); there {
		return fmt.Errorf("the row has a property %s already, which --timestamp-as would add", m.TimestampAs)
	}
	if v.Type() == edm.TypeDateTime {
		r.properties = edm.AppendProperty(r.properties, m.TimestampAs, v)
	}
	return nil
}
