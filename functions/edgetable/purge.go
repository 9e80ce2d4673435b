package main

import (
	"context"
	"flag"
	"fmt"

	"edgetable/adapters/dynamodb"
)

const dynamodbUsage = `Usage: edgetable dynamodb COMMAND [flags]

  create  make the DynamoDB table, where infra/aws is not used
  purge   remove what deleted tables and interrupted writes left behind
`

// dynamodb are the commands that look after a DynamoDB table.
func (p *program) dynamodb(ctx context.Context, args []string) error {
	if len(args) == 0 {
		return misuse("say what to do: create or purge")
	}
	switch args[0] {
	case "create":
		return p.createDynamoDB(ctx, args[1:])
	case "purge":
		return p.purge(ctx, args[1:])
	case "help", "-h", "-help", "--help":
		fmt.Fprint(p.out, dynamodbUsage)
		return flag.ErrHelp
	}
	return misuse("there is no command %q: say create or purge", args[0])
}

func (p *program) createDynamoDB(ctx context.Context, args []string) error {
	var o dynamodbFlags
	f := flag.NewFlagSet("dynamodb create", flag.ContinueOnError)
	o.register(f)
	if err := p.parse(f, args, "Makes a DynamoDB table, billed on demand. One that is there is left as it is.\n"+
		"On AWS infra/aws makes it with backups, alarms and protection against deletion: prefer that."); err != nil {
		return err
	}
	if err := o.check(); err != nil {
		return err
	}
	client, err := o.client(ctx, 1)
	if err != nil {
		return err
	}
	if err := dynamodb.Create(ctx, client, o.table); err != nil {
		return fmt.Errorf("%s: %w", o.place(client), err)
	}
	fmt.Fprintln(p.out, "there is", o.place(client))
	return nil
}

// purge removes what nobody can see any more, with its progress on standard error.
func (p *program) purge(ctx context.Context, args []string) error {
	var o dynamodbFlags
	f := flag.NewFlagSet("dynamodb purge", flag.ContinueOnError)
	o.register(f)
	if err := p.parse(f, args, "Removes the items of tables that were deleted more than an hour ago, and chunks of large entities\n"+
		"that interrupted writes left behind. It may be interrupted, and run beside others and beside servers."); err != nil {
		return err
	}
	if err := o.check(); err != nil {
		return err
	}
	client, err := o.client(ctx, 8)
	if err != nil {
		return err
	}
	store, err := o.open(ctx, client, dynamodb.Options{})
	if err != nil {
		return err
	}
	var done dynamodb.Progress
	show := newProgress(p.err)
	err = store.Purge(ctx, func(now dynamodb.Progress) error {
		done = now
		show.show("%d items removed, %d tables", done.Items, done.Tables)
		return ctx.Err()
	})
	show.end()
	fmt.Fprintf(p.out, "%d items removed, %d tables are gone for good\n", done.Items, done.Tables)
	if err != nil {
		return fmt.Errorf("%w; run it again to go on", err)
	}
	return nil
}
