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
		Use: "options TABLE", Short: "Show what a table declares, such as a rule of expiry",
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

// declareFlags are the flags of the commands that change what tables declare.
type declareFlags struct {
	ServiceFlags
	dryRun, yes bool
}

func (o *declareFlags) register(f *pflag.FlagSet) {
	o.toFlag(f)
	dryRunFlag(f, &o.dryRun)
	cli.BoolFlag(f, &o.yes, "yes", "do not ask")
}

func (p *program) tablesSetCommand() *cobra.Command {
	var o declareFlags
	var property, after string
	var none bool
	c := &cobra.Command{
		Use: "set TABLE", Short: "Declare a rule of expiry of a table, or withdraw it",
		Long: `An entity ends at the instant in a DateTime property, or so long after its last write. With both, the property decides
where the entity has one. What has ended is absent at once. In the first hour the rule can be
withdrawn, which brings everything back; after that entities are removed. Unless --yes is given, the command reads the
table first, says how many entities would be gone, and asks if they are more than a tenth.`,
		Example: "  edgetable tables set Sessions --expire-property ExpiresAt --to prod\n  edgetable tables set Logs --expire-after P30D --dry-run",
		RunE: func(c *cobra.Command, args []string) error {
			var want table.TableOptions
			switch {
			case none == (property != "" || after != ""):
				return cli.Misuse("say --expire-property or --expire-after, or both, or --no-expire")
			case !none:
				var err error
				if want, err = parseRule(property, after); err != nil {
					return err
				}
			}
			return p.declare(c.Context(), &o, map[string]table.TableOptions{args[0]: want})
		},
	}
	p.completeTables(c, &o.ServiceFlags)
	cli.Section(c, "Rule", func(f *pflag.FlagSet) {
		f.StringVar(&property, "expire-property", "", "`name` of the DateTime property with the instant at which an entity ends")
		f.StringVar(&after, "expire-after", "", "`time` after its last write at which an entity ends, such as P30D or PT12H")
		cli.BoolFlag(f, &none, "no-expire", "withdraw the rule")
	})
	cli.Section(c, "Flags", o.register)
	return c
}

// parseRule makes a rule from flags.
func parseRule(property, after string) (table.TableOptions, error) {
	rule := map[string]string{}
	if property != "" {
		rule["property"] = property
	}
	if after != "" {
		rule["after"] = after
	}
	text, err := json.Marshal(map[string]any{"expire": rule})
	if err != nil {
		return table.TableOptions{}, err
	}
	return readOptions("--expire-…", text)
}

// readOptions reads a document of options; of says whose it is.
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
		Use: "apply", Short: "Declare options of tables as a file has them",
		Long: `The file has one JSON object: the name of each table, and the options that it is to have, as docs/options.md
describes them. Tables that it does not name stay as they are. The same file again changes nothing. The member $schema is for
editors, which complete and check the file with what --schema prints.`,
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
		cli.BoolFlag(f, &schema, "schema", "print the JSON schema of the file, and do nothing else")
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
		return cli.Misuse("%s has no JSON object with a member for each table: %v", file, err)
	}
	delete(documents, "$schema")
	all := map[string]table.TableOptions{}
	for name, document := range documents {
		if err := cli.CheckTable(file+":", name); err != nil {
			return err
		}
		if all[name], err = readOptions(file+": "+name, document); err != nil {
			return err
		}
	}
	return p.declare(ctx, o, all)
}

// change is what a command is to do with a table.
type change struct {
	name, revision string
	old, next      []byte // documents without states
	rule           *table.Expiry
}

// declare declares options of tables. It looks at all of them before it changes the first.
func (p *program) declare(ctx context.Context, o *declareFlags, all map[string]table.TableOptions) error {
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
			return fmt.Errorf("table %s: what it declares cannot be read by this version: %w", name, err)
		}
		one := change{name: name, revision: revision, old: declared(now), next: declared(all[name]), rule: all[name].Expire}
		if bytes.Equal(one.old, one.next) {
			fmt.Fprintf(p.Out, "%s: %s, as it is\n", name, one.next)
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
			fmt.Fprintf(p.Err, "%s: until %s 'edgetable tables set %s --no-expire' brings everything back\n", one.name, until.Format(time.TimeOnly), one.name)
		}
	}
	return nil
}

// declared is the document of options without states.
func declared(o table.TableOptions) []byte {
	if o.Expire == nil {
		return []byte("{}")
	}
	text := payload.AppendOptions(nil, &table.Traits{Expiry: o.Expire}, o.Expire.Since+table.UndoTime)
	return []byte(strings.Replace(string(text), `,"state":"active"`, "", 1))
}

// askFor counts what a new rule would hide, and asks if that is more than a tenth of the
// table.
func (p *program) askFor(ctx context.Context, o *declareFlags, c *remote.Client, one *change) error {
	if one.rule == nil || o.yes && !o.dryRun {
		return nil
	}
	now := edm.TicksOf(time.Now())
	var ended, whole int64
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
	fmt.Fprintf(p.Out, "%s: entities that have ended by the rule and would be gone: %s of %s\n", one.name, cli.Commas(ended), cli.Commas(whole))
	if o.dryRun || ended*10 <= whole {
		return nil
	}
	return p.Confirm("table", one.name, fmt.Sprintf("The rule hides %s of table %s at %s at once.", cli.Things(ended, "entities"), one.name, c.Endpoint()), "nothing is changed")
}
