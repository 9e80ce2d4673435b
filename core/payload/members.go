package payload

import (
	"edgetable/core/edm"
	"edgetable/core/table"
)

// maxMembers is the maximum number of different names in one body, which limits the memory for reading it. Names of
// null values count too, and so do annotations of absent properties.
const maxMembers = 512

// member is one property of a body. Its type annotation may be before or after the value, so both are kept until the
// whole body has been read.
type member struct {
	name      string
	value     token
	typ       token  // the Edm type that the annotation names
	given     bool   // set if the body has a value for the property
	annotated bool   // set if the body has an annotation for the property
	order     uint16 // number of values in the body before this one
}

// byValue sorts members by the order of their values in the body.
func byValue(a, b member) int { return int(a.order) - int(b.order) }

// kind is the form in which a body contains a value. XML has only strings and null.
type kind uint8

const (
	kindNull kind = iota
	kindFalse
	kindTrue
	kindInteger // a number without fraction and exponent
	kindDecimal
	kindString
)

// token is a single value. It shares memory with the body.
type token struct {
	text    string // text of a number or string, without quotes
	kind    kind
	escaped bool // set if the text is a string with JSON escapes
}

// characters returns the characters of a string. Without escapes, s shares memory with the body. With escapes, s is
// in scratch, which may be reallocated; grown is the new scratch.
func (t token) characters(scratch []byte) (s string, grown []byte, lone bool) {
	if !t.escaped {
		return t.text, scratch, false
	}
	scratch, lone = unescape(scratch[:0], t.text)
	return view(scratch), scratch, lone
}

// annotation returns the annotated Edm type of a property, or TypeNull if there is no annotation.
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

// index is a hash table with linear probing. It maps each name to the position of its member in the list, plus one.
// An attacker can cause collisions, but the table is too small for this to matter. A map would allocate for every
// body with many names and take a third longer.
type index [2 * maxMembers]uint16

// member returns the position of name in list. If the list lacks the name, it first appends a new member.
func (x *index) member(list []member, name string) (grown []member, n int, err error) {
	n = len(list) - 1
	if n >= 0 && list[n].name == name { // fast path: a property usually follows its annotation directly
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

// find returns the position of name in list. For a new name it returns len(list), and stores the name at this
// position.
func (x *index) find(list []member, name string) int {
	h := uint32(2166136261) // the FNV-1a hash of name
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

// quote quotes a name or value from the sender for a message, and truncates long ones.
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
