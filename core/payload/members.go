package payload

import (
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
	typ       token  // annotated Edm type
	given     bool   // value is set
	annotated bool   // typ is set
	order     uint16 // how many values came before
}

// kind is the kind of a value as the body spells it. XML has but strings and null.
type kind uint8

const (
	kindNull kind = iota
	kindFalse
	kindTrue
	kindInteger // no fraction and no exponent
	kindDecimal
	kindString
)

// token is a single value of the body, whose memory it shares.
type token struct {
	text    string // of numbers and strings; without quotes
	kind    kind
	escaped bool // string with the backslashes of JSON
}

// characters are those of a string. Unless it has escapes they share the
// body's memory, else they are in scratch, which is returned as it grew.
func (t token) characters(scratch []byte) (s string, grown []byte, lone bool) {
	if !t.escaped {
		return t.text, scratch, false
	}
	scratch, lone = unescape(scratch[:0], t.text)
	return view(scratch), scratch, lone
}

// annotation is the Edm type given for a property, TypeNull if none was.
func (p *member) annotation() (edm.Type, error) {
	if !p.annotated {
		return edm.TypeNull, nil
	}
	name, _, _ := p.typ.characters(nil)
	t, ok := edm.ParseType(name)
	if !ok {
		return t, invalid("The property " + quote(p.name) + " is annotated with the unknown type " + quote(name) + ": use an Edm type such as Edm.Int64.")
	}
	return t, nil
}

// explainTwice is the error for a name that a body gives twice.
func explainTwice(name string) error {
	return explain(table.DuplicatePropertiesSpecified.Err(), "Send "+quote(name)+" once.")
}

// index is a hash table of the positions of members in their list, plus one,
// probed linearly. Collisions can be sought, but not enough of them to hurt.
type index [2 * maxMembers]uint16

// member is the position of a name in the list, to which it is appended if it
// is not there.
func (x *index) member(list []member, name string) (grown []member, n int, err error) {
	n = len(list) - 1
	if n >= 0 && list[n].name == name { // a property and its annotation are neighbours
		return list, n, nil
	}
	if n = x.find(list, name); n == maxMembers {
		return list, n, table.TooManyProperties.Err()
	}
	if n == len(list) {
		list = append(list, member{name: name})
	}
	return list, n, nil
}

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
