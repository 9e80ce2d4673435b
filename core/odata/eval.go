package odata

import (
	"bytes"
	"math"
	"strings"
	"unsafe"

	"edgetable/core/edm"
	"edgetable/core/key"
)

// entity is an entity for which a filter is evaluated. The first access to a property looks up all properties of the
// filter in one pass.
type entity struct {
	key        []byte
	timestamp  edm.Ticks
	properties edm.Properties
	names      []string
	resolved   bool
	values     [maxValues]edm.Value // values of the properties in Filter.names; a value is null if the entity lacks the property
}

// maxValues is the maximum number of properties to look up in one pass; further properties are looked up one by one.
// The maximum keeps the struct entity small enough for the stack.
const maxValues = 8

func (e *entity) matches(x *expr) bool {
	switch x.kind {
	case constant:
		return x.truth
	case comparison:
		return x.op&e.outcome(x) != 0
	case function:
		return e.calls(x)
	case conjunction:
		for _, o := range x.operands {
			if !e.matches(o) {
				return false
			}
		}
		return true
	case disjunction:
		for _, o := range x.operands {
			if e.matches(o) {
				return true
			}
		}
		return false
	}
	return !e.matches(x.operands[0])
}

// outcome compares the stored value with the literal of x. It returns exactly one outcome.
func (e *entity) outcome(x *expr) operator {
	if x.field >= 0 {
		return compare(e.value(x), &x.literal, x.op)
	}
	if e.key == nil {
		return absent
	}
	if x.field == fieldTimestamp {
		return compare(edm.DateTime(e.timestamp), &x.literal, x.op)
	}
	// Encoded keys can be compared byte by byte, because the encoding preserves the UTF-16 order.
	return outcome(bytes.Compare(e.part(x), x.rotated))
}

func (e *entity) calls(x *expr) bool {
	if x.field >= 0 {
		v := e.value(x)
		return v.Type() == edm.TypeString && x.function.Of(v.Text(), x.literal.Text())
	}
	if e.key == nil {
		return false
	}
	// Test the encoded key and the encoded literal without decoding them. The result is the same, because the encoding
	// maps characters one to one.
	part := e.part(x)
	return x.function.Of(unsafe.String(unsafe.SliceData(part), len(part)), unsafe.String(unsafe.SliceData(x.rotated), len(x.rotated)))
}

// value returns the value of the property that x tests, or null if the entity lacks the property.
func (e *entity) value(x *expr) edm.Value {
	if x.field >= maxValues {
		v, _ := e.properties.Lookup(x.name)
		return v
	}
	if !e.resolved {
		e.resolve()
	}
	return e.values[x.field]
}

// part returns the encoded PartitionKey or RowKey, whichever x tests.
func (e *entity) part(x *expr) []byte {
	part, row := key.Split(e.key)
	if x.field == fieldRowKey {
		return row
	}
	return part
}

func (e *entity) resolve() {
	e.resolved = true
	e.properties.Gather(e.names[:min(len(e.names), maxValues)], e.values[:])
}

// compare compares a stored value with a literal by the rules in the package comment. If op only tests for equality,
// compare may return the outcome less for any unequal value, which is faster.
func compare(v edm.Value, literal *edm.Value, op operator) operator {
	switch v.Type() {
	case edm.TypeNull:
		return absent
	case literal.Type():
		return compareSame(v, literal, op)
	case edm.TypeInt64:
		if literal.Type() == edm.TypeInt32 {
			return compareInts(v.Int(), literal.Int())
		}
	case edm.TypeDouble:
		if t := literal.Type(); t == edm.TypeInt32 || t == edm.TypeInt64 {
			return compareFloatInt(v.Float(), literal.Int())
		}
	}
	return less
}

func compareSame(v edm.Value, literal *edm.Value, op operator) operator {
	switch v.Type() {
	case edm.TypeString:
		if a, b := v.Text(), literal.Text(); a == b {
			return equal
		} else if op == opEq || op == opNe {
			return less // eq and ne do not distinguish less and greater
		} else {
			return outcome(key.Compare(a, b))
		}
	case edm.TypeBinary, edm.TypeGuid:
		return outcome(strings.Compare(v.Text(), literal.Text()))
	case edm.TypeDouble:
		return compareFloats(v.Float(), literal.Float())
	case edm.TypeBoolean:
		switch {
		case v.Bool() == literal.Bool():
			return equal
		case v.Bool():
			return greater
		}
		return less
	}
	return compareInts(v.Int(), literal.Int()) // both values are of type DateTime, Int32 or Int64
}

func outcome(c int) operator {
	switch {
	case c < 0:
		return less
	case c > 0:
		return greater
	}
	return equal
}

func compareInts(a, b int64) operator {
	switch {
	case a < b:
		return less
	case a > b:
		return greater
	}
	return equal
}

func compareFloats(a, b float64) operator {
	switch {
	case a < b:
		return less
	case a > b:
		return greater
	case a == b:
		return equal
	}
	return unordered
}

// compareFloatInt compares exactly, without rounding i to a float.
func compareFloatInt(f float64, i int64) operator {
	switch {
	case f >= 1<<63:
		return greater
	case f < -1<<63:
		return less
	case math.IsNaN(f):
		return unordered
	}
	whole := math.Trunc(f)
	if o := compareInts(int64(whole), i); o != equal {
		return o
	}
	return compareFloats(f, whole)
}
