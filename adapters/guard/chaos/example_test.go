package chaos_test

import (
	"context"
	"fmt"
	"time"

	"edgetable/adapters/guard/chaos"
	"edgetable/core/edm"
	"edgetable/core/protocol"
	"edgetable/core/table"
	"edgetable/testdata/memstore"
)

// ExampleParse parses rules as they are written in a flag, or in a file with a line for each rule.
func ExampleParse() {
	rules, err := chaos.Parse(`
		# One insert of ten meets a server that is too busy.
		operation=InsertEntity probability=0.1 fault=503
		# The first two batches are applied, but their replies are lost.
		operation=EntityGroupTransaction count=2 fault=lost-reply
		# One customer's partition is slow.
		table=orders partition="customer 42" latency=200ms-2s
		# The name of a table is not free at once.
		being-deleted=30s`)
	fmt.Println(len(rules), err)

	_, err = chaos.Parse("operation=InsertEntity fault=504")
	fmt.Println(err)
	// Output:
	// 4 <nil>
	// line 1, rule 1: fault=504: unknown fault: write 500, 503, reset or lost-reply, or use latency=200ms or being-deleted=30s
}

// ExampleChaos configures a handler that calls the Chaos before each operation. The store of the service obeys the rule
// "being-deleted" of the Chaos.
func ExampleChaos() {
	rules, err := chaos.Parse("operation=InsertEntity every=2 fault=503; being-deleted=30s")
	if err != nil {
		fmt.Println(err)
	}
	c := chaos.New(rules)
	now := func() edm.Ticks { return edm.TicksOf(time.Now()) }
	random := uint64(0)
	service := table.New(c.Store(memstore.New(now)), table.Options{Now: now, Rand: func() uint64 { random++; return random }})
	h := protocol.Handler{Service: service, Gate: c}

	// The handler calls Admit before an insert:
	insert := protocol.Access{Account: "acct", Operation: "InsertEntity", Table: "orders", PartitionKey: "p", HasPartition: true, Write: true, Entities: 1}
	ctx := context.Background()
	fmt.Println(h.Gate.Admit(ctx, &insert))
	fmt.Println(h.Gate.Admit(ctx, &insert))

	// A deleted table cannot be created again at once:
	orders := table.Name{Account: "acct", Table: "orders"}
	fmt.Println(service.CreateTable(ctx, orders), service.DeleteTable(ctx, orders))
	fmt.Println(service.CreateTable(ctx, orders))

	for _, count := range c.Counts() {
		fmt.Println(count)
	}
	// Output:
	// <nil>
	// ServerBusy: The server is currently unable to receive requests. Please retry your request. This fault is simulated by the chaos rule operation=InsertEntity every=2 fault=503
	// <nil> <nil>
	// TableBeingDeleted: The specified table is being deleted. Try operation later.
	// operation=InsertEntity every=2 fault=503: affected 1 of 2 requests
	// being-deleted=30s: affected 1 of 1 requests
}
