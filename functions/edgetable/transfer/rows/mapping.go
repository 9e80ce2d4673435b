package rows

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"

	"edgetable/core/edm"
	"edgetable/core/table"
	"edgetable/functions/edgetable/transfer/ranges"
)

// Mapping specifies how the rows of files are converted to entities.
type Mapping struct {
	PartitionKey string              `json:"partitionKey,omitempty"` // template of the key, see parseKey; "" means the column PartitionKey
	RowKey       string              `json:"rowKey,omitempty"`
	TimestampAs  string              `json:"timestampAs,omitempty"` // property that receives the Timestamp in the file; "" means none
	Select       []string            `json:"select,omitempty"`      // properties to import; nil means all
	Types        map[string]edm.Type `json:"types,omitempty"`       // column types in CSV and parquet files
	Encoding     string              `json:"encoding,omitempty"`    // character encoding of CSV and JSON files; "" means UTF-8
	Rename       map[string]string   `json:"rename,omitempty"`      // new names of columns, by their names in the file
}

// Mapper converts the rows of one file to entities.
type Mapper struct {
	Mapping
	pk, rk *keyTemplate // templates of the keys; nil if the file has a column for the key
	file   File
	Rows   int64 // number of rows read

	decoder encoding.Encoding // decoder for the encoding of the file; nil for UTF-8
}

// Decoded converts the text of a CSV or JSON file to UTF-8. If the mapping does not specify an encoding, Decoded
// detects UTF-16 by its byte order mark.
func (m *Mapper) Decoded(text io.Reader) io.Reader {
	if m.decoder == nil {
		in := bufio.NewReader(text)
		switch mark, _ := in.Peek(2); string(mark) { // if Peek fails, the next read returns the error
		case "\xff\xfe", "\xfe\xff":
			m.decoder, m.Encoding = unicode.UTF16(unicode.BigEndian, unicode.ExpectBOM), "UTF-16"
		default:
			return in
		}
		text = in
	}
	return transform.NewReader(text, m.decoder.NewDecoder())
}

// Readable returns an error if text is not UTF-8, or contains U+FFFD, with which a decoder has replaced invalid bytes.
// The reason is usually a wrong encoding.
func (m *Mapper) Readable(text string) error {
	switch {
	case !utf8.ValidString(text):
		return fmt.Errorf("not UTF-8: %q; --encoding names the encoding of the file, such as windows-1252", Cut(text))
	case m.decoder != nil && strings.ContainsRune(text, utf8.RuneError):
		return fmt.Errorf("not %s: %q", m.Encoding, Cut(text))
	}
	return nil
}

// Check returns an error if the mapping is invalid.
func (m *Mapping) Check() error {
	_, err := m.Mapper(File{})
	return err
}

// Mapper returns a Mapper for the rows of a file.
func (m *Mapping) Mapper(file File) (*Mapper, error) {
	one := &Mapper{Mapping: *m, file: file}
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

// Property reports whether a column becomes a property. It must be selected, and must be neither a system property nor
// used as a key.
func (m *Mapper) Property(column string) bool {
	switch {
	case column == PartitionKey, column == RowKey, column == Timestamp:
		return false
	case m.Select != nil && !slices.Contains(m.Select, column):
		return false
	}
	return !m.pk.renames(column) && !m.rk.renames(column)
}

// OwnKeys reports whether the file has a column for each of the two keys.
func (m *Mapper) OwnKeys() bool { return m.pk == nil && m.rk == nil }

// Needs returns the columns from which the keys are built. Every row must have them.
func (m *Mapper) Needs() (list []string) {
	for _, k := range [...]struct {
		template *keyTemplate
		own      string
	}{{m.pk, PartitionKey}, {m.rk, RowKey}} {
		if k.template == nil {
			list = append(list, k.own)
		} else {
			list = append(list, k.template.columns()...)
		}
	}
	return list
}

// Renamed returns the name of a column after --rename.
func (m *Mapping) Renamed(column string) string {
	if name, ok := m.Rename[column]; ok {
		return name
	}
	return column
}

func (m *Mapper) needs(column string) bool {
	return column == Timestamp || slices.Contains(m.Needs(), column)
}

// CheckRenamed returns an error if a column in --rename is missing from the file.
func (m *Mapping) CheckRenamed(columns []string) error {
	for _, name := range slices.Sorted(maps.Keys(m.Rename)) {
		if !slices.Contains(columns, name) {
			return fmt.Errorf("there is no column %q, which --rename names; the columns are %s", name, quoted(columns))
		}
	}
	return nil
}

// Check returns an error if the file lacks a column that the mapping refers to.
func (m *Mapper) Check(columns []string) error {
	for _, name := range m.Needs() {
		if slices.Contains(columns, name) {
			continue
		}
		if name == PartitionKey || name == RowKey {
			return fmt.Errorf("there is no column %s; --partition-key and --row-key build keys from other columns, which are %s", name, quoted(columns))
		}
		return fmt.Errorf("there is no column %q for the keys; the columns are %s", name, quoted(columns))
	}
	if m.TimestampAs != "" && !slices.Contains(columns, Timestamp) {
		return fmt.Errorf("--timestamp-as needs a column named Timestamp in the file; the columns are %s", quoted(columns))
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

// Complete sets the keys of a row and, if the mapping specifies it, adds the Timestamp as a property. It fails if no
// service would accept the row.
func (m *Mapper) Complete(r *Row, c Cells) (err error) {
	if r.PartitionKey, err = m.key(m.pk, PartitionKey, c); err != nil {
		return err
	}
	if r.RowKey, err = m.key(m.rk, RowKey, c); err != nil {
		return err
	}
	if err := m.keepTimestamp(r, c); err != nil {
		return err
	}
	return r.Check()
}

func (m *Mapper) key(k *keyTemplate, own string, c Cells) (string, error) {
	if k == nil {
		v, err := c.Cell(own)
		if err == nil && v.Type() == edm.TypeNull {
			err = fmt.Errorf("there is no %s: add one, or build it from other columns with %s", own, keyFlags[own])
		}
		return v.String(), err
	}
	text, err := k.make(origin{&m.file, m.Rows}, c)
	if err != nil {
		err = fmt.Errorf("%w, which is part of the %s", err, own)
	}
	return text, err
}

// Reason returns the reason for rejecting a row, with the keys of the row if they are known.
func (m *Mapper) Reason(err error, c Cells) string {
	pk, noPK := m.key(m.pk, PartitionKey, c)
	rk, noRK := m.key(m.rk, RowKey, c)
	if noPK != nil || noRK != nil {
		return explain(err)
	}
	return ReasonWithKeys(pk, rk, explain(err))
}

// ReasonWithKeys returns the reason for rejecting the row with the given keys.
func ReasonWithKeys(pk, rk, reason string) string {
	return fmt.Sprintf("PartitionKey %s, RowKey %s: %s", Cut(Printable(ranges.Quote(pk))), Cut(Printable(ranges.Quote(rk))), reason)
}

func (m *Mapper) keepTimestamp(r *Row, c Cells) error {
	if m.TimestampAs == "" {
		return nil
	}
	v, err := c.Cell(Timestamp)
	if err != nil {
		return err
	}
	if _, there := r.Properties.Lookup(m.TimestampAs); there {
		return fmt.Errorf("the row already has a property %s, which --timestamp-as would add", m.TimestampAs)
	}
	if v.Type() == edm.TypeDateTime {
		r.Properties = edm.AppendProperty(r.Properties, m.TimestampAs, v)
	}
	return nil
}
