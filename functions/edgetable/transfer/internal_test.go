package transfer

import (
	"edgetable/functions/edgetable/transfer/internal/size"
)

func init() {
	size.WakeEvery, size.WorthDividing, size.Object = 100, 400, 300<<10
}

// SetMemory sets the maximum bytes of rows in memory for sorting.
func SetMemory(o *Import, bytes int) { o.memory = bytes }

// Verify exports the method verify, which compares the file with its entry in the manifest. Rows
// returns the number of rows in that entry.
func (s *Source) Verify() error { return s.verify() }
func (s *Source) Rows() int64   { return s.stored.Rows }
