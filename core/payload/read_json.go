package payload

import (
	"slices"
	"strings"

	"edgetable/core/edm"
)

// ReadEntity parses the JSON body of an insert, and checks the names, types, sizes and number of its properties. The
// entity does not share memory with the body.
//
// Without a type annotation, a value is a Boolean, a String, an Int32 (an integer in its range) or a Double (any other
// number). Nulls, Timestamp and odata.* are ignored.
//
// Like the service's reader, ReadEntity accepts more than JSON: strings and names in single quotes, unquoted names,
// control characters in strings, and numbers such as .5, 1. and 007. For the texts of values, see [serviceSpelling].
func ReadEntity(body []byte) (Entity, error) {
	var buf [typicalMembers]member
	list, err := collect(scanner{body: body, relaxed: true}, buf[:0])
	if err != nil {
		return Entity{}, err
	}
	return entity(list, serviceSpelling)
}

// ReadFileEntity is [ReadEntity] for files, which must be valid JSON. It accepts all values that [edm.Parse] accepts,
// and numbers for an Int64.
func ReadFileEntity(text []byte) (Entity, error) {
	var buf [typicalMembers]member
	list, err := collect(scanner{body: text}, buf[:0])
	if err != nil {
		return Entity{}, err
	}
	return entity(list, fileSpelling)
}

// ReadUpdate is [ReadEntity] for the body of an update or merge. It sorts the properties by name, as the service stores
// them, and ignores keys in the body, even of a wrong type.
func ReadUpdate(body []byte) (edm.Properties, error) {
	var buf [typicalMembers]member
	list, err := collect(scanner{body: body, relaxed: true}, buf[:0])
	if err != nil {
		return nil, err
	}
	return update(list, serviceSpelling)
}

// ReadTableName parses the JSON body of Create Table. ok is false if the body contains no table name. The name is not
// validated.
func ReadTableName(body []byte) (name string, ok bool, err error) {
	var buf [typicalMembers]member
	list, err := collect(scanner{body: body, relaxed: true}, buf[:0])
	if err != nil {
		return "", false, err
	}
	return nameOfTable(list)
}

// collect reads a whole JSON body and appends its members to list, in the order of their values. A type annotation may
// precede or follow its value.
func collect(s scanner, list []member) ([]member, error) {
	var index index
	return index.collect(&s, list)
}

// collect reads a JSON object at the position of s and appends its members to list. x must be empty.
func (x *index) collect(s *scanner, list []member) ([]member, error) {
	values, last, sorted := uint16(0), 0, true
	for {
		more, err := s.next()
		if err != nil || !more {
			if !sorted {
				slices.SortFunc(list, byValue)
			}
			return list, err
		}
		name, _, _ := s.name.characters(nil)
		owner, annotation := name, ""
		if at := strings.IndexByte(name, '@'); at >= 0 && strings.HasPrefix(name[at:], "@odata.") {
			owner, annotation = name[:at], name[at+1:]
		}
		if strings.HasPrefix(owner, "odata.") || annotation != "" && (annotation != "odata.type" || owner == "") {
			continue // the member describes the whole entity, or does not affect the stored entity
		}
		var n int
		if list, n, err = x.member(list, owner); err != nil {
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
