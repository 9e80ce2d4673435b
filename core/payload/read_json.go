package payload

import (
	"slices"
	"strings"

	"edgetable/core/edm"
)

// ReadEntity reads the JSON body of an insert and checks all
// that concerns single properties: their names, types, sizes and number. A
// value is typed by its annotation, wherever in the body that is, else by its
// JSON: true and false are Boolean, whole numbers Int32 if they fit, all other
// numbers Double, strings String. Nulls, Timestamp and odata.* are left out.
//
// The entity shares no memory with the body.
func ReadEntity(body []byte) (Entity, error) {
	var buf [typicalMembers]member
	list, err := collect(body, buf[:0])
	if err != nil {
		return Entity{}, err
	}
	return entity(list)
}

// ReadUpdate is [ReadEntity] for the body of an update or merge: the properties
// in the order of their names, which is how the service keeps them from then on.
// The keys are those of the address; what the body says of them, of whatever
// type, is left out.
func ReadUpdate(body []byte) (edm.Properties, error) {
	var buf [typicalMembers]member
	list, err := collect(body, buf[:0])
	if err != nil {
		return nil, err
	}
	return update(list)
}

// ReadTableName reads the JSON body of Create Table. It is not ok where the
// body names no table; the name itself is not judged.
func ReadTableName(body []byte) (name string, ok bool, err error) {
	var buf [typicalMembers]member
	list, err := collect(body, buf[:0])
	if err != nil {
		return "", false, err
	}
	return nameOfTable(list)
}

// collect reads a whole JSON body into its members, appended to list in the order
// of their values: annotations may come before or after.
func collect(body []byte, list []member) ([]member, error) {
	var index index
	s := scanner{body: body}
	values, last, sorted := uint16(0), 0, true
	for {
		more, err := s.next()
		if err != nil || !more {
			if !sorted {
				slices.SortFunc(list, func(a, b member) int { return int(a.order) - int(b.order) })
			}
			return list, err
		}
		name, _, _ := s.name.characters(nil)
		owner, annotation := name, ""
		if at := strings.IndexByte(name, '@'); at >= 0 && strings.HasPrefix(name[at:], "@odata.") {
			owner, annotation = name[:at], name[at+1:]
		}
		if strings.HasPrefix(owner, "odata.") || annotation != "" && (annotation != "odata.type" || owner == "") {
			continue // said about the entity, or of no meaning for its storage
		}
		var n int
		if list, n, err = index.member(list, owner); err != nil {
			return list, err
		}
		p := &list[n]
		switch {
		case annotation == "" && p.given, annotation != "" && p.annotated:
			return list, explainTwice(name)
		case annotation == "":
			p.value, p.given, p.order = s.value, true, values
			values++
			sorted = sorted && n >= last
			last = n
		case s.value.kind == kindString:
			p.typ, p.annotated = s.value, true
		case s.value.kind != kindNull:
			return list, invalid("The value of " + quote(name) + " is not a string: name an Edm type.")
		}
	}
}
