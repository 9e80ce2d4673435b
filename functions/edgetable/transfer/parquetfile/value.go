package parquetfile

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/parquet-go/parquet-go"

	"edgetable/core/edm"
)

// errNoType is the error for a column if no property type represents its values. The user can choose a type with
// --types.
var errNoType = errors.New("which no property can have: choose a type with --types")

// readColumn returns a function that reads the values of a column as the given type. If this type is null, the function
// reads them as the type that represents them exactly.
func readColumn(node parquet.Node, half bool, span unit, want edm.Type) (readValue, error) {
	t := node.Type()
	read, natural := naturalReader(t)
	switch {
	case half:
		read, natural = func(v parquet.Value) (edm.Value, error) { return edm.Double(float16(v.ByteArray())), nil }, edm.TypeDouble
	case span == interval && want != edm.TypeBinary:
		return nil, errors.New("is an interval of months, days and milliseconds, which no property can have: --types with Binary keeps its bytes")
	case span > 0 && want != edm.TypeString:
		return nil, errors.New("is a duration, which no property can have: --types with String keeps it as PT1H2M3S")
	case span > 0:
		return func(v parquet.Value) (edm.Value, error) { return durationText(v.Int64(), span) }, nil
	case isTime(t) && want != edm.TypeString:
		return nil, errors.New("is a time of day, which no property can have: import it as text such as 15:04:05, with the type String in --types")
	}
	switch {
	case want == edm.TypeNull && natural == edm.TypeNull:
		return nil, fmt.Errorf("has the type %v, %w", t, errNoType)
	case want == edm.TypeNull, want == natural:
		return read, nil
	}
	if other := reinterpret(t, natural, want); other != nil {
		return other, nil
	}
	return parseText(read, want), nil
}

// reinterpret returns a function that reads a column as the given type in spite of the column's annotation, which some
// programs omit or misuse. It returns nil if the values cannot be read in this way.
func reinterpret(t parquet.Type, natural, want edm.Type) readValue {
	switch {
	case want == edm.TypeString && natural == edm.TypeBinary: // old programs store text without annotation
		return readText
	case want == edm.TypeBinary && natural == edm.TypeString: // some programs annotate binary data as text
		return readBytes
	// polars stores a UUID as a byte array of variable length without annotation.
	case want == edm.TypeGuid && natural == edm.TypeBinary && t.Kind() == parquet.ByteArray:
		return func(v parquet.Value) (edm.Value, error) {
			if len(v.ByteArray()) != 16 {
				return edm.Value{}, fmt.Errorf("not a Guid: it has %d bytes", len(v.ByteArray()))
			}
			return readGuid(v)
		}
	case isUint64(t) && want == edm.TypeString:
		return func(v parquet.Value) (edm.Value, error) { return edm.String(strconv.FormatUint(v.Uint64(), 10)), nil }
	case isUint64(t) && want == edm.TypeDouble:
		return func(v parquet.Value) (edm.Value, error) { return edm.Double(float64(v.Uint64())), nil }
	case want == edm.TypeGuid && t.Kind() == parquet.FixedLenByteArray && t.Length() == 16: // Arrow stores a UUID as 16 bytes without annotation
		return readGuid
	}
	return nil
}

// parseText returns a function that reads a value and parses its text as the given type.
func parseText(read readValue, want edm.Type) readValue {
	return func(v parquet.Value) (edm.Value, error) {
		one, err := read(v)
		if err == errFine && want == edm.TypeString && v.Kind() == parquet.Int64 {
			return edm.String(time.Unix(0, v.Int64()).UTC().Format(time.RFC3339Nano)), nil
		}
		if err != nil {
			return one, err
		}
		text := one.String()
		if one.Type() == edm.TypeDouble && (want == edm.TypeInt32 || want == edm.TypeInt64) {
			text = strings.TrimSuffix(text, ".0") // pandas stores integers as floating-point numbers if the column has nulls
		}
		as, err := edm.Parse(want, text)
		if err != nil {
			err = fmt.Errorf("%w: %q", err, text)
		}
		return as, err
	}
}

// durationText formats a duration of n units in ISO 8601, such as PT1H2M3.5S.
func durationText(n int64, in unit) (edm.Value, error) {
	if limit := math.MaxInt64 / int64(in); n > limit || n < -limit {
		return edm.Value{}, errors.New("a duration of more than 292 years")
	}
	d := time.Duration(n * int64(in))
	sign := ""
	if d < 0 {
		sign, d = "-", -d
	}
	text := sign + "PT"
	if h := d / time.Hour; h > 0 {
		text += strconv.FormatInt(int64(h), 10) + "H"
	}
	if m := d / time.Minute % 60; m > 0 {
		text += strconv.FormatInt(int64(m), 10) + "M"
	}
	if s := d % time.Minute; s > 0 || d < time.Minute {
		text += strconv.FormatFloat(s.Seconds(), 'f', -1, 64) + "S"
	}
	return edm.String(text), nil
}

// float16 decodes a half-precision floating-point number: 1 sign bit, 5 exponent bits and 10 fraction bits.
func float16(b []byte) float64 {
	bits := uint16(b[0]) | uint16(b[1])<<8
	exponent, fraction := int(bits>>10&31), float64(bits&1023)
	var n float64
	switch exponent {
	case 31:
		if n = math.Inf(1); fraction != 0 {
			n = math.NaN()
		}
	case 0:
		n = math.Ldexp(fraction, -24)
	default:
		n = math.Ldexp(fraction+1024, exponent-25)
	}
	if bits>>15 != 0 {
		n = math.Copysign(n, -1)
	}
	return n
}
