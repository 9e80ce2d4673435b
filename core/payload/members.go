package payload

import (
	"strings"

	"edgetable/core/edm"
	"edgetable/core/table"
)

// maxMembers bounds the different names of one body, nulls and annotations of
// properties that are not there included, and with them the memory it takes.
const maxMembers = 512

// member is what a body says of one property. The annotation with its type may
// come before or after the value, so both are kept until the end of the body.
type member struct {
	name      string
	value     token
	typ       token // annotated Edm type
	given     bool  // value is set
	annotated bool  // typ is set
}

// source is a body, which tokens point into.
type source []byte

// collect reads a whole body into its members, appended to list in the order
// in which their names first occur.
func collect(body []byte, list []member) ([]member, error) {
	var index index
	s := scanner{body: body}
	for {
		more, err := s.next()
		if err != nil || !more {
			return list, err
		}
		name := view(body[s.name.start:s.name.end])
		if s.name.escaped {
			b, _ := unescape(nil, body[s.name.start:s.name.end])
			name = view(b)
		}
		owner, annotation := name, ""
		if at := strings.IndexByte(name, '@'); at >= 0 && strings.HasPrefix(name[at:], "@odata.") {
			owner, annotation = name[:at], name[at+1:]
		}
		if strings.HasPrefix(owner, "odata.") || annotation != "" && (annotation != "odata.type" || owner == "") {
			continue // said about the entity, or of no meaning for its storage
		}
		n := len(list) - 1
		if n < 0 || list[n].name != owner { // a property and its annotation are neighbours
			if n = index.find(list, owner); n == maxMembers {
				return list, table.TooManyProperties.Err()
			}
			if n == len(list) {
				list = append(list, member{name: owner})
			}
		}
		p := &list[n]
		switch {
		case annotation == "" && p.given, annotation != "" && p.annotated:
			return list, explain(table.DuplicatePropertiesSpecified.Err(), "Send "+quote(name)+" once.")
		case annotation == "":
			p.value, p.given = s.value, true
		case s.value.kind == kindString:
			p.typ, p.annotated = s.value, true
		case s.value.kind != kindNull:
			return list, invalid("The value of " + quote(name) + " is not a string: name an Edm type.")
		}
	}
}

// index is a hash table of the positions of members in their list, plus one,
// probed linearly. Collisions can be sought, but not enough of them to hurt.
type index [2 * maxMembers]uint16

// find is the position of a name in the list. One that is not there is entered
// with the position behind the last.
func (x *index) find(list []member, name string) int {
	h := uint32(2166136261) // FNV-1a
	for i := range len(name) {
		h = (h ^ uint32(name[i])) * 16777619
	}
	for i := h ^ h>>16; ; i++ {
		at := &x[i%uint32(len(x))]
		if *at == 0 {
			*at = uint16(len(list) + 1)
			return len(list)
		}
		if n := int(*at) - 1; list[n].name == name {
			return n
		}
	}
}

// characters are those of a string token. Unless it has escapes they share the
// body's memory, else they are in scratch, which is returned as it grew.
func (b source) characters(t token, scratch []byte) (s string, grown []byte, lone bool) {
	raw := b[t.start:t.end]
	if !t.escaped {
		return view(raw), scratch, false
	}
	scratch, lone = unescape(scratch[:0], raw)
	return view(scratch), scratch, lone
}

// annotation is the Edm type given for a property, TypeNull if none was.
func (b source) annotation(p *member) (edm.Type, error) {
	if !p.annotated {
		return edm.TypeNull, nil
	}
	name, _, _ := b.characters(p.typ, nil)
	t, ok := edm.ParseType(name)
	if !ok {
		return t, invalid("The property " + quote(p.name) + " is annotated with the unknown type " + quote(name) + ": use an Edm type such as Edm.Int64.")
	}
	return t, nil
}

// quote is a name or value of the sender's for a message, cut where it is long.
func quote(s string) string { return "'" + cut(s) + "'" }

func cut(s string) string {
	const most = 64
	if len(s) <= most {
		return s
	}
	n := most
	for n > 0 && s[n]&0xC0 == 0x80 {
		n--
	}
	return s[:n] + "…"
}
