// Command ttl tests DynamoDB's expiry (TTL). An expired item may be replaced by a new item just before DynamoDB
// deletes it. The command finds out whether DynamoDB then notices the new item and keeps it. The documentation does
// not say this. If DynamoDB deletes the new item, the store on DynamoDB must not use TTL.
//
// For two days the command writes items that have already expired. After a second to a day, it writes each of them
// again, without an expiry, on condition that the item still exists. None of these items may be missing later. The
// state is in a file, so an interrupted run can be resumed.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"time"

	"github.com/aws/aws-sdk-go-v2/config"
	sdk "github.com/aws/aws-sdk-go-v2/service/dynamodb"
)

func main() {
	name := flag.String("table", "edgetable-prove-ttl", "DynamoDB table, which is made and deleted")
	state := flag.String("state", "bin/prove/ttl.state", "file")
	endpoint := flag.String("endpoint", "", "of DynamoDB Local")
	plan := plan{Items: 100_000, Writing: 48 * time.Hour, Longest: 24 * time.Hour, Rest: 12 * time.Hour}
	flag.IntVar(&plan.Items, "items", plan.Items, "items")
	flag.DurationVar(&plan.Writing, "writing", plan.Writing, "time in which they are written")
	flag.DurationVar(&plan.Longest, "longest", plan.Longest, "longest time until an item is written again")
	flag.DurationVar(&plan.Rest, "rest", plan.Rest, "time from the last write to the last look")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *name, *endpoint, *state, plan); err != nil {
		fmt.Fprintln(os.Stderr, "ttl:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, name, endpoint, state string, p plan) error {
	c, err := config.LoadDefaultConfig(ctx)
	if err != nil {
		return err
	}
	client := sdk.NewFromConfig(c, func(o *sdk.Options) {
		if endpoint != "" {
			o.BaseEndpoint = &endpoint
		}
	})
	t := &items{client, name}
	if err := t.create(ctx); err != nil {
		return err
	}
	e, err := resume(state, p)
	if err != nil {
		return err
	}
	defer e.log.Close()
	found, err := e.run(ctx, t)
	fmt.Println(found)
	if err != nil || len(found.Lost) > 0 {
		return err // the table is not deleted, so that it can be inspected
	}
	return t.remove(context.WithoutCancel(ctx))
}
