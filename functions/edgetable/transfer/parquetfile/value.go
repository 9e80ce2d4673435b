package parquetfile

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"

	"edgetable/core/edm"
	"edgetable/functions/edgetable/transfer/rows"
)

// readValue converts a parquet value to the value of a property. The parquet value must not be null.
type readValue func(v parquet.Value) (edm.Value, error)

// errNoType is the error for a column whose values no property type can hold. The option --types can
// choose a type for such a column.
var errNoType = errors.New("which no property can have: choose a type with --types")

// readColumn returns a function that reads the values of a column. The values get the type want. If want
// is the null type, the values get the type that holds them exactly.
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
	case want == edm.TypeString && natural == edm.TypeBinary: // old programs store text without the annotation for text
		return readText, nil
	case want == edm.TypeBinary && natural == edm.TypeString: // other programs store binary data with the annotation for text
		return func(v parquet.Value) (edm.Value, error) { return edm.Binary(v.ByteArray()), nil }, nil
	// polars stores a UUID as a byte array without a fixed length and without the annotation for UUIDs.
	case want == edm.TypeGuid && natural == edm.TypeBinary && t.Kind() == parquet.ByteArray:
		return func(v parquet.Value) (edm.Value, error) {
			if len(v.ByteArray()) != 16 {
				return edm.Value{}, fmt.Errorf("not a Guid: it has %d bytes", len(v.ByteArray()))
			}
			return edm.Guid([16]byte(v.ByteArray())), nil
		}, nil
	case isUint64(t) && want == edm.TypeString:
		return func(v parquet.Value) (edm.Value, error) { return edm.String(strconv.FormatUint(v.Uint64(), 10)), nil }, nil
	case isUint64(t) && want == edm.TypeDouble:
		return func(v parquet.Value) (edm.Value, error) { return edm.Double(float64(v.Uint64())), nil }, nil
	case want == edm.TypeGuid && t.Kind() == parquet.FixedLenByteArray && t.Length() == 16: // Arrow stores a UUID as 16 bytes without annotation
		return func(v parquet.Value) (edm.Value, error) { return edm.Guid([16]byte(v.ByteArray())), nil }, nil
	}
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
			text = strings.TrimSuffix(text, ".0") // pandas stores whole numbers as floating-point numbers if the column has nulls
		}
		as, err := edm.Parse(want, text)
		if err != nil {
			err = fmt.Errorf("%w: %q", err, text)
		}
		return as, err
	}, nil
}

// naturalReader returns the type that holds the values of a column exactly, and a function that reads
// these values. If no property type can hold the values, the type is null, and the function returns
// text.
func naturalReader(t parquet.Type) (readValue, edm.Type) {
	if l := t.LogicalType(); l != nil {
		switch l := l.Value.(type) {
		case *format.DateType:
			return func(v parquet.Value) (edm.Value, error) {
				return dateTime(int64(v.Int32()), 24*3600*edm.TicksPerSecond, 1)
			}, edm.TypeDateTime
		case *format.TimestampType:
			many, few := int64(1), int64(1)
			switch l.Unit.Value.(type) {
			case *format.MilliSeconds:
				many = edm.TicksPerSecond / 1000
			case *format.MicroSeconds:
				many = ticksPerMicrosecond
			case *format.NanoSeconds:
				few = nanosPerTick
			}
			return func(v parquet.Value) (edm.Value, error) { return dateTime(v.Int64(), many, few) }, edm.TypeDateTime
		case *format.DecimalType:
			return func(v parquet.Value) (edm.Value, error) { return edm.String(decimal(v, int(l.Scale))), nil }, edm.TypeNull
		case *format.TimeType:
			nanos := int64(1)
			switch l.Unit.Value.(type) {
			case *format.MilliSeconds:
				nanos = 1e6
			case *format.MicroSeconds:
				nanos = 1e3
			}
			return func(v parquet.Value) (edm.Value, error) {
				n := v.Int64()
				if v.Kind() == parquet.Int32 {
					n = int64(v.Int32())
				}
				return edm.String(time.Unix(0, 0).UTC().Add(time.Duration(n * nanos)).Format("15:04:05.999999999")), nil
			}, edm.TypeString
		case *format.IntType:
			switch {
			case !l.IsSigned && l.BitWidth == 32:
				return func(v parquet.Value) (edm.Value, error) { return edm.Int64(int64(v.Uint32())), nil }, edm.TypeInt64
			case !l.IsSigned && l.BitWidth == 64:
				return func(v parquet.Value) (edm.Value, error) {
					if v.Int64() < 0 {
						return edm.Value{}, fmt.Errorf("not an Int64: %d is above its range; --types with String or Double keeps it", v.Uint64())
					}
					return edm.Int64(v.Int64()), nil
				}, edm.TypeInt64
			}
		case *format.StringType, *format.EnumType, *format.JsonType:
			return readText, edm.TypeString
		case *format.UUIDType:
			return func(v parquet.Value) (edm.Value, error) { return edm.Guid([16]byte(v.ByteArray())), nil }, edm.TypeGuid
		}
	}
	switch t.Kind() {
	case parquet.Boolean:
		return func(v parquet.Value) (edm.Value, error) { return edm.Boolean(v.Boolean()), nil }, edm.TypeBoolean
	case parquet.Int32:
		return func(v parquet.Value) (edm.Value, error) { return edm.Int32(v.Int32()), nil }, edm.TypeInt32
	case parquet.Int64:
		return func(v parquet.Value) (edm.Value, error) { return edm.Int64(v.Int64()), nil }, edm.TypeInt64
	case parquet.Int96: // a deprecated timestamp format, which Spark still writes
		return func(v parquet.Value) (edm.Value, error) {
			i := v.Int96()
			const unixDay = 2_440_588 // the Julian day of 1970-01-01
			day, err := dateTime(int64(i[2])-unixDay, 24*3600*edm.TicksPerSecond, 1)
			nanos := int64(i[1])<<32 | int64(i[0])
			if err == nil && nanos%nanosPerTick != 0 {
				err = errFine
			}
			return edm.DateTime(day.Ticks() + edm.Ticks(nanos/nanosPerTick)), err
		}, edm.TypeDateTime
	case parquet.Float:
		return func(v parquet.Value) (edm.Value, error) { return edm.Double(float64(v.Float())), nil }, edm.TypeDouble
	case parquet.Double:
		return func(v parquet.Value) (edm.Value, error) { return edm.Double(v.Double()), nil }, edm.TypeDouble
	}
	return func(v parquet.Value) (edm.Value, error) { return edm.Binary(v.ByteArray()), nil }, edm.TypeBinary
}

// isTime reports whether the values of a column are times of day.
func isTime(t parquet.Type) bool {
	l := t.LogicalType()
	if l == nil {
		return false
	}
	_, ok := l.Value.(*format.TimeType)
	return ok
}

// isUint64 reports whether the values of a column are unsigned 64-bit integers.
func isUint64(t parquet.Type) bool {
	l := t.LogicalType()
	if l == nil {
		return false
	}
	n, ok := l.Value.(*format.IntType)
	return ok && !n.IsSigned && n.BitWidth == 64
}

// durationText returns a duration of n units in ISO 8601 format, such as PT1H2M3.5S.
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

// readText reads a value as text. It fails if the value is not valid UTF-8.
func readText(v parquet.Value) (edm.Value, error) {
	text := string(v.ByteArray())
	if !utf8.ValidString(text) {
		return edm.Value{}, fmt.Errorf("not UTF-8: %q; --types with Binary keeps the bytes", rows.Cut(text))
	}
	return edm.String(text), nil
}

// float16 decodes a 16-bit floating-point number: a sign bit, 5 bits of exponent and 10 bits of
// fraction.
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

// errFine is the error for a timestamp that is too precise for a DateTime.
var errFine = errors.New("not a DateTime: it is finer than 100 ns")

// dateTime returns the time n units after 1970-01-01. The parameters many and few give the length of
// one unit, which is the fraction many/few of a tick. One of the parameters must be 1, because
// dateTime divides by few before it multiplies by many.
func dateTime(n, many, few int64) (edm.Value, error) {
	if n%few != 0 {
		return edm.Value{}, errFine
	}
	if n /= few; n > int64(edm.MaxDateTime)/many || n < -int64(edm.MaxDateTime)/many {
		return edm.Value{}, errors.New("not a DateTime: it is out of the range from 1601 to 9999")
	}
	return edm.DateTime(edm.Ticks(n*many) + unixTicks), nil
}

// decimal returns a fixed-point number as text.
func decimal(v parquet.Value, scale int) string {
	n := new(big.Int)
	switch v.Kind() {
	case parquet.Int32, parquet.Int64:
		n.SetInt64(v.Int64())
		if v.Kind() == parquet.Int32 {
			n.SetInt64(int64(v.Int32()))
		}
	default: // the bytes are a big-endian two's complement number
		b := v.ByteArray()
		n.SetBytes(b)
		if len(b) > 0 && b[0] >= 0x80 {
			n.Sub(n, new(big.Int).Lsh(big.NewInt(1), uint(8*len(b))))
		}
	}
	sign, digits := "", new(big.Int).Abs(n).String()
	if n.Sign() < 0 {
		sign = "-"
	}
	if scale <= 0 {
		return sign + digits
	}
	for len(digits) <= scale {
		digits = "0" + digits
	}
	return sign + digits[:len(digits)-scale] + "." + digits[len(digits)-scale:]
}
