package protocol_test

import (
	"testing"

	"edgetable/core/protocol"
	"edgetable/core/table"
)

// TestConditionTwice checks that a write with two If-Match headers is refused, as a write with a list of ETags is. If one
// of the headers were ignored, the write could overwrite or delete what its client wanted to keep.
func TestConditionTwice(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	const earlier = `W/"datetime'2012-06-15T22%3A51%3A44.9662825Z'"`
	for _, method := range []string{"PUT", "MERGE", "DELETE"} {
		for _, values := range [][]string{{"*", earlier}, {earlier, "*"}, {"*", "*"}, {"", earlier}} {
			body := "{}"
			if method == "DELETE" {
				body = ""
			}
			req := s.request(method, "/people(PartitionKey='p',RowKey='1')", "application/json", []byte(body))
			req.Header.(protocol.Header)["If-Match"] = values
			resp := s.Serve(t.Context(), req)
			resp.Release()
			if resp.Status != 400 || resp.Code != string(table.InvalidInput) {
				t.Errorf("%s with If-Match %q: %d %s", method, values, resp.Status, resp.Code)
			}
		}
	}
}
