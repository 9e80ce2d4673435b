package stores

import "edgetable/functions/edgetable/cli"

// program has the methods that implement the commands that maintain a store without a server.
type program struct {
	*cli.Terminal
}
