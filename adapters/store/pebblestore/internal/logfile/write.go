package logfile

import (
	"encoding/binary"
	"io"

	"github.com/cockroachdb/pebble/v2/record"
)

// Write writes the records as a closed log that Pebble can read.
func Write(w io.Writer, number uint32, records []Record) error {
	c := &counter{w: w}
	out := record.NewWriter(c)
	for _, r := range records {
		if _, err := out.WriteRecord(r.Payload); err != nil {
			return err
		}
	}
	if err := out.Close(); err != nil {
		return err
	}
	var b []byte
	if rest := blockSize - c.n%blockSize; rest < numberHeader {
		b = make([]byte, rest)
	}
	_, err := w.Write(append(b, end(number)...))
	return err
}

// end returns the trailer of the closed log with this number. See isTrailer.
func end(number uint32) []byte {
	return binary.LittleEndian.AppendUint32([]byte{0, 0, 0, 0, 0, 0, 5}, number+1)
}

type counter struct {
	w io.Writer
	n int
}

func (c *counter) Write(b []byte) (int, error) {
	n, err := c.w.Write(b)
	c.n += n
	return n, err
}
