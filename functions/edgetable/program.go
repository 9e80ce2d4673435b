package main

import (
	"edgetable/functions/edgetable/cli"
	"edgetable/functions/edgetable/server"
)

// program is a run of the command with all its dependencies, which tests can replace.
type program struct {
	*cli.Terminal
	name       string // name of the executable; "" means edgetable
	args       []string
	signals    server.Signals
	understood bool  // true after the command line was parsed; later errors are not about its syntax
	misnamed   error // error about an unknown command, if --help is set
}
