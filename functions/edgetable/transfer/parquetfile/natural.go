package parquetfile

import (
	"errors"
	"fmt"
	"math/big"
	"time"
	"unicode/utf8"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"

	"edgetable/core/edm"
	"edgetable/functions/edgetable/transfer/rows"
)

// readValue converts a parquet value, which must not be null, to a property value.
type readValue func(v parquet.Value) (edm.Value, error)

// naturalReader returns the property type that represents the values of a column exactly, and a function that reads
// them. If there is no such type, it returns the type null and a function that reads text.
func naturalReader(t parquet.Type) (readValue, edm.Type) {
	if l := t.LogicalType(); l != nil {
		if read, natural := annotatedReader(l); read != nil {
			return read, natural
		}
	}
	return plainReader(t.Kind())
}

// annotatedReader is like naturalReader, for a column with a logical type. It returns a nil function if the logical
// type does not affect the values.
func annotatedReader(l *format.LogicalType) (readValue, edm.Type) {
	switch l := l.Value.(type) {
	case *format.DateType:
		return func(v parquet.Value) (edm.Value, error) {
			return dateTime(int64(v.Int32()), 24*3600*edm.TicksPerSecond, 1)
		}, edm.TypeDateTime
	case *format.TimestampType:
		return timestampReader(l.Unit), edm.TypeDateTime
	case *format.DecimalType:
		return func(v parquet.Value) (edm.Value, error) { return edm.String(decimal(v, int(l.Scale))), nil }, edm.TypeNull
	case *format.TimeType:
		return timeReader(l.Unit), edm.TypeString
	case *format.IntType:
		switch {
		case !l.IsSigned && l.BitWidth == 32:
			return func(v parquet.Value) (edm.Value, error) { return edm.Int64(int64(v.Uint32())), nil }, edm.TypeInt64
		case !l.IsSigned && l.BitWidth == 64:
			return readUint64, edm.TypeInt64
		}
	case *format.StringType, *format.EnumType, *format.JsonType:
		return readText, edm.TypeString
	case *format.UUIDType:
		return readGuid, edm.TypeGuid
	}
	return nil, edm.TypeNull
}

// plainReader is like naturalReader, for a column without a logical type.
func plainReader(k parquet.Kind) (readValue, edm.Type) {
	switch k {
	case parquet.Boolean:
		return func(v parquet.Value) (edm.Value, error) { return edm.Boolean(v.Boolean()), nil }, edm.TypeBoolean
	case parquet.Int32:
		return func(v parquet.Value) (edm.Value, error) { return edm.Int32(v.Int32()), nil }, edm.TypeInt32
	case parquet.Int64:
		return func(v parquet.Value) (edm.Value, error) { return edm.Int64(v.Int64()), nil }, edm.TypeInt64
	case parquet.Int96:
		return readInt96, edm.TypeDateTime
	case parquet.Float:
		return func(v parquet.Value) (edm.Value, error) { return edm.Double(float64(v.Float())), nil }, edm.TypeDouble
	case parquet.Double:
		return func(v parquet.Value) (edm.Value, error) { return edm.Double(v.Double()), nil }, edm.TypeDouble
	}
	return readBytes, edm.TypeBinary
}

func isTime(t parquet.Type) bool {
	l := t.LogicalType()
	if l == nil {
		return false
	}
	_, ok := l.Value.(*format.TimeType)
	return ok
}

func isUint64(t parquet.Type) bool {
	l := t.LogicalType()
	if l == nil {
		return false
	}
	n, ok := l.Value.(*format.IntType)
	return ok && !n.IsSigned && n.BitWidth == 64
}

func timestampReader(u format.TimeUnit) readValue {
	many, few := int64(1), int64(1)
	switch u.Value.(type) {
	case *format.MilliSeconds:
		many = edm.TicksPerSecond / 1000
	case *format.MicroSeconds:
		many = ticksPerMicrosecond
	case *format.NanoSeconds:
		few = nanosPerTick
	}
	return func(v parquet.Value) (edm.Value, error) { return dateTime(v.Int64(), many, few) }
}

// timeReader returns a function that reads times of day as text.
func timeReader(u format.TimeUnit) readValue {
	nanos := int64(1)
	switch u.Value.(type) {
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
	}
}

func readUint64(v parquet.Value) (edm.Value, error) {
	if v.Int64() < 0 {
		return edm.Value{}, fmt.Errorf("not an Int64: %d is above its range; --types with String or Double keeps it", v.Uint64())
	}
	return edm.Int64(v.Int64()), nil
}

// readInt96 reads a timestamp in the deprecated INT96 format, which Spark still writes.
func readInt96(v parquet.Value) (edm.Value, error) {
	i := v.Int96()
	const unixDay = 2_440_588 // Julian day of 1970-01-01
	day, err := dateTime(int64(i[2])-unixDay, 24*3600*edm.TicksPerSecond, 1)
	nanos := int64(i[1])<<32 | int64(i[0])
	if err == nil && nanos%nanosPerTick != 0 {
		err = errFine
	}
	return edm.DateTime(day.Ticks() + edm.Ticks(nanos/nanosPerTick)), err
}

func readBytes(v parquet.Value) (edm.Value, error) { return edm.Binary(v.ByteArray()), nil }

func readGuid(v parquet.Value) (edm.Value, error) { return edm.Guid([16]byte(v.ByteArray())), nil }

// readText reads a string, which must be valid UTF-8.
func readText(v parquet.Value) (edm.Value, error) {
	text := string(v.ByteArray())
	if !utf8.ValidString(text) {
		return edm.Value{}, fmt.Errorf("not UTF-8: %q; --types with Binary keeps the bytes", rows.Cut(text))
	}
	return edm.String(text), nil
}

// errFine is returned for a timestamp that is more precise than a DateTime.
var errFine = errors.New("not a DateTime: it is finer than 100 ns")

// dateTime returns the time n units after 1970-01-01. The length of a unit in ticks is the quotient multiplier/divisor,
// and one of these two arguments must be 1.
func dateTime(n, multiplier, divisor int64) (edm.Value, error) {
	if n%divisor != 0 {
		return edm.Value{}, errFine
	}
	if n /= divisor; n > int64(edm.MaxDateTime)/multiplier || n < -int64(edm.MaxDateTime)/multiplier {
		return edm.Value{}, errors.New("not a DateTime: it is out of the range from 1601 to 9999")
	}
	return edm.DateTime(edm.Ticks(n*multiplier) + unixTicks), nil
}

// decimal formats a fixed-point number.
func decimal(v parquet.Value, scale int) string {
	n := new(big.Int)
	switch v.Kind() {
	case parquet.Int32, parquet.Int64:
		n.SetInt64(v.Int64())
		if v.Kind() == parquet.Int32 {
			n.SetInt64(int64(v.Int32()))
		}
	default: // these types contain big-endian two's complement
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
