// Command loop copies entities between two services as a simple program with the SDK does: it reads pages and adds one
// entity at a time. 'make bench-data' compares 'edgetable copy' with this command.
//
//	loop FROM TO TABLE ROWS    FROM and TO are connection strings
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

func main() {
	if err := run(context.Background(), os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "loop:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	if len(args) != 4 {
		return errors.New("write: loop FROM TO TABLE ROWS")
	}
	rows, err := strconv.Atoi(args[3])
	if err != nil {
		return err
	}
	from, err := aztables.NewServiceClientFromConnectionString(args[0], nil)
	if err != nil {
		return err
	}
	to, err := aztables.NewServiceClientFromConnectionString(args[1], nil)
	if err != nil {
		return err
	}
	if _, err := to.CreateTable(ctx, args[2], nil); err != nil {
		return err
	}
	source, target := from.NewClient(args[2]), to.NewClient(args[2])
	pages, copied := source.NewListEntitiesPager(nil), 0
	for pages.More() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return err
		}
		for _, entity := range page.Entities {
			if copied == rows {
				return nil
			}
			if _, err := target.AddEntity(ctx, entity, nil); err != nil {
				return err
			}
			copied++
		}
	}
	return fmt.Errorf("the table has %d entities, not %d", copied, rows)
}
