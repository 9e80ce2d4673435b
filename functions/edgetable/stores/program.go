package stores

import "edgetable/functions/edgetable/cli"

// program is shared by the commands that maintain a store without a server.
type program struct {
	*cli.Terminal
}
