package multipart_test

import (
	"strings"
	"testing"

	mp "edgetable/core/multipart"
)

const (
	batchID     = "batch_a1e9d677-b28b-435e-a89e-87e6a768a431"
	changesetID = "changeset_8a28d677-b28b-435e-a89e-87e6a768a431"
)

func hundred() *mp.Batch {
	op := mp.Operation{
		Method: "POST", Target: "https://acct.table.core.windows.net/mytable?%24format=application%2Fjson%3Bodata%3Dminimalmetadata",
		Header: mp.Header{{"Accept", "application/json;odata=minimalmetadata"}, {"Content-Length", "1024"}, {"Content-Type", "application/json"},
			{"Dataserviceversion", "3.0"}, {"Prefer", "return-no-content"}, {"X-Ms-Version", "2019-02-02"}},
		Body: []byte(`{"PartitionKey":"p","RowKey":"1","A":"` + strings.Repeat("The quick fox ", 70) + `"}`),
	}
	ops := make([]mp.Operation, 100)
	for i := range ops {
		ops[i] = op
	}
	return &mp.Batch{Parts: changeset(ops...)}
}

func BenchmarkParse(b *testing.B) {
	body := mp.AppendBatch(nil, batchID, changesetID, hundred())
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		batch, err := mp.Parse(body, batchID, 100)
		if err != nil || len(batch.Parts[0].Operations) != 100 {
			b.Fatal(err)
		}
	}
}

func BenchmarkAppendChangeset(b *testing.B) {
	parts := make([]mp.Response, 100)
	for i := range parts {
		parts[i] = mp.Response{Status: 204, Header: mp.Header{
			{"X-Content-Type-Options", "nosniff"}, {"Cache-Control", "no-cache"}, {"Preference-Applied", "return-no-content"}, {"DataServiceVersion", "3.0;"},
			{"Location", "https://acct.table.core.windows.net/mytable(PartitionKey='p',RowKey='1')"},
			{"DataServiceId", "https://acct.table.core.windows.net/mytable(PartitionKey='p',RowKey='1')"},
			{"ETag", `W/"datetime'2022-04-13T19%3A29%3A04.5774705Z'"`}}}
	}
	var dst []byte
	b.ReportAllocs()
	for b.Loop() {
		dst = mp.AppendChangeset(dst[:0], batchID, changesetID, parts)
	}
	b.SetBytes(int64(len(dst)))
}
