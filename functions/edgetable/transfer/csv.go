package transfer

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"edgetable/core/edm"
	"edgetable/core/payload"
)

// typeSuffix marks the column with the types of another, as in Storage
// Explorer's files.
const typeSuffix = "@type"

// csvWriter appends entities as records of a CSV file: keys, Timestamp,
// properties. A property that an entity lacks is an empty cell; an empty text is
// a cell with two quotes.
type csvWriter struct {
	names     []string // of the properties
	index     map[string]int
	typed     bool // with a column for the type of each property
	timestamp bool
	excel     bool // guard texts that a spreadsheet would execute
	values    []edm.Value
	text      []byte
}

// newCSVWriter writes these properties. Names may hold system properties.
func newCSVWriter(names []string, typed, excel bool) *csvWriter {
	w := &csvWriter{typed: typed, excel: excel, index: map[string]int{}}
	for _, name := range names {
		switch name {
		case partitionKey, rowKey:
		case timestamp:
			w.timestamp = true
		default:
			w.index[name] = len(w.names)
			w.names = append(w.names, name)
		}
	}
	w.values = make([]edm.Value, len(w.names))
	return w
}

func (w *csvWriter) appendHead(dst []byte) []byte {
	dst = append(dst, partitionKey+","+rowKey...)
	if w.timestamp {
		dst = append(dst, ","+timestamp...)
	}
	for _, name := range w.names {
		dst = appendCell(append(dst, ','), name)
		if w.typed {
			dst = appendCell(append(dst, ','), name+typeSuffix)
		}
	}
	return append(dst, "\r\n"...)
}

func (w *csvWriter) append(dst []byte, e *payload.Received) []byte {
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

// appendText appends a text, which with excel does not begin a formula.
func (w *csvWriter) appendText(dst []byte, s string) []byte {
	if w.excel && s != "" && strings.IndexByte("=+-@\t\r", s[0]) >= 0 {
		s = "'" + s
	}
	return appendCell(dst, s)
}

// appendCell appends a cell that is not absent.
func appendCell(dst []byte, s string) []byte {
	if s != "" && !strings.ContainsAny(s, ",;\"\r\n") && s[0] != ' ' && s[len(s)-1] != ' ' && !strings.HasPrefix(s, "\ufeff") {
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

// cell is a cell as it was read.
type cell struct {
	text   string
	quoted bool
}

// absent reports whether the cell has no value at all.
func (c cell) absent() bool { return c.text == "" && !c.quoted }

// csvReader reads records. Unlike encoding/csv it knows an empty text from an
// absent one.
type csvReader struct {
	r         *bufio.Reader
	delimiter byte
	line      int // of the first line of the last record
	lines     int // lines begun
	buf       []byte
	ends      []int
	quoted    []bool
}

func newCSVReader(r io.Reader) (*csvReader, error) {
	c := &csvReader{r: bufio.NewReaderSize(r, 256<<10), delimiter: ',', lines: 1}
	head, err := c.r.Peek(64 << 10)
	if err != nil && err != io.EOF {
		return nil, err
	}
	if strings.HasPrefix(string(head), "\ufeff") {
		_, _ = c.r.Discard(3) // it was peeked at
		head = head[3:]
	}
	first, _, _ := strings.Cut(string(head), "\n")
	if !strings.Contains(first, ",") && strings.Contains(first, ";") {
		c.delimiter = ';'
	}
	return c, nil
}

// maxRecord is more than an entity of the greatest size takes, in any spelling.
const maxRecord = 16 << 20

// next returns the cells of the next record, valid until the one after it.
// Blank lines are left out. The error is io.EOF at the end.
func (c *csvReader) next() ([]cell, error) {
	for {
		list, err := c.record()
		if err != nil || len(list) != 1 || !list[0].absent() {
			return list, err
		}
	}
}

func (c *csvReader) record() ([]cell, error) {
	c.buf, c.ends, c.quoted = c.buf[:0], c.ends[:0], c.quoted[:0]
	c.line = c.lines
	begin, quoted := true, false // of a cell
	end := func() {
		c.ends, c.quoted = append(c.ends, len(c.buf)), append(c.quoted, quoted)
		begin, quoted = true, false
	}
	for n := 0; ; n++ {
		b, err := c.r.ReadByte()
		if err == io.EOF {
			if n == 0 {
				return nil, io.EOF
			}
			end()
			return c.cells(), nil
		}
		if err != nil {
			return nil, err
		}
		if len(c.buf) > maxRecord {
			return nil, fmt.Errorf("line %d: a record of more than %d MiB: is a quote missing?", c.line, maxRecord>>20)
		}
		switch {
		case b == '"' && begin:
			begin, quoted = false, true
			if err := c.text(); err != nil {
				return nil, err
			}
		case b == c.delimiter:
			end()
		case b == '\n' || b == '\r':
			if b == '\r' {
				if after, _ := c.r.Peek(1); len(after) == 1 && after[0] == '\n' {
					_, _ = c.r.ReadByte() // it was peeked at
				}
			}
			c.lines++
			end()
			return c.cells(), nil
		case quoted:
			if b != ' ' && b != '\t' {
				return nil, fmt.Errorf("line %d: a cell goes on after its closing quote", c.lines)
			}
		default:
			begin = false
			c.buf = append(c.buf, b)
		}
	}
}

// text reads a cell behind its opening quote, with the closing one.
func (c *csvReader) text() error {
	from := c.lines
	for {
		b, err := c.r.ReadByte()
		if err == io.EOF || len(c.buf) > maxRecord {
			return fmt.Errorf("line %d: the quote that begins there is not closed", from)
		}
		if err != nil {
			return err
		}
		if b == '"' {
			if after, _ := c.r.Peek(1); len(after) == 0 || after[0] != '"' {
				return nil
			}
			_, _ = c.r.ReadByte() // it was peeked at
		}
		if b == '\n' {
			c.lines++
		}
		c.buf = append(c.buf, b)
	}
}

func (c *csvReader) cells() []cell {
	list, text, from := make([]cell, len(c.ends)), string(c.buf), 0
	for i, to := range c.ends {
		list[i] = cell{text[from:to], c.quoted[i]}
		from = to
	}
	return list
}

// printCSV prints an entity, or keeps it until all columns are known.
func (p *Printer) printCSV(e payload.Received) error {
	if p.names != nil {
		if p.sheet == nil {
			p.sheet = newCSVWriter(p.names, p.format == "csv", p.excel)
			p.line = p.sheet.appendHead(p.line[:0])
		}
		p.line = p.sheet.append(p.line, &e)
		_, err := p.w.Write(p.line)
		p.line = p.line[:0]
		return err
	}
	p.kept = append(payload.AppendJSON(p.kept, e.PartitionKey, e.RowKey, e.Timestamp, e.Properties), '\n')
	p.columns.note(&e)
	return nil
}

func (p *Printer) closeCSV() error {
	if p.format == "table" || p.format == "jsonl" {
		return nil
	}
	if p.names == nil {
		p.names = append([]string{partitionKey, rowKey}, p.columns.names...)
		var r payload.Reader
		for line := range strings.Lines(string(p.kept)) {
			e, err := r.Entity([]byte(line))
			if err != nil {
				return err
			}
			if err := p.printCSV(e); err != nil {
				return err
			}
		}
	}
	if p.sheet == nil { // there is no entity
		_, err := p.w.Write(newCSVWriter(p.names, p.format == "csv", p.excel).appendHead(nil))
		return err
	}
	return nil
}

// columns collects the names of properties, in the order in which they appear.
type columns struct {
	names []string
	known map[string]bool
}

func (c *columns) note(e *payload.Received) {
	if c.known == nil {
		c.known = map[string]bool{}
	}
	if e.Timestamp != 0 {
		c.add(timestamp)
	}
	for name := range e.Properties.All() {
		c.add(name)
	}
}

func (c *columns) add(name string) {
	if !c.known[name] {
		name = strings.Clone(name)
		c.known[name] = true
		c.names = append(c.names, name)
	}
}
