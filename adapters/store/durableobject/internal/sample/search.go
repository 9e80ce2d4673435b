package sample

import (
	"bytes"

	"edgetable/adapters/store/durableobject/internal/storage"
	"edgetable/core/key"
)

// Search finds the first partition that begins after half of the bytes of a range.
type Search struct {
	Half int64
	From []byte // the row at which the search continues

	passed int64
	last   []byte // the partition of the last row
	border []byte // the beginning of the last partition that was read; nil if only one partition was read
}

// searched is the number of bytes that one Run reads.
const searched = 4 << 20

// Run reads the next rows, up to the row with the key to. When the search is finished, done is true, and the result
// found is the key that was found, or nil if all rows are in one partition.
func (s *Search) Run(rows storage.Rows, to []byte) (found []byte, done bool) {
	read := 0
	for k, v := range rows.Scan(s.From, to, storage.MostRun) {
		if read >= searched {
			s.From = bytes.Clone(k)
			return nil, false
		}
		partition, _ := key.Split(k[1:])
		if s.last != nil && !bytes.Equal(partition, s.last) {
			s.border = bytes.Clone(partition)
			if s.passed >= s.Half {
				break
			}
		}
		if s.last == nil || !bytes.Equal(partition, s.last) {
			s.last = append([]byte{}, partition...)
		}
		n := len(k) + len(v)
		read += n
		s.passed += int64(n)
	}
	return s.border, true
}
