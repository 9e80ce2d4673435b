package client

import "edgetable/functions/edgetable/cli"

type program struct {
	*cli.Terminal
}

// ofTables is the JSON output of commands with a result for each table.
type ofTables[T any] struct {
	Tables []T `json:"tables"`
}
