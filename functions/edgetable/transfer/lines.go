package transfer

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
)

// lineReader reads the lines of a file of entities and counts them.
type lineReader struct {
	r      *bufio.Reader
	number int  // of the last line
	torn   bool // the last line has no end
	long   []byte
}

func newLineReader(r io.Reader) *lineReader {
	return &lineReader{r: bufio.NewReaderSize(r, 256<<10)} // r itself, if it is a large one
}

// next returns the next line that is not blank, valid until the next call, and its
// number.
func (l *lineReader) next() ([]byte, int, error) {
	for {
		line, err := l.line()
		if len(bytes.TrimSpace(line)) > 0 || err != nil {
			return line, l.number, err
		}
	}
}

func (l *lineReader) line() ([]byte, error) {
	l.number++
	line, err := l.r.ReadSlice('\n')
	if err == bufio.ErrBufferFull {
		l.long = append(l.long[:0], line...)
		for err == bufio.ErrBufferFull {
			if len(l.long) > maxRecord {
				return nil, fmt.Errorf("a line of more than %d MiB", maxRecord>>20)
			}
			line, err = l.r.ReadSlice('\n')
			l.long = append(l.long, line...)
		}
		line = l.long
	}
	if err == io.EOF && len(line) > 0 {
		l.torn, err = true, nil
	}
	return line, err
}
