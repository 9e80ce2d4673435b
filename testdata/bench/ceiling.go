package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"

	"edgetable/core/accounts"
	"edgetable/functions/edgetable/load"
	"edgetable/functions/edgetable/load/wire"
	"edgetable/testdata/bench/ceiling"
)

const ceilingHelp = `Serves the least that a signed table request can cost on the server's own transport: every request has its SharedKeyLite signature
verified, and then

  null   nothing is stored; 204
  write  the body is written to Pebble under a new key and synced; 204
  read   one kilobyte is read from Pebble by the request's path; 200
  page   a page of a thousand entities is sent from memory; 200

It accepts the development account. Measure null and write with "edgetable bench --existing --op insert", read with
"edgetable bench --existing --op get", page with "edgetable bench --existing --op query".`

// runCeiling serves as a ceiling (a server that does as little as possible) until a signal arrives.
func runCeiling(ctx context.Context, args []string, _, stderr io.Writer) error {
	fs := newFlags("bench ceiling", ceilingHelp, stderr)
	kind := fs.String("kind", "null", "`what` to do: null, write, read or page")
	listen := fs.String("listen", "127.0.0.1:10102", "`address` to listen on")
	data := fs.String("data", "", "`directory` for write and read")
	table := fs.String("table", "edgetablebench", "table `name` in the paths that read answers")
	entities := fs.Int("entities", 10000, "`number` of entities that read stores at start")
	if err := parse(fs, args); err != nil {
		return err
	}
	k := ceiling.Kind(*kind)
	switch {
	case !slices.Contains(ceiling.Kinds, k):
		return misuse(fs, "unknown -kind %q; one of null, write, read, page", *kind)
	case (k == ceiling.Write || k == ceiling.Read) && *data == "":
		return misuse(fs, "-kind %s needs -data", k)
	case *entities < 1:
		return misuse(fs, "-entities must be at least 1")
	}
	h, err := ceiling.New(k, *data, wire.Development(accounts.Development), *table, load.Layout{Entities: *entities, RowsPerPartition: 100})
	if err != nil {
		return err
	}
	ln, err := net.Listen("tcp", *listen)
	if err != nil {
		return errors.Join(err, h.Close())
	}
	fmt.Fprintf(stderr, "ceiling %s listens on http://%s\n", k, ln.Addr())
	return errors.Join(h.Listen(ctx, ln), h.Close())
}
