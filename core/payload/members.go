package payload

import (
	"edgetable/core/edm"
	"edgetable/core/table"
)

// maxMembers bounds the number of different names in one body, and so the
// memory that reading takes. Nulls count too, and annotations of absent
// properties.
const maxMembers = 512

// member holds the data of one property in a body. The annotation with its type
// may come before or after the value, so both are kept until the end of the
// body.
type member struct {
	name      string
	value     token
	typ       token  // the annotated Edm type
	given     bool   // value is set
	annotated bool   // typ is set
	order     uint16 // the number of values before this one
}

// byValue orders members by their values in the body.
func byValue(a, b member) int { return int(a.order) - int(b.order) }

// kind is the kind of a value in the spelling of the body. XML has only strings
// and null.
type kind uint8

const (
	kindNull kind = iota
	kindFalse
	kindTrue
	kindInteger // no fraction and no exponent
	kindDecimal
	kindString
)

// token is a single value; it shares memory with the body.
type token struct {
	text    string // of numbers and strings; without quotes
	kind    kind
	escaped bool // a string with the backslashes of JSON
}

// characters returns the characters of a string. Without escapes they share
// memory with the body, otherwise they are in scratch; grown is scratch after
// it grew.
func (t token) characters(scratch []byte) (s string, grown []byte, lone bool) {
	if !t.escaped {
		return t.text, scratch, false
	}
	scratch, lone = unescape(scratch[:0], t.text)
	return view(scratch), scratch, lone
}

// annotation returns the annotated Edm type of a property, or TypeNull without
// an annotation.
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

// explainTwice returns the error for a name that occurs twice in a body.
func explainTwice(name string) error {
	return explain(table.DuplicatePropertiesSpecified.Err(), "Send "+quote(name)+" once.")
}

// index is a hash table with linear probing. It holds the positions of members
// in their list, plus one. An attacker can produce collisions, but too few to
// matter. A map would allocate for each body of many names, and take a third longer.
type index [2 * maxMembers]uint16

// member returns the position of a name in the list. It appends the name if the
// list does not have it.
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

// find returns the position of a name in the list. A new name gets the position
// after the last.
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

// quote returns a name or value from the sender for a message, and shortens
// long ones.
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
