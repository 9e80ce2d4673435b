package payload

import (
	"strings"

	"edgetable/core/table"
)

// Format is a representation of a body: JSON with one of three amounts of
// metadata, or Atom.
type Format uint8

const (
	// NoMetadata is JSON with the values alone; types other than JSON's are lost.
	NoMetadata Format = iota
	// Minimal is JSON with the types JSON lacks, the ETag and the root's context.
	Minimal
	// Full adds the type's name, the id and the edit link of every entity.
	Full
	// Atom is an XML entry or feed, as clients of before 2013 speak.
	Atom
)

// ContentType is the media type of an answer in this format, of one entity or
// table or of a feed of them.
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

// ErrorContentType is the media type of what [Format.AppendError] appends.
func (f Format) ErrorContentType() string {
	if f == Atom {
		return "application/xml;charset=utf-8"
	}
	return f.ContentType(false)
}

// Names of the system properties.
const (
	partitionKey = "PartitionKey"
	rowKey       = "RowKey"
	timestamp    = "Timestamp"
	tableName    = "TableName"
)

// maxProjection is how many names a Projection marks without allocating.
const maxProjection = 256

// Projection is a compiled $select: the properties an answer is cut down to. A
// nil Projection keeps all. It does not change after it was made.
type Projection struct {
	text  string // as the request has it, without blanks around it
	all   bool   // it names nothing, or *
	names []string
	index map[string]int // nil for few names
	// Listed system properties: Timestamp and the keys appear only if named.
	partitionKey, rowKey, timestamp bool
}

// linearProjection is the number of names up to which comparing with each
// beats a map.
const linearProjection = 8

// NewProjection compiles a $select from its names and its text. It drops repeated
// names. Without names it keeps all properties. JSON repeats the text in its
// metadata.
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

// find is the position of a name in the list, or -1.
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

// errorText is what the service answers to a body it cannot read.
const errorText = "An error occurred while processing this request."

// invalid is the service's error for an unreadable body with a hint for the sender.
func invalid(hint string) error { return table.InvalidInput.With(errorText + " " + hint) }
