package main

import "github.com/spf13/cobra"

// clientProgram is what the commands on table services share.
type clientProgram struct {
	*terminal
}

// clientCommands are the commands on table services.
func clientCommands(t *terminal) []*cobra.Command {
	p := &clientProgram{t}
	return []*cobra.Command{p.explorerCommand(), p.profileCommand(), p.queryCommand(), p.getCommand(), p.putCommand(), p.deleteCommand(), p.countCommand(), p.statCommand(), p.exportCommand(), p.importCommand(), p.copyCommand(), p.syncCommand(), p.verifyCommand(), p.purgeDataCommand(), p.statsCommand(), p.adviseCommand(), p.loadtestCommand(), p.benchCommand()}
}
