package account

import "edgetable/functions/edgetable/cli"

// program is what the commands for accounts, keys and signatures share.
type program struct {
	*cli.Terminal
}
