package odata

import (
	"encoding/hex"
	"math"
	"strconv"
	"strings"

	"edgetable/core/edm"
)

// parseWord reads the literals that look like names. Clients write booleans in
// any case.
func parseWord(name string) (edm.Value, bool) {
	switch {
	case strings.EqualFold(name, "true"):
		return edm.Boolean(true), true
	case strings.EqualFold(name, "false"):
		return edm.Boolean(false), true
	case name == "NaN":
		return edm.Double(math.NaN()), true
	case name == "INF" || name == "Infinity":
		return edm.Double(math.Inf(1)), true
	}
	return edm.Value{}, false
}

// parseNumber reads
//
//	[ "-" ] digits [ "." digits ] [ ( "e" | "E" ) [ "+" | "-" ] digits ] [ suffix ]
//	"-INF" | "-Infinity"
//
// with the suffix L for Int64 or D for Double, of either case. Without one a
// whole number is an Int32, and has to be in range.
func parseNumber(s string) (edm.Value, bool) {
	if s == "-INF" || s == "-Infinity" {
		return edm.Double(math.Inf(-1)), true
	}
	digits, tail := cutDigits(s)
	if digits == "" {
		return edm.Value{}, false
	}
	switch tail {
	case "":
		i, err := strconv.ParseInt(s, 10, 32)
		return edm.Int32(int32(i)), err == nil
	case "L", "l":
		i, err := strconv.ParseInt(s[:len(s)-1], 10, 64)
		return edm.Int64(i), err == nil
	default:
		if last := len(tail) - 1; tail[last]|0x20 == 'd' {
			s, tail = s[:len(s)-1], tail[:last]
		}
		if !isFraction(tail) {
			return edm.Value{}, false
		}
		f, err := edm.ParseDouble(s)
		return edm.Double(f), err == nil
	}
}

// cutDigits splits the whole part off a number, without its sign.
func cutDigits(s string) (digits, tail string) {
	s = strings.TrimPrefix(s, "-")
	n := 0
	for n < len(s) && isDigit(s[n]) {
		n++
	}
	return s[:n], s[n:]
}

// isFraction reports whether s is what may follow the whole part of a Double:
// digits behind a point, digits behind an exponent sign, both or nothing.
func isFraction(s string) bool {
	if strings.HasPrefix(s, ".") {
		n := 1
		for n < len(s) && isDigit(s[n]) {
			n++
		}
		if n == 1 {
			return false
		}
		s = s[n:]
	}
	if s == "" {
		return true
	}
	if s[0]|0x20 != 'e' {
		return false
	}
	s = s[1:]
	if s != "" && (s[0] == '+' || s[0] == '-') {
		s = s[1:]
	}
	for i := range len(s) {
		if !isDigit(s[i]) {
			return false
		}
	}
	return s != ""
}

// parseTyped reads a quoted literal with its type in front: datetime'…',
// guid'…', binary'…' or X'…'. The type may be in any case, as a name with a
// quote behind it can be nothing else.
func parseTyped(name, s string) (edm.Value, bool) {
	switch strings.ToLower(name) {
	case "datetime":
		// Entities begin with 1601, .NET's DateTime and the filters of its
		// clients with year 1.
		t, err := edm.ParseDateTime(s)
		return edm.DateTime(t), err == nil && t >= 0 && t <= edm.MaxDateTime
	case "guid":
		g, ok := edm.ParseGuid(s)
		return edm.Guid(g), ok
	case "binary", "x":
		b, ok := parseHex(s)
		return edm.Binary(b), ok
	}
	return edm.Value{}, false
}

// parseHex reads pairs of hexadecimal digits. The decoder of encoding/hex has an
// error that brings package fmt along: a tenth of a wasm module.
func parseHex(s string) ([]byte, bool) {
	b := make([]byte, len(s)/2)
	for i := range len(b) * 2 {
		c := s[i]
		switch {
		case '0' <= c && c <= '9':
			c -= '0'
		case 'a' <= c|0x20 && c|0x20 <= 'f':
			c = c | 0x20 - 'a' + 10
		default:
			return nil, false
		}
		b[i/2] = b[i/2]<<4 | c
	}
	return b, len(s)%2 == 0
}

// appendLiteral appends the canonical literal of a value.
func appendLiteral(dst []byte, v edm.Value) []byte {
	quote := func(kind string, text []byte) []byte {
		dst = append(append(dst, kind...), '\'')
		dst = append(dst, text...)
		return append(dst, '\'')
	}
	switch v.Type() {
	case edm.TypeString:
		return quote("", []byte(strings.ReplaceAll(v.Text(), "'", "''")))
	case edm.TypeBinary:
		return quote("binary", hex.AppendEncode(nil, v.Bytes()))
	case edm.TypeDateTime:
		return quote("datetime", v.AppendText(nil))
	case edm.TypeGuid:
		return quote("guid", v.AppendText(nil))
	case edm.TypeInt64:
		return append(v.AppendText(dst), 'L')
	}
	return v.AppendText(dst) // Boolean, Double, Int32
}
