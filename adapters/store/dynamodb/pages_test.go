package dynamodb_test

import (
	"fmt"
	"math"
	"sync"
	"testing"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"edgetable/adapters/store/dynamodb"
	"edgetable/core/buckets"
	"edgetable/core/key"
	"edgetable/core/table"
)

// bulk fills a table with rows that have a payload of size bytes, in partitions of a
// given length. It writes the same items as the store, but faster.
func bulk(t *testing.T, client *sdk.Client, name string, incarnation byte, count uint16, rows, partition, size int) {
	t.Helper()
	payload := &types.AttributeValueMemberB{Value: make([]byte, size)}
	number := func(n int) types.AttributeValue { return &types.AttributeValueMemberN{Value: fmt.Sprint(n)} }
	work := make(chan []types.WriteRequest)
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			for list := range work {
				_, err := client.BatchWriteItem(t.Context(), &sdk.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{name: list}})
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	var list []types.WriteRequest
	for i := range rows {
		k := key.Append(nil, fmt.Sprintf("p%06d", i/partition), fmt.Sprintf("r%06d", i%partition))
		hash := append(append([]byte{'E', incarnation}, make([]byte, 11)...), 0, byte(buckets.OfKey(k, count)))
		list = append(list, types.WriteRequest{PutRequest: &types.PutRequest{Item: map[string]types.AttributeValue{
			".p": &types.AttributeValueMemberB{Value: hash}, ".s": &types.AttributeValueMemberB{Value: k},
			".t": number(i + 1), ".o": number(1), ".n": number(1), ".z": number(300 + size), "Payload": payload,
		}}})
		if len(list) == 25 || i == rows-1 {
			work <- list
			list = nil
		}
	}
	close(work)
	group.Wait()
}

// TestPages checks the cost of pages, counted over scans of whole tables. On average, a
// page of 1000 rows from 8 buckets takes at most 1.5·8+2 calls, and one more if the
// table's record is not cached. It reads at most two rows per row returned. A page of one
// partition takes one call per megabyte. No scan ends with an empty page.
func TestPages(t *testing.T) {
	t.Parallel()
	const page, count = 1000, 8
	name := newTable(t)
	for i, x := range []struct {
		rows, partition, size int
		within                bool // scan only the first partition
	}{
		{2000, 1, 10, false},
		{2000, 47, 10, false},
		{2000, 200, 10, false},
		{3000, 1500, 10, false},
		{page, 1, 10, false}, // the table has exactly one page of rows
		{2000, 2000, 1000, true},
	} {
		what := fmt.Sprintf("%d rows, %d a partition", x.rows, x.partition)
		w := new(tap)
		s := open(t, dynamodb.Options{Client: newClient(w), Table: name, Buckets: count, Lease: time.Hour})
		document := table.RecordKey{Account: "acct", Table: fmt.Sprint("pages", i)}
		id := byte(100 + i)
		_, err := s.WriteRecord(t.Context(), table.Record{Key: document, Incarnation: table.Incarnation{id}})
		if err != nil {
			t.Fatal(err)
		}
		bulk(t, newClient(nil), name, id, count, x.rows, x.partition, x.size)
		whole := everything
		if x.within {
			whole = []key.Range{{Start: key.PartitionFrom("p000000"), End: key.PartitionAfter("p000000")}}
		}
		pages, cold, calls, examined, returned, worst := 0, 0, 0, 0, 0, 0
		for r := whole; len(r) > 0; {
			w.take()
			got, err := s.Scan(t.Context(), document, table.ScanRequest{Ranges: r, Rows: page})
			if err != nil {
				t.Fatal(err)
			}
			n, bytes := 0, 0
			for _, c := range w.take() {
				switch {
				case c.operation == "Query":
					n++
					examined += c.reply.ScannedCount
				case pages == 0 && c.operation == "GetItem":
					cold++
				default:
					t.Errorf("%s: page %d calls %s", what, pages, c.operation)
				}
			}
			for _, row := range got.Rows {
				bytes += len(row.Key) + len(row.Properties) + 300
			}
			if most := int(math.Ceil(float64(bytes) / 1e6)); x.within && n > most {
				t.Errorf("%s: a page of %d bytes takes %d calls", what, bytes, n)
			}
			pages++
			calls += n
			worst = max(worst, n)
			returned += len(got.Rows)
			if len(got.Rows) == 0 {
				t.Errorf("%s: page %d is empty", what, pages)
			}
			if got.Next == nil {
				break
			}
			r = key.From(whole, got.Next)
		}
		mean, ratio := float64(calls)/float64(pages), float64(examined)/float64(returned)
		t.Logf("%s: %d pages, %.1f calls a page, %d at worst, %.2f rows read per row", what, pages, mean, worst, ratio)
		if cold != 1 {
			t.Errorf("%s: %d calls for a table that is not cached, want 1", what, cold)
		}
		if returned != x.rows || pages != x.rows/page {
			t.Errorf("%s: %d rows in %d pages", what, returned, pages)
		}
		if mean > 1.5*count+2 || ratio > 2 {
			t.Errorf("%s: %.1f calls a page, %.2f rows read per row", what, mean, ratio)
		}
	}
}

// TestReadsInVain checks how many reads of a page find nothing. The number must be
// limited, for any number of ranges in a filter and any number of buckets.
func TestReadsInVain(t *testing.T) {
	t.Parallel()
	const spread, count = 64, 100
	s, w := overWire(t, dynamodb.Options{Buckets: spread})
	var ranges []key.Range
	for i := range count {
		ranges = append(ranges, key.Range{Start: key.PartitionFrom(fmt.Sprintf("%03d", i)), End: key.PartitionFrom(fmt.Sprintf("%03d~", i))})
	}
	calls, pages := 0, 0
	for left := ranges; ; pages++ {
		w.take()
		page, err := s.Scan(t.Context(), people, table.ScanRequest{Ranges: left, Rows: 1000, ScanBytes: 1 << 20})
		if err != nil {
			t.Fatal(err)
		}
		n := len(w.take())
		if calls += n; n > 1<<20/(4<<10)+spread {
			t.Errorf("a page of 1 MiB takes %d calls", n)
		}
		if page.Next == nil {
			break
		}
		left = key.From(ranges, page.Next)
	}
	if calls < spread*count || pages < 10 {
		t.Errorf("%d calls in %d pages", calls, pages)
	}
}
