package server

import (
	"os"
	"time"

	"edgetable/functions/edgetable/cli"
)

// program is what the commands serve and health share.
type program struct {
	*cli.Terminal
	Signals
}

// Signals are what makes a server look at its files. Each is asked for when a server starts.
type Signals struct {
	Hangups func() <-chan os.Signal // to read them again
	Ticks   func() <-chan time.Time // to read those that have changed
}
