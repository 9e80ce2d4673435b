package protocol_test

import (
	"strings"
	"testing"

	"edgetable/core/multipart"
	"edgetable/core/payload"
	"edgetable/core/protocol"
	"edgetable/core/table"
	"edgetable/core/wiretest"
)

// TestBatchErrorFormat checks that the error of a failed operation has the
// format that the operation asks for, even if the operation fails early.
func TestBatchErrorFormat(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	for _, tt := range []struct {
		target     string
		operations int
		status     string
		why        string
	}{
		{"people(PartitionKey='p',RowKey='missing')", 1, "404", "no such entity"},
		{"people(PartitionKey='p'", 1, "400", "no address"},
		{"people(PartitionKey='p',RowKey='1')?timeout=soon", 1, "400", "a bad option"},
		{"people(PartitionKey='p',RowKey='1')?$skip=1", 1, "501", "an option that is not implemented"},
		{"people(PartitionKey='p',RowKey='1')", table.MaxBatchOperations + 1, "400", "too many"},
	} {
		ops := make([]multipart.Operation, tt.operations)
		for i := range ops {
			ops[i] = multipart.Operation{
				Method: "DELETE", Target: "/" + wiretest.Account + "/" + tt.target,
				Header: multipart.Header{{Name: "If-Match", Value: "*"}, {Name: "Accept", Value: "application/json;odata=nometadata"}},
			}
		}
		body := multipart.AppendBatch(nil, "b", "c", &multipart.Batch{Parts: []multipart.Part{{Changeset: true, Operations: ops}}})
		req := s.request("POST", "/$batch", "multipart/mixed; boundary=b", body)
		req.Header.(protocol.Header)["Accept"] = []string{"application/json;odata=fullmetadata"}
		resp := s.Serve(t.Context(), req)
		text := string(resp.Body)
		if resp.Status != 202 || !strings.Contains(text, "HTTP/1.1 "+tt.status) || !strings.Contains(text, "Content-Type: "+payload.NoMetadata.ContentType(false)) {
			t.Errorf("%s: status %d: %s", tt.why, resp.Status, text)
		}
		resp.Release()
	}
}
