package settings

import (
	"slices"

	"edgetable/core/table"
	"edgetable/core/xml"
)

const serviceRoot = "StorageServiceProperties"

// Merge applies a document of PUT /?restype=service&comp=properties to the stored document, or nil, and returns the
// document to store. Parts that body omits remain, even elements that only a later version knows.
//
// It fails with an error of [Properties.Update], or with InternalError if the stored document cannot be parsed.
func Merge(stored, body []byte) ([]byte, error) {
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

// part is a child of the root element, with its name and its bytes, including the tags.
type part struct {
	name string
	text []byte
}

func find(parts []part, name string) int {
	return slices.IndexFunc(parts, func(p part) bool { return p.name == name })
}

// partsOf returns the parts of a valid document, or none for nil.
func partsOf(doc []byte) (parts []part) {
	r := xml.NewReader(doc)
	kind, err := r.Next() // this item is the start tag of the root element
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
