package memstore_test

import (
	"context"
	"fmt"
	"time"

	"edgetable/core/edm"
	"edgetable/core/table"
	"edgetable/testdata/memstore"
)

func Example() {
	now := func() edm.Ticks { return edm.TicksOf(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)) }
	rand := func() uint64 { return 4 } // a constant makes the output the same each time; a real program uses random bits
	svc := table.New(memstore.New(now), table.Options{Now: now, Rand: rand})

	ctx := context.Background()
	people := table.Name{Account: "acct", Table: "People"}
	if err := svc.CreateTable(ctx, people); err != nil {
		fmt.Println(err)
	}
	marple := table.Operation{
		Action:       table.Insert,
		PartitionKey: "St Mary Mead",
		RowKey:       "Jane Marple",
		Properties:   edm.AppendProperty(nil, "Age", edm.Int32(74)),
	}
	fmt.Println(svc.Write(ctx, people, marple))
	fmt.Println(svc.Write(ctx, people, marple))
	// Output:
	// 2026-01-02T03:04:05Z <nil>
	// 0001-01-01T00:00:00Z EntityAlreadyExists: The specified entity already exists.
}
