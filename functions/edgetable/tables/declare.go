package tables

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/spf13/pflag"

	"edgetable/adapters/client/remote"
	"edgetable/core/edm"
	"edgetable/core/payload"
	"edgetable/core/table"
	"edgetable/functions/edgetable/cli"
	"edgetable/functions/edgetable/client"
)

type declareFlags struct {
	client.ServiceFlags
	dryRun, yes bool
}

func (o *declareFlags) register(f *pflag.FlagSet) {
	o.ToFlag(f)
	cli.DryRunFlag(f, &o.dryRun)
	cli.BoolFlag(f, &o.yes, "yes", "do not ask for confirmation")
}

// optionsChange is a function that returns the desired options of a table for the current options.
type optionsChange func(now table.TableOptions) table.TableOptions

type change struct {
	name, revision string
	old, next      []byte        // options as JSON, without the members "state", which the server adds
	rule           *table.Expiry // new expiry rule, or nil
	replaced       bool          // true if the rule replaces another one
}

// declare sets the options of tables, after checking all of them.
func declare(ctx context.Context, p *cli.Terminal, o *declareFlags, all map[string]optionsChange) error {
	c, err := o.Connect(p)
	if err != nil {
		return err
	}
	defer c.Close()
	var list []change
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if err := cli.CheckTable("TABLE", name); err != nil {
			return err
		}
		document, revision, err := c.Options(ctx, name)
		if err != nil {
			return err
		}
		now, err := payload.ReadOptions(document)
		if err != nil {
			return fmt.Errorf("table %s: its options cannot be read by this version: %w", name, err)
		}
		next := all[name](now)
		one := change{name: name, revision: revision, old: optionsDocument(now), next: optionsDocument(next)}
		if !bytes.Equal(optionsDocument(table.TableOptions{Expire: now.Expire}), optionsDocument(table.TableOptions{Expire: next.Expire})) {
			one.rule, one.replaced = next.Expire, now.Expire != nil
		}
		if bytes.Equal(one.old, one.next) {
			fmt.Fprintf(p.Out, "%s: %s, unchanged\n", name, one.next)
			continue
		}
		fmt.Fprintf(p.Out, "%s: %s becomes %s\n", name, one.old, one.next)
		list = append(list, one)
	}
	for i := range list {
		if err := askFor(ctx, p, o, c, &list[i]); err != nil {
			return err
		}
	}
	if o.dryRun {
		return nil
	}
	for i, one := range list {
		if err := c.SetOptions(ctx, one.name, one.revision, one.next); err != nil {
			if i > 0 {
				return cli.Fail(cli.StatusPart, fmt.Errorf("%w; run the same command to resume", err))
			}
			return err
		}
		fmt.Fprintf(p.Out, "%s: set\n", one.name)
		if one.rule != nil {
			until := time.Now().Add(time.Duration(table.UndoTime) * 100)
			fmt.Fprintf(p.Err, "%s: until %s 'edgetable tables set %s --no-expire' brings back what this rule hides\n", one.name, until.Format(time.TimeOnly), one.name)
		}
	}
	return nil
}

// askFor asks the user to confirm an expiry rule that hides more than a tenth of the table.
func askFor(ctx context.Context, p *cli.Terminal, o *declareFlags, c *remote.Client, one *change) error {
	if one.rule == nil || o.yes && !o.dryRun {
		return nil
	}
	now := edm.TicksOf(time.Now())
	var ended, whole int64 // numbers of expired entities and of all entities, not counting entities that the current rule hides
	q := remote.Query{Table: one.name, Select: []string{"Timestamp"}}
	if one.rule.Property != "" {
		q.Select = append(q.Select, one.rule.Property)
	}
	for e, err := range c.Entities(ctx, q) {
		if err != nil {
			return err
		}
		whole++
		if at, ends := one.rule.ExpiresAt(e.Timestamp, e.Properties); ends && at <= now {
			ended++
		}
	}
	fmt.Fprintf(p.Out, "%s: expired entities that would disappear: %s of %s\n", one.name, cli.Commas(ended), cli.Commas(whole))
	if one.replaced {
		fmt.Fprintf(p.Out, "%s: not counted: entities that the present rule hides; in its first hour they come back, unless the new rule hides them too\n", one.name)
	}
	if o.dryRun || ended*10 <= whole {
		return nil
	}
	return p.Confirm("table", one.name, fmt.Sprintf("The rule immediately hides %s of the table %s at %s.", cli.Things(ended, "entities"), one.name, c.Endpoint()), "nothing is changed")
}
