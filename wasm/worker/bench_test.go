package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"edgetable/core/sharedkey"
	"edgetable/core/wiretest"
)

// signed is a request of the corpus's account for a path below it.
func signed(b *testing.B, method, target, body string) []byte {
	b.Helper()
	key, err := sharedkey.ParseKey(wiretest.AccountKey)
	if err != nil {
		b.Fatal(err)
	}
	kind, date := "application/json", sharedkey.FormatDate(wiretest.Start)
	if strings.HasPrefix(body, "--b") {
		kind = "multipart/mixed; boundary=b"
	}
	path, query, _ := strings.Cut("/"+wiretest.Account+target, "?")
	return encode(&wiretest.Request{
		Method: method, Target: "/" + wiretest.Account + target, Host: "127.0.0.1:10002", Body: []byte(body),
		Header: []wiretest.Field{
			{Name: "x-ms-date", Value: date}, {Name: "x-ms-version", Value: "2019-02-02"}, {Name: "Content-Length", Value: fmt.Sprint(len(body))},
			{Name: "Accept", Value: "application/json;odata=minimalmetadata"}, {Name: "Content-Type", Value: kind}, {Name: "DataServiceVersion", Value: "3.0"},
			{Name: "User-Agent", Value: "azsdk-python-data-tables/12.7.0 Python/3.11.2 (Linux)"}, {Name: "x-ms-client-request-id", Value: "8d1c9f8e-c6ee-11f0-9f4a-0242ac110002"},
			{Name: "Authorization", Value: key.Authorization(sharedkey.SharedKeyLite, wiretest.Account, sharedkey.Request{
				Method: method, Path: path, RawQuery: query, ContentType: kind, XMSDate: date,
			})},
		},
	})
}

// BenchmarkModule measures requests in the module, where a whole page or batch
// has entities of 1 KiB; the store is the one in memory.
func BenchmarkModule(b *testing.B) {
	n := startNode(b)
	begin := time.Now()
	number := n.ask(b, []byte("n"))
	b.Logf("an instance is there after %v", time.Since(begin))
	kib := `"V":"` + strings.Repeat("v", 1000) + `"`
	put := func(i int) string { return fmt.Sprintf("/people(PartitionKey='p',RowKey='%04d')", i) }
	batch := func(first int) string {
		var s strings.Builder
		s.WriteString("--b\r\nContent-Type: multipart/mixed; boundary=c\r\n\r\n")
		for i := range 100 {
			fmt.Fprintf(&s, "--c\r\nContent-Type: application/http\r\nContent-Transfer-Encoding: binary\r\n\r\nPUT http://host/%s%s HTTP/1.1\r\n"+
				"Content-Type: application/json\r\nAccept: application/json;odata=minimalmetadata\r\n\r\n{%s}\r\n", wiretest.Account, put(first+i), kib)
		}
		s.WriteString("--c--\r\n--b--\r\n")
		return s.String()
	}
	serve := func(b *testing.B, count int, request []byte, want string) float64 {
		b.Helper()
		m := append([]byte("b"), number...)
		answer := n.ask(b, append(binary.LittleEndian.AppendUint32(m, uint32(count)), request...))
		if !bytes.HasPrefix(answer[12:], []byte(want)) {
			b.Fatalf("%.1000q", answer[8:])
		}
		return math.Float64frombits(binary.LittleEndian.Uint64(answer))
	}
	serve(b, 1, signed(b, "POST", "/Tables", `{"TableName":"people"}`), "201")
	for first := 0; first < 1000; first += 100 {
		serve(b, 1, signed(b, "POST", "/$batch", batch(first)), "202")
	}
	for _, bb := range []struct {
		name    string
		request []byte
		want    string
	}{
		{"Read", signed(b, "GET", put(7), ""), "200"},
		{"Write", signed(b, "PUT", put(7), `{"Name":"Ada","Age":36,`+kib+`}`), "204"},
		{"Batch", signed(b, "POST", "/$batch", batch(100)), "202"},
		{"Page", signed(b, "GET", "/people()", ""), "200"},
	} {
		b.Run(bb.name, func(b *testing.B) {
			serve(b, 100, bb.request, bb.want) // until the compiler has done what it can
			total, count := 0.0, 0
			for b.Loop() {
				total += serve(b, 10, bb.request, bb.want) * 10
				count += 10
			}
			b.ReportMetric(total/float64(count)*1000, "µs/request")
			b.ReportMetric(0, "ns/op")
		})
	}
}
