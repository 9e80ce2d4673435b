package lambdaurl_test

import (
	"strings"
	"testing"

	"edgetable/adapters/transport/lambdaurl"
	"edgetable/core/protocol"
	"edgetable/testdata/lambda/front"
)

// BenchmarkInvoke measures the time that the transport adds to a point read, from Lambda's event to the answer.
func BenchmarkInvoke(b *testing.B) {
	r := &recorder{resp: protocol.Response{Status: 200, Body: []byte(strings.Repeat(`{"Name":"Ada","Age":36}`, 40)), Header: []protocol.Field{
		{Name: "x-ms-request-id", Value: "cdc20f1c-ddb2-32cd-5cd5-ac7587c32966"}, {Name: "Date", Value: "Wed, 04 Mar 2026 05:06:07 GMT"},
		{Name: "Content-Type", Value: "application/json"}, {Name: "Cache-Control", Value: "no-cache"}, {Name: "ETag", Value: `W/"1"`},
	}}}
	h := &lambdaurl.Handler{Protocol: r}
	event := fixture(b, "function-url")
	b.ReportAllocs()
	b.SetBytes(int64(len(event)))
	for b.Loop() {
		if _, err := h.Invoke(b.Context(), event); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkLarge measures a batch whose request and response have the maximum size.
func BenchmarkLarge(b *testing.B) {
	body := []byte(strings.Repeat(`{"PartitionKey":"p","RowKey":"r"}`, 1<<20/8)[:4<<20])
	r := &recorder{resp: protocol.Response{Status: 202, Body: body[:3<<20], Header: []protocol.Field{{Name: "Content-Type", Value: "multipart/mixed; boundary=b"}}}}
	h := &lambdaurl.Handler{Protocol: r}
	event := front.Event(&front.Request{
		Method: "POST", Target: "/acme/$batch", Host: "h", Scheme: "https", Body: body,
		Header: []front.Field{{Name: "Content-Type", Value: "multipart/mixed; boundary=b"}},
	})
	b.ReportAllocs()
	b.SetBytes(int64(len(event)))
	for b.Loop() {
		if _, err := h.Invoke(b.Context(), event); err != nil {
			b.Fatal(err)
		}
	}
}
