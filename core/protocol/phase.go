package protocol

import (
	"edgetable/core/multipart"
	"edgetable/core/table"
)

// phase is a phase of processing in Azure's service. The phase in which an error occurs determines which
// headers the answer has, as recorded from Azure up to April 2026; see heads.
type phase uint8

const (
	// running is the phase in which the operation itself runs. All successful answers come from this phase.
	running phase = iota
	// reading is the phase before the operation. It reads the address, the names, the body, the filter and
	// the ETag, and checks that the table exists.
	reading
	// readingOptions is the phase that parses the query options timeout, comp and restype.
	readingOptions
	// atFront is the phase in the front end of the service, which does not access the table.
	atFront
	// challenging is the phase in which the front end asks for credentials.
	challenging
)

// heads lists which headers an answer has, by phase. Administrative answers, which are plain XML, have
// neither nosniff nor Cache-Control. If an answer has x-ms-version, its Server header names the table
// service; otherwise it names only the HTTP server. All 12,824 recorded answers follow these rules.
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

// foundIn maps an error to the phase in which it occurs. Any other error occurs in the phase called running,
// in which the operation itself runs.
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
	table.KeyValueTooLarge:              reading, // the store cannot keep a key of this length
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

// phaseOf returns the phase in which an error occurred: the phase in the map foundIn, with two exceptions. An
// operation on /Tables reads its request while it runs, so an error in the request occurs in the phase
// running. If credentials are missing, the error may be ResourceNotFound, and its phase is then challenging.
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

// head adds to the response the headers that answers from this phase of processing have (see heads).
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

// withPreference appends the header Preference-Applied to h, if errors in the phase p have this header (see heads).
func (c *call) withPreference(p phase, status int, h []Field) []Field {
	if heads[p].preference && status != 412 {
		return c.appendPreference(h)
	}
	return h
}

// partHeader returns the first headers of a part of a batch response.
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
