package account

import (
	"github.com/spf13/cobra"

	"edgetable/functions/edgetable/cli"
)

// Commands returns the commands for accounts, keys and signatures.
func Commands(t *cli.Terminal) []*cobra.Command {
	p := &program{t}
	return []*cobra.Command{p.accountCommand(), p.signCommand(), p.sasCommand()}
}
