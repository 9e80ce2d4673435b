package client

import "edgetable/functions/edgetable/cli"

// program is what the commands on table services share.
type program struct {
	*cli.Terminal
}
