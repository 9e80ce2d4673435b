package client

import "edgetable/functions/edgetable/cli"

// program holds what the commands on table services share.
type program struct {
	*cli.Terminal
}

// ofTables is the output with --json of commands that print something about each table.
type ofTables[T any] struct {
	Tables []T `json:"tables"`
}
