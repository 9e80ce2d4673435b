package stores

import "edgetable/functions/edgetable/cli"

type program struct {
	*cli.Terminal
}
