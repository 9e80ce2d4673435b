package stores

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"edgetable/adapters/store/postgres"
	"edgetable/adapters/store/postgres/schema"
	"edgetable/functions/edgetable/cli"
)

type postgresFlags struct {
	dsn, schema string
	password    string // source of the password: file:FILE, command:COMMAND, rds or azure
}

func (o *postgresFlags) register(f *pflag.FlagSet) {
	f.StringVar(&o.dsn, "postgres-dsn", "", "`URL` or key=value pairs of the PostgreSQL database, without a password; PGHOST, PGUSER, PGPASSFILE and so on supply missing parts; "+
		"for several hosts add target_session_attrs=read-write")
	f.StringVar(&o.schema, "postgres-schema", "edgetable", "`name` of the schema with the tables")
	f.StringVar(&o.password, "postgres-password-from", "", "`source` of the password for each new connection: file:FILE; command:COMMAND, a shell command that prints it; "+
		"rds (IAM authentication of Amazon RDS and Aurora) or azure (Microsoft Entra), which both use a token of this machine's identity; default $PGPASSWORD or $PGPASSFILE")
}

func (o *postgresFlags) check() error {
	if _, err := pgconn.ParseConfig(o.dsn); err != nil {
		return cli.Misuse("--postgres-dsn: %v", err)
	}
	u, err := url.Parse(o.dsn)
	given := strings.Contains(o.dsn, "password=")
	if err == nil && u.User != nil {
		_, inURL := u.User.Password()
		given = given || inURL
	}
	if given {
		return cli.Misuse("--postgres-dsn must not contain a password, because every user of the machine could read it: use --postgres-password-from, $PGPASSWORD or a file that $PGPASSFILE names")
	}
	if o.password != "" && o.source() == nil {
		return cli.Misuse("--postgres-password-from must be file:FILE, command:COMMAND, rds or azure")
	}
	if o.schema == "" {
		return cli.Misuse("--postgres-schema names no schema")
	}
	return nil
}

func (o *postgresFlags) options() postgres.Options {
	return postgres.Options{DSN: o.dsn, Schema: o.schema, Password: o.source()}
}

// source returns a function that returns the password in --postgres-password-from. Without this flag, it returns nil,
// and pgx uses its own sources.
func (o *postgresFlags) source() password {
	kind, rest, _ := strings.Cut(o.password, ":")
	switch {
	case kind == "file" && rest != "":
		return func(context.Context, string, uint16, string) (string, error) {
			text, err := os.ReadFile(rest)
			return strings.TrimRight(string(text), "\r\n"), err
		}
	case kind == "command" && rest != "":
		return func(ctx context.Context, host string, port uint16, user string) (string, error) {
			return runCommand(ctx, rest, host, port, user)
		}
	case tokens[o.password] != nil:
		return tokens[o.password]()
	}
	return nil
}

func runCommand(ctx context.Context, command, host string, port uint16, user string) (string, error) {
	c := exec.CommandContext(ctx, "sh", "-c", command)
	c.Env = append(os.Environ(), "EDGETABLE_POSTGRES_HOST="+host, fmt.Sprint("EDGETABLE_POSTGRES_PORT=", port), "EDGETABLE_POSTGRES_USER="+user)
	out, err := c.Output()
	if failed, ok := errors.AsType[*exec.ExitError](err); ok {
		err = fmt.Errorf("--postgres-password-from command: %w: %s", err, strings.TrimSpace(string(failed.Stderr)))
	}
	if err == nil && len(out) == 0 {
		err = errors.New("--postgres-password-from command printed nothing")
	}
	return strings.TrimRight(string(out), "\r\n"), err
}

// describe describes the schema and the database for messages, without a password.
func (o *postgresFlags) describe() string {
	config, err := pgconn.ParseConfig(o.dsn)
	if err != nil {
		return "PostgreSQL"
	}
	hosts := []string{config.Host}
	for _, f := range config.Fallbacks {
		if f.Host != hosts[len(hosts)-1] {
			hosts = append(hosts, f.Host)
		}
	}
	name := ""
	if config.Database != "" { // without a name, PostgreSQL uses the database with the name of the user
		name = " " + config.Database
	}
	return fmt.Sprintf("the schema %s of the PostgreSQL database%s at %s", o.schema, name, strings.Join(hosts, ", "))
}

// explainError adds the database to an error. If privileges are missing, it refers to their documentation.
func (o *postgresFlags) explainError(err error) error {
	err = fmt.Errorf("%s: %w", o.describe(), err)
	if p, ok := errors.AsType[*pgconn.PgError](err); ok && (p.Code == "42501" || p.Code == "28000") {
		err = fmt.Errorf("%w; docs/postgres.md says which rights a role needs, and how to give them", err)
	}
	return err
}

// exposed reports whether an attacker in the network could read the traffic or impersonate the database.
func (o *postgresFlags) exposed() bool {
	config, err := pgconn.ParseConfig(o.dsn)
	if err != nil || strings.HasPrefix(config.Host, "/") || cli.LoopbackHost(config.Host) {
		return false
	}
	return config.TLSConfig == nil || config.TLSConfig.InsecureSkipVerify
}

func (p *program) postgresCommand() *cobra.Command {
	return cli.Group("postgres", "Create or inspect the schema in a PostgreSQL database", "",
		p.postgresCreateCommand(),
		p.postgresStatusCommand())
}

func (p *program) postgresCreateCommand() *cobra.Command {
	var o postgresFlags
	c := &cobra.Command{
		Use: "create", Short: "Create the schema with its tables, or upgrade it to the version that this program needs",
		Example: "  edgetable postgres create --postgres-dsn postgres://owner@db.example/edgetable",
		Long: "It must run as the owner of the schema; servers need fewer rights, see docs/postgres.md. Each step\n" +
			"is one transaction, and concurrent runs wait for each other. A server never changes the schema.",
		RunE: func(c *cobra.Command, _ []string) error {
			if err := o.check(); err != nil {
				return err
			}
			found, err := postgres.Migrate(c.Context(), o.options(), true)
			switch {
			case err != nil:
				return o.explainError(err)
			case found == schema.Version:
				fmt.Fprintf(p.Out, "%s already exists, with version %d\n", o.describe(), found)
			case found == 0:
				fmt.Fprintf(p.Out, "created %s with version %d\n", o.describe(), schema.Version)
			default:
				fmt.Fprintf(p.Out, "%s now has version %d; it had %d\n", o.describe(), schema.Version, found)
			}
			return nil
		},
	}
	cli.Section(c, "Flags", o.register)
	return c
}

func (p *program) postgresStatusCommand() *cobra.Command {
	var o postgresFlags
	var asJSON bool
	c := &cobra.Command{
		Use: "status", Short: "Print how durable writes are, the version of the schema, and how many tables and tombstones are still to be removed",
		Example: "  edgetable postgres status --postgres-dsn postgres://edgetable@db.example/edgetable",
		RunE: func(c *cobra.Command, _ []string) error {
			if err := o.check(); err != nil {
				return err
			}
			s, err := postgres.ReadStatus(c.Context(), o.options())
			if err != nil {
				return o.explainError(err)
			}
			if !asJSON {
				printStatus(p.Out, &o, &s)
			} else if err := p.PrintJSON(statusOf(&o, &s)); err != nil {
				return err
			}
			return schema.Check(o.schema, s.Schema)
		},
	}
	cli.Section(c, "Flags", func(f *pflag.FlagSet) {
		o.register(f)
		cli.JSONFlag(f, &asJSON)
	})
	return c
}

// shownStatus is the output of postgres status --json.
type shownStatus struct {
	Place           string  `json:"place"`
	Server          string  `json:"server"` // version of PostgreSQL
	Address         string  `json:"address"`
	Standby         bool    `json:"standby"`
	Durability      string  `json:"durability"`
	Schema          int     `json:"schema"`       // version of the schema, or 0 without a schema
	NeededSchema    int     `json:"neededSchema"` // version that this program needs
	Servers         int     `json:"servers"`
	Tables          int64   `json:"tables"`
	TablesRemoved   int64   `json:"tablesBeingRemoved"`
	Entities        int64   `json:"entities"`   // estimated number of entities
	Tombstones      int64   `json:"tombstones"` // estimated number of tombstones
	OldestSeconds   float64 `json:"oldestTransactionSeconds"`
	TransactionsOld int64   `json:"oldestTransactionNumbersBack"`
}

func statusOf(o *postgresFlags, s *postgres.Status) shownStatus {
	return shownStatus{o.describe(), s.Server, s.Address, s.Standby, s.Durability, s.Schema, schema.Version, s.Servers, s.Tables, s.Dropped,
		s.Entities, s.Tombstones, s.Oldest.Seconds(), s.Wraparound}
}

func printStatus(out io.Writer, o *postgresFlags, s *postgres.Status) {
	role := "primary"
	if s.Standby {
		role = "standby"
	}
	fmt.Fprintf(out, "place       %s\nserver      PostgreSQL %s, %s, %s\ndurability  %s\nschema      version %d\n", o.describe(), s.Server, role, s.Address, s.Durability, s.Schema)
	if s.Schema > 0 {
		fmt.Fprintf(out, "servers     %d\ntables      %d, and %d that are being removed\nentities    about %d, and about %d tombstones\n", s.Servers, s.Tables, s.Dropped, s.Entities, s.Tombstones)
	}
	fmt.Fprintf(out, "oldest      transaction %s old, and %d transactions behind the newest\n", cli.ShowDuration(s.Oldest.Round(1e9)), s.Wraparound)
}
