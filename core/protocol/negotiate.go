package protocol

import (
	"strconv"
	"strings"

	"edgetable/core/payload"
	"edgetable/core/table"
)

// Versions of the protocol at which something changed for tables.
const (
	firstVersion  = "2009-04-14"
	upsertVersion = "2011-08-18" // PUT and MERGE without If-Match
	jsonVersion   = "2013-08-15"
)

// fields is the headers of a request or of a part of a batch.
type fields interface {
	Get(canonicalName string) string
}

// checkVersions judges x-ms-version, any date from 2009-04-14 on, and the OData
// versions, of which MaxDataServiceVersion counts where both are there.
func checkVersions(version string, h fields) error {
	if version != "" && (!isDate(version) || version < firstVersion) {
		return table.InvalidHeaderValue.With("The value for one of the HTTP headers is not in the correct format. x-ms-version must be a date from " + firstVersion + " on, such as 2019-02-02.")
	}
	name := "Maxdataserviceversion"
	text := h.Get(name)
	if text == "" {
		name = "Dataserviceversion"
		text = h.Get(name)
	}
	if text == "" {
		return nil
	}
	number, _, _ := strings.Cut(text, ";")
	n, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if err != nil || !(n >= 1 && n <= 4) { // NaN neither
		return table.InvalidHeaderValue.With("The value for one of the HTTP headers is not in the correct format. DataServiceVersion and MaxDataServiceVersion must be 1.0, 2.0 or 3.0.")
	}
	return nil
}

func isDate(s string) bool {
	if len(s) != 10 || s[4] != '-' || s[7] != '-' {
		return false
	}
	for i, c := range []byte(s) {
		if i != 4 && i != 7 && (c < '0' || c > '9') {
			return false
		}
	}
	return s[5:7] >= "01" && s[5:7] <= "12" && s[8:] >= "01" && s[8:] <= "31"
}

// responseFormat chooses the representation of the answer: $format, else the
// first media range of Accept that can be served, else minimal metadata.
func responseFormat(format *string, accept, version string) (payload.Format, error) {
	if format != nil && *format != "" {
		accept = *format
	}
	if accept == "" {
		return payload.Minimal, nil
	}
	reason := table.MediaTypeNotSupported
	for accept != "" {
		var one string
		one, accept, _ = strings.Cut(accept, ",")
		f, code := mediaRange(one)
		if code == "" && version != "" && version < jsonVersion && one != "*/*" {
			code = table.JSONFormatNotSupported
		}
		if code == "" {
			return f, nil
		}
		if code != table.MediaTypeNotSupported {
			reason = code
		}
	}
	return payload.Minimal, reason.Err()
}

// mediaRange is the format of one media range, or the code that refuses it.
func mediaRange(s string) (payload.Format, table.Code) {
	kind, params, _ := strings.Cut(s, ";")
	switch strings.ToLower(strings.TrimSpace(kind)) {
	case "application/json", "json":
	case "*/*", "application/*":
		return payload.Minimal, ""
	case "application/atom+xml", "application/xml", "atom", "text/xml":
		return payload.Minimal, table.AtomFormatNotSupported
	default:
		return payload.Minimal, table.MediaTypeNotSupported
	}
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

// checkContentType demands that a body is JSON. A missing Content-Type is taken
// for it.
func checkContentType(contentType string) error {
	if contentType == "" {
		return nil
	}
	if _, code := mediaRange(contentType); code != "" {
		return code.Err()
	}
	if strings.HasPrefix(strings.TrimSpace(contentType), "*") {
		return table.MediaTypeNotSupported.Err()
	}
	return nil
}

// preference is what a Prefer header asks of an insert.
type preference uint8

const (
	noPreference preference = iota
	returnContent
	returnNoContent
)

// parsePreference honours the first of the two preferences that are known.
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

// String is the value of Preference-Applied.
func (p preference) String() string {
	switch p {
	case returnContent:
		return "return-content"
	case returnNoContent:
		return "return-no-content"
	}
	return ""
}
