package main

import (
	"os"

	"github.com/spf13/cobra"
)

// serverProgram is what the commands that serve, and ask how a server is share.
type serverProgram struct {
	*terminal
	hangups func() <-chan os.Signal // by which the server is asked to read its files again
}

// serverCommands are the commands that serve, and ask how a server is.
func serverCommands(t *terminal, hangups func() <-chan os.Signal) []*cobra.Command {
	p := &serverProgram{t, hangups}
	return []*cobra.Command{p.serveCommand(), p.healthCommand()}
}
