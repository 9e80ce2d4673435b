package load

// Format is the representation of entities in requests and responses.
type Format string

// The formats. JSON is the format without metadata, which is the shortest. Atom needs a target with a Version that
// supports it, such as [AtomVersion].
const (
	JSON Format = "json"
	Atom Format = "atom"
)

// AtomVersion is the second newest version of the protocol that has Atom. It also supports JSON.
const AtomVersion = "2013-08-15"

// headers holds the header lines for the operations in a format.
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

// mostBytes returns the maximum size of an entity in a response. A response also has addresses, links and times,
// and in Atom the name and the type of each property.
func (f Format) mostBytes() int {
	if f == Atom {
		return 4 * EntitySize
	}
	return 2 * EntitySize
}

const headAccept = "Accept: application/json;odata=nometadata\r\n"
