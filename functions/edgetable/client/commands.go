package client

import (
	"github.com/spf13/cobra"

	"edgetable/functions/edgetable/cli"
)

// Commands returns the commands that work on table services.
func Commands(t *cli.Terminal) []*cobra.Command {
	p := &program{t}
	return []*cobra.Command{p.profileCommand(), p.queryCommand(), p.getCommand(), p.putCommand(), p.deleteCommand(), p.countCommand(), p.exportCommand(), p.importCommand(), p.copyCommand(), p.syncCommand(), p.verifyCommand()}
}
