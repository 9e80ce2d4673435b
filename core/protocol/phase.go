package protocol

import (
	"edgetable/core/address"
	"edgetable/core/multipart"
	"edgetable/core/negotiate"
	"edgetable/core/table"
)

// phase is a phase of request processing in Azure's service. The headers of an error answer depend on the phase (see
// heads), as recorded up to April 2026.
type phase uint8

const (
	// running is the phase in which the operation runs. All successful answers come from it.
	running phase = iota
	// reading is the phase before running. The service reads the address, names, body, filter and ETag, and checks that
	// the table exists.
	reading
	// readingOptions is the phase in which the service parses the query options timeout, comp and restype.
	readingOptions
	// atFront is the phase in which the front end handles the request. It does not access the table.
	atFront
	// challenging is the phase in which the front end requests credentials.
	challenging
)

// heads lists the headers of an answer by phase. Plain XML answers have neither nosniff nor Cache-Control. Only an
// answer with x-ms-version names the table service in Server.
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

// foundIn maps an error code to the phase in which the error occurs. A code that is not in the map belongs to the phase
// running.
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

// phaseOf returns the phase of an error from foundIn, except for errors of reading a request to /Tables (running) and
// for ResourceNotFound without credentials (challenging).
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

// head adds the response headers of the phase p; see heads.
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

// withPreference appends Preference-Applied to h if heads lists it for the phase p and the status is not 412.
func (c *call) withPreference(p phase, status int, h []Field) []Field {
	if heads[p].preference && status != 412 {
		return c.appendPreference(h)
	}
	return h
}

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
