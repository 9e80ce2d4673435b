package message

import "encoding/binary"

// AppendSelf appends the destination of messages to an object, in the form of the object's row RowSelf.
func AppendSelf(v []byte, p *Destination) []byte {
	return AppendDestination(binary.BigEndian.AppendUint32(v, p.Range), p)
}

// Self reads a destination that AppendSelf has written.
func (r *Reader) Self() Destination {
	id := r.Uint32()
	p := r.Destination()
	p.Range = id
	return p
}
