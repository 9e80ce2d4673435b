package payload

import (
	"edgetable/core/edm"
	"edgetable/core/table"
)

// maxMembers is the maximum number of different names in one body, which limits the memory for reading it. Names of
// null values count too, and so do annotations of absent properties.
const maxMembers = 512

// member is one property of a body. Its type annotation may be before or after the value, so a member stores both
// until the whole body has been read.
type member struct {
	name      string
	value     token
	typ       token  // the value of the type annotation, an Edm type
	given     bool   // set if the body has a value for the property
	annotated bool   // set if the body has an annotation for the property
	order     uint16 // number of values in the body before this value
}

// byValue is a comparison function that sorts members by the order of their values in the body.
func byValue(a, b member) int { return int(a.order) - int(b.order) }

// annotation returns the Edm type in the property's annotation, or TypeNull if there is no annotation.
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

// explain adds a hint to the service's text of an error. It does not change an OutOfRangeInput, whose text already
// names the property.
func explain(err error, hint string) error {
	e, ok := err.(*table.Error)
	if !ok || e.Code == table.OutOfRangeInput {
		return err
	}
	return e.Code.With(e.Message + " " + hint)
}

// explainTwice returns the error for a name that occurs twice in a body.
func explainTwice(name string) error {
	return explain(table.DuplicatePropertiesSpecified.Err(), "Send "+quote(name)+" once.")
}

// index is a hash table with linear probing. It maps the name of a member to the position of the member in a list,
// plus one. An attacker can cause collisions, but the table is too small for this to matter. A map would allocate
// memory for each body with many names, and would take a third longer.
type index [2 * maxMembers]uint16

// member returns the position of name in list. If list lacks the name, member first appends a new member to it.
func (x *index) member(list []member, name string) (grown []member, n int, err error) {
	n = len(list) - 1
	if n >= 0 && list[n].name == name { // fast path: usually the value of a property directly follows the property's annotation
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

// find returns the position of name in list. If list lacks the name, the caller appends a new member to list. In this
// case find returns len(list), the position of the new member, and records it in the hash table x.
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

// quote quotes a name or value from a request for an error message, and truncates a long one.
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
