package server

import (
	"os"
	"time"

	"github.com/spf13/cobra"

	"edgetable/functions/edgetable/cli"
)

// program is what the commands that serve, and ask how a server is share.
type program struct {
	*cli.Terminal
	Signals
}

// Signals are what makes a server look at its files. Each is asked for when a server starts.
type Signals struct {
	Hangups func() <-chan os.Signal // to read them again
	Ticks   func() <-chan time.Time // to read those that have changed
}

// Commands are the commands that serve, and ask how a server is.
func Commands(t *cli.Terminal, signals Signals) []*cobra.Command {
	p := &program{t, signals}
	return []*cobra.Command{p.serveCommand(), p.healthCommand()}
}
