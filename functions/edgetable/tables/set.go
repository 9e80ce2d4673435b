package tables

import (
	"encoding/json"
	"maps"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"edgetable/core/table"
	"edgetable/functions/edgetable/cli"
)

func setCommand(p *cli.Terminal) *cobra.Command {
	var o declareFlags
	var set options
	c := &cobra.Command{
		Use: "set TABLE", Short: "Set or remove the expiry rule of a table, or its feed of changes",
		Long: `Options that no flag names do not change. An entity expires at the instant in a DateTime property, or a certain time
after its last write. If a table has both rules, the property decides for entities that have it. No read returns an expired entity.
If you withdraw the rule within the first hour, all entities come back; after that, expired entities are removed.
Unless --yes is given, the command first reads the table, prints how many entities would disappear, and asks if they
are more than a tenth.

A feed keeps the changes in the table from now on, for 'edgetable watch' and other programs. Withdrawing the feed
deletes these changes.`,
		Example: "  edgetable tables set Sessions --expire-property ExpiresAt --to prod\n  edgetable tables set Logs --expire-after P30D --dry-run\n  edgetable tables set Orders --changes P7D --to prod",
		RunE: func(c *cobra.Command, args []string) error {
			want, err := set.parse()
			if err != nil {
				return err
			}
			return declare(c.Context(), p, &o, map[string]optionsChange{args[0]: want})
		},
	}
	o.CompleteTables(p, c)
	cli.Section(c, "Rule", func(f *pflag.FlagSet) {
		f.StringVar(&set.property, "expire-property", "", "`name` of the DateTime property with the instant at which an entity expires")
		f.StringVar(&set.after, "expire-after", "", "`time` between the last write of an entity and its expiry, such as P30D or PT12H")
		cli.BoolFlag(f, &set.noExpire, "no-expire", "withdraw the rule")
	})
	cli.Section(c, "Feed", func(f *pflag.FlagSet) {
		f.StringVar(&set.keep, "changes", "", "`time` for which changes can be read, such as P7D or PT12H")
		cli.BoolFlag(f, &set.noChanges, "no-changes", "withdraw the feed")
	})
	cli.Section(c, "Flags", o.register)
	return c
}

type options struct {
	property, after, keep string
	noExpire, noChanges   bool
}

// parse checks the flags and returns a function that applies them.
func (o *options) parse() (optionsChange, error) {
	rules, feeds := o.property != "" || o.after != "", o.keep != ""
	if rules && o.noExpire || feeds && o.noChanges || !rules && !o.noExpire && !feeds && !o.noChanges {
		return nil, cli.Misuse("give --expire-property or --expire-after, or both, or --no-expire; and --changes or --no-changes")
	}
	document := map[string]any{}
	if rules {
		rule := map[string]string{"property": o.property, "after": o.after}
		maps.DeleteFunc(rule, func(_, value string) bool { return value == "" })
		document["expire"] = rule
	}
	if feeds {
		document["changes"] = map[string]string{"keep": o.keep}
	}
	text, err := json.Marshal(document)
	if err != nil {
		return nil, err
	}
	want, err := readOptions("the flags", text)
	if err != nil {
		return nil, err
	}
	return func(now table.TableOptions) table.TableOptions {
		if rules || o.noExpire {
			now.Expire = want.Expire
		}
		if feeds || o.noChanges {
			now.Changes = want.Changes
		}
		return now
	}, nil
}
