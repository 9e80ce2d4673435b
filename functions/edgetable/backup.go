package main

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"

	"edgetable/adapters/store/pebblestore"
)

// backup copies the store of a server that does not run. Of one that runs,
// POST /backup on its -admin address makes the same copy.
func (p *program) backup(args []string) (err error) {
	f := flag.NewFlagSet("backup", flag.ContinueOnError)
	data := f.String("data", "data", "data `directory` to copy; no server may be using it")
	to := f.String("to", "", "`directory` to make; it can be served with -data")
	if err := p.parse(f, args, "Copies a data directory. The copy of one that a server uses is made by that server:\n"+
		"curl -X POST 'http://ADMIN-ADDRESS/backup?to=DIRECTORY', with the address of its -admin flag."); err != nil {
		return err
	}
	if *to == "" {
		return misuse("say where the copy goes with -to")
	}
	// Opening a directory without a store would make one.
	if manifests, err := fs.Glob(os.DirFS(*data), "MANIFEST-*"); err != nil || len(manifests) == 0 {
		return fmt.Errorf("there is no data in %s", *data)
	}
	store, err := pebblestore.Open(pebblestore.Options{Dir: *data})
	if errors.Is(err, pebblestore.ErrInUse) {
		return fmt.Errorf("%w; if it is a server with -admin, POST /backup?to=DIRECTORY there", err)
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	if err := store.Checkpoint(*to); err != nil {
		return err
	}
	fmt.Fprintln(p.out, "copied", *data, "to", *to)
	return nil
}
