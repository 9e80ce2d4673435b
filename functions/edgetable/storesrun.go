package main

import "github.com/spf13/cobra"

// storesProgram is what the commands that look after a store without a server share.
type storesProgram struct {
	*terminal
}

// storesCommands are the commands that look after a store without a server.
func storesCommands(t *terminal) []*cobra.Command {
	p := &storesProgram{t}
	return []*cobra.Command{p.checkCommand(), p.dynamodbCommand(), p.tableCommand()}
}
