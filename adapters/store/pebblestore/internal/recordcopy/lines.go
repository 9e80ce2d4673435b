package recordcopy

import (
	"encoding/base64"
	"fmt"
	"hash/crc32"

	"edgetable/core/table"
)

// Head returns the first line of the file, with the format version of the store.
func Head(format uint32) []byte { return line("edgetable %d", format) }

// Store returns the line with the identity of the store. Earlier versions ignore this line.
func Store(identity string) []byte { return line("store %s", identity) }

// Record returns the line of a record, with the text of its key and its stored value.
func Record(k string, v []byte) []byte {
	return line("record %q %s", k, base64.StdEncoding.EncodeToString(v))
}

// Drop returns the line for the drop of a table.
func Drop(i table.Incarnation) []byte { return line("drop %x", i[:]) }

func line(format string, args ...any) []byte {
	b := fmt.Appendf(nil, format, args...)
	return fmt.Appendf(b, " %08x\n", crc32.ChecksumIEEE(b))
}
