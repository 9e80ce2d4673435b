package client

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"edgetable/adapters/client/remote"
	"edgetable/core/edm"
	"edgetable/core/payload"
	"edgetable/core/table"
	"edgetable/functions/edgetable/cli"
	"edgetable/functions/edgetable/optionsdoc"
)

func (p *program) tablesOptionsCommand() *cobra.Command {
	var o ServiceFlags
	c := &cobra.Command{
		Use: "options TABLE", Short: "Show the options of a table, such as an expiry rule",
		Long:    "It prints the JSON document that docs/options.md describes, with the state of each part.",
		Example: "  edgetable tables options Sessions --from prod",
		RunE:    func(c *cobra.Command, args []string) error { return p.tablesOptions(c.Context(), &o, args[0]) },
	}
	p.completeTables(c, &o)
	cli.Section(c, "Flags", o.fromFlag)
	return c
}

func (p *program) tablesOptions(ctx context.Context, o *ServiceFlags, name string) error {
	if err := cli.CheckTable("TABLE", name); err != nil {
		return err
	}
	c, err := p.connect(o)
	if err != nil {
		return err
	}
	defer c.Close()
	document, _, err := c.Options(ctx, name)
	if err != nil {
		return err
	}
	var pretty bytes.Buffer
	if err := json.Indent(&pretty, document, "", "  "); err != nil {
		return err
	}
	fmt.Fprintln(p.Out, pretty.String())
	return nil
}

// declareFlags holds the flags of the commands that change the options of tables.
type declareFlags struct {
	ServiceFlags
	dryRun, yes bool
}

func (o *declareFlags) register(f *pflag.FlagSet) {
	o.toFlag(f)
	dryRunFlag(f, &o.dryRun)
	cli.BoolFlag(f, &o.yes, "yes", "do not ask for confirmation")
}

func (p *program) tablesSetCommand() *cobra.Command {
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
			return p.declare(c.Context(), &o, map[string]wish{args[0]: want})
		},
	}
	p.completeTables(c, &o.ServiceFlags)
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

// options holds those flags of 'tables set' that describe options of tables.
type options struct {
	property, after, keep string
	noExpire, noChanges   bool
}

// wish is a function that returns the desired options of a table, given its current options.
type wish func(now table.TableOptions) table.TableOptions

// parse checks the flags, and returns a function that applies them.
func (o *options) parse() (wish, error) {
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

// readOptions parses an options document. Each error begins with the first argument, which names the source of the document.
func readOptions(of string, text []byte) (table.TableOptions, error) {
	o, err := payload.ReadOptions(text)
	if err != nil {
		return o, cli.Misuse("%s: %v", of, err)
	}
	return o, nil
}

func (p *program) tablesApplyCommand() *cobra.Command {
	var o declareFlags
	var file string
	var schema bool
	c := &cobra.Command{
		Use: "apply", Short: "Set the options of tables from a file",
		Long: `The file contains one JSON object, which maps the name of each table to its options, as described in docs/options.md.
Other tables do not change. Applying the same file again changes nothing. The member $schema is for editors, which can
complete and check the file with the schema that --schema prints.`,
		Example: "  edgetable tables apply --file tables.json --to prod --dry-run\n  edgetable tables apply --schema > tables.schema.json",
		RunE: func(c *cobra.Command, _ []string) error {
			if schema {
				_, err := p.Out.Write(optionsdoc.Schema())
				return err
			}
			return p.tablesApply(c.Context(), &o, file)
		},
	}
	cli.Section(c, "Flags", func(f *pflag.FlagSet) {
		f.StringVarP(&file, "file", "f", "", "`file` with the options of tables; - is standard input")
		cli.BoolFlag(f, &schema, "schema", "print the JSON schema of the file, and exit")
		o.register(f)
	})
	return c
}

func (p *program) tablesApply(ctx context.Context, o *declareFlags, file string) error {
	var text []byte
	var err error
	switch file {
	case "":
		return cli.Misuse("name a file with --file")
	case "-":
		text, err = io.ReadAll(io.LimitReader(p.In, 16<<20))
	default:
		text, err = os.ReadFile(file)
	}
	if err != nil {
		return err
	}
	var documents map[string]json.RawMessage
	if err := json.Unmarshal(text, &documents); err != nil {
		return cli.Misuse("%s must have a JSON object with a member for each table: %v", file, err)
	}
	delete(documents, "$schema")
	all, names := map[string]wish{}, map[string]bool{}
	for name, document := range documents {
		if err := cli.CheckTable(file+":", name); err != nil {
			return err
		}
		key := strings.ToLower(name)
		if names[key] {
			return cli.Misuse("%s has two members for the table %s: names of tables do not differ by case only", file, name)
		}
		names[key] = true
		want, err := readOptions(file+": "+name, document)
		if err != nil {
			return err
		}
		all[name] = func(table.TableOptions) table.TableOptions { return want }
	}
	return p.declare(ctx, o, all)
}

// change is the change of options of one table.
type change struct {
	name, revision string
	old, next      []byte        // the options of the table in JSON, without the members "state": the server adds these members
	rule           *table.Expiry // a new expiry rule, or nil
	replaced       bool          // the table has another expiry rule now
}

// declare sets the options of tables. It checks all tables before it changes any of them.
func (p *program) declare(ctx context.Context, o *declareFlags, all map[string]wish) error {
	c, err := p.connect(&o.ServiceFlags)
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
		if err := p.askFor(ctx, o, c, &list[i]); err != nil {
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

// optionsDocument returns an options document without the members named state, which the server adds to its responses.
func optionsDocument(o table.TableOptions) []byte {
	text := payload.AppendOptions(nil, &table.Traits{Expiry: o.Expire, Feed: o.Changes}, 1<<62)
	return []byte(strings.ReplaceAll(string(text), `,"state":"active"`, ""))
}

// askFor asks the user to confirm an expiry rule that would hide more than a tenth of the
// table.
func (p *program) askFor(ctx context.Context, o *declareFlags, c *remote.Client, one *change) error {
	if one.rule == nil || o.yes && !o.dryRun {
		return nil
	}
	now := edm.TicksOf(time.Now())
	var ended, whole int64 // without the entities that the present rule hides
	q := remote.Query{Table: one.name, Select: []string{"Timestamp"}}
	if one.rule.Property != "" {
		q.Select = append(q.Select, one.rule.Property)
	}
	for e, err := range c.Entities(ctx, q) {
		if err != nil {
			return err
		}
		whole++
		if at, ends := one.rule.Ends(e.Timestamp, e.Properties); ends && at <= now {
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
