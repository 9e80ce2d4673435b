package edm

import (
	"math"
	"unsafe"
)

// Type is an Edm type. The numbers of the types are part of the stored form and never change.
type Type uint8

// The Edm types. TypeNull has no stored form: a null property is the same as an absent one.
const (
	TypeNull Type = iota
	TypeBinary
	TypeBoolean
	TypeDateTime
	TypeDouble
	TypeGuid
	TypeInt32
	TypeInt64
	TypeString
)

var typeNames = [...]string{
	TypeNull:     "null",
	TypeBinary:   "Edm.Binary",
	TypeBoolean:  "Edm.Boolean",
	TypeDateTime: "Edm.DateTime",
	TypeDouble:   "Edm.Double",
	TypeGuid:     "Edm.Guid",
	TypeInt32:    "Edm.Int32",
	TypeInt64:    "Edm.Int64",
	TypeString:   "Edm.String",
}

// String returns the wire name of the type, such as "Edm.Int64".
func (t Type) String() string {
	if int(t) < len(typeNames) {
		return typeNames[t]
	}
	return "Edm.?"
}

// ParseType is the inverse of [Type.String] for the eight types. It is case-sensitive.
func ParseType(name string) (Type, bool) {
	for t := TypeBinary; t <= TypeString; t++ {
		if typeNames[t] == name {
			return t, true
		}
	}
	return TypeNull, false
}

// Value is one typed value; the zero Value is null. The operator == compares a Double by its bits: NaN equals itself,
// and 0 differs from −0.
type Value struct {
	text string // content of a String or Binary, or the 16 bytes of a Guid
	bits uint64 // bits of a Boolean, DateTime, Double, Int32 or Int64
	typ  Type
}

// String returns an Edm.String.
func String(s string) Value { return Value{typ: TypeString, text: s} }

// Binary returns an Edm.Binary with a copy of b.
func Binary(b []byte) Value { return Value{typ: TypeBinary, text: string(b)} }

// Boolean returns an Edm.Boolean.
func Boolean(b bool) Value {
	v := Value{typ: TypeBoolean}
	if b {
		v.bits = 1
	}
	return v
}

// Int32 returns an Edm.Int32.
func Int32(i int32) Value { return Value{typ: TypeInt32, bits: uint64(uint32(i))} }

// Int64 returns an Edm.Int64.
func Int64(i int64) Value { return Value{typ: TypeInt64, bits: uint64(i)} }

// Double returns an Edm.Double. It preserves the bits of f.
func Double(f float64) Value { return Value{typ: TypeDouble, bits: math.Float64bits(f)} }

// DateTime returns an Edm.DateTime.
func DateTime(t Ticks) Value { return Value{typ: TypeDateTime, bits: uint64(t)} }

// Guid returns an Edm.Guid. The bytes of g are in the order of the text form.
func Guid(g [16]byte) Value { return Value{typ: TypeGuid, text: string(g[:])} }

// Type returns the type of the value.
func (v Value) Type() Type { return v.typ }

// Text returns the characters of a String, the bytes of a Binary or Guid, and "" for other types. If the value is from
// [Properties], the text shares memory with the list.
func (v Value) Text() string { return v.text }

// Bytes returns [Value.Text] as a slice, which must not be modified.
func (v Value) Bytes() []byte { return unsafe.Slice(unsafe.StringData(v.text), len(v.text)) }

// Bool returns the value of a Boolean.
func (v Value) Bool() bool { return v.bits != 0 }

// Int returns the value of an Int32 or Int64.
func (v Value) Int() int64 {
	if v.typ == TypeInt32 {
		return int64(int32(v.bits))
	}
	return int64(v.bits)
}

// Float returns the value of a Double.
func (v Value) Float() float64 { return math.Float64frombits(v.bits) }

// Ticks returns the value of a DateTime.
func (v Value) Ticks() Ticks { return Ticks(v.bits) }

// Size returns the number of bytes that the value adds to the size of its entity, by the service's published formula.
// The size of an entity is limited to 1 MiB.
func (v Value) Size() int {
	switch v.typ {
	case TypeString:
		return 4 + 2*UTF16Len(v.text)
	case TypeBinary:
		return 4 + len(v.text)
	case TypeDateTime, TypeDouble, TypeInt64:
		return 8
	case TypeGuid:
		return 16
	case TypeInt32:
		return 4
	case TypeBoolean:
		return 1
	}
	return 0
}

// UTF16Len returns the length of s in UTF-16 code units, the unit of the service's limits. An invalid UTF-8 byte counts
// as one unit.
func UTF16Len(s string) int {
	i := 0
	for i < len(s) && s[i] < 0x80 {
		i++
	}
	if i == len(s) {
		return i
	}
	n := i
	for _, r := range s[i:] {
		if r >= 0x10000 {
			n++
		}
		n++
	}
	return n
}
