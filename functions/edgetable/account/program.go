package account

import "edgetable/functions/edgetable/cli"

// program is shared by the commands for accounts, keys and signatures.
type program struct {
	*cli.Terminal
}
