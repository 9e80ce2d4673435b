package client

import (
	"github.com/spf13/cobra"

	"edgetable/functions/edgetable/cli"
)

// program is what the commands on table services share.
type program struct {
	*cli.Terminal
}

// Commands are the commands on table services.
func Commands(t *cli.Terminal) []*cobra.Command {
	p := &program{t}
	return []*cobra.Command{p.explorerCommand(), p.profileCommand(), p.tablesCommand(), p.queryCommand(), p.getCommand(), p.putCommand(), p.deleteCommand(), p.countCommand(), p.statCommand(), p.exportCommand(), p.importCommand(), p.copyCommand(), p.syncCommand(), p.verifyCommand(), p.purgeDataCommand(), p.statsCommand(), p.adviseCommand(), p.loadtestCommand(), p.benchCommand()}
}
