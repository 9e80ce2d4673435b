package payload

import (
	"strconv"
	"unicode/utf8"
	"unsafe"

	"edgetable/core/edm"
	"edgetable/core/percent"
	"edgetable/core/table"
)

// jsonRoot appends the odata.metadata annotation of the response and a comma.
func (v *View) jsonRoot(dst []byte, what string) []byte {
	if v.Format == NoMetadata {
		return dst
	}
	dst = append(dst, `"odata.metadata":"`...)
	dst = appendEscaped(dst, v.Base)
	dst = append(dst, "$metadata#"...)
	dst = appendEscaped(dst, v.Table)
	dst = append(dst, what...)
	if v.Select != nil {
		dst = append(dst, "&$select="...)
		for i := range len(v.Select.text) {
			if c := v.Select.text[i]; c == ',' || c == '*' {
				dst = append(dst, c)
			} else {
				dst = percent.AppendByte(dst, c)
			}
		}
	}
	return append(dst, `",`...)
}

// jsonTable appends a table after the opening brace.
func (v *View) jsonTable(dst []byte, name string) []byte {
	if v.Format == Full {
		dst = append(dst, `"odata.type":"`...)
		dst = appendEscaped(dst, v.Account)
		dst = append(dst, `.Tables","odata.id":"`...)
		dst = appendEscaped(dst, v.Base)
		dst = AppendTableURI(dst, "", name)
		dst = append(dst, `","odata.editLink":"`...)
		dst = AppendTableURI(dst, "", name)
		dst = append(dst, `",`...)
	}
	dst = append(dst, `"TableName":"`...)
	dst = appendEscaped(dst, name)
	return append(dst, `"}`...)
}

// jsonAnnotations appends the annotations of an entity.
func (v *View) jsonAnnotations(dst []byte, pk, rk string, when []byte) []byte {
	if v.Format == NoMetadata {
		return dst
	}
	if v.Format == Full {
		dst = append(dst, `"odata.type":"`...)
		dst = appendEscaped(dst, v.Account)
		dst = append(dst, '.')
		dst = appendEscaped(dst, v.Table)
		dst = append(dst, `","odata.id":"`...)
		dst = appendEscaped(dst, v.Base)
		dst = appendEscaped(dst, v.Table)
		dst = appendPredicate(dst, pk, rk)
		dst = append(dst, `",`...)
	}
	dst = append(dst, `"odata.etag":"W/\"datetime'`...)
	dst = appendETagTime(dst, when)
	dst = append(dst, `'\"",`...)
	if v.Format == Full {
		dst = append(dst, `"odata.editLink":"`...)
		dst = appendEscaped(dst, v.Table)
		dst = appendPredicate(dst, pk, rk)
		dst = append(dst, `",`...)
	}
	return dst
}

// jsonProperty appends a property and a comma. A type annotation precedes the property if JSON cannot express the type.
func (v *View) jsonProperty(dst []byte, name string, value edm.Value) []byte {
	dst = append(dst, '"')
	at := len(dst)
	dst = appendEscaped(dst, name)
	t := value.Type()
	quoted := false
	switch t {
	case edm.TypeString, edm.TypeBoolean, edm.TypeInt32:
	case edm.TypeDouble:
		f := value.Float()
		quoted = f-f != 0 // f-f is NaN if f is NaN or infinite
	default:
		quoted = true
	}
	if quoted && v.Format != NoMetadata {
		end := len(dst)
		dst = append(dst, `@odata.type":"`...)
		dst = append(dst, t.String()...)
		dst = append(dst, `","`...)
		dst = append(dst, dst[at:end]...)
	}
	dst = append(dst, `":`...)
	switch {
	case t == edm.TypeString:
		dst = append(dst, '"')
		dst = appendEscaped(dst, value.Text())
		return append(dst, `",`...)
	case quoted:
		dst = append(dst, '"')
		dst = value.AppendText(dst)
		return append(dst, `",`...)
	}
	return append(value.AppendText(dst), ',')
}

func jsonKey(dst []byte, name, key string) []byte {
	dst = append(append(append(dst, '"'), name...), `":"`...)
	return append(appendEscaped(dst, key), `",`...)
}

func (v *View) jsonTimestamp(dst, when []byte) []byte {
	if v.Format == Full {
		dst = append(dst, `"Timestamp@odata.type":"Edm.DateTime",`...)
	}
	dst = append(dst, `"Timestamp":"`...)
	return append(append(dst, when...), `",`...)
}

func jsonNull(dst []byte, name string) []byte {
	dst = append(dst, '"')
	dst = appendEscaped(dst, name)
	return append(dst, `":null,`...)
}

// AppendJSON appends an entity as one JSON object, as in the body of a write. It omits the Timestamp if ts is 0, and
// annotates the types that JSON cannot express.
func AppendJSON(dst []byte, pk, rk string, ts edm.Ticks, p edm.Properties) []byte {
	v := View{Format: Minimal}
	dst = jsonKey(append(dst, '{'), partitionKey, pk)
	dst = jsonKey(dst, rowKey, rk)
	if ts != 0 {
		var clock [32]byte
		dst = v.jsonTimestamp(dst, ts.AppendText(clock[:0]))
	}
	for name, value := range p.All() {
		dst = v.jsonProperty(dst, name, value)
	}
	dst[len(dst)-1] = '}' // the brace replaces the comma after the last member
	return dst
}

func jsonError(dst []byte, e *table.Error, requestID string, now edm.Ticks) []byte {
	dst = append(dst, `{"odata.error":{"code":"`...)
	dst = appendEscaped(dst, string(e.Code))
	dst = append(dst, `","message":{"lang":"en-US","value":"`...)
	if e.HasIndex {
		dst = strconv.AppendInt(dst, int64(e.Index), 10)
		dst = append(dst, ':')
	}
	dst = appendEscaped(dst, e.Message)
	dst = append(dst, `\nRequestId:`...)
	dst = appendEscaped(dst, requestID)
	dst = append(dst, `\nTime:`...)
	dst = now.AppendText7(dst)
	return append(dst, `"}}}`...)
}

// appendEscaped appends s as the content of a JSON string. Like the service, it writes only ASCII, with escapes in
// lower case. Invalid UTF-8 bytes become U+FFFD.
func appendEscaped(dst []byte, s string) []byte {
	for {
		n := plainLength(unsafe.Slice(unsafe.StringData(s), len(s)))
		dst = append(dst, s[:n]...)
		if n == len(s) {
			return dst
		}
		s = s[n:]
		if c := s[0]; c < utf8.RuneSelf {
			dst = appendEscape(dst, c)
			s = s[1:]
			continue
		}
		for len(s) > 0 && s[0] >= utf8.RuneSelf {
			r, size := utf8.DecodeRuneInString(s)
			s = s[size:]
			if r >= 0x10000 {
				r -= 0x10000
				dst = appendUnit(dst, 0xD800+r>>10)
				r = 0xDC00 + r&0x3FF
			}
			dst = appendUnit(dst, r)
		}
	}
}

func appendEscape(dst []byte, c byte) []byte {
	switch c {
	case '"', '\\':
	case '\b':
		c = 'b'
	case '\f':
		c = 'f'
	case '\n':
		c = 'n'
	case '\r':
		c = 'r'
	case '\t':
		c = 't'
	default:
		return appendUnit(dst, rune(c))
	}
	return append(dst, '\\', c)
}

const hexDigits = "0123456789abcdef"

func appendUnit(dst []byte, u rune) []byte {
	return append(dst, '\\', 'u', hexDigits[u>>12&15], hexDigits[u>>8&15], hexDigits[u>>4&15], hexDigits[u&15])
}
