package dynamodb_test

import (
	"context"
	"fmt"

	"edgetable/adapters/store/dynamodb"
	"edgetable/core/edm"
	"edgetable/core/key"
	"edgetable/core/table"
)

func Example() {
	ctx, client := context.Background(), newClient(nil)
	if err := dynamodb.Create(ctx, client, "edgetable"); err != nil {
		fmt.Println(err)
		return
	}
	store, err := dynamodb.New(dynamodb.Options{Client: client, Table: "edgetable"})
	if err != nil {
		fmt.Println(err)
		return
	}
	service := table.New(store, table.Options{Now: now, Rand: func() uint64 { return 4 }})
	people := table.Name{Account: "example", Table: "people"}
	_ = service.CreateTable(ctx, people) // an error means that the table exists
	_, err = service.Write(ctx, people, table.Operation{
		Action: table.InsertOrReplace, PartitionKey: "engines", RowKey: "ada",
		Properties: edm.AppendProperty(nil, "Born", edm.Int32(1815)),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	row, err := store.Get(ctx, people.Key(), key.Append(nil, "engines", "ada"), table.Strong)
	born, _ := row.Properties.Lookup("Born")
	fmt.Println(born, err)
	// Output: 1815 <nil>
}
