package main

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"edgetable/core/protocol"
)

const (
	levelInfo = iota
	levelError
)

// appendRecord appends the log line of a request, and returns its level. The line contains neither the target nor
// headers, which may contain keys, signatures and data.
func appendRecord(dst []byte, resp *protocol.Response) ([]byte, int) {
	level := levelInfo
	dst = append(dst, `{"msg":"request","method":`...)
	dst = appendQuoted(dst, resp.Redacted().Method)
	var fields [protocol.LogFields]protocol.Field
	for _, f := range resp.AppendLog(fields[:0]) {
		dst = append(dst, `,"`...)
		dst = append(dst, f.Name...)
		dst = append(dst, `":`...)
		dst = appendQuoted(dst, f.Value)
	}
	for _, f := range [...]struct {
		name  string
		value int64
	}{
		{"status", int64(resp.Status)}, {"ms", resp.Duration.Milliseconds()},
		{"received", int64(resp.Received)}, {"sent", int64(resp.Sent)},
	} {
		dst = append(dst, `,"`...)
		dst = append(dst, f.name...)
		dst = append(dst, `":`...)
		dst = strconv.AppendInt(dst, f.value, 10)
	}
	if resp.Err != nil {
		level = levelError
		dst = append(dst, `,"cause":`...)
		dst = appendQuoted(dst, resp.Err.Error())
	}
	return append(dst, '}'), level
}

// lineOfRange returns the log line of an event of a key range. The parameter key is the key of the table's record. The
// line contains no PartitionKey.
func lineOfRange(key string, bucket uint16, id uint32, event string) []byte {
	account, name, _ := strings.Cut(strings.TrimPrefix(key, "table/"), "/")
	dst := appendQuoted([]byte(`{"msg":"split","event":`), event)
	dst = appendQuoted(append(dst, `,"account":`...), account)
	dst = appendQuoted(append(dst, `,"table":`...), name)
	dst = strconv.AppendUint(append(dst, `,"bucket":`...), uint64(bucket), 10)
	return append(strconv.AppendUint(append(dst, `,"range":`...), uint64(id), 10), '}')
}

// appendQuoted appends s as a JSON string, truncated if it is long.
func appendQuoted(dst []byte, s string) []byte {
	const most, hex = 512, "0123456789abcdef"
	dst = append(dst, '"')
	for i, c := range s {
		switch {
		case i >= most:
			return append(dst, `…"`...)
		case c == '"' || c == '\\':
			dst = append(dst, '\\', byte(c))
		case c < ' ':
			dst = append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		default:
			dst = utf8.AppendRune(dst, c)
		}
	}
	return append(dst, '"')
}
