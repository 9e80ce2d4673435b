package main

import (
	"edgetable/functions/edgetable/cli"
	"edgetable/functions/edgetable/server"
)

// program is one run of the command with all dependencies, so that a test can start the command as a user does.
type program struct {
	*cli.Terminal
	name       string // name under which the program was started; "" means edgetable
	args       []string
	signals    server.Signals // signals that the server handles
	understood bool           // the command line was parsed without error; later errors are not about its syntax
	misnamed   error          // error for a command that does not exist, if --help was given
}
