package load

// Format is how entities are written and asked for.
type Format string

// The formats. JSON is without metadata, the least there is. Atom needs a target whose Version has it, such as
// [AtomVersion].
const (
	JSON Format = "json"
	Atom Format = "atom"
)

// AtomVersion is the last but one version of the protocol with Atom, and has JSON too.
const AtomVersion = "2013-08-15"

// headers are the header lines that go with the operations of a format.
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

// mostBytes is the most that a server may write for an entity: addresses, links and times come on top of it, and in Atom
// names and types too.
func (f Format) mostBytes() int {
	if f == Atom {
		return 4 * EntitySize
	}
	return 2 * EntitySize
}

const headAccept = "Accept: application/json;odata=nometadata\r\n"
