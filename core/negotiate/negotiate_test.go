package negotiate_test

import (
	"errors"
	"testing"

	"edgetable/core/negotiate"
	"edgetable/core/payload"
	"edgetable/core/table"
)

func code(t *testing.T, err error) table.Code {
	t.Helper()
	if err == nil {
		return ""
	}
	var e *table.Error
	if !errors.As(err, &e) {
		t.Fatalf("not an error of the protocol: %v", err)
	}
	return e.Code
}

// header is the header of a request.
type header map[string]string

// Get returns a field of the header, or "".
func (h header) Get(name string) string { return h[name] }

func TestResponseFormat(t *testing.T) {
	t.Parallel()
	const now = "2019-02-02"
	for _, tt := range []struct {
		format, accept, version string // "-" if the query has no $format
		odata                   float64
		want                    payload.Format
		err                     table.Code
	}{
		{"-", "", now, 0, payload.Minimal, ""},
		{"-", "*/*", now, 0, payload.Minimal, ""},
		{"-", "application/*", now, 0, payload.Minimal, ""},
		{"-", "application/json", now, 0, payload.Minimal, ""},
		{"-", "application/json;odata=nometadata", now, 3, payload.NoMetadata, ""},
		{"-", "Application/JSON; ODATA=FullMetadata; charset=utf-8", now, 0, payload.Full, ""},
		{"-", `application/json;odata="minimalmetadata"`, now, 0, payload.Minimal, ""},
		{"-", "application/json;q=0.5;odata=nometadata", now, 0, payload.NoMetadata, ""},
		{"-", "text/html,application/json;odata=fullmetadata,*/*", now, 0, payload.Full, ""},
		{"-", "application/atom+xml, application/json;odata=nometadata", now, 0, payload.NoMetadata, ""},
		{"-", "application/json;odata=verbose, application/json;odata=nometadata", now, 0, payload.NoMetadata, ""},
		{"json", "application/atom+xml", now, 0, payload.Minimal, ""},
		{"application/json;odata=nometadata", "application/json;odata=fullmetadata", now, 0, payload.NoMetadata, ""},
		{"", "application/json;odata=fullmetadata", now, 0, payload.Full, ""},

		// JSON is available since 2013-08-15, for clients that request OData 3.
		{"-", "application/json", "2013-08-15", 0, payload.Minimal, ""},
		{"-", "application/json", "2012-02-12", 0, payload.Atom, table.JSONFormatNotSupported},
		{"-", "application/json", "2014-02-14", 2, payload.Atom, table.JSONFormatNotSupported},
		{"-", "application/json", now, 2, payload.Minimal, ""},
		{"-", "application/json, application/atom+xml", "2012-02-12", 0, payload.Atom, ""},
		// ATOM was the default format until 2015-12-11, when it was removed.
		{"-", "", "2009-09-19", 0, payload.Atom, ""},
		{"-", "*/*", "2015-07-08", 3, payload.Atom, ""},
		{"-", "application/atom+xml,application/xml", "2011-08-18", 0, payload.Atom, ""},
		{"-", "application/xml", "2015-07-08", 3, payload.Atom, ""},
		{"atom", "application/json", "2014-02-14", 0, payload.Atom, ""},
		{"-", "application/atom+xml,application/xml", "2015-12-11", 0, payload.Minimal, table.AtomFormatNotSupported},
		{"-", "text/html, application/atom+xml", now, 0, payload.Minimal, table.AtomFormatNotSupported},
		{"atom", "application/json", now, 0, payload.Minimal, table.AtomFormatNotSupported},
		// If the client sends no version, all formats are available.
		{"-", "", "", 0, payload.Atom, ""},
		{"-", "application/json", "", 0, payload.Minimal, ""},
		{"-", "application/atom+xml", "", 0, payload.Atom, ""},

		{"-", "application/json;odata=verbose", now, 0, payload.Minimal, table.JSONVerboseFormatNotSupported},
		{"-", "application/json;odata=nonsense", now, 0, payload.Minimal, table.MediaTypeNotSupported},
		{"-", "text/html", now, 0, payload.Minimal, table.MediaTypeNotSupported},
		{"-", "text/html", "2012-02-12", 0, payload.Atom, table.MediaTypeNotSupported},
		{"-", ",", now, 0, payload.Minimal, table.MediaTypeNotSupported},
		{"banana", "application/json", now, 0, payload.Minimal, table.MediaTypeNotSupported},
	} {
		var format *string
		if tt.format != "-" {
			format = &tt.format
		}
		got := negotiate.Dialect{Version: tt.version, OData: tt.odata}.ResponseFormat(format, tt.accept)
		if got.Format != tt.want || code(t, got.FormatErr) != tt.err {
			t.Errorf("$format %q, Accept %q, version %q: got %v, %v, want %v, %s", tt.format, tt.accept, tt.version, got.Format, got.FormatErr, tt.want, tt.err)
		}
	}
}

func TestRequestFormat(t *testing.T) {
	t.Parallel()
	const now = "2019-02-02"
	for _, tt := range []struct {
		version, contentType string
		want                 payload.Format
		err                  table.Code
	}{
		{now, "", payload.Minimal, ""},
		{"2012-02-12", "", payload.Atom, ""},
		{"", "", payload.Minimal, ""},
		{now, "application/json", payload.Minimal, ""},
		{now, "application/json;odata=nometadata;charset=utf-8", payload.NoMetadata, ""},
		{now, "APPLICATION/JSON; charset=UTF-8", payload.Minimal, ""},
		{now, "application/json;type=entry", payload.Minimal, ""},
		{now, "application/atom+xml;type=entry", payload.Atom, table.AtomFormatNotSupported},
		{"2015-07-08", "application/atom+xml;type=entry", payload.Atom, ""},
		{"", "application/xml", payload.Atom, ""},
		{"2012-02-12", "application/json", payload.Minimal, table.JSONFormatNotSupported},
		{now, "multipart/mixed; boundary=b", payload.Minimal, table.MediaTypeNotSupported},
		{now, "*/*", payload.Minimal, table.MediaTypeNotSupported},
		{"2012-02-12", "application/*", payload.Atom, table.MediaTypeNotSupported},
		{now, "text/plain", payload.Minimal, table.MediaTypeNotSupported},
		{now, "application/jsonp", payload.Minimal, table.MediaTypeNotSupported},
	} {
		got, err := negotiate.Dialect{Version: tt.version}.RequestFormat(tt.contentType)
		if got != tt.want || code(t, err) != tt.err {
			t.Errorf("%q of %q: got %v, %v, want %v, %q", tt.contentType, tt.version, got, err, tt.want, tt.err)
		}
	}
}

func TestParsePreference(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ prefer, want string }{
		{"", ""},
		{"return-content", "return-content"},
		{"return-no-content", "return-no-content"},
		{"Return-No-Content", "return-no-content"},
		{"respond-async, return-content ,return-no-content", "return-content"},
		{"return=minimal", ""},
		{",,", ""},
	} {
		if got := negotiate.ParsePreference(tt.prefer).String(); got != tt.want {
			t.Errorf("%q: got %q, want %q", tt.prefer, got, tt.want)
		}
	}
}

func TestVersions(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		version, data, max string
		want               float64 // -1 if an error is expected
	}{
		{"", "", "", 0},
		{"2009-04-14", "", "", 0},
		{"2099-12-31", "3.0;NetFx", "", 3},
		{"2019-02-02", "1.0", "2.0;", 2},
		{"2019-02-02", "garbage", "3.0", 3},
		{"2009-04-13", "", "", -1},
		{"2019-2-2", "", "", -1},
		{"2019-00-10", "", "", -1},
		{"2019-01-32", "", "", -1},
		{"2019/01/01", "", "", -1},
		{"20x9-01-01", "", "", -1},
		{"2019-02-02", "garbage", "", -1},
		{"2019-02-02", "NaN", "", -1},
		{"2019-02-02", "3.0", "9.0", -1},
		{"2019-02-02", "0.5", "", -1},
	} {
		h := header{}
		if tt.data != "" {
			h["Dataserviceversion"] = tt.data
		}
		if tt.max != "" {
			h["Maxdataserviceversion"] = tt.max
		}
		got, err := negotiate.ODataVersion(h)
		if _, wrong := negotiate.CheckVersion(tt.version); wrong != nil {
			got, err = 0, wrong
		}
		if tt.want < 0 && code(t, err) != table.InvalidHeaderValue || tt.want >= 0 && (err != nil || got != tt.want) {
			t.Errorf("%+v: got %v, %v", tt, got, err)
		}
	}
}
