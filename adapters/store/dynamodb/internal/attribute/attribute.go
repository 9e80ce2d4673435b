// Package attribute converts Edm values to attributes of DynamoDB items, and back. The documentation of package
// dynamodb shows the form of each type.
package attribute

import (
	"errors"
	"math"
	"strconv"
	"unicode/utf8"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"edgetable/core/edm"
)

// Tags of the types that DynamoDB does not have. An item stores a value of such a type in a map, with the tag as key.
const (
	TagInt64    = "Int64"
	TagDouble   = "Double"
	TagDateTime = "DateTime"
	TagGuid     = "Guid"
	TagString   = "String" // used only for strings that are not valid UTF-8
)

var errValue = errors.New("dynamodb: a property has an unknown form")

// String returns a string attribute.
func String(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }

// Number returns a number attribute.
func Number[N int | int64 | uint16 | edm.Ticks](n N) types.AttributeValue {
	return &types.AttributeValueMemberN{Value: strconv.FormatInt(int64(n), 10)}
}

// Binary returns a binary attribute that shares the memory of b. A nil b becomes an empty attribute, because the SDK
// would send nil as null.
func Binary(b []byte) types.AttributeValue {
	if b == nil {
		b = []byte{}
	}
	return &types.AttributeValueMemberB{Value: b}
}

// Digits returns the text of a number attribute, or "" for any other attribute.
func Digits(a types.AttributeValue) string {
	if n, ok := a.(*types.AttributeValueMemberN); ok {
		return n.Value
	}
	return ""
}

// Bytes returns the bytes of a binary attribute, or nil for any other attribute.
func Bytes(a types.AttributeValue) []byte {
	if b, ok := a.(*types.AttributeValueMemberB); ok {
		return b.Value
	}
	return nil
}

// Text returns the text of a string attribute, or "" for any other attribute.
func Text(a types.AttributeValue) string {
	if s, ok := a.(*types.AttributeValueMemberS); ok {
		return s.Value
	}
	return ""
}

func tagged(tag string, v types.AttributeValue) types.AttributeValue {
	return &types.AttributeValueMemberM{Value: map[string]types.AttributeValue{tag: v}}
}

// Of returns the stored form of a value. The attribute shares the value's memory.
func Of(v edm.Value) types.AttributeValue {
	switch v.Type() {
	case edm.TypeString:
		if !utf8.ValidString(v.Text()) {
			return tagged(TagString, Binary(v.Bytes()))
		}
		return String(v.Text())
	case edm.TypeBinary:
		return Binary(v.Bytes())
	case edm.TypeBoolean:
		return &types.AttributeValueMemberBOOL{Value: v.Bool()}
	case edm.TypeInt32:
		return Number(v.Int())
	case edm.TypeInt64:
		return tagged(TagInt64, Number(v.Int()))
	case edm.TypeDouble:
		return tagged(TagDouble, Double(v.Float()))
	case edm.TypeDateTime:
		if t := v.Ticks(); t < edm.MinDateTime || t > edm.MaxDateTime {
			return tagged(TagDateTime, Number(t))
		}
		return tagged(TagDateTime, String(v.String()))
	default:
		return tagged(TagGuid, String(v.String()))
	}
}

// Double returns the stored form of a Double:
//   - a number, if DynamoDB can store it: zero, or a magnitude from 1E-130 to below 1E+126
//   - text for other Doubles, −0, the infinities and NaN
//   - a binary with the bits in hexadecimal for a NaN with unusual bits
func Double(f float64) types.AttributeValue {
	abs := math.Abs(f)
	switch {
	case abs >= 1e-130 && abs < 1e126, f == 0 && !math.Signbit(f):
		return &types.AttributeValueMemberN{Value: strconv.FormatFloat(f, 'E', -1, 64)}
	case f != f && math.Float64bits(f) != math.Float64bits(math.NaN()):
		return Binary(strconv.AppendUint(nil, math.Float64bits(f), 16))
	}
	return String(string(edm.AppendDouble(nil, f)))
}

// Value returns the value that an attribute stores. It is the inverse of [Of].
func Value(a types.AttributeValue) (edm.Value, error) {
	switch a := a.(type) {
	case *types.AttributeValueMemberS:
		return edm.String(a.Value), nil
	case *types.AttributeValueMemberB:
		return edm.Binary(a.Value), nil
	case *types.AttributeValueMemberBOOL:
		return edm.Boolean(a.Value), nil
	case *types.AttributeValueMemberN:
		n, err := strconv.ParseInt(a.Value, 10, 32)
		return edm.Int32(int32(n)), err
	case *types.AttributeValueMemberM:
		if len(a.Value) != 1 {
			break
		}
		for tag, v := range a.Value {
			return taggedValue(tag, v)
		}
	}
	return edm.Value{}, errValue
}

func taggedValue(tag string, a types.AttributeValue) (edm.Value, error) {
	switch a := a.(type) {
	case *types.AttributeValueMemberN:
		switch tag {
		case TagInt64:
			n, err := strconv.ParseInt(a.Value, 10, 64)
			return edm.Int64(n), err
		case TagDouble:
			f, err := strconv.ParseFloat(a.Value, 64)
			return edm.Double(f), err
		case TagDateTime:
			n, err := strconv.ParseInt(a.Value, 10, 64)
			return edm.DateTime(edm.Ticks(n)), err
		}
	case *types.AttributeValueMemberS:
		switch tag {
		case TagDouble:
			f, err := edm.ParseDouble(a.Value)
			return edm.Double(f), err
		case TagDateTime:
			return edm.Parse(edm.TypeDateTime, a.Value)
		case TagGuid:
			return edm.Parse(edm.TypeGuid, a.Value)
		}
	case *types.AttributeValueMemberB:
		switch tag {
		case TagString:
			return edm.String(string(a.Value)), nil
		case TagDouble:
			bits, err := strconv.ParseUint(string(a.Value), 16, 64)
			return edm.Double(math.Float64frombits(bits)), err
		}
	}
	return edm.Value{}, errValue
}

// SizeOf returns an upper bound of the size that DynamoDB counts for a stored value. A number counts up to 21 bytes. A
// map counts 3 bytes, plus 1 byte and the size of each entry.
func SizeOf(v edm.Value) int {
	const number, mapOfOne = 21, 3 + 1 + len(TagDateTime)
	switch v.Type() {
	case edm.TypeString, edm.TypeBinary:
		return len(v.Text()) + mapOfOne
	case edm.TypeBoolean:
		return 1
	case edm.TypeInt32:
		return number
	case edm.TypeGuid:
		return mapOfOne + 36
	}
	return mapOfOne + 28 // The remaining types are Int64, Double and DateTime, of which a DateTime has the longest text.
}
