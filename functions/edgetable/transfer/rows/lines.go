package rows

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
)

// LineReader reads the lines of a file and counts them.
type LineReader struct {
	r      *bufio.Reader
	number int
	Torn   bool // true if the last line of the file ends without a newline
	long   []byte
}

// NewLineReader returns a LineReader that reads from r.
func NewLineReader(r io.Reader) *LineReader {
	return &LineReader{r: bufio.NewReaderSize(r, 256<<10)} // if r is a bufio.Reader with this buffer size, NewReaderSize returns r itself
}

// Next returns the next line that is not blank, and its number. The line is valid until the next call.
func (l *LineReader) Next() ([]byte, int, error) {
	for {
		line, err := l.line()
		if len(bytes.TrimSpace(line)) > 0 || err != nil {
			return line, l.number, err
		}
	}
}

func (l *LineReader) line() ([]byte, error) {
	l.number++
	line, err := l.r.ReadSlice('\n')
	if err == bufio.ErrBufferFull {
		l.long = append(l.long[:0], line...)
		for err == bufio.ErrBufferFull {
			if len(l.long) > MaxRecord {
				return nil, fmt.Errorf("a line of more than %d MiB", MaxRecord>>20)
			}
			line, err = l.r.ReadSlice('\n')
			l.long = append(l.long, line...)
		}
		line = l.long
	}
	if err == io.EOF && len(line) > 0 {
		l.Torn, err = true, nil
	}
	return line, err
}

// MaxRecord is a size in bytes that the text of an entity never reaches, in any encoding.
const MaxRecord = 16 << 20
