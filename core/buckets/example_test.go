package buckets_test

import (
	"context"
	"fmt"

	"edgetable/core/buckets"
	"edgetable/core/key"
	"edgetable/core/table"
)

// ExampleScan reads a page of three rows from a table with four buckets. It prints the partition and
// the bucket of each row. In the last line, it prints the partition where the next page starts.
func ExampleScan() {
	s := newStore(4)
	for _, name := range []string{"ada", "bob", "cyd", "dan", "eve"} {
		s.put(table.Row{Key: key.Append(nil, name, "1")})
	}
	request := table.ScanRequest{Ranges: []key.Range{{}}, Rows: 3}
	page, err := buckets.Scan(context.Background(), s, 4, request, buckets.Options{FanOut: 4})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, row := range page.Rows {
		partition, _ := key.Decode(row.Key)
		fmt.Println(partition, "in bucket", buckets.OfKey(row.Key, 4))
	}
	partition, _ := key.Decode(page.Next)
	fmt.Println("then", partition)
	// Output:
	// ada in bucket 1
	// bob in bucket 0
	// cyd in bucket 0
	// then dan
}
