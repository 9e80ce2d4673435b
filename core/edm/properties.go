package edm

import (
	"encoding/binary"
	"iter"
	"slices"
	"strings"
	"unsafe"
)

// Properties is an ordered list of named values in stored form. Each property is
//
//	uvarint length of the name · name (UTF-8) · type (1 byte) · value
//
// A value has 1 byte for Boolean, 4 bytes for Int32, 8 bytes (big-endian) for Int64, Double and DateTime, and 16 bytes
// for Guid. A String or Binary is a uvarint length and the bytes. Lists can be concatenated. nil is the empty list.
// This package does not validate names.
type Properties []byte

// AppendProperty appends one property to the list. It omits a null value.
func AppendProperty(p Properties, name string, v Value) Properties {
	if v.typ == TypeNull {
		return p
	}
	p = binary.AppendUvarint(p, uint64(len(name)))
	p = append(p, name...)
	p = append(p, byte(v.typ))
	switch v.typ {
	case TypeBoolean:
		return append(p, byte(v.bits))
	case TypeInt32:
		return binary.BigEndian.AppendUint32(p, uint32(v.bits))
	case TypeInt64, TypeDouble, TypeDateTime:
		return binary.BigEndian.AppendUint64(p, v.bits)
	case TypeGuid:
		return append(p, v.text...)
	default:
		p = binary.AppendUvarint(p, uint64(len(v.text)))
		return append(p, v.text...)
	}
}

// Next splits the first property from the list. ok is false at the end of the list, or if the bytes are not a property.
// The results name and v share memory with p.
func (p Properties) Next() (name string, v Value, rest Properties, ok bool) {
	at, ok := p.locate(0)
	if !ok {
		return "", Value{}, nil, false
	}
	return view(p[at.name:at.typ]), p.value(at), p[at.end:], true
}

// offsets holds the offsets of one property's name, type, value and end. The name ends where the type begins.
type offsets struct{ name, typ, value, end int }

// fixedSize holds, for each type, the length of a value in bytes, or −1 if values store their length.
var fixedSize = [...]int{
	TypeNull: 0, TypeBinary: -1, TypeBoolean: 1, TypeDateTime: 8, TypeDouble: 8,
	TypeGuid: 16, TypeInt32: 4, TypeInt64: 8, TypeString: -1,
}

// locate finds the parts of the property at offset i. It returns offsets because they fit into registers, unlike
// slices.
func (p Properties) locate(i int) (at offsets, ok bool) {
	var n int
	if at.name, n, ok = p.length(i); !ok {
		return at, false
	}
	at.typ = at.name + n
	if at.typ >= len(p) || p[at.typ] == byte(TypeNull) || int(p[at.typ]) >= len(fixedSize) {
		return at, false
	}
	at.value = at.typ + 1
	if n = fixedSize[p[at.typ]]; n < 0 {
		if at.value, n, ok = p.length(at.value); !ok {
			return at, false
		}
	}
	at.end = at.value + n
	return at, at.end <= len(p)
}

// length reads the length that is stored at offset i. The result end is the offset after the stored length. ok is
// false for a length beyond the end of the list.
func (p Properties) length(i int) (end, n int, ok bool) {
	if i < len(p) && p[i] < 0x80 {
		return i + 1, int(p[i]), true
	}
	return p.longLength(i)
}

func (p Properties) longLength(i int) (next, n int, ok bool) {
	u, size := binary.Uvarint(p[min(i, len(p)):])
	if size <= 0 || u > uint64(len(p)) {
		return 0, 0, false
	}
	return i + size, int(u), true
}

func (p Properties) value(at offsets) Value {
	v := Value{typ: Type(p[at.typ])}
	data := p[at.value:at.end]
	switch v.typ {
	case TypeBoolean:
		v.bits = uint64(data[0])
	case TypeInt32:
		v.bits = uint64(binary.BigEndian.Uint32(data))
	case TypeInt64, TypeDouble, TypeDateTime:
		v.bits = binary.BigEndian.Uint64(data)
	default:
		v.text = view(data)
	}
	return v
}

func view(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// All iterates over the properties in order.
func (p Properties) All() iter.Seq2[string, Value] {
	return func(yield func(string, Value) bool) {
		for i := 0; i < len(p); {
			at, ok := p.locate(i)
			if !ok || !yield(view(p[at.name:at.typ]), p.value(at)) {
				return
			}
			i = at.end
		}
	}
}

// Lookup returns the value of the property with the given name.
func (p Properties) Lookup(name string) (Value, bool) {
	for i := 0; i < len(p); {
		at, ok := p.locate(i)
		if !ok {
			break
		}
		if string(p[at.name:at.typ]) == name {
			return p.value(at), true
		}
		i = at.end
	}
	return Value{}, false
}

// Gather looks up several properties in one pass. It sets values[i] to the value of the property names[i], if there is
// one. The names must be distinct.
func (p Properties) Gather(names []string, values []Value) {
	for left, i := len(names), 0; left > 0 && i < len(p); {
		at, ok := p.locate(i)
		if !ok {
			return
		}
		for j, name := range names {
			if string(p[at.name:at.typ]) == name {
				values[j] = p.value(at)
				left--
				break
			}
		}
		i = at.end
	}
}

// Count returns the number of properties.
func (p Properties) Count() (n int) {
	for i := 0; i < len(p); n++ {
		at, ok := p.locate(i)
		if !ok {
			break
		}
		i = at.end
	}
	return n
}

// Valid reports whether the list consists of complete properties.
func (p Properties) Valid() bool {
	for i := 0; i < len(p); {
		at, ok := p.locate(i)
		if !ok {
			return false
		}
		i = at.end
	}
	return true
}

// Merge returns the properties of p and patch, sorted by name as in the service's replies. For a name in both lists,
// the property of patch is used. If p is empty, Merge returns patch itself.
func (p Properties) Merge(patch Properties) Properties { return p.MergeIn(nil, patch) }

// MergeIn is like [Properties.Merge] but builds the result in the buffer room if this buffer is large enough for both
// lists.
func (p Properties) MergeIn(room []byte, patch Properties) Properties {
	if len(p) == 0 {
		return patch
	}
	type property struct {
		name    string
		encoded Properties
	}
	var buf [24]property
	all := buf[:0]
	for _, list := range [...]Properties{p, patch} {
		for i := 0; i < len(list); {
			at, ok := list.locate(i)
			if !ok {
				break
			}
			one := property{view(list[at.name:at.typ]), list[i:at.end]}
			i = at.end
			place, known := len(all), false
			if place > 0 && all[place-1].name >= one.name { // fast path: a list is usually sorted
				place, known = slices.BinarySearchFunc(all, one.name, func(p property, name string) int { return strings.Compare(p.name, name) })
			}
			if known {
				all[place] = one
			} else {
				all = slices.Insert(all, place, one)
			}
		}
	}
	out := Properties(room[:0])
	if cap(out) < len(p)+len(patch) {
		out = make(Properties, 0, len(p)+len(patch))
	}
	for _, one := range all {
		out = append(out, one.encoded...)
	}
	return out
}
