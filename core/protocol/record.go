package protocol

import "encoding/binary"

// AppendLog appends what a log says of a response besides its numbers, without
// what is not known. Neither the target of the request is among it nor any
// header: keys, signatures and data may be in them.
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

// RandomID makes ids for [Handler.NewID] of random numbers. They must not collide;
// nobody gains by guessing one.
func RandomID(random func() uint64) func() [16]byte {
	return func() (id [16]byte) {
		binary.LittleEndian.PutUint64(id[:8], random())
		binary.LittleEndian.PutUint64(id[8:], random())
		return id
	}
}
