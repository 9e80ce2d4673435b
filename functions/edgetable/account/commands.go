package account

import (
	"github.com/spf13/cobra"

	"edgetable/functions/edgetable/cli"
)

// program is what the commands for accounts, keys and signatures share.
type program struct {
	*cli.Terminal
}

// Commands are the commands for accounts, keys and signatures.
func Commands(t *cli.Terminal) []*cobra.Command {
	p := &program{t}
	return []*cobra.Command{p.accountCommand(), p.signCommand(), p.sasCommand()}
}
