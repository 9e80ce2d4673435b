// Command start runs PostgreSQL in a cluster of its own, prints how to reach it, and ends with its standard input.
package main

import (
	"fmt"
	"io"
	"os"

	"edgetable/testdata/postgres/local"
)

func main() {
	version := ""
	if len(os.Args) > 1 {
		version = os.Args[1]
	}
	c, err := local.New(local.Options{Version: version})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(c.DSN(""))
	_, _ = io.Copy(io.Discard, os.Stdin)
	if err := c.Remove(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
