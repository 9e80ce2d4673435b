package stores

import "edgetable/functions/edgetable/cli"

// program is what the commands that look after a store without a server share.
type program struct {
	*cli.Terminal
}
