package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"time"

	"edgetable/core/accounts"
	"edgetable/functions/edgetable/load/wire"
	"edgetable/testdata/bench/attack"
)

const attackHelp = `Sends requests that cost a server much and the client little, from many connections: scans (of a whole table, with
a filter that no entity passes), inserts (of entities of 1 MiB), signins (that fail, from the address 127.0.0.2). The account has the
key of the development account.`

// runAttack attacks a server until the given time is over or a signal arrives.
func runAttack(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	fs := newFlags("bench attack", attackHelp, stderr)
	kind := fs.String("kind", "scans", "`what` to send: scans, inserts or signins")
	endpoint := fs.String("endpoint", "", "`URL` of the service with its account")
	account := fs.String("account", accounts.Development, "`name` of the account")
	table := fs.String("table", "ranges", "`name` of the table")
	connections := fs.Int("connections", 64, "`number` of connections")
	lasts := fs.Duration("for", 10*time.Second, "`time` after which it ends")
	if err := parse(fs, args); err != nil {
		return err
	}
	if !slices.Contains(attack.Kinds, attack.Kind(*kind)) {
		return misuse(fs, "unknown -kind %q; one of scans, inserts, signins", *kind)
	}
	t, err := wire.NewTarget(*endpoint, wire.Development(*account))
	if err != nil {
		return misuse(fs, "-endpoint: %v", err)
	}
	if attack.Kind(*kind) == attack.SignIns {
		t.From = "127.0.0.2" // a different address from other clients, because failed sign-ins are limited per address
	}
	ctx, cancel := context.WithTimeout(ctx, *lasts)
	defer cancel()
	answers, err := attack.Run(ctx, t, *table, attack.Kind(*kind), *connections)
	fmt.Fprintf(stdout, "%d answers\n", answers)
	return err
}
