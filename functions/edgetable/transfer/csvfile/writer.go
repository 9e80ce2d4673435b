package csvfile

import (
	"strings"

	"edgetable/core/edm"
	"edgetable/core/payload"
	"edgetable/functions/edgetable/transfer/rows"
)

// typeSuffix is the suffix of the names of type columns, as in Storage Explorer's files.
const typeSuffix = "@type"

// Writer formats entities as CSV records: PartitionKey, RowKey, Timestamp and the properties. A missing property is an
// empty cell, and an empty string is a pair of quotes.
type Writer struct {
	names     []string
	index     map[string]int
	typed     bool // true if each property gets a type column
	timestamp bool
	excel     bool // true if texts are changed so that a spreadsheet does not execute them as formulas
	values    []edm.Value
	text      []byte
}

// NewWriter returns a Writer for the named properties. names may include system properties.
func NewWriter(names []string, typed, excel bool) *Writer {
	w := &Writer{typed: typed, excel: excel, index: map[string]int{}}
	for _, name := range names {
		switch name {
		case rows.PartitionKey, rows.RowKey:
		case rows.Timestamp:
			w.timestamp = true
		default:
			w.index[name] = len(w.names)
			w.names = append(w.names, name)
		}
	}
	w.values = make([]edm.Value, len(w.names))
	return w
}

func (w *Writer) AppendHead(dst []byte) []byte {
	dst = append(dst, rows.PartitionKey+","+rows.RowKey...)
	if w.timestamp {
		dst = append(dst, ","+rows.Timestamp...)
	}
	for _, name := range w.names {
		dst = appendCell(append(dst, ','), name)
		if w.typed {
			dst = appendCell(append(dst, ','), name+typeSuffix)
		}
	}
	return append(dst, "\r\n"...)
}

func (w *Writer) Append(dst []byte, e *payload.Received) []byte {
	dst = w.appendText(dst, e.PartitionKey)
	dst = w.appendText(append(dst, ','), e.RowKey)
	if w.timestamp {
		dst = append(dst, ',')
		if e.Timestamp != 0 {
			dst = e.Timestamp.AppendText(dst)
		}
	}
	clear(w.values)
	for name, v := range e.Properties.All() {
		if i, ok := w.index[name]; ok {
			w.values[i] = v
		}
	}
	for _, v := range w.values {
		dst = append(dst, ',')
		switch v.Type() {
		case edm.TypeNull:
		case edm.TypeString:
			dst = w.appendText(dst, v.Text())
		case edm.TypeBinary: // base64 may start with +, which a spreadsheet interprets as a formula
			dst = w.appendText(dst, v.String())
		default:
			w.text = v.AppendText(w.text[:0])
			dst = appendCell(dst, string(w.text))
		}
		if w.typed {
			dst = append(dst, ',')
			if v.Type() != edm.TypeNull {
				dst = append(dst, v.Type().String()...)
			}
		}
	}
	return append(dst, "\r\n"...)
}

// appendText appends a string as a cell. If excel is set and a spreadsheet would execute the string, it prepends an
// apostrophe.
func (w *Writer) appendText(dst []byte, s string) []byte {
	if w.excel && s != "" && strings.IndexByte("=+-@\t\r", s[0]) >= 0 {
		s = "'" + s
	}
	return appendCell(dst, s)
}

// appendCell appends a cell, in quotes where necessary. An empty string is quoted, because an unquoted empty cell is a
// missing property.
func appendCell(dst []byte, s string) []byte {
	if s != "" && !strings.ContainsAny(s, ",;\t|\"\r\n") && s[0] != ' ' && s[len(s)-1] != ' ' && !strings.HasPrefix(s, "\ufeff") {
		return append(dst, s...)
	}
	dst = append(dst, '"')
	for {
		i := strings.IndexByte(s, '"')
		if i < 0 {
			return append(append(dst, s...), '"')
		}
		dst = append(append(dst, s[:i]...), `""`...)
		s = s[i+1:]
	}
}
