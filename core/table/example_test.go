package table_test

import (
	"context"
	"fmt"

	"edgetable/core/edm"
	"edgetable/core/key"
	"edgetable/core/odata"
	"edgetable/core/table"
	"edgetable/testdata/memstore"
)

// Example inserts two entities, and then tries to insert one of them again. It prints the error, and the
// PartitionKey, the RowKey and the Title of each entity that a query finds.
func Example() {
	ctx := context.Background()
	now := func() edm.Ticks { return edm.MinDateTime }
	random := uint64(0)
	svc := table.New(memstore.New(now), table.Options{Now: now, Rand: func() uint64 { random++; return random }})

	blogs := table.Name{Account: "acct", Table: "Blogs"}
	if err := svc.CreateTable(ctx, blogs); err != nil {
		fmt.Println(err)
	}
	for _, row := range []string{"2", "1"} {
		_, err := svc.Write(ctx, blogs, table.Operation{
			Action: table.Insert, PartitionKey: "go", RowKey: row,
			Properties: edm.AppendProperty(nil, "Title", edm.String("post "+row)),
		})
		if err != nil {
			fmt.Println(err)
		}
	}
	_, err := svc.Write(ctx, blogs, table.Operation{Action: table.Insert, PartitionKey: "go", RowKey: "1"})
	fmt.Println(err)

	filter, err := odata.Parse("PartitionKey eq 'go' and Title ne 'post 3'")
	if err != nil {
		fmt.Println(err)
	}
	page, err := svc.Query(ctx, blogs, table.Query{Filter: filter, Top: 10})
	if err != nil {
		fmt.Println(err)
	}
	for _, row := range page.Rows {
		partition, rowKey := key.Decode(row.Key)
		title, _ := row.Properties.Lookup("Title")
		fmt.Println(partition, rowKey, title)
	}
	// Output:
	// EntityAlreadyExists: The specified entity already exists.
	// go 1 post 1
	// go 2 post 2
}
