package message

import "encoding/binary"

// AppendSelf appends an object's own destination, in the form in which a row stores it.
func AppendSelf(v []byte, p *Destination) []byte {
	return AppendDestination(binary.BigEndian.AppendUint32(v, p.Range), p)
}

// Self reads the address of the object itself, which the object keeps in a row.
func (r *Reader) Self() Destination {
	id := r.Uint32()
	p := r.Destination()
	p.Range = id
	return p
}
