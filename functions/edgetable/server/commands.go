package server

import (
	"github.com/spf13/cobra"

	"edgetable/functions/edgetable/cli"
)

// Commands returns the commands that run a server and check its health.
func Commands(t *cli.Terminal, signals Signals) []*cobra.Command {
	p := &program{t, signals}
	return []*cobra.Command{p.serveCommand(), p.healthCommand()}
}
