package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"edgetable/adapters/store/pebblestore"
)

func (p *program) backupCommand() *cobra.Command {
	var data, to string
	c := &cobra.Command{
		Use: "backup", Short: "Copy a data directory that no server uses",
		Long: "A server that runs makes the copy of its own directory:\n" +
			"curl -X POST 'http://ADMIN-ADDRESS/backup?to=DIRECTORY', with the address of its --admin flag.",
		Example: "  edgetable backup --data /var/lib/edgetable --to /backup/edgetable-1",
		Args:    operands(),
		RunE:    func(*cobra.Command, []string) error { return p.backup(data, to) },
	}
	section(c, "Flags", func(f *pflag.FlagSet) {
		dataFlag(f, &data, "no server may be using it")
		toFlag(f, &to, "a directory to make; it can be served with --data")
	})
	return c
}

// backup copies the store of a server that does not run.
func (p *program) backup(data, to string) (err error) {
	if to == "" {
		return misuse("say where the copy goes with --to")
	}
	// Opening a directory without a store would make one.
	if manifests, err := fs.Glob(os.DirFS(data), "MANIFEST-*"); err != nil || len(manifests) == 0 {
		return fmt.Errorf("there is no data in %s", data)
	}
	store, err := pebblestore.Open(pebblestore.Options{Dir: data})
	if errors.Is(err, pebblestore.ErrInUse) {
		return fmt.Errorf("%w; if it is a server with --admin, POST /backup?to=DIRECTORY there", err)
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	if err := store.Checkpoint(to); err != nil {
		return err
	}
	fmt.Fprintln(p.out, "copied", data, "to", to)
	return nil
}
