package main

import "github.com/spf13/cobra"

// backupProgram is what the commands for backups share.
type backupProgram struct {
	*terminal
}

// backupCommands are the commands for backups.
func backupCommands(t *terminal) []*cobra.Command {
	p := &backupProgram{t}
	return []*cobra.Command{p.backupCommand()}
}
