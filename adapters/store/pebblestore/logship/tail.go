package logship

import (
	"errors"
	"io"

	"github.com/cockroachdb/pebble/v2/batchrepr"
	"github.com/cockroachdb/pebble/v2/vfs"

	"edgetable/adapters/store/pebblestore/internal/logfile"
	"edgetable/adapters/store/pebblestore/internal/logguard"
	"edgetable/core/commitlog"
)

// tail reads a log that is still being written. It reads each record once.
type tail struct {
	log    uint32
	offset int64 // offset of the byte after the last record that was read
}

// step is the number of bytes of a log that one call reads. It is small, because old bytes of a reused file may follow
// the end of the log.
const step = 64 << 10

// read passes each new commit of the log to the function yield. It reads the records into memory that the function
// buffer returns.
func (t *tail) read(f vfs.File, buffer func(size int) []byte, yield func(commitlog.Commit)) error {
	for size := step; ; {
		b, start := buffer(size), logfile.BlockOf(t.offset)
		n, err := f.ReadAt(b, start)
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		end, more := logfile.Follow(b[:n], int(t.offset-start), t.log, func(record []byte) {
			if m, ok := logguard.MarkOf(record); ok && m.Number > 0 {
				h, _ := batchrepr.ReadHeader(record)
				yield(commitlog.Commit{Number: m.Number, Record: record, Empty: h.Count == 0})
			}
		})
		before := t.offset
		t.offset = start + int64(end)
		switch {
		case !more || n < size:
			return nil
		case t.offset == before: // the next record is longer than size
			size *= 2
		default:
			size = step
		}
	}
}
