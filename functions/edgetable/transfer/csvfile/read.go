package csvfile

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"edgetable/functions/edgetable/transfer/rows"
)

type cell struct {
	text   string
	quoted bool
}

// absent reports whether a cell is empty and unquoted. Such a cell means that the row has no value in its column.
func (c cell) absent() bool { return c.text == "" && !c.quoted }

// reader reads CSV records. Unlike encoding/csv, it distinguishes a quoted empty cell from an unquoted one.
type reader struct {
	r         *bufio.Reader
	delimiter byte
	oldMac    bool // true if lines end with CR only
	torn      bool // true if the last record ends without a newline
	line      int  // number of the first line of the current record
	lines     int  // number of the current line
	buf       []byte
	ends      []int
	quoted    []bool
}

func newReader(r io.Reader) (*reader, error) {
	c := &reader{r: bufio.NewReaderSize(r, 256<<10), delimiter: ',', lines: 1}
	head, err := c.r.Peek(64 << 10)
	if err != nil && err != io.EOF {
		return nil, err
	}
	if strings.HasPrefix(string(head), "\ufeff") {
		_, _ = c.r.Discard(3)
		head = head[3:]
	}
	first, _, lf := strings.Cut(string(head), "\n")
	// Excel takes the separator from a first line such as "sep=;".
	if line := strings.TrimSuffix(first, "\r"); lf && len(line) == len("sep=;") && strings.EqualFold(line[:4], "sep=") {
		_, _ = c.r.Discard(len(first) + 1)
		c.delimiter, c.lines = line[4], 2
		return c, nil
	}
	c.oldMac = !lf && strings.Contains(first, "\r")
	c.delimiter = delimiter(first)
	return c, nil
}

// delimiter returns the separator used in a line: the first comma, semicolon, tab or vertical bar outside quotes. The
// default is a comma.
func delimiter(line string) byte {
	quoted := false
	for i := range len(line) {
		switch c := line[i]; {
		case c == '"':
			quoted = !quoted
		case !quoted && (c == ',' || c == ';' || c == '\t' || c == '|'):
			return c
		}
	}
	return ','
}

// next returns the cells of the next record, which are valid until the next call. It skips blank lines, and returns
// io.EOF at the end of the file.
func (c *reader) next() ([]cell, error) {
	for {
		list, err := c.record()
		if err != nil || len(list) != 1 || !list[0].absent() {
			return list, err
		}
	}
}

func (c *reader) record() ([]cell, error) {
	c.buf, c.ends, c.quoted = c.buf[:0], c.ends[:0], c.quoted[:0]
	c.line = c.lines
	begin, quoted := true, false // begin means that no character of the cell has been read; quoted means that the cell has an opening quote
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
			c.torn = true
			return c.cells(), nil
		}
		if err != nil {
			return nil, err
		}
		if len(c.buf) > rows.MaxRecord {
			return nil, fmt.Errorf("line %d: a record of more than %d MiB: is a quote missing?", c.line, rows.MaxRecord>>20)
		}
		switch {
		case b == '"' && begin:
			begin, quoted = false, true
			if err := c.text(); err != nil {
				return nil, err
			}
		case b == c.delimiter:
			end()
		case b == '\n' || b == '\r' && c.endsLine():
			c.lines++
			end()
			return c.cells(), nil
		case quoted:
			if b != ' ' && b != '\t' {
				return nil, fmt.Errorf("line %d: there is text after the closing quote of a cell", c.lines)
			}
		default:
			begin = false
			c.buf = append(c.buf, b)
		}
	}
}

// endsLine reports whether the CR that was just read ends the line, and consumes the LF after it. Storage Explorer
// before 1.29 did not quote a CR in a cell.
func (c *reader) endsLine() bool {
	if after, _ := c.r.Peek(1); len(after) == 1 && after[0] == '\n' {
		_, _ = c.r.ReadByte()
		return true
	}
	return c.oldMac
}

// text reads the rest of a quoted cell, from the character after the opening quote up to the closing quote.
func (c *reader) text() error {
	from := c.lines
	for {
		b, err := c.r.ReadByte()
		if err == io.EOF || len(c.buf) > rows.MaxRecord {
			return fmt.Errorf("line %d: the quote that begins there is not closed", from)
		}
		if err != nil {
			return err
		}
		if b == '"' {
			if after, _ := c.r.Peek(1); len(after) == 0 || after[0] != '"' {
				return nil
			}
			_, _ = c.r.ReadByte()
		}
		if b == '\n' {
			c.lines++
		}
		c.buf = append(c.buf, b)
	}
}

func (c *reader) cells() []cell {
	list, text, from := make([]cell, len(c.ends)), string(c.buf), 0
	for i, to := range c.ends {
		list[i] = cell{text[from:to], c.quoted[i]}
		from = to
	}
	return list
}
