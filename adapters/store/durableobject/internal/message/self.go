package message

import "encoding/binary"

// AppendSelf appends the destination of messages to an object, for a row.
func AppendSelf(v []byte, p *Destination) []byte {
	return AppendDestination(binary.BigEndian.AppendUint32(v, p.Range), p)
}

// Self reads the destination of messages to an object.
func (r *Reader) Self() Destination {
	id := r.Uint32()
	p := r.Destination()
	p.Range = id
	return p
}
