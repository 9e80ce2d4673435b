package odata

import (
	"math"
	"strconv"
	"strings"

	"edgetable/core/edm"
)

// parseWord parses a literal of letters. Booleans may be in any case.
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

// parseNumber parses a number of type t, as delimited by [lexer.number].
func parseNumber(s string, t edm.Type) (edm.Value, bool) {
	switch t {
	case edm.TypeInt32:
		i, err := strconv.ParseInt(s, 10, 32)
		return edm.Int32(int32(i)), err == nil
	case edm.TypeInt64:
		i, err := strconv.ParseInt(s[:len(s)-1], 10, 64)
		return edm.Int64(i), err == nil
	}
	f, err := edm.ParseDouble(strings.TrimRight(s, "dD"))
	return edm.Double(f), err == nil
}

// typeBefore returns the type of a literal that begins with a type name and a quote, such as guid'…'.
func typeBefore(name string) edm.Type {
	switch strings.ToLower(name) {
	case "datetime":
		return edm.TypeDateTime
	case "guid":
		return edm.TypeGuid
	case "binary", "x":
		return edm.TypeBinary
	}
	return edm.TypeNull
}

func parseTyped(t edm.Type, s string) (edm.Value, bool) {
	switch t {
	case edm.TypeDateTime:
		// DateTimes of entities begin in 1601, but DateTimes of .NET, and filters of .NET clients, begin in year 1.
		ticks, err := edm.ParseDateTime(edm.WholeDate(s))
		return edm.DateTime(ticks), err == nil && ticks >= 0 && ticks <= edm.MaxDateTime
	case edm.TypeGuid:
		g, ok := edm.ParseGuid(s)
		return edm.Guid(g), ok
	}
	b, ok := parseHex(s)
	return edm.Binary(b), ok
}

// parseHex parses pairs of hexadecimal digits. Package encoding/hex imports fmt, which would make the wasm module a
// tenth larger.
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

// Literal returns the text of v as a literal in a filter. v must not be null.
func Literal(v edm.Value) string {
	switch v.Type() {
	case edm.TypeString:
		return "'" + strings.ReplaceAll(v.Text(), "'", "''") + "'"
	case edm.TypeInt64:
		return v.String() + "L"
	case edm.TypeDateTime:
		return "datetime'" + v.String() + "'"
	case edm.TypeGuid:
		return "guid'" + v.String() + "'"
	case edm.TypeBinary:
		const digits = "0123456789abcdef"
		text := []byte("X'")
		for _, b := range []byte(v.Text()) {
			text = append(text, digits[b>>4], digits[b&15])
		}
		return string(append(text, '\''))
	}
	return v.String()
}
