// Package negotiate implements content negotiation: from the headers of a request, it determines the format of the body
// and of the answer. The choice depends on the protocol version.
package negotiate

import (
	"strconv"
	"strings"

	"edgetable/core/payload"
	"edgetable/core/table"
	"edgetable/core/version"
)

// Fields is the header of a request or of a part of a batch.
type Fields interface {
	Get(canonicalName string) string
}

// CheckVersion returns v, the value of x-ms-version, if it is a published version, a later date or "". Any other value
// is an error.
func CheckVersion(v string) (string, error) {
	if v != "" && !version.Known(v) {
		return "", table.InvalidHeaderValue.With("The value for one of the HTTP headers is not in the correct format. x-ms-version must be a published version, such as 2019-02-02 or 2025-07-05, or a later date.")
	}
	return v, nil
}

// ODataVersion returns the OData version that the client requests, or 0. MaxDataServiceVersion takes precedence over
// DataServiceVersion.
func ODataVersion(h Fields) (float64, error) {
	text := h.Get("Maxdataserviceversion")
	if text == "" {
		text = h.Get("Dataserviceversion")
	}
	if text == "" {
		return 0, nil
	}
	number, _, _ := strings.Cut(text, ";")
	n, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if err != nil || !(n >= 1 && n <= 4) { // the range check is negated, so that it also rejects NaN
		return 0, table.InvalidHeaderValue.With("The value for one of the HTTP headers is not in the correct format. DataServiceVersion and MaxDataServiceVersion must be 1.0, 2.0 or 3.0.")
	}
	return n, nil
}

// Dialect holds the versions that determine the formats of a request and its answer.
type Dialect struct {
	Version string  // value of x-ms-version, or ""
	OData   float64 // requested OData version, or 0
}

// formatError returns "" if the format f is available, and otherwise an error code. A request without a protocol
// version may use both formats.
func (d Dialect) formatError(f payload.Format) table.Code {
	switch {
	// ATOM is available before version 2015-12-11.
	case f == payload.Atom && d.Version >= version.AtomEnd:
		return table.AtomFormatNotSupported
	// JSON is available from version 2013-08-15 on. Before version 2015-12-11, it needs OData 3.
	case f != payload.Atom && (d.Version != "" && d.Version < version.JSON || d.OData != 0 && d.OData < 3 && d.Version < version.AtomEnd):
		return table.JSONFormatNotSupported
	}
	return ""
}

// ordinary returns the default format of an answer: ATOM before version 2015-12-11, and otherwise JSON.
func (d Dialect) ordinary() payload.Format {
	if d.Version < version.AtomEnd {
		return payload.Atom
	}
	return payload.Minimal
}

// Representation holds the formats of an answer and of an error.
type Representation struct {
	Format      payload.Format
	ErrorFormat payload.Format
	FormatErr   error // error if none of the requested formats is available
	Unasked     bool  // whether the request lacks both $format and Accept
}

// ResponseFormat returns the format of the answer: $format, else the first available media range in Accept, else the
// default. For errors, a client that accepts any format gets XML.
func (d Dialect) ResponseFormat(format *string, accept string) Representation {
	if format != nil && *format != "" {
		accept = *format
	}
	if accept == "" {
		return Representation{Format: d.ordinary(), ErrorFormat: payload.Atom, Unasked: true}
	}
	reason := table.MediaTypeNotSupported
	for accept != "" {
		var one string
		one, accept, _ = strings.Cut(accept, ",")
		f, code := d.mediaRange(one)
		if code == "" {
			r := Representation{Format: f, ErrorFormat: f}
			if strings.Contains(one, "*") {
				r.ErrorFormat = payload.Atom
			}
			return r
		}
		if code != table.MediaTypeNotSupported {
			reason = code
		}
	}
	r := Representation{FormatErr: reason.Err()}
	if r.Format = payload.Minimal; d.formatError(payload.Minimal) != "" {
		r.Format = payload.Atom
	}
	r.ErrorFormat = r.Format
	return r
}

func (d Dialect) mediaRange(s string) (payload.Format, table.Code) {
	kind, params, _ := strings.Cut(s, ";")
	switch strings.ToLower(strings.TrimSpace(kind)) {
	case "application/json", "json":
		f, code := metadataLevel(params)
		if code == "" {
			code = d.formatError(f)
		}
		return f, code
	case "application/atom+xml", "application/xml", "atom", "text/xml":
		return payload.Atom, d.formatError(payload.Atom)
	case "*/*", "application/*":
		return d.ordinary(), ""
	}
	return payload.Minimal, table.MediaTypeNotSupported
}

func metadataLevel(params string) (payload.Format, table.Code) {
	for params != "" {
		var p string
		p, params, _ = strings.Cut(params, ";")
		name, value, _ := strings.Cut(p, "=")
		if !strings.EqualFold(strings.TrimSpace(name), "odata") {
			continue
		}
		switch strings.ToLower(strings.Trim(strings.TrimSpace(value), `"`)) {
		case "nometadata":
			return payload.NoMetadata, ""
		case "minimalmetadata":
			return payload.Minimal, ""
		case "fullmetadata":
			return payload.Full, ""
		case "verbose":
			return payload.Minimal, table.JSONVerboseFormatNotSupported
		default:
			return payload.Minimal, table.MediaTypeNotSupported
		}
	}
	return payload.Minimal, ""
}

// RequestFormat returns the format of a body with the given Content-Type. The default is JSON in all versions that
// support it.
func (d Dialect) RequestFormat(contentType string) (payload.Format, error) {
	if contentType == "" {
		if d.Version != "" && d.Version < version.JSON {
			return payload.Atom, nil
		}
		return payload.Minimal, nil
	}
	f, code := d.mediaRange(contentType)
	if code == "" && strings.Contains(contentType, "*") {
		code = table.MediaTypeNotSupported
	}
	if code != "" {
		return f, code.Err()
	}
	return f, nil
}

// Preference is a preference of the client for the answer to a write, from the Prefer header.
type Preference uint8

const (
	NoPreference Preference = iota
	ReturnContent
	ReturnNoContent
)

// ParsePreference returns the first known preference in a Prefer header.
func ParsePreference(prefer string) Preference {
	for prefer != "" {
		var one string
		one, prefer, _ = strings.Cut(prefer, ",")
		switch strings.ToLower(strings.TrimSpace(one)) {
		case "return-content":
			return ReturnContent
		case "return-no-content":
			return ReturnNoContent
		}
	}
	return NoPreference
}

// String returns the value of Preference-Applied.
func (p Preference) String() string {
	switch p {
	case ReturnContent:
		return "return-content"
	case ReturnNoContent:
		return "return-no-content"
	}
	return ""
}
