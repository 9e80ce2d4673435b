package workerskv_test

import (
	"context"
	"fmt"
	"time"

	"edgetable/adapters/store/workerskv"
	"edgetable/core/edm"
	"edgetable/core/table"
)

// ExampleNew runs a table service that stores its tables only in KV. In a Worker, the namespace is kv.Open("TABLES").
func ExampleNew() {
	clock := edm.TicksOf(time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC))
	now := func() edm.Ticks { clock++; return clock }
	kv := newCloud(1)
	kv.stale = false
	store, err := workerskv.New(workerskv.Options{Namespace: kv, Now: now})
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx := context.Background()
	service := table.New(store, table.Options{Now: now, Rand: func() uint64 { return 4 }})
	name := table.Name{Account: "acct", Table: "Pages"}
	fmt.Println(service.CreateTable(ctx, name))

	op := table.Operation{Action: table.InsertOrReplace, PartitionKey: "en", RowKey: "home"}
	_, err = service.Write(ctx, name, op)
	fmt.Println(err)
	op.Action = table.Insert
	_, err = service.Write(ctx, name, op)
	fmt.Println(err.(*table.Error).Code)
	// Output:
	// <nil>
	// <nil>
	// NotImplemented
}
