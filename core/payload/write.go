package payload

import (
	"edgetable/core/edm"
	"edgetable/core/table"
)

// View holds the values that all entities of one response have in common. Its methods append to dst and return the
// extended slice, like append. They do not allocate.
type View struct {
	Format  Format
	Base    string      // URI of the account, ending with a slash
	Account string      // name of the account
	Table   string      // name of the table as the request spells it, or "Tables"
	Select  *Projection // the selected properties; nil means all
	Now     edm.Ticks   // time of the response; only Atom documents contain it

	lost    bool     // set if the format cannot represent an entity; see Err
	clock   [32]byte // the time in the field Now as Atom text, formatted when first needed
	updated int      // length of the text in clock
}

// Err returns an error if the format could not represent an appended entity. XML cannot contain control characters,
// U+FFFE or U+FFFF, while JSON can hold all strings. If there is an error, the body is well-formed but differs from
// the entity, so the caller must not send it.
func (v *View) Err() error {
	if v.lost {
		return table.InvalidInput.With(errorText + " An entity has characters that XML cannot represent: request JSON instead.")
	}
	return nil
}

// AppendEntity appends a body that is a single entity.
func (v *View) AppendEntity(dst []byte, pk, rk string, ts edm.Ticks, p edm.Properties) []byte {
	if v.Format == Atom {
		return v.atomEntity(v.atomRoot(dst, "<entry"), pk, rk, ts, p)
	}
	dst = v.jsonRoot(append(dst, '{'), "/@Element")
	return v.jsonEntity(dst, pk, rk, ts, p)
}

// AppendFeedStart appends the start of a list of entities or tables.
func (v *View) AppendFeedStart(dst []byte) []byte {
	if v.Format == Atom {
		return v.atomFeed(dst)
	}
	dst = v.jsonRoot(append(dst, '{'), "")
	return append(dst, `"value":[`...)
}

// AppendFeedEntity appends entity number i of a feed, counted from 0.
func (v *View) AppendFeedEntity(dst []byte, i int, pk, rk string, ts edm.Ticks, p edm.Properties) []byte {
	if v.Format == Atom {
		return v.atomEntity(append(dst, "<entry"...), pk, rk, ts, p)
	}
	if i > 0 {
		dst = append(dst, ',')
	}
	return v.jsonEntity(append(dst, '{'), pk, rk, ts, p)
}

// AppendFeedEnd ends a feed that [View.AppendFeedStart] started.
func (v *View) AppendFeedEnd(dst []byte) []byte {
	if v.Format == Atom {
		return atomFeedEnd(dst)
	}
	return append(dst, "]}"...)
}

// AppendTable appends a body that is a single table. View.Table must be "Tables", as for AppendFeedTable.
func (v *View) AppendTable(dst []byte, name string) []byte {
	if v.Format == Atom {
		return v.atomTable(v.atomRoot(dst, "<entry"), name)
	}
	dst = v.jsonRoot(append(dst, '{'), "/@Element")
	return v.jsonTable(dst, name)
}

// AppendFeedTable appends table number i of a feed, counted from 0.
func (v *View) AppendFeedTable(dst []byte, i int, name string) []byte {
	if v.Format == Atom {
		return v.atomTable(append(dst, "<entry"...), name)
	}
	if i > 0 {
		dst = append(dst, ',')
	}
	return v.jsonTable(append(dst, '{'), name)
}

// AppendError appends the body of an error response. now is the time of the response.
func (f Format) AppendError(dst []byte, e *table.Error, requestID string, now edm.Ticks) []byte {
	if f == Atom {
		return atomError(dst, e, requestID, now)
	}
	return jsonError(dst, e, requestID, now)
}

// appendMembers appends the selected members of an entity: keys, Timestamp and properties. In JSON it appends a comma
// after each member.
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

// appendProjected appends the selected properties in the order of the entity. It then appends a null for each
// selected property that the entity lacks.
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
