package settings

import (
	"slices"

	"edgetable/core/table"
	"edgetable/core/xml"
)

const serviceRoot = "StorageServiceProperties"

// Keep applies a document of PUT /?restype=service&comp=properties to the stored document (nil if there is none). It
// returns the document to store. If body lacks a part, Keep copies that part byte for byte. The part may contain
// elements that [Properties] does not know, because a later version of this program stored them.
//
// The error is an error of [Properties.Update], or InternalError if the stored document cannot be parsed.
func Keep(stored, body []byte) ([]byte, error) {
	p := Defaults()
	if stored != nil {
		if err := p.Update(stored); err != nil {
			return nil, table.InternalError.Because(err)
		}
	}
	if err := p.Update(body); err != nil {
		return nil, err
	}
	old, sent := partsOf(stored), partsOf(body)
	next := append([]byte(nil), xml.Header+"<"+serviceRoot+">"...)
	known := partsOf(p.Append(nil, false))
	for _, k := range known {
		if i := find(old, k.name); i >= 0 && find(sent, k.name) < 0 {
			k = old[i]
		}
		next = append(next, k.text...)
	}
	for _, o := range old {
		if find(known, o.name) < 0 {
			next = append(next, o.text...)
		}
	}
	return appendEnd(next, serviceRoot), nil
}

// part is a child element of a document's root element. text holds the bytes from its start tag to its end tag.
type part struct {
	name string
	text []byte
}

func find(parts []part, name string) int {
	return slices.IndexFunc(parts, func(p part) bool { return p.name == name })
}

// partsOf returns the parts of a valid document. If there is no document (nil), there are no parts.
func partsOf(doc []byte) (parts []part) {
	r := xml.NewReader(doc)
	kind, err := r.Next() // skip the start tag of the root element
	for err == nil && kind != xml.EOF {
		from := r.Offset()
		if kind, err = r.Next(); err != nil || kind != xml.Start {
			continue
		}
		p := part{name: r.Local()}
		if p.name == "Metrics" {
			p.name = "HourMetrics"
		}
		if err = r.Skip(); err == nil {
			p.text = doc[from:r.Offset()]
			parts = append(parts, p)
		}
	}
	return parts
}
