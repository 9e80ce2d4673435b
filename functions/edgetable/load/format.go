package load

// Format is the representation of entities in requests and responses.
type Format string

// JSON is sent without metadata, which is the shortest format. Atom requires a protocol version that supports it, such
// as [AtomVersion].
const (
	JSON Format = "json"
	Atom Format = "atom"
)

// AtomVersion is a protocol version that supports Atom and JSON.
const AtomVersion = "2013-08-15"

// headers are the header lines of the operations.
type headers struct{ accept, write, insert, merge, delete string }

func (f Format) headers() headers {
	h := headers{accept: headAccept, write: headAccept + "Content-Type: application/json\r\n"}
	if f == Atom {
		h.accept = "Accept: application/atom+xml,application/xml\r\n"
		h.write = h.accept + "Content-Type: application/atom+xml\r\n"
	}
	h.insert = h.write + "Prefer: return-no-content\r\nDataServiceVersion: 3.0\r\n"
	h.merge = h.write + "If-Match: *\r\n"
	h.delete = h.accept + "If-Match: *\r\n"
	return h
}

const headAccept = "Accept: application/json;odata=nometadata\r\n"
