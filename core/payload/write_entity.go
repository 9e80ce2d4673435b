package payload

import (
	"edgetable/core/edm"
	"edgetable/core/xml"
)

// jsonEntity appends an entity after the opening brace.
func (v *View) jsonEntity(dst []byte, pk, rk string, ts edm.Ticks, p edm.Properties) []byte {
	var clock [32]byte
	when := ts.AppendText(clock[:0])
	dst = v.jsonAnnotations(dst, pk, rk, when)
	dst = v.appendMembers(dst, pk, rk, when, p)
	if dst[len(dst)-1] == ',' {
		dst = dst[:len(dst)-1]
	}
	return append(dst, '}')
}

// atomEntity appends an entity after the open start tag of its entry element.
func (v *View) atomEntity(dst []byte, pk, rk string, ts edm.Ticks, p edm.Properties) []byte {
	var clock [32]byte
	when := ts.AppendText(clock[:0])
	dst = append(dst, ` m:etag="W/&quot;datetime'`...)
	dst = appendETagTime(dst, when)
	dst = append(dst, `'&quot;"><id>`...)
	dst = xml.AppendText(dst, v.Base)
	dst = xml.AppendText(dst, v.Table)
	dst = appendPredicate(dst, pk, rk) // the predicate needs no escaping, because it has no special characters of XML
	dst = v.atomEditLink(dst)
	dst = xml.AppendAttr(dst, v.Table)
	dst = appendPredicate(dst, pk, rk)
	dst = v.atomContent(dst)
	dst = v.appendMembers(dst, pk, rk, when, p)
	return append(dst, `</m:properties></content></entry>`...)
}

// appendMembers appends the selected keys, Timestamp and properties of an entity. In JSON, a comma follows each member.
func (v *View) appendMembers(dst []byte, pk, rk string, when []byte, p edm.Properties) []byte {
	s := v.Select
	if s != nil && s.all {
		s = nil
	}
	if s == nil || s.partitionKey {
		dst = v.appendKey(dst, partitionKey, pk)
	}
	if s == nil || s.rowKey {
		dst = v.appendKey(dst, rowKey, rk)
	}
	if s == nil || s.timestamp {
		dst = v.appendTimestamp(dst, when)
	}
	if s != nil {
		return v.appendProjected(dst, p)
	}
	for len(p) > 0 {
		name, value, rest, ok := p.Next()
		if !ok {
			break
		}
		if v.Format == Atom {
			dst = v.atomProperty(dst, name, value)
		} else {
			dst = v.jsonProperty(dst, name, value)
		}
		p = rest
	}
	return dst
}

// appendProjected appends the selected properties in the order of the entity, and then a null for each selected
// property that the entity lacks.
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
			if v.Format == Atom {
				dst = v.atomProperty(dst, name, value)
			} else {
				dst = v.jsonProperty(dst, name, value)
			}
		}
		p = rest
	}
	for i, name := range s.names {
		if !have[i] && name != partitionKey && name != rowKey && name != timestamp {
			dst = v.appendNull(dst, name)
		}
	}
	return dst
}

func (v *View) appendKey(dst []byte, name, key string) []byte {
	if v.Format == Atom {
		return v.atomProperty(dst, name, edm.String(key))
	}
	return jsonKey(dst, name, key)
}

func (v *View) appendTimestamp(dst, when []byte) []byte {
	if v.Format == Atom {
		return atomTimestamp(dst, when)
	}
	return v.jsonTimestamp(dst, when)
}

func (v *View) appendNull(dst []byte, name string) []byte {
	if v.Format == Atom {
		return v.atomNull(dst, name)
	}
	return jsonNull(dst, name)
}
