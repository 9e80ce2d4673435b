package protocol

import "encoding/binary"

// AppendLog appends the text fields of a response for a log, without unknown
// ones. It never appends the target of the request or a header, because they
// may contain keys, signatures and data.
func (r *Response) AppendLog(dst []Field) []Field {
	for _, f := range [...]Field{
		{Name: "operation", Value: r.Operation}, {Name: "account", Value: r.Account},
		{Name: "table", Value: r.Table}, {Name: "code", Value: r.Code}, {Name: "request", Value: r.RequestID},
	} {
		if f.Value != "" {
			dst = append(dst, f)
		}
	}
	return dst
}

// RandomID makes ids for [Handler.NewID] from random numbers. The ids must not
// collide, but they need not be secret.
func RandomID(random func() uint64) func() [16]byte {
	return func() (id [16]byte) {
		binary.LittleEndian.PutUint64(id[:8], random())
		binary.LittleEndian.PutUint64(id[8:], random())
		return id
	}
}
