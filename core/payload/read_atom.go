package payload

import (
	"errors"
	"strconv"
	"strings"

	"edgetable/core/edm"
	"edgetable/core/xml"
)

// Namespaces and the category scheme of an Atom entry.
const (
	spaceAtom     = "http://www.w3.org/2005/Atom"
	spaceData     = "http://schemas.microsoft.com/ado/2007/08/dataservices"
	spaceMetadata = spaceData + "/metadata"
	scheme        = spaceData + "/scheme"
)

// ReadAtomEntity is [ReadEntity] for an Atom entry. The properties are the data elements in m:properties. m:type is the
// type of a value, and the default is String.
func ReadAtomEntity(body []byte) (Entity, error) {
	var buf [typicalMembers]member
	list, err := collectAtom(body, buf[:0])
	if err != nil {
		return Entity{}, err
	}
	return entity(list, fileSpelling)
}

// ReadAtomUpdate is [ReadUpdate] for an Atom entry.
func ReadAtomUpdate(body []byte) (edm.Properties, error) {
	var buf [typicalMembers]member
	list, err := collectAtom(body, buf[:0])
	if err != nil {
		return nil, err
	}
	return update(list, fileSpelling)
}

// ReadAtomTableName is [ReadTableName] for an Atom entry.
func ReadAtomTableName(body []byte) (name string, ok bool, err error) {
	var buf [typicalMembers]member
	list, err := collectAtom(body, buf[:0])
	if err != nil {
		return "", false, err
	}
	return nameOfTable(list)
}

// collectAtom reads a whole Atom entry and appends its members to list. m:properties may be inside the content element,
// or after it as in entries for media.
func collectAtom(body []byte, list []member) ([]member, error) {
	var index index
	r := xml.NewReader(body)
	for depth := 0; ; { // depth is 1 in the entry and 2 in its content
		kind, err := r.Next()
		switch {
		case err != nil:
		case kind == xml.EOF:
			return list, nil
		case kind == xml.End:
			depth--
		case kind != xml.Start:
		case depth == 0 && r.Local() == "entry" && r.Space() == spaceAtom, depth == 1 && r.Local() == "content" && r.Space() == spaceAtom:
			depth++
		case depth == 0:
			return list, invalid("The body is not an Atom entry.")
		case r.Local() == "properties" && r.Space() == spaceMetadata:
			list, err = collectProperties(r, &index, list)
		default:
			err = r.Skip()
		}
		if err != nil {
			return list, convertSyntaxError(err)
		}
	}
}

// collectProperties reads the content of m:properties up to the end tag, and appends the members to list.
func collectProperties(r *xml.Reader, index *index, list []member) ([]member, error) {
	for {
		kind, err := r.Next()
		if err != nil || kind == xml.End {
			return list, err
		}
		if kind != xml.Start {
			continue
		}
		if r.Space() != spaceData {
			if err := r.Skip(); err != nil {
				return list, err
			}
			continue
		}
		p := member{name: r.Local(), given: true, value: token{kind: kindString}, typ: token{kind: kindString}}
		p.typ.text, p.annotated = r.Attr(spaceMetadata, "type")
		if null, ok := r.Attr(spaceMetadata, "null"); ok {
			switch null {
			case "true", "1":
				p.value.kind = kindNull
			case "false", "0":
			default:
				return list, invalid("The m:null of " + quote(p.name) + " must be true or false.")
			}
		}
		text, err := r.ContentBytes()
		if err == xml.ErrNested {
			return list, invalid("The value of " + quote(p.name) + " contains an XML element: a property value must be plain text.")
		}
		if err != nil {
			return list, err
		}
		p.value.text = view(text)
		if p.annotated && p.typ.text != "Edm.String" {
			// As in XML Schema, ignore white space around values other than strings.
			p.value.text = strings.Trim(p.value.text, " \t\r\n")
		}
		var n int
		if list, n, err = index.member(list, p.name); err != nil {
			return list, err
		}
		if list[n].given {
			return list, explainTwice(p.name)
		}
		list[n] = p
	}
}

// convertSyntaxError converts an XML syntax error into an error of the protocol. It returns other errors unchanged.
func convertSyntaxError(err error) error {
	if at, ok := errors.AsType[*xml.SyntaxError](err); ok {
		return invalid("Malformed XML at byte " + strconv.Itoa(at.Offset) + ": " + at.Problem + ".")
	}
	return err
}
