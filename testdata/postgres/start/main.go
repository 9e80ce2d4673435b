// Command start runs PostgreSQL with a new, temporary cluster, prints how to connect to it, and stops it when
// standard input ends.
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
