package edm

import (
	"encoding/base64"
	"errors"
	"math"
	"strconv"
	"strings"
)

// AppendText appends the canonical text of the value, as in JSON strings, XML and messages:
//
//   - Binary: padded base64
//   - Boolean: true or false
//   - DateTime: as [Ticks.AppendText]
//   - Double: as [AppendDouble]
//   - Guid: lower case with hyphens
//   - Int32 and Int64: decimal
//   - String: the text itself
//   - null: nothing
func (v Value) AppendText(dst []byte) []byte {
	switch v.typ {
	case TypeString:
		return append(dst, v.text...)
	case TypeBinary:
		return base64.StdEncoding.AppendEncode(dst, v.Bytes())
	case TypeBoolean:
		return strconv.AppendBool(dst, v.Bool())
	case TypeDateTime:
		return v.Ticks().AppendText(dst)
	case TypeDouble:
		return AppendDouble(dst, v.Float())
	case TypeGuid:
		return appendGuid(dst, v.text)
	case TypeInt32, TypeInt64:
		return strconv.AppendInt(dst, v.Int(), 10)
	}
	return dst
}

// String returns the canonical text; see [Value.AppendText].
func (v Value) String() string {
	var short [64]byte
	return string(v.AppendText(short[:0]))
}

func appendGuid(dst []byte, g string) []byte {
	for i, from := range [...]int{0, 4, 6, 8, 10} {
		if i > 0 {
			dst = append(dst, '-')
		}
		to := [...]int{4, 6, 8, 10, 16}[i]
		for _, b := range []byte(g[from:to]) {
			dst = append(dst, hexDigits[b>>4], hexDigits[b&15])
		}
	}
	return dst
}

const hexDigits = "0123456789abcdef"

// AppendDouble appends f in .NET's format R: with 15 significant digits if they parse back to f, and otherwise with 17.
// The text is never an integer: 5 becomes 5.0.
func AppendDouble(dst []byte, f float64) []byte {
	switch {
	case math.IsNaN(f):
		return append(dst, "NaN"...)
	case math.IsInf(f, 1):
		return append(dst, "Infinity"...)
	case math.IsInf(f, -1):
		return append(dst, "-Infinity"...)
	}
	n := len(dst)
	format := byte('f')
	if a := math.Abs(f); a != 0 && (a >= 1e15 || a < 1e-4) {
		format = 'E'
	}
	// If the shortest text that parses back to f has at most 15 digits, it equals the text with 15 digits, except below
	// smallestNormal, where doubles have fewer significant bits.
	dst = strconv.AppendFloat(dst, f, format, -1, 64)
	if a := math.Abs(f); a != 0 && a < smallestNormal {
		dst = strconv.AppendFloat(dst[:n], f, 'G', 15, 64)
		if back, err := strconv.ParseFloat(string(dst[n:]), 64); err != nil || back != f {
			dst = strconv.AppendFloat(dst[:n], f, 'G', 17, 64)
		}
	} else if digits(dst[n:]) > 15 {
		dst = strconv.AppendFloat(dst[:n], f, 'G', 17, 64)
	}
	for _, c := range dst[n:] {
		if c == '.' || c == 'E' {
			return dst
		}
	}
	return append(dst, ".0"...)
}

// smallestNormal is the smallest Double with full precision.
const smallestNormal = 0x1p-1022

// digits returns the number of significant digits, without leading zeros and the exponent.
func digits(text []byte) (n int) {
	for _, c := range text {
		switch {
		case c == 'E':
			return n
		case c >= '1' && c <= '9', c == '0' && n > 0:
			n++
		}
	}
	return n
}

var (
	errBoolean = errors.New("not a Boolean (true or false)")
	errDouble  = errors.New("not a Double")
	errGuid    = errors.New("not a Guid of the form 01234567-89ab-cdef-0123-456789abcdef")
	errBinary  = errors.New("not base64")
	errInt32   = errors.New("not an Int32: a whole number from -2147483648 to 2147483647")
	errInt64   = errors.New("not an Int64: a whole number from -9223372036854775808 to 9223372036854775807")
)

// Parse parses a value of type t. It also accepts 1, 0 and any case for a Boolean, unpadded base64, INF and -INF. It
// does not check the range of a DateTime.
func Parse(t Type, s string) (Value, error) {
	switch t {
	case TypeString:
		return String(s), nil
	case TypeBinary:
		return parseBinary(s)
	case TypeBoolean:
		switch {
		case s == "1" || strings.EqualFold(s, "true"):
			return Boolean(true), nil
		case s == "0" || strings.EqualFold(s, "false"):
			return Boolean(false), nil
		}
		return Value{}, errBoolean
	case TypeDateTime:
		d, err := ParseDateTime(s)
		if err != nil {
			return Value{}, err
		}
		return DateTime(d), nil
	case TypeDouble:
		f, err := ParseDouble(s)
		if err != nil {
			return Value{}, err
		}
		return Double(f), nil
	case TypeGuid:
		g, ok := ParseGuid(s)
		if !ok {
			return Value{}, errGuid
		}
		return Guid(g), nil
	case TypeInt32:
		i, err := strconv.ParseInt(s, 10, 32)
		if err != nil {
			return Value{}, errInt32
		}
		return Int32(int32(i)), nil
	case TypeInt64:
		i, err := strconv.ParseInt(s, 10, 64)
		if err != nil {
			return Value{}, errInt64
		}
		return Int64(i), nil
	}
	return Value{}, errors.New("not an Edm type")
}

func parseBinary(s string) (Value, error) {
	b, err := base64.StdEncoding.DecodeString(s)
	if err != nil {
		if b, err = base64.RawStdEncoding.DecodeString(s); err != nil {
			return Value{}, errBinary
		}
	}
	return Value{typ: TypeBinary, text: view(b)}, nil // view is safe, because b is not used elsewhere
}

// ParseDouble parses a decimal number, NaN, Infinity, -Infinity, INF or -INF. As in the service, a number too large for
// a Double is an error, and one too small becomes 0.
func ParseDouble(s string) (float64, error) {
	switch s {
	case "NaN":
		return math.NaN(), nil
	case "Infinity", "INF":
		return math.Inf(1), nil
	case "-Infinity", "-INF":
		return math.Inf(-1), nil
	}
	for _, c := range []byte(s) { // strconv also accepts hexadecimal numbers, underscores and "inf", unlike the service
		if (c < '0' || c > '9') && c != '.' && c != '-' && c != '+' && c != 'e' && c != 'E' {
			return 0, errDouble
		}
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return 0, errDouble
	}
	return f, nil
}

// ParseGuid parses 32 hexadecimal digits in either case, hyphenated 8-4-4-4-12.
func ParseGuid(s string) (g [16]byte, ok bool) {
	if len(s) != 36 || s[8] != '-' || s[13] != '-' || s[18] != '-' || s[23] != '-' {
		return g, false
	}
	n := 0
	for i := range len(s) {
		switch c := s[i]; {
		case i == 8 || i == 13 || i == 18 || i == 23:
			continue
		case c >= '0' && c <= '9':
			g[n/2] = g[n/2]<<4 | (c - '0')
		case c|0x20 >= 'a' && c|0x20 <= 'f':
			g[n/2] = g[n/2]<<4 | (c | 0x20 - 'a' + 10)
		default:
			return g, false
		}
		n++
	}
	return g, true
}
