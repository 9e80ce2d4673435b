package protocol

import (
	"strconv"
	"strings"

	"edgetable/core/payload"
	"edgetable/core/table"
	"edgetable/core/version"
)

// These protocol versions introduced changes that concern tables.
const (
	upsertVersion    = "2011-08-18" // PUT and MERGE without If-Match
	sasVersion       = "2012-02-12" // shared access signatures, access policies
	jsonVersion      = "2013-08-15" // JSON, Prefer, CORS, stats
	pathVersion      = "2014-02-14" // since this version, x-ms-version takes precedence over the signed version
	bearerVersion    = "2017-11-09" // bearer tokens
	challengeVersion = "2020-12-06" // 401 with a challenge for missing credentials or a bad token
	atomEnd          = "2015-12-11" // the first version without ATOM
)

// fields is the header of a request or of a part of a batch.
type fields interface {
	Get(canonicalName string) string
}

// checkVersion checks v, the value of x-ms-version, and returns v. A published version, a later date and "" are valid; any other value is an error.
func checkVersion(v string) (string, error) {
	if v != "" && !version.Known(v) {
		return "", table.InvalidHeaderValue.With("The value for one of the HTTP headers is not in the correct format. x-ms-version must be a published version, such as 2019-02-02 or 2025-07-05, or a later date.")
	}
	return v, nil
}

// odataVersion returns the OData version that a client requests, or 0 if the client requests none.
// MaxDataServiceVersion takes precedence over DataServiceVersion.
func odataVersion(h fields) (float64, error) {
	text := h.Get("Maxdataserviceversion")
	if text == "" {
		text = h.Get("Dataserviceversion")
	}
	if text == "" {
		return 0, nil
	}
	number, _, _ := strings.Cut(text, ";")
	n, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if err != nil || !(n >= 1 && n <= 4) { // the condition is negated, so that NaN is refused too
		return 0, table.InvalidHeaderValue.With("The value for one of the HTTP headers is not in the correct format. DataServiceVersion and MaxDataServiceVersion must be 1.0, 2.0 or 3.0.")
	}
	return n, nil
}

// dialect holds the versions that determine the format of requests and answers.
type dialect struct {
	version string  // x-ms-version, "" if the client sent none
	odata   float64 // the OData version that the client requests, or 0
}

// formatError returns "" if this format is available, or else an error code. Before 2013-08-15 only ATOM was
// available; since 2015-12-11 ATOM is unavailable. A client that sends no version gets any format. Before
// 2015-12-11, JSON requires OData 3. Since then JSON is the only format, so clients may also name an older
// OData version.
func (d dialect) formatError(f payload.Format) table.Code {
	switch {
	case f == payload.Atom && d.version >= atomEnd:
		return table.AtomFormatNotSupported
	case f != payload.Atom && (d.version != "" && d.version < jsonVersion || d.odata != 0 && d.odata < 3 && d.version < atomEnd):
		return table.JSONFormatNotSupported
	}
	return ""
}

// ordinary returns the default format of an answer: ATOM in versions before 2015-12-11, else JSON.
func (d dialect) ordinary() payload.Format {
	if d.version < atomEnd {
		return payload.Atom
	}
	return payload.Minimal
}

// representation holds the formats of an answer and of an error.
type representation struct {
	format      payload.Format
	errorFormat payload.Format
	formatErr   error // an error if none of the requested formats is available
	unasked     bool  // whether the client sent neither $format nor Accept
}

// responseFormat chooses the format of the answer. It uses $format or, without $format, the first media
// range in Accept that is available. Without both, it chooses the default format. Errors have the same
// format, but are in XML if the client accepts any format.
func (d dialect) responseFormat(format *string, accept string) representation {
	if format != nil && *format != "" {
		accept = *format
	}
	if accept == "" {
		return representation{format: d.ordinary(), errorFormat: payload.Atom, unasked: true}
	}
	reason := table.MediaTypeNotSupported
	for accept != "" {
		var one string
		one, accept, _ = strings.Cut(accept, ",")
		f, code := d.mediaRange(one)
		if code == "" {
			r := representation{format: f, errorFormat: f}
			if strings.Contains(one, "*") {
				r.errorFormat = payload.Atom
			}
			return r
		}
		if code != table.MediaTypeNotSupported {
			reason = code
		}
	}
	r := representation{formatErr: reason.Err()}
	if r.format = payload.Minimal; d.formatError(payload.Minimal) != "" {
		r.format = payload.Atom
	}
	r.errorFormat = r.format
	return r
}

// mediaRange returns the format of one media range, or an error code.
func (d dialect) mediaRange(s string) (payload.Format, table.Code) {
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

// metadataLevel returns the format for the parameters of the media type application/json.
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

// requestFormat returns the format of a body with this Content-Type. Without a Content-Type, the format is
// JSON in all versions that support JSON.
func (d dialect) requestFormat(contentType string) (payload.Format, error) {
	if contentType == "" {
		if d.version != "" && d.version < jsonVersion {
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

// preference is the value of a Prefer header on a write.
type preference uint8

const (
	noPreference preference = iota
	returnContent
	returnNoContent
)

// parsePreference returns the first known preference in a Prefer header.
func parsePreference(prefer string) preference {
	for prefer != "" {
		var one string
		one, prefer, _ = strings.Cut(prefer, ",")
		switch strings.ToLower(strings.TrimSpace(one)) {
		case "return-content":
			return returnContent
		case "return-no-content":
			return returnNoContent
		}
	}
	return noPreference
}

// String returns the value of the header Preference-Applied.
func (p preference) String() string {
	switch p {
	case returnContent:
		return "return-content"
	case returnNoContent:
		return "return-no-content"
	}
	return ""
}
