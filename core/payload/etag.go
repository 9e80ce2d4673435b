package payload

import (
	"strings"

	"edgetable/core/edm"
	"edgetable/core/table"
)

// AppendETag appends the ETag of an entity with the given Timestamp:
//
//	W/"datetime'2022-01-24T20%3A59%3A46.2887383Z'"
func AppendETag(dst []byte, ts edm.Ticks) []byte {
	var clock [32]byte
	dst = append(dst, `W/"datetime'`...)
	dst = appendETagTime(dst, ts.AppendText(clock[:0]))
	return append(dst, `'"`...)
}

// appendETagTime appends a Timestamp in the form 2006-01-02T15:04:05… with percent-encoded colons.
func appendETagTime(dst, when []byte) []byte {
	dst = append(dst, when[:13]...)
	dst = append(dst, "%3A"...)
	dst = append(dst, when[14:16]...)
	dst = append(dst, "%3A"...)
	return append(dst, when[17:]...)
}

// longestETag exceeds the length of every valid ETag, even with all characters percent-encoded.
const longestETag = 64

// ParseIfMatch parses the value of an If-Match header: * or a weak ETag. A weak ETag without a valid time fails with
// ConditionNotMet, and all other text with InvalidInput.
func ParseIfMatch(header string) (table.Match, error) {
	h := strings.Trim(header, " \t")
	if h == "*" {
		return table.Match{Any: true}, nil
	}
	inner, ok := strings.CutPrefix(h, `W/"`)
	if ok {
		inner, ok = strings.CutSuffix(inner, `"`)
	}
	if !ok || strings.IndexByte(inner, '"') >= 0 {
		return table.Match{}, table.InvalidInput.With("The etag value '" + cut(header) +
			"' specified in one of the request headers is not valid. Please make sure only one etag value is specified and is valid.")
	}
	var never table.Match
	if len(inner) > longestETag {
		return never, table.ConditionNotMet.Err()
	}
	text, ok := strings.CutPrefix(inner, "datetime'")
	if ok {
		text, ok = strings.CutSuffix(text, "'")
	}
	if !ok {
		return never, table.ConditionNotMet.Err()
	}
	var buf [longestETag]byte
	decoded := buf[:0]
	for i := 0; i < len(text); i++ {
		if text[i] == '%' && i+2 < len(text) && text[i+1] == '3' && text[i+2]|0x20 == 'a' {
			decoded = append(decoded, ':')
			i += 2
			continue
		}
		decoded = append(decoded, text[i])
	}
	ts, err := edm.ParseDateTime(view(decoded))
	if err != nil {
		return never, table.ConditionNotMet.Err()
	}
	// An ETag contains the exact text of a Timestamp. Other spellings of the same time do not match.
	var clock [32]byte
	if string(ts.AppendText(clock[:0])) != string(decoded) {
		return never, nil
	}
	return table.Match{Timestamp: ts}, nil
}
