package logfile

import (
	"io"

	"github.com/cockroachdb/pebble/v2/record"
)

// Write writes the records as a log that Pebble reads.
func Write(w io.Writer, records []Record) error {
	out := record.NewWriter(w)
	for _, r := range records {
		if _, err := out.WriteRecord(r.Payload); err != nil {
			return err
		}
	}
	return out.Close()
}
