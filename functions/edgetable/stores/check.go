package stores

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"edgetable/adapters/objects/directory"
	"edgetable/adapters/store/pebblestore"
	"edgetable/adapters/store/pebblestore/offline"
	"edgetable/core/accounts"
	"edgetable/functions/edgetable/cli"
	"edgetable/functions/edgetable/place"
)

func (p *program) checkCommand() *cobra.Command {
	var salvage string
	var accept, asJSON bool
	c := &cobra.Command{
		Use: "check DIRECTORY", Short: "Read everything in a data directory and report damage",
		Long: "Reads each block, table and entity of a data directory that no server uses, makes all the checks of a\n" +
			"server's start, and changes nothing. The exit status is 4 if something is damaged.\n\n" +
			"With --accept-damage it then makes the directory usable again: it gives up lost commits, keeps the\n" +
			"damaged logs as *.damaged, and checks the rest again.",
		Example: "  edgetable check /var/lib/edgetable\n  edgetable check /var/lib/edgetable --salvage /var/lib/edgetable-saved",
		RunE:    func(_ *cobra.Command, args []string) error { return p.check(args[0], salvage, accept, asJSON) },
	}
	cli.Section(c, "Flags", func(f *pflag.FlagSet) {
		f.StringVar(&salvage, "salvage", "", "new `directory` for all data that can be read; a server can use it with --data")
		cli.BoolFlag(f, &accept, "accept-damage", "accept the loss of commits, so that a server can use the directory again")
		cli.JSONFlag(f, &asJSON)
	})
	return c
}

// read checks a data directory and shows the progress. If salvage is not "", it also copies the readable data to that
// directory.
func (p *program) read(data, salvage string) (offline.Report, error) {
	show := cli.NewProgress(p.Err)
	defer show.End()
	return offline.Check(pebblestore.Options{Dir: data}, salvage, func(entities int64) {
		show.Show("%s read", cli.Things(entities, "entities"))
	})
}

// accept makes a damaged store usable again without its lost commits.
func (p *program) accept(data string) error {
	store, err := pebblestore.Open(pebblestore.Options{
		Dir: data, AcceptDamage: true, DiskReserve: -1, KeepLogs: -1, // -1 leaves the reserve file and the retained logs unchanged
		Logf:  func(format string, args ...any) { p.Note(format, args...) },
		Fatal: func(err error) { p.Note("%v", err); os.Exit(cli.StatusFailed) },
	})
	if errors.Is(err, pebblestore.ErrDamaged) {
		return cli.Fail(cli.StatusDamage, err)
	}
	if err != nil {
		return err
	}
	return store.Close()
}

// checked is the output of check --json.
type checked struct {
	Tables   int64    `json:"tables"`
	Entities int64    `json:"entities"`
	Bytes    int64    `json:"bytes"`
	Problems []string `json:"problems"`
	Salvaged string   `json:"salvaged"` // directory with the readable data; "" without --salvage
}

// check checks a data directory and prints one line for each problem.
func (p *program) check(data, salvage string, accept, asJSON bool) error {
	if salvage != "" && accept {
		return cli.Misuse("--salvage and --accept-damage exclude each other")
	}
	if salvage != "" {
		dir, err := filepath.Abs(salvage)
		if err != nil {
			return err
		}
		if err := place.CheckOutsideData(directory.Place{Dir: dir}, data); err != nil {
			return cli.Misuse("--salvage: %v", err)
		}
	}
	if err := restored(data); err != nil {
		return err
	}
	report, err := p.read(data, salvage)
	if err == nil && accept && len(report.Problems) > 0 {
		if err = p.accept(data); err == nil {
			report, err = p.read(data, "")
		}
	}
	if err != nil {
		return err
	}
	kept := ""
	if salvage != "" {
		if kept, err = keepAccounts(data, salvage); err != nil {
			return err
		}
	}
	problems := []string{}
	for _, problem := range report.Problems {
		problems = append(problems, fmt.Sprint(problem))
	}
	if err := checkAccounts(data); err != nil {
		problems = append(problems, fmt.Sprintf("a server that uses this file of accounts does not start: %v", err))
	}
	if asJSON {
		if err := p.PrintJSON(checked{int64(report.Tables), int64(report.Entities), report.Bytes, problems, salvage}); err != nil {
			return err
		}
		if salvage != "" {
			p.Note("%s", kept)
		}
	} else {
		for _, problem := range problems {
			fmt.Fprintln(p.Out, problem)
		}
		fmt.Fprintf(p.Out, "%s, %s, %s\n",
			cli.Things(report.Tables, "tables"), cli.Things(report.Entities, "entities"), cli.ShowBytes(report.Bytes))
		if salvage != "" {
			fmt.Fprintln(p.Out, "the readable data is in", salvage)
			fmt.Fprintln(p.Out, kept)
		}
	}
	return verdict(data, salvage, &report, len(problems))
}

// verdict returns an error with advice if there are problems.
func verdict(data, salvage string, report *offline.Report, problems int) error {
	advice := "restore a backup, give up lost commits with --accept-damage, or save the readable data with --salvage"
	switch {
	case problems == 0:
		return nil
	case len(report.Problems) == 0:
		return cli.Fail(cli.StatusDamage, fmt.Errorf("the tables of %s are complete: repair its accounts file, or move the file away and create accounts with 'edgetable account new'", data))
	case salvage != "":
		advice = "serve the saved data, or restore a backup"
	case report.Refused: // in this case, --accept-damage would fail too
		advice = "restore a backup, or save the readable data with --salvage"
	}
	return cli.Fail(cli.StatusDamage, fmt.Errorf("%s is damaged: %s; %s", data, cli.Things(problems, "problems"), advice))
}

// checkAccounts returns an error if a data directory contains an accounts file that a server could not use. It does not
// check permissions: the server may run as another user.
func checkAccounts(data string) error {
	file := filepath.Join(data, cli.AccountsInData)
	text, err := cli.ReadSecrets(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var list accounts.List
	if err == nil {
		list, err = accounts.Parse(text)
	}
	if err == nil && len(list) == 0 {
		err = errors.New("it names no account")
	}
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	return nil
}

// keepAccounts copies the accounts file, which is not part of the store, to the salvage directory. It returns a message
// about the accounts.
func keepAccounts(data, salvage string) (said string, err error) {
	to := filepath.Join(salvage, cli.AccountsInData)
	text, err := os.ReadFile(filepath.Join(data, cli.AccountsInData))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "there is no file of accounts in " + data + ": name it with --accounts, or copy it to " + to, nil
	case err != nil:
		return fmt.Sprintf("the file of accounts cannot be read (%v): make accounts with 'edgetable account new'", err), nil
	}
	return "the accounts are in " + to, directory.Replace(to, text, 0o600)
}
