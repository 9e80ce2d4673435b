package server

import (
	"edgetable/functions/edgetable/cli"
	"os"

	"github.com/spf13/cobra"
)

// program is what the commands that serve, and ask how a server is share.
type program struct {
	*cli.Terminal
	hangups func() <-chan os.Signal // by which the server is asked to read its files again
}

// Commands are the commands that serve, and ask how a server is.
func Commands(t *cli.Terminal, hangups func() <-chan os.Signal) []*cobra.Command {
	p := &program{t, hangups}
	return []*cobra.Command{p.serveCommand(), p.healthCommand()}
}
