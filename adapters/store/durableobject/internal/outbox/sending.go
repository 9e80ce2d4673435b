package outbox

import (
	"encoding/binary"
	"strings"

	"edgetable/adapters/store/durableobject/internal/message"
	"edgetable/adapters/store/durableobject/internal/storage"
	"edgetable/core/edm"
)

// sending is the progress of publishing. It is stored in the row storage.RowSending.
type sending struct {
	replica string
	source  string // the name of this object in the replica
	// retryAfter is the time before which no batch may be sent, because writes of an earlier batch may still arrive.
	retryAfter edm.Ticks
	failures   byte      // number of failures since something was published
	since      edm.Ticks // all changes before this time are published
	marked     edm.Ticks // when this object last reported a lag to the replica; 0 if the replica has no report
	sync       []byte    // the row at which the initial sync continues; nil if it is finished
}

func (s *sending) put(rows storage.Rows) {
	b := make([]byte, 0, 64+len(s.replica)+len(s.source)+len(s.sync))
	b = append(b, s.failures)
	for _, t := range [...]edm.Ticks{s.retryAfter, s.since, s.marked} {
		b = binary.BigEndian.AppendUint64(b, uint64(t))
	}
	for _, text := range [...]string{s.replica, s.source, string(s.sync)} {
		b = append(binary.AppendUvarint(b, uint64(len(text))), text...)
	}
	rows.Put(storage.RowSending, b)
}

func parseSending(v []byte) (s sending, ok bool) {
	r := message.Read(v)
	s.failures = r.Byte()
	s.retryAfter, s.since, s.marked = r.Ticks(), r.Ticks(), r.Ticks()
	s.replica, s.source = strings.Clone(r.Text()), strings.Clone(r.Text())
	if sync := r.Bytes(); len(sync) > 0 {
		s.sync = append([]byte(nil), sync...)
	}
	return s, r.Done()
}
