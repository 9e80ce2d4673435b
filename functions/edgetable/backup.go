package main

import (
	"errors"
	"flag"
	"fmt"
	"os"

	"edgetable/adapters/pebblestore"
)

// backup copies the store of a server that does not run. Of one that runs,
// POST /backup on its -admin address makes the same copy.
func (p *program) backup(args []string) (err error) {
	f := flag.NewFlagSet("backup", flag.ContinueOnError)
	data := f.String("data", "data", "data `directory` to copy; no server may be using it")
	to := f.String("to", "", "`directory` to make; it can be served with -data")
	if err := p.parse(f, args, 0); err != nil {
		return err
	}
	if *to == "" {
		return errors.New("say where the copy goes with -to")
	}
	if _, err := os.Stat(*data); err != nil {
		return fmt.Errorf("there is no data to copy: %w", err)
	}
	store, err := pebblestore.Open(pebblestore.Options{Dir: *data})
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
