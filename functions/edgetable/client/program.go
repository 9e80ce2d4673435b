package client

import "edgetable/functions/edgetable/cli"

// program is what the commands on table services share.
type program struct {
	*cli.Terminal
}

// ofTables is what commands print with --json that tell something of each table.
type ofTables[T any] struct {
	Tables []T `json:"tables"`
}
