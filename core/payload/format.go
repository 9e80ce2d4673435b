package payload

import (
	"strings"

	"edgetable/core/table"
)

// Format is the representation of a body: Atom, or JSON with one of three levels of metadata.
type Format uint8

const (
	// NoMetadata is JSON with values only. It loses the types that JSON cannot express.
	NoMetadata Format = iota
	// Minimal is JSON with the ETag, the odata.metadata URL of the response, and annotations for the types that JSON
	// cannot express.
	Minimal
	// Full is Minimal with the type name, id and edit link of every entity.
	Full
	// Atom is an XML entry or feed, for clients from before 2013.
	Atom
)

// ContentType returns the media type of a response. If feed is set, it is the media type for a list of entities or
// tables.
func (f Format) ContentType(feed bool) string {
	switch f {
	case NoMetadata:
		return "application/json;odata=nometadata;streaming=true;charset=utf-8"
	case Full:
		return "application/json;odata=fullmetadata;streaming=true;charset=utf-8"
	case Atom:
		if feed {
			return "application/atom+xml;type=feed;charset=utf-8"
		}
		return "application/atom+xml;type=entry;charset=utf-8"
	}
	return "application/json;odata=minimalmetadata;streaming=true;charset=utf-8"
}

// ErrorContentType returns the media type of the body that [Format.AppendError] writes.
func (f Format) ErrorContentType() string {
	if f == Atom {
		return "application/xml;charset=utf-8"
	}
	return f.ContentType(false)
}

const (
	partitionKey = "PartitionKey"
	rowKey       = "RowKey"
	timestamp    = "Timestamp"
	tableName    = "TableName"
)

// maxProjection is the maximum number of selected names for which an entity is written without an allocation.
const maxProjection = 256

// Projection is a compiled $select: the properties to return. A nil Projection selects all properties. A Projection is
// immutable.
type Projection struct {
	text  string // the $select as sent by the client, without surrounding blanks
	all   bool   // whether the $select is blank or contains *
	names []string
	index map[string]int // position of each name in names, or nil if a linear search is faster
	// whether names contains each of the system properties
	partitionKey, rowKey, timestamp bool
}

// linearProjection is the maximum number of names for which a linear search is faster than a map.
const linearProjection = 8

// NewProjection compiles a $select with the given names, which may have duplicates. Without names, it selects all
// properties. The parameter text is the $select for the JSON metadata.
func NewProjection(names []string, text string) *Projection {
	p := &Projection{text: strings.Trim(text, " \t\r\n"), all: len(names) == 0}
	seen := make(map[string]int, len(names))
	for _, name := range names {
		if _, ok := seen[name]; !ok {
			seen[name] = len(p.names)
			p.names = append(p.names, name)
		}
	}
	if len(p.names) > linearProjection {
		p.index = seen
	}
	_, p.partitionKey = seen[partitionKey]
	_, p.rowKey = seen[rowKey]
	_, p.timestamp = seen[timestamp]
	return p
}

func (p *Projection) find(name string) int {
	if p.index != nil {
		if i, ok := p.index[name]; ok {
			return i
		}
		return -1
	}
	for i, n := range p.names {
		if n == name {
			return i
		}
	}
	return -1
}

// errorText is the service's message for an unreadable body.
const errorText = "An error occurred while processing this request."

// invalid returns the service's error for an unreadable body, with a hint for the sender.
func invalid(hint string) error { return table.InvalidInput.With(errorText + " " + hint) }
