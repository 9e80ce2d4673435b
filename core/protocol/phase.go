package protocol

import (
	"edgetable/core/address"
	"edgetable/core/multipart"
	"edgetable/core/negotiate"
	"edgetable/core/table"
)

// phase is a phase of processing in Azure's service. The phase in which an error occurs determines which
// headers the answer has, as recorded from Azure up to April 2026; see heads.
type phase uint8

const (
	// In the phase running, the operation itself runs. All successful answers come from this phase.
	running phase = iota
	// The phase reading comes before the operation. In this phase, the service reads the address, the names, the
	// body, the filter and the ETag, and checks that the table exists.
	reading
	// In the phase readingOptions, the service parses the query options timeout, comp and restype.
	readingOptions
	// In the phase atFront, the front end of the service handles the request. It does not access the table.
	atFront
	// In the phase challenging, the front end asks for credentials.
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

// foundIn maps an error code to the phase in which the error occurs. A code that is not in this map belongs to the
// phase running, in which the operation itself runs.
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

// phaseOf returns the phase in which an error occurred. It uses the map foundIn, with two exceptions. An operation
// on /Tables reads its request in the phase running, so this is the phase of errors in the request. For a request
// without credentials, the error may be ResourceNotFound; this error then belongs to the phase challenging.
func (c *call) phaseOf(e *table.Error) phase {
	p := foundIn[e.Code]
	if e.Code == table.ResourceNotFound && c.resp.Refused == RefusedAnonymous {
		return challenging
	}
	if r := c.route.Resource; p == reading && c.part == nil && (r == address.TableSet || r == address.OneTable) {
		return running
	}
	return p
}

// head adds to the response the headers that answers from this phase of processing have (see heads).
func (c *call) head(p phase) {
	h := &heads[p]
	version := c.Version
	switch {
	case p == challenging:
		version, _ = negotiate.CheckVersion(c.req.Header.Get("X-Ms-Version"))
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

// withPreference appends the header Preference-Applied to h, if the variable heads lists this header for errors in the phase p.
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
