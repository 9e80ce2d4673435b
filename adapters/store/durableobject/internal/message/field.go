package message

import (
	"encoding/binary"
	"unsafe"
)

// Reader reads fields from the front of a message. After an error, all fields are zero and OK returns false.
type Reader struct {
	rest   []byte
	bad    bool
	ranged bool // whether a Destination in the message has a Range
}

// Read returns a Reader over the fields in b.
func Read(b []byte) Reader { return Reader{rest: b} }

// OK reports whether all fields that were read were complete.
func (r *Reader) OK() bool { return !r.bad }

// Done reports whether all fields were complete and no bytes remain.
func (r *Reader) Done() bool { return !r.bad && len(r.rest) == 0 }

// Len returns the number of unread bytes.
func (r *Reader) Len() int { return len(r.rest) }

func (r *Reader) take(n int) []byte {
	if r.bad || n > len(r.rest) {
		r.bad, r.rest = true, nil
		return nil
	}
	b := r.rest[:n:n]
	r.rest = r.rest[n:]
	return b
}

// Byte reads one byte.
func (r *Reader) Byte() byte {
	if b := r.take(1); b != nil {
		return b[0]
	}
	return 0
}

// Bool reads one byte as a bool.
func (r *Reader) Bool() bool { return r.Byte() != 0 }

// Uint32 reads a number of four bytes.
func (r *Reader) Uint32() uint32 {
	if b := r.take(4); b != nil {
		return binary.BigEndian.Uint32(b)
	}
	return 0
}

// Uint64 reads a number of eight bytes.
func (r *Reader) Uint64() uint64 {
	if b := r.take(8); b != nil {
		return binary.BigEndian.Uint64(b)
	}
	return 0
}

// Number reads a uvarint. A number above limit is an error.
func (r *Reader) Number(limit uint64) uint64 {
	n, size := binary.Uvarint(r.rest)
	if size <= 0 || n > limit {
		r.bad, r.rest = true, nil
		return 0
	}
	r.rest = r.rest[size:]
	return n
}

// Size reads a uvarint that fits into an int on every platform.
func (r *Reader) Size() int { return int(r.Number(1<<31 - 1)) }

// Bytes reads a length and bytes. It returns nil if the length is 0.
func (r *Reader) Bytes() []byte {
	n := r.Number(uint64(len(r.rest)))
	if n == 0 {
		return nil
	}
	return r.take(int(n))
}

// Text reads a length and bytes as a string. The string shares the memory of the message.
func (r *Reader) Text() string {
	b := r.Bytes()
	return unsafe.String(unsafe.SliceData(b), len(b))
}

// Rest reads all remaining bytes.
func (r *Reader) Rest() []byte { return r.take(len(r.rest)) }

// Fixed reads len(dst) bytes into dst.
func (r *Reader) Fixed(dst []byte) { copy(dst, r.take(len(dst))) }

func appendBool(dst []byte, b bool) []byte {
	if b {
		return append(dst, 1)
	}
	return append(dst, 0)
}

// AppendBytes appends the length of b and then b.
func AppendBytes(dst, b []byte) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(b)))
	return append(dst, b...)
}

// AppendText appends the length of s and then s.
func AppendText(dst []byte, s string) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(s)))
	return append(dst, s...)
}

func appendNumber(dst []byte, n uint64) []byte { return binary.AppendUvarint(dst, n) }

func appendUint64(dst []byte, n uint64) []byte { return binary.BigEndian.AppendUint64(dst, n) }
