package edm

import (
	"encoding/binary"
	"iter"
	"unsafe"
)

// Properties is an ordered list of named values in stored form. A property is
//
//	uvarint length of the name · name (UTF-8) · type (1 byte) · value
//
// where a value is 1 byte for Boolean, 4 for Int32, 8 for Int64, Double and
// DateTime (big-endian), 16 for Guid, and uvarint length and bytes for String
// and Binary. Lists are joined by appending one to the other. Nil is the empty
// list. Names are neither checked nor compared here.
type Properties []byte

// AppendProperty appends one property to the list; a null is not appended.
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

// Next splits the first property from the list. It is not ok at the end of the
// list, and where the bytes are no property. Name and value share p's memory:
// they are good for as long as p is not written to.
func (p Properties) Next() (name string, v Value, rest Properties, ok bool) {
	raw, rest, ok := p.cut()
	if !ok {
		return "", Value{}, nil, false
	}
	return raw.name, raw.value(), rest, true
}

// rawProperty is a property whose value was not looked at yet.
type rawProperty struct {
	name string
	data []byte
	typ  Type
}

func (p Properties) cut() (raw rawProperty, rest Properties, ok bool) {
	n, rest, ok := cutLength(p)
	if !ok || n >= uint64(len(rest)) {
		return raw, nil, false
	}
	raw.name = view(rest[:n])
	raw.typ = Type(rest[n])
	rest = rest[n+1:]
	switch raw.typ {
	case TypeBoolean:
		n = 1
	case TypeInt32:
		n = 4
	case TypeInt64, TypeDouble, TypeDateTime:
		n = 8
	case TypeGuid:
		n = 16
	case TypeString, TypeBinary:
		if n, rest, ok = cutLength(rest); !ok {
			return raw, nil, false
		}
	default:
		return raw, nil, false
	}
	if n > uint64(len(rest)) {
		return raw, nil, false
	}
	raw.data = rest[:n]
	return raw, rest[n:], true
}

// cutLength is binary.Uvarint with the one-byte case inlined.
func cutLength(p Properties) (n uint64, rest Properties, ok bool) {
	if len(p) > 0 && p[0] < 0x80 {
		return uint64(p[0]), p[1:], true
	}
	n, size := binary.Uvarint(p)
	if size <= 0 {
		return 0, nil, false
	}
	return n, p[size:], true
}

func (r rawProperty) value() Value {
	v := Value{typ: r.typ}
	switch r.typ {
	case TypeBoolean:
		v.bits = uint64(r.data[0])
	case TypeInt32:
		v.bits = uint64(binary.BigEndian.Uint32(r.data))
	case TypeInt64, TypeDouble, TypeDateTime:
		v.bits = binary.BigEndian.Uint64(r.data)
	default:
		v.text = view(r.data)
	}
	return v
}

func view(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// All iterates over the properties in order.
func (p Properties) All() iter.Seq2[string, Value] {
	return func(yield func(string, Value) bool) {
		for len(p) > 0 {
			raw, rest, ok := p.cut()
			if !ok || !yield(raw.name, raw.value()) {
				return
			}
			p = rest
		}
	}
}

// Lookup finds a property by its exact name.
func (p Properties) Lookup(name string) (Value, bool) {
	for len(p) > 0 {
		raw, rest, ok := p.cut()
		if !ok {
			break
		}
		if raw.name == name {
			return raw.value(), true
		}
		p = rest
	}
	return Value{}, false
}

// Count is the number of properties.
func (p Properties) Count() (n int) {
	for len(p) > 0 {
		_, rest, ok := p.cut()
		if !ok {
			break
		}
		n++
		p = rest
	}
	return n
}

// Valid reports whether the bytes are whole properties to the end.
func (p Properties) Valid() bool {
	for len(p) > 0 {
		_, rest, ok := p.cut()
		if !ok {
			return false
		}
		p = rest
	}
	return true
}

// Merge is p with patch on top: a property of both keeps its place and takes
// patch's value and type, those only in patch follow in patch's order. It is a
// new list, or one of its arguments where the other is empty.
func (p Properties) Merge(patch Properties) Properties {
	if len(p) == 0 {
		return patch
	}
	if len(patch) == 0 {
		return p
	}
	var names map[string]Properties // name → encoded property of patch
	lookup := func(name string) (Properties, bool) {
		if names != nil {
			one, ok := names[name]
			return one, ok
		}
		for q := patch; len(q) > 0; {
			raw, rest, ok := q.cut()
			if !ok {
				break
			}
			if raw.name == name {
				return q[:len(q)-len(rest)], true
			}
			q = rest
		}
		return nil, false
	}
	if patch.Count() > mergeByMap {
		names = make(map[string]Properties)
		for q := patch; len(q) > 0; {
			raw, rest, ok := q.cut()
			if !ok {
				break
			}
			names[raw.name] = q[:len(q)-len(rest)]
			q = rest
		}
	}
	out := make(Properties, 0, len(p)+len(patch))
	for q := p; len(q) > 0; {
		raw, rest, ok := q.cut()
		if !ok {
			break
		}
		if one, ok := lookup(raw.name); ok {
			out = append(out, one...)
		} else {
			out = append(out, q[:len(q)-len(rest)]...)
		}
		q = rest
	}
	for q := patch; len(q) > 0; {
		raw, rest, ok := q.cut()
		if !ok {
			break
		}
		if _, ok := p.Lookup(raw.name); !ok {
			out = append(out, q[:len(q)-len(rest)]...)
		}
		q = rest
	}
	return out
}

// mergeByMap is the number of properties in a patch from which a map beats
// going through the patch for every property of the entity.
const mergeByMap = 24
