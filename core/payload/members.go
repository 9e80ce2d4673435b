package payload

import (
	"edgetable/core/edm"
	"edgetable/core/table"
)

// maxMembers is the maximum number of distinct names in one body, including null values and annotations of absent
// properties. It limits the memory for reading a body.
const maxMembers = 512

// member is one property of a body. Its type annotation may precede or follow the value, so both are held until the
// whole body has been read.
type member struct {
	name      string
	value     token
	typ       token // value of the type annotation, an Edm type
	given     bool
	annotated bool
	order     uint16 // number of preceding values in the body
}

func byValue(a, b member) int { return int(a.order) - int(b.order) }

// annotation returns the Edm type from the property's annotation, or TypeNull without one.
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

// explain adds a hint to an error, except to OutOfRangeInput, whose text already names the property.
func explain(err error, hint string) error {
	e, ok := err.(*table.Error)
	if !ok || e.Code == table.OutOfRangeInput {
		return err
	}
	return e.Code.With(e.Message + " " + hint)
}

// explainTwice returns the error for a duplicate name in a body.
func explainTwice(name string) error {
	return explain(table.DuplicatePropertiesSpecified.Err(), "Send "+quote(name)+" once.")
}

// index is a hash table from the names in a member list to their positions plus one, too small for an attacker's
// collisions to matter. A map would allocate and take a third longer.
type index [2 * maxMembers]uint16

// member returns the position of a name in a list of members. It appends a new member if the list has none with this
// name.
func (x *index) member(list []member, name string) (grown []member, n int, err error) {
	n = len(list) - 1
	if n >= 0 && list[n].name == name { // fast path: a value usually follows its annotation
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

// find returns the position of a name in a list of members. If there is none, it records the length of the list as the
// position, and the caller must append the member.
func (x *index) find(list []member, name string) int {
	h := uint32(2166136261)
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

// quote quotes text from a request for an error message. It truncates long text.
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
