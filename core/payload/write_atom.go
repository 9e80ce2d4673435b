package payload

import (
	"bytes"
	"math"
	"strconv"

	"edgetable/core/edm"
	"edgetable/core/table"
	"edgetable/core/xml"
)

const (
	declaration = `<?xml version="1.0" encoding="utf-8"?>`

	// noAuthor is required by Atom in every entry, and in a feed without entries.
	noAuthor = `<author><name /></author>`
)

// atomRoot appends the start of a document up to the attributes of the root element, whose start tag remains open for
// the ETag. The attributes follow OData 3, as in the service.
func (v *View) atomRoot(dst []byte, tag string) []byte {
	dst = append(dst, declaration...)
	dst = append(dst, tag...)
	dst = append(dst, ` xml:base="`...)
	dst = xml.AppendAttr(dst, v.Base)
	return append(dst, `" xmlns="`+spaceAtom+`" xmlns:d="`+spaceData+`" xmlns:m="`+spaceMetadata+
		`" xmlns:georss="http://www.georss.org/georss" xmlns:gml="http://www.opengis.net/gml"`...)
}

func (v *View) atomFeed(dst []byte) []byte {
	dst = v.atomRoot(dst, "<feed")
	dst = append(dst, `><id>`...)
	dst = xml.AppendText(dst, v.Base)
	dst = xml.AppendText(dst, v.Table)
	dst = append(dst, `</id><title type="text">`...)
	dst = xml.AppendText(dst, v.Table)
	dst = append(dst, `</title>`...)
	dst = v.atomUpdated(dst)
	dst = append(dst, `<link rel="self" title="`...)
	dst = xml.AppendAttr(dst, v.Table)
	dst = append(dst, `" href="`...)
	dst = xml.AppendAttr(dst, v.Table)
	return append(dst, `" />`...)
}

func atomFeedEnd(dst []byte) []byte {
	if !bytes.HasSuffix(dst, []byte("</entry>")) {
		dst = append(dst, noAuthor...)
	}
	return append(dst, "</feed>"...)
}

// atomUpdated appends the element <updated> with the time of the response, truncated to seconds.
func (v *View) atomUpdated(dst []byte) []byte {
	if v.updated == 0 { // format the time once for all entries
		text := (v.Now - v.Now%edm.TicksPerSecond).AppendText(v.clock[:0])
		v.updated = len(text)
	}
	dst = append(append(dst, `<updated>`...), v.clock[:v.updated]...)
	return append(dst, `</updated>`...)
}

// atomTable appends a table after the open start tag of its entry element.
func (v *View) atomTable(dst []byte, name string) []byte {
	dst = append(dst, `><id>`...)
	dst = xml.AppendText(dst, v.Base)
	dst = AppendTableURI(dst, "", name)
	dst = v.atomEditLink(dst)
	dst = AppendTableURI(dst, "", name)
	dst = v.atomContent(dst)
	dst = v.atomProperty(dst, tableName, edm.String(name))
	return append(dst, `</m:properties></content></entry>`...)
}

// atomEditLink closes the id of an entry and appends the category and the edit link, up to the start of the href value.
func (v *View) atomEditLink(dst []byte) []byte {
	dst = append(dst, `</id><category term="`...)
	dst = xml.AppendAttr(dst, v.Account)
	dst = append(dst, '.')
	dst = xml.AppendAttr(dst, v.Table)
	dst = append(dst, `" scheme="`+scheme+`" /><link rel="edit" title="`...)
	dst = xml.AppendAttr(dst, v.Table)
	return append(dst, `" href="`...)
}

// atomContent appends everything between the edit link of an entry and its properties.
func (v *View) atomContent(dst []byte) []byte {
	dst = v.atomUpdated(append(dst, `" /><title />`...))
	return append(dst, noAuthor+`<content type="application/xml"><m:properties>`...)
}

// atomProperty appends a property. The type is omitted for a String.
func (v *View) atomProperty(dst []byte, name string, value edm.Value) []byte {
	if !v.atomName(name) {
		return dst
	}
	dst = append(append(dst, "<d:"...), name...)
	switch t := value.Type(); t {
	case edm.TypeString:
		s := value.Text()
		if s != "" && (isBlank(s[0]) || isBlank(s[len(s)-1])) {
			dst = append(dst, ` xml:space="preserve"`...)
		}
		var whole bool
		dst, whole = xml.AppendWhole(append(dst, '>'), s)
		v.lost = v.lost || !whole
	default:
		dst = append(append(dst, ` m:type="`...), t.String()...)
		dst = append(dst, `">`...)
		switch f := value.Float(); {
		case t == edm.TypeDouble && math.IsInf(f, 0):
			// INF is the spelling of XML Schema; clients accept both INF and Infinity
			if f < 0 {
				dst = append(dst, '-')
			}
			dst = append(dst, "INF"...)
		case t == edm.TypeDouble:
			// m:type already says Double, so a whole number needs no ".0".
			dst = bytes.TrimSuffix(value.AppendText(dst), []byte(".0"))
		default:
			dst = value.AppendText(dst)
		}
	}
	dst = append(append(dst, "</d:"...), name...)
	return append(dst, '>')
}

func atomTimestamp(dst, when []byte) []byte {
	dst = append(dst, `<d:Timestamp m:type="Edm.DateTime">`...)
	return append(append(dst, when...), `</d:Timestamp>`...)
}

func (v *View) atomNull(dst []byte, name string) []byte {
	if !v.atomName(name) {
		return dst
	}
	dst = append(append(dst, "<d:"...), name...)
	return append(dst, ` m:null="true" />`...)
}

// atomName reports whether a property name is a valid XML name. If it is not, View.Err returns an error. Only property
// names with ª, µ, º or ⁔ are not valid XML names.
func (v *View) atomName(name string) bool {
	if xml.IsName(name) {
		return true
	}
	v.lost = true
	return false
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' || c == '\r' || c == '\n' }

func atomError(dst []byte, e *table.Error, requestID string, now edm.Ticks) []byte {
	dst = append(dst, declaration+`<error xmlns="`+spaceMetadata+`"><code>`...)
	dst = xml.AppendText(dst, string(e.Code))
	dst = append(dst, `</code><message xml:lang="en-US">`...)
	dst = xmlMessage(dst, e, requestID, now)
	return append(dst, `</message></error>`...)
}

// AppendXMLError appends an error as XML (application/xml), for operations on access policies and service properties,
// and for authentication errors unless the client requests JSON.
func AppendXMLError(dst []byte, e *table.Error, requestID string, now edm.Ticks) []byte {
	dst = append(dst, xml.Header+`<m:error xmlns:m="`+spaceMetadata+`"><m:code>`...)
	dst = xml.AppendText(dst, string(e.Code))
	dst = append(dst, `</m:code><m:message xml:lang="en-US">`...)
	dst = xmlMessage(dst, e, requestID, now)
	return append(dst, `</m:message></m:error>`...)
}

func xmlMessage(dst []byte, e *table.Error, requestID string, now edm.Ticks) []byte {
	if e.HasIndex {
		dst = strconv.AppendInt(dst, int64(e.Index), 10)
		dst = append(dst, ':')
	}
	dst = xml.AppendText(dst, e.Message)
	dst = append(dst, "\nRequestId:"...)
	dst = xml.AppendText(dst, requestID)
	dst = append(dst, "\nTime:"...)
	return now.AppendText7(dst)
}
