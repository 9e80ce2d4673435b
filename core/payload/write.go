package payload

import (
	"strconv"
	"unicode/utf8"
	"unsafe"

	"edgetable/core/edm"
	"edgetable/core/table"
)

// View is what the entities of one answer have in common. Its methods append
// to dst and return the longer slice, as append does; they do not allocate.
type View struct {
	Format  Format
	Base    string      // URI of the account with a slash at its end
	Account string      // name of the account
	Table   string      // name of the table as the request spells it, or "Tables"
	Select  *Projection // nil for all properties
}

// AppendEntity appends an entity that is the whole body.
func (v *View) AppendEntity(dst []byte, pk, rk string, ts edm.Ticks, p edm.Properties) []byte {
	dst = append(dst, '{')
	dst = v.appendRoot(dst, "/@Element")
	return v.appendEntity(dst, pk, rk, ts, p)
}

// AppendFeedStart begins a body with a list of entities or tables.
func (v *View) AppendFeedStart(dst []byte) []byte {
	dst = append(dst, '{')
	dst = v.appendRoot(dst, "")
	return append(dst, `"value":[`...)
}

// AppendFeedEntity appends the entity number i, from 0, of a feed.
func (v *View) AppendFeedEntity(dst []byte, i int, pk, rk string, ts edm.Ticks, p edm.Properties) []byte {
	if i > 0 {
		dst = append(dst, ',')
	}
	return v.appendEntity(append(dst, '{'), pk, rk, ts, p)
}

// AppendFeedEnd ends what AppendFeedStart began.
func (v *View) AppendFeedEnd(dst []byte) []byte { return append(dst, "]}"...) }

// AppendTable appends the entry of a table that is the whole body. View.Table
// is "Tables" for this and the next.
func (v *View) AppendTable(dst []byte, name string) []byte {
	dst = append(dst, '{')
	dst = v.appendRoot(dst, "/@Element")
	return v.appendTable(dst, name)
}

// AppendFeedTable appends the table number i, from 0, of a feed.
func (v *View) AppendFeedTable(dst []byte, i int, name string) []byte {
	if i > 0 {
		dst = append(dst, ',')
	}
	return v.appendTable(append(dst, '{'), name)
}

// appendRoot appends the annotation of a body's root with its comma.
func (v *View) appendRoot(dst []byte, what string) []byte {
	if v.Format == NoMetadata {
		return dst
	}
	dst = append(dst, `"odata.metadata":"`...)
	dst = appendEscaped(dst, v.Base)
	dst = append(dst, "$metadata#"...)
	dst = appendEscaped(dst, v.Table)
	dst = append(dst, what...)
	if v.Select != nil {
		for i, name := range v.Select.names {
			if i == 0 {
				dst = append(dst, "&$select="...)
			} else {
				dst = append(dst, ',')
			}
			dst = appendEscaped(dst, name)
		}
	}
	return append(dst, `",`...)
}

func (v *View) appendTable(dst []byte, name string) []byte {
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

// appendEntity appends the members of an entity and the closing brace.
func (v *View) appendEntity(dst []byte, pk, rk string, ts edm.Ticks, p edm.Properties) []byte {
	var clock [32]byte
	when := ts.AppendText(clock[:0])
	dst = v.appendAnnotations(dst, pk, rk, when)
	s := v.Select
	if s == nil || s.partitionKey {
		dst = append(dst, `"PartitionKey":"`...)
		dst = append(appendEscaped(dst, pk), `",`...)
	}
	if s == nil || s.rowKey {
		dst = append(dst, `"RowKey":"`...)
		dst = append(appendEscaped(dst, rk), `",`...)
	}
	if s == nil || s.timestamp {
		if v.Format == Full {
			dst = append(dst, `"Timestamp@odata.type":"Edm.DateTime",`...)
		}
		dst = append(dst, `"Timestamp":"`...)
		dst = append(append(dst, when...), `",`...)
	}
	if s == nil {
		for len(p) > 0 {
			name, value, rest, ok := p.Next()
			if !ok {
				break
			}
			dst = v.appendProperty(dst, name, value)
			p = rest
		}
	} else {
		dst = v.appendProjected(dst, p)
	}
	if dst[len(dst)-1] == ',' {
		dst = dst[:len(dst)-1]
	}
	return append(dst, '}')
}

// appendProjected appends the listed properties in the order of the entity,
// then nulls for those it lacks.
func (v *View) appendProjected(dst []byte, p edm.Properties) []byte {
	s := v.Select
	var stack [maxProjection]bool
	have := stack[:]
	if len(s.names) > len(have) {
		have = make([]bool, len(s.names))
	}
	for len(p) > 0 {
		name, value, rest, ok := p.Next()
		if !ok {
			break
		}
		if i := s.find(name); i >= 0 {
			have[i] = true
			dst = v.appendProperty(dst, name, value)
		}
		p = rest
	}
	for i, name := range s.names {
		if !have[i] && name != partitionKey && name != rowKey && name != timestamp {
			dst = append(dst, '"')
			dst = appendEscaped(dst, name)
			dst = append(dst, `":null,`...)
		}
	}
	return dst
}

// appendAnnotations appends what the format says about an entity.
func (v *View) appendAnnotations(dst []byte, pk, rk string, when []byte) []byte {
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

// appendProperty appends a property with the annotation before it, if its type
// needs one, and a comma.
func (v *View) appendProperty(dst []byte, name string, value edm.Value) []byte {
	dst = append(dst, '"')
	at := len(dst)
	dst = appendEscaped(dst, name)
	t := value.Type()
	quoted := false
	switch t {
	case edm.TypeString, edm.TypeBoolean, edm.TypeInt32:
	case edm.TypeDouble:
		f := value.Float()
		quoted = f-f != 0 // NaN, Infinity
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

// AppendError appends the body of an answer that reports an error. now is the
// time of the answer.
func (f Format) AppendError(dst []byte, e *table.Error, requestID string, now edm.Ticks) []byte {
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

// appendEscaped appends the inside of a JSON string. Like the service it leaves
// only ASCII: other characters become \uXXXX with lower-case digits, those
// beyond U+FFFF two of them. A byte that is not UTF-8 becomes U+FFFD.
func appendEscaped(dst []byte, s string) []byte {
	for {
		n := plain(unsafe.Slice(unsafe.StringData(s), len(s)))
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

// appendUnit appends a UTF-16 code unit as \uXXXX.
func appendUnit(dst []byte, u rune) []byte {
	return append(dst, '\\', 'u', hexDigits[u>>12&15], hexDigits[u>>8&15], hexDigits[u>>4&15], hexDigits[u&15])
}
