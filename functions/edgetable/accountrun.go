package main

import "github.com/spf13/cobra"

// accountProgram is what the commands for accounts, keys and signatures share.
type accountProgram struct {
	*terminal
}

// accountCommands are the commands for accounts, keys and signatures.
func accountCommands(t *terminal) []*cobra.Command {
	p := &accountProgram{t}
	return []*cobra.Command{p.accountCommand(), p.signCommand(), p.sasCommand()}
}
