package logfile_test

import (
	"bytes"
	"fmt"
	"io"
	"testing"

	"github.com/cockroachdb/pebble/v2/record"
)

// pebbleReads returns the records that Pebble's own reader finds.
func pebbleReads(t *testing.T, content []byte, number uint32) [][]byte {
	t.Helper()
	r := newReader(record.NewReader, content, number)
	var list [][]byte
	for {
		one, err := r.Next()
		if err != nil {
			return list
		}
		b, err := io.ReadAll(one)
		if err != nil {
			return list
		}
		list = append(list, b)
	}
}

func logName(number uint32) string { return fmt.Sprintf("%06d.log", number) }

func fscan(name string, number *uint32) (int, error) { return fmt.Sscanf(name, "%d.log", number) }

type quiet struct{}

func (quiet) Infof(string, ...any)         {}
func (quiet) Errorf(string, ...any)        {}
func (quiet) Fatalf(f string, args ...any) { panic(fmt.Sprintf(f, args...)) }

// newReader calls record.NewReader. It is generic because the type of the second parameter is in an
// internal package of Pebble.
func newReader[N ~uint64](make func(io.Reader, N) *record.Reader, content []byte, number uint32) *record.Reader {
	return make(bytes.NewReader(content), N(number))
}
