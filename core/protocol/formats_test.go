package protocol_test

import (
	"strings"
	"testing"

	"edgetable/core/protocol"
)

// TestFormatOfBody checks in which format a body is read that has no Content-Type, and which texts an answer in JSON or
// in ATOM can show.
func TestFormatOfBody(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	const entity, control = `{"PartitionKey":"p","RowKey":"3"}`, `{"PartitionKey":"p","RowKey":"4","A":"\u0001"}`
	for _, tt := range []struct {
		why, version, contentType, accept, body string
		status                                  int
	}{
		{"JSON of an old client", "", "", "application/json", entity, 201},
		{"a text that XML cannot show, in JSON", "2019-02-02", "application/json", "application/json", control, 201},
		{"a text that XML cannot show, in ATOM", "2013-08-15", "application/json", "application/atom+xml", strings.Replace(control, "4", "5", 1), 400},
	} {
		req := s.request("POST", "/people", tt.contentType, []byte(tt.body))
		h := req.Header.(protocol.Header)
		h["Accept"], h["X-Ms-Version"] = []string{tt.accept}, []string{tt.version}
		if tt.contentType == "" {
			delete(h, "Content-Type")
			delete(h, "X-Ms-Version")
		}
		resp := s.Serve(t.Context(), req)
		if resp.Status != tt.status {
			t.Errorf("%s: status %d, want %d: %s", tt.why, resp.Status, tt.status, resp.Body)
		}
		resp.Release()
	}
}

// TestPreferenceOfTables checks that the header Prefer applies to a new table, and not to its access policies.
func TestPreferenceOfTables(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	for path, want := range map[string]string{"/people?comp=acl": "", "/Tables": "return-no-content"} {
		method, body := "PUT", ""
		if path == "/Tables" {
			method, body = "POST", `{"TableName":"pets"}`
		}
		resp := s.Serve(t.Context(), withHeader(s.request(method, path, "application/json", []byte(body)), "Prefer", "return-no-content"))
		if got := field(&resp, "Preference-Applied"); got != want || resp.Status != 204 {
			t.Errorf("%s: status %d, preference %q, want %q: %s", path, resp.Status, got, want, resp.Body)
		}
		resp.Release()
	}
}
