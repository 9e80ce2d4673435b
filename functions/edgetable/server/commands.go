package server

import (
	"github.com/spf13/cobra"

	"edgetable/functions/edgetable/cli"
)

// Commands are the commands that serve, and ask how a server is.
func Commands(t *cli.Terminal, signals Signals) []*cobra.Command {
	p := &program{t, signals}
	return []*cobra.Command{p.serveCommand(), p.healthCommand()}
}
