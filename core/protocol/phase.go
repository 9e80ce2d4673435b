package protocol

import (
	"edgetable/core/multipart"
	"edgetable/core/table"
)

// phase is the part of the service that answers. It decides which headers an
// answer has, as recorded from the service up to April 2026; see heads.
type phase uint8

const (
	// running is the operation itself. All successful answers are from it.
	running phase = iota
	// reading is everything before the operation: the address, the names, the check
	// that the table exists, the body, the filter and the ETag.
	reading
	// readingOptions is the reading of the query options timeout, comp and restype.
	readingOptions
	// atFront is the front end of the service, which does not look at the table.
	atFront
	// challenging is the front end of the service when it asks for credentials.
	challenging
)

// heads is the table of headers by phase. Administrative answers, which are plain XML,
// have neither nosniff nor Cache-Control. In an answer with x-ms-version, the Server
// header names the table service. In any other answer it names only the HTTP server.
// All 12,824 recorded answers follow this rule.
var heads = [...]struct {
	version, nosniff, noCache, preference bool
}{
	running:        {version: true, nosniff: true, noCache: true, preference: true},
	reading:        {version: true, nosniff: true},
	readingOptions: {nosniff: true},
	atFront:        {},
	challenging:    {version: true},
}

const (
	serverName = "Windows-Azure-Table/1.0 " + frontName
	frontName  = "Microsoft-HTTPAPI/2.0"
)

// foundIn lists the phase in which each error is found. The operation itself finds
// errors that are not in the list.
var foundIn = map[table.Code]phase{
	table.NoAuthenticationInformation: challenging,

	table.InvalidURI:                 atFront,
	table.InvalidQueryParameterValue: readingOptions,

	table.AtomFormatNotSupported:        reading,
	table.ConditionNotMet:               reading, // the ETag is malformed
	table.DuplicatePropertiesSpecified:  reading,
	table.InvalidHeaderValue:            reading,
	table.InvalidInput:                  reading,
	table.InvalidResourceName:           reading,
	table.JSONFormatNotSupported:        reading,
	table.JSONVerboseFormatNotSupported: reading,
	table.KeyValueTooLarge:              reading, // the key is too long for the store
	table.MediaTypeNotSupported:         reading,
	table.MethodNotAllowed:              reading,
	table.MissingContentLengthHeader:    reading,
	table.OutOfRangeInput:               reading,
	table.PropertyNameInvalid:           reading,
	table.RequestBodyTooLarge:           reading,
	table.TableNotFound:                 reading,
	table.XMethodIncorrectCount:         reading,
	table.XMethodIncorrectValue:         reading,
	table.XMethodNotUsingPost:           reading,
}

// phaseOf returns the phase in which an error was found. There are two exceptions to the list foundIn. On
// /Tables the operation itself reads its request. Versions of the protocol without challenges answer
// ResourceNotFound to a request without credentials.
func (c *call) phaseOf(e *table.Error) phase {
	p := foundIn[e.Code]
	if e.Code == table.ResourceNotFound && c.resp.Refused == RefusedAnonymous {
		return challenging
	}
	if r := c.route.resource; p == reading && c.part == nil && (r == tableSet || r == oneTable) {
		return running
	}
	return p
}

// head adds the headers of a phase to the response.
func (c *call) head(p phase) {
	h := &heads[p]
	version := c.version
	switch {
	case p == challenging:
		version, _ = checkVersion(c.req.Header.Get("X-Ms-Version"))
	case !h.version:
		version = ""
	}
	server := serverName
	if version == "" {
		server = frontName
	}
	c.resp.add("Server", server)
	if h.noCache && !c.plain {
		c.resp.add("Cache-Control", "no-cache")
	}
	if h.nosniff && !c.plain {
		c.resp.add("X-Content-Type-Options", "nosniff")
	}
	if version != "" {
		c.resp.add("x-ms-version", version)
	}
}

// withPreference appends the header that names the applied preference to the
// headers of an error.
func (c *call) withPreference(p phase, status int, h []Field) []Field {
	if heads[p].preference && status != 412 {
		return c.appendPreference(h)
	}
	return h
}

// partHeader returns the headers with which a part of a batch response begins.
func (c *call) partHeader(p phase) multipart.Header {
	h := make(multipart.Header, 0, 8)
	if id := c.part.ContentID(); id != "" {
		h = append(h, Field{Name: "Content-ID", Value: id})
	}
	h = append(h, Field{Name: "X-Content-Type-Options", Value: "nosniff"})
	if heads[p].noCache {
		h = append(h, Field{Name: "Cache-Control", Value: "no-cache"})
	}
	return h
}
